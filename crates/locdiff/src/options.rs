//! How to answer.

use crate::{Hybrid, Knowledge, LocateError, SampleOptions};
use locdiff_base::setting;
use std::sync::Arc;

/// How to answer.
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
    /// Samples, sampler, steps, guidance and seed.
    pub sampling: SampleOptions,
    /// Views of a photo that the samples are spread over; 1 is the photo alone.
    pub views: usize,
    /// The most hypotheses an answer lists.
    pub hypotheses: usize,
    /// What is also known.
    pub knowledge: Option<Arc<Knowledge>>,
    /// Retrieval inside the regions that diffusion proposes: LocDiff-H.
    pub hybrid: Option<Arc<Hybrid>>,
}

impl Default for LocateOptions {
    fn default() -> Self {
        Self { sampling: SampleOptions::default(), views: 1, hypotheses: 5, knowledge: None, hybrid: None }
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
        Self { hypotheses, ..self }
    }

    /// With what is also known.
    #[must_use]
    pub fn with_knowledge(self, knowledge: impl Into<Arc<Knowledge>>) -> Self {
        Self { knowledge: Some(knowledge.into()), ..self }
    }

    /// With retrieval.
    #[must_use]
    pub fn with_hybrid(self, hybrid: impl Into<Arc<Hybrid>>) -> Self {
        Self { hybrid: Some(hybrid.into()), ..self }
    }

    pub(crate) fn check(&self) -> Result<(), LocateError> {
        if self.views == 0 || self.views > self.sampling.samples {
            let remedy = format!("1 to the number of samples, {}", self.sampling.samples);
            return Err(setting("views", self.views, remedy));
        }
        if self.hybrid.is_some() && self.knowledge.is_some() {
            let remedy = "retrieval knows no regions or priors: leave out one of them";
            return Err(setting("hybrid", "with prior knowledge", remedy));
        }
        Ok(())
    }
}
