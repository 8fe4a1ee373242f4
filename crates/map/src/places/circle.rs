//! "50 km around Paris", "50 km around 48.85,2.35".

use crate::places::{PlacesError, find_place};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, Polygon, Ring};

/// The largest radius: beyond it a circle is not where anybody remembers to have been.
const LARGEST_KM: f64 = 5000.0;
/// Corners of the outline; it lies within 0.1 % of the circle.
const CORNERS: usize = 120;

/// The circle of "50 km around Paris" (or km, m, mi; of, from); `None` for a text of another kind.
pub(crate) fn parse(text: &str) -> Option<Result<Polygon, PlacesError>> {
    // Of the same length: the place stays as it is written.
    let lower = text.to_ascii_lowercase();
    let (at, word) = [" around ", " of ", " from "].iter().find_map(|word| Some((lower.find(word)?, word)))?;
    let (radius, place) = (lower[..at].trim(), &text[at + word.len()..]);
    let radius = radius.strip_prefix("within ").unwrap_or(radius).trim();
    let digits = radius.trim_end_matches(char::is_alphabetic);
    let km_per_unit = match radius[digits.len()..].trim() {
        "km" | "kilometres" | "kilometers" => 1.0,
        "m" | "metres" | "meters" => 1e-3,
        "mi" | "miles" | "mile" => 1.609_344,
        _ => return None,
    };
    let refuse = |reason: &str| Some(Err(PlacesError::Circle { text: text.to_owned(), reason: reason.to_owned() }));
    let Ok(number) = digits.trim().parse::<f64>() else { return refuse("its radius is not a number") };
    let radius_km = number * km_per_unit;
    if !(radius_km > 0.0 && radius_km <= LARGEST_KM) {
        return refuse("its radius is from 0 to 5,000 km");
    }
    match find_place(place) {
        Ok(Some(centre)) => Some(Ok(outline(centre.at, radius_km / EARTH_RADIUS_KM))),
        Ok(None) => refuse("its centre is neither a town's name nor a latitude and longitude"),
        Err(several) => Some(Err(several)),
    }
}

/// The circle as a polygon. Longitudes go on beyond ±180°; around a pole the outline is closed along it.
fn outline(centre: LatLon, radius_rad: f64) -> Polygon {
    let (lat, lon) = (centre.lat_deg().to_radians(), centre.lon_deg().to_radians());
    let corner = |k: usize| {
        let bearing = std::f64::consts::TAU * k as f64 / CORNERS as f64;
        let sin_lat = lat.sin() * radius_rad.cos() + lat.cos() * radius_rad.sin() * bearing.cos();
        let east = bearing.sin() * radius_rad.sin() * lat.cos();
        let turned = lon + east.atan2(radius_rad.cos() - lat.sin() * sin_lat);
        [turned.to_degrees(), sin_lat.clamp(-1.0, 1.0).asin().to_degrees()]
    };
    let mut outer: Ring = vec![corner(0)];
    for k in 1..=CORNERS {
        let [mut lon, lat] = corner(k);
        let last = outer[outer.len() - 1][0];
        lon -= 360.0 * ((lon - last) / 360.0).round();
        outer.push([lon, lat]);
    }
    let (first, last) = (outer[0], outer[CORNERS]);
    if (last[0] - first[0]).abs() > 180.0 {
        let pole = 90.0 * centre.lat_deg().signum();
        outer.extend([[last[0], pole], [first[0], pole], first]);
    } else {
        outer[CORNERS] = first;
    }
    Polygon { outer, holes: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_shdd::sphere::{PolygonIndex, haversine_km};

    #[test]
    fn the_circle_holds_what_is_near() {
        for (text, lat, lon, radius_km) in [
            ("50 km around 48.85,2.35", 48.85, 2.35, 50.0),
            ("50 km around Paris", 48.853, 2.349, 50.0),
            ("100km around Malmö", 55.606, 13.001, 100.0),
            ("30 km of 48°51'24\"N 2°21'03\"E", 48.8567, 2.3508, 30.0),
            ("within 300 km of -17, 179.5", -17.0, 179.5, 300.0),
            ("500 mi from 88,10", 88.0, 10.0, 804.672),
            ("5000km around -60,-100", -60.0, -100.0, 5000.0),
            ("200 m around 0,0", 0.0, 0.0, 0.2),
        ] {
            let polygon = parse(text).unwrap().unwrap();
            let index = PolygonIndex::new(vec![polygon]);
            let centre = LatLon::new(lat, lon).unwrap();
            let mut inside = 0;
            for k in 0..4000_u32 {
                // Points around the centre, out to twice the radius.
                let (bearing, share) = (f64::from(k) * 2.399_963, f64::from(k) / 4000.0 * 2.0);
                let angle = share * radius_km / EARTH_RADIUS_KM;
                let (phi, lambda) = (lat.to_radians(), lon.to_radians());
                let sin = phi.sin() * angle.cos() + phi.cos() * angle.sin() * bearing.cos();
                let turn = (bearing.sin() * angle.sin() * phi.cos()).atan2(angle.cos() - phi.sin() * sin);
                let lon_deg = ((lambda + turn).to_degrees() + 540.0).rem_euclid(360.0) - 180.0;
                let point = LatLon::new(sin.clamp(-1.0, 1.0).asin().to_degrees(), lon_deg).unwrap();
                let km = haversine_km(centre, point);
                // Edges of the outline are straight in longitude and latitude: some slack near poles.
                if (km / radius_km - 1.0).abs() > 0.03 {
                    assert_eq!(index.polygon_at(point).is_some(), km < radius_km, "{text}: {point} {km}");
                }
                inside += usize::from(km < radius_km);
            }
            assert!(inside > 1000);
        }
    }

    #[test]
    fn what_is_no_circle_is_said_or_left_to_others() {
        assert!(parse("Isle of Man").is_none() && parse("France").is_none());
        for (text, reason) in [
            ("50 km around Xyzzyville", "neither a town's name"),
            ("x km around 1,2", "not a number"),
            ("0 km around 1,2", "from 0 to"),
            ("6000 km around 1,2", "from 0 to"),
            ("5 km around 91,2", "neither a town's name"),
        ] {
            let message = parse(text).unwrap().unwrap_err().to_string();
            assert!(message.contains(reason) && message.contains(text), "{message}");
        }
        assert!(matches!(parse("5 km around Springfield"), Some(Err(PlacesError::Ambiguous { .. }))));
    }
}
