//! The one reader of what photos say about themselves.

use crate::tags::{blocks::blocks, exif, facts::PhotoFacts, raw, xmp_facts, xmp_facts::MOST_PACKET};
use crate::tags::{kind::adobe_sidecar_path, kind::sidecar_path, tiff::BYTE, tiff::Tiff, tiff::UNDEFINED};
use std::path::Path;

impl PhotoFacts {
    /// What a photo in memory says: JPEG, PNG, WebP, TIFF, HEIC, AVIF and RAW files.
    ///
    /// Place and time each come from the first of: the sidecar `photo.jpg.xmp`, the sidecar `photo.xmp` (both by
    /// [`PhotoFacts::with_sidecars`]), the XMP in the photo, its EXIF data. Programs put corrections into XMP, and into
    /// sidecars if they leave the photo alone. The camera is EXIF's, if it names one. 0° N 0° E is no place.
    pub fn read(contents: &[u8]) -> Self {
        let found = blocks(contents);
        let exif = match found.exif {
            Some(exif) => Tiff::parse(exif).map(|tiff| exif::facts(&tiff)).unwrap_or_default(),
            None if raw::raw_kind(contents) == Some("CR3") => raw::cr3_facts(contents),
            None => Self::default(),
        };
        exif.corrected_by(found.xmp.map(|packet| xmp_facts::facts(&packet)).unwrap_or_default())
    }

    /// These facts of the photo at a path, as the XMP files beside it correct them; sidecars that cannot be read are not there.
    #[must_use]
    pub fn with_sidecars(self, photo: &Path) -> Self {
        let read = |path| locdiff_base::read_bounded(path, MOST_PACKET as u64).map(|packet| xmp_facts::facts(&packet));
        let sidecars = [adobe_sidecar_path(photo), sidecar_path(photo)];
        sidecars.iter().filter_map(|path| read(path).ok()).fold(self, Self::corrected_by)
    }
}

/// Whether a photo has a location in itself, in EXIF or XMP, also in XMP that cannot be read here. A file that cannot be read as a photo does
/// not, and 0° N 0° E is none.
pub fn has_location(photo: &[u8]) -> bool {
    PhotoFacts::read(photo).gps.is_some() || has_xmp_location(photo)
}

pub(crate) fn has_xmp_location(photo: &[u8]) -> bool {
    blocks(photo).xmp.is_some_and(|packet| xmp_facts::has_location(&packet))
}

/// The bytes of a tag in a TIFF file's first directory, such as its colour profile.
pub fn tiff_bytes(file: &[u8], tag: u16) -> Option<Vec<u8>> {
    let tiff = Tiff::parse(file).ok()?;
    tiff.value(&tiff.first().ok()?, tag, &[BYTE, UNDEFINED], file.len())
}
