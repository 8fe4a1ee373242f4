//! Precision, recall, density and coverage: whether answers as a set are spread as truths are.

use crate::eval::Result;
use locdiff_base::setting;
use locdiff_shdd::sphere::LatLon;
use rayon::prelude::*;
use serde::Serialize;

/// Neighbours that plonk takes.
pub(crate) const PRDC_NEIGHBOURS: usize = 3;
/// Chunks that plonk averages over.
pub(crate) const PRDC_CHUNKS: usize = 20;

/// Precision, recall, density and coverage of fake points against real ones (Naeem et al. 2020).
///
/// A point's ball reaches to its k-th nearest neighbour in its own set, not counting itself. Its rim is outside.
/// Precision is the share of fakes in any real ball. Recall is the share of reals in any fake ball. Density is the
/// mean number of real balls that hold a fake, over k. Coverage is the share of real balls that hold a fake.
/// Time is quadratic, about 2 ns a pair and core, memory linear.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Prdc {
    pub(crate) precision: f64,
    pub(crate) recall: f64,
    /// Real balls that hold a fake, over k, on average; may exceed 1.
    pub density: f64,
    /// Real balls that hold a fake.
    pub coverage: f64,
}

impl Prdc {
    /// Of all points at once. Fails if a set has not more than `neighbours` points, or `neighbours` is 0.
    pub fn new(real: &[LatLon], fake: &[LatLon], neighbours: usize) -> Result<Self> {
        let fewest = real.len().min(fake.len());
        if neighbours == 0 || neighbours >= fewest {
            return Err(setting("neighbours", neighbours, "at least 1, and fewer than the points of each set"));
        }
        let (real, fake) = (Cloud::new(real), Cloud::new(fake));
        let (real_balls, fake_balls) = (real.balls(neighbours), fake.balls(neighbours));
        let find = |points: &Cloud, others: &Cloud, balls: &[f64]| -> Vec<Found> {
            (0..points.len()).into_par_iter().map(|i| others.find(points.point(i), balls)).collect()
        };
        let (reals, fakes) = (find(&real, &fake, &fake_balls), find(&fake, &real, &real_balls));
        let share = |hits: usize, n: usize| hits as f64 / n as f64;
        let in_any = |founds: &[Found]| founds.iter().filter(|found| found.inside > 0).count();
        let held: usize = fakes.iter().map(|found| found.inside).sum();
        let covered = reals.iter().zip(&real_balls).filter(|(found, ball)| found.nearest < **ball).count();
        Ok(Self {
            precision: share(in_any(&fakes), fakes.len()),
            recall: share(in_any(&reals), reals.len()),
            density: share(held, fakes.len()) / neighbours as f64,
            coverage: share(covered, reals.len()),
        })
    }

    /// The mean over chunks of rows in their order, as plonk does it (20 chunks, cut as `torch.chunk` cuts: all of
    /// ⌈n / chunks⌉ rows but the last). A last chunk of no more than `neighbours` rows, with which plonk would stop,
    /// is left out. Row k of both sets is the same photo. Fails if the sets differ in length or a chunk has too few points.
    pub(crate) fn chunked(real: &[LatLon], fake: &[LatLon], neighbours: usize, chunks: usize) -> Result<Self> {
        crate::eval::error::expect_len("answers", fake.len(), real.len())?;
        let rows = real.len().div_ceil(chunks.max(1));
        if chunks == 0 || rows <= neighbours {
            return Err(setting("chunks", chunks, "at least 1, and so few that a chunk has more rows than neighbours"));
        }
        let parts = real.chunks(rows).zip(fake.chunks(rows)).filter(|(part, _)| part.len() > neighbours);
        let parts: Vec<Self> = parts.map(|(r, f)| Self::new(r, f, neighbours)).collect::<Result<_, _>>()?;
        let mean = |value: fn(&Self) -> f64| parts.iter().map(value).sum::<f64>() / parts.len() as f64;
        Ok(Self {
            precision: mean(|part| part.precision),
            recall: mean(|part| part.recall),
            density: mean(|part| part.density),
            coverage: mean(|part| part.coverage),
        })
    }
}

/// What a point found among others.
struct Found {
    /// Balls it lies in.
    inside: usize,
    /// Squared chord to the nearest point.
    nearest: f64,
}

/// Points as three lists of coordinates. Squared chords stand for distances: they order alike, and the same two points
/// always give the same number.
struct Cloud {
    x: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
}

impl Cloud {
    fn new(places: &[LatLon]) -> Self {
        let axis = |k: usize| places.iter().map(|place| place.to_unit().to_array()[k]).collect();
        Self { x: axis(0), y: axis(1), z: axis(2) }
    }

    fn len(&self) -> usize {
        self.x.len()
    }

    fn point(&self, index: usize) -> [f64; 3] {
        [self.x[index], self.y[index], self.z[index]]
    }

    /// Squared chords from a point to all points.
    fn chords(&self, [x, y, z]: [f64; 3]) -> impl Iterator<Item = f64> {
        self.x.iter().zip(&self.y).zip(&self.z).map(move |((a, b), c)| {
            let (dx, dy, dz) = (a - x, b - y, c - z);
            dx * dx + dy * dy + dz * dz
        })
    }

    /// The squared chord from each point to its k-th nearest other point.
    fn balls(&self, k: usize) -> Vec<f64> {
        let ball = |index: usize| {
            // The nearest k + 1, the point itself among them, in order.
            let mut nearest = vec![f64::INFINITY; k + 1];
            for chord in self.chords(self.point(index)) {
                if chord < nearest[k] {
                    let place = nearest.partition_point(|other| *other <= chord);
                    nearest[place..].rotate_right(1);
                    nearest[place] = chord;
                }
            }
            nearest[k]
        };
        (0..self.len()).into_par_iter().map(ball).collect()
    }

    fn find(&self, point: [f64; 3], balls: &[f64]) -> Found {
        let mut found = Found { inside: 0, nearest: f64::INFINITY };
        for (chord, ball) in self.chords(point).zip(balls) {
            found.inside += usize::from(chord < *ball);
            found.nearest = found.nearest.min(chord);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_alike_apart_or_too_small() {
        let places = vec![LatLon::new(0.0, 0.0).unwrap(); 3];
        assert!(Prdc::new(&places, &places, 3).is_err());
        assert!(Prdc::new(&places, &places, 0).is_err());
        assert!(Prdc::chunked(&places, &places, 2, 2).is_err());
        assert!(Prdc::chunked(&places, &places, 1, 0).is_err());
        assert!(Prdc::chunked(&places, &places[1..], 1, 1).is_err());
        // All in one place: no ball has any size, and nothing is nearer than nothing.
        let none = Prdc::new(&places, &places, 1).unwrap();
        assert_eq!((none.precision, none.coverage), (0.0, 0.0));
        let places: Vec<LatLon> = (0..40).map(|k| LatLon::new(f64::from(k), f64::from(k * k % 97)).unwrap()).collect();
        let same = Prdc::new(&places, &places, 3).unwrap();
        assert_eq!((same.precision, same.recall, same.coverage), (1.0, 1.0, 1.0));
        assert_eq!(Prdc::new(&places, &[LatLon::new(-60.0, -170.0).unwrap(); 40], 3).unwrap().coverage, 0.0);
    }
}
