//! GeoCLIP and a CLIP of random weights, 24 numbers a photo, in a data folder.
#![allow(dead_code, unreachable_pub)] // a module of several test files, each of which uses a part of it

use crate::common::{copy_files, fixture, ok};
use serde_json::Value;
use std::{fmt::Write, fs, path::Path};

/// Places that GeoCLIP has here.
pub const PLACES: u32 = 1500;

/// Models `geoclip`, with more places than its fixture has, and `clip-vit-large-patch14`, in the folder's data folder `home`.
pub fn prepare(path: &Path) {
    let models = path.join("home/models");
    ok(path, &format!("import geoclip {} --out home/models/geoclip", fixture("geoclip").display()));
    let mut places = "LAT,LON\n".to_owned();
    for k in 0..PLACES {
        let turn = f64::from(k) * 2.399_963;
        let z = 1.0 - 2.0 * (f64::from(k) + 0.5) / f64::from(PLACES);
        let _ = writeln!(places, "{},{}", z.asin().to_degrees(), turn.to_degrees().rem_euclid(360.0) - 180.0);
    }
    fs::write(models.join("geoclip/gallery.csv"), places).unwrap();
    let settings = models.join("geoclip/geoclip.json");
    let mut text: Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
    text["encoder"] = "clip-vit-large-patch14".into();
    fs::write(&settings, text.to_string()).unwrap();
    copy_files(&fixture("clip/whole"), &models.join("clip-vit-large-patch14"));
}

/// What every answer holds: the best place is the first hypothesis, regions and radii are nested, masses sum to 1 at the most.
#[track_caller]
pub fn check_coherent(answer: &Value) {
    let number = |name: &str| answer[name].as_f64().unwrap_or_else(|| panic!("{name} of {answer}"));
    for part in ["lat", "lon"] {
        assert_eq!(answer["best"][part], answer["hypotheses"][0][part]);
    }
    assert!(number("radius_50_km") < number("radius_90_km"), "{answer}");
    assert!(number("area_50_km2") < number("area_90_km2"), "{answer}");
    let masses = answer["hypotheses"].as_array().unwrap().iter().map(|one| one["probability"].as_f64().unwrap());
    let (sum, largest) = masses.fold((0.0, 0.0_f64), |(sum, top), mass| (sum + mass, top.max(mass)));
    assert!(sum <= 1.0 + 1e-9 && largest == answer["hypotheses"][0]["probability"].as_f64().unwrap(), "{answer}");
}
