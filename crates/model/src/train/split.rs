//! A validation split by blocks of land, so that no validation photo has a neighbour in training.

use crate::chance;
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon};

/// Height of a block in degrees; its width is the same on the ground.
const BLOCK_DEG: f64 = 2.0;
/// Rows nearer than this to a validation block are left out of training.
const GUARD_KM: f64 = 10.0;

/// Row numbers for training and for validation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Rows to train on.
    pub train: Vec<u32>,
    /// Rows to validate with.
    pub validation: Vec<u32>,
}

/// The block of a place.
fn block(lat: f64, lon: f64) -> (u64, u64) {
    let band = ((lat + 90.0) / BLOCK_DEG).floor().clamp(0.0, 180.0 / BLOCK_DEG - 1.0);
    let middle = (band + 0.5) * BLOCK_DEG - 90.0;
    let count = (360.0 * middle.to_radians().cos() / BLOCK_DEG).round().max(1.0);
    let column = ((lon + 180.0).rem_euclid(360.0) / 360.0 * count).floor().min(count - 1.0);
    (band as u64, column as u64)
}

/// Puts about `share` of the blocks into validation, by hash; rows within 10 km of such a block are used for nothing.
pub fn split_by_blocks(places: &[LatLon], share: f64, seed: u64) -> Split {
    let chosen = |lat: f64, lon: f64| {
        let (band, column) = block(lat, lon);
        chance::uniform(&[seed, 0x51_1D, band, column]) < share
    };
    let mut split = Split { train: Vec::new(), validation: Vec::new() };
    let guard_lat = (GUARD_KM / EARTH_RADIUS_KM).to_degrees();
    for (row, place) in places.iter().enumerate() {
        let (lat, lon) = (place.lat_deg(), place.lon_deg());
        if chosen(lat, lon) {
            split.validation.push(row as u32);
            continue;
        }
        let guard_lon = (guard_lat / lat.to_radians().cos().max(0.01)).min(180.0);
        let around = |side: f64| [-1.0, 0.0, 1.0].map(|step| step * side);
        let is_near = |up: f64| around(guard_lon).iter().any(|east| chosen((lat + up).clamp(-90.0, 90.0), lon + east));
        if !around(guard_lat).into_iter().any(is_near) {
            split.train.push(row as u32);
        }
    }
    split
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_shdd::sphere::haversine_km;

    #[test]
    fn no_validation_photo_has_a_neighbour_in_training() {
        // A cloud of towns: neighbours within a few km.
        let place = |k| {
            let (a, b) = chance::normals([3, 4, k]);
            chance::point([1, 2, k / 10]).step(a * 5.0 / 6371.0, b * 5.0 / 6371.0).to_latlon()
        };
        let places: Vec<LatLon> = (0..3000).map(place).collect();
        let split = split_by_blocks(&places, 0.2, 7);
        let share = split.validation.len() as f64 / places.len() as f64;
        assert!((0.1..0.3).contains(&share), "{share}");
        for &v in &split.validation {
            for &t in &split.train {
                let km = haversine_km(places[v as usize], places[t as usize]);
                assert!(km > 9.9, "{km}");
            }
        }
        assert_eq!(split, split_by_blocks(&places, 0.2, 7));
        assert_ne!(split, split_by_blocks(&places, 0.2, 8));
    }
}
