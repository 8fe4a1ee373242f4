//! A place added to a sidecar that is there: the rating, the title and every other byte stay.

use crate::tags::xmp::{EXIF, NAMES, RDF, description, properties};
use crate::tags::{GeoTag, Overwrite, PlaceNames, error::Refusal, xmp_facts};
use locdiff_base::ensure;
use roxmltree::{Document, Node};
use std::ops::Range;

pub(crate) fn merged(sidecar: &[u8], tag: &GeoTag, overwrite: Overwrite) -> Result<Vec<u8>, Refusal> {
    let unfit = |reason: &str| Refusal::Unfit(reason.to_owned());
    let text = str::from_utf8(sidecar).map_err(|_| unfit("it is not UTF-8 text"))?;
    let xml = Document::parse(text).map_err(|error| Refusal::Unfit(format!("it is not XMP ({error})")))?;
    let root = xml.descendants().find(|node| node.has_tag_name((RDF, "RDF")));
    let root = root.ok_or_else(|| unfit("it has no rdf:RDF element"))?;
    let descriptions: Vec<Node<'_, '_>> =
        root.children().filter(|node| node.has_tag_name((RDF, "Description"))).collect();
    let holds_any = |names: &[(&str, &str)]| {
        descriptions.iter().any(|node| names.iter().any(|(space, name)| holds(*node, space, name)))
    };
    let has_position = holds_any(&[(EXIF, "GPSLatitude"), (EXIF, "GPSLongitude")]);
    ensure!(!has_position || overwrite.locations || !xmp_facts::has_location(sidecar), Refusal::HasLocation);
    let has_names = holds_any(&NAMES.map(|(space, _, name)| (space, name)));
    let without_names = tag.clone().names(PlaceNames::default());
    let replaces_names = overwrite.locations && tag.names != PlaceNames::default();
    let tag = if has_names && !replaces_names { &without_names } else { tag };
    let ours = properties(tag);
    // With an old position its altitude and direction go too, as in EXIF.
    let goes = |space: &str, name: &str| match space {
        EXIF if has_position => name.starts_with("GPS"),
        EXIF => name == "GPSProcessingMethod" || ours.iter().any(|(other, _)| *other == name),
        _ => replaces_names && NAMES.iter().any(|(other, _, known)| (*other, *known) == (space, name)),
    };
    let mut cuts: Vec<Range<usize>> = descriptions.iter().flat_map(|node| cuts_in(*node, text, goes)).collect();
    cuts.sort_by_key(|cut| cut.start);
    let about = descriptions.iter().find_map(|node| node.attribute((RDF, "about"))).unwrap_or_default();
    let (at, (before, after)) = insertion(root, text);
    let mut result = String::with_capacity(text.len() + 1024);
    let mut kept = 0;
    for cut in cuts {
        result.push_str(&text[kept..cut.start]);
        kept = cut.end;
    }
    let added = description(tag, about);
    result.extend([&text[kept..at.start], &before, &added, &after, &text[at.end..]]);
    Ok(result.into_bytes())
}

fn holds(description: Node<'_, '_>, space: &str, name: &str) -> bool {
    description.has_attribute((space, name)) || description.children().any(|child| child.has_tag_name((space, name)))
}

/// The bytes of the properties of a description that go; all of it where it has no other.
fn cuts_in(description: Node<'_, '_>, text: &str, goes: impl Fn(&str, &str) -> bool) -> Vec<Range<usize>> {
    let goes = |namespace: Option<&str>, name: &str| namespace.is_some_and(|space| goes(space, name));
    let (gone, rest): (Vec<_>, Vec<_>) =
        description.attributes().partition(|attribute| goes(attribute.namespace(), attribute.name()));
    let goes_node = |node: &Node<'_, '_>| goes(node.tag_name().namespace(), node.tag_name().name());
    let elements = description.children().filter(Node::is_element);
    let (gone_nodes, kept_nodes): (Vec<_>, Vec<_>) = elements.partition(goes_node);
    let says_nothing_else = rest.iter().all(|attribute| attribute.name() == "about") && kept_nodes.is_empty();
    if says_nothing_else && gone.len() + gone_nodes.len() > 0 {
        return vec![with_blanks_before(description.range(), text)];
    }
    let attributes = gone.iter().map(roxmltree::Attribute::range);
    let elements = gone_nodes.iter().map(Node::range);
    attributes.chain(elements).map(|range| with_blanks_before(range, text)).collect()
}

fn with_blanks_before(range: Range<usize>, text: &str) -> Range<usize> {
    text[..range.start].trim_end().len()..range.end
}

/// Where a description goes: before the end tag of `rdf:RDF`, or instead of the end of an empty one's only tag.
fn insertion(root: Node<'_, '_>, text: &str) -> (Range<usize>, (String, String)) {
    let range = root.range();
    if let Some(inner) = text[range.clone()].strip_suffix("/>") {
        let name: String = inner[1..].chars().take_while(|c| !c.is_whitespace() && *c != '/').collect();
        let start = range.start + inner.len();
        return (start..range.end, (">\n".to_owned(), format!(" </{name}>")));
    }
    let end_tag = range.start + text[range].rfind("</").expect("an element that is not empty has an end tag");
    // Before the blanks that indent the end tag.
    let indent = end_tag - text[..end_tag].trim_end_matches([' ', '\t']).len();
    let at = end_tag - indent;
    let before = if text[..at].ends_with('\n') { String::new() } else { "\n".to_owned() };
    (at..at, (before, String::new()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_shdd::sphere::LatLon;

    const RATED: &str = "\u{feff}<?xpacket begin=''?>\n<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\n <r:RDF xmlns:r=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n  <r:Description r:about=\"uuid:1\" xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\" xmp:Rating=\"5\"\n   xmlns:dc=\"http://purl.org/dc/elements/1.1/\"  >\n   <dc:title><r:Alt><r:li xml:lang=\"x-default\">Été &amp; <!-- </r:RDF> --> more</r:li></r:Alt></dc:title>\n  </r:Description>\n </r:RDF>\n</x:xmpmeta>\n<?xpacket end='w'?>   \n";

    fn tag(lat: f64) -> GeoTag {
        GeoTag::new(LatLon::new(lat, 20.0).unwrap()).radius_km(5.0).area("in <A> & B")
    }

    fn latitude(text: &[u8]) -> Vec<String> {
        let text = str::from_utf8(text).unwrap();
        let xml = Document::parse(text).unwrap();
        let found = xml.descendants().filter(|node| node.has_tag_name((EXIF, "GPSLatitude")));
        found.map(|node| node.text().unwrap().to_owned()).collect()
    }

    #[test]
    fn every_other_byte_stays() {
        let result = merged(RATED.as_bytes(), &tag(10.0), Overwrite::NEVER).unwrap();
        let text = str::from_utf8(&result).unwrap();
        let added = description(&tag(10.0), "uuid:1");
        assert_eq!(text.replacen(&added, "", 1), RATED);
        assert_eq!(latitude(&result), ["10,0.00000000N"]);
    }

    #[test]
    fn an_old_place_stays_or_is_replaced_without_a_trace() {
        let first = merged(RATED.as_bytes(), &tag(10.0), Overwrite::NEVER).unwrap();
        assert_eq!(merged(&first, &tag(-3.0), Overwrite::NEVER), Err(Refusal::HasLocation));
        let second = merged(&first, &tag(-3.0), Overwrite::FORCE).unwrap();
        assert_eq!(latitude(&second), ["3,0.00000000S"]);
        assert_eq!(second, merged(RATED.as_bytes(), &tag(-3.0), Overwrite::NEVER).unwrap());
        let attributes = RATED.replace(
            " xmp:Rating",
            " xmlns:e=\"http://ns.adobe.com/exif/1.0/\" e:GPSLatitude=\"1,0N\" e:GPSLongitude=\"2,0E\" e:GPSAltitude='3/1' e:ISO=\"9\" xmp:Rating",
        );
        assert_eq!(merged(attributes.as_bytes(), &tag(1.0), Overwrite::NEVER), Err(Refusal::HasLocation));
        let forced = merged(attributes.as_bytes(), &tag(1.0), Overwrite::FORCE).unwrap();
        let text = str::from_utf8(&forced).unwrap();
        assert!(!text.contains("GPSAltitude") && text.contains("e:ISO=\"9\" xmp:Rating=\"5\""), "{text}");
    }

    #[test]
    fn names_are_written_once_and_never_over_others() {
        let names =
            PlaceNames { city: Some("Łódź".to_owned()), country: Some("A & B".to_owned()), ..PlaceNames::default() };
        let tag = tag(10.0).names(names);
        let named = merged(RATED.as_bytes(), &tag, Overwrite::NEVER).unwrap();
        let of = |sidecar: &[u8], name: &str| {
            let text = str::from_utf8(sidecar).unwrap().to_owned();
            let xml = Document::parse(&text).unwrap();
            let found = xml.descendants().filter(|node| node.has_tag_name((crate::tags::xmp::PHOTOSHOP, name)));
            found.map(|node| node.text().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!((of(&named, "City"), of(&named, "Country")), (vec!["Łódź".to_owned()], vec!["A & B".to_owned()]));
        let other = || tag.clone().names(PlaceNames { city: Some("X".to_owned()), ..PlaceNames::default() });
        let again = merged(&named, &other(), Overwrite::FORCE).unwrap();
        assert_eq!((of(&again, "City"), of(&again, "Country")), (vec!["X".to_owned()], vec![]));
        let theirs =
            RATED.replace(" xmp:Rating", " xmlns:p=\"http://ns.adobe.com/photoshop/1.0/\" p:City=\"Y\" xmp:Rating");
        let kept = merged(theirs.as_bytes(), &other(), Overwrite::NEVER).unwrap();
        assert!(of(&kept, "City").is_empty() && str::from_utf8(&kept).unwrap().contains("p:City=\"Y\""));
    }

    #[test]
    fn empty_and_foreign_files() {
        let empty = "<x xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:RDF/></x>";
        let result = merged(empty.as_bytes(), &tag(10.0), Overwrite::NEVER).unwrap();
        assert_eq!(latitude(&result), ["10,0.00000000N"]);
        let bomb = "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>";
        for text in ["someone's work", "<a/>", bomb] {
            assert!(matches!(merged(text.as_bytes(), &tag(1.0), Overwrite::FORCE), Err(Refusal::Unfit(_))));
        }
        assert!(matches!(merged(&[0xff, 0xfe], &tag(1.0), Overwrite::FORCE), Err(Refusal::Unfit(_))));
    }
}
