//! Exact search in a gallery of 20,000 places with 512 numbers each. Items are places scanned.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use locdiff_bench::{numbers, points};
use locdiff_gallery::{Cap, Gallery, GalleryBuilder, Kind, VectorType};
use locdiff_sphere::LatLon;

const PLACES: usize = 20_000;
const DIMENSION: usize = 512;

fn main() {
    divan::main();
}

/// A gallery of random vectors, and the folder that holds it.
fn gallery() -> (Gallery, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let places: Vec<LatLon> = points(PLACES).iter().map(|point| point.to_latlon()).collect();
    let builder = GalleryBuilder {
        kind: Kind::Photos,
        dimension: DIMENSION,
        vectors: VectorType::F16,
        key: String::new(),
        mean: Vec::new(),
        encoder: None,
    };
    let filled = builder.build(folder.path(), &places, |rows, out| {
        for (out, row) in out.chunks_exact_mut(DIMENSION).zip(rows) {
            out.copy_from_slice(&numbers(DIMENSION, u64::from(*row)));
        }
        Ok(())
    });
    filled.expect("a gallery");
    (Gallery::open(folder.path()).expect("a gallery"), folder)
}

#[divan::bench]
fn search(bencher: Bencher) {
    let (gallery, _folder) = gallery();
    let query = numbers(DIMENSION, 7);
    bencher
        .counter(ItemsCount::new(PLACES))
        .bench_local(|| gallery.search(black_box(&query), None, 10).expect("a query"));
}

#[divan::bench]
fn search_within_a_cap(bencher: Bencher) {
    let (gallery, _folder) = gallery();
    let query = numbers(DIMENSION, 7);
    let caps = [Cap { centre: points(1)[0], radius_km: 2000.0 }];
    bencher
        .counter(ItemsCount::new(gallery.count_within(&caps)))
        .bench_local(|| gallery.search(black_box(&query), Some(&caps), 10).expect("a query"));
}
