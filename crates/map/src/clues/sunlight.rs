//! Clues of the sun: its altitude, its azimuth, the length of a shadow, the season.

use crate::clues::asked::{AskedClue, ClueFit, ClueTime};
use crate::{clues::ClueError, clues::clocks::offsets_at, clues::sun::Sun, clues::sun::USUAL_AIR};
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
        let (altitude, azimuth) = sun.seen_from(place, USUAL_AIR);
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

#[cfg(test)]
mod tests {
    use crate::clues::{Clue, ClueTime};
    use locdiff_shdd::sphere::LatLon;

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
}
