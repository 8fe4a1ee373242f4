//! What belongs together: runs and their folders, encoders and models, photos and their copies.
#![cfg(unix)]

use crate::common;

use common::{TRAIN, command, fixture, ok, photos_of_towns, read, refused, refused_with};
use locdiff_testing::wait_for_file;
use std::process::Stdio;
use std::{fs, path::Path};

/// Two runs in one folder mixed their states.
#[test]
fn a_folder_belongs_to_one_run_at_a_time() {
    let path = &*common::scratch();
    photos_of_towns(path);
    let train = format!("{} --embeddings photos.npy --locations photos.csv", TRAIN.replace("200", "2000000"));
    let mut child = command(path, &train).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_file(&path.join("run/run.json"));
    for second in [train.clone(), format!("{train} --resume"), format!("{train} --force")] {
        let message = refused(path, &second);
        let holder = format!("run is in use by another run (process {})", child.id());
        assert!(message.contains(&holder), "{second}: {message}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // The lock died with its process.
    let train = format!("{TRAIN} --embeddings photos.npy --locations photos.csv --force");
    ok(path, &train);
    assert!(!path.join("run/.locdiff.lock").exists());
    let _held = locdiff_base::OutputLock::folder(&path.join("run")).unwrap();
    fs::create_dir(path.join("gallery")).unwrap();
    let _held = locdiff_base::OutputLock::folder(&path.join("gallery")).unwrap();
    refused_with(
        path,
        "gallery build --embeddings photos.npy --locations photos.csv -o gallery",
        "gallery is in use by another run (process",
    );
    #[cfg(feature = "bundled")]
    {
        fs::copy(fixture("vision/rgb.jpg"), path.join("a.jpg")).unwrap();
        let _held = locdiff_base::OutputLock::file(&path.join("e.npy.partial")).unwrap();
        refused_with(path, "embed a.jpg -o e.npy", "is in use by another run (process");
    }
}

#[test]
fn codes_and_galleries_out_of_bounds_are_named_with_their_file() {
    let path = &*common::scratch();
    photos_of_towns(path);
    // Codes of any finite size decode, or are refused by row and value.
    ok(path, "encode --at 1,2 --at 3,4 -L 7 -o codes.csv");
    for factor in ["1e30", "1e100", "1e300"] {
        let rows = read(path.join("codes.csv"));
        let (first, second) = rows.split_once('\n').unwrap();
        let grown: Vec<String> = second
            .trim()
            .split(',')
            .map(|v| format!("{:e}", v.parse::<f64>().unwrap() * factor.parse::<f64>().unwrap()))
            .collect();
        fs::write(path.join("grown.csv"), format!("{first}\n{}\n", grown.join(","))).unwrap();
        for arguments in ["decode grown.csv", "density grown.csv --row 2"] {
            refused_with(path, arguments, "grown.csv, row 2: coefficient 0 is");
        }
    }
    let damaged = "gallery build --embeddings photos.npy --locations photos.csv -o g";
    ok(path, damaged);
    for file in ["index.bin", "codes.bin", "vectors.bin"] {
        let whole = fs::read(path.join("g").join(file)).unwrap();
        let mut other = whole.clone();
        *other.last_mut().unwrap() ^= 1;
        fs::write(path.join("g").join(file), other).unwrap();
        let message = refused(path, "gallery search g --embeddings photos.npy");
        assert!(message.contains(&format!("g/{file}: ")), "{file}: {message}");
        fs::write(path.join("g").join(file), whole).unwrap();
    }
    ok(path, "gallery search g --embeddings photos.npy");
}

/// The photos of fixtures with places, embedded by an encoder.
pub(crate) fn embed(path: &Path, name: &str, more: &str) {
    let names = "rgb.jpg rgb.png china.jpg rgb.bmp cmyk.jpg rgba.webp lzw.tiff progressive.jpg";
    let rows = names
        .split(' ')
        .enumerate()
        .map(|(k, file)| format!("{},{},{}\n", fixture("vision").join(file).display(), 5 * k, 7 * k));
    fs::write(path.join("list.csv"), format!("path,lat,lon\n{}", rows.collect::<String>())).unwrap();
    ok(path, &format!("embed list.csv -o {name}.safetensors --device cpu {more}"));
}
