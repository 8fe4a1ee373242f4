//! Cases made on purpose, with known truth: what sampling can and cannot add to a single evaluation.

use crate::{Effort, Examples, FitData, locdiff::LocDiff, toy};
use locdiff_io::data::Embedding;
use locdiff_model::{Query, Reading, SampleOptions, answer::Globe, chance};
use locdiff_nn::Device;
use locdiff_shdd::{Coefficients, sphere::LatLon, sphere::UnitVec, sphere::spherical_mean};
use std::f64::consts::TAU;

/// Degree of the models.
const DEGREE: usize = 5;

/// The paper's network with nll, small; codes are not blurred.
fn fitted(steps: u32, training: &Examples, validation: &Examples) -> LocDiff {
    let effort = Effort { locdiff_degree: DEGREE, steps, batch: 128, samples: 16, validations: 1, ..Effort::tiny() };
    let mut run = LocDiff::cs_unet_config(&effort, 1);
    (run.model.low_pass_km, run.model.width, run.model.hidden) = (None, 32, Some(64));
    (run.model.dropout, run.train.embedding_noise) = (0.0, 0.0);
    LocDiff::fit(&Device::cpu(), &effort, run, FitData { training, validation }, &mut |_| ()).unwrap()
}

/// −log of the equal mixture of densities `exp(e·Y)` at points, nats per steradian, the mean.
fn nll(model: &LocDiff, globe: &Globe, mixture: &[Coefficients], points: &[UnitVec]) -> f64 {
    let (pixels, mut sum) = (globe.pixels(), vec![0.0; points.len()]);
    for code in mixture {
        let field = model.codec().field(code).unwrap();
        let values = pixels.values(&field);
        let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let integral = values.iter().map(|value| (value - top).exp()).sum::<f64>() * pixels.area_sr();
        let at = field.values(points);
        sum.iter_mut().zip(at).for_each(|(sum, value)| *sum += (value - top).exp() / integral);
    }
    -sum.iter().map(|sum| (sum / mixture.len() as f64).ln()).sum::<f64>() / points.len() as f64
}

fn vmf_density(centre: UnitVec, kappa: f64, point: UnitVec) -> f64 {
    kappa / (TAU * (1.0 - (-2.0 * kappa).exp())) * (kappa * (centre.dot(point) - 1.0)).exp()
}

/// Two peaks, 70 % of the places about the first: what the density is, is known. One evaluation knows it as well as a thousand chains
/// do, 16 chains know it less, and the paper's mean of sampled places lies about neither peak.
#[test]
fn of_two_known_peaks_a_single_evaluation_knows_as_much_as_all_chains() {
    const SHARE: f64 = 0.7;
    let (training, validation, test) =
        (toy::mixture(4000, SHARE, 1), toy::mixture(64, SHARE, 2), toy::mixture(1000, SHARE, 3));
    let model = fitted(700, &training, &validation);
    let globe = Globe::new(DEGREE).unwrap();
    let centres = toy::mixture_centres();
    let density = |point: &UnitVec| {
        let of = |k: usize| vmf_density(centres[k], toy::KAPPAS[k], *point);
        SHARE * of(0) + (1.0 - SHARE) * of(1)
    };
    let truth = -test.points().iter().map(|point| density(point).ln()).sum::<f64>() / test.len() as f64;
    let photo = &test.photos()[..test.columns()];
    let single = nll(&model, &globe, &model.evidence(photo, 0.0).unwrap(), test.points());
    let chains = model.posteriors(photo, (512, 20, 0.5)).unwrap().remove(0);
    let of_all = nll(&model, &globe, &chains, test.points());
    let of_16: f64 =
        chains.chunks_exact(16).take(8).map(|own| nll(&model, &globe, own, test.points())).sum::<f64>() / 8.0;
    println!(
        "two peaks, L = 5: truth {truth:.3}, single evaluation {single:.3}, 512 chains {of_all:.3}, 16 chains {of_16:.3} nats"
    );
    assert!((truth - 0.05..truth + 0.12).contains(&single), "{truth} {single}");
    assert!(of_all < truth + 0.15 && of_16 > of_all + 0.02, "{truth} {of_all} {of_16}");
    let photo = Embedding::new(photo.to_vec(), None).unwrap();
    let options = SampleOptions { samples: 64, ..SampleOptions::default() };
    let reading = Reading { every_sample: true, ..Reading::default() };
    let found = model.predictor().predict(&[(&photo).into()], &options, reading).unwrap().remove(0).samples;
    let points: Vec<UnitVec> = found.iter().map(|place| place.to_unit()).collect();
    let near = |point: &UnitVec, k: usize, radius_rad: f64| point.angle_rad(centres[k]) < radius_rad;
    let first = points.iter().filter(|point| near(point, 0, 0.6)).count() as f64 / 64.0;
    let at_a_peak = |point: &UnitVec, radius_rad: f64| near(point, 0, radius_rad) || near(point, 1, radius_rad);
    assert!((first - SHARE).abs() < 0.18 && points.iter().all(|point| at_a_peak(point, 0.6)), "{first}");
    // 15 % of the first peak's places are as far from it.
    assert!(!at_a_peak(&spherical_mean(&points).unwrap(), 0.25), "the mean of places is at a peak");
}

/// Three towns; a photo of the first kind is of A or B, one of the second kind of B or C.
fn towns() -> [UnitVec; 3] {
    [(50.0, 0.0), (-10.0, 60.0), (10.0, -90.0)].map(|(lat, lon)| LatLon::new(lat, lon).unwrap().to_unit())
}

const TOWN_KAPPA: f64 = 40.0;
const KINDS: [[f32; 2]; 2] = [[1.0, -1.0], [-1.0, 1.0]];

fn photos_of_towns(count: usize, seed: u64) -> Examples {
    let (mut points, mut embeddings) = (Vec::new(), Vec::new());
    for k in 0..count as u64 {
        let town = chance::below(&[seed, 21, k], 3);
        let kind = if town == 1 { chance::below(&[seed, 22, k], 2) } else { town / 2 };
        points.push(toy::vmf(towns()[town], TOWN_KAPPA, [seed, 23, k]));
        embeddings.extend(KINDS[kind]);
    }
    Examples::new(2, &[embeddings], points).unwrap()
}

/// A photo of A or B and one of B or C, of one place: B, by Bayes' rule. The sum of what both say, less what is known without a photo, is
/// that posterior without a sample. Samples of one photo tilted by the other's evidence are of it, too; samples spread over both photos,
/// as the paper's Algorithm 2 spreads them over views, are of the mean of two posteriors, of which B has a third.
#[test]
fn two_photos_of_one_place_have_the_sum_of_their_evidence_with_samples_and_without() {
    let (training, validation) = (photos_of_towns(4000, 1), photos_of_towns(64, 2));
    let model = fitted(700, &training, &validation);
    let globe = Globe::new(DEGREE).unwrap();
    let points: Vec<UnitVec> = (0..1000).map(|k| toy::vmf(towns()[1], TOWN_KAPPA, [3, 24, k])).collect();
    let density = |point: &UnitVec| vmf_density(towns()[1], TOWN_KAPPA, *point);
    let truth = -points.iter().map(|point| density(point).ln()).sum::<f64>() / points.len() as f64;
    let said = model.evidence(&KINDS.concat(), 0.0).unwrap();
    let nothing = model.predictor().background(16).unwrap();
    let single = nll(&model, &globe, &said[..1], &points);
    let other = said[1].combine(1.0, &nothing, -1.0).unwrap();
    let jointly = nll(&model, &globe, &[said[0].combine(1.0, &other, 1.0).unwrap()], &points);
    let photos = KINDS.map(|kind| Embedding::new(kind.to_vec(), None).unwrap());
    let (options, tilts) = (SampleOptions { samples: 256, ..SampleOptions::default() }, [other]);
    let chains = |query: Query<'_>| model.predictor().posteriors(&[query], &options, 0.5).unwrap().remove(0);
    let tilted = nll(&model, &globe, &chains(Query::from(&photos[0]).tilted(&tilts)), &points);
    let spread = nll(&model, &globe, &chains(Query::of(&photos)), &points);
    println!(
        "two photos, L = 5: truth {truth:.3}, one photo {single:.3}, the sum of both {jointly:.3}, chains of one tilted by the other \
         {tilted:.3}, chains spread over both {spread:.3} nats"
    );
    assert!(single > truth + 0.8, "{truth} {single}");
    assert!(jointly < truth + 0.4 && tilted < truth + 0.4, "{truth} {jointly} {tilted}");
    assert!(spread > truth + 0.8, "{truth} {spread}");
}
