//! The density of an answer: what the model says, calibrated, times what the user knows.

use crate::basins::{Basin, basins, densest_first};
use crate::pixel_sums::{log_integral, pixel_reach_rad, share_within, smooth};
use crate::{Globe, Knowledge};
use locdiff_sphere::{EARTH_RADIUS_KM, Field, LatLon, UnitVec};
use std::f64::consts::PI;
use std::sync::{Arc, OnceLock};

/// A peak counts as a hypothesis of its own when it stands this far (a factor of 1.5) above the pass to a higher one.
const PROMINENCE_NATS: f64 = 0.405;
/// Hypotheses are looked for among the densest pixels that hold this much.
const COVERED: f64 = 0.98;

/// The distance that locatability is about.
const COUNTRY_KM: f64 = 750.0;

/// `scale·exp(e·Y) + floor`, with scale and floor such that the integral over the sphere is 1.
#[derive(Debug, Clone)]
pub(crate) struct Mixture {
    /// e·Y.
    pub(crate) field: Field,
    /// log of the scale.
    pub(crate) log_scale: f64,
    /// The floor, per steradian.
    pub(crate) floor: f64,
}

impl Mixture {
    fn log_densities(&self, points: &[UnitVec]) -> impl Iterator<Item = f64> {
        let field = self.field.values(points);
        field.into_iter().map(|f| log_sum(f + self.log_scale, self.floor))
    }
}

/// A probability density on Earth: the exponential of a field and a uniform floor, times what is also known.
/// Everything that an answer says is read off it.
///
/// Its values at the globe's pixels are worked out when they are first needed; [`Density::compact`] lets go of them.
#[derive(Debug, Clone)]
pub struct Density {
    globe: Arc<Globe>,
    mixture: Mixture,
    knowledge: Option<Arc<Knowledge>>,
    /// Log of the integral of the mixture times knowledge.
    log_total: f64,
    /// Log density at the pixels' centres.
    at_pixels: OnceLock<Vec<f64>>,
    /// Pixels that are possible at all, densest first.
    order: OnceLock<Vec<u32>>,
}

/// The smallest region that holds a probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DensityRegion {
    /// The probability it holds.
    pub probability: f64,
    /// A point is inside when its log density per steradian is at least this.
    pub log_density: f64,
    /// Its area.
    pub area_km2: f64,
}

/// A place that the density speaks of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// The local maximum.
    pub place: LatLon,
    /// The probability of the land that belongs to it.
    pub probability: f64,
}

impl Density {
    pub(crate) fn new(globe: Arc<Globe>, mixture: Mixture, knowledge: Option<Arc<Knowledge>>) -> Self {
        let mut density = Self {
            globe,
            mixture,
            knowledge,
            log_total: 0.0,
            at_pixels: OnceLock::new(),
            order: OnceLock::new(),
        };
        let mut values = density.pixel_values();
        density.log_total = log_integral(&values, density.globe.pixels().area_sr());
        for value in &mut values {
            *value -= density.log_total;
        }
        density.at_pixels = OnceLock::from(values);
        density
    }

    /// Log density at the pixels, short of [`Density::log_total`].
    fn pixel_values(&self) -> Vec<f64> {
        let pixels = self.globe.pixels();
        let mut values: Vec<f64> = self.mixture.log_densities(pixels.points()).collect();
        if let Some(knowledge) = &self.knowledge {
            let known = knowledge.log_weights(pixels);
            values.iter_mut().zip(known.iter()).for_each(|(value, known)| *value += known);
        }
        for value in &mut values {
            *value -= self.log_total;
        }
        values
    }

    /// The same density without its values at the pixels: a few kilobytes instead of megabytes.
    #[must_use]
    pub fn compact(self) -> Self {
        Self { at_pixels: OnceLock::new(), order: OnceLock::new(), ..self }
    }

    /// Whether there is any probability at all: knowledge may leave no place.
    pub fn is_possible(&self) -> bool {
        self.log_total.is_finite()
    }

    /// Log density per steradian at points.
    pub fn log_density(&self, points: &[UnitVec]) -> Vec<f64> {
        let known = |point: &UnitVec| self.knowledge.as_ref().map_or(0.0, |k| k.log_weight(*point));
        let said = self.mixture.log_densities(points);
        said.zip(points).map(|(said, point)| said + known(point) - self.log_total).collect()
    }

    /// Log density at the pixels' centres.
    pub fn pixel_log_density(&self) -> &[f64] {
        self.at_pixels.get_or_init(|| self.pixel_values())
    }

    /// The local maximum near a point, to about a hundred metres: steps in eight directions that shrink.
    pub fn climb(&self, from: UnitVec) -> UnitVec {
        let mut here = from;
        let mut value = self.log_density(&[here])[0];
        let mut step_rad = self.globe.pixels().area_sr().sqrt();
        while step_rad > 1e-5 {
            let ring: Vec<UnitVec> = (0..8)
                .map(|k| {
                    let (sin, cos) = (f64::from(k) * PI / 4.0).sin_cos();
                    here.step(step_rad * cos, step_rad * sin)
                })
                .collect();
            let values = self.log_density(&ring);
            let best = (0..8).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap_or(0);
            if values[best] > value {
                (here, value) = (ring[best], values[best]);
            } else {
                step_rad *= 0.4;
            }
        }
        here
    }

    /// Differential entropy in nats, per steradian: log 4π ≈ 2.531 for the uniform density.
    pub fn entropy_nats(&self) -> f64 {
        -self
            .masses()
            .zip(self.pixel_log_density())
            .filter(|(m, _)| *m > 0.0)
            .map(|(m, v)| m * v)
            .sum::<f64>()
    }

    /// The Kullback–Leibler divergence from a density given at the pixels, in nats: what the answer adds to it.
    pub fn divergence_nats(&self, from: &[f64]) -> f64 {
        let parts = self.masses().zip(self.pixel_log_density().iter().zip(from)).filter(|(m, _)| *m > 0.0);
        parts.map(|(m, (a, b))| m * (a - b)).sum::<f64>().max(0.0)
    }

    /// The smallest region that holds probability `p`.
    pub fn region(&self, p: f64) -> DensityRegion {
        let area = self.globe.pixels().area_sr();
        let (mut held, mut count, mut threshold) = (0.0, 0.0, f64::INFINITY);
        for pixel in self.order() {
            let value = self.pixel_log_density()[*pixel as usize];
            let mass = value.exp() * area;
            threshold = value;
            if held + mass >= p {
                count += (p - held) / mass;
                break;
            }
            held += mass;
            count += 1.0;
        }
        let area_km2 = count * area * EARTH_RADIUS_KM * EARTH_RADIUS_KM;
        DensityRegion { probability: p, log_density: threshold, area_km2 }
    }

    /// The probability of everything denser than a point: the smallest region that touches it holds this much.
    pub fn mass_denser_than(&self, point: UnitVec) -> f64 {
        let level = self.log_density(&[point])[0];
        self.masses().zip(self.pixel_log_density()).filter(|(_, v)| **v > level).map(|(m, _)| m).sum()
    }

    /// The radii about a place that hold the probabilities `shares`, which must rise.
    pub fn radii_km(&self, center: LatLon, shares: &[f64]) -> Vec<f64> {
        const BINS: usize = 20_100; // 1 km each: finer than the pixels, and no sorting
        let mut held = vec![0.0; BINS];
        let center = center.to_unit();
        for (mass, point) in self.masses().zip(self.globe.pixels().points()) {
            held[((center.angle_rad(*point) * EARTH_RADIUS_KM) as usize).min(BINS - 1)] += mass;
        }
        // A pixel's mass is spread over the pixel: without this, radii near its size would jump.
        let spread = smooth(&held, pixel_reach_rad(self.globe.pixels()) * EARTH_RADIUS_KM);
        let (mut sum, mut bin, mut radii) = (0.0, 0, Vec::new());
        for share in shares {
            while bin < BINS && sum + spread[bin] < *share {
                sum += spread[bin];
                bin += 1;
            }
            let part = if bin < BINS && spread[bin] > 0.0 { (share - sum) / spread[bin] } else { 0.0 };
            radii.push(bin as f64 + part.clamp(0.0, 1.0));
        }
        radii
    }

    /// The probability within a distance of a place.
    pub fn mass_within_km(&self, center: LatLon, radius_km: f64) -> f64 {
        let (pixels, center) = (self.globe.pixels(), center.to_unit());
        let (radius_rad, reach_rad) = (radius_km / EARTH_RADIUS_KM, pixel_reach_rad(pixels));
        let inside = |p: &UnitVec| share_within(center.angle_rad(*p), reach_rad, radius_rad);
        self.masses().zip(pixels.points()).map(|(mass, point)| mass * inside(point)).sum()
    }

    /// The probability that a place is right to within 750 km, about a country: 0 to 1.
    pub fn locatability(&self, place: LatLon) -> f64 {
        self.mass_within_km(place, COUNTRY_KM).clamp(0.0, 1.0)
    }

    /// The peak with the most probability around it, which need not be the highest.
    pub fn most_probable_peak(&self) -> LatLon {
        let pixels = self.globe.pixels();
        let at = self.order().first().map_or(0, |&densest| densest as usize);
        let (found, _) = basins(pixels, self.pixel_log_density(), self.order(), PROMINENCE_NATS, COVERED, at);
        let peak = found.first().map_or(at, |basin| basin.peak);
        self.climb(pixels.points()[peak]).to_latlon()
    }

    /// The peak to which `home` belongs, standing at `home` itself, then the others, the most probable first; at most
    /// `most`.
    pub fn peaks(&self, home: LatLon, most: usize) -> Vec<Peak> {
        let (pixels, at) = (self.globe.pixels(), self.globe.pixels().index_of(home));
        let (mut found, owner) =
            basins(pixels, self.pixel_log_density(), self.order(), PROMINENCE_NATS, COVERED, at);
        // Where the density is too thin to be looked at, the peak that stands nearest.
        let near = |basin: &Basin| pixels.points()[basin.peak].dot(home.to_unit());
        let owner =
            owner.or_else(|| (0..found.len()).max_by(|&a, &b| near(&found[a]).total_cmp(&near(&found[b]))));
        let first = owner.map(|index| Peak { place: home, probability: found.remove(index).mass });
        found.truncate(most.saturating_sub(1));
        let others = found.into_iter().map(|basin| Peak {
            place: self.climb(pixels.points()[basin.peak]).to_latlon(),
            probability: basin.mass,
        });
        first.into_iter().chain(others).collect()
    }

    /// The globe it is drawn on.
    pub fn globe(&self) -> &Arc<Globe> {
        &self.globe
    }

    fn order(&self) -> &[u32] {
        self.order.get_or_init(|| densest_first(self.pixel_log_density()))
    }

    fn masses(&self) -> impl Iterator<Item = f64> {
        let area = self.globe.pixels().area_sr();
        self.pixel_log_density().iter().map(move |value| value.exp() * area)
    }
}

/// log(exp(part) + floor).
fn log_sum(part: f64, floor: f64) -> f64 {
    if floor <= 0.0 {
        return part;
    }
    let floor = floor.ln();
    let top = part.max(floor);
    top + ((part - top).exp() + (floor - top).exp()).ln()
}
