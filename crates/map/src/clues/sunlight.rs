//! Clues of the sun: where it stands at a time, its altitude, its azimuth, the length of a shadow, the season.

use crate::clues::{ClueError, asked::AskedClue, asked::ClueFit, asked::ClueTime, clocks::offsets_at};
use locdiff_shdd::sphere::LatLon;
use std::{f64::consts::TAU, ops::RangeInclusive};

/// The deviation of every angle beside the one that is given: a cell of the map is 0.22° wide.
const CELL_DEG: f64 = 0.2;
/// Minutes between the offsets from UTC that are told apart, and the least and largest of them.
const STEP: i16 = 15;
const OFFSETS: RangeInclusive<i16> = -900..=900;
const YEAR_DAYS: f64 = 365.2425;
/// The middle of winter, spring, summer and autumn in the north, in days after the new year of 1970.
const MIDDLES: [f64; 4] = [14.0, 104.0, 195.0, 287.0];
/// Seasons are told apart beyond this latitude.
const SEASONS_FROM_DEG: f64 = 15.0;

/// Reads "34±3 deg".
pub(crate) fn altitude(asked: &AskedClue<'_>) -> Result<ClueFit, ClueError> {
    let (angle, deviation, time) = measured(asked, 3.0, 0.0..=90.0)?;
    let deviation = deviation.hypot(CELL_DEG);
    Ok(seen(time, move |altitude, _| gaussian((altitude - angle) / deviation)))
}

/// Reads "1.4±0.1 times its height".
pub(crate) fn shadow(asked: &AskedClue<'_>) -> Result<ClueFit, ClueError> {
    let (ratio, deviation, time) = measured(asked, f64::NAN, 0.01..=50.0)?;
    let deviation = if deviation.is_nan() { 0.1 * ratio } else { deviation };
    let deviation = deviation.hypot((1.0 + ratio * ratio) * CELL_DEG.to_radians());
    let fit = move |altitude: f64, _| {
        let has_set = altitude <= 0.0;
        if has_set { 0.0 } else { gaussian((1.0 / altitude.to_radians().tan() - ratio) / deviation) }
    };
    Ok(seen(time, fit))
}

/// Reads "120±5 deg".
pub(crate) fn azimuth(asked: &AskedClue<'_>) -> Result<ClueFit, ClueError> {
    let (angle, deviation, time) = measured(asked, 10.0, 0.0..=360.0)?;
    let fit = move |altitude: f64, azimuth: f64| {
        let turn = (azimuth - angle + 180.0).rem_euclid(360.0) - 180.0;
        // The nearer to the zenith, the less of an angle is a cell.
        let cell = CELL_DEG / altitude.to_radians().cos().max(0.01);
        if altitude <= 0.0 { 0.0 } else { gaussian(turn / deviation.hypot(cell)) }
    };
    Ok(seen(time, fit))
}

/// Reads "winter", "spring", "summer" or "autumn" of a date. Near the equator it says little.
pub(crate) fn season(asked: &AskedClue<'_>) -> Result<ClueFit, ClueError> {
    let names = ["winter", "spring", "summer", "autumn", "fall"];
    let middle = MIDDLES[asked.one_of(&names)?.min(3)];
    let time = asked.photo_time()?;
    let north = (TAU * (time.seconds / 86_400.0 - middle) / YEAR_DAYS).cos();
    Ok(ClueFit::Function(Box::new(move |place| 0.5 + 0.5 * north * (place.lat_deg() / SEASONS_FROM_DEG).tanh())))
}

fn gaussian(z: f64) -> f64 {
    (-0.5 * z * z).exp()
}

/// The number of "34±3 deg @ 2024-02-29T13:59Z", its deviation, and the time: the value's own or that of the photo.
fn measured(asked: &AskedClue<'_>, usual: f64, range: RangeInclusive<f64>) -> Result<(f64, f64, ClueTime), ClueError> {
    let (text, own) = asked.value.split_once('@').map_or((asked.value, None), |(text, time)| (text, Some(time)));
    let text = text.replace("+/-", "±").replace("+-", "±");
    let (value, deviation) = text.split_once('±').map_or((&text[..], None), |(value, more)| (value, Some(more)));
    let is_unit = |letter: char| letter.is_alphabetic() || letter.is_whitespace() || letter == '°';
    let number = |text: &str| text.trim_end_matches(is_unit).trim().parse::<f64>().ok();
    let value = number(value).filter(|value| range.contains(value));
    let deviation = deviation.map_or(Some(usual), |text| number(text).filter(|one| *one > 0.0 && *one <= 180.0));
    let Some((value, deviation)) = value.zip(deviation) else {
        let (from, to) = (range.start(), range.end());
        return Err(asked.refuse(format!("give a number from {from} to {to} and how sure it is, such as 34±3")));
    };
    let time = match own {
        Some(text) => ClueTime::parse(text).ok_or_else(|| asked.refuse("\"@\" goes before a time of ISO 8601"))?,
        None => asked.photo_time()?,
    };
    if time.is_day() {
        Err(asked.refuse("it needs the time of day, not the date alone"))
    } else {
        Ok((value, deviation, time))
    }
}

/// How places fit, given how an altitude and an azimuth of the sun do. A local time is taken by all clocks that a place may have.
fn seen(time: ClueTime, fit: impl Fn(f64, f64) -> f64 + Send + Sync + 'static) -> ClueFit {
    let fit_of = move |sun: &Sun, place: LatLon| {
        let (altitude, azimuth) = sun.seen_from(place);
        fit(altitude, azimuth)
    };
    if time.is_utc {
        let sun = Sun::at(time.seconds);
        return ClueFit::Function(Box::new(move |place| fit_of(&sun, place)));
    }
    let sun_of = |offset: i16| Sun::at(time.seconds - 60.0 * f64::from(offset));
    let suns: Vec<Sun> = OFFSETS.step_by(STEP as usize).map(sun_of).collect();
    ClueFit::Function(Box::new(move |place| {
        let offsets = offsets_at(place);
        let number = |offset: &i16| ((offset - OFFSETS.start()) / STEP) as usize;
        let fits = offsets.iter().filter_map(|offset| suns.get(number(offset))).map(|sun| fit_of(sun, place));
        fits.sum::<f64>() / offsets.len() as f64
    }))
}

/// How far the clock of the planets is ahead of UTC. It was 33 s in 1960; the sun moves 0.001° in 80 s.
const DELTA_T_S: f64 = 67.0;
/// Refraction by air of 1013 hPa and 12 °C, as a multiple of that by 1010 hPa and 10 °C.
const USUAL_AIR: f64 = 0.996;

/// The sun as seen from Earth's centre.
#[derive(Debug, Clone, Copy)]
struct Sun {
    declination: f64,
    /// The hour angle at Greenwich.
    hour_angle: f64,
}

impl Sun {
    /// The sun at a time in seconds since 1970, of UTC: the Astronomical Almanac's formula, good to 0.01° from 1950 to 2050.
    fn at(seconds: f64) -> Self {
        let turned = seconds / 86_400.0 - 10_957.5;
        let days = turned + DELTA_T_S / 86_400.0;
        let anomaly = (357.529 + 0.985_600_28 * days).to_radians();
        let longitude = 280.459 + 0.985_647_36 * days + 1.915 * anomaly.sin() + 0.020 * (2.0 * anomaly).sin();
        let (sin, cos) = longitude.to_radians().sin_cos();
        let tilt = (23.439 - 0.000_000_36 * days).to_radians();
        let sidereal = (280.460_618_37 + 360.985_647_366_29 * turned).to_radians();
        Self { declination: (tilt.sin() * sin).asin(), hour_angle: sidereal - (tilt.cos() * sin).atan2(cos) }
    }

    /// Its apparent altitude above the horizon and its azimuth, clockwise from north, in degrees.
    fn seen_from(&self, place: LatLon) -> (f64, f64) {
        let (sin_lat, cos_lat) = place.lat_deg().to_radians().sin_cos();
        let (sin_hour, cos_hour) = (self.hour_angle + place.lon_deg().to_radians()).sin_cos();
        let (sin, cos) = self.declination.sin_cos();
        let altitude = (sin_lat * sin + cos_lat * cos * cos_hour).clamp(-1.0, 1.0).asin().to_degrees();
        // Refraction after Sæmundsson; none for a sun that has set.
        let lifted = USUAL_AIR * 1.02 / 60.0 / (altitude + 10.3 / (altitude + 5.11)).to_radians().tan();
        let azimuth = (cos * sin_hour).atan2(cos * cos_hour * sin_lat - sin * cos_lat).to_degrees() + 180.0;
        (if altitude > -0.833 { altitude + lifted } else { altitude }, azimuth.rem_euclid(360.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clues::{Clue, ClueTime};

    fn likelihoods(clue: &str, time: &str, places: &[(f64, f64)]) -> Vec<f64> {
        let clue = Clue::parse(clue, ClueTime::parse(time)).unwrap();
        let at = |(lat, lon): &(f64, f64)| clue.likelihood(LatLon::new(*lat, *lon).unwrap().to_unit());
        places.iter().map(at).collect()
    }

    /// ShadowFinder's README: `shadowfinder find 10 5 2024-02-29 13:59:59 --time_format=utc`, and `find_sun 50`. Its band, by
    /// suncalc, goes through Abidjan and near Bamako, that of 50° through Luanda and Buenos Aires.
    #[test]
    fn the_examples_of_shadow_finder() {
        let [near_half, near_50, others] =
            [[(5.36, -4.0), (12.64, -8.0)], [(-8.84, 13.23), (-34.6, -58.4)], [(51.5, -0.13), (30.04, 31.24)]];
        for (clue, on, off) in [
            ("shadow=0.5±0.02 times its height", near_half, near_50),
            ("shadow=0.5+-0.02", near_half, near_50),
            ("sun=50±0.5 deg", near_50, near_half),
        ] {
            let found = likelihoods(clue, "2024-02-29 13:59:59 UTC", &[on, off, others].concat());
            let (near, far) = found.split_at(2);
            assert!(near.iter().all(|one| *one > 0.4) && far.iter().all(|one| *one < 0.06), "{clue}: {found:?}");
        }
    }

    /// At a solar noon of June the sun stands in the south of Paris and in the north of Sydney.
    #[test]
    fn times_azimuths_and_seasons() {
        let (paris, sydney, quito) = ((48.86, 2.35), (-33.87, 151.21), (-0.2, -78.5));
        let noon = likelihoods("sun-azimuth=180±5", "2024-06-21 11:51:00Z", &[paris, sydney]);
        assert!(noon[0] > 0.9 && noon[1] < 0.06, "{noon:?}");
        // The value's own time; a clock that shows local time is in summer or winter time.
        let own = likelihoods("sun=64.6±1 @ 2024-06-21T11:51Z", "2001-01-01 00:00:01Z", &[paris, sydney]);
        assert!(own[0] > 0.9 && own[1] < 0.06, "{own:?}");
        let local = likelihoods("sun=64.6±1", "2024-06-21 13:51:00", &[paris, sydney]);
        assert!((0.3..0.6).contains(&local[0]) && local[1] < 0.06, "{local:?}");
        let summer = likelihoods("season=summer", "2024-07-10", &[paris, sydney, quito]);
        assert!(summer[0] > 0.9 && summer[1] < 0.2 && (0.4..0.7).contains(&summer[2]), "{summer:?}");
        let winter = likelihoods("season!=summer", "2024-07-10", &[paris, sydney]);
        assert!(winter[1] > 0.9 && winter[0] < 0.2, "{winter:?}");
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        const CASES: &str = "sun=34±3>>it needs the photo's time|season=summer>>it needs the photo's time|\
            sun=34±3>2024-06-21>the time of day|season=sumer>2024-06-21>did you mean summer?|sun=high>0>from 0 to 90|\
            sun=nan>0>from 0 to 90|sun=91>0>from 0 to 90|sun=34±0>0>from 0 to 90|shadow=-1>0>from 0.01 to 50|\
            shadow=1±inf>0>from 0.01 to 50|sun-azimuth=361>0>from 0 to 360|sun=34 @ noon>0>a time of ISO 8601";
        for case in CASES.split('|') {
            let [clue, time, reason] = case.split('>').collect::<Vec<_>>()[..] else { panic!("{case}") };
            let time = ClueTime::parse(time);
            let message = Clue::parse(clue, time).unwrap_err().to_string();
            assert!(message.contains(reason) && message.contains(clue), "{message}");
        }
    }

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
            let found = Sun::at(seconds).seen_from(LatLon::new(lat, lon).unwrap());
            assert!((found.0 - altitude).abs() < 0.01 && (found.1 - azimuth).abs() < 0.01, "{row}: {found:?}");
        }
    }
}
