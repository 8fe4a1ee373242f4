//! What belongs together: runs and their folders, encoders and models, photos and their copies.
#![cfg(unix)]

use crate::common;

use common::{TRAIN, command, fixture, ok, photos_of_towns, refused, refused_with};
use locdiff_testing::wait_for_file;
use std::{fs, path::Path, process::Stdio};

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
