//! How to answer: a request whose regions and priors were read.

use crate::{Knowledge, LocateError, Pooling, SampleOptions};
use locdiff_model::answer::ReadOptions;
use locdiff_base::setting;
use locdiff_vision::PhotoLimits;
use std::sync::Arc;

/// How to answer: what [`crate::Request::options`] makes of a request, or what a program puts together itself.
///
/// ```
/// use locdiff::{Knowledge, LocateOptions, Region};
/// let options = LocateOptions::default().with_knowledge(Knowledge::new().within(Region::parse("Japan")?));
/// assert!(options.knowledge.is_some());
/// # Ok::<(), locdiff::LocateError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LocateOptions {
    /// Draws of noise that the evidence is the mean of, guidance and seed; and, for retrieval and the backward process, the
    /// sampler and its steps.
    pub sampling: SampleOptions,
    /// Views of a photo that the samples are spread over; 1 is the photo alone.
    pub views: usize,
    /// Where the place is to come from samples, how they become one (the paper's Algorithm 2 is [`Pooling::Mean`] over several
    /// views); `None` reads the place off the density, without sampling.
    pub pooling: Option<Pooling>,
    /// Look for better places than a model's own about the best of them, where it gives places scores.
    pub refine: bool,
    /// How the answer is read off the density.
    pub reading: ReadOptions,
    /// What is also known.
    pub knowledge: Option<Arc<Knowledge>>,
    /// The most that a photo may ask for.
    pub limits: PhotoLimits,
}

impl Default for LocateOptions {
    fn default() -> Self {
        Self {
            sampling: SampleOptions::default(),
            views: 1,
            pooling: None,
            refine: false,
            reading: ReadOptions::default(),
            knowledge: None,
            limits: PhotoLimits::default(),
        }
    }
}

impl LocateOptions {
    /// With other sampling.
    #[must_use]
    pub fn with_sampling(self, sampling: SampleOptions) -> Self {
        Self { sampling, ..self }
    }

    /// With so many views of each photo.
    #[must_use]
    pub fn with_views(self, views: usize) -> Self {
        Self { views, ..self }
    }

    /// With so many hypotheses at the most.
    #[must_use]
    pub fn with_hypotheses(self, hypotheses: usize) -> Self {
        Self { reading: self.reading.with_hypotheses(hypotheses), ..self }
    }

    /// With the density seen through a window of this radius; `None` leaves it to the calibration.
    #[must_use]
    pub fn with_window_km(self, window_km: impl Into<Option<f64>>) -> Self {
        match window_km.into() {
            Some(window_km) => Self { reading: self.reading.with_window_km(window_km), ..self },
            None => self,
        }
    }

    /// With what is also known.
    #[must_use]
    pub fn with_knowledge(self, knowledge: impl Into<Arc<Knowledge>>) -> Self {
        Self { knowledge: Some(knowledge.into()), ..self }
    }

    /// Whether they can be used.
    ///
    /// # Errors
    /// Options out of range, or that do not go together.
    pub fn check(&self) -> Result<(), LocateError> {
        self.sampling.check()?;
        if self.views == 0 || self.views > self.sampling.samples {
            let remedy = format!("1 to the number of samples, {}", self.sampling.samples);
            return Err(setting("views", self.views, remedy));
        }
        if let Some(window_km) = self.reading.window_km
            && !(1.0..=20_000.0).contains(&window_km)
        {
            return Err(setting("window", format!("{window_km} km"), "1 to 20000 km"));
        }
        if self.pooling.is_some() && self.knowledge.is_some() {
            let remedy = "samples know no region or prior: leave out one of them";
            return Err(setting("pooling", "with prior knowledge", remedy));
        }
        Ok(())
    }
}
