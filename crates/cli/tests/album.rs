//! Albums by the command: the toy world's embeddings with a table of times, and photos with tags.

use crate::common;

use common::{csv, fixture, json, json_lines, lines_of, misused, number, ok, refused_with, run, stderr};
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
    let files = "--csv a.csv --geojson a.geojson --kml a.kml --gpx a.gpx --map a.html";
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

#[test]
fn bad_tables_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let words = of_world("album --times t.csv");
    for (text, message) in [
        ("time\nyesterday\n", "t.csv, row 1 (line 2): 'yesterday' is no time: write it as"),
        ("time,row\n5,x\n", "'x' is no row"),
        ("time,row\n5,99999\n", "row 99999 of the embeddings is wanted, there are 250"),
        ("time,gps_lat,gps_lon\n5,95,0\n", "t.csv, row 1 (line 2): "),
        ("when\n5\n", "has no column 'time'"),
    ] {
        fs::write(folder.path().join("t.csv"), text).unwrap();
        refused_with(folder.path(), &words, message);
    }
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

/// Clocks without an offset stay local, and are not in GPX, which is of UTC.
#[test]
fn local_times_stay_local() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("t.csv"), "row,time\n0,2024-05-12 13:00:00\n0,2024-05-12T13:05:00+02:00\n").unwrap();
    let album = of_world("album --times t.csv --force");
    let files = format!("{album} --csv a.csv --gpx a.gpx --geojson a.geojson");
    let read = |name: &str| fs::read_to_string(path.join(name)).unwrap();
    let text = ok(path, &files);
    assert!(text.contains("2024-05-12T13:00:00 by") && text.contains("2024-05-12T11:05:00Z by"), "{text}");
    assert_eq!(csv(path.join("a.csv"))[1][1], "2024-05-12T13:00:00");
    assert!(read("a.geojson").contains("\"2024-05-12T13:00:00\""));
    assert_eq!(read("a.gpx").matches("<time>").count(), 2, "once as a waypoint, once on the track");
    assert_eq!(json_lines(path, &album)[0]["time"]["text"], "2024-05-12T13:00:00");
    // Whoever knows the offset says it.
    for (zone, hour) in [("+02:00", "11"), ("-05:30", "18")] {
        let answers = json_lines(path, &format!("{files} --time-zone {zone}"));
        let minute = if zone == "+02:00" { "00" } else { "30" };
        let time = format!("2024-05-12T{hour}:{minute}:00Z");
        assert!(answers[0]["time"]["text"] == time && read("a.gpx").contains(&time), "{answers:?}");
        assert_eq!(answers[1]["time"]["text"], "2024-05-12T11:05:00Z");
    }
    misused(path, &format!("{album} --time-zone Rome"), "write it as +02:00");
}

#[cfg(feature = "bundled")]
#[test]
fn photos_without_a_time_have_none() {
    let path = &*common::scratch();
    fs::create_dir(path.join("trip")).unwrap();
    for name in ["IMG_20240506_070950.jpg", "x.jpg"] {
        fs::copy(fixture("vision/china.jpg"), path.join("trip").join(name)).unwrap();
    }
    let text = ok(path, "album trip --device cpu --csv a.csv --gpx a.gpx");
    assert!(text.contains("2024-05-06T07:09:50 by the file's name") && text.contains("time unknown\n"), "{text}");
    assert!(csv(path.join("a.csv"))[2][1].is_empty());
    assert!(!fs::read_to_string(path.join("a.gpx")).unwrap().contains("<time>"));
    let time = &json_lines(path, "album trip --device cpu")[1]["time"];
    assert!(time["seconds"].is_null() && time["text"].is_null() && time["source"] == "order", "{time}");
    assert!(ok(path, "album trip/x.jpg --device cpu").contains("time unknown\n"));
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
    assert!(text.contains("  trip         2\n") && text.contains("6 photos of 2 trips"), "{text}");
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
        for key in
            ["best", "place", "country_code", "radius_50_km", "radius_90_km", "hypotheses", "locatability", "can_tell"]
        {
            assert_eq!(album[0][key], alone[row][key], "{row} {key}");
        }
        assert_eq!((&album[0]["moved_km"], &album[0]["elsewhere"]), (&0.0.into(), &0.0.into()));
    }
}

/// A log of positions places photos of its time; so does what the user states; bad ones are told before any work.
#[test]
fn a_track_and_stated_places_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("t.csv"), "row,time\n0,2024-05-12T10:05:00Z\n1,2024-05-14T13:05:00Z\n").unwrap();
    let point = |lat: f64, minute: u32| {
        format!("<trkpt lat=\"{lat}\" lon=\"2\"><time>2024-05-12T10:{minute:02}:00Z</time></trkpt>")
    };
    fs::write(path.join("a.gpx"), format!("<gpx>{}{}</gpx>", point(48.0, 0), point(48.1, 10))).unwrap();
    let album = of_world("album --times t.csv");
    let answers = json_lines(path, &format!("{album} --track a.gpx"));
    let near = |answer: &Value, lat: f64, lon: f64| {
        (number(&answer["best"]["lat"]) - lat).abs() < 0.05 && (number(&answer["best"]["lon"]) - lon).abs() < 0.05
    };
    assert!(near(&answers[0], 48.05, 2.0) && answers[0]["gps"].is_null(), "{}", answers[0]);
    assert!(answers[0]["because"].as_str().unwrap().starts_with("the track has it"));
    let late = json_lines(path, &format!("{album} --track a.gpx --track-offset 5m"));
    assert!(near(&late[0], 48.0, 2.0), "{}", late[0]);
    let stated = json_lines(path, &format!("{album} --place Kyoto --from 2024-05-14 --to 2024-05-14"));
    assert!(near(&stated[1], 35.02, 135.75), "{}", stated[1]);
    assert!(!near(&stated[0], 35.02, 135.75), "of another day");
    fs::write(path.join("bad.gpx"), "<gpx>\n<wpt lat=\"95\" lon=\"0\"><time>2024-05-12T10:00:00Z</time></wpt></gpx>")
        .unwrap();
    for (flags, message) in [
        ("--track none.gpx", "none.gpx: No such file"),
        ("--track bad.gpx", "bad.gpx: line 2: "),
        ("--place Xyzzyville", "Xyzzyville"),
        ("--place Springfield", "is the name of several"),
        ("--place Kyoto --from 2024-05-14 --to 2024-05-01", "it ends before it begins"),
    ] {
        refused_with(path, &format!("{album} {flags}"), message);
    }
    misused(path, &format!("{album} --place Kyoto --place Osaka --from 2024-05-01"), "give one for each");
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
