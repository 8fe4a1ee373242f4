//! Weights of what is softly known: stated places, and the time zone of a photo's clock.

use crate::{blob::Blob, earth::Earth, message::Message, soft::SoftPlace};
use locdiff_shdd::sphere::UnitVec;

/// What somebody says is wrong with this probability.
const MISTAKEN: f64 = 0.02;
/// Clocks show another zone than their place's with this probability: many are never set.
const UNSET: f64 = 0.3;
/// How far clocks are ahead of the sun, in hours, at the least and at the most, where they are set: zones are wide, and in summer an hour ahead.
const AHEAD_H: [f64; 2] = [-1.0, 2.5];
/// Beyond that the probability falls over so many hours.
const EDGE_H: f64 = 0.75;

/// Times what is softly known.
pub(crate) fn weigh(soft: &SoftPlace, place: &mut Message, earth: &Earth) {
    match soft {
        SoftPlace::Around(at, deviation_km) => {
            place.see_tag(&[Blob::at_km(at.to_unit(), *deviation_km, 1.0)], MISTAKEN, earth);
        }
        SoftPlace::Within(soft) => {
            let weight = |share: f64| MISTAKEN + (1.0 - MISTAKEN) * share;
            place.grid.iter_mut().zip(&soft.grid).for_each(|(value, share)| *value *= weight(*share));
            for blob in &mut place.blobs {
                blob.mass *= weight(f64::from(u8::from(soft.region.contains(blob.centre.to_latlon()))));
            }
        }
    }
    place.normalise(earth);
}

/// Times what the zone of a photo's clock says of its longitude.
pub(crate) fn weigh_zone(offset_h: f64, place: &mut Message, earth: &Earth) {
    place.grid.iter_mut().zip(&earth.points).for_each(|(value, point)| *value *= zone(offset_h, *point));
    for blob in &mut place.blobs {
        blob.mass *= zone(offset_h, blob.centre);
    }
    place.normalise(earth);
}

/// How likely a clock has this offset at a place.
fn zone(offset_h: f64, point: UnitVec) -> f64 {
    let sun_h = point.y().atan2(point.x()).to_degrees() / 15.0;
    let ahead = (offset_h - sun_h + 36.0).rem_euclid(24.0) - 12.0;
    let off = (AHEAD_H[0] - ahead).max(ahead - AHEAD_H[1]).max(0.0);
    UNSET + (1.0 - UNSET) * (-0.5 * (off / EDGE_H).powi(2)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_shdd::sphere::LatLon;

    /// Where clocks are set as they are, they say so; elsewhere they take no more than what was never set.
    #[test]
    fn zones_are_where_their_clocks_are() {
        let at = |lat: f64, lon: f64, offset_h: f64| zone(offset_h, LatLon::new(lat, lon).unwrap().to_unit());
        // Spain in summer, Paris, Iceland, Tokyo, Delhi; Fiji, Samoa, Buenos Aires.
        let north = [(42.9, -9.0, 2.0), (48.9, 2.4, 1.0), (64.1, -22.0, 0.0), (35.7, 139.7, 9.0), (28.6, 77.2, 5.5)];
        let south = [(-18.1, 178.4, 12.0), (-13.8, -171.8, 13.0), (-34.6, -58.4, -3.0)];
        for (lat, lon, offset_h) in north.into_iter().chain(south) {
            assert!(at(lat, lon, offset_h) > 0.9, "{lat} {lon}");
            assert!((at(lat, lon, offset_h + 9.0) - UNSET).abs() < 1e-3, "{lat} {lon}");
        }
        assert!(at(39.5, 76.0, 8.0) > 0.7, "China has one zone");
    }
}
