//! `locdiff-lab embed-location` as people use it.

use crate::common;

use common::{fixture, json, ok, refused_with};
use locdiff_retrieval::geoclip::{Sources, import};

#[test]
fn places_become_geoclips_vectors() {
    let path = &*common::scratch();
    import(&Sources::open(&[fixture("geoclip")]).unwrap(), &path.join("geoclip")).unwrap();
    let embed = "embed-location geoclip/gallery.csv --model geoclip --device cpu --out e.npy";
    let said = json(path, embed);
    assert!(said["rows"] == 20 && said["dimension"] == 10, "{said}");
    let rows = ok(path, "embed-location --at 48.8566,2.3522 --model geoclip --device cpu --normalise");
    let row: Vec<f64> = serde_json::from_str(rows.trim()).unwrap();
    assert!(row.len() == 10 && (row.iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-5);
    refused_with(path, "embed-location --at 1,2 --model nowhere", "locdiff import geoclip");
    refused_with(path, embed, "e.npy exists: add --force");
}
