//! The backward process as places: where each sample is, from noise to an answer.

use crate::{EmbeddedPhoto, LocateError, LocateOptions, Locator};
use locdiff_model::{ModelError, Reading, TraceStep};
use locdiff_shdd::Decoder;
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon};

/// Samples of a film: enough to see where they gather.
const SAMPLES: usize = 24;
/// Its steps.
const STEPS: usize = 16;

/// Where the samples are after a step of the backward process.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledStep {
    /// The time step, falling towards 0.
    pub t: usize,
    /// The place that each sample's code means, with the noise that is still in it.
    pub places: Vec<LatLon>,
}

impl Locator {
    /// The way of two dozen samples from noise to places, noisiest first.
    ///
    /// ```
    /// # #[cfg(feature = "bundled")] {
    /// use locdiff::{Locator, LocateOptions, Photo, PhotoLimits};
    /// # std::env::set_current_dir("../../fixtures/vision").unwrap();
    /// let path = "china.jpg";
    /// let (locator, options) = (Locator::bundled()?, LocateOptions::default());
    /// let photo = Photo::open(path.as_ref(), &PhotoLimits::default())?;
    /// let steps = locator.sampled_steps(&locator.embed(&photo, &options)?, &options)?;
    /// assert!(steps.windows(2).all(|pair| pair[0].t > pair[1].t && pair[0].places.len() == pair[1].places.len()));
    /// # }
    /// # Ok::<(), locdiff::LocateError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Locator::answer`].
    pub fn sampled_steps(
        &self,
        photo: &EmbeddedPhoto,
        options: &LocateOptions,
    ) -> Result<Vec<SampledStep>, LocateError> {
        let samples = SAMPLES.max(photo.views.len());
        let mut asked = options.resolved()?.samples(samples);
        asked.steps = STEPS;
        if asked.known().is_some() {
            let remedy = "samples know no region or prior: leave out one of them";
            return Err(locdiff_base::setting("steps", "with prior knowledge", remedy));
        }
        let steps = self.trace(photo, &asked)?;
        let codec = self.predictor().codec();
        let decoder = Decoder::Exact { window_rad: Some(Reading::default().window_km / EARTH_RADIUS_KM) };
        let step = |TraceStep { t, samples, .. }: TraceStep| {
            let found = codec.decode_batch(&samples, &decoder).map_err(ModelError::from)?;
            Ok(SampledStep { t, places: found.into_iter().map(|mode| mode.point.to_latlon()).collect() })
        };
        steps.into_iter().map(step).collect()
    }
}
