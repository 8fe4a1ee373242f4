//! GeoCLIP as a model, by its name in the data folder: a random one, 24 numbers a photo.

use crate::{common, geoclip_models as geoclip};

use common::{command, lines_of, number, ok, stderr, write_npy};
use serde_json::Value;
use std::fs;
use std::{path::Path, process::Output};

/// GeoCLIP in a data folder, and rows of features.
pub(crate) fn prepare(path: &Path) {
    geoclip::prepare(path);
    let features = |rows: usize, offset: usize| -> Vec<Vec<f32>> {
        (0..rows).map(|k| (0..24).map(|c| (((k + offset) * 24 + c) as f32 * 0.7).sin()).collect()).collect()
    };
    write_npy(path.join("photos.npy"), &features(12, 0));
    write_npy(path.join("known.npy"), &features(100, 1000));
    write_npy(path.join("wide.npy"), &[vec![0.1; 512]]);
    write_npy(path.join("short.npy"), &[vec![1.0; 5]]);
}

/// A run with the data folder.
fn at_home(path: &Path, words: &str) -> Output {
    command(path, words).env("LOCDIFF_HOME", path.join("home")).output().unwrap()
}

#[track_caller]
fn answers(path: &Path, words: &str) -> Vec<Value> {
    let output = at_home(path, words);
    assert!(output.status.success(), "{words}: {}", stderr(&output));
    lines_of(output.stdout)
}

#[test]
fn a_geoclip_model_answers_as_ours_do() {
    let path = &*common::scratch();
    prepare(path);
    let locate = "locate --model geoclip --embeddings photos.npy --device cpu --json";
    let found = answers(path, locate);
    assert_eq!(found.len(), 12);
    for answer in &found {
        geoclip::check_coherent(answer);
        assert_eq!(answer["not_calibrated"], true);
        assert!(answer["gallery"]["match"]["row"].as_u64().is_some_and(|row| row <= 1500), "{answer}");
    }
    // The first place is the one that retrieval finds, with its score.
    let search = "gallery search home/models/geoclip/gallery.csv --geoclip home/models/geoclip --embeddings photos.npy";
    ok(path, &format!("{search} --device cpu --top 1 --out hits.csv"));
    for (answer, hit) in found.iter().zip(&common::csv(path.join("hits.csv"))[1..]) {
        let first = &answer["gallery"]["match"];
        assert_eq!(first["row"].as_u64().unwrap().to_string(), hit[4], "{answer} {hit:?}");
        assert!((number(&first["similarity"]) - hit[5].parse::<f64>().unwrap()).abs() < 1e-6);
    }
    // Regions, priors and other interfaces.
    for answer in answers(path, &format!("{locate} --within Africa")) {
        assert!(number(&answer["best"]["lon"]) > -20.0 && number(&answer["best"]["lon"]) < 60.0, "{answer}");
    }
    let by_environment = command(path, "locate --embeddings photos.npy --device cpu --json")
        .envs([("LOCDIFF_HOME", path.join("home")), ("LOCDIFF_MODEL", "geoclip".into())])
        .output()
        .unwrap();
    assert_eq!(lines_of(by_environment.stdout), found);
    let times: Vec<String> = (0..12).map(|k| format!("p{k},2024-05-12T10:{k:02}:00Z\n")).collect();
    fs::write(path.join("times.csv"), format!("photo,time\n{}", times.concat())).unwrap();
    let album = answers(path, "album --model geoclip --embeddings photos.npy --times times.csv --device cpu --json");
    assert!(album.len() >= 12, "{}", album.len());

    // Truths that GeoCLIP knows something of: its own first places. Then answers are calibrated, and surer.
    ok(path, &format!("{} --device cpu --top 1 --out known_hits.csv", search.replace("photos.npy", "known.npy")));
    let truth: String =
        common::csv(path.join("known_hits.csv"))[1..].iter().fold("lat,lon\n".to_owned(), |text, hit| {
            format!("{text}{},{}\n", hit[2].parse::<f64>().unwrap() * 0.999, hit[3])
        });
    fs::write(path.join("known.csv"), truth).unwrap();
    let fit = "calibrate --model geoclip --embeddings known.npy --truth known.csv --device cpu --json";
    let fitted = answers(path, fit);
    assert!(number(&fitted[0]["places"]["share"]) >= 0.9, "{fitted:?}");
    let after = answers(path, locate);
    assert!(after.iter().all(|answer| answer["not_calibrated"].is_null()), "{}", after[0]);
    let radius = |answers: &[Value]| answers.iter().map(|answer| number(&answer["radius_90_km"])).sum::<f64>();
    assert!(radius(&after) < 0.8 * radius(&found), "{} {}", radius(&after), radius(&found));
}

/// Photos of one's own beside GeoCLIP: where they know the place, they are believed.
#[test]
fn a_gallery_beside_geoclip() {
    let path = &*common::scratch();
    prepare(path);
    // Embeddings whose places have nothing to do with GeoCLIP's, and a gallery of their neighbours.
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
    ok(path, "gallery build --embeddings own.npy --locations own.csv --out mine");
    let locate = "locate --model geoclip --gallery mine --embeddings near.npy --device cpu --json";
    assert_eq!(answers(path, locate)[0]["not_calibrated"], true);
    let fit = "calibrate --model geoclip --gallery mine --embeddings near.npy --truth near.csv --device cpu --json";
    let fitted = answers(path, fit);
    assert!(number(&fitted[0]["gallery"]["share"]) >= 0.8, "{fitted:?}");
    for (k, answer) in answers(path, locate).iter().enumerate() {
        geoclip::check_coherent(answer);
        assert!((number(&answer["best"]["lat"]) - place(k).0).abs() < 1.0, "{answer}");
        assert_eq!(
            (&answer["gallery"]["answered_by"], &answer["gallery"]["match"]["row"]),
            (&"gallery".into(), &(k + 1).into())
        );
    }
    let without = answers(path, "locate --model geoclip --embeddings near.npy --device cpu --json");
    assert_eq!(without[0]["gallery"]["answered_by"], "model");
    let paper = at_home(path, "locate --model geoclip --gallery mine --gallery-rule paper --embeddings near.npy");
    assert!(stderr(&paper).contains("GeoCLIP has no samples"), "{}", stderr(&paper));
}
