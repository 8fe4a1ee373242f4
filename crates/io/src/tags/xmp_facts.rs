//! What an XMP packet says, embedded in a photo or beside it.

use crate::tags::xmp::RDF;
use crate::tags::{
    exif::gps_offset, facts::PhotoFacts, facts::Taken, facts::real_place, facts::tidy, xmp::EXIF, xmp::PHOTOSHOP,
};
use roxmltree::{Document, Node};

const TIFF: &str = "http://ns.adobe.com/tiff/1.0/";
const AUX: &str = "http://ns.adobe.com/exif/1.0/aux/";

/// No packet and no sidecar is larger, in bytes.
pub(crate) const MOST_PACKET: usize = 4 << 20;

pub(crate) fn facts(packet: &[u8]) -> PhotoFacts {
    read(packet).unwrap_or_default()
}

fn read(packet: &[u8]) -> Option<PhotoFacts> {
    if packet.len() > MOST_PACKET {
        return None;
    }
    let text = String::from_utf8_lossy(packet);
    // Packets in files end in blanks or zeros, to be edited in place.
    let xml = Document::parse(text.trim_matches(['\0', '\u{feff}'])).ok()?;
    let descriptions: Vec<Node<'_, '_>> =
        xml.descendants().filter(|node| node.has_tag_name((RDF, "Description"))).collect();
    let say = |namespace: &str, name: &str| {
        descriptions.iter().find_map(|node| {
            let child = || node.children().find(|child| child.has_tag_name((namespace, name)))?.text();
            tidy(node.attribute((namespace, name)).or_else(child)?)
        })
    };
    let degrees = |name, sides| degrees(&say(EXIF, name)?, sides);
    let gps = degrees("GPSLatitude", ['N', 'S']).zip(degrees("GPSLongitude", ['E', 'W']));
    let said = say(EXIF, "DateTimeOriginal").or_else(|| say(PHOTOSHOP, "DateCreated"));
    // A date alone is no time.
    let (time, offset) = said.filter(|time| time.contains(':')).map(|time| split(&time)).unzip();
    // One text in XMP, with the date.
    let by_gps = || gps_offset(time.as_deref()?, &say(EXIF, "GPSTimeStamp")?);
    let offset = offset.flatten().or_else(by_gps);
    let camera = [say(TIFF, "Make"), say(TIFF, "Model"), say(AUX, "SerialNumber")];
    let camera: Vec<String> = camera.into_iter().flatten().collect();
    Some(PhotoFacts {
        gps: gps.and_then(|(lat_deg, lon_deg)| real_place(lat_deg, lon_deg)),
        taken: Taken { time, offset, camera: (!camera.is_empty()).then(|| camera.join(" ")) },
        orientation: None, // a sidecar's may be of an edited picture
    })
}

/// Whether a packet gives a place, also in a way that cannot be read here; 0, 0 is none.
pub(crate) fn has_location(packet: &[u8]) -> bool {
    if packet.len() > MOST_PACKET {
        return true; // who knows
    }
    let names_one = ["GPSLatitude", "GPSLongitude"].iter().all(|name| {
        packet.windows(name.len()).any(|window| window == name.as_bytes()) // whatever prefix stands before it
    });
    names_one && read(packet).is_none_or(|facts| facts.gps.is_some())
}

/// "39,59.94N", "39,59,56.4N" or, as some write, "39.999" as signed degrees.
fn degrees(text: &str, [positive, negative]: [char; 2]) -> Option<f64> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let sign = match text[number.len()..].to_ascii_uppercase().chars().next() {
        Some(side) if side == negative => -1.0,
        Some(side) if side != positive => return None,
        _ => 1.0,
    };
    let mut sum = 0.0;
    for (part, unit) in number.split(',').zip([1.0, 60.0, 3600.0]) {
        sum += part.trim().parse::<f64>().ok()? / unit;
    }
    Some(sign * sum)
}

/// A time of ISO 8601, and its offset.
pub(crate) fn split(time: &str) -> (String, Option<String>) {
    let Some((at, sign)) = time.char_indices().skip(11).find(|(_, c)| matches!(c, 'Z' | '+' | '-')) else {
        return (time.to_owned(), None);
    };
    let mut offset = if sign == 'Z' { "+00:00".to_owned() } else { time[at..].to_owned() };
    if offset.len() == 5 && offset.is_ascii() && !offset.contains(':') {
        offset.insert(3, ':'); // +0200
    }
    (time[..at].to_owned(), Some(offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tags::{GeoTag, xmp};
    use locdiff_shdd::sphere::LatLon;

    fn packet(attributes: &str) -> String {
        format!(
            "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"{RDF}\"><rdf:Description rdf:about=\"\" xmlns:e=\"{EXIF}\" \
             xmlns:p=\"{PHOTOSHOP}\" xmlns:t=\"{TIFF}\" {attributes}/></rdf:RDF></x:xmpmeta>\0\0"
        )
    }

    #[test]
    fn places_and_times_are_read() {
        let of = |lat: &str, lon: &str| {
            let text = packet(&format!("e:GPSLatitude=\"{lat}\" e:GPSLongitude=\"{lon}\""));
            assert_eq!(has_location(text.as_bytes()), facts(text.as_bytes()).gps.is_some());
            facts(text.as_bytes()).gps
        };
        assert_eq!(of("10,30.0N", "20,15,0W"), LatLon::new(10.5, -20.25).ok());
        assert_eq!(of("-10.5", "20.25"), LatLon::new(-10.5, 20.25).ok());
        for (lat, lon) in [("0,0.0N", "0,0.00000003E"), ("10E", "20N"), ("x", "1E"), ("91,0N", "1,0E"), ("", "")] {
            assert_eq!(of(lat, lon), None, "{lat} {lon}");
        }
        let place = LatLon::new(-33.25, 151.5).unwrap();
        assert_eq!(facts(xmp::packet(&GeoTag::new(place)).as_bytes()).gps, Some(place), "what we write ourselves");
        let taken = |attributes: &str| {
            let Taken { time, offset, camera } = facts(packet(attributes).as_bytes()).taken;
            [time, offset, camera].map(Option::unwrap_or_default)
        };
        let both = "e:DateTimeOriginal=\"2024-05-12T13:45:10.5+02:00\" p:DateCreated=\"2020-01-01T00:00:00\"";
        assert_eq!(taken(&format!("{both} t:Model=\"X1\"")), ["2024-05-12T13:45:10.5", "+02:00", "X1"]);
        assert_eq!(taken("p:DateCreated=\"2024-05-12T13:45:10Z\""), ["2024-05-12T13:45:10", "+00:00", ""]);
        assert_eq!(taken("p:DateCreated=\"2024-05-12\""), ["", "", ""]);
        let broken = b"<x:xmpmeta exif:GPSLatitude='1N' exif:GPSLongitude='1E'";
        assert!(has_location(broken) && facts(broken).gps.is_none());
    }
}
