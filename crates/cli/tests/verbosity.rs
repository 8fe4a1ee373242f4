//! Outputs for many photos, and the bar.
#![cfg(feature = "bundled")]

use crate::common;

use common::{fixture, ok, read, skipped};
use serde_json::Value;
use std::fs;

#[test]
fn several_photos_are_one_page_with_their_densities() {
    let path = &*common::scratch();
    fs::create_dir(path.join("in")).unwrap();
    for k in 0..14 {
        fs::copy(fixture("vision/rgb.jpg"), path.join(format!("in/{k:03}.jpg"))).unwrap();
    }
    ok(path, "locate in --device cpu --samples 2 --map all.html --quiet");
    let page = read(path.join("all.html"));
    let (_, data) = page.split_once(r#"id="data">"#).unwrap();
    let data: Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
    let lengths: Vec<u64> =
        data["crowd"]["picture"].as_array().unwrap().iter().map(|length| length.as_u64().unwrap()).collect();
    // Base64 of at most 20 kB.
    assert!(lengths.len() == 14 && lengths.iter().all(|length| (100..26_700).contains(length)), "{lengths:?}");
    assert_eq!(data["crowd"]["name"][13], "in/013.jpg");
    let detail = &data["photos"][13];
    assert_eq!(detail["outlines"][0]["label"], "smallest region that holds 50 %");
    assert!(detail["heat"]["uri"].as_str().unwrap().starts_with("data:image/png"));
    // 40 photos are at most 4 MB.
    let of_each = page.len().saturating_sub(600_000) / 14;
    assert!(of_each < 85_000, "{of_each}");
}

/// A bar moves while photos are located, and says the rate and the time that is left.
#[test]
fn the_bar_counts_photos() {
    let path = &*common::scratch();
    fs::create_dir(path.join("in")).unwrap();
    for k in 0..40 {
        fs::copy(fixture("vision/china.jpg"), path.join(format!("in/{k:02}.jpg"))).unwrap();
    }
    let Some((code, drawn)) = crate::tagging::on_a_terminal(path, "locate in --device cpu --csv a.csv", "") else {
        return skipped("the progress bar: there is no script(1) that makes a terminal");
    };
    assert_eq!(code, 0, "{drawn}");
    let counts: std::collections::BTreeSet<&str> =
        drawn.split_whitespace().filter(|word| word.ends_with("/40")).collect();
    // How often it is drawn is up to the machine.
    assert!(!counts.is_empty() && drawn.contains("/s") && drawn.contains("left"), "{counts:?}: {drawn}");
}
