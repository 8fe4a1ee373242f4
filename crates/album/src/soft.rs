//! What is softly known of a photo's place: a town, a country.

use crate::earth::{Earth, within_cell};
use locdiff_map::places::Region;
use locdiff_shdd::sphere::{LatLon, UnitVec, haversine_km};

/// Weights on places that a photo's own place is multiplied by. They say nothing of other photos: what is wrong of one is wrong of all.
#[derive(Debug, Clone, PartialEq)]
pub enum SoftPlace {
    /// About a place, to so many km along each axis.
    Around(LatLon, f64),
    /// In a region.
    Within(Box<SoftRegion>),
}

impl SoftPlace {
    /// Whether a place is what it says.
    pub(crate) fn holds(&self, place: LatLon) -> bool {
        match self {
            Self::Around(at, deviation_km) => haversine_km(*at, place) < 3.0 * deviation_km,
            Self::Within(soft) => soft.region.contains(place),
        }
    }
}

/// A region on the grid.
#[derive(Debug, Clone, PartialEq)]
pub struct SoftRegion {
    pub(crate) region: Region,
    /// The part of each cell that lies in it.
    pub(crate) grid: Vec<f64>,
}

impl SoftRegion {
    pub(crate) fn new(region: Region, earth: &Earth) -> Self {
        let is_inside = |place: &UnitVec| region.contains(place.to_latlon());
        let share = |point: &UnitVec| within_cell(*point).iter().filter(|place| is_inside(place)).count() as f64 / 9.0;
        Self { grid: earth.points.iter().map(share).collect(), region }
    }
}
