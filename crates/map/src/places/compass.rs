//! Directions in words.

use locdiff_shdd::sphere::LatLon;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One of the eight winds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the names say it all")]
pub enum Compass {
    North,
    NorthEast,
    East,
    SouthEast,
    South,
    SouthWest,
    West,
    NorthWest,
}

impl Compass {
    const WINDS: [Compass; 8] = {
        use Compass::{East, North, NorthEast, NorthWest, South, SouthEast, SouthWest, West};
        [North, NorthEast, East, SouthEast, South, SouthWest, West, NorthWest]
    };

    /// The direction in which one sets out from a place to reach another by the shortest way.
    pub fn from_to(from: LatLon, to: LatLon) -> Self {
        let (from_lat, to_lat) = (from.lat_deg().to_radians(), to.lat_deg().to_radians());
        let east = (to.lon_deg() - from.lon_deg()).to_radians();
        let bearing_rad = (east.sin() * to_lat.cos())
            .atan2(from_lat.cos() * to_lat.sin() - from_lat.sin() * to_lat.cos() * east.cos());
        let eighth = (bearing_rad.to_degrees() / 45.0).round() as i64;
        Self::WINDS[eighth.rem_euclid(8) as usize]
    }
}

impl fmt::Display for Compass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 8] =
            ["north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west"];
        f.write_str(NAMES[*self as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_winds_occur_and_the_antimeridian_is_no_wall() {
        for (lat, lon) in [(10.0, 20.0), (-40.0, 179.99_f64)] {
            let wind = |eighth: i32| {
                let (sin, cos) = (f64::from(eighth) * 45.0).to_radians().sin_cos();
                let to = LatLon::new(lat + 0.1 * cos, lon + 0.1 * sin / f64::to_radians(lat).cos()).unwrap();
                Compass::from_to(LatLon::new(lat, lon).unwrap(), to)
            };
            assert_eq!((0..8).map(wind).collect::<Vec<_>>(), Compass::WINDS);
        }
        let pole = LatLon::new(-90.0, 0.0).unwrap();
        assert_eq!(Compass::from_to(LatLon::new(-54.8, -68.3).unwrap(), pole), Compass::South);
        let names = Compass::WINDS.map(|wind| wind.to_string());
        assert_eq!(serde_json::to_value(Compass::WINDS).unwrap(), serde_json::to_value(names).unwrap());
        assert_eq!(Compass::NorthEast.to_string(), "north-east");
    }
}
