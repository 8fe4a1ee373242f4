//! The same answer over HTTP as from the library, alone and among others.

use crate::common;

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use common::{FORM, Refused, Running, form, photo, photo_path};
use locdiff::{EmbeddedPhoto, LatLon, LocateOptions, Locator};
use locdiff_shdd::sphere::UnitVec;
use locdiff_testing::try_until;
use serde_json::Value;

/// The answer of the library to a photo, as the command prints it.
fn expected(name: &str) -> String {
    let path = photo_path(name);
    let answer = Locator::bundled().unwrap().locate(&*path).unwrap();
    format!("{}\n", answer.to_json())
}

#[test]
fn one_photo_alone_and_among_a_hundred_others() {
    let names = ["china.jpg", "rgb.png"];
    let wanted = names.map(expected);
    let server = Running::new(|options| options.queue = 200);
    let target = |name: &str| format!("/v1/locate?name={}", photo_path(name).display());
    for (name, wanted) in names.iter().zip(&wanted) {
        let response = server.post(&target(name), "image/jpeg", &photo(name));
        assert_eq!((response.status, response.text()), (200, wanted.clone()), "{name} alone");
        assert_eq!(response.header("content-type"), Some("application/json"));
        for stage in ["queue", "decode", "encode", "answer"] {
            let ms: f64 = response.header(&format!("x-{stage}-ms")).unwrap().parse().unwrap();
            assert!(ms >= 0.0);
        }
    }
    let ask_many = || {
        std::thread::scope(|scope| {
            let ask = |k: usize| {
                let (name, wanted) = (names[k % 2], &wanted[k % 2]);
                // Others with other settings wait in the same batches.
                let others = if k % 5 == 4 { "&seed=7&within=Japan" } else { "" };
                let response = server.post(&(target(name) + others), "application/octet-stream", &photo(name));
                assert_eq!(response.status, 200, "{}", response.text());
                if others.is_empty() {
                    assert_eq!(response.text(), *wanted, "{name} among others");
                } else {
                    assert_eq!(response.json()["country_code"], "JP");
                }
            };
            let all: Vec<_> = (0..100).map(|k| scope.spawn(move || ask(k))).collect();
            for one in all {
                one.join().unwrap();
            }
        });
    };
    ask_many();
    assert_eq!(server.metric("locdiff_photos_answered_total"), Some(102.0));
    try_until("photos that wait at the same time are a batch", || {
        let are_together = server.metric("locdiff_batch_photos_count") < server.metric("locdiff_photos_answered_total");
        if !are_together {
            ask_many();
        }
        are_together
    });
}

#[test]
fn photos_of_one_place_have_one_answer() {
    let server = Running::new(|_| {});
    let (china, flower) = (photo("china.jpg"), photo("rgb.png"));
    let ask = |photos: &[(&str, &[u8])]| server.post("/v1/locate?together=true", FORM, &form(photos));
    let both = ask(&[("a.jpg", &china), ("b.png", &flower)]);
    assert_eq!((both.status, both.header("content-type")), (200, Some("application/json")));
    let both = both.json();
    assert_eq!(both["photo"], "a.jpg + b.png");
    // As the library's, whatever their order; one photo twice is answered as once.
    let (locator, options) = (Locator::bundled().unwrap(), LocateOptions::default());
    let embed = |name: &str| {
        let photo = locdiff::Photo::open(&photo_path(name), &locdiff::PhotoLimits::default()).unwrap();
        locator.embed(&photo, &options).unwrap()
    };
    let wanted = EmbeddedPhoto::together([embed("china.jpg"), embed("rgb.png")]);
    let wanted = locator.answer(&wanted, &options).unwrap().to_json();
    assert_eq!((&both["best"], &both["hypotheses"]), (&wanted["best"], &wanted["hypotheses"]));
    let turned = ask(&[("b.png", &flower), ("a.jpg", &china)]).json();
    let near =
        |a: &Value, b: &Value, key: &str| (a[key].as_f64().unwrap() / b[key].as_f64().unwrap() - 1.0).abs() < 1e-3;
    assert!(near(&both, &turned, "area_90_km2") && near(&both, &turned, "locatability"));
    let alone = server.post("/v1/locate", "image/jpeg", &china).json();
    let twice = ask(&[("a.jpg", &china), ("a.jpg", &china)]).json();
    assert!(near(&alone, &twice, "area_90_km2"), "{alone} {twice}");
    assert_ne!(both["area_90_km2"], alone["area_90_km2"]);
    // More photos than samples; a map of them; one that cannot be read is named.
    let many: Vec<(&str, &[u8])> = vec![("a.jpg", &china); 20];
    assert!(near(&alone, &ask(&many).json(), "area_90_km2"));
    let body = form(&[("a.jpg", &china), ("b.png", &flower)]);
    assert!(server.post("/v1/locate?together=true&format=png", FORM, &body).body.starts_with(b"\x89PNG"));
    let response = ask(&[("a.jpg", &china), ("no.jpg", b"text")]);
    assert_eq!(response.status, 415);
    assert!(response.text().contains("no.jpg"), "{}", response.text());
}

#[test]
fn the_density_as_a_grid() {
    let server = Running::new(|_| {});
    let ask = |query: &str| server.post(&format!("/v1/locate?{query}"), "image/jpeg", &photo("china.jpg")).json();
    let both = ask("density=all");
    assert_eq!(both["density"]["type"], "FeatureCollection");
    assert_eq!(ask("density=grid")["density"], Value::Null);
    for (answer, widest) in [(both, 360.0), (ask("density=grid&within=Fiji"), 10.0)] {
        let grid = &answer["grid"];
        let number = |key: &str| grid[key].as_f64().unwrap();
        assert!(number("east") - number("west") <= widest + 1e-9, "{grid}");
        let values = BASE64.decode(grid["values"].as_str().unwrap()).unwrap();
        let (rows, columns) = (number("rows"), number("columns"));
        assert_eq!(values.len(), (rows * columns) as usize);
        assert!(values.len() <= 64_800 && values.contains(&255));
        let (lat, lon) = (answer["best"]["lat"].as_f64().unwrap(), answer["best"]["lon"].as_f64().unwrap());
        let row = (number("north") - lat) / (number("north") - number("south")) * rows;
        let column = (lon - number("west")).rem_euclid(360.0) / (number("east") - number("west")) * columns;
        // Map factors make the density rough: near the best place it is high somewhere; open sea and what lies elsewhere is 0.
        let near = |at: f64, most: f64| (at as usize).saturating_sub(3)..=(at as usize + 3).min(most as usize - 1);
        let around = near(row, rows).flat_map(|row| near(column, columns).map(move |column| (row, column)));
        let highest = around.map(|(row, column)| values[row * columns as usize + column]).max();
        assert!(highest > Some(80), "{lat} {lon}: {highest:?}");
    }
}

/// The area inside rings of degrees, holes taken off.
fn area_km2(geometry: &Value) -> f64 {
    let polygons = match geometry["type"].as_str().unwrap() {
        "Polygon" => vec![&geometry["coordinates"]],
        _ => geometry["coordinates"].as_array().unwrap().iter().collect(),
    };
    let rings = polygons.iter().flat_map(|polygon| polygon.as_array().unwrap());
    let sum: f64 = rings
        .flat_map(|ring| ring.as_array().unwrap().windows(2))
        .map(|pair| {
            let rad = |k: usize, of: usize| pair[k][of].as_f64().unwrap().to_radians();
            (rad(1, 0) - rad(0, 0)) * (rad(0, 1).sin() + rad(1, 1).sin()) / 2.0
        })
        .sum();
    sum.abs() * 6371.0088_f64.powi(2)
}

/// Traced in the world's cells of a quarter of a degree, they held 42 % of it.
#[test]
fn outlines_of_a_small_country_hold_its_area() {
    let server = Running::new(|_| {});
    let answer = server.post("/v1/locate?density=geojson&within=Fiji", "image/jpeg", &photo("china.jpg")).json();
    let regions = answer["density"]["features"].as_array().unwrap();
    let regions: Vec<&Value> = regions.iter().filter(|one| one["geometry"]["type"] != "Point").collect();
    assert_eq!(regions.len(), 2);
    for region in regions {
        let area = region["properties"]["area_km2"].as_f64().unwrap();
        let share = area_km2(&region["geometry"]) / area;
        assert!((0.8..1.2).contains(&share), "{share} of {area} km2");
    }
}

#[test]
fn samples_on_their_way() {
    let server = Running::new(|_| {});
    let china = photo("china.jpg");
    let response = server.post("/v1/steps?seed=3", "image/jpeg", &china);
    let film = response.json();
    let steps = film["steps"].as_array().unwrap();
    let places = |k: usize| -> Vec<UnitVec> {
        let all = steps[k]["places"].as_array().unwrap().iter();
        all.map(|at| LatLon::new(at[1].as_f64().unwrap(), at[0].as_f64().unwrap()).unwrap().to_unit()).collect()
    };
    // All over the world at first, where the answer is likely at last.
    let spread = |points: &[UnitVec]| {
        let sum =
            points.iter().fold([0.0; 3], |sum, point| [sum[0] + point.x(), sum[1] + point.y(), sum[2] + point.z()]);
        1.0 - sum.iter().map(|part| part * part).sum::<f64>().sqrt() / points.len() as f64
    };
    let (first, last) = (places(0), places(steps.len() - 1));
    assert_eq!((steps.len(), first.len(), last.len()), (17, 24, 24));
    assert!(spread(&first) > 0.5 && spread(&last) < spread(&first), "{} {}", spread(&first), spread(&last));
    assert_eq!(response.text(), server.post("/v1/steps?seed=3", "image/jpeg", &china).text());
    let two = form(&[("a.jpg", &china), ("b.png", &photo("rgb.png"))]);
    assert_eq!(server.post("/v1/steps", FORM, &two).json()["steps"].as_array().unwrap().len(), 17);
    assert_eq!(server.post("/v1/steps?within=Japan", "image/jpeg", &china).problem(), "bad-request");
    assert_eq!(server.post("/v1/steps", "image/jpeg", b"text").status, 415);
}

#[test]
fn parts_of_a_photo_speak_for_its_place() {
    let server = Running::new(|_| {});
    let china = photo("china.jpg");
    let said = server.post("/v1/occlusion?name=a.jpg", "image/jpeg", &china).json();
    let nats: Vec<f64> = said["nats"].as_array().unwrap().iter().map(|nats| nats.as_f64().unwrap()).collect();
    assert_eq!((&said["rows"], &said["columns"], nats.len()), (&serde_json::json!(5), &serde_json::json!(8), 40));
    assert!(nats.iter().any(|nats| *nats > 0.01) && nats.iter().all(|nats| nats.is_finite()), "{nats:?}");
    let best = server.post("/v1/locate", "image/jpeg", &china).json()["best"].clone();
    assert_eq!(said["at"], best);
    assert_eq!(server.post("/v1/occlusion?within=Japan", "image/jpeg", &china).problem(), "bad-request");
    let two = form(&[("a.jpg", &china), ("b.jpg", &china)]);
    assert_eq!(server.post("/v1/occlusion", FORM, &two).problem(), "bad-request");
    assert_eq!(server.post("/v1/occlusion", "image/jpeg", b"text").status, 415);
}
