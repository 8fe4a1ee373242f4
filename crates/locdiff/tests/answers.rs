//! Answers agree with their densities, and with each other, whatever else is asked.

use locdiff::{EmbeddedPhoto, Embedding, Knowledge, LatLon, LocateOptions, Locator, Pooling, Source};
use locdiff_io::data::Fingerprint;
use locdiff_model::{Model, ModelConfig};
use locdiff_nn::Device;
use locdiff_shdd::sphere::haversine_km;
use std::sync::Arc;

fn toy(config: ModelConfig) -> Locator {
    Locator::new(Model::new(&Device::cpu(), config).unwrap(), None, None).unwrap()
}

fn config() -> ModelConfig {
    ModelConfig { width: 16, ..ModelConfig::new(7, 5) }
}

fn embedding(values: [f32; 5]) -> Embedding {
    Embedding::new(values.to_vec(), None).unwrap()
}

fn options() -> LocateOptions {
    LocateOptions::new().samples(4)
}

#[test]
fn answers_agree_with_their_densities() {
    let locator = toy(config());
    let photo = embedding([0.5, -1.0, 2.0, 0.0, 1.0]);
    let answer = locator.answer(&photo.clone().into(), &options()).unwrap();
    let from = answer.from_density.as_ref().unwrap();
    let density = &from.density;
    for (radius_km, share) in [(answer.radius_50_km, 0.5), (answer.radius_90_km, 0.9)] {
        let inside = density.mass_within_km(answer.best, radius_km);
        assert!((inside - share).abs() < 0.02, "{radius_km}: {inside}");
    }
    assert!(from.area_50_km2 < from.area_90_km2 && from.area_90_km2 < 5.2e8);
    let total: f64 = answer.hypotheses.iter().map(|h| h.probability).sum();
    assert!(answer.hypotheses[0].at == answer.best && total <= 1.0 + 1e-9, "{answer:?}");
    assert_eq!(answer.hypotheses[0].place, answer.place);
    // The region's rim has the density that the region says, and what is denser holds its probability.
    let region = density.region(0.5);
    let denser = density.point_log_density().iter().filter(|v| **v >= region.log_density);
    let held: f64 = denser.map(|v| v.exp()).sum::<f64>() * density.globe().pixels().area_sr();
    assert!((held - 0.5).abs() < 0.01, "{held}");
    assert!((answer.locatability - density.mass_within_km(answer.best, 750.0)).abs() < 1e-12);
    assert!(from.information_nats >= 0.0);

    // Knowledge moves all of the probability; impossible knowledge is an error.
    let south = |weight: f64| {
        let known = Knowledge::new().weight(move |p| if p.lat_deg() < -30.0 { weight } else { 0.0 });
        options().knowledge(known)
    };
    let answer = locator.answer(&photo.clone().into(), &south(3.0)).unwrap();
    assert!(answer.best.lat_deg() < -30.0);
    let north = LatLon::new(45.0, 0.0).unwrap();
    assert_eq!(answer.density().unwrap().log_density(&[north.to_unit()])[0], f64::NEG_INFINITY);
    let error = locator.answer(&photo.clone().into(), &south(0.0)).unwrap_err();
    assert!(error.to_string().contains("no location is left"), "{error}");
    let error = locator.answer(&photo.clone().into(), &options().views(5)).unwrap_err();
    assert!(error.to_string().contains("views = 5"), "{error}");
}

/// Samples are of the calibrated density: where the calibration trusts the model with nothing and knows a place, they are there.
#[test]
fn samples_are_of_the_calibrated_density() {
    let at = LatLon::new(40.0, 116.0).unwrap();
    let plain = toy(config());
    let photo: EmbeddedPhoto = embedding([0.5, -1.0, 2.0, 0.0, 1.0]).into();
    let sampled = |locator: &Locator| {
        let mut options = options();
        options.pool = Some(Pooling::Mean);
        haversine_km(locator.answer(&photo, &options).unwrap().best, at)
    };
    let peak = plain.predictor().codec().encode(at);
    let mut calibration = plain.reader().calibration().clone();
    calibration.background = peak.combine(20.0, &peak, 0.0).unwrap();
    (calibration.factors.evidence, calibration.factors.background_weight) = (0.0, 1.0);
    let calibrated = Locator::new(Model::new(&Device::cpu(), config()).unwrap(), Some(calibration), None).unwrap();
    let (near, far) = (sampled(&calibrated), sampled(&plain));
    assert!(near < 1500.0 && far > 2.0 * near, "{near} km, by the model alone {far} km");
}

/// One knowledge is good for models of several degrees, and for one after the other.
#[test]
fn knowledge_serves_every_model() {
    let north = Arc::new(Knowledge::new().weight(|p| if p.lat_deg() > 20.0 { 1.0 } else { 0.0 }));
    let known = options().knowledge(north);
    for degree in [7, 15, 7] {
        let locator = toy(ModelConfig { width: 16, ..ModelConfig::new(degree, 5) });
        let answer = locator.answer(&embedding([0.1, 0.2, 0.3, 0.4, 0.5]).into(), &known).unwrap();
        let pixels = answer.density().unwrap().globe().pixels();
        let total: f64 = answer.density().unwrap().point_log_density().iter().map(|v| v.exp()).sum::<f64>();
        assert!((total * pixels.area_sr() - 1.0).abs() < 1e-9);
        for (value, point) in answer.density().unwrap().point_log_density().iter().zip(pixels.points()) {
            assert_eq!(*value > f64::NEG_INFINITY, point.to_latlon().lat_deg() > 20.0, "degree {degree}");
        }
    }
}

/// A calibration that scales nothing and adds nothing gives the network's own density, but for the floor.
#[test]
fn the_floor_is_the_least_density_anywhere() {
    let locator = toy(config());
    let answer = locator.answer(&embedding([3.0, -4.0, 2.0, 9.0, 1.0]).into(), &options()).unwrap();
    let density = answer.density().unwrap();
    let least = density.point_log_density().iter().copied().fold(f64::INFINITY, f64::min);
    let floor = (locator.reader().calibration().factors.floor / (4.0 * std::f64::consts::PI)).ln();
    assert!(least >= floor - 1e-9, "{least} {floor}");
}

#[test]
fn a_bad_photo_among_many_fails_alone() {
    let locator = toy(config());
    let photos = |values: &[[f32; 5]]| -> Vec<EmbeddedPhoto> {
        values.iter().map(|values| EmbeddedPhoto::from(embedding(*values))).collect()
    };
    let good = photos(&[[0.5, -1.0, 2.0, 0.0, 1.0], [1.0; 5], [-1.0, 0.5, 0.0, 0.2, 0.1]]);
    let answers = |photos: Vec<Source>| -> Vec<_> {
        locator.locate_all(photos, &options()).unwrap().map(|photo| photo.answer).collect()
    };
    let mut all: Vec<Source> = good.iter().cloned().map(Source::embedded).collect();
    // Numbers so large that the network overflows.
    all.insert(1, photos(&[[3e38; 5]]).remove(0).into());
    all.insert(2, Source::bytes(Some("b.jpg"), b"no photo"));
    let found = answers(all);
    assert_eq!(found.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, false, true, true]);
    let alone = locator.answer(&good[2], &options()).unwrap();
    assert_eq!(alone.to_json(), found[4].as_ref().unwrap().to_json());
    // What is no photo's fault is the last item.
    let another = EmbeddedPhoto::from(Embedding::new(vec![1.0; 4], None).unwrap());
    let found = answers(vec![good[0].clone().into(), another.into(), good[1].clone().into()]);
    let [Err(error)] = &found[..] else { panic!("{found:?}") };
    assert!(!error.is_about_photo(), "{error}");
}

#[test]
fn embeddings_of_another_encoder_are_refused_with_both_names() {
    let mine = Fingerprint::new("mine", 1);
    let locator = toy(ModelConfig { encoder: Some(mine.clone()), ..config() });
    let of = |encoder: Option<Fingerprint>| {
        let photo = Embedding::new(vec![0.5; 5], encoder.map(Arc::new)).unwrap();
        locator.answer(&photo.clone().into(), &options())
    };
    assert!(of(None).is_ok() && of(Some(mine)).is_ok());
    assert!(of(Some(Fingerprint::new("the same under another name", 1))).is_ok());
    let error = of(Some(Fingerprint::new("yours", 2))).unwrap_err().to_string();
    assert!(error.contains("mine@") && error.contains("yours@"), "{error}");
}
