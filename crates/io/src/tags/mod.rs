//! Reads what photos say about themselves. Writes a place into a copy of a photo, an XMP file or, if asked, the photo
//! itself. Everything else in it stays: the pixels, the other tags and whatever follows the picture.
//!
//! | you want | item |
//! |---|---|
//! | what to write | [`GeoTag`], [`PlaceNames`] |
//! | where, when and by which camera a photo or a video was taken | [`PhotoFacts`] |
//! | the preview in a RAW file, which is tagged by a sidecar only | [`raw_preview`], [`raw_kind`], [`sidecar_only`] |
//! | photos, videos and sidecars told apart by name | [`MediaKind`] |
//! | a tagged copy of a JPEG, PNG, WebP, TIFF, HEIC or AVIF file | [`write_copy`] |
//! | the same in memory | [`tagged`] |
//! | a file `photo.jpg.xmp` beside the photo, merged with one that is there | [`write_sidecar`], [`sidecar_path`] |
//! | to see first what would be written | [`prepare_copy`], [`prepare_sidecar`], [`prepare_in_place`], [`PreparedWrite`] |
//! | to undo it | [`TagJournal`], [`undo`] |
//! | which places are sure enough | [`TagRule`] |
//! | all of it for the photos of a run | [`Tagger`], [`TagPlan`], [`TagStep`] |
//! | a table for exiftool | [`EXIFTOOL_COLUMNS`], [`exiftool_row`] |
//! | whether a photo has a location already | [`has_location`] |
//! | all that says where it was taken, and a copy without it | [`LocationScrub`], [`LocationFinding`] |
//!
//! ```
//! use locdiff_io::tags::{GeoTag, Overwrite, has_location, tagged};
//! use locdiff_shdd::sphere::LatLon;
//! let photo = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vision/rgb.jpg"))?;
//! let tag = GeoTag::new(LatLon::new(39.999, 116.275)?).radius_km(210.0).area("in Beijing, China");
//! let copy = tagged(&photo, "rgb.jpg", &tag, Overwrite::NEVER)?;
//! assert!(has_location(&copy) && !has_location(&photo));
//! // A photo with a location keeps it.
//! assert!(tagged(&copy, "rgb.jpg", &tag, Overwrite::NEVER).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blocks;
mod containers;
mod error;
mod exif;
mod facts;
mod files;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod gps_ifd;
mod heif;
mod iso;
mod journal;
mod jpeg_names;
mod kind;
mod location;
mod merge;
mod raw;
mod reader;
mod rule;
mod tag;
mod tagger;
mod tiff;
mod tree;
mod undo;
mod video;
mod xmp;
mod xmp_facts;

pub use containers::tagged;
pub use error::{Result, TagError};
pub use facts::{PhotoFacts, Taken};
pub use files::{Change, PreparedWrite, prepare_copy, prepare_in_place, prepare_plain_copy, prepare_sidecar};
pub use files::{write_copy, write_sidecar};
pub use heif::heif_kind;
pub use journal::{JOURNAL_NAME, TagJournal};
pub use kind::{MediaKind, adobe_sidecar_path, sidecar_only, sidecar_path};
pub use location::{LocationFinding, LocationScrub, copy_paths};
pub use raw::{raw_kind, raw_preview};
pub use reader::{has_location, tiff_bytes};
pub use rule::TagRule;
pub use tag::{EXIFTOOL_COLUMNS, GeoTag, Overwrite, PlaceNames, exiftool_row};
pub use tagger::{Skip, TagPlace, TagPlan, TagStep, Tagged, Tagger};
pub use undo::{Undo, undo};
