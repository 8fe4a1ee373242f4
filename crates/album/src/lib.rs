//! Places for a whole album at once: from images, some GPS tags, times, how people travel, likeness to tagged photos.
//!
//! | you want | item |
//! |---|---|
//! | answers for an album | [`Album::answers`], [`AlbumPhoto`], [`AlbumAnswer`] |
//! | one answer for views of one place | [`Album::same_place`] |
//! | trips of a folder or a library | [`trips`], [`cut`], [`Album::answers_in_trips`] |
//! | photos without a time | [`Album::untimed`], [`AlbumPlaces`] |
//! | places known beside the photos' tags | [`KnownPlace`], [`Album::answers_knowing`] |
//! | cameras whose clocks are off | [`Album::wrong_clocks`], [`set_clocks`] |
//! | times of photos | [`parse_time`], [`time_in_name`], [`PhotoTime`] |
//! | a place for a time, by a log of positions | [`Track`], [`Album::clocks_by_track`] |
//! | towns, regions and time zones | [`SoftPlace`], [`AlbumPhoto::offset_h`] |
//! | what photo managers do instead | [`by_time`] |
//! | how well radii hold for an album's own tags | [`Album::left_out`] |
//! | how good answers are, beside those | [`AlbumScores`], [`AlbumTrip`], [`Judging`] |
//! | what the model assumes | [`AlbumSettings`] |
//!
//! Places known of other times give each photo a prior (a mixture of Gaussians, fitted to how real people stay, return and leave); what photos
//! look like goes from photo to photo on a grid of the globe (Gauss–Legendre rings, on which jumps are exact: one factor for each degree).

mod album;
mod answer;
mod baselines;
mod blob;
mod chain;
mod clock;
mod cloud;
mod earth;
mod error;
mod evaluation;
mod explain;
mod left_out;
mod levels;
mod likelihood;
mod likeness;
mod message;
mod photo;
mod prior;
mod roaming;
mod settings;
mod soft;
mod soft_weights;
mod times;
mod track;
mod track_clock;
mod track_files;
mod track_gpx;
mod track_json;
mod track_nmea;
mod track_points;
mod trips;
mod untimed;

pub use album::Album;
pub use answer::{AlbumAnswer, Outlier};
pub use baselines::{ByTime, by_time};
pub use clock::{WrongClock, set_clocks};
pub use error::AlbumError;
pub(crate) use error::Result;
pub use evaluation::{AlbumScores, AlbumTrip, Judging, SetClock, StrayScores, SystemScores};
pub use photo::AlbumPhoto;
pub use prior::KnownPlace;
pub use roaming::Traveller;
pub use settings::AlbumSettings;
pub use soft::{SoftPlace, SoftRegion};
pub use times::{PhotoTime, TimeSource, iso_time, parse_duration, parse_offset, parse_time, time_in_name};
pub use track::Track;
pub use trips::{TRIP_PAUSE_S, Trip, TripStop, beside, cut, trips};
pub use untimed::AlbumPlaces;
