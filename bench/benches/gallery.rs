//! Exact search in galleries of places with 512 numbers each; items are queries. `bench/gallery.py` puts numpy and faiss beside it.

use divan::{Bencher, black_box, counter::ItemsCount};
use locdiff_bench::{numbers, points};
use locdiff_retrieval::gallery::{Gallery, GalleryBuilder, Kind, VectorType};
use locdiff_shdd::sphere::LatLon;

/// As large as GeoCLIP's gallery.
const MANY: usize = 100_000;
/// Queries that come together.
const BATCH: usize = 64;
const DIMENSION: usize = 512;

fn main() {
    divan::main();
}

/// A gallery of random vectors, and the folder that holds it.
fn gallery() -> (Gallery, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let places: Vec<LatLon> = points(MANY).iter().map(|point| point.to_latlon()).collect();
    let (kind, dimension, vectors, key) = (Kind::Photos, DIMENSION, VectorType::F16, String::new());
    let builder = GalleryBuilder { kind, dimension, vectors, key, mean: Vec::new(), encoder: None };
    let fill = |rows: &[u32], out: &mut [f32]| {
        for (out, row) in out.chunks_exact_mut(DIMENSION).zip(rows) {
            out.copy_from_slice(&numbers(DIMENSION, u64::from(*row)));
        }
        Ok(())
    };
    builder.build(folder.path(), &places, fill).expect("a gallery");
    (Gallery::open(folder.path()).expect("a gallery"), folder)
}

fn queries() -> Vec<Vec<f32>> {
    (0..BATCH as u64).map(|k| numbers(DIMENSION, 1_000_000 + k)).collect()
}

#[divan::bench]
fn batch_of_64_in_100_000(bencher: Bencher) {
    let (gallery, _folder) = gallery();
    let queries = queries();
    let bencher = bencher.counter(ItemsCount::new(BATCH));
    bencher.bench_local(|| gallery.search_many(black_box(&queries), None, 10).expect("queries"));
}

#[divan::bench]
fn one_by_one_64_in_100_000(bencher: Bencher) {
    let (gallery, _folder) = gallery();
    let queries = queries();
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        for query in &queries {
            black_box(gallery.search(black_box(query), None, 10).expect("a query"));
        }
    });
}
