//! Maps of densities: windows on the globe, rasters of values, contours, files and images.
//!
//! | you want | item |
//! |---|---|
//! | a part of the globe cut into cells | [`Window`] |
//! | a value in every cell | [`Raster`] |
//! | the regions above a level, ready for `GeoJSON` | [`contour_polygons`], [`locdiff_shdd::sphere::Polygon`] |
//! | the outline of a density's credible region | [`region_polygons`] |
//! | a `GeoJSON` or KML file | [`FeatureCollection`], [`KmlDocument`] |
//! | a raster for GIS programs, and back | [`geotiff`], [`ascii_grid`], [`parse_ascii_grid`] |
//! | land and borders | [`Coast`] |
//! | a picture of one photo, or of several | [`MapImage`], [`photos_png`] |
//! | a page with a map, or one for thousands of photos | [`HtmlPhoto`], [`CrowdMap`], [`MapPage`] |
//! | the towns, coast, climate, country and state of a location | [`cells::Cells`] |
//! | an animation of a density in time | [`Trace`] |
//!
//! ```
//! use locdiff_map::{FeatureCollection, MapImage, Raster, Window, contour_polygons};
//! use locdiff_shdd::sphere::LatLon;
//!
//! let paris = LatLon::new(48.86, 2.35)?;
//! let raster = Raster::from_fn(Window::globe(90, 180)?, |point| -8.0 * point.angle_rad(paris.to_unit()).powi(2));
//! let region = contour_polygons(&raster, -1.0);
//!
//! let mut features = FeatureCollection::new();
//! features.push_region(&region, &[("level", (-1.0).into())]);
//! features.push_point(paris, &[("name", "Paris".into())]);
//! assert!(features.to_string().starts_with(r#"{"type":"FeatureCollection","features":["#));
//!
//! let png = MapImage::new(Window::globe(360, 720)?)
//!     .heat(raster)
//!     .outline(region, "level -1")
//!     .marker(paris)
//!     .title("Where is Paris?")
//!     .to_png();
//! assert_eq!(&png[1..4], b"PNG");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(test, allow(clippy::float_cmp, reason = "the numbers compared are made to be exact"))]

pub mod cells;
pub mod clues;
mod coast;
mod contour;
mod credible;
mod error;
pub mod evidence;
mod geojson;
mod gpx;
mod html;
mod kml;
mod label;
pub mod places;
mod raster;
mod raster_files;
mod render;
mod seam;
mod trace;
mod window;

pub use coast::{Coast, Detail, LandRing};
pub use contour::contour_polygons;
pub use credible::{globe_log_density, region_polygons};
pub use error::MapError;
pub use geojson::FeatureCollection;
pub use gpx::{GpxPoint, gpx};
pub use html::{CrowdMap, CrowdPhoto, HtmlMarker, HtmlPhoto, MapPage, TrackMap, TrackPhoto};
pub use kml::{KmlDocument, KmlFolder};
pub use label::MapLabel;
pub use raster::Raster;
pub use raster_files::geotiff;
pub use raster_files::{ascii_grid, parse_ascii_grid};
pub use render::{Colour, MapImage, Marker, MarkerShape, crowd_image, photos_png};
pub use trace::Trace;
pub use window::Window;
