//! Photos as others publish them: lists with pictures elsewhere, .zip and .parquet files.
#![cfg(feature = "bundled")]

use crate::common;
mod datasets;

use common::{read, refused_with, run, stderr};
use std::fs;

/// One photo in every way that photos are published: the same embedding.
#[test]
fn a_photo_is_the_same_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    datasets::all(&folder.join("data"));
    let embed = |words: &str, out: &str| {
        let output = run(folder, &format!("embed {words} --out {out}.jsonl --device cpu --allow-bad --force"));
        assert!(output.status.success(), "{words}: {}", stderr(&output));
        read(folder.join(format!("{out}.jsonl")))
    };
    let mut plain = String::new();
    for number in [4000, 4002, 4003, 4004, 4005] {
        fs::write(folder.join("x.jpg"), datasets::photo(number).jpeg).unwrap();
        plain += &embed("x.jpg", "plain");
    }
    assert_eq!(embed("data/im2gps3k/im2gps3ktest.zip", "zip"), plain);
    assert_eq!(embed("data/im2gps3k/im2gps3k_places365.csv --images data/im2gps3k", "list"), plain);
    let places = common::csv(folder.join("list.csv"));
    assert_eq!(places[1][1], "4000_a.jpg");
    let (lat, lon) = (datasets::photo(4000).lat, datasets::photo(4000).lon);
    assert_eq!((&places[1][2], &places[1][3]), (&lat.to_string(), &lon.to_string()));
    let names = "rgb.jpg grey.jpg progressive.jpg cmyk.jpg turned_3.jpg profile_adobe.jpg";
    let one = |name: &str| embed(&common::fixture("vision").join(name).display().to_string(), "plain");
    let plain: String = names.split(' ').map(one).collect();
    assert_eq!(embed("data/gws15k/test-00000-of-00001.parquet", "parquet"), plain);
    assert_eq!(common::csv(folder.join("parquet.csv"))[6], ["6", "profile_adobe.jpg", "32.5", "66.25", "json"]);
    // What is cut off is said; what is not there, too.
    let zip = fs::read(folder.join("data/im2gps3k/im2gps3ktest.zip")).unwrap();
    fs::write(folder.join("cut.zip"), &zip[..zip.len() / 2]).unwrap();
    refused_with(folder, "embed cut.zip --out x.npy", "cut.zip is not a whole zip file: copy or download it again");
    let parquet = fs::read(folder.join("data/gws15k/test-00000-of-00001.parquet")).unwrap();
    fs::write(folder.join("cut.parquet"), &parquet[..parquet.len() / 2]).unwrap();
    refused_with(folder, "embed cut.parquet --out x.npy", "cut.parquet is not a whole Parquet file");
    let words = "embed data/im2gps3k/im2gps3k_places365.csv --images data/yfcc4k --out x.npy";
    refused_with(folder, words, "none of the pictures of its 6 photos is there");
}
