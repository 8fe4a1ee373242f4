//! What is also known about a photo: weights on places that multiply the model's density.

use crate::answer::cover::{ENOUGH, cover};
use crate::answer::{Globe, support::Support};
use locdiff_map::places::Region;
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use std::{collections::HashMap, fmt};

type Weight = Box<dyn Fn(LatLon) -> f64 + Send + Sync>;

/// Weights on locations, multiplied together: a region, a population raster, places that somebody has been to.
///
/// ```
/// use locdiff_model::answer::Knowledge;
/// use locdiff_shdd::sphere::LatLon;
/// let north = Knowledge::new().weight(|place: LatLon| if place.lat_deg() > 0.0 { 1.0 } else { 0.1 });
/// let sydney = LatLon::new(-33.9, 151.2)?;
/// assert!((north.log_weight(sydney.into()) - 0.1_f64.ln()).abs() < 1e-12);
/// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
/// ```
#[derive(Default)]
pub struct Knowledge {
    weights: Vec<Weight>,
    regions: Vec<Region>,
    /// What it means on the pixels it is used on, by their number, worked out once for each.
    on_globes: Mutex<HashMap<usize, Arc<Known>>>,
}

#[derive(Debug)]
pub(crate) struct Known {
    /// The globe's pixels, or finer ones where the regions are small.
    pub(crate) support: Support,
    pub(crate) log_weights: Vec<f64>,
    /// Whether some pixel of the depth that was asked for is possible.
    pub(crate) has_whole_pixels: bool,
}

impl Knowledge {
    /// Creates knowledge in which all locations weigh 1.
    pub fn new() -> Self {
        Self::default()
    }

    /// Multiplies by a weight, which must not be negative; NaN counts as 0.
    #[must_use]
    pub fn weight(mut self, weight: impl Fn(LatLon) -> f64 + Send + Sync + 'static) -> Self {
        self.weights.push(Box::new(weight));
        self.on_globes = Mutex::default();
        self
    }

    /// Restricts to a region.
    #[must_use]
    pub fn within(mut self, region: Region) -> Self {
        self.regions.push(region);
        self.on_globes = Mutex::default();
        self
    }

    /// Multiplies by a sum of Gaussian kernels of deviation `spread_km` around weighted locations.
    #[must_use]
    pub fn places(self, places: Vec<(LatLon, f64)>, spread_km: f64) -> Self {
        let sharpness = (EARTH_RADIUS_KM / spread_km).powi(2);
        let places: Vec<(UnitVec, f64)> = places.into_iter().map(|(p, w)| (p.to_unit(), w)).collect();
        self.weight(move |place| {
            let here = place.to_unit();
            places.iter().map(|(p, w)| w * (sharpness * (p.dot(here) - 1.0)).exp()).sum()
        })
    }

    /// Returns the log of the product of all weights at a point.
    pub fn log_weight(&self, point: UnitVec) -> f64 {
        let place = point.to_latlon();
        if self.regions.iter().any(|region| !region.contains(place)) {
            return f64::NEG_INFINITY;
        }
        self.weights.iter().map(|weight| weight(place).max(0.0).ln()).sum()
    }

    /// What it is, and the names of its regions.
    pub(crate) fn words(&self) -> (&'static str, String) {
        let names: Vec<&str> = self.regions.iter().map(Region::name).collect();
        let factor = match (names.is_empty(), self.weights.is_empty()) {
            (true, _) => "prior",
            (false, true) => "region",
            (false, false) => "region and prior",
        };
        (factor, names.join(", "))
    }

    /// What it means on a globe. Regions that hold few of its pixels get finer ones.
    pub(crate) fn on(&self, globe: &Arc<Globe>) -> Arc<Known> {
        self.on_support(&Support::Globe(globe.clone()))
    }

    /// What it means on pixels of one depth. Regions that hold few of them get finer ones.
    pub(crate) fn on_support(&self, whole: &Support) -> Arc<Known> {
        let known = || self.on_globes.lock().unwrap_or_else(PoisonError::into_inner);
        let points = whole.points();
        if let Some(found) = known().get(&points.len()) {
            return found.clone();
        }
        // Outside the lock: what works it out on other threads may come here again.
        let weigh = |points: &[UnitVec]| points.par_iter().map(|p| self.log_weight(*p)).collect::<Vec<f64>>();
        let log_weights = weigh(points);
        let is_known = |k: &usize| log_weights[*k] > f64::NEG_INFINITY;
        let possible: Vec<u64> = (0..points.len()).filter(is_known).map(|k| whole.index(k)).collect();
        let has_whole_pixels = !possible.is_empty();
        let made = if possible.len() >= ENOUGH || self.regions.is_empty() {
            Known { support: whole.clone(), log_weights, has_whole_pixels }
        } else {
            let is_possible = |point| self.log_weight(point) > f64::NEG_INFINITY;
            let support = Support::fine(cover(&self.regions, possible, whole.depth(), is_possible));
            Known { log_weights: weigh(support.points()), support, has_whole_pixels }
        };
        let made = Arc::new(made);
        known().insert(points.len(), made.clone());
        made
    }
}

impl fmt::Debug for Knowledge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Knowledge of {} regions and {} weights", self.regions.len(), self.weights.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One knowledge serves globes of several degrees; the first globe's weights used to be taken for all.
    #[test]
    fn every_globe_has_weights_of_its_own() {
        let north = Knowledge::new().weight(|place| if place.lat_deg() >= 0.0 { 1.0 } else { 0.0 });
        for degree in [7, 23, 3, 7] {
            let globe = Arc::new(Globe::new(degree).unwrap());
            let known = north.on(&globe);
            assert_eq!(known.support.points().len(), globe.pixels().len());
            for (weight, point) in known.log_weights.iter().zip(globe.pixels().points()) {
                assert_eq!(*weight, north.log_weight(*point));
            }
        }
    }

    #[test]
    fn regions_and_places_weigh() {
        let at = |lat: f64, lon: f64| LatLon::new(lat, lon).unwrap();
        let japan = Knowledge::new().within(Region::parse("Japan").unwrap());
        let weights = [at(36.0, 138.0), at(48.9, 2.4)].map(|place| japan.log_weight(place.to_unit()));
        assert_eq!(weights, [0.0, f64::NEG_INFINITY]);
        let paris = Knowledge::new().places(vec![(at(48.86, 2.35), 2.0)], 100.0);
        let [there, london] = [at(48.86, 2.35), at(51.5, -0.13)].map(|place| paris.log_weight(place.to_unit()));
        assert!(there > london + 5.0);
    }

    /// Regions smaller than a pixel have pixels of their own; two that do not overlap leave nothing.
    #[test]
    fn small_regions_are_covered() {
        let globe = Arc::new(Globe::new(23).unwrap());
        let small =
            ["Singapore", "Malta", "Monaco", "Bahrain", "Maldives", "Barbados", "Andorra", "43.73,7.41,43.75,7.43"];
        for name in small {
            let known = Knowledge::new().within(Region::parse(name).unwrap()).on(&globe);
            assert!(known.log_weights.len() >= ENOUGH, "{name}: {}", known.log_weights.len());
            assert!(known.log_weights.iter().all(|weight| *weight == 0.0), "{name}");
        }
        let nowhere = Knowledge::new().within(Region::parse("Malta").unwrap()).within(Region::parse("Japan").unwrap());
        assert!(nowhere.on(&globe).log_weights.is_empty());
    }
}
