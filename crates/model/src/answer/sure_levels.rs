//! Radius levels by how sure an answer is.

use serde::{Deserialize, Serialize};

/// How sure a model that gives places scores is of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sureness {
    /// The radius about the answer that the density alone says holds half.
    pub own_km: f64,
    /// The best place's score: how little noise there is.
    pub best_score: f64,
}

/// Radius levels at some radii that densities alone say hold half, rising, and there at some best scores, rising;
/// interpolated in between. None for a model whose levels do not depend on it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SureLevels(Vec<(f64, LevelsByScore)>);

type LevelsByScore = Vec<(f64, [f64; 9])>;

impl SureLevels {
    /// Of photos parted by own radius, and these by best score, `parts` each. A part's `levels` stand at its medians.
    pub(crate) fn of<T: Clone>(
        photos: &[T],
        parts: usize,
        sureness: impl Fn(&T) -> Sureness,
        levels: impl Fn(&[T]) -> [f64; 9],
    ) -> Self {
        let own_km = |photo: &T| sureness(photo).own_km;
        let best_score = |photo: &T| sureness(photo).best_score;
        let by_score = |part: &[T]| parted(part, parts, &best_score).map(|(at, few)| (at, levels(&few))).collect();
        Self(parted(photos, parts, &own_km).map(|(at, part)| (at, by_score(&part))).collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn at(&self, sure: Sureness) -> Option<[f64; 9]> {
        let (low, high, part) = between(&self.0, sure.own_km, f64::ln)?;
        let at_score = |known: &[(f64, [f64; 9])]| {
            let (low, high, part) = between(known, sure.best_score, |score| score)?;
            Some(mixed(low, high, part))
        };
        Some(mixed(&at_score(low)?, &at_score(high)?, part))
    }

    pub(crate) fn fault(&self, levels_fault: impl Fn(&[f64; 9]) -> Option<String>) -> Option<String> {
        let radii = self.0.iter().map(|(own_km, _)| *own_km);
        let mut scores = self.0.iter().map(|(_, by_score)| by_score.iter().map(|(score, _)| *score));
        let is_sound = rise(radii, 0.01, 20_100.0) && scores.all(|scores| scores.len() > 0 && rise(scores, -1.0, 1.0));
        let mut each = self.0.iter().flat_map(|(_, by_score)| by_score);
        let of_each = || each.find_map(|(_, levels)| levels_fault(levels));
        let unsound = || "levels_by_radius are not radii that rise, with scores that rise".to_owned();
        (!is_sound).then(unsound).or_else(of_each)
    }
}

fn rise(values: impl Iterator<Item = f64>, least: f64, most: f64) -> bool {
    let mut last = least;
    values.into_iter().all(|value| (std::mem::replace(&mut last, value)..=most).contains(&value))
}

/// Parts of as many, by a number, each with its median.
fn parted<T: Clone>(all: &[T], parts: usize, by: &impl Fn(&T) -> f64) -> impl Iterator<Item = (f64, Vec<T>)> {
    let mut sorted = all.to_vec();
    sorted.sort_by(|a, b| by(a).total_cmp(&by(b)));
    let size = sorted.len().div_ceil(parts).max(1);
    let part = |part: &[T]| (by(&part[part.len() / 2]), part.to_vec());
    sorted.chunks(size).map(part).collect::<Vec<_>>().into_iter()
}

/// The two that a number lies between, and how far it is from the first to the second on a scale.
fn between<T>(known: &[(f64, T)], at: f64, scale: impl Fn(f64) -> f64) -> Option<(&T, &T, f64)> {
    let (first, last) = (known.first()?, known.last()?);
    let at = at.clamp(first.0, last.0);
    let next = known.partition_point(|(other, _)| *other <= at).clamp(1, known.len().max(2) - 1);
    let (low, high) = (&known[next - 1], known.get(next).unwrap_or(last));
    let part = if high.0 > low.0 { (scale(at) - scale(low.0)) / (scale(high.0) - scale(low.0)) } else { 0.0 };
    Some((&low.1, &high.1, part))
}

fn mixed(low: &[f64; 9], high: &[f64; 9], part: f64) -> [f64; 9] {
    std::array::from_fn(|k| low[k] + part * (high[k] - low[k]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_those_of_the_part_and_between_parts_in_between() {
        // Photos whose level is ten times their radius' logarithm plus their score, in hundredths.
        let photos: Vec<(f64, f64)> =
            (0..900).map(|k| (f64::from(k % 30).exp2(), f64::from(k / 30 * 7 % 30) / 30.0)).collect();
        let sureness = |(own_km, best_score): &(f64, f64)| Sureness { own_km: *own_km, best_score: *best_score };
        let mean = |part: &[(f64, f64)]| {
            let sum: f64 = part.iter().map(|(own_km, score)| own_km.log2() / 100.0 + score / 2.0).sum();
            [sum / part.len() as f64; 9]
        };
        let levels = SureLevels::of(&photos, 5, sureness, mean);
        for (own_km, best_score) in [(2.0_f64.powi(12), 0.5), (2.0_f64.powi(9), 0.31), (2.0_f64.powi(20), 0.7)] {
            let found = levels.at(Sureness { own_km, best_score }).unwrap()[4];
            assert!((found - own_km.log2() / 100.0 - best_score / 2.0).abs() < 0.02, "{own_km} {best_score} {found}");
        }
        let ends = [0.0, 1e9].map(|own_km| levels.at(Sureness { own_km, best_score: 0.5 }).unwrap()[0]);
        assert!(ends[0] < ends[1]);
        assert_eq!(SureLevels::default().at(Sureness::default()), None);
        let one = SureLevels::of(&photos, 1, sureness, mean);
        let [low, high] = [(1.0, 0.0), (1e5, 1.0)].map(|photo| one.at(sureness(&photo)));
        assert_eq!(low, high);
        let fault = |text: &str| serde_json::from_str::<SureLevels>(text).unwrap().fault(|_| None);
        assert_eq!(fault("[]"), None);
        let levels = "[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9]";
        assert_eq!(fault(&format!("[[1,[[0.1,{levels}],[0.2,{levels}]]],[5,[[0.1,{levels}]]]]")), None);
        let scores_that_fall = format!("[[5,[[0.2,{levels}],[0.1,{levels}]]]]");
        for bad in ["[[5,[]]]".to_owned(), scores_that_fall, format!("[[0,[[0.1,{levels}]]]]")] {
            assert!(fault(&bad).is_some(), "{bad}");
        }
    }
}
