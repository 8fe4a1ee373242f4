//! A whole album, answered at once.

use crate::answer::{AlbumAnswer, Outlier};
use crate::chain::{Chain, PhotoPosterior};
use crate::explain::{because, distance, duration};
use crate::{AlbumError, cloud::Cloud, earth::Earth, message::Message, photo::AlbumPhoto, settings::AlbumSettings};
use locdiff_answer::{Answer, Calibration, Hypothesis, LEVELS, Verdict, interpolated_level};
use locdiff_places::describe;
use locdiff_sphere::{LatLon, haversine_km};

/// From this probability on a photo is named as one from elsewhere, and from that one hinted at.
const NAMED: f64 = 0.5;
const HINTED: f64 = 0.3;
/// From this probability on a stray photo's place is its own word alone. The rule was chosen on albums with far more strays than people
/// have: below this the album's place is right more often.
const SURELY_STRAY: f64 = 0.9;

/// What answers for albums need: a model's calibration and the settings.
///
/// ```
/// use locdiff_album::{Album, AlbumPhoto, AlbumSettings, PhotoTime};
/// use locdiff_answer::Calibration;
/// use locdiff_shdd::Coefficients;
/// use locdiff_sphere::{LatLon, haversine_km};
/// let nothing = Coefficients::new(vec![0.0; 16])?;
/// let album = Album::new(Calibration::none(nothing.clone()), AlbumSettings::default())?;
/// let paris = LatLon::new(48.86, 2.35)?;
/// // Five minutes after a photo with a GPS tag.
/// let photos = [
///     AlbumPhoto::new("a.jpg", PhotoTime::at(0.0), nothing.clone()).with_gps(Some(paris)),
///     AlbumPhoto::new("b.jpg", PhotoTime::at(300.0), nothing),
/// ];
/// let answers = album.answers(&photos, &[], |_| ())?;
/// assert!(haversine_km(answers[1].best, paris) < 1.0);
/// assert!(answers[1].because.starts_with("5 minutes after a.jpg"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Album {
    earth: Earth,
    calibration: Calibration,
    settings: AlbumSettings,
}

impl Album {
    /// For a model's calibration.
    ///
    /// # Errors
    /// A calibration of a degree out of range.
    pub fn new(calibration: Calibration, settings: AlbumSettings) -> Result<Self, AlbumError> {
        Ok(Self { earth: Earth::new(&calibration)?, calibration, settings })
    }

    /// The settings.
    pub fn settings(&self) -> &AlbumSettings {
        &self.settings
    }

    /// An answer for each photo, in their order, after all others have spoken. With `truths`, one for each photo, the answers
    /// carry what is said about them. `done` is called after each photo, the last first.
    ///
    /// # Errors
    /// Evidence of another degree than the calibration.
    pub fn answers(
        &self,
        photos: &[AlbumPhoto],
        truths: &[LatLon],
        mut done: impl FnMut(usize),
    ) -> Result<Vec<AlbumAnswer>, AlbumError> {
        let order = in_time(photos);
        let times: Vec<f64> = order.iter().map(|k| photos[*k].time.seconds).collect();
        let tagged: Vec<usize> = (0..order.len()).filter(|at| photos[order[*at]].gps.is_some()).collect();
        let sorted: Vec<&AlbumPhoto> = order.iter().map(|k| &photos[*k]).collect();
        let settings = self.traveller(&sorted, &times)?;
        let chain = Chain::new(sorted.clone(), times, &self.earth, &self.calibration, &settings);
        let mut answers: Vec<Option<AlbumAnswer>> = vec![None; photos.len()];
        let has_tags = !tagged.is_empty();
        chain.smooth(|at, posterior| {
            let next = tagged.partition_point(|tag| *tag <= at);
            let around = tagged[next.saturating_sub(3)..(next + 2).min(tagged.len())].iter();
            let tags: Vec<&AlbumPhoto> = around.filter(|tag| **tag != at).map(|tag| sorted[*tag]).collect();
            let cloud = Cloud::of(&posterior.place, &self.earth);
            let levels = self.levels(&cloud, has_tags);
            let mut answer = self.read(sorted[at], &posterior, (&cloud, levels), &tags);
            if let Some(truth) = truths.get(order[at]) {
                answer.verdict = Some(self.judge((&posterior.place, &cloud), answer.best, *truth, levels));
                answer.alone_log_density = Some(self.log_density(&posterior.alone, *truth));
            }
            answers[order[at]] = Some(answer);
            done(at);
            Ok(())
        })?;
        Ok(answers.into_iter().flatten().collect())
    }

    /// One answer for photos of one place, whenever they were taken.
    ///
    /// # Errors
    /// As [`Album::answers`].
    pub fn same_place(&self, photos: &[AlbumPhoto], truth: Option<LatLon>) -> Result<Vec<AlbumAnswer>, AlbumError> {
        // Whatever they look like, they are views of one thing.
        let same_view = (f64::NEG_INFINITY, 1.0);
        let dependence = self.settings.views_dependence;
        let settings = AlbumSettings { dependence, same_view, ..self.settings.clone() };
        let chain =
            Chain::new(photos.iter().collect(), vec![0.0; photos.len()], &self.earth, &self.calibration, &settings);
        let place = chain.together()?;
        let cloud = Cloud::of(&place, &self.earth);
        let tags: Vec<&AlbumPhoto> = photos.iter().filter(|photo| photo.gps.is_some()).collect();
        let count = photos.len();
        let verdict = |best: LatLon| truth.map(|truth| self.judge((&place, &cloud), best, truth, &LEVELS));
        Ok(photos
            .iter()
            .map(|photo| {
                let mut answer = read_cloud(photo, &cloud, &LEVELS, self.calibration.can_tell_from);
                answer.because = match tags.first() {
                    Some(tag) => format!("{}, of the same place, has a GPS tag", tag.name),
                    None => format!("{count} photos of one place together"),
                };
                answer.verdict = verdict(answer.best);
                answer
            })
            .collect())
    }

    /// The log likelihood of the album as its times stand: how well evidence, tags and travel agree.
    ///
    /// # Errors
    /// As [`Album::answers`].
    pub fn log_likelihood(&self, photos: &[AlbumPhoto]) -> Result<f64, AlbumError> {
        let order = in_time(photos);
        let times = order.iter().map(|k| photos[*k].time.seconds).collect();
        let sorted = order.iter().map(|k| &photos[*k]).collect();
        let chain = Chain::new(sorted, times, &self.earth, &self.calibration, &self.settings);
        Ok(Chain::log_likelihoods(&[chain])?[0])
    }

    /// The settings for the kind of traveller that the album is of most probably. Tags tell; without two of them it is one as most are.
    fn traveller(&self, photos: &[&AlbumPhoto], times: &[f64]) -> Result<AlbumSettings, AlbumError> {
        let kinds = self.settings.travellers();
        if photos.iter().filter(|photo| photo.gps.is_some()).count() < 2 || kinds.len() < 2 {
            return Ok(self.settings.clone());
        }
        let chain = |settings| Chain::new(photos.to_vec(), times.to_vec(), &self.earth, &self.calibration, settings);
        let chains: Vec<Chain> = kinds.iter().map(|(_, settings)| chain(settings)).collect();
        let fits = Chain::log_likelihoods(&chains)?;
        let odds = |k: &usize| fits[*k] + kinds[*k].0.ln();
        let best = (0..kinds.len()).max_by(|a, b| odds(a).total_cmp(&odds(b))).unwrap_or(0);
        Ok(kinds[best].1.clone())
    }

    /// The levels for what a posterior says. Looks alone need none but its own.
    fn levels(&self, cloud: &Cloud, has_tags: bool) -> &[f64; 9] {
        let levels = &self.settings.levels;
        if !has_tags {
            &LEVELS
        } else if cloud.is_sharp() {
            &levels.at_tags
        } else {
            &levels.between_tags
        }
    }

    fn read(
        &self,
        photo: &AlbumPhoto,
        posterior: &PhotoPosterior,
        (cloud, levels): (&Cloud, &[f64; 9]),
        tags: &[&AlbumPhoto],
    ) -> AlbumAnswer {
        let alone = Cloud::of(&posterior.alone, &self.earth);
        let alone_best = alone.spots(1).first().map(|spot| spot.at.to_latlon());
        // Clear outliers use their single-photo answer.
        let is_stray = posterior.stray > SURELY_STRAY && photo.gps.is_none();
        let (read, levels) = if is_stray { (&alone, &LEVELS) } else { (cloud, levels) };
        let mut answer = read_cloud(photo, read, levels, self.calibration.can_tell_from);
        let alone_best = alone_best.unwrap_or(answer.best);
        answer.alone = Some(alone_best);
        answer.moved_km = haversine_km(answer.best, alone_best);
        answer.because = because(photo, posterior, (answer.best, alone_best), tags, &self.settings);
        answer.elsewhere = if photo.gps.is_none() { posterior.stray } else { 0.0 };
        answer.outlier = outlier(photo, posterior, &answer, tags);
        answer.hint = hint(&answer);
        answer
    }

    fn log_density(&self, place: &Message, at: LatLon) -> f64 {
        place.density(at.to_unit(), &self.earth).max(f64::MIN_POSITIVE).ln()
    }

    /// What a posterior says about the truth.
    fn judge(&self, (place, cloud): (&Message, &Cloud), best: LatLon, truth: LatLon, by: &[f64; 9]) -> Verdict {
        let held = cloud.mass_within_km(best.to_unit(), haversine_km(best, truth));
        let levels = LEVELS.map(|share| level(share, by));
        Verdict {
            log_density: self.log_density(place, truth),
            region_level: share(cloud.mass_denser_than(place, truth, &self.earth), by),
            radius_share: share(held, by),
            radii_km: cloud.radii_km(best.to_unit(), &levels),
        }
    }
}

/// The answer that a cloud gives, with radii by these levels; from this locatability on it can be told.
fn read_cloud(photo: &AlbumPhoto, cloud: &Cloud, levels: &[f64; 9], can_tell_from: f64) -> AlbumAnswer {
    let spots = cloud.spots(5);
    let best = spots[0].at;
    let held = [0.5, 0.9].map(|share| level(share, levels));
    let radii = cloud.radii_km(best, &held);
    let hypotheses = spots.iter().map(|spot| Hypothesis::new(spot.at.to_latlon(), spot.probability)).collect();
    let locatability = cloud.mass_within_km(best, 750.0).clamp(0.0, 1.0);
    let radii = [radii[0], radii[1].max(radii[0])];
    let mut answer = Answer::at(best.to_latlon(), radii, hypotheses, locatability).about(&*photo.name, photo.gps);
    answer.can_tell = photo.gps.is_some() || locatability >= can_tell_from;
    AlbumAnswer {
        answer,
        time: photo.time,
        alone: None,
        moved_km: 0.0,
        because: String::new(),
        elsewhere: 0.0,
        hint: None,
        outlier: None,
        verdict: None,
        alone_log_density: None,
    }
}

/// Positions in order of time.
fn in_time(photos: &[AlbumPhoto]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..photos.len()).collect();
    order.sort_by(|a, b| photos[*a].time.seconds.total_cmp(&photos[*b].time.seconds));
    order
}

fn outlier(
    photo: &AlbumPhoto,
    posterior: &PhotoPosterior,
    answer: &AlbumAnswer,
    tags: &[&AlbumPhoto],
) -> Option<Outlier> {
    if let Some(gps) = photo.gps
        && posterior.wrong_tag > 0.5
    {
        let gap = |tag: &AlbumPhoto| (tag.time.seconds - photo.time.seconds).abs();
        let nearest = tags.iter().min_by(|a, b| gap(a).total_cmp(&gap(b)));
        let against = nearest.map_or(String::new(), |tag| {
            let km = tag.gps.map_or(0.0, |other| haversine_km(other, gps));
            format!(": {} from {}, {} away in time", distance(km), tag.name, duration(gap(tag)))
        });
        let reason = format!(
            "its GPS tag does not fit the photos around it{against}; a wrong tag, a wrong clock or another trip"
        );
        return Some(Outlier { probability: posterior.wrong_tag, reason });
    }
    if photo.gps.is_none() && posterior.stray > NAMED {
        let reason = format!(
            "it does not look like the places around it in time, rather {}: another trip, or a wrong clock",
            describe(answer.alone.unwrap_or(answer.best))
        );
        return Some(Outlier { probability: posterior.stray, reason });
    }
    None
}

/// What is said of a photo that may be from elsewhere.
fn hint(answer: &AlbumAnswer) -> Option<Outlier> {
    let is_hinted = answer.outlier.is_none() && answer.elsewhere > HINTED;
    is_hinted.then(|| Outlier {
        probability: answer.elsewhere,
        reason: format!(
            "it may be from elsewhere: alone it looks rather like {}",
            describe(answer.alone.unwrap_or(answer.best))
        ),
    })
}

/// The probability that must be held for a radius to hold a share, by fitted levels.
fn level(share: f64, levels: &[f64; 9]) -> f64 {
    interpolated_level(share, LEVELS, *levels)
}

/// The other way around.
fn share(level: f64, levels: &[f64; 9]) -> f64 {
    interpolated_level(level, *levels, LEVELS)
}
