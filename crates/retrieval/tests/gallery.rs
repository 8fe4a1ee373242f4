//! Galleries against brute force, their folders against damage.

use locdiff_io::data::Fingerprint;
use locdiff_retrieval::gallery::{Cap, Gallery, GalleryBuilder, GalleryError, Kind, VectorType};
use locdiff_shdd::sphere::LatLon;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;

fn random(rows: usize, dimension: usize, seed: u64) -> (Vec<LatLon>, Vec<Vec<f32>>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut place = |_| {
        let z: f64 = rng.random_range(-1.0..1.0);
        LatLon::new(z.asin().to_degrees(), rng.random_range(-180.0..180.0)).unwrap()
    };
    let places = (0..rows).map(&mut place).collect();
    // Clusters, so that many rows are almost as good as the best.
    let centres: Vec<Vec<_>> = (0..20).map(|_| (0..dimension).map(|_| rng.random_range(-1.0..1.0)).collect()).collect();
    let vectors =
        (0..rows).map(|row| centres[row % 20].iter().map(|c| c + rng.random_range(-0.05..0.05)).collect()).collect();
    (places, vectors)
}

fn build(folder: &Path, places: &[LatLon], rows: &[Vec<f32>], vectors: VectorType, mean: Vec<f32>) {
    let dimension = rows[0].len();
    let encoder = Some(Fingerprint::new("mine", 7));
    GalleryBuilder { kind: Kind::Photos, dimension, vectors, key: "k".to_owned(), mean, encoder }
        .build(folder, places, |wanted, out| {
            for (out, row) in out.chunks_exact_mut(dimension).zip(wanted) {
                out.copy_from_slice(&rows[*row as usize]);
            }
            Ok(())
        })
        .unwrap();
}

fn cosine(a: &[f32], b: &[f32], mean: &[f32]) -> f64 {
    let at = |v: &[f32], k: usize| f64::from(v[k]) - f64::from(mean.get(k).copied().unwrap_or(0.0));
    let dot = |u: &[f32], v: &[f32]| (0..u.len()).map(|k| at(u, k) * at(v, k)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn search_finds_what_brute_force_finds() {
    let folder = tempfile::tempdir().unwrap();
    for (rows, dimension, vectors, tolerance) in
        [(5000, 24, VectorType::F32, 2e-6), (3000, 33, VectorType::F16, 1e-3), (1, 3, VectorType::F32, 2e-6)]
    {
        let (places, own) = random(rows, dimension, rows as u64);
        let mean = if dimension == 33 { vec![0.1; dimension] } else { Vec::new() };
        build(folder.path(), &places, &own, vectors, mean.clone());
        let gallery = Gallery::open(folder.path()).unwrap();
        assert_eq!((gallery.len(), gallery.dimension(), gallery.key()), (rows, dimension, "k"));
        assert_eq!(gallery.encoder(), Some(&Fingerprint::new("mine", 7)));
        let (_, queries) = random(40, dimension, 99);
        for (k, query) in queries.iter().enumerate() {
            let centre = places[k % rows].to_unit();
            let caps = [Cap { centre, radius_km: 900.0 }, Cap { centre: centre.step(0.3, 0.1), radius_km: 700.0 }];
            for caps in [None, Some(&caps[..])] {
                let inside =
                    |row: usize| caps.is_none_or(|caps| caps.iter().any(|cap| cap.contains(places[row].to_unit())));
                let mut scores: Vec<f64> =
                    (0..rows).filter(|row| inside(*row)).map(|row| cosine(query, &own[row], &mean)).collect();
                scores.sort_by(|a, b| b.total_cmp(a));
                let hits = gallery.search(query, caps, 10).unwrap();
                assert_eq!(hits.len(), scores.len().min(10));
                for (hit, score) in hits.iter().zip(&scores) {
                    assert!((f64::from(hit.score) - score).abs() < tolerance, "{} {score}", hit.score);
                    assert!((cosine(query, &own[hit.row], &mean) - score).abs() < tolerance);
                    assert!(inside(hit.row));
                    assert!(locdiff_shdd::sphere::haversine_km(hit.place, places[hit.row]) < 1e-4);
                }
            }
        }
        assert!(gallery.search(&queries[0], Some(&[]), 5).unwrap().is_empty());
        assert!(gallery.search(&queries[0], None, 0).unwrap().is_empty());
        assert_eq!(gallery.search(&queries[0], None, usize::MAX).unwrap().len(), rows);
        let wrong = gallery.search(&queries[0][1..], None, 1).unwrap_err();
        assert!(matches!(wrong, GalleryError::Dimension { .. }));
        let zero = gallery.search(&vec![mean.first().copied().unwrap_or(0.0); dimension], None, 1).unwrap_err();
        assert!(matches!(zero, GalleryError::NoDirection { .. }), "{zero}");
    }
}

#[test]
fn a_batch_finds_what_each_query_finds_alone() {
    let (places, rows) = random(2000, 67, 3);
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), &places, &rows, VectorType::F16, Vec::new());
    let gallery = Gallery::open(folder.path()).unwrap();
    let queries = random(70, 67, 4).1; // two batches, the last not full
    let caps = [Cap { centre: places[0].to_unit(), radius_km: 3000.0 }];
    for (caps, most) in [(None, 1), (None, 17), (Some(&caps[..]), 40), (None, 6000), (None, 0)] {
        let together = gallery.search_many(&queries, caps, most).unwrap();
        assert_eq!(together.len(), queries.len());
        for (query, hits) in queries.iter().zip(&together) {
            // To the last bit.
            assert_eq!(*hits, gallery.search(query, caps, most).unwrap());
        }
    }
    assert!(gallery.search_many(&[vec![0.0; 67]], None, 1).is_err());
    assert!(gallery.search_many(&[vec![1.0; 66]], None, 1).is_err());
    assert_eq!(gallery.search_many(&[[0.0; 0]; 0], None, 1).unwrap(), Vec::<Vec<_>>::new());
    assert_eq!(gallery.identity(), Gallery::open(folder.path()).unwrap().identity());
}

#[test]
fn damage_is_named_and_a_failed_build_leaves_no_gallery() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let message = || Gallery::open(path).err().unwrap().to_string();
    assert!(message().contains("locdiff gallery build"));
    let (places, own) = random(300, 8, 1);
    build(path, &places, &own, VectorType::F16, Vec::new());
    let mut index = std::fs::read(path.join("index.bin")).unwrap();
    index[24 * 100..24 * 100 + 4].fill(0xff);
    std::fs::write(path.join("index.bin"), &index).unwrap();
    assert!(message().contains("out of order"));
    // A vector without a direction ends the build, and what was there before is gone.
    let (kind, vectors, key) = (Kind::Photos, VectorType::F32, String::new());
    let builder = GalleryBuilder { kind, dimension: 8, vectors, key, mean: vec![], encoder: None };
    let error = builder.build(path, &places, |_, out| {
        out.fill(0.0);
        Ok(())
    });
    assert!(error.unwrap_err().to_string().contains("zero or not finite"));
    assert!(message().contains("no gallery.json"));
    assert!(builder.build(path, &[], |_, _| Ok(())).unwrap_err().to_string().contains("at least one location"));
}
