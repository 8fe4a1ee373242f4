//! A whole album, answered at once.

use crate::answer::{AlbumAnswer, Outlier};
use crate::chain::{Chain, PhotoPosterior};
use crate::explain::{because, duration};
use crate::likelihood::{EVEN, LikelihoodRatio};
use crate::settings::AlbumSettings;
use crate::soft::{SoftPlace, SoftRegion};
use crate::{PhotoTime, Result, cloud::Cloud, earth::Earth, message::Message, photo::AlbumPhoto, prior::KnownPlace};
use locdiff_base::distance;
use locdiff_map::places::{Region, describe};
use locdiff_model::answer::{Answer, Calibration, Hypothesis, LEVELS, Verdict};
use locdiff_shdd::sphere::{LatLon, UnitVec, haversine_km};

/// From this probability on a photo is named as one from elsewhere, and from that one hinted at.
const NAMED: f64 = 0.5;
const HINTED: f64 = 0.3;
/// From this probability on a stray photo's place is that of its own image alone: below it the album is better.
const SURELY_STRAY: f64 = 0.99;

/// What answers for albums need: a model's calibration and the settings.
#[derive(Debug)]
pub struct Album {
    pub(crate) earth: Earth,
    pub(crate) calibration: Calibration,
    pub(crate) settings: AlbumSettings,
}

impl Album {
    /// For a model's calibration. Fails on a calibration of a degree out of range.
    pub fn new(calibration: Calibration, settings: AlbumSettings) -> Result<Self> {
        Ok(Self { earth: Earth::new(&calibration)?, calibration, settings })
    }

    /// Returns an answer for each photo, in their order, from all photos together. All have a moment: [`Album::untimed`] answers for
    /// those that have none. With `truths`, one for each photo, each
    /// answer carries the verdict on its truth. `done` is called after each photo, the last first.
    /// Fails if a photo's coefficients have another degree than the calibration.
    pub fn answers(&self, all: &[AlbumPhoto], truths: &[LatLon], done: impl FnMut(usize)) -> Result<Vec<AlbumAnswer>> {
        self.answers_knowing(all, &[], truths, done)
    }

    /// Answers as [`Album::answers`] gives them, with places known of other times besides the photos' tags.
    pub fn answers_knowing(
        &self,
        photos: &[AlbumPhoto],
        known: &[KnownPlace],
        truths: &[LatLon],
        mut done: impl FnMut(usize),
    ) -> Result<Vec<AlbumAnswer>> {
        let (order, chain) = self.chain_in_time(photos, known)?;
        let sorted: Vec<&AlbumPhoto> = order.iter().map(|k| &photos[*k]).collect();
        let others: Vec<AlbumPhoto> = known.iter().map(|known| self.as_photo(known)).collect();
        let mut tagged: Vec<&AlbumPhoto> = sorted.iter().copied().filter(|photo| photo.gps.is_some()).collect();
        tagged.extend(&others);
        tagged.sort_by(|a, b| a.time.seconds.total_cmp(&b.time.seconds));
        let (mut answers, margin) = (vec![None; photos.len()], self.settings.nearest_margin);
        let is_untagged = tagged.is_empty() && photos.iter().all(|photo| !photo.is_placed());
        let mean_ood = || photos.iter().map(|photo| photo.ood).sum::<f64>() / photos.len() as f64;
        let ood = if is_untagged { mean_ood() } else { 0.0 };
        chain.smooth(|at, posterior| {
            let next = tagged.partition_point(|tag| tag.time.seconds <= sorted[at].time.seconds);
            let around = tagged[next.saturating_sub(3)..(next + 2).min(tagged.len())].iter().copied();
            let tags: Vec<&AlbumPhoto> = around.filter(|tag| !std::ptr::eq(*tag, sorted[at])).collect();
            let cloud = Cloud::of(&posterior.place, &self.earth).preferring(posterior.nearest, margin).untagged(ood);
            let mut answer = self.read(sorted[at], &posterior, &cloud, &tags);
            if let Some(truth) = truths.get(order[at]) {
                answer.verdict = Some(self.judge((&posterior.place, &cloud), answer.best, *truth));
                answer.alone_log_density = Some(self.log_density(&posterior.alone, *truth));
            }
            answers[order[at]] = Some(answer);
            done(at);
            Ok(())
        })?;
        Ok(answers.into_iter().flatten().collect())
    }

    /// One answer for photos of one place, whenever they were taken. Fails as [`Album::answers`].
    pub fn same_place(&self, photos: &[AlbumPhoto], truth: Option<LatLon>) -> Result<Vec<AlbumAnswer>> {
        // Whatever their similarity, they are views of one thing.
        let same_view = (f64::NEG_INFINITY, 1.0);
        let dependence = self.settings.views_dependence;
        let settings = AlbumSettings { dependence, same_view, ..self.settings.clone() };
        let chain = self.chain(photos.iter().collect(), vec![0.0; photos.len()], &[], &settings)?;
        let place = chain.together()?;
        let cloud = Cloud::of(&place, &self.earth);
        let tags: Vec<&AlbumPhoto> = photos.iter().filter(|photo| photo.gps.is_some()).collect();
        let count = photos.len();
        let answer = |photo: &AlbumPhoto| {
            let mut answer = self.read_cloud(photo, &cloud);
            answer.because = match tags.first() {
                Some(tag) => format!("{}, of the same location, has a GPS tag", tag.name),
                None => format!("{count} photos of one location together"),
            };
            answer.verdict = truth.map(|truth| self.judge((&place, &cloud), answer.best, truth));
            answer
        };
        Ok(photos.iter().map(answer).collect())
    }

    /// Each photo's place by the other tags and travel, without images; `None` without tags. Fails as [`Album::answers`].
    pub(crate) fn by_travel(&self, photos: &[AlbumPhoto], known: &[KnownPlace]) -> Result<Vec<Option<LatLon>>> {
        let (order, chain) = self.chain_in_time(photos, known)?;
        let mut places = vec![None; photos.len()];
        for (at, k) in order.iter().enumerate() {
            let by_tags = chain.by_tags(at)?;
            let preferred = |cloud: Cloud| cloud.preferring(chain.nearest(at), self.settings.nearest_margin);
            let cloud = by_tags.map(|message| preferred(Cloud::of(&message, &self.earth)));
            places[*k] = cloud.and_then(|cloud| Some(cloud.spots(1).first()?.at.to_latlon()));
        }
        Ok(places)
    }

    /// How well radii hold for the album's own tags: each (96 at the most) is asked about as if it were not known. The hours to the nearest
    /// other tag, and the share of truths that a radius as long as the error should hold. Fails as [`Album::answers`].
    pub fn left_out(&self, photos: &[AlbumPhoto], known: &[KnownPlace]) -> Result<Vec<(f64, f64)>> {
        Ok(self.chain_in_time(photos, known)?.1.left_out()?.shares)
    }

    /// The log likelihood of the album as its times stand: how well evidence, tags and travel agree. Fails as [`Album::answers`].
    pub fn log_likelihood(&self, photos: &[AlbumPhoto], known: &[KnownPlace]) -> Result<f64> {
        self.chain_in_time(photos, known)?.1.log_likelihood()
    }

    fn chain<'a>(
        &'a self,
        photos: Vec<&'a AlbumPhoto>,
        times: Vec<f64>,
        known: &[KnownPlace],
        settings: &'a AlbumSettings,
    ) -> Result<Chain<'a>> {
        Chain::new(photos, times, known, &self.earth, &self.calibration, settings)
    }

    /// The photos' positions in order of time, and their chain in that order.
    fn chain_in_time<'a>(&'a self, photos: &'a [AlbumPhoto], known: &[KnownPlace]) -> Result<(Vec<usize>, Chain<'a>)> {
        let mut order: Vec<usize> = (0..photos.len()).collect();
        order.sort_by(|a, b| photos[*a].time.seconds.total_cmp(&photos[*b].time.seconds));
        let times = order.iter().map(|k| photos[*k].time.seconds).collect();
        let chain = self.chain(order.iter().map(|k| &photos[*k]).collect(), times, known, &self.settings)?;
        Ok((order, chain))
    }

    /// The likelihood ratio of a photo at points, against knowing nothing.
    pub(crate) fn likelihood_at(&self, photo: &AlbumPhoto, points: &[UnitVec]) -> Result<Vec<f64>> {
        Ok(LikelihoodRatio::of(photo, (1.0, EVEN), &self.earth, &self.calibration)?.at(points, &self.earth))
    }

    /// A region as what is softly known of photos.
    pub fn within(&self, region: Region) -> SoftPlace {
        SoftPlace::Within(Box::new(SoftRegion::new(region, &self.earth)))
    }

    /// A known place as a tagged photo, for the explanations of answers.
    fn as_photo(&self, known: &KnownPlace) -> AlbumPhoto {
        let time = PhotoTime::at(known.time_s);
        AlbumPhoto::new(&*known.name, time, self.calibration.background.clone())
            .with_gps(Some(known.at))
            .with_embedding(known.embedding.clone(), 0.0)
    }

    fn read(&self, photo: &AlbumPhoto, posterior: &PhotoPosterior, cloud: &Cloud, tags: &[&AlbumPhoto]) -> AlbumAnswer {
        let alone = Cloud::of(&posterior.alone, &self.earth);
        let alone_best = alone.spots(1).first().map(|spot| spot.at.to_latlon());
        // Clear outliers use their single-photo answer.
        let is_stray = posterior.stray > SURELY_STRAY && !photo.is_placed();
        let read = if is_stray { &alone } else { cloud };
        let mut answer = self.read_cloud(photo, read);
        // What the model mistakes it mistakes in photo after photo: an album is sure too soon.
        answer.answer.can_tell &= photo.gps.is_some() || is_stray || answer.locatability >= self.settings.can_tell_from;
        let alone_best = alone_best.unwrap_or(answer.best);
        answer.alone = Some(alone_best);
        answer.moved_km = haversine_km(answer.best, alone_best);
        answer.because = because(photo, posterior, (answer.best, alone_best), tags, &self.settings);
        answer.elsewhere = if photo.is_placed() { 0.0 } else { posterior.stray };
        answer.outlier = outlier(photo, posterior, &answer, tags);
        answer.hint = hint(&answer);
        answer
    }

    /// The answer that a cloud gives.
    pub(crate) fn read_cloud(&self, photo: &AlbumPhoto, cloud: &Cloud) -> AlbumAnswer {
        let spots = cloud.spots(5);
        let best = spots[0].at;
        let radii = cloud.radii_km(best, &[0.5, 0.9]);
        let hypotheses = spots.iter().map(|spot| Hypothesis::new(spot.at.to_latlon(), spot.probability)).collect();
        let locatability = cloud.mass_within_km(best, 750.0).clamp(0.0, 1.0);
        let radii = [radii[0], radii[1].max(radii[0])];
        let answer = Answer::at(best.to_latlon(), radii, hypotheses, locatability).about(&*photo.name, photo.gps);
        let mut answer = answer.with_regions(&cloud.region_masses());
        let is_sure = answer.can_tell && locatability >= self.calibration.can_tell_from;
        answer.can_tell = photo.gps.is_some() || is_sure;
        AlbumAnswer::new(answer, photo.time)
    }

    fn log_density(&self, place: &Message, at: LatLon) -> f64 {
        place.density(at.to_unit(), &self.earth).max(f64::MIN_POSITIVE).ln()
    }

    /// What a posterior says about the truth.
    fn judge(&self, (place, cloud): (&Message, &Cloud), best: LatLon, truth: LatLon) -> Verdict {
        let held = cloud.radius_share(best.to_unit(), haversine_km(best, truth));
        Verdict {
            log_density: self.log_density(place, truth),
            region_level: cloud.mass_denser_than(place, truth, &self.earth),
            region_area_km2: f64::NAN, // not summed: the posterior is of tags, not of one photo's density
            radius_share: held,
            radii_km: cloud.radii_km(best.to_unit(), &LEVELS),
            countries: Vec::new(),
        }
    }
}

fn outlier(photo: &AlbumPhoto, after: &PhotoPosterior, answer: &AlbumAnswer, tags: &[&AlbumPhoto]) -> Option<Outlier> {
    if let Some((gps, ..)) = photo.fix(0.0, 0.0)
        && after.wrong_tag > 0.5
    {
        let gap = |tag: &AlbumPhoto| (tag.time.seconds - photo.time.seconds).abs();
        let nearest = tags.iter().min_by(|a, b| gap(a).total_cmp(&gap(b)));
        let against = nearest.map_or(String::new(), |tag| {
            let km = tag.gps.map_or(0.0, |other| haversine_km(other, gps));
            format!(": {} from {}, {} away in time", distance(km), tag.name, duration(gap(tag)))
        });
        let tag = if photo.gps.is_some() { "its GPS tag" } else { "its location on the track" };
        let reason =
            format!("{tag} does not fit the photos around it{against}; a wrong tag, a wrong clock or another trip");
        return Some(Outlier { probability: after.wrong_tag, reason });
    }
    if !photo.is_placed() && after.stray > NAMED {
        let reason = format!(
            "it does not look like the photos around it in time, but like {}: another trip, or a wrong clock",
            describe(answer.alone.unwrap_or(answer.best))
        );
        return Some(Outlier { probability: after.stray, reason });
    }
    None
}

/// The hint for a photo that may be from elsewhere.
fn hint(answer: &AlbumAnswer) -> Option<Outlier> {
    let is_hinted = answer.outlier.is_none() && answer.elsewhere > HINTED;
    let place = || describe(answer.alone.unwrap_or(answer.best));
    let reason = || format!("it may be from elsewhere: alone it looks rather like {}", place());
    is_hinted.then(|| Outlier { probability: answer.elsewhere, reason: reason() })
}
