//! Confidence intervals by drawing the photos again.

use crate::eval::{Result, accuracy::quantile};
use locdiff_base::{ensure, setting};
use locdiff_shdd::sphere::LatLon;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;
use std::{collections::BTreeMap, sync::Arc};

/// A value with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Estimate {
    /// The value measured.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// The percentile bootstrap: photos, or blocks of photos of one region, are drawn again with replacement, and the
/// middle share of the values is the interval. The same seed gives the same interval on any number of threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bootstrap {
    /// How many times the photos are drawn.
    pub replicates: usize,
    /// The share of the values that the interval holds.
    pub confidence: f64,
    /// Seed of the draws.
    pub seed: u64,
    /// What is drawn: blocks of photos, or where there are none, photos.
    pub blocks: Option<Blocks>,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self { replicates: 1000, confidence: 0.95, seed: 0, blocks: None }
    }
}

impl Bootstrap {
    /// Draws blocks of 15° if the photos' places are in enough of them.
    #[must_use]
    pub fn by_places(&self, places: &[LatLon]) -> Self {
        Self { blocks: Blocks::of_places(places), ..self.clone() }
    }

    /// A bootstrap for some of the photos, in this order.
    #[must_use]
    pub fn select(&self, photos: &[usize]) -> Self {
        Self { blocks: self.blocks.as_ref().and_then(|blocks| blocks.select(photos)), ..self.clone() }
    }

    /// Fails on fewer than 40 or more than a million replicates, or a confidence that is not between 0 and 1.
    pub fn check(&self) -> Result<()> {
        ensure!((40..=1_000_000).contains(&self.replicates), setting("replicates", self.replicates, "40 to 1000000"));
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return Err(setting("confidence", self.confidence, "between 0 and 1, usually 0.95"));
        }
        Ok(())
    }

    /// The values of a statistic over the replicates. It receives how often each of `n` photos was drawn; if blocks are
    /// drawn, that is not `n` times in all. Panics on blocks of another number of photos.
    pub fn draws<T: Send>(&self, n: usize, statistic: impl Fn(&[u32]) -> T + Sync) -> Vec<T> {
        let blocks = self.blocks.as_ref();
        assert!(blocks.is_none_or(|blocks| blocks.of.len() == n), "blocks of other photos");
        let units = blocks.map_or(n, Blocks::count);
        let draw = |(times, counts): &mut (Vec<u32>, Vec<u32>), replicate: usize| {
            let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
            rng.set_stream(replicate as u64);
            times.clear();
            times.resize(units, 0);
            for _ in 0..units {
                // A multiplication instead of a division; the bias is below n / 2^64.
                let index = (u128::from(rng.next_u64()) * units as u128) >> 64;
                times[index as usize] += 1;
            }
            let Some(blocks) = blocks else { return statistic(times) };
            counts.clear();
            counts.extend(blocks.of.iter().map(|block| times[*block as usize]));
            statistic(counts)
        };
        (0..self.replicates).into_par_iter().map_init(Default::default, draw).collect()
    }

    /// The interval of the values of a statistic over the replicates.
    pub fn interval(&self, mut values: Vec<f64>) -> (f64, f64) {
        values.sort_by(f64::total_cmp);
        let tail = 0.5 * (1.0 - self.confidence);
        (quantile(&values, tail), quantile(&values, 1.0 - tail))
    }

    /// A value with the interval of the values over the replicates.
    pub fn estimate(&self, value: f64, values: Vec<f64>) -> Estimate {
        let (low, high) = self.interval(values);
        Estimate { value, low, high }
    }

    /// The mean of values, one per photo.
    pub fn mean(&self, values: &[f64]) -> Estimate {
        let weighted = |counts: &[u32]| {
            let (mut sum, mut all) = (0.0, 0.0);
            for (count, value) in counts.iter().zip(values) {
                sum += f64::from(*count) * value;
                all += f64::from(*count);
            }
            sum / all
        };
        self.estimate(values.iter().sum::<f64>() / values.len() as f64, self.draws(values.len(), weighted))
    }

    /// A share of `n` photos. Where none or all are hits, every draw says the same and the bootstrap knows nothing of
    /// what it has not seen: there the bound is the exact binomial one (3.7 of n at 95 %, n being the blocks where those are drawn).
    pub fn share(&self, hits: usize, n: usize, values: Vec<f64>) -> Estimate {
        let value = hits as f64 / n as f64;
        let units = self.blocks.as_ref().map_or(n, Blocks::count);
        let unseen = 1.0 - (0.5 * (1.0 - self.confidence)).powf(1.0 / units as f64);
        match hits {
            0 => Estimate { value, low: 0.0, high: unseen },
            _ if hits == n => Estimate { value, low: 1.0 - unseen, high: 1.0 },
            _ => self.estimate(value, values),
        }
    }
}

/// The side of a block. Errors are correlated over a thousand kilometres and more.
const SIDE_DEG: f64 = 15.0;
/// Fewer blocks than this say nothing about how results vary; photos are drawn instead.
const FEWEST: usize = 8;

/// Which block each photo lies in: cells of 15° of latitude and longitude.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Blocks {
    side_deg: f64,
    /// How many different ones there are.
    count: usize,
    #[serde(skip)]
    of: Arc<[u32]>,
}

impl Blocks {
    /// The blocks of places; `None` where they are too few.
    pub fn of_places(places: &[LatLon]) -> Option<Self> {
        let cell = |degrees: f64| (degrees / SIDE_DEG).floor() as i32;
        Self::of_labels(places.iter().map(|place| (cell(place.lat_deg()), cell(place.lon_deg()))))
    }

    fn of_labels<L: Ord>(labels: impl Iterator<Item = L>) -> Option<Self> {
        let mut numbers = BTreeMap::new();
        let number = |label| {
            let next = numbers.len() as u32;
            *numbers.entry(label).or_insert(next)
        };
        let of: Arc<[u32]> = labels.map(number).collect();
        (numbers.len() >= FEWEST).then_some(Self { side_deg: SIDE_DEG, count: numbers.len(), of })
    }

    /// Those of some of the photos; `None` where they are too few.
    pub fn select(&self, photos: &[usize]) -> Option<Self> {
        Self::of_labels(photos.iter().map(|&photo| self.of[photo]))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_replicate_draws_as_many_photos_as_there_are() {
        let bootstrap = Bootstrap { replicates: 50, ..Bootstrap::default() };
        let totals = bootstrap.draws(37, |counts| counts.iter().sum::<u32>());
        assert_eq!(totals, vec![37; 50]);
        // And not always the same ones: each photo is left out of about 1/e of the draws.
        let bootstrap = Bootstrap { replicates: 2000, ..Bootstrap::default() };
        let absent = bootstrap.draws(100, |counts| f64::from(u8::from(counts[99] == 0)));
        let share = absent.iter().sum::<f64>() / 2000.0;
        assert!((share - (0.99f64).powi(100)).abs() < 0.04, "{share}");
    }

    #[test]
    fn photos_of_a_block_are_drawn_together() {
        let places: Vec<LatLon> =
            (0..60).map(|k| LatLon::new(0.4 * f64::from(k / 20), f64::from(k % 20) * 15.0 - 147.0).unwrap()).collect();
        // 0° to 58.5° are four blocks, 0° to 156° are eleven.
        let line = |step: f64| (0..40).map(|k| LatLon::new(0.5, step * f64::from(k)).unwrap()).collect::<Vec<_>>();
        let counts = [1.5, 4.0].map(|step| Blocks::of_places(&line(step)).map(|blocks| blocks.count()));
        assert_eq!(counts, [None, Some(11)]);
        let bootstrap = Bootstrap::default().by_places(&places);
        assert_eq!(bootstrap.blocks.as_ref().unwrap().count(), 20);
        let together = |counts: &[u32]| (0..20).all(|k| counts[k] == counts[k + 20] && counts[k] == counts[k + 40]);
        assert!(bootstrap.draws(60, together).iter().all(|same| *same));
        // What is the same within a block varies as 20 values do, not as 60.
        let values: Vec<f64> = (0..60).map(|k| f64::from(k % 20)).collect();
        let width = |bootstrap: &Bootstrap| {
            let found = bootstrap.mean(&values);
            found.high - found.low
        };
        let ratio = width(&bootstrap) / width(&Bootstrap::default());
        assert!((ratio / 3.0_f64.sqrt() - 1.0).abs() < 0.1, "{ratio}");
        // Some of the photos in another order, and too few of them.
        let few: Vec<usize> = (0..30).rev().collect();
        assert_eq!(bootstrap.select(&few).blocks.unwrap().count(), 20);
        assert_eq!(bootstrap.select(&few[..5]).blocks, None);
    }

    #[test]
    fn the_seed_decides_and_a_share_has_its_normal_interval() {
        let values: Vec<f64> = (0..50).map(f64::from).collect();
        let with = |seed| Bootstrap { seed, ..Bootstrap::default() }.mean(&values);
        assert_eq!(with(3), with(3));
        assert_ne!(with(3), with(4));
        let hits: Vec<f64> = (0..400).map(|k| f64::from(u8::from(k % 4 == 0))).collect();
        let share = Bootstrap::default().mean(&hits);
        assert_eq!(share.value, 0.25);
        // The normal approximation: 0.25 ± 1.96·√(0.25·0.75/400) = 0.208 … 0.292.
        assert!((share.low - 0.208).abs() < 0.006 && (share.high - 0.292).abs() < 0.006);
    }

    #[test]
    fn shares_of_none_and_all_have_intervals_inside_0_and_1() {
        let bootstrap = Bootstrap::default();
        let none = bootstrap.share(0, 600, vec![0.0; 1000]);
        assert!((none.high - 3.69 / 600.0).abs() < 1e-4 && none.low == 0.0, "{none:?}");
        let all = bootstrap.share(600, 600, vec![1.0; 1000]);
        assert!((all.low + none.high - 1.0).abs() < 1e-12 && all.high == 1.0);
    }

    #[test]
    fn bad_settings_are_named() {
        let message = |b: Bootstrap| b.check().unwrap_err().to_string();
        let good = Bootstrap::default();
        assert!(message(Bootstrap { replicates: 3, ..good.clone() }).contains("replicates = 3 cannot be used: 40 to"));
        assert!(message(Bootstrap { confidence: 95.0, ..good.clone() }).contains("confidence = 95"));
        assert_eq!(good.check(), Ok(()));
    }
}
