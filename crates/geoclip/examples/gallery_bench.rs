//! How fast a gallery answers.
//!
//!     gallery_bench geoclip MODEL FEATURES.npy   GeoCLIP's own gallery: time from start to the first answer, then a query
//!     gallery_bench synthetic ROWS DIMENSION     made-up places and vectors: build, memory, queries within 16 caps
//!
//! `scripts/geoclip_parity.py` runs the first beside the Python package. Prints one JSON object.

use locdiff_data::RowFile;
use locdiff_gallery::{Cap, Gallery, GalleryBuilder, Kind, Retriever, VectorType};
use locdiff_geoclip::{GALLERY_FILE, GeoClip, GeoClipCache, GeoClipRetriever, open_geoclip_gallery};
use locdiff_nn::Device;
use locdiff_sphere::LatLon;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;
use std::time::Instant;

type Anyhow<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Anyhow<()> {
    let start = Instant::now();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["geoclip", model, features] => geoclip(start, Path::new(model), Path::new(features)),
        ["synthetic", rows, dimension] => synthetic(rows.parse()?, dimension.parse()?),
        _ => Err("usage: gallery_bench geoclip MODEL FEATURES.npy | synthetic ROWS DIMENSION".into()),
    }
}

/// Milliseconds of each call, sorted.
fn times_ms(count: usize, mut call: impl FnMut(usize) -> Anyhow<()>) -> Anyhow<Vec<f64>> {
    let mut times = Vec::with_capacity(count);
    for k in 0..count {
        let begin = Instant::now();
        call(k)?;
        times.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

fn geoclip(start: Instant, folder: &Path, features: &Path) -> Anyhow<()> {
    let features = RowFile::open(features, None)?;
    let mut row = vec![0.0; features.columns()];
    let cache = GeoClipCache {
        places: folder.join(GALLERY_FILE),
        model: folder.to_owned(),
        vectors: VectorType::F16,
    };
    let model = GeoClip::open(folder, &Device::cpu())?;
    let mut computed = 0;
    let gallery = open_geoclip_gallery(&cache, &model, |done, _| computed = done)?;
    let (places, bytes) = (gallery.len(), gallery.bytes_in_memory());
    let retriever = GeoClipRetriever::new(model, gallery)?;
    features.read_row(0, &mut row)?;
    retriever.retrieve(&row, None, 5)?;
    let first_ms = start.elapsed().as_secs_f64() * 1e3;
    let times = times_ms(200, |k| {
        features.read_row(k % features.rows(), &mut row)?;
        retriever.retrieve(&row, None, 5)?;
        Ok(())
    })?;
    println!(
        "{{\"places\": {places}, \"computed\": {computed}, \"first_ms\": {first_ms:.1}, \"query_ms_median\": {:.3}, \"query_ms_best\": {:.3}, \"query_ms_95\": {:.3}, \"bytes_in_memory\": {bytes}}}",
        times[100], times[0], times[190]
    );
    Ok(())
}

fn synthetic(rows: usize, dimension: usize) -> Anyhow<()> {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let mut place = || {
        let z: f64 = rng.random_range(-1.0..1.0);
        LatLon::new(z.asin().to_degrees(), rng.random_range(-180.0..180.0))
    };
    let places: Vec<LatLon> = (0..rows).map(|_| place()).collect::<Result<_, _>>()?;
    let folder =
        tempfile::tempdir_in(std::env::var("GALLERY_BENCH_DIR").unwrap_or_else(|_| "/tmp".to_owned()))?;
    let begin = Instant::now();
    let builder = GalleryBuilder {
        kind: Kind::Photos,
        dimension,
        vectors: VectorType::F16,
        key: String::new(),
        mean: Vec::new(),
        encoder: None,
    };
    let fill = |rows: &[u32], out: &mut [f32]| {
        for (vector, row) in out.chunks_exact_mut(dimension).zip(rows) {
            // A cheap generator of its own a row: building is what is timed.
            let mut state = u64::from(*row).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
            for value in vector {
                state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
                *value = (state >> 40) as f32 / (1 << 23) as f32 - 1.0;
            }
        }
        Ok(())
    };
    builder.build(folder.path(), &places, fill)?;
    let build_s = begin.elapsed().as_secs_f64();
    drop(places);
    let begin = Instant::now();
    let gallery = Gallery::open(folder.path())?;
    let open_s = begin.elapsed().as_secs_f64();
    let resident = resident_bytes("VmRSS:");
    let mut query = vec![0.0; dimension];
    let queries = 200;
    // As a diffusion model's samples: 16 caps of 200 km, half about one place, half strewn within 3,000 km.
    let all_caps: Vec<Vec<Cap>> = (0..queries)
        .map(|_| {
            let centre = place()?.to_unit();
            let cap = |k: u64| {
                let spread = if k < 8 { 0.02 } else { 0.45 };
                let mut own = ChaCha8Rng::seed_from_u64(k);
                let mut step = || own.random_range(-spread..spread);
                Cap { centre: centre.step(step(), step()), radius_km: 200.0 }
            };
            Ok((0..16).map(cap).collect())
        })
        .collect::<Anyhow<_>>()?;
    for (k, value) in query.iter_mut().enumerate() {
        *value = (k as f32 * 0.37).sin();
    }
    let one = |k: usize| -> Anyhow<()> {
        gallery.search(&query, Some(&all_caps[k]), 5)?;
        Ok(())
    };
    let begin = Instant::now();
    one(0)?;
    let first_ms = begin.elapsed().as_secs_f64() * 1e3;
    let times = times_ms(queries, one)?;
    let inside: usize = all_caps.iter().map(|caps| gallery.count_within(caps)).sum();
    println!(
        "{{\"rows\": {rows}, \"dimension\": {dimension}, \"build_s\": {build_s:.1}, \"open_s\": {open_s:.2}, \"resident_mb\": {}, \"first_query_ms\": {first_ms:.1}, \"query_ms_best\": {:.2}, \"query_ms_median\": {:.2}, \"query_ms_95\": {:.2}, \"places_within_caps\": {}}}",
        resident / 1_000_000,
        times[0],
        times[queries / 2],
        times[queries * 95 / 100],
        inside / queries
    );
    Ok(())
}

/// A line of /proc/self/status in bytes; 0 where there is none.
fn resident_bytes(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
}
