//! What is also known about a photo: weights on places that multiply the model's density.

use locdiff_places::Region;
use locdiff_sphere::{EARTH_RADIUS_KM, LatLon, Pixels, UnitVec};
use rayon::prelude::*;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

type Weight = Box<dyn Fn(LatLon) -> f64 + Send + Sync>;

/// Weights on places, multiplied together: a region it must be in, a population raster, places one has been to.
///
/// ```
/// use locdiff_answer::Knowledge;
/// use locdiff_sphere::LatLon;
/// let north = Knowledge::new().weight(|place| if place.lat_deg() >= 0.0 { 1.0 } else { 0.0 });
/// assert_eq!(north.log_weight(LatLon::new(-10.0, 0.0)?.to_unit()), f64::NEG_INFINITY);
/// # Ok::<(), locdiff_sphere::SphereError>(())
/// ```
#[derive(Default)]
pub struct Knowledge {
    weights: Vec<Weight>,
    /// Log weights at the pixels of the globes it is used on, by their number, worked out once for each.
    at_pixels: Mutex<HashMap<usize, Arc<[f64]>>>,
}

impl Knowledge {
    /// Nothing known: all places weigh 1.
    pub fn new() -> Self {
        Self::default()
    }

    /// Multiplies by a weight, which must not be negative; NaN counts as 0.
    #[must_use]
    pub fn weight(mut self, weight: impl Fn(LatLon) -> f64 + Send + Sync + 'static) -> Self {
        self.weights.push(Box::new(weight));
        self.at_pixels = Mutex::default();
        self
    }

    /// It must be in a region.
    ///
    /// ```
    /// use locdiff_answer::Knowledge;
    /// use locdiff_places::Region;
    /// use locdiff_sphere::LatLon;
    /// let japan = Knowledge::new().within(Region::parse("Japan")?);
    /// assert_eq!(japan.log_weight(LatLon::new(36.0, 138.0)?.to_unit()), 0.0);
    /// assert_eq!(japan.log_weight(LatLon::new(48.9, 2.4)?.to_unit()), f64::NEG_INFINITY);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn within(self, region: Region) -> Self {
        self.weight(move |place| f64::from(u8::from(region.contains(place))))
    }

    /// Multiplies by a sum of Gaussian kernels of deviation `spread_km` about weighted places.
    ///
    /// ```
    /// use locdiff_answer::Knowledge;
    /// use locdiff_sphere::LatLon;
    /// let paris = LatLon::new(48.86, 2.35)?;
    /// let known = Knowledge::new().places(vec![(paris, 2.0)], 100.0);
    /// let london = LatLon::new(51.5, -0.13)?;
    /// assert!(known.log_weight(paris.to_unit()) > known.log_weight(london.to_unit()) + 5.0);
    /// # Ok::<(), locdiff_sphere::SphereError>(())
    /// ```
    #[must_use]
    pub fn places(self, places: Vec<(LatLon, f64)>, spread_km: f64) -> Self {
        let sharpness = (EARTH_RADIUS_KM / spread_km).powi(2);
        let places: Vec<(UnitVec, f64)> = places.into_iter().map(|(p, w)| (p.to_unit(), w)).collect();
        self.weight(move |place| {
            let here = place.to_unit();
            places.iter().map(|(p, w)| w * (sharpness * (p.dot(here) - 1.0)).exp()).sum()
        })
    }

    /// Log of the product of all weights at a point.
    pub fn log_weight(&self, point: UnitVec) -> f64 {
        let place = point.to_latlon();
        self.weights.iter().map(|weight| weight(place).max(0.0).ln()).sum()
    }

    /// The same at every pixel.
    pub(crate) fn log_weights(&self, pixels: &Pixels) -> Arc<[f64]> {
        let known = || self.at_pixels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(weights) = known().get(&pixels.len()) {
            return weights.clone();
        }
        // Outside the lock: what works it out on other threads may come here again.
        let weights: Arc<[f64]> = pixels.points().par_iter().map(|p| self.log_weight(*p)).collect();
        known().insert(pixels.len(), weights.clone());
        weights
    }
}

impl fmt::Debug for Knowledge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Knowledge of {} weights", self.weights.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One knowledge serves globes of several degrees; the first globe's weights used to be taken for all.
    #[test]
    fn every_globe_has_weights_of_its_own() {
        let north = Knowledge::new().weight(|place| if place.lat_deg() >= 0.0 { 1.0 } else { 0.0 });
        for depth in [5, 7, 4, 5] {
            let pixels = Pixels::new(depth).unwrap();
            let weights = north.log_weights(&pixels);
            assert_eq!(weights.len(), pixels.len());
            for (weight, point) in weights.iter().zip(pixels.points()) {
                assert_eq!(*weight, north.log_weight(*point));
            }
        }
    }
}
