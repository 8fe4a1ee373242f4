//! `locdiff embed` as people use it: good and bad photos, every kind of input, kill it, interrupt it, resume it.
#![cfg(unix)]

use crate::common;

use common::{command, refused_with, run};
use locdiff_testing::{signal, try_until, wait_until};
use safetensors::SafeTensors;
use serde_json::Value;
use std::{fs, path::Path, path::PathBuf, process::Stdio};

/// The f32 rows of a tensor.
fn rows(path: PathBuf, tensor: &str) -> Vec<Vec<u8>> {
    let bytes = fs::read(path).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let tensor = file.tensor(tensor).unwrap();
    let width = 4 * tensor.shape()[1];
    tensor.data().chunks(width).map(<[u8]>::to_vec).collect()
}

/// A small BMP picture, another for each number.
pub(crate) fn bmp(path: &Path, number: u32) {
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

/// Five files of which one is no picture, and the same as a list, a table and a shard.
pub(crate) fn in_every_kind_of_input(path: &Path) {
    many(&path.join("photos"), 5);
    fs::write(path.join("photos/00002.bmp"), b"BM, but no picture").unwrap();
    let list: Vec<String> = (0..5).map(|n| format!("photos/0000{n}.bmp")).collect();
    fs::write(path.join("list.txt"), list.join("\n")).unwrap();
    // Paths from the table's own folder; a place may be missing.
    let places = ["1,2", "3.5,-4", "0,0", ",", "-90,180"];
    let table: String = places.iter().enumerate().map(|(n, place)| format!("x,{place},0000{n}.bmp\n")).collect();
    fs::write(path.join("photos/places.csv"), format!("id,Latitude,lng,photo\n{table}")).unwrap();
    let mut shard = tar::Builder::new(fs::File::create(path.join("a.tar")).unwrap());
    for (n, file) in list.iter().enumerate() {
        let json = format!("{{\"caption\": \"{n}\", \"lat\": {n}.25, \"lon\": -{n}}}");
        let mut header = tar::Header::new_gnu();
        header.set_size(json.len() as u64);
        shard.append_data(&mut header, format!("k{n}.json"), json.as_bytes()).unwrap();
        shard.append_path_with_name(path.join(file), format!("k{n}.bmp")).unwrap();
    }
    shard.into_inner().unwrap();
}

pub(crate) fn with_places(path: &Path) {
    many(&path.join("photos"), 40);
    let table: String = (0..40).map(|n| format!("photos/{n:05}.bmp,{},{}\n", n - 20, 4 * n - 80)).collect();
    fs::write(path.join("photos.csv"), format!("path,lat,lon\n{table}")).unwrap();
}

/// The bundled encoder with weights that are all zero.
pub(crate) fn dead_encoder(path: &Path) {
    let (model, dead) = (common::root().join("models/streetview-lite2"), path.join("dead"));
    common::copy_files(&model, &dead);
    let mut weights = fs::read(dead.join("model.safetensors")).unwrap();
    let header = 8 + u64::from_le_bytes(*weights.first_chunk().unwrap()) as usize;
    weights[header..].fill(0);
    fs::write(dead.join("model.safetensors"), weights).unwrap();
}

#[test]
fn views_of_a_photo_differ() {
    let path = &*common::scratch();
    many(&path.join("photos"), 2);
    common::ok(path, "embed photos -o e.safetensors --augment 2 --seed 3");
    let [plain, first, second] =
        ["embeddings", "augmented_1", "augmented_2"].map(|name| rows(path.join("e.safetensors"), name));
    assert!(plain.len() == 2 && first != plain && first != second);
}

#[test]
fn killed_and_interrupted_runs_resume_to_the_same_bytes() {
    const COUNT: u32 = 90;
    let path = &*common::scratch();
    many(&path.join("photos"), COUNT);
    fs::write(path.join("photos/00077.bmp"), b"").unwrap();
    let files = ["safetensors", "csv", "bad.csv"];
    let read = |stem: &str| files.map(|ending| fs::read(path.join(format!("{stem}.{ending}"))).unwrap());
    let options = "--batch 8 --augment 1 --seed 9 --json";
    assert_eq!(run(path, &format!("embed photos -o whole.safetensors {options}")).status.code(), Some(1));
    let embed = format!("embed photos -o cut.safetensors --resume {options}");
    let partial = path.join("cut.safetensors.partial");
    // kill -9 twice, then an interrupt, each once there is more than before. A run that is faster than its signal begins again.
    let cut = |name: &str, kept: u64| {
        let mut child = command(path, &embed);
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
        assert_eq!(message.contains("of 90 photos: continue with --resume"), name == "INT", "{message}");
        assert!(!path.join("cut.safetensors").exists());
        true
    };
    for name in ["KILL", "KILL", "INT"] {
        try_until(name, || cut(name, fs::metadata(&partial).map_or(0, |data| data.len())));
    }
    refused_with(path, "embed photos -o cut.safetensors --batch 8", "holds an unfinished run: add --resume");
    refused_with(path, "embed photos -o cut.safetensors --batch 8 --resume", "another --augment (1, now 0)");
    let summary = run(path, &embed);
    let summary: Value = serde_json::from_slice(&summary.stdout).unwrap();
    let resumed = summary["resumed_from"].as_u64().unwrap();
    assert!(resumed >= 4 && resumed.is_multiple_of(4) && resumed < COUNT.into(), "{resumed}");
    assert!(read("cut") == read("whole"), "resumed at {resumed}");
    assert!(!partial.exists());
}
