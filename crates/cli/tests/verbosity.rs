//! What people expect of any command: completions, a manual, a version that says enough, quiet, colours, environment; and the
//! outputs for many photos and for GIS programs.
#![cfg(feature = "bundled")]

use crate::common;

use common::{command, fixture, json, ok, read, refused_with, run, skipped, stderr};
use serde_json::Value;
use std::{fs, path::Path};

#[test]
fn shells_and_man_are_served() {
    let here = Path::new(".");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(ok(here, &format!("completions {shell}")).contains("write-exif"), "{shell}");
    }
    assert!(ok(here, "man").starts_with(".ie"), "roff");
    let folder = tempfile::tempdir().unwrap();
    ok(folder.path(), "man --out pages");
    assert!(read(folder.path().join("pages/locdiff-locate.1")).contains("write\\-exif"));
    assert!(folder.path().join("pages/locdiff-gallery-build.1").exists());
}

#[test]
fn the_version_says_what_is_inside() {
    let here = Path::new(".");
    assert_eq!(ok(here, "--version"), format!("locdiff {}\n", env!("CARGO_PKG_VERSION")));
    let facts = json(here, "version");
    for key in ["version", "commit", "target", "features", "threads", "cuda", "libheif", "model", "encoder"] {
        assert!(!facts[key].is_null(), "{key}: {facts}");
    }
    assert!(facts["encoder"]["fingerprint"].as_str().unwrap().contains('@'), "{facts}");
    // What is installed, or why it is not used: photos of phones depend on it.
    let without = common::command(here, "version --json").env("LOCDIFF_LIBHEIF", "/nowhere/libheif.so.1").output();
    let without: serde_json::Value = serde_json::from_slice(&without.unwrap().stdout).unwrap();
    let reason = without["libheif"].as_str().unwrap();
    assert!(reason.starts_with("not found (LOCDIFF_LIBHEIF = /nowhere/libheif.so.1"), "{reason}");
    let text = ok(here, "--version --verbose");
    assert!(text.contains("\nlibheif   ") && text.contains("commit") && text.contains("streetview-l31"), "{text}");
}

#[test]
fn quiet_verbose_colour_and_environment() {
    let path = &*common::scratch();
    fs::copy(fixture("vision/rgb.png"), path.join("a.png")).unwrap();
    let locate = "locate a.png --samples 2 --xmp --yes --force";
    let said = |more: &str| stderr(&run(path, &format!("{locate} --device cpu {more}")));
    assert!(said("").contains("note: "));
    assert_eq!(said("--quiet"), "");
    assert!(said("--verbose").contains("verbose: 1 photo; model of degree"));
    assert!(said("--color always").contains("\u{1b}[36mnote:\u{1b}[0m"));
    assert!(!said("--color never").contains('\u{1b}'));
    let output = command(path, locate).env("LOCDIFF_DEVICE", "gpu").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "the environment's device is taken, and is none");
    assert!(ok(path, "locate --help").contains("[env: LOCDIFF_MODEL]"));
}

#[test]
fn regions_by_name_circle_and_several() {
    let path = &*common::scratch();
    fs::copy(fixture("vision/rgb.png"), path.join("a.png")).unwrap();
    let best = |within: &[&str]| -> (f64, f64) {
        let mut words = vec!["locate", "a.png", "--device", "cpu", "--samples", "2"];
        words.extend(within.iter().flat_map(|region| ["--within", region]));
        let best: Value = json(path, &words)["best"].clone();
        (best["lat"].as_f64().unwrap(), best["lon"].as_f64().unwrap())
    };
    let (lat, lon) = best(&["10 km around 48.85,2.35"]);
    assert!((lat - 48.85).abs() < 0.1 && (lon - 2.35).abs() < 0.15, "{lat} {lon}");
    let (lat, lon) = best(&["Tasmania"]);
    assert!((-44.0..-39.0).contains(&lat) && (143.0..149.0).contains(&lon), "{lat} {lon}");
    let (lat, _) = best(&["1 km around 10,10", "1 km around 20,20"]);
    assert!((lat - 10.0).abs() < 0.1 || (lat - 20.0).abs() < 0.1, "{lat}");
    refused_with(path, &["locate", "a.png", "--within", "Georgia"], "US-GA for Georgia in United States");
}

#[test]
fn many_photos_are_one_page_and_densities_rasters() {
    let path = &*common::scratch();
    fs::create_dir(path.join("in")).unwrap();
    for k in 0..60 {
        fs::copy(fixture("vision/rgb.jpg"), path.join(format!("in/{k:03}.jpg"))).unwrap();
    }
    ok(path, "locate in --device cpu --samples 2 --map all.html --quiet");
    let page = read(path.join("all.html"));
    let (_, data) = page.split_once(r#"id="data">"#).unwrap();
    let data: Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
    let lengths: Vec<u64> =
        data["crowd"]["picture"].as_array().unwrap().iter().map(|length| length.as_u64().unwrap()).collect();
    // Base64 of at most 20 kB.
    assert!(lengths.len() == 60 && lengths.iter().all(|length| (100..26_700).contains(length)), "{lengths:?}");
    assert_eq!(data["crowd"]["name"][59], "in/059.jpg");
    ok(path, "locate in/000.jpg --device cpu --samples 2 --geotiff a.tif");
    assert_eq!(&fs::read(path.join("a.tif")).unwrap()[..4], b"II*\0");
    refused_with(path, "locate in --geotiff a.tif", "--geotiff a.tif/");
    ok(path, "density --at 48.86,2.35 -L 11 --geotiff d.tif");
    assert_eq!(&fs::read(path.join("d.tif")).unwrap()[..4], b"II*\0");
}

#[test]
fn places_of_many_photos_are_one_file() {
    let path = &*common::scratch();
    let world = fixture("toyworld").canonicalize().unwrap();
    let (model, photos) = (world.join("model"), world.join("photos.npy"));
    let locate = format!("locate --model {} --embeddings {}", model.display(), photos.display());
    ok(path, &format!("{locate} --device cpu --samples 2 --geojson many.geojson --kml many.kml"));
    let many: Value = serde_json::from_str(&read(path.join("many.geojson"))).unwrap();
    let features = many["features"].as_array().unwrap();
    assert_eq!(features.iter().filter(|one| one["properties"]["rank"] == 1).count(), 250);
    assert!(features.iter().all(|one| one["geometry"]["type"] == "Point"));
    let kml = read(path.join("many.kml"));
    assert!(kml.matches("<Folder>").count() == 250 && !kml.contains("<Polygon>"));
}

/// A bar moves while photos are located, and says the rate and the time that is left.
#[test]
fn the_bar_counts_photos() {
    let path = &*common::scratch();
    fs::create_dir(path.join("in")).unwrap();
    for k in 0..40 {
        fs::copy(fixture("vision/china.jpg"), path.join(format!("in/{k:02}.jpg"))).unwrap();
    }
    let locate = format!("{} locate in --device cpu --csv a.csv", common::PROGRAM);
    if std::process::Command::new("script").arg("--version").output().is_err() {
        return skipped("the progress bar: there is no script(1) that makes a terminal");
    }
    let output = std::process::Command::new("script")
        .args(["--quiet", "--return", "--command", &locate, "/dev/null"])
        .current_dir(path)
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let drawn = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{drawn}");
    let counts: std::collections::BTreeSet<&str> =
        drawn.split_whitespace().filter(|word| word.ends_with("/40")).collect();
    // How often it is drawn is up to the machine.
    assert!(!counts.is_empty() && drawn.contains("/s") && drawn.contains("left"), "{counts:?}: {drawn}");
}
