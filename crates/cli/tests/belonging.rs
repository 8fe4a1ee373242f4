//! What belongs together: runs and their folders, encoders and models, photos and their copies.
#![cfg(unix)]

use crate::common;

use common::{
    TRAIN, command, csv, fixture, model_of_towns, ok, photos_of_towns, read, refused, refused_with, root, run, stderr,
};
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
fn embed(path: &Path, name: &str, more: &str) {
    let names = "rgb.jpg rgb.png china.jpg rgb.bmp cmyk.jpg rgba.webp lzw.tiff progressive.jpg";
    let rows = names
        .split(' ')
        .enumerate()
        .map(|(k, file)| format!("{},{},{}\n", fixture("vision").join(file).display(), 5 * k, 7 * k));
    fs::write(path.join("list.csv"), format!("path,lat,lon\n{}", rows.collect::<String>())).unwrap();
    ok(path, &format!("embed list.csv -o {name}.safetensors --device cpu {more}"));
}

const SMALL: &str = "train --preset small --degree 3 --width 8 --batch 8 --steps 3 --device cpu";

/// README: `embed --augment 2`, then `train`: the copies were left unused.
#[cfg(feature = "bundled")]
#[test]
fn copies_of_photos_are_trained_with() {
    let path = &*common::scratch();
    embed(path, "e", "--augment 2");
    let train = format!("{SMALL} --embeddings e.safetensors --locations e.csv");
    assert!(ok(path, &format!("{train} --out a")).contains("8 photos, 3 copies each"));
    assert!(ok(path, &format!("{train} --out b --no-copies")).contains("8 photos, 1 copies each"));
    assert!(ok(path, &format!("{train} --out c --augmented augmented_2")).contains("8 photos, 2 copies each"));
    let weights = |run: &str| fs::read(path.join(run).join("model.safetensors")).unwrap();
    assert!(weights("a") != weights("b"));
}

/// Embeddings, models, calibrations and galleries say whose they are.
#[cfg(feature = "bundled")]
#[test]
fn another_encoder_is_refused_with_both_names() {
    let path = &*common::scratch();
    // The bundled one with another crop.
    let other = path.join("other-crop");
    fs::create_dir(&other).unwrap();
    let bundled = root().join("models/streetview-lite2");
    fs::copy(bundled.join("model.safetensors"), other.join("model.safetensors")).unwrap();
    let settings = read(bundled.join("encoder.json")).replace("\"centre_crop\": 256", "\"centre_crop\": 250");
    fs::write(other.join("encoder.json"), settings).unwrap();
    embed(path, "mine", "");
    embed(path, "other", &format!("--encoder {}", other.display()));
    ok(path, &format!("{SMALL} --embeddings mine.safetensors --locations mine.csv --out run"));
    ok(path, "gallery build --embeddings mine.safetensors --locations mine.csv -o gallery");
    let photo = fixture("vision/china.jpg");
    let photo = photo.to_str().unwrap();
    let both = |arguments: &str| {
        let message = refused(path, arguments);
        assert_eq!(message.matches('@').count(), 2, "{arguments}: {message}");
        assert!(message.contains("the bundled encoder@") && message.contains("other-crop@"), "{arguments}: {message}");
    };
    both(&format!("locate {photo} --model run --encoder {} --device cpu", other.display()));
    both("locate --model run --embeddings other.safetensors --device cpu");
    both("sample --model run --embeddings other.safetensors --device cpu --samples 2 --steps 2");
    both("evaluate --model run --embeddings other.safetensors --truth other.csv --by-order --device cpu");
    both("calibrate --model run --embeddings other.safetensors --truth other.csv --device cpu");
    both("gallery search gallery --embeddings other.safetensors");
    both(
        "sample --model run --embeddings mine.safetensors --hybrid gallery --hybrid-embeddings other.safetensors --device cpu",
    );
    both(&format!(
        "{SMALL} --embeddings mine.safetensors --locations mine.csv --validation-embeddings other.safetensors --validation-locations other.csv --out z"
    ));
}

/// The hybrid says who answered, and which photo matched.
#[cfg(feature = "bundled")]
#[test]
fn the_hybrid_says_which_photo_matched() {
    let path = &*common::scratch();
    embed(path, "e", "");
    ok(path, "gallery build list.csv -o gallery --device cpu");
    let photo = fixture("vision/china.jpg");
    let photo = photo.to_str().unwrap();
    let locate = format!("locate {photo} --device cpu --samples 2 --steps 2 --hybrid gallery --hybrid-radius-km 20000");
    let text = ok(path, &locate);
    assert!(text.contains("answered by  the gallery") && text.contains("match        row "), "{text}");
    let answer = common::json(path, &locate);
    let found = &answer["gallery"]["match"];
    assert!(found["name"].is_string() && found["row"].is_u64(), "{answer}");
    let nothing = ok(path, &format!("{locate} --hybrid-confidence 1").replace("20000", "1"));
    assert!(nothing.contains("answered by  the model"), "{nothing}");
    let listed = csv(path.join("gallery/photos.csv"));
    assert_eq!(listed.len(), 9);
    assert!(stderr(&run(path, &format!("{locate} --hybrid-weight nan"))).contains("error"));
}
