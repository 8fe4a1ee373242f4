//! What a gallery does for a locator's answers.

use crate::{HybridChanges, LocateOptions, error::Result, hybrid::Hybrid};
use locdiff_base::setting;
use locdiff_model::answer::Answer;
use locdiff_retrieval::gallery::{Centres, Fusion, HybridOptions, HybridRule, Retriever};

pub(crate) enum GalleryUse {
    /// Answers are read off one density of both: LocDiff+kNN.
    Mix { retriever: Box<dyn Retriever>, names: Vec<String> },
    /// It settles places near the samples: LocDiff-H.
    Settle { hybrid: Hybrid, names: Vec<String> },
}

impl GalleryUse {
    pub(crate) fn check(&self, options: &LocateOptions) -> Result<()> {
        if options.pool.is_some() {
            return Err(setting("pool", "with a gallery", "samples know no gallery: leave out one of them"));
        }
        if matches!(self, Self::Settle { .. }) && (options.known().is_some() || !options.clue.is_empty()) {
            let remedy = "retrieval knows no regions, priors or clues: leave out one of them, or let the gallery mix";
            return Err(setting("gallery rule", "hybrid with prior knowledge", remedy));
        }
        Ok(())
    }

    pub(crate) fn name_match(&self, answer: &mut Answer) {
        let (Self::Mix { names, .. } | Self::Settle { names, .. }) = self;
        let part = answer.from_density.as_mut().and_then(|from| from.gallery.as_mut());
        if let Some(found) = part.and_then(|part| part.matched.as_mut()) {
            found.name = names.get(found.row - 1).cloned();
        }
    }
}

impl HybridChanges {
    /// Applies these changes to a rule of LocDiff-H. Fails if a change does not fit the rule.
    pub fn apply(&self, rule: HybridRule) -> Result<HybridOptions> {
        // The paper's rule takes the one best match: there is nothing to weigh.
        let idle = [
            ("temperature", self.temperature.is_some()),
            ("weight", self.weight.is_some()),
            ("confidence", self.confidence.is_some()),
        ];
        if let (HybridRule::Paper, Some((what, _))) = (rule, idle.into_iter().find(|(_, is_given)| *is_given)) {
            return Err(setting(what, "with the paper's rule", "it means nothing there: leave it out"));
        }
        let mut options = rule.options();
        if self.around_answer {
            options.centres = Centres::Answer;
        }
        options.radius_km = self.radius_km.unwrap_or(options.radius_km);
        options.temperature = self.temperature.or(options.temperature);
        options.confidence = self.confidence.unwrap_or(options.confidence);
        if let Some(weight) = self.weight {
            let floor = options.fusion.map_or(0.1, |fusion| fusion.floor);
            options.fusion = Some(Fusion { weight, floor });
        }
        Ok(options)
    }
}
