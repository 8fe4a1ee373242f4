//! Whether answers are in the right country, and whether probabilities of countries hold.

use crate::eval::{Bootstrap, Estimate, ReliabilityCurve, ReliabilityPoint};
use locdiff_map::{cells::Cells, places::Countries, places::Country, places::continent};
use locdiff_shdd::sphere::LatLon;
use rayon::prelude::*;
use serde::Serialize;

/// No country is less probable than this.
const LEAST: f64 = 1e-6;

/// The country whose outline holds a location. Near a shore, the nearest country within 50 km.
pub fn country_at(location: LatLon) -> Option<&'static Country> {
    let cells = Cells::bundled();
    Countries::bundled().at(location).or_else(|| cells.country(cells.at(location)?))
}

/// The code of the country at a location, or the name of an area without one.
fn country_key(location: LatLon) -> Option<&'static str> {
    country_at(location).map(|country| if country.code().is_empty() { country.name() } else { country.code() })
}

/// The same of a state or province.
fn state_key(location: LatLon) -> Option<&'static str> {
    let cells = Cells::bundled();
    let (name, code) = Cells::state_name(cells.state_numbers()[cells.at(location)?])?;
    Some(if code.is_empty() { name } else { code })
}

/// A share of the photos for which something is known of the truth.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub(crate) struct KnownShare {
    /// Number of those photos.
    pub(crate) n: usize,
    pub(crate) share: Estimate,
}

impl KnownShare {
    /// The mean of values; `None` if nothing is known of the truth.
    fn of(values: &[Option<f64>], bootstrap: &Bootstrap) -> Self {
        let (photos, known): (Vec<usize>, Vec<f64>) =
            values.iter().enumerate().filter_map(|(photo, value)| Some((photo, (*value)?))).unzip();
        Self { n: known.len(), share: bootstrap.select(&photos).mean(&known) }
    }
}

/// Answers by country, state or province, and continent: accuracies of the places, as OSV-5M reports them, and how
/// good the probabilities of countries are.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct CountryScores {
    /// The share of answers in the right country.
    pub(crate) country: KnownShare,
    /// In the right state or province. States are those of the map's cells, 25 km wide.
    pub(crate) state: KnownShare,
    /// On the right continent.
    pub(crate) continent: KnownShare,
    /// Of the probabilities of countries, if the answers have any.
    pub(crate) probabilities: Option<CountryProbabilities>,
}

impl CountryScores {
    /// Of answers, and of the probabilities that each gives countries by their codes.
    pub(crate) fn new(
        truths: &[LatLon],
        answers: &[Option<LatLon>],
        said: &[Vec<(String, f64)>],
        bootstrap: &Bootstrap,
    ) -> Self {
        let keys: [fn(LatLon) -> Option<&'static str>; 3] = [country_key, state_key, continent];
        let [country, state, continent] = keys.map(|key| {
            let is_same = |(truth, answer): (&LatLon, &Option<LatLon>)| {
                let truth = key(*truth)?;
                Some(f64::from(u8::from(answer.and_then(key) == Some(truth))))
            };
            KnownShare::of(&truths.par_iter().zip(answers).map(is_same).collect::<Vec<_>>(), bootstrap)
        });
        let keys: Vec<Option<&str>> = truths.iter().map(|truth| country_key(*truth)).collect();
        Self { country, state, continent, probabilities: CountryProbabilities::new(&keys, said, bootstrap) }
    }
}

/// How good probabilities of countries are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct CountryProbabilities {
    /// The share of photos whose most probable country is the right one.
    pub(crate) most_probable: KnownShare,
    /// The mean −log of the true country's probability, in nats. Countries that are not listed share the rest evenly.
    pub(crate) log_loss_nats: Estimate,
    /// The share of countries that are the true ones, by tenths of their probability. What is promised is the mean of a
    /// tenth, and n the number of countries of all photos.
    pub(crate) reliability: ReliabilityCurve,
}

impl CountryProbabilities {
    /// `None` if nothing was said about any photo whose country is known.
    fn new(truths: &[Option<&str>], said: &[Vec<(String, f64)>], bootstrap: &Bootstrap) -> Option<Self> {
        let known: Vec<Option<_>> =
            truths.iter().zip(said).map(|(truth, said)| Some(((*truth)?, said)).filter(|_| !said.is_empty())).collect();
        let is_right = |truth: &str, (code, _): &(String, f64)| code == truth;
        let first = known.iter().map(|one| one.map(|(truth, said)| f64::from(u8::from(is_right(truth, &said[0])))));
        let most_probable = KnownShare::of(&first.collect::<Vec<_>>(), bootstrap);
        if most_probable.n == 0 {
            return None;
        }
        let losses = known.iter().map(|one| {
            let (truth, said) = (*one)?;
            let rest = 1.0 - said.iter().map(|(_, p)| p).sum::<f64>();
            let others = Countries::bundled().all().len().saturating_sub(said.len()).max(1);
            let listed = said.iter().find(|one| is_right(truth, one)).map(|(_, p)| *p);
            Some(-listed.unwrap_or(rest / others as f64).max(LEAST).ln())
        });
        let log_loss_nats = KnownShare::of(&losses.collect::<Vec<_>>(), bootstrap).share;
        let mut tenths = [(0.0, 0, 0); 10];
        for (truth, said) in known.iter().flatten() {
            for one in *said {
                let (sum, hits, n) = &mut tenths[((10.0 * one.1) as usize).min(9)];
                (*sum, *hits, *n) = (*sum + one.1, *hits + usize::from(is_right(truth, one)), *n + 1);
            }
        }
        let said = tenths.into_iter().filter(|(.., n)| *n > 0);
        let curve = said.map(|(sum, hits, n)| ReliabilityPoint::new(sum / n as f64, hits, n)).collect();
        Some(Self { most_probable, log_loss_nats, reliability: ReliabilityCurve::of_curve(curve) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracies_and_probabilities_are_those_by_hand() {
        let at = |(lat, lon)| LatLon::new(lat, lon).unwrap();
        // Munich, Nuremberg, Lyon, the open sea; said: Berlin, Munich, nothing, Lyon.
        let truths = [(48.14, 11.58), (49.45, 11.08), (45.76, 4.84), (30.0, -40.0)].map(at);
        let answers = [Some((52.52, 13.4)), Some((48.14, 11.58)), None, Some((45.76, 4.84))].map(|one| one.map(at));
        let said = ["DE:0.75|FR:0.15", "FR:0.5|DE:0.25", "DE:0.85|CH:0.05", "DE:0.9"].map(|text| {
            let share = |one: &str| one.split_once(':').map(|(code, p)| (code.to_owned(), p.parse().unwrap())).unwrap();
            text.split('|').map(share).collect::<Vec<(String, f64)>>()
        });
        let found = CountryScores::new(&truths, &answers, &said, &Bootstrap::default());
        let value = |one: KnownShare| (one.n, (300.0 * one.share.value).round());
        assert_eq!((value(found.country), value(found.state)), ((3, 200.0), (3, 100.0)));
        assert_eq!(found.continent.n, 4);
        let said = found.probabilities.unwrap();
        assert_eq!(value(said.most_probable), (3, 100.0));
        let others = Countries::bundled().all().len() - 2;
        let loss = -(0.75_f64.ln() + 0.25_f64.ln() + (0.1 / others as f64).ln()) / 3.0;
        assert!((said.log_loss_nats.value - loss).abs() < 1e-9, "{said:?}");
        let tenths = said.reliability.curve.iter().map(|one| (one.promised, one.observed, one.n));
        let expected = [(0.05, 0.0, 1), (0.15, 0.0, 1), (0.25, 1.0, 1), (0.5, 0.0, 1), (0.75, 1.0, 1), (0.85, 0.0, 1)];
        assert!(tenths.eq(expected), "{said:?}");
    }
}
