//! Places for the photos of an [immich](https://immich.app) server, by its REST interface: suggested, reviewed, written, undone.
//!
//! | you want | item |
//! |---|---|
//! | a server and a key | [`Immich`], [`ApiKey`] |
//! | its photos | [`Immich::assets`], [`Filter`], [`Asset`] |
//! | trips, by the rule of albums | [`Trips`] |
//! | places for a trip's photos | [`Suggester`] |
//! | suggestions in a file | [`Suggestions`], [`Suggestion`] |
//! | them in a review, to be looked at, ticked and corrected | [`Review`] |
//! | write those that are ticked | [`apply`], [`Journal`] |
//! | take them back | [`undo`] |
//!
//! A place that the server knows is never written over: every asset is looked at again just before. immich has no way to say "no
//! place"; it takes 0° N 0° E for none, and so does this crate, in both directions.

mod apply;
mod asset;
mod client;
mod error;
mod journal;
mod key;
mod review;
mod suggest;
mod suggestions;
mod undo;

pub use apply::{Applied, apply};
pub use asset::Asset;
pub use client::{Filter, Immich};
pub use error::ImmichError;
pub use journal::{Journal, Written};
pub use key::ApiKey;
pub use review::Review;
pub use suggest::{Suggester, TripSuggestions, Trips};
pub use suggestions::{Corrected, Suggestion, Suggestions};
pub use undo::{Undone, undo};

/// What functions here return.
pub type Result<T> = std::result::Result<T, ImmichError>;
