//! Photos as others publish them: lists with pictures elsewhere, .zip and .parquet files.
#![cfg(feature = "bundled")]

use crate::common;

use common::{fixture, read, refused_with, run, stderr};
use std::{fmt::Write as _, fs, fs::File, io::Write as _, path::Path};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// A picture whose colours tell its number.
fn jpeg(number: u8) -> Vec<u8> {
    let pixels = image::RgbImage::from_fn(48, 40, |x, y| image::Rgb([5 * x as u8, 6 * y as u8, 40 * number]));
    let mut jpeg = Vec::new();
    image::codecs::jpeg::JpegEncoder::new_with_quality(&mut jpeg, 85).encode_image(&pixels).unwrap();
    jpeg
}

/// Six photos as Im2GPS3k has them: a list whose columns have each other's names, and a zip file that lacks one picture.
fn im2gps3k(folder: &Path) {
    let mut list = "IMG_ID,AUTHOR,LON,LAT\n".to_owned();
    let mut zip = ZipWriter::new(File::create(folder.join("im2gps3ktest.zip")).unwrap());
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for k in 0..6 {
        writeln!(list, "{k}_a.jpg,1@N00,{k}.5,-12{k}.25").unwrap();
        if k != 1 {
            zip.start_file(format!("im2gps3ktest/{k}_a.jpg"), options).unwrap();
            zip.write_all(&jpeg(k)).unwrap();
        }
    }
    zip.finish().unwrap();
    fs::write(folder.join("im2gps3k_places365.csv"), list).unwrap();
}

/// One photo in every way that photos are published: the same embedding.
#[test]
fn a_photo_is_the_same_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    im2gps3k(folder);
    let embed = |words: &str, out: &str| {
        let output = run(folder, &format!("embed {words} --out {out}.jsonl --device cpu --allow-bad --force"));
        assert!(output.status.success(), "{words}: {}", stderr(&output));
        read(folder.join(format!("{out}.jsonl")))
    };
    let mut plain = String::new();
    for number in [0, 2, 3, 4, 5] {
        fs::write(folder.join("x.jpg"), jpeg(number)).unwrap();
        plain += &embed("x.jpg", "plain");
    }
    assert_eq!(embed("im2gps3ktest.zip", "zip"), plain);
    assert_eq!(embed("im2gps3k_places365.csv --images .", "list"), plain);
    let places = common::csv(folder.join("list.csv"));
    assert_eq!(places[5][1..4], ["5_a.jpg", "5.5", "-125.25"]);
    let names = "rgb.jpg grey.jpg progressive.jpg cmyk.jpg turned_3.jpg profile_adobe.jpg";
    let one = |name: &str| embed(&fixture("vision").join(name).display().to_string(), "plain");
    let plain: String = names.split(' ').map(one).collect();
    assert_eq!(embed(&fixture("parquet/photos.parquet").display().to_string(), "parquet"), plain);
    assert_eq!(common::csv(folder.join("parquet.csv"))[6], ["6", "profile_adobe.jpg", "32.5", "66.25", "json"]);
    // What is cut off is said; what is not there, too.
    let zip = fs::read(folder.join("im2gps3ktest.zip")).unwrap();
    fs::write(folder.join("cut.zip"), &zip[..zip.len() / 2]).unwrap();
    refused_with(folder, "embed cut.zip --out x.npy", "cut.zip is not a whole zip file: copy or download it again");
    let parquet = fs::read(fixture("parquet/photos.parquet")).unwrap();
    fs::write(folder.join("cut.parquet"), &parquet[..parquet.len() / 2]).unwrap();
    refused_with(folder, "embed cut.parquet --out x.npy", "cut.parquet is not a whole Parquet file");
    let words = format!("embed im2gps3k_places365.csv --images {} --out x.npy", fixture("vision").display());
    refused_with(folder, &words, "none of the pictures of its 6 photos is there");
}
