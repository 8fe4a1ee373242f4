//! Locations for all photos of an album: from pictures, some GPS tags, times, travel habits and similar tagged photos.
//!
//! | you want | item |
//! |---|---|
//! | answers for an album | [`Album::answers`], [`AlbumPhoto`], [`AlbumAnswer`] |
//! | one answer for several photos of one location | [`Album::same_place`] |
//! | trips of a folder or a library | [`trips`], [`cut`], [`Album::answers_in_trips`] |
//! | photos without a time | [`Album::untimed`], [`AlbumPlaces`] |
//! | known locations in addition to GPS tags | [`KnownPlace`], [`Album::answers_knowing`] |
//! | cameras whose clocks are off | [`Album::wrong_clocks`], [`set_clocks`] |
//! | times of photos | [`parse_time`], [`time_in_name`], [`PhotoTime`] |
//! | locations from a GPS track | [`Track`], [`Album::clocks_by_track`] |
//! | towns, regions and time zones | [`SoftPlace`], [`AlbumPhoto::offset_h`] |
//! | the baselines of photo managers | [`by_time`] |
//! | how often radii hold for an album's own tags | [`Album::left_out`] |
//! | how good answers are, compared with those | [`AlbumScores`], [`AlbumTrip`], [`Judging`] |
//! | the settings of the model | [`AlbumSettings`] |
//!
//! Known locations at other times give each photo a prior: a mixture of Gaussians, fitted to how people stay, return and leave. Image evidence
//! passes from photo to photo on Gauss–Legendre rings of the globe. There a jump is exact: one factor for each degree.

mod album;
mod answer;
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
pub use clock::{WrongClock, set_clocks};
pub use error::AlbumError;
pub(crate) use error::Result;
pub use evaluation::{AlbumScores, AlbumTrip, Judging, SetClock, StrayScores, SystemScores};
pub use evaluation::{ByTime, by_time};
pub use photo::AlbumPhoto;
pub use prior::KnownPlace;
pub use roaming::Traveller;
pub use settings::AlbumSettings;
pub use soft::{SoftPlace, SoftRegion};
pub use times::{PhotoTime, TimeSource, iso_time, parse_duration, parse_offset, parse_time, time_in_name};
pub use track::Track;
pub use trips::{TRIP_PAUSE_S, Trip, TripStop, beside, cut, trips};
pub use untimed::AlbumPlaces;
