//! Standard input and output, files that exist, exit codes: the rules that hold for every command.
#![cfg(unix)]

use crate::common;

use common::{command, fixture, json_lines, misused, model_of_towns, ok, read, refused_with, run, stderr};
use serde_json::Value;
use std::process::{Output, Stdio};
use std::{fs, io::Write, path::Path};

/// A run with something on standard input.
fn through(folder: &Path, arguments: &str, input: &[u8]) -> Output {
    let mut child = command(folder, arguments);
    let child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// What a run with something on standard input writes.
#[track_caller]
fn piped(folder: &Path, arguments: &str, input: &[u8]) -> Vec<u8> {
    let output = through(folder, arguments, input);
    assert!(output.status.success(), "{arguments}: {}", stderr(&output));
    output.stdout
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn codes_go_through_pipes_in_every_format() {
    let path = &*common::scratch();
    let places = b"lat,lon\n48.86,2.35\n-12.05,-77.04\n";
    for format in ["jsonl", "csv", "npy", "safetensors"] {
        let codes = piped(path, &format!("encode - -L 15 --to {format}"), places);
        let found = String::from_utf8(piped(path, "decode - -o -", &codes)).unwrap();
        assert!(found.starts_with("row,lat,lon,peak,spread_km\n1,48.8"), "{format}: {found}");
        let found = piped(path, "decode - -o - --to npy", &codes);
        assert!(found.starts_with(b"\x93NUMPY"), "{format}");
        let picture = piped(path, "density - --png -", &codes);
        assert_eq!(&picture[1..4], b"PNG");
        let regions: Value = serde_json::from_slice(&piped(path, "density - --geojson -", &codes)).unwrap();
        assert_eq!(regions["type"], "FeatureCollection");
    }
    assert!(String::from_utf8(piped(path, "encode - -L 3", b"lat;lon\n48,86;2,35\n")).unwrap().starts_with('['));
    assert!(names(path).is_empty(), "{:?}", names(path));
}

/// Three of the photos of the towns.
fn few(folder: &Path) {
    let photo = |k: usize| ((0..5).map(|c| f32::from(u8::from(c == k))).collect(), common::TOWNS[k]);
    common::write_photos(folder, "few", (0..3).map(photo));
}

#[test]
fn one_output_alone_goes_to_standard_output() {
    let path = &*common::scratch();
    model_of_towns(path);
    few(path);
    let before = names(path);
    let locate = "locate --model run --embeddings few.npy --device cpu --samples 2";
    let said = ok(path, &format!("{locate} --csv -"));
    assert!(said.starts_with("photo,lat,lon,") && said.lines().count() == 4, "{said}");
    let regions: Value = serde_json::from_str(&ok(path, &format!("{locate} --geojson -"))).unwrap();
    assert!(regions["features"].as_array().unwrap().len() >= 9);
    assert!(ok(path, &format!("{locate} --kml -")).starts_with("<?xml"));
    assert!(ok(path, &format!("{locate} --map -")).starts_with("<!"));
    let places = ok(path, "sample --model run --embeddings few.npy --device cpu --samples 2 --steps 2 -o -");
    assert!(places.starts_with("row,lat,lon\n1,") && places.lines().count() == 4, "{places}");
    let embeddings = fs::read(path.join("few.npy")).unwrap();
    let same = piped(path, "sample --model run --embeddings - --device cpu --samples 2 --steps 2 -o -", &embeddings);
    assert_eq!(String::from_utf8(same).unwrap(), places);
    // Judged as it comes.
    let judge = "evaluate --truth few.csv --predictions - --prdc none --by none --replicates 40 --json";
    let judged: Value = serde_json::from_slice(&piped(path, judge, places.as_bytes())).unwrap();
    assert_eq!(judged["scores"]["n"], 3);
    let truth = fs::read(path.join("few.csv")).unwrap();
    fs::write(path.join("p.csv"), &places).unwrap();
    let judge = "evaluate --truth - --predictions p.csv --prdc none --by none --replicates 40 --json";
    piped(path, judge, &truth);
    fs::remove_file(path.join("p.csv")).unwrap();

    for two in [
        format!("{locate} --csv - --geojson -"),
        format!("{locate} --csv - --json"),
        "density --at 1,2 --png - --geojson -".to_owned(),
    ] {
        misused(path, &two, "standard output");
    }
    let output = through(path, "evaluate --truth - --predictions -", b"lat,lon\n1,2\n");
    assert!(stderr(&output).contains("can be read once"), "{}", stderr(&output));
    refused_with(path, "embed photos.csv -o -", "name a file");
    assert_eq!(names(path), before, "no file called -");
}

/// `evaluate` reads what `locate` and `sample` write, bad photos too.
#[test]
fn answers_are_judged_as_they_are_written() {
    let path = &*common::scratch();
    model_of_towns(path);
    let of_embeddings = "--model run --embeddings photos.npy --device cpu --samples 2";
    ok(path, &format!("locate {of_embeddings} --csv l.csv"));
    fs::write(path.join("l.jsonl"), ok(path, &format!("locate {of_embeddings} --json"))).unwrap();
    fs::write(path.join("t.jsonl"), ok(path, &format!("locate {of_embeddings} --json --truth photos.csv"))).unwrap();
    ok(path, &format!("sample {of_embeddings} -o s.csv"));
    ok(path, &format!("sample {of_embeddings} -o s.npy"));
    // Truths that have names too.
    fs::write(path.join("named.csv"), read(path.join("photos.csv")).replace("row,", "id,")).unwrap();
    let judge = |truth: &str, file: &str| {
        common::json(
            path,
            &format!("evaluate --truth {truth} --predictions {file} --prdc none --by none --replicates 40"),
        )
    };
    let first = judge("photos.csv", "l.csv");
    for file in ["l.jsonl", "t.jsonl", "s.csv", "s.npy"] {
        for truth in ["photos.csv", "named.csv"] {
            assert_eq!(judge(truth, file)["scores"]["n"], 120, "{truth} {file}");
        }
    }
    let near = |report: &Value| report["scores"]["median_km"]["value"].as_f64();
    assert_eq!(near(&first).map(f64::round), near(&judge("photos.csv", "l.jsonl")).map(f64::round));

    if cfg!(feature = "bundled") {
        fs::copy(fixture("vision/rgb.jpg"), path.join("a.jpg")).unwrap();
        fs::write(path.join("b.jpg"), "no photo").unwrap();
        fs::write(path.join("ab.csv"), "photo,lat,lon\na.jpg,1,2\nb.jpg,3,4\n").unwrap();
        let output = run(path, "locate a.jpg b.jpg --device cpu --csv ab-l.csv --json");
        fs::write(path.join("ab-l.jsonl"), &output.stdout).unwrap();
        for file in ["ab-l.csv", "ab-l.jsonl"] {
            let judged = judge("ab.csv", file);
            assert!(judged["scores"]["n"] == 2 && judged["scores"]["missing"] == 1, "{judged}");
        }
    }
}

/// No command overwrites a file unless it is told to.
#[test]
fn existing_files_need_force() {
    let path = &*common::scratch();
    model_of_towns(path);
    few(path);
    ok(path, "encode --at 1,2 -L 3 -o c.npy");
    let of_embeddings = "--model run --embeddings few.npy --device cpu --samples 2";
    for (arguments, file) in [
        ("encode --at 1,2 -L 3 -o FILE".to_owned(), "e.npy"),
        ("decode c.npy -o FILE".to_owned(), "d.csv"),
        ("density c.npy --geojson FILE".to_owned(), "g.geojson"),
        ("density c.npy --raster FILE".to_owned(), "g.asc"),
        ("density c.npy --png FILE".to_owned(), "p.png"),
        (format!("sample {of_embeddings} -o FILE"), "s.csv"),
        (format!("locate {of_embeddings} --csv FILE"), "l.csv"),
        (format!("locate {of_embeddings} --geojson FILE"), "l.geojson"),
        (
            "evaluate --truth photos.csv --predictions photos.csv --by none --replicates 40 --html FILE".to_owned(),
            "r.html",
        ),
        ("gallery build --embeddings photos.npy --locations photos.csv -o FILE".to_owned(), "gallery"),
        (
            format!(
                "{} --embeddings photos.npy --locations photos.csv --out FILE",
                common::TRAIN.replace(" --out run", "").replace("--steps 200", "--steps 4")
            ),
            "again",
        ),
        (
            format!(
                "calibrate {} --truth photos.csv --samples 2 --export FILE",
                "--model run --embeddings photos.npy --device cpu"
            ),
            "export",
        ),
    ] {
        let arguments = arguments.replace("FILE", file);
        ok(path, &arguments);
        let message = common::refused(path, &arguments);
        assert!(message.contains("--force") || message.contains("--resume"), "{arguments}: {message}");
        ok(path, &format!("{arguments} --force"));
    }
    #[cfg(feature = "bundled")]
    {
        fs::copy(fixture("vision/rgb.jpg"), path.join("a.jpg")).unwrap();
        ok(path, "embed a.jpg -o x.npy");
        refused_with(path, "embed a.jpg -o x.npy", "x.npy exists: add --force");
        ok(path, "embed a.jpg -o x.npy --force");
        ok(path, "locate a.jpg --device cpu --png maps/");
        refused_with(path, "locate a.jpg --device cpu --png maps/", "maps/a.jpg.png exists: add --force");
    }
    ok(path, "encode --at 1,2 -L 3 -o /dev/null --to csv");
}

/// The table of docs/cli.md.
#[test]
fn exit_codes_are_the_same_everywhere() {
    let path = &*common::scratch();
    ok(path, "encode --at 1,2 -L 3 -o c.npy");
    fs::write(path.join("bad.jpg"), "no photo").unwrap();
    fs::copy(fixture("vision/rgb.jpg"), path.join("good.jpg")).unwrap();
    let code = |arguments: &str| run(path, arguments).status.code();
    for (arguments, expected) in [
        ("encode --at 1,2 -L 3", 0),
        ("encode nowhere.csv", 1),
        ("encode --at 95,2", 2),
        ("nothing", 2),
        ("density --at 1,2 --png - --geojson -", 2),
        ("decode c.npy --decoder kl --window-km 20", 2),
    ] {
        assert_eq!(code(arguments), Some(expected), "{arguments}");
    }
    if cfg!(feature = "bundled") {
        for (command, rest) in [("locate", "--csv l.csv"), ("embed", "-o e.npy")] {
            assert_eq!(code(&format!("{command} good.jpg {rest} --device cpu --force")), Some(0), "{command}");
            assert_eq!(code(&format!("{command} good.jpg bad.jpg {rest} --device cpu --force")), Some(1));
            let allowed = format!("{command} good.jpg bad.jpg {rest} --device cpu --allow-bad --force");
            assert_eq!(code(&allowed), Some(0), "{allowed}");
        }
    }
    let text = read(common::root().join("docs/cli.md"));
    for line in ["| 0 |", "| 1 |", "| 2 |", "| 130 |"] {
        assert!(text.contains(line), "docs/cli.md lacks {line}");
    }
}

/// Flags that would have no effect are refused.
#[test]
fn idle_flags_and_wrong_pictures_are_refused() {
    let path = &*common::scratch();
    model_of_towns(path);
    ok(path, "encode --at 1,2 -L 3 -o c.npy");
    ok(path, "gallery build --embeddings photos.npy --locations photos.csv -o gallery");
    let sample = "sample --model run --embeddings photos.npy --device cpu --samples 2 --steps 2 --hybrid gallery";
    for (arguments, words) in [
        ("decode c.npy --decoder kl --window-km 20".to_owned(), "--window-km means nothing to --decoder kl"),
        (format!("{sample} --hybrid-rule paper --hybrid-weight 2"), "mean nothing with --gallery-rule paper"),
        (format!("{sample} --hybrid-rule paper --hybrid-confidence 0.2"), "mean nothing with --gallery-rule paper"),
        (format!("{sample} --hybrid-rule paper --hybrid-temperature 1"), "mean nothing with --gallery-rule paper"),
        (
            format!("{} --embeddings photos.npy --locations photos.csv --validation-tensor x --force", common::TRAIN),
            "--validation-embeddings",
        ),
    ] {
        misused(path, &arguments, words);
    }
    for (arguments, words) in [
        ("locate --model run --embeddings photos.npy --samples 0", "samples = 0 cannot be used"),
        ("locate --model run --embeddings photos.npy --within 10,10,0,0", "almost around the Earth"),
        ("encode nowhere.csv", "No such file or directory (os error 2); check the path"),
    ] {
        refused_with(path, arguments, words);
        assert!(stderr(&run(path, arguments)).matches("os error").count() < 2);
    }
    // A field without a peak has one spread, whatever the format.
    fs::write(path.join("flat.csv"), "1,0,0,0\n").unwrap();
    let spreads = [
        ok(path, "decode flat.csv -o -").lines().nth(1).unwrap().rsplit(',').next().unwrap().parse::<f64>().unwrap(),
        json_lines(path, "decode flat.csv")[0]["spread_km"].as_f64().unwrap(),
        ok(path, "decode flat.csv").split_whitespace().last().unwrap().parse::<f64>().unwrap(),
    ];
    assert!(spreads.iter().all(|km| (km - 20_015.0).abs() < 1.0), "{spreads:?}");
}

/// Names from outside steer neither terminals nor spreadsheets.
#[cfg(feature = "bundled")]
#[test]
fn names_from_outside_stay_text() {
    let path = &*common::scratch();
    let (red, link) = ("\u{1b}[31mred.jpg", "=HYPERLINK(\"x\").jpg");
    fs::create_dir(path.join("photos")).unwrap();
    fs::copy(fixture("vision/rgb.jpg"), path.join("photos").join(red)).unwrap();
    fs::write(path.join("photos").join(format!("bad{red}")), "no photo").unwrap();
    fs::copy(fixture("vision/rgb.png"), path.join(link)).unwrap();
    let output = run(path, &["locate", "photos", link, "--device", "cpu", "--csv", "a.csv"]);
    let said = String::from_utf8(output.stdout.clone()).unwrap() + &stderr(&output);
    assert!(!said.contains('\u{1b}') && said.contains("\\u{1b}[31mred.jpg"), "{said}");
    let table = read(path.join("a.csv"));
    assert!(table.contains("\n\"'=HYPERLINK(\"\"x\"\").jpg\","), "{table}");
    // The table names the photo again for whoever reads it.
    fs::write(path.join("list.csv"), "path\n\"'=HYPERLINK(\"\"x\"\").jpg\"\n").unwrap();
    ok(path, "locate list.csv --device cpu");
}
