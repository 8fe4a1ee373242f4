//! A posterior as points with masses: the place, its radii and alternatives are read off it.

use crate::{earth::Earth, levels::Levels, message::Message, prior::Nearest};
use locdiff_model::answer::RegionMasses;
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};
use std::f64::consts::TAU;

/// The radii that answers are judged at: the place is where most is expected within them.
const RADII_KM: [f64; 4] = [1.0, 25.0, 200.0, 750.0];
/// Windows through which broad densities are seen, for candidates.
const WINDOWS_KM: [f64; 2] = [250.0, 600.0];
/// A place within this distance of another is about as good as it, km.
const ABOUT_KM: f64 = 100.0;
/// Cells that hold less are left out: all of them together hold less than a two-hundredth.
const LIGHTEST: f64 = 2e-7;
/// Points that stand for a blob: rings of equal mass and turns on each.
const RINGS: usize = 8;
const TURNS: usize = 5;

/// Points and their masses, which sum to 1.
pub(crate) struct Cloud {
    points: Vec<UnitVec>,
    masses: Vec<f64>,
    candidates: Vec<UnitVec>,
    /// What is given up only for so much more.
    preferred: Option<(Nearest, f64)>,
    /// How radii are read where nothing is preferred.
    untagged: Levels,
}

/// A place of the cloud.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot {
    pub(crate) at: UnitVec,
    /// What lies around it.
    pub(crate) probability: f64,
}

impl Cloud {
    /// Of a message whose integral is 1.
    pub(crate) fn of(message: &Message, earth: &Earth) -> Self {
        let (preferred, untagged) = (None, Levels::default());
        let mut cloud = Self { points: Vec::new(), masses: Vec::new(), candidates: Vec::new(), preferred, untagged };
        let mut peaks: Vec<(f64, usize)> = Vec::new();
        for (index, value) in message.grid.iter().enumerate() {
            let mass = value * earth.areas[index];
            if mass > 1e-4 {
                for point in earth.within_cell(index) {
                    cloud.push(point, mass / 9.0);
                }
                peaks.push((*value, index));
            } else if mass > LIGHTEST {
                cloud.push(earth.points[index], mass);
            }
        }
        for blob in &message.blobs {
            let deviation = blob.variance.sqrt();
            for k in 0..RINGS * TURNS {
                let (ring, turn) = (k / TURNS, k % TURNS);
                let share = (ring as f64 + 0.5) / RINGS as f64;
                let reach = deviation * (-2.0 * (1.0 - share).ln()).sqrt();
                let angle = TAU * (turn as f64 + 0.5 * (ring % 2) as f64) / TURNS as f64;
                let point = blob.centre.step(reach * angle.cos(), reach * angle.sin());
                cloud.push(point, blob.mass / (RINGS * TURNS) as f64);
            }
        }
        let mut blobs: Vec<_> = message.blobs.iter().filter(|blob| blob.mass > 1e-3).collect();
        blobs.sort_by(|a, b| b.mass.total_cmp(&a.mass));
        cloud.candidates.extend(blobs.iter().take(12).map(|blob| blob.centre));
        peaks.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut starts: Vec<UnitVec> = Vec::new();
        for (_, index) in peaks {
            let point = earth.points[index];
            if starts.len() < 6 && starts.iter().all(|other| other.angle_rad(point) * EARTH_RADIUS_KM > 600.0) {
                starts.push(point);
            }
        }
        let shifted: Vec<UnitVec> =
            starts.iter().flat_map(|start| WINDOWS_KM.map(|window| cloud.shifted(*start, window))).collect();
        cloud.candidates.extend(shifted);
        cloud
    }

    /// Prefers a known place: others, over [`ABOUT_KM`] away, must hold so much more within the four radii together.
    pub(crate) fn preferring(mut self, nearest: Option<Nearest>, margin: f64) -> Self {
        self.preferred = nearest.map(|nearest| (nearest, margin));
        self.candidates.extend(nearest.map(|nearest| nearest.place));
        self
    }

    /// Reads radii as those of an album without any tag whose photos are of another kind than the model was trained for, so probably.
    pub(crate) fn untagged(self, ood: f64) -> Self {
        Self { untagged: Levels::untagged(ood), ..self }
    }

    /// The share that the radius to a point holds, by the levels that radii are read at.
    pub(crate) fn radius_share(&self, centre: UnitVec, km: f64) -> f64 {
        self.levels().share(self.mass_within_km(centre, km))
    }

    /// How radii are read.
    fn levels(&self) -> Levels {
        self.preferred.map_or(self.untagged, |(nearest, _)| Levels::of(nearest.hours).shifted(nearest.shift))
    }

    fn push(&mut self, point: UnitVec, mass: f64) {
        self.points.push(point);
        self.masses.push(mass);
    }

    /// The maximum of the mass seen through a Gaussian window, uphill from a start.
    fn shifted(&self, start: UnitVec, window_km: f64) -> UnitVec {
        let precision = (EARTH_RADIUS_KM / window_km).powi(2);
        let nearest = (3.0 * window_km / EARTH_RADIUS_KM).cos();
        let mut at = start;
        for _ in 0..8 {
            let mut sum = [0.0; 3];
            for (point, mass) in self.points.iter().zip(&self.masses) {
                let cosine = at.dot(*point);
                if cosine > nearest {
                    let weight = mass * ((cosine - 1.0) * precision).exp();
                    sum.iter_mut().zip(point.to_array()).for_each(|(sum, x)| *sum += weight * x);
                }
            }
            let Ok(next) = UnitVec::new(sum[0], sum[1], sum[2]) else { return at };
            let moved = next.angle_rad(at) * EARTH_RADIUS_KM;
            at = next;
            if moved < 5.0 {
                break;
            }
        }
        at
    }

    /// What lies within each of the radii, and not nearer to a place before it.
    fn within(&self, centre: UnitVec, masses: &[f64], before: &[Spot]) -> [f64; 4] {
        let cosines = RADII_KM.map(|km| (km / EARTH_RADIUS_KM).cos());
        let mut held = [0.0; 4];
        for (point, mass) in self.points.iter().zip(masses) {
            let cosine = centre.dot(*point);
            if cosine >= cosines[3] && before.iter().all(|spot| spot.at.dot(*point) <= cosine) {
                for k in 0..4 {
                    held[k] += if cosine >= cosines[k] { *mass } else { 0.0 };
                }
            }
        }
        held
    }

    /// The places it holds: first where most is expected, then by probability, less what is nearer to a better place.
    pub(crate) fn spots(&self, most: usize) -> Vec<Spot> {
        let (mut masses, mut candidates) = (self.masses.clone(), self.candidates.clone());
        let mut spots: Vec<Spot> = Vec::new();
        while spots.len() < most {
            let judged: Vec<_> = candidates.iter().map(|at| (*at, self.within(*at, &masses, &spots))).collect();
            let sum = |one: &(UnitVec, [f64; 4])| one.1.iter().sum::<f64>();
            let best_of = |about: Option<UnitVec>| {
                let is_about = |at: UnitVec| about.is_none_or(|place| place.angle_rad(at) * EARTH_RADIUS_KM < ABOUT_KM);
                judged.iter().filter(|one| is_about(one.0)).max_by(|a, b| sum(a).total_cmp(&sum(b))).copied()
            };
            let mut best = best_of(None);
            let preferred = self.preferred.filter(|(nearest, _)| spots.is_empty() && !nearest.is_doubted);
            if let Some((nearest, margin)) = preferred {
                let about = best_of(Some(nearest.place));
                best = about.filter(|about| best.is_some_and(|best| sum(&best) - sum(about) < margin)).or(best);
            }
            let Some((at, held)) = best else { break };
            if held[3] < 0.01 && !spots.is_empty() {
                break;
            }
            // What is sharp is an answer of its own; what is broad takes its neighbourhood with it.
            let reach = if held[1] > 0.5 * held[3] { 1 } else { 3 };
            spots.push(Spot { at, probability: held[reach] });
            let cosine = (RADII_KM[reach] / EARTH_RADIUS_KM).cos();
            // What surrounds a place is no second answer at it.
            candidates.retain(|other| other.dot(at) < cosine);
            for (point, mass) in self.points.iter().zip(&mut masses) {
                if point.dot(at) >= cosine {
                    *mass = 0.0;
                }
            }
        }
        if let Some((_, others)) = spots.split_first_mut() {
            others.sort_by(|a, b| b.probability.total_cmp(&a.probability));
        }
        spots
    }

    /// The radii about a place that hold the shares, which must rise.
    pub(crate) fn radii_km(&self, centre: UnitVec, shares: &[f64]) -> Vec<f64> {
        let distance = |point: &UnitVec| centre.angle_rad(*point) * EARTH_RADIUS_KM;
        let mut by_distance: Vec<_> = self.points.iter().map(distance).zip(self.masses.iter().copied()).collect();
        by_distance.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (levels, total) = (self.levels(), self.masses.iter().sum::<f64>());
        let (mut sum, mut next) = (0.0, 0);
        let radius = |share: &f64| {
            while next + 1 < by_distance.len() && sum + by_distance[next].1 < levels.level(*share) * total {
                sum += by_distance[next].1;
                next += 1;
            }
            by_distance.get(next).map_or(0.0, |(km, _)| *km)
        };
        shares.iter().map(radius).collect()
    }

    /// The probability of the points that are chosen.
    fn share(&self, is_chosen: impl Fn(&UnitVec) -> bool) -> f64 {
        let chosen = self.points.iter().zip(&self.masses).filter(|(point, _)| is_chosen(point));
        chosen.map(|(_, mass)| mass).sum::<f64>() / self.masses.iter().sum::<f64>()
    }

    /// The probabilities of countries, states and continents.
    pub(crate) fn region_masses(&self) -> RegionMasses {
        let (mut sums, total) = (RegionMasses::default(), self.masses.iter().sum::<f64>());
        self.points.iter().zip(&self.masses).for_each(|(point, mass)| sums.add(*point, mass / total));
        sums
    }

    /// The probability within a distance.
    pub(crate) fn mass_within_km(&self, centre: UnitVec, km: f64) -> f64 {
        let cosine = (km / EARTH_RADIUS_KM).min(std::f64::consts::PI).cos();
        // Cosines of small angles are all nearly 1: there the angle itself is used.
        let is_near = |point: &UnitVec| centre.angle_rad(*point) * EARTH_RADIUS_KM <= km;
        self.share(|point| match centre.dot(*point) {
            own if cosine < 0.9999 => own >= cosine,
            own => own > 0.999 && is_near(point),
        })
    }

    /// The probability of everything denser than a point.
    pub(crate) fn mass_denser_than(&self, message: &Message, truth: LatLon, earth: &Earth) -> f64 {
        let level = message.density(truth.to_unit(), earth);
        self.share(|point| message.density(*point, earth) > level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sharp place with a broad neighbourhood, and a little elsewhere: the neighbourhood is not the other place's.
    #[test]
    fn what_surrounds_a_place_is_not_another_places() {
        let place = |lat, lon| LatLon::new(lat, lon).unwrap().to_unit();
        let (paris, lyon) = (place(48.85, 2.35), place(45.76, 4.84));
        let (preferred, untagged) = (None, Levels::default());
        let mut cloud = Cloud { points: vec![], masses: vec![], candidates: vec![paris, lyon], preferred, untagged };
        cloud.push(paris, 0.6);
        for k in 0..36 {
            let angle = TAU * f64::from(k) / 36.0;
            let reach = 80.0 / EARTH_RADIUS_KM;
            cloud.push(paris.step(reach * angle.cos(), reach * angle.sin()), 0.35 / 36.0);
        }
        cloud.push(lyon, 0.05);
        let spots = cloud.spots(5);
        assert_eq!((spots.len(), spots[0].at, spots[1].at), (2, paris, lyon));
        assert!((spots[1].probability - 0.05).abs() < 1e-12, "{spots:?}");
    }
}
