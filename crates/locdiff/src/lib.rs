//! Where on Earth was this photo taken? A photo in, places with honest probabilities out.
//!
//! | you want | item |
//! |---|---|
//! | the answer for a photo | [`Locator::locate`], [`Answer`] |
//! | many photos, other settings, the density itself | [`Locator::session`], [`Session`], [`AnswerDensity`] |
//! | to add what you know besides | [`Knowledge`] |
//! | probabilities that hold, for a model of your own | [`fit`], [`Calibration`] |
//! | to see whether they hold | [`ReliabilityCurve`] |
//!
//! ```
//! # #[cfg(feature = "bundled")] {
//! use locdiff::{Knowledge, LocateOptions, Locator, Photo, PhotoLimits};
//! use std::sync::Arc;
//! let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vision/china.jpg");
//! let photo = Photo::open(path.as_ref(), &PhotoLimits::default())?;
//! let locator = Locator::bundled()?;
//! // It was taken somewhere in the eastern hemisphere: that much we know.
//! let east = Knowledge::new().weight(|place| f64::from(u8::from(place.lon_deg() > 0.0)));
//! let options = LocateOptions { knowledge: Some(Arc::new(east)), ..LocateOptions::default() };
//! let mut session = locator.session(options)?;
//! let embeddings = session.embed(&[photo], 0)?;
//! let findings = session.find(0, &embeddings)?;
//! let (answer, density) = session.answer(&findings[0])?;
//! assert!(answer.best.lon > 0.0);
//! assert!(density.region(0.5).area_km2 < density.region(0.9).area_km2);
//! # }
//! # Ok::<(), locdiff::LocateError>(())
//! ```

mod answer;
mod basins;
mod calibration;
mod density;
mod error;
mod fit;
mod globe;
mod knowledge;
mod locator;

pub use answer::{Answer, Hypothesis, Spot};
pub use calibration::{CALIBRATION_FILE, Calibration, FitReport};
pub use density::{AnswerDensity, Peak, Region};
pub use error::LocateError;
pub use fit::{BACKGROUND_DRAWS, FEWEST_TO_CALIBRATE, Observation, fit};
pub use globe::Globe;
pub use knowledge::Knowledge;
pub use locator::{Finding, LocateOptions, Locator, Session, open_model};
#[cfg(feature = "bundled")]
pub use locator::{bundled_encoder, bundled_model};

pub use locdiff_eval::{LEVELS, ReliabilityCurve};
pub use locdiff_model::SampleOptions;
pub use locdiff_nn::{Device, DeviceSpec};
pub use locdiff_vision::{Photo, PhotoLimits};
