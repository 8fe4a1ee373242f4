//! Codes and densities by the command, where a transcript does not do.

use crate::common;

use common::{ok, run};

const PLACES: &str = "lat,lon\n39.999,116.275\n-90,0\n90,12\n0,180\n-33.9,-179.9999\n64.15,-21.94\n";

/// Where a GPU is found it names the same places; what it cannot do is refused before one is looked for.
#[test]
fn a_gpu_decodes_as_the_cpu_does() {
    let path = &*common::scratch();
    std::fs::write(path.join("places.csv"), PLACES).unwrap();
    ok(path, "encode places.csv -L 15 --out codes.npy");
    for decoder in ["kl", "exact --window-km 200"] {
        let output = run(path, &format!("decode codes.npy --device cuda --decoder {decoder}"));
        assert_eq!(output.status.code(), Some(1));
        let error = common::stderr(&output);
        assert!(error.contains("device") && error.contains("without a window"), "{error}");
    }
    for decoder in ["exact", "anchors"] {
        let decode =
            |device: &str| run(path, &format!("decode codes.npy --decoder {decoder} --device {device} --json"));
        let (there, here) = (decode("cuda"), decode("cpu"));
        if !there.status.success() {
            let error = common::stderr(&there);
            assert!(error.contains("no CUDA device can be used"), "{error}");
            return locdiff_testing::skipped_cuda(&error);
        }
        let (there, here) = (common::lines_of(there.stdout), common::lines_of(here.stdout));
        assert!(there.len() == 6 && here.len() == 6);
        for (there, here) in there.iter().zip(&here) {
            for key in ["row", "lat", "peak", "spread_km"] {
                let (a, b) = (there[key].as_f64().unwrap(), here[key].as_f64().unwrap());
                assert!((a - b).abs() <= 1e-4 * b.abs().max(1.0), "{decoder} {key}: {there} {here}");
            }
        }
    }
}

#[test]
fn a_raster_holds_all_probability() {
    let path = &*common::scratch();
    ok(path, "density --at=-17.8,179.9 -L 31 --raster raster.asc --raster-cell 2");
    let raster = common::read(path.join("raster.asc"));
    let numbers = raster.lines().skip(6).flat_map(str::split_whitespace).map(|v| v.parse::<f64>().unwrap());
    let total: f64 = numbers.sum();
    assert!((total - 1.0).abs() < 1e-6, "{total}");
}
