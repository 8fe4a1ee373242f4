//! XMP without location: properties are cut out, blanks at the end keep the length.

use super::finding::{LocationScrub, mentions_location, zone_at};
use crate::{tags::xmp::RDF, tags::xmp_facts, tags::xmp_facts::MOST_PACKET};
use roxmltree::Document;

/// Names of properties in small letters, by their rank among names; the last hold several.
const NAMES: [&str; 6] = [
    "sublocation location locationname coverage",
    "city ciadrcity",
    "state provincestate ciadrregion",
    "country countryname ciadrctry worldregion",
    "countrycode",
    "locationcreated locationshown shotlocation",
];
/// Parts of names of positions, also as makers of drones spell them, and of the author's address.
const POSITIONS: [&str; 6] = ["gps", "latitude", "longitude", "longtitude", "altitude", "ciadr"];
const POSITION: u8 = 6;

/// The rank of a property that says where, whatever its namespace.
fn rank(name: &str, namespace: Option<&str>) -> Option<u8> {
    let name = name.to_ascii_lowercase();
    let rank = NAMES.iter().position(|names| names.split(' ').any(|known| known == name)).map(|rank| rank as u8);
    let is_position = POSITIONS.iter().any(|part| name.contains(part)) || matches!(&name[..], "lat" | "lon" | "long");
    rank.or(is_position.then_some(POSITION)).filter(|_| namespace != Some(RDF))
}

/// The packet without location, of the same length. One that cannot be read goes whole if it speaks of a location.
pub(super) fn scrubbed(packet: &[u8], scrub: &mut LocationScrub) -> Vec<u8> {
    let mut new = match cut(packet, scrub) {
        Some(new) => new.into_bytes(),
        None if str::from_utf8(packet).is_ok() && !mentions_location(packet) => return packet.to_vec(),
        None => {
            scrub.note_hidden("XMP");
            b"<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>".to_vec()
        }
    };
    new.resize(packet.len(), b' ');
    new
}

fn cut(packet: &[u8], scrub: &mut LocationScrub) -> Option<String> {
    let whole = str::from_utf8(packet).ok().filter(|_| packet.len() <= MOST_PACKET)?;
    let text = whole.trim_matches(['\0', '\u{feff}']);
    let xml = Document::parse(text).ok()?;
    let (mut cuts, mut said, mut zone, mut end) = (Vec::new(), Vec::new(), None, 0);
    for node in xml.descendants() {
        let mut times = if node.is_text() { vec![node.range()] } else { Vec::new() };
        for attribute in node.attributes() {
            match rank(attribute.name(), attribute.namespace()) {
                Some(rank) => {
                    said.push((rank, attribute.name(), attribute.value()));
                    cuts.push(attribute.range());
                }
                None => times.push(attribute.range_value()),
            }
        }
        for range in times {
            let time = text.get(range.clone()).unwrap_or_default().trim_end();
            let start = time.len() - time.trim_start().len();
            if let Some(at) = zone_at(&time[start..]) {
                cuts.push(range.start + start + at..range.start + time.len());
                zone.get_or_insert(&time[start + at..]);
            }
        }
        let name = node.tag_name();
        if let Some(rank) = rank(name.name(), name.namespace()).filter(|_| node.is_element()) {
            let inner =
                node.descendants().take(9).filter_map(|inner| inner.text()).find(|text| !text.trim().is_empty());
            said.push((rank, node.tag_name().name(), inner.unwrap_or_default()));
            if node.range().start >= end {
                end = node.range().end;
                cuts.push(node.range());
            }
        }
    }
    let unit_deg = said.iter().filter_map(|(_, name, value)| unit(name, value)).reduce(f64::min);
    if said.iter().any(|(rank, ..)| *rank == POSITION) {
        scrub.note_position("XMP", xmp_facts::facts(packet).gps, unit_deg.unwrap_or(0.0), 0.0);
    } else if !said.is_empty() && said.iter().all(|(rank, ..)| *rank == 5) {
        scrub.note_hidden("XMP"); // of a kind whose parts are not known
    }
    zone.into_iter().for_each(|zone| scrub.note("time-zone", "XMP", zone));
    let names = said.into_iter().filter(|(rank, ..)| *rank < 5).map(|(rank, _, value)| (rank, value.to_owned()));
    scrub.note_names("XMP", names.collect());
    if cuts.is_empty() {
        return Some(whole.to_owned());
    }
    cuts.sort_by_key(|cut| cut.start);
    let (mut new, mut kept) = (String::with_capacity(text.len()), 0);
    for cut in cuts {
        new.push_str(text.get(kept..cut.start).unwrap_or_default());
        kept = kept.max(cut.end);
    }
    new.push_str(&text[kept..]);
    Document::parse(&new).is_ok().then_some(new)
}

/// What the last digit of a coordinate such as `39,59.94N` is worth, in degrees.
fn unit(name: &str, value: &str) -> Option<f64> {
    let value = value.trim_end_matches(|c: char| !c.is_ascii_digit()).trim_end_matches('0');
    let parts = value.split(',').count() as i32;
    let digits = value.rsplit_once('.').map_or(0, |(_, digits)| digits.len()) as i32;
    let is_coordinate = name.ends_with("Latitude") || name.ends_with("Longitude");
    is_coordinate.then(|| 60_f64.powi(1 - parts) * 10_f64.powi(-digits))
}
