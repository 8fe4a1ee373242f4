//! The inference over photos without a place: forward–backward over the grid in order of time, linear in the photos, with memory of
//! the order of their root; and what that makes of each photo together with the places known of other times.

use crate::left_out::LeftOut;
use crate::likelihood::{EVEN, LikelihoodRatio, one_moment, weights as weights_of};
use crate::likeness::{self, Neighbourhoods, Similarities};
use crate::message::{Message, Return};
use crate::prior::{Anchor, Anchors, Nearest, Prior};
use crate::soft_weights::{weigh, weigh_zone};
use crate::{Result, blob::Blob, earth::Earth, photo::AlbumPhoto, prior::KnownPlace, settings::AlbumSettings};
use locdiff_model::answer::Calibration;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// From this probability of being wrong on a tag says nothing about other photos.
const DOUBTFUL: f64 = 0.2;

/// Likelihoods that leave less than this part of the travel prior near the closest tag cast doubt on that tag.
const DOUBTED: f64 = 0.85;
const REGION_KM: f64 = 750.0;

/// An album in order of time.
pub(crate) struct Chain<'a> {
    photos: Vec<&'a AlbumPhoto>,
    times: Vec<f64>,
    weights: Vec<f64>,
    anchors: Anchors,
    /// For cameras that may not travel with the others: the probability that they do.
    together: BTreeMap<&'a str, f64>,
    returns: Vec<Vec<Return>>,
    neighbourhoods: Neighbourhoods,
    /// The similarity of each photo to those around it.
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
    /// The known place nearest in time, for a photo without a tag.
    pub(crate) nearest: Option<Nearest>,
    /// The most probable return to a tagged place.
    pub(crate) alike: Option<Return>,
}

/// A ratio against knowing nothing, on the grid, for each kind of traveller.
type Grids = Vec<Vec<f64>>;

impl<'a> Chain<'a> {
    /// `times` are in order. `known` are places known beside the photos' own tags.
    pub(crate) fn new(
        photos: Vec<&'a AlbumPhoto>,
        times: Vec<f64>,
        known: &[KnownPlace],
        earth: &'a Earth,
        calibration: &'a Calibration,
        settings: &'a AlbumSettings,
    ) -> Result<Self> {
        let similarities = Similarities::of(&photos);
        let neighbour_similarity = likeness::neighbour_similarity(&similarities, &times, settings.moment_s);
        // Photos of another kind than the model's, rather than not, are wrong together.
        let ood = |k: usize| (2.0 * photos[k].ood - 1.0).max(0.0);
        let shared = |k: usize, other: usize, gap_s: f64| {
            similarities.one_view((k, other), gap_s, settings).max(ood(k) * ood(other))
        };
        let weights = weights_of(&times, settings.dependence, shared);
        let mut returns = likeness::returns(&photos, &times, known, settings);
        let moment = |_, _, gap_s| one_moment(gap_s, settings.moment_s);
        let shares = weights_of(&times, settings.likeness_dependence, moment);
        for (own, share) in returns.iter_mut().zip(shares) {
            for one in own {
                one.log_odds *= share;
            }
        }
        let neighbourhoods = Neighbourhoods::of(&photos, &times, known);
        let mut list: Vec<Anchor> = known.iter().map(KnownPlace::anchor).collect();
        list.extend(photos.iter().zip(&times).enumerate().filter_map(|(k, (photo, time_s))| {
            let (at, deviation_km, _) = photo.fix(0.0, settings.wrong_tag)?;
            // How far people are from a tag was fitted to tags: their error is in it. A log's is not.
            let (place, camera) = (at.to_unit(), photo.camera.clone());
            Some(Anchor { time_s: *time_s, place, deviation_km, of: Some(k), camera })
        }));
        let anchors = Anchors::new(list);
        let mut chain = Self {
            photos,
            times,
            weights,
            anchors,
            together: BTreeMap::new(),
            returns,
            neighbourhoods,
            neighbour_similarity,
            earth,
            calibration,
            settings,
        };
        chain.tell_cameras_apart()?;
        chain.drop_wrong_tags()?;
        Ok(chain)
    }

    /// Tags that the others contradict say nothing about others.
    fn drop_wrong_tags(&mut self) -> Result<()> {
        if self.anchors.all().len() < 3 {
            return Ok(());
        }
        let wrong = |anchor: &Anchor| -> Result<bool> {
            let Some(k) = anchor.of else { return Ok(false) };
            Ok(self.wrong_tag(k, &self.others(k, None)?) > DOUBTFUL)
        };
        let list = self.anchors.all();
        let kept: Vec<bool> = list.par_iter().map(|anchor| Ok(!wrong(anchor)?)).collect::<Result<_>>()?;
        if kept.iter().any(|kept| !kept) {
            let kept = list.iter().zip(kept).filter(|(_, kept)| *kept).map(|(anchor, _)| anchor.clone());
            self.anchors = Anchors::new(kept.collect());
        }
        Ok(())
    }

    /// Cameras whose photos fit their own tags, or none, better than the other cameras' tags.
    fn tell_cameras_apart(&mut self) -> Result<()> {
        let mut cameras: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (k, photo) in self.photos.iter().enumerate() {
            cameras.entry(photo.camera.as_deref().unwrap_or_default()).or_default().push(k);
        }
        if cameras.len() < 2 || self.anchors.all().is_empty() {
            return Ok(());
        }
        // Photos that do not say which camera took them go with all.
        for (camera, own) in cameras.into_iter().filter(|(camera, _)| !camera.is_empty()) {
            let stride = own.len().div_ceil(48);
            let some: Vec<usize> = own.into_iter().step_by(stride).collect();
            let gain = |k: &usize| -> Result<f64> {
                let all = self.fit(*k, self.anchors.prior(self.times[*k], Some(*k)))?;
                let by_own = self.own_prior(*k);
                Ok((all - self.fit(*k, by_own)?).clamp(-self.settings.most_apart, self.settings.most_apart))
            };
            let gains: Vec<f64> = some.par_iter().map(gain).collect::<Result<_>>()?;
            let together = self.settings.together;
            let log_odds = (together / (1.0 - together)).ln() + gains.iter().sum::<f64>();
            self.together.insert(camera, 1.0 / (1.0 + (-log_odds).exp()));
        }
        Ok(())
    }

    /// By the tags of its own camera, and what is known of no camera.
    fn own_prior(&self, k: usize) -> Option<Prior> {
        let camera = self.photos[k].camera.as_deref();
        let counts = |other: &Anchor| other.of != Some(k) && (other.of.is_none() || other.camera.as_deref() == camera);
        self.anchors.prior_by(self.times[k], counts)
    }

    /// The log of how likely photo `k` is where one may be so: its tag, or its image.
    fn fit(&self, k: usize, prior: Option<Prior>) -> Result<f64> {
        let mut message = self.message_of(prior)?;
        if let Some(tag) = self.tag(k) {
            // Hours decide between places, not between streets: chance would weigh more than they do there.
            let tag = Blob::at_km(tag.centre, self.settings.fit_km, 1.0);
            let right = message.product_with(&[tag], self.earth).iter().map(|blob| blob.mass).sum::<f64>();
            let wrong = self.wrong_before(k) * self.earth.value_at(&self.earth.usual, tag.centre);
            return Ok((right + wrong).ln());
        }
        message.apply_likelihood(&self.likelihood(k)?, self.settings.stray, self.earth);
        Ok(message.total(self.earth).max(f64::MIN_POSITIVE).ln())
    }

    fn message_of(&self, prior: Option<Prior>) -> Result<Message> {
        prior.map_or_else(|| Ok(Message::usual(self.earth)), |prior| Message::of_prior(prior, self.earth))
    }

    /// The log likelihood of the album: of tags and images given the other tags; without tags, of all images.
    pub(crate) fn log_likelihood(&self) -> Result<f64> {
        if self.anchors.all().is_empty() {
            let mut sums = vec![0.0; self.settings.travellers.len()];
            self.forward(|_, _| (), &mut sums)?;
            return Ok(self.average(&sums).1);
        }
        // By the tags of other cameras, where they have any: those of its own are right or wrong together.
        let one = |k: usize| {
            let camera = self.photos[k].camera.as_deref();
            let by_others = self.anchors.prior_by(self.times[k], |anchor| anchor.camera.as_deref() != camera);
            self.fit(k, by_others.or_else(|| self.anchors.prior(self.times[k], Some(k))))
        };
        (0..self.photos.len()).into_par_iter().map(one).sum()
    }

    /// The weights of the kinds of travellers by their log likelihoods, and the log likelihood of all.
    fn average(&self, sums: &[f64]) -> (Vec<f64>, f64) {
        let logs: Vec<f64> =
            sums.iter().zip(&self.settings.travellers).map(|(sum, kind)| sum + kind.share.ln()).collect();
        let top = logs.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
        let total: f64 = logs.iter().map(|log| (log - top).exp()).sum();
        (logs.iter().map(|log| (log - top).exp() / total).collect(), top + total.ln())
    }

    /// The pass in order of time: `each` sees what the photos before each say of its place.
    fn forward(&self, mut each: impl FnMut(usize, &Grids), sums: &mut [f64]) -> Result<()> {
        let mut now: Grids = vec![vec![1.0; self.earth.points.len()]; sums.len()];
        for k in 0..self.photos.len() {
            self.step(k, &mut now, &mut each, sums)?;
        }
        Ok(())
    }

    fn step(&self, k: usize, now: &mut Grids, each: &mut impl FnMut(usize, &Grids), sums: &mut [f64]) -> Result<()> {
        if k > 0 {
            self.roam(now, self.times[k] - self.times[k - 1])?;
        }
        each(k, now);
        self.apply_photo(k, now, sums)
    }

    fn roam(&self, grids: &mut Grids, seconds: f64) -> Result<()> {
        let hours = seconds.abs() / 3600.0;
        let roam = |(grid, kind): (&mut Vec<f64>, &crate::Traveller)| {
            *grid = kind.roam(grid, hours, self.earth)?;
            Ok(())
        };
        grids.par_iter_mut().zip(&self.settings.travellers).try_for_each(roam)
    }

    /// Multiplies by the likelihood ratio of photo `k`. Photos with a tag are left out: their tags count elsewhere.
    fn apply_photo(&self, k: usize, grids: &mut Grids, sums: &mut [f64]) -> Result<()> {
        let likelihood = if self.photos[k].is_placed() { None } else { Some(self.likelihood(k)?) };
        let stray = self.settings.stray;
        for (grid, sum) in grids.iter_mut().zip(sums) {
            if let Some(likelihood) = &likelihood {
                let floored = |ratio: f64| (1.0 - stray) * ratio + stray;
                grid.iter_mut().zip(&likelihood.grid).for_each(|(value, ratio)| *value *= floored(*ratio));
            }
            let total = self.earth.expected(grid).max(f64::MIN_POSITIVE);
            grid.iter_mut().for_each(|value| *value /= total);
            *sum += total.ln();
        }
        Ok(())
    }

    /// Calls `each` with the position and posterior of every photo, the last first.
    pub(crate) fn smooth(&self, mut each: impl FnMut(usize, PhotoPosterior) -> Result<()>) -> Result<()> {
        let (count, kinds) = (self.photos.len(), self.settings.travellers.len());
        let stride = (count as f64).sqrt().ceil().max(1.0) as usize;
        // What the photos before each block say, kept; the rest is worked out again, block by block.
        let single = |grids: &Grids| -> Vec<Vec<f32>> {
            grids.iter().map(|grid| grid.iter().map(|value| *value as f32).collect()).collect()
        };
        let double = |grids: Vec<Vec<f32>>| -> Grids {
            grids.into_iter().map(|grid| grid.into_iter().map(f64::from).collect()).collect()
        };
        let mut kept: Vec<Vec<Vec<f32>>> = Vec::new();
        let mut sums = vec![0.0; kinds];
        let keep = |k: usize, now: &Grids| {
            if k.is_multiple_of(stride) {
                kept.push(single(now));
            }
        };
        self.forward(keep, &mut sums)?;
        let (shares, _) = self.average(&sums);
        let left_out = self.left_out()?;
        let mut after: Grids = vec![vec![1.0; self.earth.points.len()]; kinds];
        let mut none = vec![0.0; kinds];
        for (block, start) in (0..count).step_by(stride).enumerate().rev() {
            let end = (start + stride).min(count);
            let mut now = double(std::mem::take(&mut kept[block]));
            let mut expected: Vec<Vec<Vec<f32>>> = Vec::with_capacity(end - start);
            for k in start..end {
                if k > start {
                    self.roam(&mut now, self.times[k] - self.times[k - 1])?;
                }
                expected.push(single(&now));
                self.apply_photo(k, &mut now, &mut none)?;
            }
            for k in (start..end).rev() {
                let before = double(expected.pop().expect("one for each photo"));
                each(k, self.posterior(k, &self.ratio(&shares, &before, &after), &left_out)?)?;
                if k > 0 {
                    self.apply_photo(k, &mut after, &mut none)?;
                    self.roam(&mut after, self.times[k] - self.times[k - 1])?;
                }
            }
        }
        Ok(())
    }

    /// The known places, each asked about as if it were not known.
    pub(crate) fn left_out(&self) -> Result<LeftOut> {
        LeftOut::of(&self.anchors, self.settings, self.earth)
    }

    /// The likelihood ratio of all other photos at the grid's points, against knowing nothing.
    fn ratio(&self, shares: &[f64], before: &Grids, after: &Grids) -> Vec<f64> {
        let mut sum = vec![0.0; self.earth.points.len()];
        for ((share, before), after) in shares.iter().zip(before).zip(after) {
            let both: Vec<f64> = before.iter().zip(after).map(|(a, b)| a * b).collect();
            let scale = share / self.earth.expected(&both).max(f64::MIN_POSITIVE);
            sum.iter_mut().zip(&both).for_each(|(sum, both)| *sum += scale * both);
        }
        sum
    }

    /// What all photos say when they are of one place.
    pub(crate) fn together(&self) -> Result<Message> {
        let mut now = Message::usual(self.earth);
        for k in 0..self.photos.len() {
            now.apply_likelihood(&self.likelihood(k)?, self.settings.stray, self.earth);
            if let Some(tag) = self.tag(k) {
                now.see_tag(&[tag], self.wrong_before(k), self.earth);
            }
            now.normalise(self.earth);
        }
        Ok(now)
    }

    fn likelihood(&self, k: usize) -> Result<LikelihoodRatio> {
        LikelihoodRatio::of(self.photos[k], (self.weights[k], EVEN), self.earth, self.calibration)
    }

    fn tag(&self, k: usize) -> Option<Blob> {
        let (at, deviation_km, _) = self.photos[k].fix(self.settings.gps_km, self.settings.wrong_tag)?;
        Some(Blob::at_km(at.to_unit(), deviation_km, 1.0))
    }

    /// The probability that what photo `k`'s tag or a log says of its place is wrong, before anything is compared.
    fn wrong_before(&self, k: usize) -> f64 {
        let fix = self.photos[k].fix(self.settings.gps_km, self.settings.wrong_tag);
        fix.map_or(self.settings.wrong_tag, |(_, _, wrong)| wrong)
    }

    /// The probability that photo `k`, whose image fits the others so well, is from elsewhere.
    fn elsewhere(&self, k: usize, fit_nats: f64) -> f64 {
        let [constant, by_fit, by_neighbour_similarity] = self.settings.elsewhere;
        let usual = self.settings.usual_company;
        let neighbour_similarity = self.neighbour_similarity[k].unwrap_or(usual);
        let log_odds = constant - by_fit * fit_nats - by_neighbour_similarity * (neighbour_similarity - usual);
        1.0 / (1.0 + (-log_odds).exp())
    }

    /// The known place nearest in time to photo `k`, where it has no tag and its camera goes with those that know it.
    pub(crate) fn nearest(&self, k: usize) -> Option<Nearest> {
        let camera = self.photos[k].camera.as_deref().unwrap_or_default();
        let is_apart = self.together.get(camera).is_some_and(|together| *together < 0.5);
        if self.tag(k).is_some() || is_apart { None } else { self.anchors.nearest(self.times[k], Some(k)) }
    }

    /// What the tags of other photos say of photo `k`'s place; `None` where there are none.
    pub(crate) fn by_tags(&self, k: usize) -> Result<Option<Message>> {
        let prior = self.anchors.prior(self.times[k], Some(k));
        prior.map(|prior| Message::of_prior(prior, self.earth)).transpose()
    }

    /// The prior of photo `k` from the others: tags of other times, and with a `ratio` the other photos' images.
    fn others(&self, k: usize, ratio: Option<&[f64]>) -> Result<Message> {
        let mut others = self.message_of(self.anchors.prior(self.times[k], Some(k)))?;
        let camera = self.photos[k].camera.as_deref().unwrap_or_default();
        if let Some(together) = self.together.get(camera).filter(|together| **together < 0.5) {
            let own = self.message_of(self.own_prior(k))?;
            others = others.mixed(*together, own, self.earth);
        }
        if let Some(ratio) = ratio {
            others.weigh(ratio, self.earth);
        }
        others.normalise(self.earth);
        Ok(others)
    }

    /// If there are tags, images only choose among the places that they allow. A model's errors are correlated: it misreads a region in
    /// every photo of it. So all images together count as a power of their product, and for no more than a few nats.
    fn weighted_by_likelihoods(&self, k: usize, ratio: &[f64], likelihood: &LikelihoodRatio) -> Result<Message> {
        let (stray, power, most) = (self.settings.stray, self.settings.look_power, self.settings.most_look);
        let both = |(others, own): (&f64, &f64)| (others * ((1.0 - stray) * own + stray)).max(1e-12).powf(power);
        let mut ratios: Vec<f64> = ratio.iter().zip(&likelihood.grid).map(both).collect();
        let mut place = self.others(k, None)?;
        let mut seen = place.clone();
        seen.weigh(&ratios, self.earth);
        let mean = seen.total(self.earth).max(f64::MIN_POSITIVE);
        ratios.iter_mut().for_each(|value| *value = (*value / mean).clamp((-most).exp(), most.exp()));
        place.weigh(&ratios, self.earth);
        place.normalise(self.earth);
        Ok(place)
    }

    fn wrong_tag(&self, k: usize, others: &Message) -> f64 {
        let Some(tag) = self.tag(k) else { return 0.0 };
        let before = self.wrong_before(k);
        let wrong = before * self.earth.value_at(&self.earth.usual, tag.centre);
        let product = others.product_with(&[tag], self.earth);
        let right = (1.0 - before) * product.iter().map(|blob| blob.mass).sum::<f64>();
        wrong / (wrong + right)
    }

    fn posterior(&self, k: usize, ratio: &[f64], left_out: &LeftOut) -> Result<PhotoPosterior> {
        let others = self.others(k, Some(ratio))?;
        let likelihood = self.likelihood(k)?;
        // How well its own likelihood fits the others: at full weight, for it is one against all.
        let own = LikelihoodRatio::of(self.photos[k], (1.0, 0.0), self.earth, self.calibration)?;
        let mut weighted = others.clone();
        let sharp = others.sharp();
        weighted.apply_likelihood(&own, 0.0, self.earth);
        // If the others are sure, by their sharp part alone: an image from elsewhere always fits being anywhere.
        let fits = if sharp > 0.5 { weighted.sharp() / sharp } else { weighted.total(self.earth) };
        let fit = fits.max(f64::MIN_POSITIVE).ln();
        let stray = self.elsewhere(k, fit);
        let wrong_tag = self.wrong_tag(k, &others);
        let mut nearest = self.nearest(k);
        if let Some(nearest) = &mut nearest {
            nearest.shift = left_out.shift(nearest.hours);
        }
        let mut place = if self.anchors.all().is_empty() {
            let mut place = others;
            place.apply_likelihood(&likelihood, self.settings.stray, self.earth);
            place
        } else {
            let place = self.weighted_by_likelihoods(k, ratio, &likelihood)?;
            if let Some(nearest) = &mut nearest {
                let about = |message: &Message| message.mass_about(nearest.place, REGION_KM, self.earth);
                nearest.is_doubted = about(&place) < DOUBTED * about(&self.others(k, None)?);
            }
            place
        };
        if !self.photos[k].is_placed() {
            let odds = self.neighbourhoods.log_odds(self.photos[k], self.times[k], self.settings);
            place.reweight(&odds);
        }
        if !self.returns[k].is_empty() {
            place.compare(&self.returns[k], self.earth);
        }
        if let Some(tag) = self.tag(k) {
            if self.photos[k].gps.is_some() {
                place.see_tag(&[tag], self.wrong_before(k), self.earth);
            } else {
                // The points of the log are among what the others say: it counts once.
                place.normalise(self.earth);
                let by_log = Message { grid: vec![0.0; self.earth.points.len()], blobs: vec![tag] };
                place = place.mixed(wrong_tag, by_log, self.earth);
            }
        }
        place.normalise(self.earth);
        let is_alone = self.photos.len() == 1 && self.anchors.all().is_empty();
        if !self.photos[k].is_placed() && !is_alone {
            self.photos[k].soft.iter().for_each(|soft| weigh(soft, &mut place, self.earth));
            if let Some(offset_h) = self.photos[k].offset_h {
                weigh_zone(offset_h, &mut place, self.earth);
            }
        }
        let mut alone = Message::usual(self.earth);
        alone.apply_likelihood(&own, 0.0, self.earth);
        alone.normalise(self.earth);
        // A photo that is an album of its own has no other evidence.
        if is_alone {
            place = alone.clone();
            self.photos[k].soft.iter().for_each(|soft| weigh(soft, &mut place, self.earth));
        }
        let alike = self.returns[k].iter().copied().max_by(|a, b| a.log_odds.total_cmp(&b.log_odds));
        Ok(PhotoPosterior { place, alone, stray, wrong_tag, nearest, alike })
    }
}
