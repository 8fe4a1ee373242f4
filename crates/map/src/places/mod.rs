//! Where a point on Earth is, in words: the nearest town, the country, and regions to restrict an answer to. Offline.
//!
//! | you want | item |
//! |---|---|
//! | the nearest town of 5,000 inhabitants or more | [`Places::nearest`] |
//! | a phrase such as "12 km north-east of Beijing, China" | [`describe`], [`Description`] |
//! | the country of a point, or one by name or code | [`Countries::at`], [`Countries::find`] |
//! | a town by any of its names or the beginning of one, or coordinates | [`find_place`], [`search_places`] |
//! | its continent | [`continent`], [`continent_of_country`] |
//! | names to write on a map, and outlines of states to draw | [`place_names`], [`state_outlines`] |
//! | a box, a country or a `GeoJSON` file as a region | [`Region::parse`], [`Region::contains`] |
//!
//! Towns are from GeoNames (© GeoNames, CC BY 4.0), outlines from Natural Earth (public domain): `assets/README.md`.

pub(crate) mod admin1;
mod circle;
mod compass;
mod continents;
mod coordinates;
mod countries;
mod describe;
mod error;
pub(crate) mod folded;
mod geojson;
pub(crate) mod inflate;
mod named;
mod names;
mod region;
mod search;
mod towns;

pub use admin1::state_outlines;
pub use compass::Compass;
pub use continents::{continent, continent_of_country};
pub use countries::{Countries, Country};
pub use describe::{Description, describe};
pub use error::PlacesError;
pub use names::{PlaceKind, PlaceName, place_names};
pub use region::Region;
pub use search::{FoundPlace, find_place, search_places};
pub use towns::{NearestPlace, Places};
