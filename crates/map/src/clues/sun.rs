//! Where the sun stands: Earth's longitude by the leading terms of VSOP87, with nutation, aberration, parallax and refraction.
//! For times from 1960 to 2060 it is within 0.002° of NREL's SPA (Reda and Andreas 2004), whose terms these are.

use locdiff_shdd::sphere::LatLon;

/// Amplitude in 10⁻⁸ rad, phase in rad, rate in rad per 1,000 years: Earth's heliocentric longitude, after its mean.
const LONGITUDE: [f64; 48] = [
    3341656.0, 4.6692568, 6283.07585, 34894.0, 4.6261, 12566.1517, 3497.0, 2.7441, 5753.3849, 3418.0, 2.8289, 3.5231,
    3136.0, 3.6277, 77713.7715, 2676.0, 4.4181, 7860.4194, 2343.0, 6.1352, 3930.2097, 1324.0, 0.7425, 11506.7698,
    1273.0, 2.0371, 529.691, 1199.0, 1.1096, 1577.3435, 990.0, 5.233, 5884.927, 902.0, 2.045, 26.298, 857.0, 3.508,
    398.149, 780.0, 1.179, 5223.694, 753.0, 2.533, 5507.553, 505.0, 4.583, 18849.228,
];
/// Its terms that grow with time.
const DRIFT: [f64; 6] = [206059.0, 2.678235, 6283.07585, 4303.0, 2.6351, 12566.1517];
/// Earth's distance from the sun, in 10⁻⁸ astronomical units.
const DISTANCE: [f64; 6] = [1670700.0, 3.0984635, 6283.07585, 13956.0, 3.05525, 12566.1517];
/// How far the clock of the planets is ahead of UTC. It was 33 s in 1960; the sun moves 0.001° in 80 s.
const DELTA_T_S: f64 = 67.0;
/// Refraction by air of 1013 hPa and 12 °C, as a multiple of that by 1010 hPa and 10 °C.
pub(crate) const USUAL_AIR: f64 = 0.996;

/// The sun as seen from Earth's centre.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sun {
    declination: f64,
    /// The hour angle at Greenwich.
    hour_angle: f64,
    distance_au: f64,
}

fn sum(terms: &[f64], millennia: f64) -> f64 {
    terms.as_chunks::<3>().0.iter().map(|[size, phase, rate]| size * (phase + rate * millennia).cos()).sum()
}

impl Sun {
    /// The sun at a time in seconds since 1970, of UTC.
    pub(crate) fn at(seconds: f64) -> Self {
        let days = seconds / 86_400.0 - 10_957.5;
        let centuries = (days + DELTA_T_S / 86_400.0) / 36_525.0;
        let t = centuries / 10.0;
        let squared = 52_919.0 + 8720.0 * (1.0721 + 6283.0758 * t).cos();
        let longitude = 175_347_046.0 + sum(&LONGITUDE, t) + (628_331_966_747.0 + sum(&DRIFT, t) + squared * t) * t;
        let distance_au = 1.000_139_89 + 1e-8 * sum(&DISTANCE, t);
        // Nutation, from the moon's node and the mean longitudes of sun and moon.
        let degrees = |start: f64, rate: f64| (start + rate * centuries).to_radians();
        let (node, sun) = (degrees(125.04452, -1934.136261), 2.0 * degrees(280.4665, 36_000.769_8));
        let moon = 2.0 * degrees(218.3165, 481_267.881_3);
        let arcsec = |value: f64| (value / 3600.0).to_radians();
        let nutation = arcsec(-17.20 * node.sin() - 1.32 * sun.sin() - 0.23 * moon.sin() + 0.21 * (2.0 * node).sin());
        let tilt = degrees(23.439_291_1, -0.013_004_2)
            + arcsec(9.20 * node.cos() + 0.57 * sun.cos() + 0.10 * moon.cos() - 0.09 * (2.0 * node).cos());
        let apparent = 1e-8 * longitude + std::f64::consts::PI + nutation - arcsec(20.4898) / distance_au;
        let right_ascension = (apparent.sin() * tilt.cos()).atan2(apparent.cos());
        let sidereal = (280.460_618_37 + 360.985_647_366_29 * days).to_radians() + nutation * tilt.cos();
        Self { declination: (tilt.sin() * apparent.sin()).asin(), hour_angle: sidereal - right_ascension, distance_au }
    }

    /// Its apparent altitude above the horizon and its azimuth, clockwise from north, in degrees.
    pub(crate) fn seen_from(&self, place: LatLon, air: f64) -> (f64, f64) {
        let (sin_lat, cos_lat) = place.lat_deg().to_radians().sin_cos();
        let (sin_hour, cos_hour) = (self.hour_angle + place.lon_deg().to_radians()).sin_cos();
        let (sin, cos) = self.declination.sin_cos();
        let altitude = (sin_lat * sin + cos_lat * cos * cos_hour).clamp(-1.0, 1.0).asin();
        let altitude = altitude.to_degrees() - 8.794 / 3600.0 * altitude.cos() / self.distance_au;
        // Refraction after Sæmundsson; none for a sun that has set.
        let lifted = 1.02 / 60.0 / (altitude + 10.3 / (altitude + 5.11)).to_radians().tan();
        let azimuth = (cos * sin_hour).atan2(cos * cos_hour * sin_lat - sin * cos_lat).to_degrees() + 180.0;
        (if altitude > -0.833 { altitude + air * lifted } else { altitude }, azimuth.rem_euclid(360.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds since 1970, latitude, longitude, apparent altitude, azimuth: `spa_python` of pvlib 0.16.1 at sea level, 1013.25 hPa
    /// and 12 °C, places and times drawn at random (seed 45).
    const BY_PVLIB: &str = "2103307477 10.59 -32.91 4.2236 279.7695 | 1748753204 14.32 122.43 74.0795 301.3124 | 279402655 -49.79 -134.86 55.2181 22.3338 |
        2051324348 -39.15 75.5 51.9919 76.9557 | 1835660058 2.54 165.74 78.8196 214.4645 | -119224898 67.08 80.39 7.8572 106.6154 |
        1850647473 38.15 -65.11 34.5251 103.9794 | 1081406529 -14.04 134.74 31.5734 287.9598 | 739681229 -18.02 90.26 30.2910 48.2693 |
        1580839982 3.36 -129.15 46.4601 117.8942 | 930083554 50.77 -145.16 59.4871 147.0710 | 2148664852 20.06 -138.92 41.4463 137.3123 |
        504953623 -38.13 -30.13 23.4492 101.6402 | 1304832766 -29.57 104.04 42.7974 349.4247 | 873788195 12.65 69.58 80.7775 142.5856 |
        2037713759 -41.34 -68.64 27.9719 17.4786 | 2188227655 23.51 6.07 13.5342 282.2129 | 1640463196 -75.91 -36.99 23.5727 267.6038 |
        675852362 31.63 -20.48 29.2099 80.6181 | 2456685626 41.33 -110.39 28.4714 206.1779 | 2459730658 9.87 -137.82 3.9661 245.8066 |
        186160263 -5.57 -8.77 46.3377 245.6520 | 2624110817 -37.57 -126.51 17.5094 87.6679 | 1826132668 7.89 -130.15 57.3485 142.7332";

    #[test]
    fn the_sun_is_where_spa_has_it() {
        for row in BY_PVLIB.split('|') {
            let [seconds, lat, lon, altitude, azimuth] =
                row.split_whitespace().map(|number| number.parse().unwrap()).collect::<Vec<f64>>()[..]
            else {
                panic!("{row}")
            };
            let found = Sun::at(seconds).seen_from(LatLon::new(lat, lon).unwrap(), USUAL_AIR);
            assert!((found.0 - altitude).abs() < 0.002 && (found.1 - azimuth).abs() < 0.002, "{row}: {found:?}");
        }
    }

    /// The example of NREL's report: 17 October 2003, 12:30:30 seven hours behind UTC, at 820 hPa and 11 °C.
    #[test]
    fn the_example_of_nrel() {
        let air = 820.0 / 1010.0 * 283.0 / (273.0 + 11.0);
        let (altitude, azimuth) = Sun::at(1_066_419_030.0).seen_from(LatLon::new(39.742476, -105.1786).unwrap(), air);
        assert!(
            (90.0 - altitude - 50.11162).abs() < 0.001 && (azimuth - 194.34024).abs() < 0.001,
            "{altitude} {azimuth}"
        );
    }
}
