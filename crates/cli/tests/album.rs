//! Albums by the command: the toy world's embeddings with a table of times, and photos with tags.

use crate::common;

use common::{csv, fixture, json, json_lines, lines_of, number, ok, run, stderr};
use serde_json::Value;
use std::{fmt::Write as _, fs, path::Path};

fn world(name: &str) -> String {
    fixture(&format!("toyworld/{name}")).canonicalize().unwrap().display().to_string()
}

/// Two albums: the first with a tag on its first photo, the second without.
fn table(folder: &Path) -> Vec<(f64, f64)> {
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
    fs::write(folder.join("times.csv"), text).unwrap();
    truths
}

/// A command on the world's embeddings.
fn of_world(command: &str) -> String {
    format!("{command} --model {} --embeddings {} --device cpu", world("model"), world("photos.npy"))
}

#[test]
fn a_table_of_embeddings_is_an_album() {
    let folder = tempfile::tempdir().unwrap();
    let truths = table(folder.path());
    let files = "--csv a.csv --geojson a.geojson --kml a.kml --gpx a.gpx --map a.html --png a.png";
    let answers = json_lines(folder.path(), &of_world(&format!("album --times times.csv {files}")));
    assert_eq!(answers.len(), 4);
    common::is_documented(&answers[0]);
    let off = |k: usize, row: usize| {
        let (lat, lon) = (number(&answers[k]["best"]["lat"]), number(&answers[k]["best"]["lon"]));
        ((lat - truths[row].0).powi(2) + (lon - truths[row].1).powi(2)).sqrt() * 111.0
    };
    assert!(off(0, 0) < 0.2 && off(1, 0) < 1.0, "{answers:?}");
    assert!(answers[1]["because"].as_str().unwrap().starts_with("5 minutes after p0"));
    assert_eq!(answers[1]["time"]["source"], "table");
    assert!(number(&answers[1]["radius_50_km"]) <= number(&answers[1]["radius_90_km"]));
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(csv(folder.path().join("a.csv")).len(), 5);
    assert!(read("a.gpx").contains("<time>2024-05-12T11:05:00Z</time>"));
    assert!(read("a.gpx").contains(" % within ") && !read("a.gpx").contains("within 0 km"), "{}", read("a.gpx"));
    assert!(fs::read(folder.path().join("a.png")).unwrap().starts_with(b"\x89PNG"));
    assert!(read("a.kml").contains("<LineString>") && read("a.geojson").contains("MultiLineString"));
    assert!(read("a.html").contains("default-src 'none'") && read("a.html").contains("5 minutes after p0"));
}

#[test]
fn albums_are_judged_beside_photo_managers() {
    let folder = tempfile::tempdir().unwrap();
    table(folder.path());
    let words = of_world("evaluate --album times.csv --replicates 50");
    let scores = json(folder.path(), &words);
    assert_eq!((&scores["albums"], &scores["photos"], &scores["tagged"]), (&2.into(), &3.into(), &1.into()));
    // The photo of the tagged album is found by its time; the album without tags only by looks.
    let within = |system: usize| number(&scores["systems"][system]["within"][0]["value"]);
    assert!((within(0) - 1.0 / 3.0).abs() < 1e-9 && (within(1) - 1.0 / 3.0).abs() < 1e-9, "{scores}");
    assert_eq!(within(5), 0.0);
    let text = ok(folder.path(), &words);
    assert!(
        text.contains("nearest in time") && text.contains("interpolated in time") && text.contains("single photos")
    );
    // Those that have a density are judged by it, beside each other; so are views of one place.
    for scores in [scores, json(folder.path(), &format!("{words} --same-place"))] {
        let nats = |system: usize| &scores["systems"][system]["nll_nats"]["value"];
        let ahead = &scores["systems"][5]["album_ahead_nats"]["value"];
        assert!((number(nats(5)) - number(nats(0)) - number(ahead)).abs() < 1e-9, "{scores}");
        assert!((1..5).all(|system| nats(system).is_null()));
    }
    // What is known to be from elsewhere is counted apart.
    let text = fs::read_to_string(folder.path().join("times.csv")).unwrap();
    let strays = ["stray", "0", "0", "0", "1"];
    let with: Vec<String> = text.lines().zip(strays).map(|(line, stray)| format!("{line},{stray}")).collect();
    fs::write(folder.path().join("times.csv"), with.join("\n")).unwrap();
    let scores = json(folder.path(), &format!("{words} --trust-clocks"));
    assert_eq!((&scores["photos"], &scores["strays"]["strays"]), (&2.into(), &1.into()));
    assert_eq!(scores["strays"]["others"], 2);
    assert!(ok(folder.path(), &words).contains("from elsewhere      "));
}

#[cfg(feature = "bundled")]
#[test]
fn tags_spread_to_photos_of_the_same_minutes_and_are_taken_back() {
    let path = &*common::scratch();
    fs::create_dir(path.join("trip")).unwrap();
    let gps = common::root().join("crates/io/tests/tags/fixtures/gps.jpg");
    // It was taken at 07:08:09, as it says.
    fs::copy(gps, path.join("trip/IMG_20240506_070809.jpg")).unwrap();
    fs::copy(fixture("vision/china.jpg"), path.join("trip/IMG_20240506_070950.jpg")).unwrap();
    let answers = json_lines(path, "album trip --device cpu --write-exif tagged --yes");
    let place = |value: &Value| (number(&value["lat"]), number(&value["lon"]));
    let tag = place(&answers[0]["gps"]);
    let found = place(&answers[1]["best"]);
    assert!((tag.0 - found.0).abs() < 0.01 && (tag.1 - found.1).abs() < 0.02, "{answers:?}");
    let is_there = |name: &str| path.join("tagged").join(name).exists();
    assert!(is_there("IMG_20240506_070950.jpg") && !is_there("IMG_20240506_070809.jpg"), "a real tag stays");
    ok(path, "undo tagged");
    assert!(!is_there("IMG_20240506_070950.jpg"));
    let plan = ok(path, "album trip --device cpu --write-exif tagged --dry-run");
    assert!(plan.contains("create") && !is_there("IMG_20240506_070950.jpg"));
    let said = ok(path, "album trip --device cpu --same-place");
    assert!(said.contains("of the same place, has a GPS tag"), "{said}");
    ok(path, "album trip --device cpu --folder-is-place");
}

/// Neither the order of names, a number in one, the day of a message nor a file's date makes a place sure.
#[cfg(feature = "bundled")]
#[test]
fn photos_without_a_time_are_never_tagged_by_the_album() {
    let path = &*common::scratch();
    fs::create_dir(path.join("trip")).unwrap();
    let copy = |from: &Path, name: &str| fs::copy(from, path.join("trip").join(name)).unwrap();
    copy(&common::root().join("crates/io/tests/tags/fixtures/gps.jpg"), "IMG_20240506_070809.jpg");
    for name in ["IMG_20240506_070950.jpg", "IMG-20240506-WA0001.jpg", "006.jpg", "x.jpg"] {
        copy(&fixture("vision/china.jpg"), name);
    }
    let plan = ok(path, "album trip --device cpu --write-exif tagged --dry-run");
    let created: Vec<&str> = plan.lines().filter(|line| line.contains("create")).collect();
    assert!(created.len() == 1 && created[0].contains("IMG_20240506_070950"), "{plan}");
    for answer in json_lines(path, "album trip --device cpu") {
        let is_timed = answer["photo"].as_str().unwrap().contains("_07");
        assert_eq!(answer["because"].as_str().unwrap().starts_with("no time"), !is_timed, "{answer}");
        assert!(is_timed || number(&answer["radius_90_km"]) > 25.0 && answer["time"]["seconds"].is_null(), "{answer}");
    }
}

/// Two trips of one folder are answered as each alone, and say which they are; one that is kept whole is not cut.
#[test]
fn a_folder_of_two_trips_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let album = of_world("album --force") + " --times";
    let row = |k: usize, month: u32| format!("{},p{k},2024-{month:02}-12T13:{k:02}:00Z\n", k / 3);
    let (may, june): (String, String) = ((0..3).map(|k| row(k, 5)).collect(), (3..6).map(|k| row(k, 9)).collect());
    for (name, rows) in [("both", format!("{may}{june}")), ("may", may), ("june", june)] {
        fs::write(path.join(format!("{name}.csv")), format!("row,name,time\n{rows}")).unwrap();
    }
    let mut both = json_lines(path, &format!("{album} both.csv --csv out.csv --geojson out.geojson"));
    let trips: Vec<u64> = both.iter().map(|answer| answer["trip"].as_u64().unwrap()).collect();
    assert_eq!(trips, [1, 1, 1, 2, 2, 2]);
    for answer in &mut both {
        answer["trip"] = Value::Null;
    }
    let alone: Vec<Value> =
        ["may", "june"].iter().flat_map(|one| json_lines(path, &format!("{album} {one}.csv"))).collect();
    assert_eq!(both, alone);
    assert_eq!(csv(path.join("out.csv"))[4].last().unwrap(), "2");
    let lines = fs::read_to_string(path.join("out.geojson")).unwrap();
    assert_eq!(lines.matches("\"track\":true").count(), 2);
    let text = ok(path, &format!("{album} both.csv"));
    assert!(text.contains("   trip 2\n") && text.contains("6 photos of 2 trips"), "{text}");
    assert_eq!(text.lines().count(), 6 * 3 + 1, "{text}");
    let whole = json_lines(path, &format!("{album} both.csv --one-trip"));
    assert!(whole.iter().all(|answer| answer["trip"].is_null()) && whole[0]["radius_50_km"] != both[0]["radius_50_km"]);
}

/// An album of one photo is what `locate` says of it.
#[test]
fn an_album_of_one_photo_answers_as_locate_does() {
    let folder = tempfile::tempdir().unwrap();
    let alone = json_lines(folder.path(), &of_world("locate"));
    for row in [0, 7, 40] {
        fs::write(folder.path().join("t.csv"), format!("row,time\n{row},2024-05-12T13:00:00Z\n")).unwrap();
        let album = json_lines(folder.path(), &of_world("album --times t.csv"));
        let keys =
            "headline countries best place country_code radius_50_km radius_90_km hypotheses locatability can_tell";
        for key in keys.split(' ') {
            assert_eq!(album[0][key], alone[row][key], "{row} {key}");
        }
        assert_eq!((&album[0]["moved_km"], &album[0]["elsewhere"]), (&0.0.into(), &0.0.into()));
    }
}

/// A film that says where and when it was taken counts as a tag, and is not answered itself.
#[cfg(feature = "bundled")]
#[test]
fn films_count_as_tags() {
    let sized = |kind: &[u8], body: &[u8]| [&(body.len() as u32 + 8).to_be_bytes(), kind, body].concat();
    let mvhd = sized(b"mvhd", &[&[0; 4], &3_798_359_110_u32.to_be_bytes()[..], &[0; 92]].concat()); // 2024-05-12T11:45:10Z
    let place = [&[0, 18, 0x15, 0xc7], &b"+48.8577+002.2950/"[..]].concat();
    let moov = sized(b"moov", &[mvhd, sized(b"udta", &sized(b"\xa9xyz", &place))].concat());
    let path = &*common::scratch();
    fs::create_dir(path.join("trip")).unwrap();
    fs::write(path.join("trip/a.mp4"), [sized(b"ftyp", b"isom\0\0\0\0"), moov].concat()).unwrap();
    fs::copy(fixture("vision/china.jpg"), path.join("trip/IMG_20240512_114710.jpg")).unwrap();
    let output = run(path, "album trip --device cpu --json");
    let answers = lines_of(&output.stdout);
    assert_eq!(answers.len(), 1);
    let best = &answers[0]["best"];
    assert!((number(&best["lat"]) - 48.8577).abs() < 0.01 && (number(&best["lon"]) - 2.295).abs() < 0.01, "{best}");
    assert!(answers[0]["because"].as_str().unwrap().starts_with("2 minutes after a.mp4"));
    assert!(stderr(&output).contains("1 of 1 video with a place and a time"), "{}", stderr(&output));
}
