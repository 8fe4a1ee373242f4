//! What belongs together: runs and their folders, encoders and models, photos and their copies.
#![cfg(unix)]

use crate::common;

use common::{TRAIN, command, fixture, model_of_towns, ok, photos_of_towns, read, refused, refused_with};
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

/// Numbers of a settings' file are checked before anything is allocated.
#[test]
fn settings_out_of_bounds_are_named_with_their_file() {
    let path = &*common::scratch();
    model_of_towns(path);
    let config = read(path.join("run/config.json"));
    let calibrate = "calibrate --model run --embeddings photos.npy --truth photos.csv --device cpu --samples 2";
    ok(path, calibrate);
    for (from, to, words) in [
        ("\"width\": 32", "\"width\": 1000000000000", "width = 1000000000000"),
        ("\"width\": 32", "\"width\": 20000", "its settings ask for"),
        ("\"hidden\": null", "\"hidden\": 1000000000000", "hidden = 1000000000000"),
        ("\"depth\": 3", "\"depth\": 1000000000000", "depth = 1000000000000"),
        ("\"degree\": 7", "\"degree\": 1000000000000", "1000000000000"),
        ("\"embedding_dim\": 5", "\"embedding_dim\": 1000000000000", "embedding_dim = 1000000000000"),
        ("\"diffusion_steps\": ", "\"diffusion_steps\": 99999999", "diffusion_steps"),
        ("\"points\": ", "\"points\": 99999999999", "quadrature points"),
    ] {
        assert!(config.contains(from), "{from}: {config}");
        fs::write(path.join("run/config.json"), config.replacen(from, to, 1)).unwrap();
        let message = refused(path, "locate --model run --embeddings photos.npy --device cpu");
        assert!(message.contains("run/config.json: ") && message.contains(words), "{to}: {message}");
    }
    fs::write(path.join("run/config.json"), &config).unwrap();
    for (flags, words) in [
        ("--width 1000000000000", "width = 1000000000000"),
        ("--hidden 1000000000000", "hidden = 1000000000000"),
        ("--batch 1000000000000", "batch = 1000000000000"),
    ] {
        let train = TRAIN.replace(flags.split(' ').next().unwrap(), "--seed 1 --log-every");
        let train = train.replace("--out run", "--out other");
        refused_with(path, &format!("{train} {flags} --embeddings photos.npy --locations photos.csv"), words);
    }
    let train = TRAIN.replace("--degree 7", "--degree 511").replace("--out run", "--out other");
    refused_with(path, &format!("{train} --embeddings photos.npy --locations photos.csv"), "quadrature points");
    // A probe for other embeddings was passed over in silence.
    let text = read(path.join("run/calibration.json"));
    let strangers = "\"strangers\": {\"probe\": {\"weights\": [1.0], \"bias\": 0.0}, \"factors\": {\"evidence\": 1.0, \
                     \"background_weight\": 0.0, \"floor\": 0.1}, \"radius_levels\": [0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9]},";
    let text = text.replacen("\"fit\":", &format!("{strangers}\"fit\":"), 1);
    fs::write(path.join("run/calibration.json"), text).unwrap();
    refused_with(
        path,
        "locate --model run --embeddings photos.npy --device cpu",
        "run/calibration.json: its probe has 1 weights, but the model takes embeddings of 5 numbers",
    );
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
