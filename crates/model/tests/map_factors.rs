//! Densities with map factors are densities: they sum to one, can be restricted, and say what each factor did.

use locdiff_map::{cells::Cells, places::Countries, places::Region};
use locdiff_model::answer::{Calibration, Globe, Knowledge, ReadOptions, Reader, Surroundings};
use locdiff_shdd::{Coefficients, sphere::LatLon, sphere::Pixel, sphere::UnitVec};
use std::{collections::BTreeMap, f64::consts::PI, sync::Arc};

fn at(lat: f64, lon: f64) -> LatLon {
    LatLon::new(lat, lon).unwrap()
}

/// A network's output about Japan, and a reader with heads that see a large city at the coast.
fn city_in_japan() -> (Reader, Coefficients) {
    let globe = Arc::new(Globe::new(23).unwrap());
    let code = globe.codec().encode(at(35.5, 137.0));
    let sharp: Vec<f64> = code.as_slice().iter().map(|value| 0.12 * value).collect();
    let mut weights = vec![0.0; 2 * Surroundings::classes()];
    let bias = Surroundings::classes();
    (weights[bias + 7], weights[bias + 8 + 2]) = (4.0, 3.0);
    let heads = Surroundings::new(1, weights).unwrap();
    let plain = Calibration::none(Coefficients::new(vec![0.0; 576]).unwrap());
    let calibration = Calibration { surroundings: Some(Arc::new(heads)), ..plain };
    (Reader::new(globe, calibration).unwrap(), Coefficients::new(sharp).unwrap())
}

#[test]
fn factors_leave_a_density_that_adds_up() {
    let (reader, evidence) = city_in_japan();
    let output = reader.calibration().model_output(&evidence, [&[0.0_f32][..]]);
    let (density, plain) =
        (reader.density(output, None).unwrap(), reader.density(output.without_factors(), None).unwrap());
    let (depth, values) = density.on_healpix();
    assert_eq!((depth, values.len()), (Cells::DEPTH, 786_432));
    assert!((values.iter().sum::<f64>() * 4.0 * PI / values.len() as f64 - 1.0).abs() < 1e-9);
    // Nobody takes photos in the open Pacific; a city is more probable than the mountains near it.
    let [pacific, tokyo, alps] = [at(33.0, 150.0), at(35.69, 139.75), at(36.5, 137.6)];
    let log = |of: &locdiff_model::answer::Density, place: LatLon| of.log_density(&[place.to_unit()])[0];
    assert!(log(&density, pacific) < log(&plain, pacific) - 5.0);
    assert!(log(&density, tokyo) - log(&plain, tokyo) > log(&density, alps) - log(&plain, alps) + 1.0);
    for place in [tokyo, alps] {
        let effects: f64 = density.factor_effects(place).iter().map(|effect| effect.nats).sum();
        assert!((log(&density, place) - log(&plain, place) - effects).abs() < 1e-6, "{effects}");
    }
    // The grid's values are those at its points, up to the width of a smooth pixel.
    let points: Vec<UnitVec> = density.points().iter().copied().step_by(997).collect();
    let exact = density.log_density(&points);
    let top = exact.iter().copied().fold(f64::MIN, f64::max);
    for (on_grid, exact) in density.point_log_density().iter().step_by(997).zip(exact) {
        assert!(exact < top - 8.0 || (on_grid - exact).abs() < 0.5, "{on_grid} {exact}");
    }
    // Countries against the outlines at sixteen points of each cell, to half a point.
    let countries = density.region_masses().countries();
    let mut wanted: BTreeMap<&str, f64> = BTreeMap::new();
    let area = density.pixel_area_sr();
    for (index, log) in
        Cells::bundled().indices().iter().zip(density.point_log_density()).filter(|(_, log)| **log > -8.0)
    {
        for part in 0..16 {
            let place = Pixel { depth: Cells::DEPTH + 2, index: 16 * u64::from(*index) + part }.centre().to_latlon();
            let near = || Cells::bundled().country(Cells::bundled().at(place)?);
            let code = Countries::bundled().at(place).or_else(near).map_or("", |country| country.code());
            *wanted.entry(code).or_default() += log.exp() * area / 16.0;
        }
    }
    assert_eq!(countries[0].code, Some("JP"));
    for one in &countries {
        let wanted = wanted.get(one.code.unwrap()).copied().unwrap_or(0.0);
        assert!((one.probability - wanted).abs() < 0.005, "{}: {} for {wanted}", one.name, one.probability);
    }
    // Regions and radii are of the same density.
    let region = density.region(0.5);
    let held: f64 =
        density.point_log_density().iter().filter(|value| **value >= region.log_density).map(|v| v.exp()).sum();
    assert!((held * density.pixel_area_sr() - 0.5).abs() < 0.02);
    assert!(region.area_km2 < 0.7 * plain.region(0.5).area_km2);
    let answer = reader.answer(output, None, &ReadOptions::default()).unwrap();
    assert!(Cells::bundled().at(answer.best).is_some() && answer.to_json()["factors"][1]["factor"] == "towns");
    assert!((density.mass_within_km(answer.best, answer.radius_90_km) - 0.9).abs() < 0.02);
    let without = reader.answer(output.without_factors(), None, &ReadOptions::default()).unwrap();
    assert!(without.to_json().get("factors").is_none());
}

/// A restriction is a condition: inside the region the density keeps its shape.
#[test]
fn a_region_keeps_the_shape_of_the_density() {
    let (reader, evidence) = city_in_japan();
    let output = reader.calibration().model_output(&evidence, [&[0.0_f32][..]]);
    let whole = reader.density(output, None).unwrap();
    for (name, inside) in
        [("Japan", [at(35.69, 139.75), at(43.06, 141.35)]), ("Singapore", [at(1.35, 103.8), at(1.38, 103.75)])]
    {
        let known = Arc::new(Knowledge::new().within(Region::parse(name).unwrap()));
        let within = reader.density(output, Some(known)).unwrap();
        let points = inside.map(LatLon::to_unit);
        let (a, b) = (within.log_density(&points), whole.log_density(&points));
        assert!(((a[0] - b[0]) - (a[1] - b[1])).abs() < 1e-9 && a[0] >= b[0], "{name}: {a:?} {b:?}");
        let total: f64 = within.on_healpix().1.iter().sum::<f64>() * 4.0 * PI / 786_432.0;
        assert!((total - 1.0).abs() < 1e-9, "{name}: {total}");
    }
    // If a region has no cell where photos are taken, the plain density answers.
    let sea = Arc::new(Knowledge::new().within(Region::parse("-40,-30,-30,-14").unwrap()));
    let answer = reader.answer(output, Some(sea), &ReadOptions::default()).unwrap();
    assert!((-40.0..=-30.0).contains(&answer.best.lat_deg()) && answer.to_json().get("factors").is_none());
}
