//! Files written by `NumPy` and safetensors for Python (`scripts/data_fixtures.py`), read here.

use locdiff_io::data::{MatrixReader, PointColumns, PointReader, read_points};
use std::path::PathBuf;

const POINTS: [[f64; 2]; 5] = [[48.875, 2.375], [-12.0625, -77.0], [90.0, 0.0], [-90.0, 180.0], [0.5, -179.5]];
const MATRIX: [[f64; 3]; 4] = [[0.0, 1.0, -2.5], [0.125, 1024.0, -0.0625], [3.0, 5.0, 7.0], [-1.0, -0.5, 2.0]];

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/fixtures").join(name)
}

fn points(name: &str, tensor: Option<&str>) -> Vec<[f64; 2]> {
    let columns = PointColumns { tensor: tensor.map(str::to_owned), ..PointColumns::default() };
    let places = read_points(&fixture(name), None, &columns).unwrap();
    places.iter().map(|place| [place.lat_deg(), place.lon_deg()]).collect()
}

fn matrix(name: &str, tensor: Option<&str>) -> Vec<Vec<f64>> {
    MatrixReader::open(&fixture(name), None, tensor).and_then(Iterator::collect).unwrap()
}

#[test]
fn points_of_every_width_are_read() {
    for bits in [16, 32, 64] {
        for extension in ["npy", "safetensors"] {
            assert_eq!(points(&format!("points_f{bits}.{extension}"), None), POINTS, "{bits} {extension}");
        }
    }
    assert_eq!(points("several.safetensors", None), POINTS);
    assert_eq!(points("several.safetensors", Some("points")), POINTS);
}

#[test]
fn row_counts_are_known_up_front() {
    let open = |name| PointReader::open(&fixture(name), None, &PointColumns::default()).unwrap();
    assert_eq!(open("points_f16.npy").rows(), Some(5));
    let reader = MatrixReader::open(&fixture("matrix_f16.safetensors"), None, None).unwrap();
    assert_eq!((reader.rows(), reader.columns()), (Some(4), 3));
}

#[test]
fn matrices_of_every_width_order_and_version_are_read() {
    let npy = "f16.npy f32.npy f64.npy big_endian.npy version_2.npy version_3.npy";
    let safetensors = "f16.safetensors f32.safetensors f64.safetensors bf16.safetensors";
    for name in npy.split(' ').chain(safetensors.split(' ')) {
        assert_eq!(matrix(&format!("matrix_{name}"), None), MATRIX, "{name}");
    }
    assert_eq!(matrix("several.safetensors", Some("codes")), MATRIX);
    assert_eq!(matrix("row_1d.npy", None), MATRIX[1..2]);
}
