//! PRDC against the PyPI package `prdc` with scikit-learn's haversine; `scripts/eval_fixtures.py` wrote the numbers.

use locdiff_model::eval::Prdc;
use locdiff_shdd::sphere::LatLon;
use serde_json::Value;

fn places(list: &Value) -> Vec<LatLon> {
    let pair = |place: &Value| LatLon::new(place[0].as_f64().unwrap(), place[1].as_f64().unwrap()).unwrap();
    list.as_array().unwrap().iter().map(pair).collect()
}

#[track_caller]
fn assert_is(found: Prdc, expected: &Value, what: &str) {
    for (name, value) in [
        ("precision", found.precision),
        ("recall", found.recall),
        ("density", found.density),
        ("coverage", found.coverage),
    ] {
        let expected = expected[name].as_f64().unwrap();
        assert!((value - expected).abs() < 1e-12, "{what}, {name}: {value} for {expected}");
    }
}

#[test]
fn as_the_package_defines_it() {
    let fixture: Value = serde_json::from_str(include_str!("../../../../fixtures/eval/prdc.json")).unwrap();
    let (real, fake) = (places(&fixture["real"]), places(&fixture["fake"]));
    for k in [1, 3, 5] {
        let expected = &fixture["whole"][k.to_string()];
        assert_is(Prdc::new(&real, &fake, k).unwrap(), expected, &format!("k = {k}"));
    }
    let chunked = Prdc::chunked(&real, &fake, 3, 8).unwrap();
    assert_is(chunked, &fixture["chunks_8_k_3"], "in chunks");
}
