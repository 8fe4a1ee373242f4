//! Photos that are drawn together: neighbours err alike, so that they count as one.

use locdiff_shdd::sphere::LatLon;
use serde::Serialize;
use std::{collections::BTreeMap, sync::Arc};

/// The side of a block.
const SIDE_DEG: f64 = 5.0;
/// Fewer blocks than this say nothing about how results vary; photos are drawn instead.
const FEWEST: usize = 8;

/// Which block each photo lies in: cells of 5° of latitude and longitude.
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
    ///
    /// ```
    /// use locdiff_model::eval::Blocks;
    /// use locdiff_shdd::sphere::LatLon;
    /// let places: Vec<_> = (0..40).map(|k| LatLon::new(0.5 * f64::from(k), 3.0)).collect::<Result<_, _>>()?;
    /// assert!(Blocks::of_places(&places).is_none()); // 0° to 19.5°: four blocks
    /// let places: Vec<_> = (0..40).map(|k| LatLon::new(0.5, 2.0 * f64::from(k))).collect::<Result<_, _>>()?;
    /// assert_eq!(Blocks::of_places(&places).unwrap().count(), 16);
    /// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
    /// ```
    pub fn of_places(places: &[LatLon]) -> Option<Self> {
        let cell = |degrees: f64| (degrees / SIDE_DEG).floor() as i32;
        Self::of_labels(places.iter().map(|place| (cell(place.lat_deg()), cell(place.lon_deg()))))
    }

    fn of_labels<L: Ord>(labels: impl Iterator<Item = L>) -> Option<Self> {
        let mut numbers = BTreeMap::new();
        let of: Arc<[u32]> = labels
            .map(|label| {
                let next = numbers.len() as u32;
                *numbers.entry(label).or_insert(next)
            })
            .collect();
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

    /// The block of every photo.
    pub(crate) fn of(&self) -> &[u32] {
        &self.of
    }
}
