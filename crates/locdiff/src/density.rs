//! The density of an answer: what the model says, calibrated, times what the user knows.

use crate::basins::{Basin, basins, densest_first};
use crate::calibration::log_integral;
use crate::{Globe, Knowledge};
use locdiff_sphere::{EARTH_RADIUS_KM, LatLon, Pixels, UnitVec};
use std::f64::consts::PI;
use std::sync::{Arc, OnceLock};

/// A peak counts as a hypothesis of its own when it stands this far (a factor of 1.5) above the pass to a higher one.
const PROMINENCE_NATS: f64 = 0.405;
/// Hypotheses are looked for among the densest pixels that hold this much.
const COVERED: f64 = 0.98;

/// The distance that locatability is about.
const COUNTRY_KM: f64 = 750.0;

/// `weight · exp(e·Y) / Z`.
#[derive(Debug, Clone)]
pub(crate) struct Term {
    /// log of weight over Z.
    pub(crate) log_scale: f64,
    /// e.
    pub(crate) coefficients: Vec<f64>,
}

/// A probability density on Earth: the exponential of a field and a uniform floor, times what is known besides.
/// Everything that an answer says is read off it.
#[derive(Debug, Clone)]
pub struct AnswerDensity<'g> {
    globe: &'g Globe,
    term: Term,
    /// The floor, per steradian.
    floor: f64,
    knowledge: Option<Arc<Knowledge>>,
    /// Log of the integral of all that times knowledge.
    log_total: f64,
    /// Log density at the pixels' centres.
    log_density: Vec<f64>,
    /// Pixels that are possible at all, densest first, once they are asked for.
    order: OnceLock<Vec<u32>>,
}

/// The smallest region that holds a probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Region {
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

impl<'g> AnswerDensity<'g> {
    /// From a term, its field at the pixels, and a floor per steradian.
    pub(crate) fn new(
        globe: &'g Globe,
        term: Term,
        field: &[f64],
        floor: f64,
        knowledge: Option<Arc<Knowledge>>,
    ) -> Self {
        let mut log_density: Vec<f64> = field.iter().map(|f| log_sum(f + term.log_scale, floor)).collect();
        if let Some(knowledge) = &knowledge {
            let known = knowledge.log_weights(globe.pixels());
            log_density.iter_mut().zip(known).for_each(|(value, known)| *value += known);
        }
        let log_total = log_integral(&log_density, globe.pixels().area_sr());
        for value in &mut log_density {
            *value -= log_total;
        }
        Self { globe, term, floor, knowledge, log_total, log_density, order: OnceLock::new() }
    }

    /// Whether there is any probability at all: knowledge may leave no place.
    pub fn is_possible(&self) -> bool {
        self.log_total.is_finite()
    }

    /// Log density per steradian at points.
    pub fn log_density(&self, points: &[UnitVec]) -> Vec<f64> {
        let field = self.globe.codec().field().values(&self.term.coefficients, points);
        let known = |point: &UnitVec| self.knowledge.as_ref().map_or(0.0, |k| k.log_weight(*point));
        field
            .expect("the degree was checked")
            .into_iter()
            .zip(points)
            .map(|(f, point)| log_sum(f + self.term.log_scale, self.floor) + known(point) - self.log_total)
            .collect()
    }

    /// Log density at the pixels' centres.
    pub fn pixel_log_density(&self) -> &[f64] {
        &self.log_density
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
        -self.masses().zip(&self.log_density).filter(|(m, _)| *m > 0.0).map(|(m, v)| m * v).sum::<f64>()
    }

    /// The Kullback–Leibler divergence from a density given at the pixels, in nats: what the answer adds to it.
    pub fn divergence_nats(&self, from: &[f64]) -> f64 {
        let parts = self.masses().zip(self.log_density.iter().zip(from)).filter(|(m, _)| *m > 0.0);
        parts.map(|(m, (a, b))| m * (a - b)).sum::<f64>().max(0.0)
    }

    /// The smallest region that holds probability `p`.
    pub fn region(&self, p: f64) -> Region {
        let area = self.globe.pixels().area_sr();
        let (mut held, mut count, mut threshold) = (0.0, 0.0, f64::INFINITY);
        for pixel in self.order() {
            let value = self.log_density[*pixel as usize];
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
        Region { probability: p, log_density: threshold, area_km2 }
    }

    /// The probability of everything denser than a point: the smallest region that touches it holds this much.
    pub fn mass_denser_than(&self, point: UnitVec) -> f64 {
        let level = self.log_density(&[point])[0];
        self.masses().zip(&self.log_density).filter(|(_, v)| **v > level).map(|(m, _)| m).sum()
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
        let (found, _) = basins(pixels, &self.log_density, self.order(), PROMINENCE_NATS, COVERED, at);
        let peak = found.first().map_or(at, |basin| basin.peak);
        self.climb(pixels.points()[peak]).to_latlon()
    }

    /// The peak to which `home` belongs, standing at `home` itself, then the others, the most probable first; at most
    /// `most`.
    pub fn peaks(&self, home: LatLon, most: usize) -> Vec<Peak> {
        let (pixels, at) = (self.globe.pixels(), self.globe.pixels().index_of(home));
        let (mut found, owner) =
            basins(pixels, &self.log_density, self.order(), PROMINENCE_NATS, COVERED, at);
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
    pub fn globe(&self) -> &'g Globe {
        self.globe
    }

    fn order(&self) -> &[u32] {
        self.order.get_or_init(|| densest_first(&self.log_density))
    }

    fn masses(&self) -> impl Iterator<Item = f64> {
        let area = self.globe.pixels().area_sr();
        self.log_density.iter().map(move |value| value.exp() * area)
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

/// The radius of a disc of a pixel's area.
pub(crate) fn pixel_reach_rad(pixels: &Pixels) -> f64 {
    (pixels.area_sr() / PI).sqrt()
}

/// How much of a pixel at a distance lies within a radius, its mass taken as spread evenly over `reach_rad` towards the
/// centre and away from it: without this, what is smaller than a pixel would be all or nothing.
pub(crate) fn share_within(distance_rad: f64, reach_rad: f64, radius_rad: f64) -> f64 {
    let (from, to) = ((distance_rad - reach_rad).max(0.0), distance_rad + reach_rad);
    ((radius_rad - from) / (to - from)).clamp(0.0, 1.0)
}

/// Each bin's mass spread evenly over `reach` bins on both sides, as far as there are any.
fn smooth(held: &[f64], reach: f64) -> Vec<f64> {
    let reach = reach.round() as usize;
    let mut difference = vec![0.0; held.len() + 1];
    for (bin, mass) in held.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
        let (from, to) = (bin.saturating_sub(reach), (bin + reach + 1).min(held.len()));
        let each = mass / (to - from) as f64;
        difference[from] += each;
        difference[to] -= each;
    }
    let mut sum = 0.0;
    difference[..held.len()]
        .iter()
        .map(|step| {
            sum += step;
            sum.max(0.0)
        })
        .collect()
}
