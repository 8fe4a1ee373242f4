//! Why here: what each factor of a density did to the best location and to the probabilities of countries.

use crate::answer::mixture::{Mixture, logs_of};
use crate::answer::window::{Masses, Window};
use crate::answer::{Density, FactorEffect};
use locdiff_base::{kilometres, one_line};
use locdiff_map::places::{Countries, Country, describe};
use locdiff_shdd::sphere::{LatLon, UnitVec, haversine_km};
use rayon::prelude::*;
use serde::Serialize;
use std::{collections::BTreeMap, f64::consts::PI, fmt};

/// So many countries are told.
const MOST_COUNTRIES: usize = 5;
/// A country with less probability, with and without the factor, is not told.
const LEAST: f64 = 0.005;
/// A gallery with a larger share leaves no picture to compare with.
const ALL_GALLERY: f64 = 1.0 - 1e-6;

/// Effect of one factor. The `nats` of all rows add up to the log density at the best location, relative to a uniform
/// density. The changes of a country's probability add up to that probability.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LedgerRow {
    /// "picture", "gallery", "land", "towns", "coast", "climate", "region", "prior", or the kind of evidence.
    pub factor: &'static str,
    /// What the factor says, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub says: String,
    /// The change of log density at the best location, in nats (natural logarithm).
    pub nats: f64,
    /// The change of the probability of the likeliest countries, by code, from the rows above it to this one.
    pub countries: BTreeMap<&'static str, f64>,
    /// The answer without this factor alone. `None` for "land", which every answer has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without: Option<AnswerWithout>,
}

/// The answer that a density would give without one of its factors.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerWithout {
    /// The best location.
    #[serde(flatten)]
    pub at: LatLon,
    /// That location in words.
    pub place: String,
    /// The likeliest country and its probability.
    pub country: &'static str,
    /// See [`AnswerWithout::country`].
    pub probability: f64,
    /// The distance from the best location with all factors.
    pub moved_km: f64,
}

impl fmt::Display for LedgerRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:+6.2}  {}", self.nats, self.factor)?;
        if !self.says.is_empty() {
            let says = one_line(&self.says);
            let repeated = says.strip_prefix(self.factor).and_then(|rest| rest.strip_prefix(": "));
            write!(f, ": {}", repeated.unwrap_or(&says))?;
        }
        if let Some(AnswerWithout { place, country, probability, moved_km, .. }) = &self.without {
            let far = kilometres(*moved_km);
            let country = Countries::bundled().by_code(country).map_or(*country, Country::name);
            write!(f, "; without it {place}, {far} km away ({country} {:.0} %)", 100.0 * probability)?;
        }
        Ok(())
    }
}

/// A factor: its name, what it says, its effect at the best location, its logs at the density's points.
struct Column(&'static str, String, f64, Vec<f64>);

impl Density {
    /// What each factor of the density did. `best` is the location that it was read for, with a window of this radius.
    pub fn ledger(&self, best: LatLon, window_km: f64) -> Vec<LedgerRow> {
        let (whole, numbers) = (self.point_log_density(), self.support().country_numbers());
        let likeliest = top_countries(&by_country(&numbers, self.masses()));
        let (mut sum, mut before) = (vec![0.0; whole.len()], vec![0.0; 256]);
        let mut rows = Vec::new();
        for Column(factor, says, nats, logs) in self.columns(best) {
            sum.iter_mut().zip(&logs).for_each(|(sum, log)| *sum += log);
            let masses = self.support().masses(&sum);
            // The picture's own density is one of the whole globe, of which the points may be a part.
            let total = if rows.is_empty() { 1.0 } else { masses.iter().sum::<f64>() };
            let held: Vec<f64> = by_country(&numbers, &masses).iter().map(|mass| mass / total).collect();
            let change = |country: &usize| (code(*country), held[*country] - before[*country]);
            let countries = likeliest.iter().map(change).collect();
            let without = if factor == "land" {
                None
            } else if factor.contains("region") || factor == "prior" {
                let free = self.without_knowledge();
                free.read(free.point_log_density(), (best, window_km), &free.support().country_numbers())
            } else {
                let rest: Vec<f64> = whole.iter().zip(&logs).map(|(all, own)| all - own).collect();
                self.read(&rest, (best, window_km), &numbers)
            };
            rows.push(LedgerRow { factor, says, nats, countries, without });
            before = held;
        }
        rows
    }

    /// The factors in the order in which they are multiplied.
    fn columns(&self, best: LatLon) -> Vec<Column> {
        let (here, points) = (best.to_unit(), self.points());
        let (mixture, known) = (&self.mixture, self.knowledge.as_ref());
        let active = self.factors.as_ref().map_or(0.0, |factors| factors.log_active());
        let before_evidence = self.log_total - self.evidence.iter().map(|(_, total)| total).sum::<f64>();
        // What knowledge adds to the integral, or else the error of the sum over points.
        let added = before_evidence - active;
        let unit = (4.0 * PI).ln() - if known.is_none() { added } else { 0.0 };
        let (with, at_points) = (mixture.log_at(&[here])[0], self.mixture_logs(mixture));
        let share = mixture.gallery.as_ref().map_or(0.0, |(_, log_share)| log_share.exp());
        let mut all = Vec::new();
        if share > 0.0 && share < ALL_GALLERY {
            let plain = Mixture { gallery: None, ..mixture.clone() };
            let rest = (1.0 - share).ln();
            let own = plain.log_at(&[here])[0] - rest;
            let logs: Vec<f64> = self.mixture_logs(&plain).into_iter().map(|log| log - rest).collect();
            let gain = at_points.iter().zip(&logs).map(|(with, own)| with - own).collect();
            all.push(Column("picture", String::new(), own + unit, logs));
            all.push(Column("gallery", format!("{:.0} % of the density", 100.0 * share), with - own, gain));
        } else {
            all.push(Column("picture", String::new(), with + unit, at_points));
        }
        let effects = self.factor_effects(best);
        let (of_map, of_evidence) = effects.split_at(effects.len() - self.evidence.len());
        if let Some((factors, grid)) = self.on_cells() {
            let logs = |at: &UnitVec| factors.logs(grid.joint_at(at.to_latlon()));
            let by_point: Vec<[f64; 4]> = points.par_iter().map(logs).collect();
            for (k, name) in ["land", "towns", "coast", "climate"].into_iter().enumerate() {
                let effect = of_map.get(k);
                let says = effect.and_then(FactorEffect::words).unwrap_or_default();
                let nats = effect.map_or(0.0, |effect| effect.nats);
                all.push(Column(name, says, nats, by_point.iter().map(|logs| logs[k]).collect()));
            }
        }
        if let Some(known) = known {
            let logs = points.par_iter().map(|at| known.log_weight(*at)).collect();
            let (factor, says) = known.words();
            all.push(Column(factor, says, known.log_weight(here) - added, logs));
        }
        for (effect, evidence) in of_evidence.iter().zip(self.evidence()) {
            let logs = self.support().log_likelihoods(evidence);
            all.push(Column(effect.factor, evidence.says.clone(), effect.nats, logs));
        }
        all
    }

    /// The log densities of a mixture at the points.
    fn mixture_logs(&self, mixture: &Mixture) -> Vec<f64> {
        let logs = match self.on_cells().filter(|(_, grid)| self.is_on(grid)) {
            Some((_, grid)) => grid.spread(&logs_of(&mixture.smooth_densities(grid))).collect(),
            None => mixture.log_densities(self.uncut()),
        };
        self.uncut().spread(&logs, self.support())
    }

    /// The answer for other log densities at its points, up to a constant.
    fn read(&self, logs: &[f64], (best, window_km): (LatLon, f64), numbers: &[u8]) -> Option<AnswerWithout> {
        let total = self.support().log_integral(logs);
        let masses = self.support().masses(&logs.iter().map(|log| log - total).collect::<Vec<_>>());
        let is_possible = |at: UnitVec| self.knowledge.as_ref().is_none_or(|k| k.log_weight(at) > f64::NEG_INFINITY);
        let given = Masses { support: self.support(), of_pixels: masses[..].into(), lumps: None };
        let found = Window::new(window_km).places(given, (None, 1), &is_possible);
        let at = found.first()?.place.to_latlon();
        let held = by_country(numbers, &masses);
        let top = *top_countries(&held).first()?;
        let (place, moved_km) = (describe(at).to_string(), haversine_km(best, at));
        Some(AnswerWithout { at, place, country: code(top), probability: held[top], moved_km })
    }
}

/// The sums of masses by the countries' numbers.
fn by_country(numbers: &[u8], masses: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; 256];
    numbers.iter().zip(masses).for_each(|(number, mass)| sums[usize::from(*number)] += mass);
    sums
}

/// The numbers of the likeliest countries.
fn top_countries(held: &[f64]) -> Vec<usize> {
    let mut all: Vec<usize> = (0..Countries::bundled().all().len()).filter(|k| held[*k] >= LEAST).collect();
    all.sort_by(|a, b| held[*b].total_cmp(&held[*a]));
    all.truncate(MOST_COUNTRIES);
    all
}

/// A country's code, or its name if it has none.
fn code(number: usize) -> &'static str {
    let country = &Countries::bundled().all()[number];
    if country.code().is_empty() { country.name() } else { country.code() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Calibration, Globe, Knowledge, Reader, Surroundings};
    use locdiff_map::{clues::Clue, evidence::Evidence, places::Region};
    use locdiff_shdd::Coefficients;
    use std::sync::Arc;

    /// The rows add up to the whole: with and without map factors, a region, a prior and clues.
    #[test]
    fn rows_add_up() {
        let globe = Arc::new(Globe::new(23).unwrap());
        let at = |lat, lon| LatLon::new(lat, lon).unwrap();
        let code = globe.codec().encode(at(48.5, 7.0));
        let picture = Coefficients::new(code.as_slice().iter().map(|value| 0.1 * value).collect()).unwrap();
        let mut weights = vec![0.0; 2 * Surroundings::classes()];
        weights[Surroundings::classes() + 7] = 3.0; // a large city
        let heads = Surroundings::new(1, weights).unwrap();
        let plain = Calibration::none(Coefficients::new(vec![0.0; 576]).unwrap());
        let calibration = Calibration { surroundings: Some(Arc::new(heads)), ..plain };
        let reader = Reader::new(globe, calibration).unwrap();
        let output = reader.calibration().model_output(&picture, [&[0.0_f32][..]]);
        let clue = |text: &str| Clue::parse(text, None).unwrap().evidence()[0].clone();
        let clues: Vec<Evidence> = ["drives=left", "near=Lyon 100km", "coast!=yes"].map(clue).into();
        let region = || Knowledge::new().within(Region::parse("Europe").unwrap());
        let knowledge = |k: usize| match k {
            0 => None,
            1 => Some(Arc::new(region())),
            _ => Some(Arc::new(region().places(vec![(at(50.0, 8.0), 1.0)], 900.0))),
        };
        for (output, rows_of_map) in [(output, 4), (output.without_factors(), 0)] {
            for (k, evidence) in [(0, &clues[..0]), (0, &clues[..]), (1, &clues[..]), (2, &clues[..1])] {
                let density = reader.density(output.with_evidence(evidence), knowledge(k)).unwrap();
                let best = density.peaks(300.0, 1)[0].place;
                let rows = density.ledger(best, 300.0);
                assert_eq!(rows.len(), 1 + rows_of_map + usize::from(k > 0) + evidence.len());
                let whole = density.log_density(&[best.to_unit()])[0] + (4.0 * PI).ln();
                let sum: f64 = rows.iter().map(|row| row.nats).sum();
                assert!((sum - whole).abs() < 1e-6, "{k}: {sum} for {whole}");
                let held = by_country(&density.support().country_numbers(), density.masses());
                for country in top_countries(&held) {
                    let sum: f64 = rows.iter().map(|row| row.countries[super::code(country)]).sum();
                    assert!((sum - held[country]).abs() < 1e-6, "{}: {sum}", super::code(country));
                }
                for row in
                    rows.iter().skip(1 + rows_of_map).filter(|row| evidence.iter().any(|own| own.kind == row.factor))
                {
                    // Without a clue the answer is that of the other clues.
                    let others: Vec<Evidence> = evidence.iter().filter(|own| own.kind != row.factor).cloned().collect();
                    let other = reader.density(output.with_evidence(&others), knowledge(k)).unwrap();
                    let wanted = other.peaks(300.0, 1)[0].place;
                    let found = row.without.as_ref().unwrap();
                    assert!(haversine_km(found.at, wanted) < 5.0, "{}: {} for {wanted}", row.factor, found.at);
                }
                let json = serde_json::to_value(&rows).unwrap();
                assert!(json[0]["factor"] == "picture" && json[0]["without"]["place"].is_string(), "{json}");
            }
        }
    }
}
