//! Places for the photos of an [immich](https://immich.app) server, by its REST interface: suggested, reviewed, written, undone.
//!
//! | you want | item |
//! |---|---|
//! | a server and a key | [`Immich`], [`ApiKey`] |
//! | its photos | [`Immich::assets`], [`AssetFilter`] |
//! | trips, by the rule of albums | [`Trips`] |
//! | places for a trip's photos | [`Suggester`] |
//! | suggestions in a file | [`Suggestions`] |
//! | them in a review, to be looked at, ticked and corrected | [`Review`] |
//! | write those that are ticked | [`Immich::apply`], [`Applied`] |
//! | take them back | [`Immich::undo`] |
//!
//! A place that the server knows is never written over: every asset is looked at again just before. immich has no way to say "no
//! place"; it takes 0° N 0° E for none, and so does this crate, in both directions.

mod client;
mod error;
mod review;
mod suggest;
mod suggestions;
mod write;

pub use client::{ApiKey, AssetFilter, Immich};
pub use error::ImmichError;
pub use review::Review;
pub use suggest::{Suggester, Trips};
pub use suggestions::Suggestions;
pub use write::Applied;

type Result<T> = std::result::Result<T, ImmichError>;
