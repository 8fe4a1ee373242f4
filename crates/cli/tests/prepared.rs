//! What transcripts begin with: photos, embeddings, tables and models in a folder.

use crate::common::{self, TOWNS, csv, fixture, model_of_towns, read, root, write_npy, write_photos};
use crate::{belonging, embed, geoclip_models};
use locdiff_shdd::sphere::EARTH_RADIUS_KM;
use std::{fmt::Write as _, fs, path::Path};

fn write(folder: &Path, name: &str, contents: impl AsRef<[u8]>) {
    fs::write(folder.join(name), contents).unwrap();
}

pub(crate) fn text_embeddings(folder: &Path) {
    common::photos_of_towns(folder);
    write(folder, "e.jsonl", "[1.0, 0.0]\n".repeat(120));
}

pub(crate) fn cut_matrix(folder: &Path) {
    write(folder, "truncated.npy", b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortr");
}

pub(crate) fn flat_codes(folder: &Path) {
    write(folder, "flat.csv", vec![vec!["0"; 144].join(","); 4].join("\n"));
}

pub(crate) fn two_photos(folder: &Path) {
    fs::create_dir(folder.join("in")).unwrap();
    fs::copy(fixture("vision/china.jpg"), folder.join("in/a.jpg")).unwrap();
    let tagged = root().join("crates/io/tests/tags/fixtures/xmp_gps.jpg");
    fs::copy(tagged, folder.join("in/gps.jpg")).unwrap();
}

pub(crate) fn four_rows(folder: &Path) {
    let row = |k: usize| (0..5).map(|c| ((k * 5 + c) as f32 * 0.7).sin()).collect();
    write_npy(folder.join("photos.npy"), &(0..4).map(row).collect::<Vec<_>>());
}

/// A model of the towns, and three photos.
pub(crate) fn towns_and_few(folder: &Path) {
    model_of_towns(folder);
    let photo = |k: usize| ((0..5).map(|c| f32::from(u8::from(c == k))).collect(), TOWNS[k]);
    write_photos(folder, "few", (0..3).map(photo));
}

pub(crate) fn geoclip_features(folder: &Path) {
    let feature = |k: u16| (0..24).map(|c| (f32::from(k * 24 + c) * 0.7).sin()).collect();
    write_npy(folder.join("f.npy"), &(0..6).map(feature).collect::<Vec<_>>());
    write_npy(folder.join("e.npy"), &vec![vec![0.5; 10]; 20]); // as many numbers as places have, not photos
    write(folder, "evil.pth", b"\x80\x02cos\nsystem\n");
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

/// Two albums: the first with a tag on its first photo, the second without.
pub(crate) fn album_table(folder: &Path) {
    let truths: Vec<(f64, f64)> = csv(fixture("toyworld/photos.csv"))[1..]
        .iter()
        .map(|row| (row[0].parse().unwrap(), row[1].parse().unwrap()))
        .collect();
    let mut text = String::from("row,album,name,time,gps_lat,gps_lon,lat,lon\n");
    for (k, (row, album)) in [(0, "a"), (0, "a"), (1, "b"), (1, "b")].into_iter().enumerate() {
        let (lat, lon) = truths[row];
        let tag = if k == 0 { format!("{lat},{lon}") } else { ",".into() };
        let _ = writeln!(text, "{row},{album},p{k},2024-05-12T13:{:02}:00+02:00,{tag},{lat},{lon}", 5 * k);
    }
    // The last photo is known to be from elsewhere.
    let strays = text.lines().zip(["stray", "0", "0", "0", "1"]).map(|(line, stray)| format!("{line},{stray}\n"));
    fs::write(folder.join("strays.csv"), strays.collect::<String>()).unwrap();
    fs::write(folder.join("times.csv"), text).unwrap();
}

/// A film that says where and when it was taken, in the folder `trip`.
pub(crate) fn film(folder: &Path) {
    let sized = |kind: &[u8], body: &[u8]| [&(body.len() as u32 + 8).to_be_bytes(), kind, body].concat();
    let mvhd = sized(b"mvhd", &[&[0; 4], &3_798_359_110_u32.to_be_bytes()[..], &[0; 92]].concat()); // 2024-05-12T11:45:10Z
    let place = [&[0, 18, 0x15, 0xc7], &b"+48.8577+002.2950/"[..]].concat();
    let moov = sized(b"moov", &[mvhd, sized(b"udta", &sized(b"\xa9xyz", &place))].concat());
    fs::create_dir(folder.join("trip")).unwrap();
    fs::write(folder.join("trip/a.mp4"), [sized(b"ftyp", b"isom\0\0\0\0"), moov].concat()).unwrap();
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

/// 40 photos along the equator, answers 0, 10, 20 … km to the east; rows shuffled, two without an answer.
pub(crate) fn answers_to_judge(folder: &Path) {
    let mut truth = "id,lat,lon\n".to_owned();
    let mut rows = Vec::new();
    let mut other = "id,lat,lon\n".to_owned();
    for k in 0..40 {
        let lon = f64::from(k) * 3.0;
        writeln!(truth, "p{k},0,{lon}").unwrap();
        let east = lon + f64::from(k) * 10.0 / 111.19;
        rows.push(if k >= 38 { format!("p{k},,nan,205,1000") } else { format!("p{k},0,{east},205,1000") });
        writeln!(other, "p{k},0,{}", lon + 9.0).unwrap();
    }
    rows.reverse();
    fs::write(folder.join("t.csv"), truth).unwrap();
    fs::write(folder.join("p.csv"), format!("id,lat,lon,radius_50_km,radius_90_km\n{}\n", rows.join("\n"))).unwrap();
    fs::write(folder.join("q.csv"), other).unwrap();
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

/// A folder with two good photos, a broken one, and everything that is no regular file.
#[cfg(all(unix, feature = "bundled"))]
pub(crate) fn mixed(folder: &Path) {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let photos = folder.join("photos");
    fs::create_dir_all(photos.join("inner")).unwrap();
    fs::copy(fixture("vision/rgb.jpg"), photos.join("a.jpg")).unwrap();
    fs::copy(fixture("vision/rgb.png"), photos.join("inner/b.png")).unwrap();
    fs::write(photos.join("broken.jpg"), "no photo").unwrap();
    fs::write(photos.join("notes.txt"), "text").unwrap();
    symlink("nowhere.jpg", photos.join("dangling.jpg")).unwrap();
    symlink("loop.jpg", photos.join("loop.jpg")).unwrap();
    symlink("..", photos.join("inner/up")).unwrap();
    symlink("a.jpg", photos.join("same.jpg")).unwrap();
    symlink("/dev/zero", photos.join("zero.jpg")).unwrap();
    make_pipe(&photos);
    std::os::unix::net::UnixListener::bind(photos.join("socket.jpg")).unwrap();
    fs::create_dir(photos.join("secret")).unwrap();
    fs::set_permissions(photos.join("secret"), fs::Permissions::from_mode(0o0)).unwrap();
}

#[cfg(all(unix, feature = "bundled"))]
pub(crate) fn make_pipe(folder: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(folder.join("pipe.jpg")).status().unwrap().success());
}
