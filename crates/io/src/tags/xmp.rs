//! The same facts as an XMP packet.

use crate::tags::{GeoTag, PlaceNames, tag::DATUM};
use locdiff_base::escape_markup;

pub(crate) const EXIF: &str = "http://ns.adobe.com/exif/1.0/";
pub(crate) const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
/// Namespaces, prefixes and properties of the names of places.
pub(crate) const NAMES: [(&str, &str, &str); 5] = [
    (PHOTOSHOP, "photoshop", "City"),
    (PHOTOSHOP, "photoshop", "State"),
    (PHOTOSHOP, "photoshop", "Country"),
    ("http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/", "Iptc4xmpCore", "CountryCode"),
    (EXTENSION, "Iptc4xmpExt", "LocationCreated"),
];
const EXTENSION: &str = "http://iptc.org/std/Iptc4xmpExt/2008-02-29/";
pub(crate) const PHOTOSHOP: &str = "http://ns.adobe.com/photoshop/1.0/";

pub(crate) fn packet(tag: &GeoTag) -> String {
    packet_of(&description(tag, ""))
}

pub(crate) fn packet_of(description: &str) -> String {
    format!(
        "<?xpacket begin=\"\u{feff}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n\
         <x:xmpmeta xmlns:x=\"adobe:ns:meta/\" x:xmptk=\"LocDiff\">\n \
          <rdf:RDF xmlns:rdf=\"{RDF}\">\n\
         {description} \
          </rdf:RDF>\n\
         </x:xmpmeta>\n\
         <?xpacket end=\"w\"?>\n"
    )
}

/// The element with the location of the resource `about`; it brings its namespaces along.
pub(crate) fn description(tag: &GeoTag, about: &str) -> String {
    let lines = properties(tag);
    let lines = lines.iter().map(|(name, value)| format!("   <exif:{name}>{}</exif:{name}>\n", escape_markup(value)));
    let lines = lines.collect::<Vec<_>>().concat() + &name_properties(&tag.names);
    description_of(about, &format!(" xmlns:exif=\"{EXIF}\""), &lines)
}

/// The names of a place: those that most programs show, and IPTC's of today. They bring their namespaces along.
pub(crate) fn name_properties(names: &PlaceNames) -> String {
    let values = [&names.city, &names.state, &names.country, &names.country_code];
    let plain = NAMES.iter().zip(values).filter_map(|((space, prefix, name), value)| {
        let value = escape_markup(value.as_deref()?);
        Some(format!("   <{prefix}:{name} xmlns:{prefix}=\"{space}\">{value}</{prefix}:{name}>\n"))
    });
    let plain = plain.collect::<Vec<_>>().concat();
    if plain.is_empty() {
        return plain;
    }
    let parts = ["City", "ProvinceState", "CountryName", "CountryCode"].iter().zip(values);
    let parts = parts.filter_map(|(name, value)| {
        let value = escape_markup(value.as_deref()?);
        Some(format!("    <Iptc4xmpExt:{name}>{value}</Iptc4xmpExt:{name}>\n"))
    });
    let parts = parts.collect::<Vec<_>>().concat();
    format!(
        "{plain}   <Iptc4xmpExt:LocationCreated xmlns:Iptc4xmpExt=\"{EXTENSION}\"><rdf:Bag><rdf:li \
         rdf:parseType=\"Resource\">\n{parts}   </rdf:li></rdf:Bag></Iptc4xmpExt:LocationCreated>\n"
    )
}

pub(crate) fn description_of(about: &str, namespaces: &str, properties: &str) -> String {
    let about = escape_markup(about);
    format!(
        "  <rdf:Description rdf:about=\"{about}\" xmlns:rdf=\"{RDF}\"{namespaces}>\n{properties}  </rdf:Description>\n"
    )
}

/// The properties, each with its name in the namespace [`EXIF`].
pub(crate) fn properties(tag: &GeoTag) -> Vec<(&'static str, String)> {
    let (lat_deg, lon_deg) = (tag.place.lat_deg(), tag.place.lon_deg());
    let mut properties = vec![
        ("GPSVersionID", "2.3.0.0".to_owned()),
        ("GPSLatitude", coordinate(lat_deg, "N", "S")),
        ("GPSLongitude", coordinate(lon_deg, "E", "W")),
        ("GPSMapDatum", DATUM.to_owned()),
    ];
    properties.extend(tag.method().map(|method| ("GPSProcessingMethod", method.to_owned())));
    properties.extend(tag.radius_m().map(|metres| ("GPSHPositioningError", format!("{metres}/1"))));
    properties.extend(tag.area_text().map(|area| ("GPSAreaInformation", area)));
    properties
}

/// "39,59.94000000N": degrees, then minutes to 0.02 mm.
fn coordinate(signed_deg: f64, positive: &str, negative: &str) -> String {
    const PARTS: u64 = 100_000_000;
    let parts = (signed_deg.abs() * 60.0 * PARTS as f64).round() as u64;
    let (degrees, rest) = (parts / (60 * PARTS), parts % (60 * PARTS));
    let side = if signed_deg < 0.0 { negative } else { positive };
    format!("{degrees},{}.{:08}{side}", rest / PARTS, rest % PARTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_shdd::sphere::LatLon;

    #[test]
    fn an_xml_parser_reads_the_packet() {
        let tag = GeoTag::new(LatLon::new(-12.05, -77.999_999_999_99).unwrap())
            .radius_km(0.25)
            .area("<in> \"Łódź\" & \u{1}elsewhere");
        let packet = packet(&tag);
        let xml = roxmltree::Document::parse(&packet).unwrap();
        let text = |name| {
            let found = xml.descendants().find(|node| node.has_tag_name(("http://ns.adobe.com/exif/1.0/", name)));
            found.and_then(|node| node.text()).unwrap()
        };
        assert_eq!(text("GPSLatitude"), "12,3.00000000S");
        assert_eq!(text("GPSLongitude"), "78,0.00000000W");
        assert_eq!(text("GPSHPositioningError"), "250/1");
        assert_eq!(text("GPSAreaInformation"), "<in> \"Łódź\" & \u{fffd}elsewhere (LocDiff estimate)");
    }
}
