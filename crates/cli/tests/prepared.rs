//! What transcripts begin with: photos, embeddings, tables and models in a folder.

use crate::common::{self, TOWNS, fixture, model_of_towns, read, root, write_npy, write_photos};
use crate::{belonging, embed, geoclip_models};
use locdiff_shdd::sphere::EARTH_RADIUS_KM;
use std::{fs, path::Path};

fn write(folder: &Path, name: &str, contents: impl AsRef<[u8]>) {
    fs::write(folder.join(name), contents).unwrap();
}

pub(crate) fn text_embeddings(folder: &Path) {
    common::photos_of_towns(folder);
    write(folder, "e.jsonl", "[1.0, 0.0]\n".repeat(120));
}

/// A model of the towns, and three photos.
pub(crate) fn towns_and_few(folder: &Path) {
    model_of_towns(folder);
    let photo = |k: usize| ((0..5).map(|c| f32::from(u8::from(c == k))).collect(), TOWNS[k]);
    write_photos(folder, "few", (0..3).map(photo));
}

/// Photos, and a table that lacks the last of them.
pub(crate) fn short_table(folder: &Path) {
    common::write_toy(folder, 400);
    write(folder, "short.csv", read(folder.join("photos.csv")).trim_end().rsplit_once('\n').unwrap().0);
}

pub(crate) fn many_pictures(folder: &Path) {
    embed::many(&folder.join("many"), 66);
}

pub(crate) fn one_photo_and_a_cut_tar(folder: &Path) {
    embed::many(&folder.join("photos"), 1);
    write(folder, "c.tar", [7; 700]);
}

/// Embeddings by the bundled encoder, and by the same with another crop.
pub(crate) fn two_encoders(folder: &Path) {
    let (bundled, other) = (root().join("models/streetview-lite2"), folder.join("other-crop"));
    common::copy_files(&bundled, &other);
    locdiff_testing::replace(&other, "encoder.json", "\"centre_crop\": 256", "\"centre_crop\": 250");
    belonging::embed(folder, "mine", "");
    belonging::embed(folder, "other", &format!("--encoder {}", other.display()));
}

/// Predictions for Im2GPS3k by the authors of the "base M, f*" model, as their errors (lab/scripts/golden_errors.py), laid along the
/// equator: a published table.
pub(crate) fn golden_errors(folder: &Path) {
    let (mut truth, mut answers) = ("id,lat,lon\n".to_owned(), "id,lat,lon\n".to_owned());
    for line in read(fixture("eval/golden_errors.csv")).lines().skip(1) {
        let (id, metres) = line.split_once(',').unwrap();
        let degrees = (metres.parse::<f64>().unwrap() / 1000.0 / EARTH_RADIUS_KM).to_degrees();
        truth += &format!("{id},0,0\n");
        answers += &format!("{id},0,{degrees}\n");
    }
    write(folder, "truth.csv", truth);
    write(folder, "answers.csv", answers);
}

/// Photos of four towns, each town with streets 10 km apart that only the embedding's last numbers tell.
fn towns(path: &Path, name: &str, first: usize) {
    let photo = |k: usize| {
        let (town, street) = (k % 4, (k / 4) % 15);
        let angle = street as f32 * std::f32::consts::TAU / 15.0;
        let noise = (k as f32 * 12.9898).sin() * 0.01;
        let mut row = vec![noise; 6];
        row[town] = 1.0;
        (row[4], row[5]) = (0.5 * angle.cos() + noise, 0.5 * angle.sin());
        let (lat, lon) = TOWNS[town];
        (row, (lat + 0.1 * street as f64, lon + 0.002 * (k as f64).sin()))
    };
    write_photos(path, name, (first..first + 120).map(photo));
}

/// Photos to train and to test with, and galleries that do not fit.
pub(crate) fn train_and_test(path: &Path) {
    towns(path, "train", 0);
    towns(path, "test", 1000);
    towns(path, "later", 3000);
    write_npy(path.join("one.npy"), &[vec![1.0; 6]]);
    write_npy(path.join("five.npy"), &vec![vec![1.0; 5]; 120]);
}

/// GeoCLIP in a data folder, and rows of features.
pub(crate) fn geoclip(path: &Path) {
    geoclip_models::prepare(path);
    let features = |rows: usize, offset: usize| -> Vec<Vec<f32>> {
        (0..rows).map(|k| (0..24).map(|c| (((k + offset) * 24 + c) as f32 * 0.7).sin()).collect()).collect()
    };
    write_npy(path.join("photos.npy"), &features(12, 0));
    write_npy(path.join("known.npy"), &features(100, 1000));
    write_npy(path.join("wide.npy"), &[vec![0.1; 512]]);
    write_npy(path.join("short.npy"), &[vec![1.0; 5]]);
}

/// Embeddings whose places have nothing to do with GeoCLIP's, and others near them.
pub(crate) fn gallery_beside_geoclip(path: &Path) {
    geoclip(path);
    let place = |k: usize| (f64::from(k as u32 % 120) - 60.0, f64::from(k as u32 * 7 % 360) - 180.0);
    let rows = |noise: f32| -> Vec<Vec<f32>> {
        let random = |k: usize, c: usize| ((k * 7919 + c * 104_729 + k * k * c * 31) % 1009) as f32 / 504.0 - 1.0;
        let value = |k: usize, c: usize| random(k, c) + noise * ((k + 31 * c) as f32).cos();
        (0..80).map(|k| (0..24).map(|c| value(k, c)).collect()).collect()
    };
    let table = |shift: f64| {
        let line = |k| format!("{},{}\n", place(k).0 + shift, place(k).1);
        format!("lat,lon\n{}", (0..80).map(line).collect::<String>())
    };
    write_npy(path.join("own.npy"), &rows(0.0));
    write_npy(path.join("near.npy"), &rows(0.05));
    fs::write(path.join("own.csv"), table(0.0)).unwrap();
    fs::write(path.join("near.csv"), table(0.1)).unwrap();
}

/// Photos of towns with embeddings as wide as the paper's.
pub(crate) fn of_the_paper(folder: &Path) {
    let photo = |k: usize| ((0..512).map(|c| ((k % 4 * 7 + c) as f32).sin()).collect(), TOWNS[k % 4]);
    write_photos(folder, "photos", (0..24).map(photo));
}

/// A folder of photos with a pipe, a socket and a folder that may not be read.
#[cfg(all(unix, feature = "bundled"))]
pub(crate) fn mixed(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let photos = folder.join("photos");
    fs::create_dir_all(photos.join("secret")).unwrap();
    make_pipe(&photos);
    std::os::unix::net::UnixListener::bind(photos.join("socket.jpg")).unwrap();
    fs::set_permissions(photos.join("secret"), fs::Permissions::from_mode(0o0)).unwrap();
}

#[cfg(all(unix, feature = "bundled"))]
pub(crate) fn make_pipe(folder: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(folder.join("pipe.jpg")).status().unwrap().success());
}
