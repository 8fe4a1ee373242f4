//! `locdiff locate` and `locdiff calibrate` as people use them.
#![cfg(unix)]

use crate::common;

use common::{
    command, csv, fixture, json, json_lines, model_of_towns, number, ok, read, refused, refused_with, run, stderr,
};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

#[test]
fn a_model_is_calibrated_and_its_answers_are_coherent() {
    let path = &*common::scratch();
    model_of_towns(path);
    let locate = "locate --model run --embeddings photos.npy --device cpu --samples 4";
    assert!(stderr(&run(path, &format!("{locate} --json"))).contains("never calibrated"));

    let calibrate = "calibrate --model run --embeddings photos.npy --truth photos.csv --device cpu --samples 4";
    let told = json(path, calibrate);
    assert!(told["fit"]["n"] == 120 && told["evidence"].as_f64().unwrap() > 0.0, "{told}");
    assert!(stderr(&run(path, calibrate)).contains("run was trained on 100 % of these rows"));
    assert!(read(path.join("run/calibration.json")).contains("background"));
    // Weights of half the size give the same places to within their rounding.
    let said = ok(path, &format!("{calibrate} --export small"));
    assert!(said.contains("within radii"), "{said}");
    let size = |name: &str| fs::metadata(path.join(name).join("model.safetensors")).unwrap().len();
    assert!((size("small") as f64) < 0.6 * size("run") as f64);
    fs::write(path.join("rows"), "3\n500\n").unwrap();
    assert!(refused(path, &format!("{calibrate} --rows rows")).contains("line 2: '500' is no row"));

    // Everything is read off one density: the best place is the first, most probable hypothesis, and the table says the same.
    let answers = json_lines(path, &format!("{locate} --csv a.csv"));
    let answered = csv(path.join("a.csv"));
    assert_eq!((answered.len(), answers.len()), (121, 120));
    for (k, answer) in answers.iter().enumerate() {
        let at = |name: &str| answer[name].as_f64().unwrap();
        let hypotheses = answer["hypotheses"].as_array().unwrap();
        for (c, name) in [(1, "lat"), (2, "lon")] {
            assert_eq!(answer["best"][name], hypotheses[0][name], "{k}");
            let written: f64 = answered[k + 1][c].parse().unwrap();
            assert!((written - answer["best"][name].as_f64().unwrap()).abs() < 2e-6, "{k} {name}");
        }
        let probability: Vec<f64> = hypotheses.iter().map(|h| h["probability"].as_f64().unwrap()).collect();
        assert!(probability.windows(2).all(|pair| pair[0] >= pair[1]), "{k}: {probability:?}");
        assert!(probability.iter().sum::<f64>() <= 1.0 + 1e-9);
        assert!(at("radius_50_km") <= at("radius_90_km") && (0.0..=1.0).contains(&at("locatability")));
        assert_eq!(answer["photo"], format!("row {}", k + 1));
        assert!(hypotheses[0]["place"].is_string());
    }

    // How good it is, where the truth is known; the same numbers as `evaluate --model`.
    let score = json_lines(path, &format!("{locate} --truth photos.csv")).pop().unwrap();
    let options =
        "--model run --embeddings photos.npy --device cpu --samples 4 --steps 10 --truth photos.csv --by-order";
    let judged = json(path, &format!("evaluate {options} --prdc none --by none"));
    let within = judged["scores"]["radii"].as_array().unwrap();
    for (share, radius) in score["summary"]["accuracy"]["within"].as_array().unwrap().iter().zip(within) {
        let judged = radius["share"]["value"].as_f64().unwrap();
        assert!((share.as_f64().unwrap() - judged).abs() < 1e-12, "{share} {radius}");
    }
    // The referee reads the same densities.
    let judged = json(path, &format!("evaluate {options} --by none"));
    let (told, found) = (&score["summary"], &judged);
    assert!((told["nll_nats"].as_f64().unwrap() - found["likelihood"]["nats"]["value"].as_f64().unwrap()).abs() < 1e-9);
    assert_eq!(told["regions"], found["regions"]);
    assert_eq!(found["radii"]["curve"].as_array().unwrap().len(), 9);
    let silent = score["summary"]["cannot_tell"]["n"].as_u64().unwrap();
    assert_eq!(silent + score["summary"]["answered"]["n"].as_u64().unwrap(), 120);

    // A few of them from here on.
    let bytes = fs::read(path.join("photos.npy")).unwrap();
    let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap());
    let rows: Vec<Vec<f32>> = bytes[128..].chunks(20).take(8).map(|row| row.chunks(4).map(number).collect()).collect();
    common::write_npy(path.join("few.npy"), &rows);
    let locate = locate.replace("photos.npy", "few.npy");

    // What is known besides holds.
    for (more, lat) in [("--within -45,110,-10,160", -45.0..=-10.0), ("--within DE", 47.0..=55.5)] {
        for answer in &json_lines(path, &format!("{locate} {more}")) {
            assert!(lat.contains(&answer["best"]["lat"].as_f64().unwrap()), "{more}: {answer}");
            // The best place is the one with the most probability around it.
            let around: Vec<f64> =
                answer["hypotheses"].as_array().unwrap().iter().map(|h| h["probability"].as_f64().unwrap()).collect();
            assert!(around.iter().all(|other| *other <= around[0] + 1e-9), "{more}: {answer}");
        }
    }
    fs::write(path.join("w.csv"), "lat,lon,weight\n-33,151,1\n").unwrap();
    let first = &json_lines(path, &format!("{locate} --prior w.csv --prior-km 300"))[0];
    assert!(first["best"]["lat"].as_f64().unwrap() < -25.0, "{first}");
    fs::write(path.join("w.asc"), "ncols 2\nnrows 1\nxllcorner -180\nyllcorner -90\ncellsize 180\n0 1\n").unwrap();
    let third = &json_lines(path, &format!("{locate} --prior w.asc"))[2];
    assert!(third["best"]["lon"].as_f64().unwrap() >= 0.0, "{third}");
    for (more, part) in [
        ("--within Atlantis", "Atlantis"),
        ("--prior nowhere.csv", "nowhere.csv"),
        ("--prior photos.csv", "weight"),
        ("--trace t.mp4", "end it in .gif, .html or .png"),
        ("--geotiff all.tif", "give a folder"),
    ] {
        refused_with(path, &format!("{locate} {more}"), part);
    }
    // One picture of all photos, or one for each photo; a folder of them belongs to one run, and files in it stay.
    ok(path, &format!("{locate} --png all.png"));
    let picture = image::load_from_memory(&fs::read(path.join("all.png")).unwrap()).unwrap();
    assert!((1590..=1600).contains(&picture.width()) && picture.height() > 400, "{}", picture.height());
    let lock = locdiff_base::OutputLock::file(&path.canonicalize().unwrap().join("maps")).unwrap();
    refused_with(path, &format!("{locate} --png maps/"), "in use by another run");
    drop(lock);
    ok(path, &format!("{locate} --png maps/ --geojson maps/"));
    let count = |end: &str| {
        let names = fs::read_dir(path.join("maps")).unwrap().map(|entry| entry.unwrap().path());
        names.filter(|name| name.extension().is_some_and(|found| found == end)).count()
    };
    assert!(count("png") > 1 && count("png") == count("geojson") && !path.join("maps.lock").exists());
    refused_with(path, &format!("{locate} --png maps/"), "add --force");
}

#[test]
fn an_interrupt_leaves_complete_rows() {
    let path = &*common::scratch();
    model_of_towns(path);
    // Blocks of one photo, each with much to do.
    let locate = "locate --model run --embeddings photos.npy --device cpu --samples 1024 --json --csv a.csv";
    let mut child = command(path, locate).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seen = vec![lines.next().unwrap().unwrap()];
    locdiff_testing::signal(&child, "INT");
    seen.extend(lines.map(Result::unwrap));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(seen.len() < 120 && seen.iter().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    let rows = csv(path.join("a.csv"));
    assert!(rows.len() == seen.len() + 1 && rows.iter().all(|row| row.len() >= 10), "{rows:?}");
    assert!(read(path.join("a.csv")).ends_with('\n'));
}

/// A tag is reported, and does not change the answer.
#[cfg(feature = "bundled")]
#[test]
fn a_tag_changes_no_answer() {
    let path = &*common::scratch();
    fs::copy(fixture("vision/china.jpg"), path.join("china.jpg")).unwrap();
    ok(path, "locate china.jpg --device cpu --write-exif tagged --tag-guesses --yes");
    let [tagged, plain] =
        ["tagged/china.jpg", "china.jpg"].map(|photo| json(path, &format!("locate {photo} --device cpu")));
    common::is_documented(&tagged);
    assert!(tagged["best"] == plain["best"] && plain["gps"].is_null(), "{tagged} {plain}");
    assert!((number(&tagged["gps"]["lat"]) - number(&tagged["best"]["lat"])).abs() < 1e-4, "{tagged}");
}

/// A picture of one colour with a slope in it, as BMP.
fn picture(path: &std::path::Path, k: u32) {
    let side = 24_u32;
    let mut bytes = b"BM".to_vec();
    for word in [54 + side * side * 3, 0, 54, 40, side, side] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend([1, 0, 24, 0]);
    bytes.extend([0; 24]);
    for pixel in 0..side * side {
        bytes.extend([(37 * k) as u8, (pixel % side * 9) as u8, (pixel / side * 5 + k) as u8]);
    }
    fs::write(path, bytes).unwrap();
}

/// Noise belongs to the photo: its answer is the same bytes alone, as copies, among others, with any number of threads.
#[cfg(feature = "bundled")]
#[test]
fn an_answer_does_not_depend_on_company() {
    let path = &*common::scratch();
    let photo = fixture("vision/china.jpg");
    let locate = |what: &str, jobs: u32| -> Vec<String> {
        let said = ok(path, &format!("locate {what} --device cpu --samples 4 --json --jobs {jobs}"));
        let without_name = |line: &str| {
            let mut answer: Value = serde_json::from_str(line).unwrap();
            assert!(answer.as_object_mut().unwrap().remove("photo").is_some());
            answer.to_string()
        };
        said.lines().map(without_name).collect()
    };
    let alone = locate(photo.to_str().unwrap(), 1);
    assert_eq!(alone.len(), 1);
    assert_eq!(alone, locate(photo.to_str().unwrap(), 2));

    fs::create_dir(path.join("copies")).unwrap();
    for k in 0..6 {
        fs::copy(&photo, path.join(format!("copies/{k:02}.jpg"))).unwrap();
    }
    assert_eq!(locate("copies", 2), vec![alone[0].clone(); 6]);

    fs::create_dir(path.join("many")).unwrap();
    for k in 0..66 {
        picture(&path.join(format!("many/{k:02}.bmp")), k);
    }
    fs::copy(&photo, path.join("many/zz.jpg")).unwrap();
    let (one, two) = (locate("many", 1), locate("many", 2));
    assert_eq!((one.len(), &one[66]), (67, &alone[0]));
    assert_eq!(one, two);
    assert!(one[0] != one[1], "other photos have other answers");
}

/// Views in one command: our one density of all of them, and the paper's Algorithm 2.
#[test]
#[cfg(feature = "bundled")]
fn views_are_read_together_and_as_the_paper_does() {
    let path = &*common::scratch();
    fs::copy(fixture("vision/china.jpg"), path.join("china.jpg")).unwrap();
    fs::write(path.join("truth.csv"), "lat,lon\n40,116\n").unwrap();
    let locate = "locate china.jpg --device cpu";
    let one = &json_lines(path, locate)[0];
    let four = &json_lines(path, &format!("{locate} --views 4"))[0];
    assert_ne!(one["best"], four["best"]);
    let paper = &json_lines(path, &format!("{locate} --views 4 --pool mean"))[0];
    // The place is that of the samples, the density the one of the views.
    assert_eq!(paper["area_50_km2"], four["area_50_km2"]);
    for answer in [one, four, paper] {
        assert_eq!(answer["best"]["lat"], answer["hypotheses"][0]["lat"]);
    }
    assert_eq!(paper, &json_lines(path, &format!("{locate} --views 4 --pool mean"))[0]);
    let said = ok(path, &format!("{locate} --truth truth.csv"));
    assert!(said.contains("(n = 1)"), "{said}");
}

/// A folder of many photos: a line each, how many of what, and where to go on.
#[cfg(feature = "bundled")]
#[test]
fn many_photos_have_a_line_each_and_a_summary() {
    let path = &*common::scratch();
    fs::create_dir(path.join("in")).unwrap();
    for k in 0..9 {
        picture(&path.join(format!("in/IMG_20240506_0709{k:02}.bmp")), k);
    }
    fs::copy(common::root().join("crates/io/tests/tags/fixtures/gps.jpg"), path.join("in/gps.jpg")).unwrap();
    for (name, text) in [("bad.jpg", "no photo"), ("film.mp4", ""), ("notes.txt", "")] {
        fs::write(path.join("in").join(name), text).unwrap();
    }
    let locate = "locate in --device cpu --samples 2 --allow-bad";
    let output = run(path, locate);
    let (text, said) = (String::from_utf8(output.stdout.clone()).unwrap(), stderr(&output));
    assert!(output.status.success() && text.lines().count() == 10, "{text}{said}");
    for line in text.lines() {
        let is_said = [", 90 % within ", "   can't tell: ", "already tagged at "];
        assert!(line.starts_with("in/") && is_said.iter().any(|words| line.contains(words)), "{line}");
    }
    assert_eq!(text.matches("already tagged at ").count(), 1, "{text}");
    let summary = said.lines().find(|line| line.starts_with("note: 11 photos: ")).unwrap_or_else(|| panic!("{said}"));
    assert!(summary.ends_with(" can't tell, 1 already tagged, 1 unreadable"), "{summary}");
    let untold = text.lines().filter(|line| line.contains("   can't tell: ")).count();
    assert!(summary.contains(&format!(": {} answered, {untold} can't tell", 9 - untold)), "{summary}");
    assert!(said.contains("note: passed over: 1 video, 1 other file\n") && said.contains("`locdiff album`"), "{said}");
    // All about each, where that is asked for, and where they are few; programs get what they got.
    assert_eq!(ok(path, &format!("{locate} --details")).matches("best place   ").count(), 10);
    fs::remove_file(path.join("in/bad.jpg")).unwrap();
    let few = run(path, locate);
    assert_eq!(String::from_utf8(few.stdout.clone()).unwrap().matches("best place   ").count(), 10);
    assert!(!stderr(&few).contains("can't tell, "));
    assert_eq!(json_lines(path, locate).len(), 10);
}

/// Many photos that the bundled model cannot tell name the model that may, and what it costs, once.
#[test]
fn many_untold_photos_name_geoclip_once() {
    let path = &*common::scratch();
    fs::create_dir(path.join("in")).unwrap();
    for k in 0..10 {
        fs::copy(fixture("vision/rgb.png"), path.join(format!("in/{k}.png"))).unwrap();
    }
    let said = |flags: &str| {
        let words = format!("locate in --device cpu --samples 2{flags}");
        let output = command(path, &words).env("LOCDIFF_HOME", path.join("home")).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        (String::from_utf8(output.stdout.clone()).unwrap(), stderr(&output))
    };
    let (out, note) = said("");
    assert_eq!(out.matches("I can't tell").count(), 10, "{out}");
    assert!(note.contains("`locdiff get geoclip` (about 1.2 GB to download)"), "{note}");
    assert_eq!(note.matches("locdiff get geoclip").count(), 1, "{note}");
    assert!(!said(" -q").1.contains("geoclip") && !said(" --json").1.contains("geoclip"));
    for name in ["geoclip", "clip-vit-large-patch14"] {
        fs::create_dir_all(path.join("home/models").join(name)).unwrap();
    }
    assert!(said("").1.contains("any kind: add --model geoclip\n"));
    fs::remove_file(path.join("in/0.png")).unwrap();
    assert!(!said("").1.contains("geoclip"), "nine are few");
}
