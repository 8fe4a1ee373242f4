//! GeoCLIP's galleries: computed once, found again by content, searched with its own cosines.

use locdiff_nn::Device;
use locdiff_retrieval::gallery::{PhotoRetriever, Retriever, VectorType};
use locdiff_retrieval::geoclip::{GeoClip, GeoClipCache, GeoClipRetriever, Sources, import, open_geoclip_gallery};

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn geoclip_vectors_are_computed_once_for_each_content() {
    let folder = tempfile::tempdir().unwrap();
    let model_folder = folder.path().join("geoclip");
    import(&Sources::open(&[locdiff_testing::fixture("geoclip")]).unwrap(), &model_folder).unwrap();
    let model = GeoClip::open(&model_folder, &Device::cpu()).unwrap();
    let places = model_folder.join("gallery.csv");
    let cache = GeoClipCache { places: places.clone(), model: model_folder.clone(), vectors: VectorType::F32 };
    let mut computed = 0;
    let mut open = |cache: &GeoClipCache| {
        open_geoclip_gallery(cache, &model, |done, _| computed += usize::from(done > 0)).unwrap()
    };
    assert_eq!(open(&cache).len(), 20);
    assert!(model_folder.join("gallery.csv.gallery/gallery.json").exists());
    let again = open(&cache);
    assert_eq!(computed, 1, "one block the first time, none the second");
    // The scores are the cosines of the model's own vectors.
    let features: Vec<f32> = (0..24).map(|k| (k as f32 * 0.7).sin()).collect();
    let image = model.embed_features(&features).unwrap();
    let all = locdiff_io::data::read_points(&places, None, &locdiff_io::data::PointColumns::default()).unwrap();
    let own = model.embed_places(&all).unwrap();
    let retriever = GeoClipRetriever::new(GeoClip::open(&model_folder, &Device::cpu()).unwrap(), again).unwrap();
    assert!((retriever.temperature() - 1.0 / 2.6593_f64.exp()).abs() < 1e-4);
    for hit in retriever.retrieve(&features, None, 20).unwrap() {
        let exact = cosine(&image, &own[hit.row * 10..(hit.row + 1) * 10]);
        assert!((f64::from(hit.score) - exact).abs() < 1e-5);
    }
    assert!(retriever.retrieve(&features[1..], None, 1).is_err());
    // Another content, another gallery; the same after a change of nothing but time.
    let mut text = std::fs::read_to_string(&places).unwrap();
    std::fs::write(&places, &text).unwrap();
    text.push_str("1,2\n");
    std::fs::write(&places, &text).unwrap();
    assert_eq!(open_geoclip_gallery(&cache, &model, |_, _| {}).unwrap().len(), 21);
    // A file that looks as it did is not read again; one that was changed since is.
    let stamp = |seconds: u64| {
        let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        std::fs::File::options().write(true).open(&places).unwrap().set_modified(at).unwrap();
    };
    stamp(1_700_000_000);
    let key = |cache: &GeoClipCache| open_geoclip_gallery(cache, &model, |_, _| {}).unwrap().key().to_owned();
    let before = key(&cache);
    std::fs::write(&places, text.replace("1,2\n", "1,3\n")).unwrap();
    stamp(1_700_000_000);
    assert_eq!(key(&cache), before, "it was read");
    stamp(1_700_000_001);
    assert_ne!(key(&cache), before, "it was not read");
    std::fs::write(places.with_file_name("gallery.csv.gallery/sources.json"), "{").unwrap();
    assert_ne!(key(&cache), before);
    // Kinds are kept apart.
    let gallery = open_geoclip_gallery(&cache, &model, |_, _| {}).unwrap();
    assert!(PhotoRetriever::new(gallery).err().unwrap().to_string().contains("GeoCLIP"));
}
