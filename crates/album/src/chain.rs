//! Forward–backward over the photos in order of time: linear in the photos, with memory of the order of their root.

use crate::evidence::{Evidence, one_moment, weights as weights_of};
use crate::likeness::{self, Similarities};
use crate::message::{Kept, Message, Return, Towards, about_tag};
use crate::travel::{Travel, pace_h};
use crate::{AlbumError, blob::Blob, earth::Earth, photo::AlbumPhoto, settings::AlbumSettings};
use locdiff_answer::Calibration;
use rayon::prelude::*;

/// An album in order of time.
pub(crate) struct Chain<'a> {
    photos: Vec<&'a AlbumPhoto>,
    times: Vec<f64>,
    weights: Vec<f64>,
    pace_h: f64,
    returns: Vec<Vec<Return>>,
    /// How much each looks like those around it.
    neighbour_similarity: Vec<Option<f64>>,
    earth: &'a Earth,
    calibration: &'a Calibration,
    settings: &'a AlbumSettings,
}

/// What is known of one photo in the end.
pub(crate) struct PhotoPosterior {
    /// What it and all others say of its place.
    pub(crate) place: Message,
    /// What it says alone.
    pub(crate) alone: Message,
    /// The probability that it does not belong to the album.
    pub(crate) stray: f64,
    /// The probability that its tag is wrong; 0 where it has none.
    pub(crate) wrong_tag: f64,
    /// What likeness says, the strongest word.
    pub(crate) alike: Option<Return>,
}

impl<'a> Chain<'a> {
    /// `times` are in order.
    pub(crate) fn new(
        photos: Vec<&'a AlbumPhoto>,
        times: Vec<f64>,
        earth: &'a Earth,
        calibration: &'a Calibration,
        settings: &'a AlbumSettings,
    ) -> Self {
        let similarities = Similarities::of(&photos);
        let neighbour_similarity = likeness::neighbour_similarity(&similarities, &times, settings.moment_s);
        let one_view = |k: usize, other: usize, gap_s: f64| similarities.one_view((k, other), gap_s, settings);
        let weights = weights_of(&times, settings.dependence, one_view);
        let mut returns = likeness::returns(&photos, &times, settings);
        let moment = |_, _, gap_s| one_moment(gap_s, settings.moment_s);
        let shares = weights_of(&times, settings.likeness_dependence, moment);
        for (own, share) in returns.iter_mut().zip(shares) {
            for one in own {
                one.log_odds *= share;
            }
        }
        let pace_h = pace_h(&photos, &times);
        Self { photos, times, weights, pace_h, returns, neighbour_similarity, earth, calibration, settings }
    }

    /// The log likelihood of the whole album for each of several chains of the same photos, which differ in how people travel.
    pub(crate) fn log_likelihoods(chains: &[Self]) -> Result<Vec<f64>, AlbumError> {
        let mut so_far: Vec<(f64, Option<Message>)> = vec![(0.0, None); chains.len()];
        for k in 0..chains.first().map_or(0, |chain| chain.photos.len()) {
            let evidence = chains[0].evidence(k)?;
            let step = |(chain, (sum, before)): (&Self, &mut (f64, Option<Message>))| {
                let mut now = chain.expected(k, before.as_ref())?;
                chain.hear_as(k, &mut now, &evidence);
                *sum += now.normalise(chain.earth);
                *before = Some(now);
                Ok::<(), AlbumError>(())
            };
            chains.par_iter().zip(&mut so_far).try_for_each(step)?;
        }
        Ok(so_far.into_iter().map(|(sum, _)| sum).collect())
    }

    /// Calls `each` with the position and word of every photo, the last first.
    pub(crate) fn smooth(
        &self,
        mut each: impl FnMut(usize, PhotoPosterior) -> Result<(), AlbumError>,
    ) -> Result<(), AlbumError> {
        let count = self.photos.len();
        let stride = (count as f64).sqrt().ceil().max(1.0) as usize;
        // What the photos before each block say, kept; the rest is worked out again, block by block.
        let mut kept: Vec<Option<Kept>> = Vec::new();
        let mut before: Option<Message> = None;
        for k in 0..count {
            if k % stride == 0 {
                kept.push(before.as_ref().map(Kept::of));
            }
            let mut now = self.expected(k, before.as_ref())?;
            self.hear(k, &mut now)?;
            now.normalise(self.earth);
            before = Some(now);
        }
        let mut after = Message::flat(self.earth);
        for (block, start) in (0..count).step_by(stride).enumerate().rev() {
            let end = (start + stride).min(count);
            let mut before = kept[block].take().map(|kept| kept.message());
            let mut expected = Vec::with_capacity(end - start);
            for k in start..end {
                let mut now = self.expected(k, before.as_ref())?;
                now.normalise(self.earth);
                expected.push(Kept::of(&now));
                self.hear(k, &mut now)?;
                now.normalise(self.earth);
                before = Some(now);
            }
            for k in (start..end).rev() {
                let expected = expected.pop().expect("one for each photo").message();
                each(k, self.word(k, &expected, &after)?)?;
                if k > 0 {
                    let mut now = after;
                    self.hear(k, &mut now)?;
                    now.normalise(self.earth);
                    let travel = self.step(k);
                    after = now.travel(&travel, &self.returns_at(k), Towards::Earlier, self.earth)?;
                    after.normalise(self.earth);
                } else {
                    after = Message::flat(self.earth);
                }
            }
        }
        Ok(())
    }

    /// What all photos say when they are of one place.
    pub(crate) fn together(&self) -> Result<Message, AlbumError> {
        let mut now = Message { grid: self.earth.background.clone(), blobs: Vec::new() };
        for k in 0..self.photos.len() {
            self.hear(k, &mut now)?;
            now.normalise(self.earth);
        }
        Ok(now)
    }

    /// Where photo `k` may be, by those before it.
    fn expected(&self, k: usize, before: Option<&Message>) -> Result<Message, AlbumError> {
        let Some(before) = before else {
            return Ok(Message { grid: self.earth.background.clone(), blobs: Vec::new() });
        };
        let travel = self.step(k);
        before.travel(&travel, &self.returns_at(k), Towards::Later, self.earth)
    }

    /// How people may have moved between photo `k` and the one before.
    fn step(&self, k: usize) -> Travel {
        Travel::after(self.times[k] - self.times[k - 1], self.pace_h, &self.settings.travel)
    }

    /// Coming back takes its time, and leads to where one has been: a place that only later tags know would be a reason for itself.
    fn returns_at(&self, k: usize) -> Vec<Return> {
        let hours = (self.times[k] - self.times[k - 1]).abs() / 3600.0;
        let share = 1.0 - (-hours).exp();
        let scaled = |one: &Return| Return { place: Blob { mass: one.place.mass * share, ..one.place }, ..*one };
        self.returns[k].iter().filter(|one| one.first_s < self.times[k - 1]).map(scaled).collect()
    }

    fn evidence(&self, k: usize) -> Result<Evidence, AlbumError> {
        Evidence::of(self.photos[k], self.weights[k], self.earth, self.calibration)
    }

    fn tag(&self, k: usize) -> Option<Blob> {
        Some(Blob::at_km(self.photos[k].gps?.to_unit(), self.settings.gps_km, 1.0))
    }

    /// What photo `k` itself says, into a message.
    fn hear(&self, k: usize, message: &mut Message) -> Result<(), AlbumError> {
        self.hear_as(k, message, &self.evidence(k)?);
        Ok(())
    }

    fn hear_as(&self, k: usize, message: &mut Message, evidence: &Evidence) {
        message.hear(evidence, self.settings.stray, self.earth);
        if let Some(tag) = self.tag(k) {
            let about = about_tag(tag, self.settings.jitter_km);
            message.see_tag(&about, self.settings.wrong_tag, self.earth);
        }
        self.look_back(k, message);
    }

    fn look_back(&self, k: usize, message: &mut Message) {
        if !self.returns[k].is_empty() {
            message.compare(&self.returns[k], self.earth);
        }
    }

    /// The probability that photo `k`, whose look fits what the others say so well, is from elsewhere.
    fn elsewhere(&self, k: usize, fit_nats: f64) -> f64 {
        let [constant, by_fit, by_neighbour_similarity] = self.settings.elsewhere;
        let usual = self.settings.usual_company;
        let neighbour_similarity = self.neighbour_similarity[k].unwrap_or(usual);
        let log_odds = constant - by_fit * fit_nats - by_neighbour_similarity * (neighbour_similarity - usual);
        1.0 / (1.0 + (-log_odds).exp())
    }

    fn word(&self, k: usize, before: &Message, after: &Message) -> Result<PhotoPosterior, AlbumError> {
        let evidence = self.evidence(k)?;
        let mut others = before.times(after, self.earth);
        others.normalise(self.earth);
        // How well its own word fits what the others say: its whole word, for it is one against all.
        let own = Evidence::of(self.photos[k], 1.0, self.earth, self.calibration)?;
        let mut heard = others.clone();
        heard.hear(&own, 0.0, self.earth);
        let fit = heard.total(self.earth).max(f64::MIN_POSITIVE).ln();
        let stray = self.elsewhere(k, fit);
        let wrong_tag = self.tag(k).map_or(0.0, |tag| {
            let mut heard = others.clone();
            heard.hear(&evidence, self.settings.stray, self.earth);
            heard.normalise(self.earth);
            let wrong = self.settings.wrong_tag * self.earth.background_at(&[tag.centre])[0];
            let met = heard.meets(&about_tag(tag, self.settings.jitter_km), self.earth);
            let right = (1.0 - self.settings.wrong_tag) * met.iter().map(|blob| blob.mass).sum::<f64>();
            wrong / (wrong + right)
        });
        // The photo itself is somewhere about the place where one stayed; its own tag is exact.
        let mut place = others;
        place.hear(&evidence, self.settings.stray, self.earth);
        self.look_back(k, &mut place);
        place.jittered(self.settings.jitter_km, self.earth);
        if let Some(tag) = self.tag(k) {
            place.see_tag(&[tag], self.settings.wrong_tag, self.earth);
        }
        place.normalise(self.earth);
        let mut alone = Message { grid: self.earth.background.clone(), blobs: Vec::new() };
        alone.hear(&own, 0.0, self.earth);
        alone.normalise(self.earth);
        let alike = self.returns[k].iter().copied().max_by(|a, b| a.log_odds.total_cmp(&b.log_odds));
        Ok(PhotoPosterior { place, alone, stray, wrong_tag, alike })
    }
}
