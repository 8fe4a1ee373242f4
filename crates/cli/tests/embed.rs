//! `locdiff embed` as people use it: good and bad photos, every kind of input, kill it, interrupt it, resume it.
#![cfg(unix)]

use crate::common;

use common::{command, fixture, ok, read, run};
use locdiff_testing::{signal, try_until, wait_until};
use safetensors::SafeTensors;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The summary of a run that ends well.
#[track_caller]
fn embed(folder: &Path, arguments: &[&str]) -> Value {
    common::json(folder, &[&["embed"], arguments].concat())
}

/// The summary of a run in which some photos were bad: exit code 1, or 0 where that is allowed.
#[track_caller]
fn embed_some(folder: &Path, arguments: &[&str]) -> Value {
    let strict = run(folder, &[&["embed"], arguments, &["--json"]].concat());
    assert_eq!(strict.status.code(), Some(1), "{arguments:?}");
    serde_json::from_slice(&strict.stdout).expect("JSON")
}

/// The one line that a run which fails says.
#[track_caller]
fn refused(folder: &Path, arguments: &[&str]) -> String {
    common::refused(folder, &[&["embed"], arguments].concat())
}

fn lines(path: PathBuf) -> Vec<String> {
    read(path).lines().map(str::to_owned).collect()
}

/// The f32 rows of a tensor.
fn rows(path: PathBuf, tensor: &str) -> Vec<Vec<u8>> {
    let bytes = fs::read(path).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let tensor = file.tensor(tensor).unwrap();
    let width = 4 * tensor.shape()[1];
    tensor.data().chunks(width).map(<[u8]>::to_vec).collect()
}

/// A small BMP picture, another for each number.
fn bmp(path: &Path, number: u32) {
    const SIDE: u32 = 24;
    let mut bytes = b"BM".to_vec();
    for value in [54 + 3 * SIDE * SIDE, 0, 54, 40, SIDE, SIDE, 1 | 24 << 16, 0, 0, 0, 0, 0, 0] {
        bytes.extend(value.to_le_bytes());
    }
    let pixel = |i: u32| [i * number, i + 91 * number, (i / SIDE) * (number + 3)].map(|value| value as u8);
    bytes.extend((0..SIDE * SIDE).flat_map(pixel));
    fs::write(path, bytes).unwrap();
}

pub(crate) fn many(folder: &Path, count: u32) {
    fs::create_dir_all(folder).unwrap();
    for number in 0..count {
        bmp(&folder.join(format!("{number:05}.bmp")), number);
    }
}

/// A PNG header that promises 30,000 × 30,000 pixels.
pub(crate) fn large_png() -> Vec<u8> {
    let mut png = fs::read(fixture("vision/rgb.png")).unwrap();
    png[16..20].copy_from_slice(&30_000_u32.to_be_bytes());
    png[20..24].copy_from_slice(&30_000_u32.to_be_bytes());
    let sum = crc32fast::hash(&png[12..29]);
    png[29..33].copy_from_slice(&sum.to_be_bytes());
    png
}

#[test]
fn bad_photos_are_listed_and_passed_over() {
    let path = &*common::scratch();
    let photos = path.join("photos");
    fs::create_dir_all(photos.join("inner")).unwrap();
    let mut expected = Vec::new();
    for name in ["rgb.jpg", "progressive.jpg", "rgb.png", "lossy.webp", "lossless.webp", "lzw.tiff", "rgb.bmp"] {
        let whole = fs::read(fixture("vision").join(name)).unwrap();
        fs::write(photos.join(format!("cut_{name}")), &whole[..whole.len() * 2 / 3]).unwrap();
        expected.push((format!("photos/cut_{name}"), "again"));
    }
    let gif = fs::read(fixture("vision/animated.gif")).unwrap();
    fs::write(photos.join("cut.gif"), &gif[..gif.len() / 4]).unwrap();
    fs::write(photos.join("bomb.png"), large_png()).unwrap();
    fs::write(photos.join("none.jpg"), b"").unwrap();
    fs::write(photos.join("page.jpeg"), b"<html>").unwrap();
    fs::write(photos.join("phone.heic"), b"\0\0\0\x18ftypheic\0\0\0\0mif1heic").unwrap();
    fs::write(photos.join("notes.txt"), b"not a picture, and not called one").unwrap();
    fs::write(photos.join(".hidden.jpg"), b"").unwrap();
    for (name, words) in [
        ("bomb.png", "30000×30000 pixels, above the limit of 100000000"),
        ("cut.gif", "again"),
        ("none.jpg", "0 bytes"),
        ("page.jpeg", "not a JPEG, PNG"),
        ("phone.heic", "phone.heic"),
    ] {
        expected.push((format!("photos/{name}"), words));
    }
    expected.sort();
    let good = ["animated.gif", "cmyk.jpg", "cmyk.tiff", "grey16.png", "rgba.webp", "turned_6.jpg"];
    for name in good {
        fs::copy(fixture("vision").join(name), photos.join("inner").join(name)).unwrap();
    }
    fs::copy(fixture("vision/rgb.png"), photos.join("wrong_name.jpg")).unwrap();

    let summary = embed_some(path, &["photos", "-o", "e.safetensors"]);
    let count = |key: &str| summary[key].as_u64().unwrap();
    assert_eq!([count("photos"), count("rows"), count("bad"), count("other_files")], [19, 7, 12, 1]);
    let bad = lines(path.join("e.bad.csv"));
    assert_eq!(bad.len(), 13);
    for (line, (name, words)) in bad[1..].iter().zip(&expected) {
        assert!(line.starts_with(&format!("{name},")) && line.contains(words), "{line}: {words}");
    }
    let table = lines(path.join("e.csv"));
    assert_eq!(table[0], "row,path,lat,lon,source");
    for (row, name) in good.iter().enumerate() {
        let ending = if *name == "turned_6.jpg" { "-33.8569,-151.21499999999997,exif" } else { ",," };
        assert_eq!(table[row + 1], format!("{},photos/inner/{name},{ending}", row + 1));
    }
    assert_eq!(table[7], "7,photos/wrong_name.jpg,,,");

    // The same bytes alone as among others; the exit code tells of bad photos unless they are allowed.
    let all = rows(path.join("e.safetensors"), "embeddings");
    for (row, name) in [(1, "inner/cmyk.jpg"), (6, "wrong_name.jpg")] {
        let photo = format!("photos/{name}");
        embed(path, &[&photo, "-o", "one.safetensors", "--force"]);
        assert_eq!(rows(path.join("one.safetensors"), "embeddings"), all[row..=row]);
        assert!(!path.join("one.bad.csv").exists());
    }
    assert!(refused(path, &["photos", "-o", "t.safetensors"]).contains("12 of 19 photos"));
    embed(path, &["photos", "-o", "s.safetensors", "--allow-bad"]);
    assert_eq!(rows(path.join("s.safetensors"), "embeddings"), all);
    assert!(refused(path, &["photos/none.jpg", "-o", "n.safetensors"]).contains("no photo of 1 could"));
    assert!(!path.join("n.safetensors").exists() && !path.join("n.safetensors.partial").exists());
}

#[test]
fn files_tables_lists_and_shards_give_the_same_rows() {
    let path = &*common::scratch();
    many(&path.join("photos"), 5);
    fs::write(path.join("photos/00002.bmp"), b"BM, but no picture").unwrap();
    embed_some(path, &["photos", "-o", "folder.safetensors", "--augment", "2", "--seed", "3"]);
    let expected = fs::read(path.join("folder.safetensors")).unwrap();
    let tensor = |name: &str| rows(path.join("folder.safetensors"), name);
    assert_eq!(tensor("embeddings").len(), 4);
    assert!(tensor("augmented_1") != tensor("embeddings") && tensor("augmented_1") != tensor("augmented_2"));

    let list: Vec<String> = (0..5).map(|n| format!("photos/0000{n}.bmp")).collect();
    fs::write(path.join("list.txt"), list.join("\n")).unwrap();
    // Paths from the table's own folder; a place may be missing.
    let places = ["1,2", "3.5,-4", "0,0", ",", "-90,180"];
    let table = places.iter().enumerate().map(|(n, place)| format!("x,{place},0000{n}.bmp"));
    fs::write(
        path.join("photos/places.csv"),
        format!("id,Latitude,lng,photo\n{}\n", table.collect::<Vec<_>>().join("\n")),
    )
    .unwrap();
    let mut shard = tar::Builder::new(fs::File::create(path.join("a.tar")).unwrap());
    for n in 0..5 {
        let json = format!("{{\"caption\": \"{n}\", \"lat\": {n}.25, \"lon\": -{n}}}");
        let mut header = tar::Header::new_gnu();
        header.set_size(json.len() as u64);
        shard.append_data(&mut header, format!("k{n}.json"), json.as_bytes()).unwrap();
        shard.append_path_with_name(path.join(format!("photos/0000{n}.bmp")), format!("k{n}.bmp")).unwrap();
    }
    shard.into_inner().unwrap();
    let sure = ["--augment", "2", "--seed", "3", "--batch", "4"];
    for (input, second, last) in [
        ("@list.txt", "2,photos/00001.bmp,,,", "4,photos/00004.bmp,,,"),
        ("photos/places.csv", "2,photos/00001.bmp,3.5,-4,csv", "4,photos/00004.bmp,-90,180,csv"),
        ("a.tar", "2,a.tar/k1.bmp,1.25,-1,json", "4,a.tar/k4.bmp,4.25,-4,json"),
    ] {
        let summary = embed_some(
            path,
            &[&[input, "-o", "x.safetensors", "--locations", "places.csv", "--force"], &sure[..]].concat(),
        );
        assert_eq!((&summary["rows"], &summary["bad"]), (&4.into(), &1.into()));
        assert_eq!(fs::read(path.join("x.safetensors")).unwrap(), expected, "{input}");
        let table = lines(path.join("places.csv"));
        assert_eq!((table[2].as_str(), table[4].as_str()), (second, last));
    }
    let summary = embed_some(path, &["photos/places.csv", "-o", "x.npy", "--require-gps", "--dtype", "f16"]);
    assert_eq!((&summary["rows"], &summary["left_out_without_location"]), (&3.into(), &1.into()));
    assert_eq!(fs::metadata(path.join("x.npy")).unwrap().len(), 128 + 3 * 512 * 2);
    let words = "x.bad.csv";
    assert!(lines(path.join(words)).iter().any(|line| line.contains("00003.bmp") && line.contains("no location")));
}

#[test]
fn a_folder_of_photos_with_places_trains_a_model() {
    let path = &*common::scratch();
    many(&path.join("photos"), 40);
    let table = (0..40).map(|n| format!("photos/{n:05}.bmp,{},{}", n - 20, 4 * n - 80));
    fs::write(path.join("photos.csv"), format!("path,lat,lon\n{}\n", table.collect::<Vec<_>>().join("\n"))).unwrap();
    embed(path, &["photos.csv", "-o", "e.safetensors", "--augment", "1", "--require-gps"]);
    let train = "train --embeddings e.safetensors --augmented augmented_1 --locations e.csv --preset small --degree 3 \
                 --width 8 --batch 8 --steps 3 --device cpu --out model --json";
    ok(path, train);
    assert!(path.join("model/model.safetensors").exists());
}

#[test]
fn killed_and_interrupted_runs_resume_to_the_same_bytes() {
    const COUNT: u32 = 90;
    let path = &*common::scratch();
    many(&path.join("photos"), COUNT);
    fs::write(path.join("photos/00077.bmp"), b"").unwrap();
    let files = ["safetensors", "csv", "bad.csv"];
    let read = |stem: &str| files.map(|ending| fs::read(path.join(format!("{stem}.{ending}"))).unwrap());
    let options = ["--batch", "8", "--augment", "1", "--seed", "9"];
    embed_some(path, &[&["photos", "-o", "whole.safetensors"], &options[..]].concat());

    let arguments = [&["embed", "photos", "-o", "cut.safetensors", "--resume", "--json"], &options[..]].concat();
    let partial = path.join("cut.safetensors.partial");
    // kill -9 twice, then an interrupt, each once there is more than before. A run that is faster than its signal begins again.
    let cut = |name: &str, kept: u64| {
        let mut child = command(path, &arguments);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let has_more = || fs::metadata(&partial).is_ok_and(|data| data.len() >= kept + 20_000);
        wait_until("there is more", || has_more() || child.try_wait().unwrap().is_some());
        if child.try_wait().unwrap().is_none() {
            signal(&child, name);
        }
        let code = child.wait().unwrap().code();
        if code.is_some_and(|code| code != 130) {
            assert!(path.join("cut.safetensors").exists(), "{name}: {code:?}");
            for ending in files {
                fs::remove_file(path.join(format!("cut.{ending}"))).unwrap();
            }
            return false;
        }
        assert_eq!(code, (name == "INT").then_some(130));
        let message = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
        assert_eq!(message.contains("of 90 photos: go on with --resume"), name == "INT", "{message}");
        assert!(!path.join("cut.safetensors").exists());
        true
    };
    for name in ["KILL", "KILL", "INT"] {
        try_until(name, || cut(name, fs::metadata(&partial).map_or(0, |data| data.len())));
    }
    let again = refused(path, &["photos", "-o", "cut.safetensors", "--batch", "8"]);
    assert!(again.contains("holds an unfinished run: add --resume"), "{again}");
    let other = refused(path, &["photos", "-o", "cut.safetensors", "--batch", "8", "--resume"]);
    assert!(other.contains("another --augment (1, now 0)"), "{other}");
    let summary = run(path, &arguments);
    let summary: Value = serde_json::from_slice(&summary.stdout).unwrap();
    let resumed = summary["resumed_from"].as_u64().unwrap();
    assert!(resumed >= 4 && resumed.is_multiple_of(4) && resumed < COUNT.into(), "{resumed}");
    assert!(read("cut") == read("whole"), "resumed at {resumed}");
    assert!(!partial.exists());
}

#[test]
fn an_encoder_is_described_checked_and_timed() {
    let path = &*common::scratch();
    let inspect = |arguments: &[&str]| {
        let output = run(path, &[&["encoder", "inspect", "--device", "cpu"], arguments].concat());
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, text, _) = inspect(&[]);
    assert_eq!(code, Some(0));
    for words in ["efficientnet-lite2", "short side to 256", "256×256", "512 numbers", "Apache-2.0", "ms a photo"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/streetview-lite2");
    let (code, text, _) = inspect(&[model, "--json"]);
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &json["embedding"], &json["input_side"]), (Some(0), &512.into(), &256.into()));
    assert!(json["milliseconds"]["encode_one_thread"].as_f64().unwrap() > 0.0);
    assert!(json["parameters"].as_u64().unwrap() > 3_000_000);
    let (code, text, _) = inspect(&[model]);
    assert_eq!(code, Some(0));
    for words in ["EfficientNet-Lite, efficientnet-lite2", "short side to 256", "input 256×256", "512 numbers"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(inspect(&["nowhere"]).0, Some(1));

    // Weights that are all zero are sound numbers, but no encoder.
    let dead = path.join("dead");
    fs::create_dir(&dead).unwrap();
    fs::copy(Path::new(model).join("encoder.json"), dead.join("encoder.json")).unwrap();
    let mut weights = fs::read(Path::new(model).join("model.safetensors")).unwrap();
    let header = 8 + u64::from_le_bytes(*weights.first_chunk().unwrap()) as usize;
    weights[header..].fill(0);
    fs::write(dead.join("model.safetensors"), weights).unwrap();
    let (code, _, message) = inspect(&["dead"]);
    assert!(code == Some(1) && message.contains("gives the same answer to every picture"), "{message}");
}
