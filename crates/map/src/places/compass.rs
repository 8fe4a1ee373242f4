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
    const WINDS: [Compass; 8] = [
        Self::North,
        Self::NorthEast,
        Self::East,
        Self::SouthEast,
        Self::South,
        Self::SouthWest,
        Self::West,
        Self::NorthWest,
    ];

    /// The direction in which one sets out from a place to reach another by the shortest way.
    ///
    /// ```
    /// use locdiff_map::places::Compass;
    /// use locdiff_shdd::sphere::LatLon;
    /// let (paris, lyon) = (LatLon::new(48.86, 2.35)?, LatLon::new(45.76, 4.84)?);
    /// assert_eq!(Compass::from_to(paris, lyon).to_string(), "south-east");
    /// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
    /// ```
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
        f.write_str(match self {
            Self::North => "north",
            Self::NorthEast => "north-east",
            Self::East => "east",
            Self::SouthEast => "south-east",
            Self::South => "south",
            Self::SouthWest => "south-west",
            Self::West => "west",
            Self::NorthWest => "north-west",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_winds_are_met_and_the_antimeridian_is_no_wall() {
        let winds = |lat: f64, lon: f64| -> Vec<Compass> {
            let centre = LatLon::new(lat, lon).unwrap();
            (0..8)
                .map(|eighth| {
                    let (sin, cos) = (f64::from(eighth) * 45.0).to_radians().sin_cos();
                    let to = LatLon::new(lat + 0.1 * cos, lon + 0.1 * sin / lat.to_radians().cos()).unwrap();
                    Compass::from_to(centre, to)
                })
                .collect()
        };
        assert_eq!(winds(10.0, 20.0), Compass::WINDS);
        assert_eq!(winds(-40.0, 179.99), Compass::WINDS);
        let pole = LatLon::new(-90.0, 0.0).unwrap();
        assert_eq!(Compass::from_to(LatLon::new(-54.8, -68.3).unwrap(), pole), Compass::South);
        assert_eq!(serde_json::to_string(&Compass::NorthEast).unwrap(), "\"north-east\"");
    }
}
