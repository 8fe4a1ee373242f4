//! Where EXIF data and XMP lie in each kind of file.

use crate::tags::raw::{cr3_xmp, jpeg_segments, raw_kind, raw_preview};
use crate::tags::{heif::Heif, heif::heif_kind, tiff::BYTE, tiff::Tiff, tiff::UNDEFINED, xmp_facts::MOST_PACKET};
use std::borrow::Cow;

/// Some WebP, PNG and HEIC writers put JPEG's prefix before the structure.
pub(crate) const PREFIX: &[u8] = b"Exif\0\0";
/// What the XMP part of a JPEG begins with.
pub(crate) const XMP_SEGMENT: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
const XMP_TEXT: &[u8] = b"XML:com.adobe.xmp\0\0\0"; // not compressed
const XMP_TAG: u16 = 700;

/// What is embedded in a file, as it stands there.
#[derive(Default)]
pub(crate) struct Blocks<'a> {
    pub(crate) exif: Option<Cow<'a, [u8]>>,
    pub(crate) xmp: Option<Cow<'a, [u8]>>,
}

pub(crate) fn is_tiff(photo: &[u8]) -> bool {
    [b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"].iter().any(|start| photo.starts_with(*start))
}

/// The blocks of a photo. In what is damaged or of no known kind there are none.
pub(crate) fn blocks(photo: &[u8]) -> Blocks<'_> {
    let mut found = Blocks::default();
    if let Some(kind) = raw_kind(photo).filter(|kind| matches!(*kind, "RAF" | "CR3")) {
        let preview = || raw_preview(photo).map(blocks).unwrap_or_default();
        return if kind == "RAF" { preview() } else { Blocks { exif: None, xmp: cr3_xmp(photo).map(Cow::Borrowed) } };
    }
    if let Ok(tiff) = Tiff::parse(photo) {
        let packet = tiff.first().ok().and_then(|first| tiff.value(&first, XMP_TAG, &[BYTE, UNDEFINED], MOST_PACKET));
        return Blocks { exif: Some(Cow::Borrowed(photo)), xmp: packet.map(Cow::Owned) };
    }
    if heif_kind(photo).is_some() {
        let Ok(heif) = Heif::parse(photo) else { return found };
        let without_prefix = |exif: Vec<u8>| exif.strip_prefix(PREFIX).map_or(exif.clone(), <[u8]>::to_vec).into();
        return Blocks { exif: heif.exif().ok().flatten().map(without_prefix), xmp: heif.xmp().map(Cow::Owned) };
    }
    for (kind, bytes) in parts(photo) {
        let block = match &kind {
            b"APP1" => bytes.strip_prefix(PREFIX).map(|exif| (&mut found.exif, exif)),
            b"EXIF" | b"eXIf" => Some((&mut found.exif, bytes.strip_prefix(PREFIX).unwrap_or(bytes))),
            b"XMP " => Some((&mut found.xmp, bytes)),
            _ => None,
        };
        let packet = || bytes.strip_prefix(if kind == *b"APP1" { XMP_SEGMENT } else { XMP_TEXT });
        match block {
            Some((slot, block)) => _ = slot.get_or_insert(Cow::Borrowed(block)),
            None => _ = packet().map(|packet| found.xmp.get_or_insert(Cow::Borrowed(packet))),
        }
    }
    found
}

fn parts(photo: &[u8]) -> Vec<([u8; 4], &[u8])> {
    if photo.starts_with(b"\xff\xd8") {
        let segments = jpeg_segments(photo).filter(|(marker, _)| *marker == 0xe1);
        return segments.map(|(_, bytes)| (*b"APP1", bytes)).collect();
    }
    let mut found = Vec::new();
    let (is_png, mut rest) = match photo.strip_prefix(b"\x89PNG\r\n\x1a\n") {
        Some(rest) => (true, rest),
        None if photo.starts_with(b"RIFF") && photo.get(8..12) == Some(b"WEBP") => (false, &photo[12..]),
        None => return found,
    };
    while let Some((&[a, b, c, d], after)) = rest.split_first_chunk() {
        // PNG: length, kind, bytes, checksum; WebP: kind, length, bytes, an even number of them.
        let Some((&other, after)) = after.split_first_chunk::<4>() else { break };
        let (kind, length) =
            if is_png { (other, u32::from_be_bytes([a, b, c, d])) } else { ([a, b, c, d], u32::from_le_bytes(other)) };
        let Some((bytes, after)) = after.split_at_checked(length as usize) else { break };
        found.push((kind, bytes));
        rest = after.get(if is_png { 4 } else { length as usize % 2 }..).unwrap_or_default();
    }
    found
}
