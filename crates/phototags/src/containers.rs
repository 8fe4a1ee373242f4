//! EXIF data in the files that hold it.

use crate::gps_ifd::{self, Refusal};
use crate::{GeoTag, Overwrite, Result, TagError, tiff::Tiff};
use img_parts::{Bytes, DynImage, ImageEXIF};

/// The name that a location has in any XMP packet, whatever prefix stands before it.
const XMP_LOCATION: &[u8] = b"GPSLatitude";
/// Some WebP and PNG writers put JPEG's prefix before the structure.
const PREFIX: &[u8] = b"Exif\0\0";

/// The photo with the place in its EXIF data; all else as it was. `name` stands for it in messages.
///
/// # Errors
/// When the photo has a location already (one in XMP is never replaced), is of another kind, or is damaged.
pub fn tagged(photo: &[u8], name: &str, tag: &GeoTag, overwrite: Overwrite) -> Result<Vec<u8>> {
    let file = || name.to_owned();
    let unfit = |reason: String| TagError::Unfit { file: file(), reason };
    let refused = |refusal| match refusal {
        Refusal::HasLocation => TagError::HasLocation { file: file() },
        Refusal::Unfit(reason) => unfit(reason),
    };
    if has_xmp_location(photo) {
        return Err(if overwrite.locations {
            TagError::HasXmpLocation { file: file() }
        } else {
            TagError::HasLocation { file: file() }
        });
    }
    if is_tiff(photo) {
        let tiff = Tiff::parse(photo.to_vec()).map_err(unfit)?;
        return gps_ifd::with_location(tiff, tag, overwrite).map_err(refused);
    }
    let parsed = DynImage::from_bytes(Bytes::copy_from_slice(photo));
    let mut image = parsed
        .map_err(|error| unfit(format!("it is damaged ({error})")))?
        .ok_or_else(|| TagError::UnknownFormat { file: file() })?;
    let tiff = match image.exif() {
        Some(exif) => Tiff::parse(without_prefix(&exif).to_vec()).map_err(unfit)?,
        None => Tiff::empty(),
    };
    let exif = gps_ifd::with_location(tiff, tag, overwrite).map_err(refused)?;
    image.set_exif(Some(exif.clone().into()));
    if image.exif().is_none_or(|kept| kept != exif) {
        return Err(unfit("there is no room left for EXIF data in it (64 KiB at most)".to_owned()));
    }
    Ok(image.encoder().bytes().to_vec())
}

/// Whether a photo has a location, in EXIF or XMP. A file that cannot be read as a photo does not.
pub fn has_location(photo: &[u8]) -> bool {
    if has_xmp_location(photo) {
        return true;
    }
    let exif = if is_tiff(photo) {
        Some(photo.to_vec())
    } else {
        let image = DynImage::from_bytes(Bytes::copy_from_slice(photo)).ok().flatten();
        image.and_then(|image| image.exif()).map(|exif| without_prefix(&exif).to_vec())
    };
    exif.and_then(|exif| Tiff::parse(exif).ok()).is_some_and(|tiff| gps_ifd::has_location(&tiff))
}

fn is_tiff(photo: &[u8]) -> bool {
    [b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"].iter().any(|start| photo.starts_with(*start))
}

fn has_xmp_location(photo: &[u8]) -> bool {
    photo.windows(XMP_LOCATION.len()).any(|window| window == XMP_LOCATION)
}

fn without_prefix(exif: &[u8]) -> &[u8] {
    exif.strip_prefix(PREFIX).unwrap_or(exif)
}
