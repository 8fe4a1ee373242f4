//! Published data in small: pictures made on the spot, in the files and folders that their authors use.

use crate::common::{TOWNS, fixture};
use std::{fmt::Write as _, fs, fs::File, io::Write as _, path::Path};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// A photo: its number tells its colours and its place.
pub(crate) struct Photo {
    pub(crate) jpeg: Vec<u8>,
    pub(crate) lat: f64,
    pub(crate) lon: f64,
}

pub(crate) fn photo(number: usize) -> Photo {
    let town = number % TOWNS.len();
    let (lat, lon) = TOWNS[town];
    let spread = |k: f64| 7.0 * (number as f64 * k).sin();
    let (lat, lon) = (lat + spread(0.7), lon + spread(1.3));
    let mut pixels = image::RgbImage::new(48, 40);
    for (x, y, pixel) in pixels.enumerate_pixels_mut() {
        let wave = |k: u32| (128.0 + 100.0 * (f64::from(x * k + y) / (4.0 + town as f64 * 3.0)).sin()) as u8;
        *pixel = image::Rgb([wave(1), wave(2) / (1 + town as u8), (number * 37 % 256) as u8]);
    }
    let mut jpeg = Vec::new();
    image::codecs::jpeg::JpegEncoder::new_with_quality(&mut jpeg, 85).encode_image(&pixels).unwrap();
    Photo { jpeg, lat, lon }
}

fn folder(path: &Path) {
    fs::create_dir_all(path).unwrap();
}

fn write_zip(path: &Path, method: CompressionMethod, members: &[(String, Vec<u8>)]) {
    folder(path.parent().unwrap());
    let mut zip = ZipWriter::new(File::create(path).unwrap());
    for (name, bytes) in members {
        zip.start_file(name.as_str(), SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
}

fn write_tar(path: &Path, members: &[(String, Vec<u8>)]) {
    folder(path.parent().unwrap());
    let mut tar = tar::Builder::new(File::create(path).unwrap());
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, &bytes[..]).unwrap();
    }
    tar.finish().unwrap();
}

/// MP16-Pro: a list whose ids have slashes, and one tar of files whose names have none. One row has no place, one no picture, one
/// picture is cut off.
pub(crate) fn mp16(data: &Path, count: usize) {
    let mut list = "IMG_ID,AUTHOR,LAT,LON,S3_Label,country\n".to_owned();
    let mut members = Vec::new();
    for k in 0..count {
        let Photo { mut jpeg, lat, lon } = photo(k);
        let place = if k == 3 { ",".to_owned() } else { format!("{lat},{lon}") };
        writeln!(list, "a{}/b/{k}.jpg,9@N00,{place},1,\"France, Metropolitan\"", k % 10).unwrap();
        if k == 5 {
            jpeg.truncate(100);
        }
        if k != 4 {
            members.push((format!("./images/a{}_b_{k}.jpg", k % 10), jpeg));
        }
    }
    folder(&data.join("mp16/metadata"));
    fs::write(data.join("mp16/metadata/MP16_Pro_filtered.csv"), list).unwrap();
    write_tar(&data.join("mp16/mp-16-images.tar"), &members);
}

/// OpenStreetView-5M: two lists, zip shards, one of them deflated.
pub(crate) fn osv5m(data: &Path, train: usize, test: usize) {
    for (split, numbers) in [("train", 1000..1000 + train), ("test", 2000..2000 + test)] {
        let mut list = "id,latitude,longitude,thumb_original_url,country\n".to_owned();
        let mut shards = [Vec::new(), Vec::new()];
        for k in numbers {
            let Photo { jpeg, lat, lon } = photo(k);
            writeln!(list, "{k},{lat},{lon},https://example.org/{k},FR").unwrap();
            shards[k % 2].push((format!("{:02}/{k}.jpg", k % 2), jpeg));
        }
        let images = data.join("osv5m/images").join(split);
        write_zip(&images.join("00.zip"), CompressionMethod::Stored, &shards[0]);
        write_zip(&images.join("01.zip"), CompressionMethod::Deflated, &shards[1]);
        fs::write(data.join("osv5m").join(format!("{split}.csv")), list).unwrap();
    }
}

/// The test sets, each in another way that photos are published.
pub(crate) fn benchmarks(data: &Path, count: usize) {
    // The list whose columns have each other's names, a zip, and one picture missing.
    let mut list = "IMG_ID,AUTHOR,LON,LAT\n".to_owned();
    let mut members = Vec::new();
    for k in 4000..4000 + count {
        let Photo { jpeg, lat, lon } = photo(k);
        writeln!(list, "{k}_a.jpg,1@N00,{lat},{lon}").unwrap();
        if k != 4001 {
            members.push((format!("im2gps3ktest/{k}_a.jpg"), jpeg));
        }
    }
    write_zip(&data.join("im2gps3k/im2gps3ktest.zip"), CompressionMethod::Deflated, &members);
    fs::write(data.join("im2gps3k/im2gps3k_places365.csv"), list).unwrap();
    // WebDataset.
    let mut members = Vec::new();
    for k in 6000..6000 + count {
        let Photo { jpeg, lat, lon } = photo(k);
        members.push((format!("{k}.jpg"), jpeg));
        members.push((format!("{k}.json"), format!("{{\"latitude\": {lat}, \"longitude\": {lon}}}").into_bytes()));
    }
    write_tar(&data.join("yfcc26k/00000.tar"), &members);
    folder(&data.join("gws15k"));
    fs::copy(fixture("parquet/photos.parquet"), data.join("gws15k/test-00000-of-00001.parquet")).unwrap();
}

/// All of them, a few photos each.
pub(crate) fn all(data: &Path) {
    mp16(data, 110);
    osv5m(data, 110, 6);
    benchmarks(data, 6);
}
