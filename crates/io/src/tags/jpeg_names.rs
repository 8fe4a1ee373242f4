//! Names of a place in the XMP part of a JPEG.

use crate::tags::xmp::{NAMES, RDF, description_of, name_properties, packet_of};
use crate::tags::{PlaceNames, blocks::XMP_SEGMENT as XMP_HEAD};
use img_parts::{Bytes, ImageEXIF, jpeg::Jpeg, jpeg::JpegSegment, jpeg::markers::APP1, jpeg::markers::APP2};
use roxmltree::Document;

const MOST_BYTES: usize = 65_533;

/// Whether XMP names a place already, in whatever field: that stays.
fn are_in(xml: &Document<'_>) -> bool {
    xml.descendants().any(|node| {
        NAMES.iter().any(|(space, _, name)| node.has_tag_name((*space, *name)) || node.has_attribute((*space, *name)))
    })
}

/// A JPEG with the names in its XMP part. `None` where it is no JPEG, names a place already, or has XMP that is not simply added to.
pub(crate) fn in_jpeg(photo: &[u8], names: &PlaceNames) -> Option<Vec<u8>> {
    let mut jpeg = Jpeg::from_bytes(Bytes::copy_from_slice(photo)).ok()?;
    let is_xmp = |segment: &JpegSegment| segment.marker() == APP1 && segment.contents().starts_with(XMP_HEAD);
    let describe = |about: &str| description_of(about, "", &name_properties(names));
    let old = jpeg.segments().iter().position(is_xmp);
    let xmp = match old {
        None => packet_of(&describe("")),
        Some(at) => {
            let contents = jpeg.segments()[at].contents();
            let text = str::from_utf8(&contents[XMP_HEAD.len()..]).ok()?.trim_matches(['\0', '\u{feff}']);
            let xml = Document::parse(text).ok()?;
            if are_in(&xml) {
                return None;
            }
            let about = xml.descendants().find_map(|node| node.attribute((RDF, "about")).map(str::to_owned));
            let end = text.rfind("</rdf:RDF>")?;
            let added = describe(&about.unwrap_or_default());
            format!("{}{added}{}", &text[..end], &text[end..])
        }
    };
    Document::parse(&xmp).ok()?;
    let contents = [XMP_HEAD, xmp.as_bytes()].concat();
    if contents.len() > MOST_BYTES {
        return None;
    }
    let exif = jpeg.segments().iter().position(|segment| segment.marker() == APP1).map_or(0, |at| at + 1);
    // The offsets of further pictures count from their list: what is before it may grow.
    let is_list = |segment: &JpegSegment| segment.marker() == APP2 && segment.contents().starts_with(b"MPF\0");
    if jpeg.segments().iter().position(is_list).is_some_and(|list| old.unwrap_or(exif) > list) {
        return None;
    }
    let segment = JpegSegment::new_with_contents(APP1, contents.into());
    match old {
        Some(at) => jpeg.segments_mut()[at] = segment,
        None => jpeg.segments_mut().insert(exif, segment),
    }
    // What a reader finds must still be the EXIF data that were there.
    let exif = jpeg.exif();
    let bytes = jpeg.encoder().bytes();
    let back = Jpeg::from_bytes(bytes.clone()).ok()?;
    (back.exif() == exif).then(|| bytes.to_vec())
}
