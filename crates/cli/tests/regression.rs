//! A small world with a small model, both committed (`lab/scripts/toy_world.py` makes them): answers are coherent and
//! stay what they were. Transcripts hold accuracy and calibration.

use crate::common;

use crate::geoclip_models::check_coherent;
use common::{csv, fixture, json_lines, number};
use serde_json::Value;
use std::path::Path;

fn answers() -> Vec<Value> {
    let world = fixture("toyworld").canonicalize().unwrap();
    let at = |name: &str| world.join(name).display().to_string();
    let words = format!("locate --model {} --embeddings {} --device cpu --samples 4", at("model"), at("photos.npy"));
    json_lines(Path::new("."), &words)
}

#[test]
fn every_answer_is_of_one_piece() {
    for answer in answers() {
        check_coherent(&answer);
        let listed = answer["hypotheses"].as_array().unwrap().iter().map(|one| number(&one["probability"]));
        assert!(listed.is_sorted_by(|a, b| *a >= b - 1e-12), "{answer}");
        assert!((0.0..=1.0).contains(&number(&answer["locatability"])), "{answer}");
        let of_countries = answer["countries"].as_array().unwrap().iter().map(|one| number(&one["probability"]));
        let of_countries: Vec<f64> = of_countries.collect();
        assert!(of_countries.is_sorted_by(|a, b| a >= b) && of_countries.iter().sum::<f64>() < 1.0 + 1e-9, "{answer}");
    }
}

#[test]
fn answers_stay_what_they_were() {
    let kept = csv(fixture("toyworld/answers.csv"));
    for (answer, row) in answers().iter().zip(&kept[1..]) {
        let near = |k: usize, met: f64, tolerance: f64| {
            let was: f64 = row[k].parse().unwrap();
            assert!((was - met).abs() <= tolerance, "{row:?}: {met}");
        };
        near(1, number(&answer["best"]["lat"]), 0.001);
        near(2, number(&answer["best"]["lon"]), 0.001);
        near(3, number(&answer["radius_50_km"]), 0.2);
        near(4, number(&answer["radius_90_km"]), 0.2);
        near(5, number(&answer["hypotheses"][0]["probability"]), 0.001);
        near(6, number(&answer["locatability"]), 0.001);
        assert_eq!(answer["can_tell"].to_string(), row[7]);
    }
}
