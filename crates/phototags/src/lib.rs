//! A place written into a copy of a photo as EXIF, or beside the photo as an XMP file, or, where that is asked for, into the photo, which
//! stays beside itself. Everything else in it stays: the pixels, the other tags and whatever follows the picture.
//!
//! | you want | item |
//! |---|---|
//! | what to write | [`GeoTag`] |
//! | a tagged copy of a JPEG, PNG, WebP or TIFF file | [`write_copy`] |
//! | the same in memory | [`tagged`] |
//! | a file `photo.jpg.xmp` beside the photo, merged with one that is there | [`write_sidecar`], [`sidecar_path`] |
//! | to see first what would be written | [`prepare_copy`], [`prepare_sidecar`], [`prepare_in_place`], [`Prepared`] |
//! | city, state and country | [`PlaceNames`] |
//! | to undo it | [`Journal`], [`undo`] |
//! | which places are sure enough | [`TagRule`] |
//! | all of it for the photos of a run | [`Tagger`], [`TagPlan`], [`TagStep`] |
//! | a table for exiftool | [`EXIFTOOL_COLUMNS`], [`exiftool_row`] |
//! | whether a photo has a location already | [`has_location`] |
//!
//! ```
//! use locdiff_phototags::{GeoTag, Overwrite, has_location, tagged};
//! use locdiff_sphere::LatLon;
//! let photo = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vision/rgb.jpg"))?;
//! let tag = GeoTag::new(LatLon::new(39.999, 116.275)?).radius_km(210.0).area("in Beijing, China");
//! let copy = tagged(&photo, "rgb.jpg", &tag, Overwrite::NEVER)?;
//! assert!(has_location(&copy) && !has_location(&photo));
//! // A photo with a location keeps it.
//! assert!(tagged(&copy, "rgb.jpg", &tag, Overwrite::NEVER).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod containers;
mod error;
mod exiftool;
mod files;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod gps_ifd;
mod journal;
mod jpeg_names;
mod merge;
mod place_names;
mod rule;
mod tag;
mod tagger;
mod tiff;
mod tree;
mod undo;
mod xmp;

pub use containers::{has_location, tagged};
pub use error::{Result, TagError};
pub use exiftool::{EXIFTOOL_COLUMNS, exiftool_row};
pub use files::{
    Change, Prepared, prepare_copy, prepare_in_place, prepare_plain_copy, prepare_sidecar, sidecar_path, write_copy,
    write_sidecar,
};
pub use journal::{JOURNAL_NAME, Journal};
pub use place_names::PlaceNames;
pub use rule::TagRule;
pub use tag::{GeoTag, Overwrite};
pub use tagger::{Skip, TagPlace, TagPlan, TagStep, Tagged, Tagger};
pub use undo::{Undo, undo};
