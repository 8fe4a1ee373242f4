//! EXIF data in the files that hold it.

use crate::tags::reader::{has_location, has_xmp_location};
use crate::tags::{GeoTag, Overwrite, Result, TagError, error::Refusal, gps_ifd, raw::raw_kind, tiff::Tiff};
use crate::tags::{blocks::PREFIX, blocks::is_tiff, heif::Heif, heif::heif_kind};
use img_parts::{Bytes, DynImage, ImageEXIF};
use locdiff_base::ensure;

/// The photo with the place in its EXIF data; all else as it was. `name` stands for it in messages. Fails if the photo
/// has a location already (one in XMP is never replaced), is of another kind, a RAW file, or damaged.
pub fn tagged(photo: &[u8], name: &str, tag: &GeoTag, overwrite: Overwrite) -> Result<Vec<u8>> {
    let file = || name.to_owned();
    let unfit = |reason: String| TagError::Unfit { file: file(), reason };
    let refused = |refusal| match refusal {
        Refusal::HasLocation => TagError::HasLocation { file: file() },
        Refusal::Unfit(reason) => unfit(reason),
    };
    let tiff_of = |exif: Option<&[u8]>| match exif {
        Some(exif) => Tiff::parse(exif.strip_prefix(PREFIX).unwrap_or(exif).to_vec()).map_err(unfit),
        None => Ok(Tiff::empty()),
    };
    if let Some(kind) = raw_kind(photo) {
        return Err(TagError::SidecarOnly { file: file(), kind });
    }
    ensure!(overwrite.locations || !has_location(photo), TagError::HasLocation { file: file() });
    ensure!(!has_xmp_location(photo), TagError::HasXmpLocation { file: file() });
    if heif_kind(photo).is_some() {
        let heif = Heif::parse(photo).map_err(unfit)?;
        let tiff = tiff_of(heif.exif().map_err(unfit)?.as_deref())?;
        let exif = gps_ifd::with_location(tiff, tag, overwrite).map_err(refused)?;
        return heif.with_exif(&exif).map_err(unfit);
    }
    if is_tiff(photo) {
        let tiff = Tiff::parse(photo).map_err(unfit)?;
        return gps_ifd::with_location(tiff, tag, overwrite).map_err(refused);
    }
    let parsed = DynImage::from_bytes(Bytes::copy_from_slice(photo));
    let parsed = parsed.map_err(|error| unfit(format!("it is damaged ({error})")))?;
    let mut image = parsed.ok_or_else(|| TagError::UnknownFormat { file: file() })?;
    let tiff = tiff_of(image.exif().as_deref())?;
    let exif = gps_ifd::with_location(tiff, tag, overwrite).map_err(refused)?;
    image.set_exif(Some(exif.clone().into()));
    if image.exif().is_none_or(|kept| kept != exif) {
        return Err(unfit("it has no room left for EXIF data (64 KiB at most)".to_owned()));
    }
    Ok(image.encoder().bytes().to_vec())
}
