//! The baseline that answers the same place for every photo.

use crate::eval::RADII_KM;
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};
use rayon::prelude::*;

/// So many of the places are tried.
const MOST_TRIED: usize = 5000;

/// The one of the places that has most of them around it: the mean of the shares within 25, 200, 750 and 2500 km is highest.
/// What is not ahead of always answering it is no answer. `None` for no places.
///
/// ```
/// use locdiff_model::eval::best_constant;
/// use locdiff_shdd::sphere::LatLon;
/// let at = |lat: f64| LatLon::new(lat, 10.0);
/// let places = [at(-50.0)?, at(48.0)?, at(48.1)?, at(48.2)?, at(70.0)?];
/// assert!((best_constant(&places).unwrap().lat_deg() - 48.1).abs() < 0.2);
/// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
/// ```
pub fn best_constant(places: &[LatLon]) -> Option<LatLon> {
    let points: Vec<UnitVec> = places.iter().map(|place| place.to_unit()).collect();
    let cosines = [1, 2, 3, 4].map(|k| (RADII_KM[k] / EARTH_RADIUS_KM).cos());
    let near = |place: UnitVec| -> usize {
        points.iter().map(|other| cosines.iter().filter(|least| place.dot(*other) > **least).count()).sum()
    };
    let tried = points.len().min(MOST_TRIED);
    let candidates: Vec<usize> = (0..tried).map(|k| k * points.len() / tried).collect();
    let best = candidates.into_par_iter().map(|k| (near(points[k]), std::cmp::Reverse(k))).max();
    best.map(|(_, k)| places[k.0])
}
