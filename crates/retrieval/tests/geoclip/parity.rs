//! The numbers of PyTorch for a small random GeoCLIP (`scripts/geoclip_fixtures.py`).

use locdiff_nn::Device;
use locdiff_retrieval::geoclip::{GALLERY_FILE, GeoClip, Sources, import};
use locdiff_shdd::sphere::LatLon;
use locdiff_testing::{fixture, floats};
use std::path::{Path, PathBuf};

fn expected(name: &str) -> (Vec<usize>, Vec<f32>) {
    let bytes = std::fs::read(fixture("geoclip").join("expected.safetensors")).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let tensor = file.tensor(name).unwrap();
    (tensor.shape().to_vec(), floats(tensor.data()))
}

fn worst(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn places_and_photos_get_pytorchs_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let sources = Sources::open(&[fixture("geoclip")]).unwrap();
    assert!(sources.has_gallery());
    assert_eq!(import(&sources, folder.path()).unwrap(), Some(20));
    assert!(folder.path().join(GALLERY_FILE).exists());
    let model = GeoClip::open(folder.path(), &Device::cpu()).unwrap();
    assert_eq!((model.dimension(), model.feature_dimension()), (10, 24));
    assert!((model.scale().unwrap() - 2.6593_f32.exp()).abs() < 1e-4);

    let places: Vec<LatLon> =
        expected("places").1.chunks_exact(2).map(|p| LatLon::new(f64::from(p[0]), f64::from(p[1])).unwrap()).collect();
    let difference = worst(&model.embed_places(&places).unwrap(), &expected("place_vectors").1);
    assert!(difference < 1e-4, "{difference}");
    let features = expected("features").1;
    let difference = worst(&model.embed_features(&features).unwrap(), &expected("feature_vectors").1);
    assert!(difference < 1e-5, "{difference}");
    let error = model.embed_features(&features[1..]).unwrap_err().to_string();
    assert!(error.contains("not rows of 24"), "{error}");
}

#[test]
fn sources_are_found_in_wheels_folders_and_files_or_said_to_be_missing() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["location_encoder_weights.pth", "image_encoder_mlp_weights.pth", "logit_scale_weights.pth"];
    // As a wheel: deflated, in a folder.
    let wheel = folder.path().join("geoclip.whl");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&wheel).unwrap());
    for name in names {
        let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        zip.start_file(format!("geoclip/model/weights/{name}"), options).unwrap();
        std::io::Write::write_all(&mut zip, &std::fs::read(fixture("geoclip").join(name)).unwrap()).unwrap();
    }
    zip.finish().unwrap();
    let from_wheel = folder.path().join("a");
    assert_eq!(import(&Sources::open(std::slice::from_ref(&wheel)).unwrap(), &from_wheel).unwrap(), None);
    let files: Vec<PathBuf> = names.iter().map(|name| fixture("geoclip").join(name)).collect();
    let from_files = folder.path().join("b");
    import(&Sources::open(&files).unwrap(), &from_files).unwrap();
    let weights = |path: &Path| std::fs::read(path.join("geoclip.safetensors")).unwrap();
    assert!(weights(&from_wheel) == weights(&from_files));

    let message = |paths: &[PathBuf]| Sources::open(paths).unwrap_err().to_string();
    assert!(message(&files[..2]).contains("no logit_scale_weights.pth there"));
    assert!(message(&[folder.path().join("x.whl")]).starts_with("cannot read "));
    assert!(message(&[fixture("geoclip").join("expected.safetensors")]).contains("not a wheel"));
    // A file in another's place is no GeoCLIP.
    let swapped = folder.path().join("c");
    std::fs::create_dir(&swapped).unwrap();
    for (name, content) in names.iter().zip([names[1], names[1], names[2]]) {
        std::fs::copy(fixture("geoclip").join(content), swapped.join(name)).unwrap();
    }
    let error = import(&Sources::open(&[swapped]).unwrap(), &folder.path().join("d")).unwrap_err().to_string();
    assert!(error.contains("not GeoCLIP's location encoder"), "{error}");
    assert!(!folder.path().join("d").exists());
}
