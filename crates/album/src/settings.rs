//! What the model of an album assumes, with the values chosen on validation.

use crate::{AlbumError, Result, roaming::Traveller};
use serde::{Deserialize, Serialize};

/// The numbers of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct AlbumSettings {
    /// How much each further view of the same moment takes from the weight of all: n views weigh `1 / (1 + c·(n − 1))` each.
    pub dependence: f64,
    /// Two photos are such views by halves at this cosine of their embeddings, with this slope of the log odds.
    pub same_view: (f64, f64),
    /// And by 1/e after this time, in seconds.
    pub same_view_s: f64,
    /// As `dependence`, for photos that are stated to be views of one place.
    pub views_dependence: f64,
    /// Photos this near in time count as views of one moment, in seconds.
    pub moment_s: f64,
    /// The probability that a photo does not belong to the album at all.
    pub stray: f64,
    /// The log odds that a photo is from elsewhere: a constant, less so much for each nat by which its image fits the
    /// others, less so much for its mean cosine to those around it. Chosen such that hardly any photo that belongs is named.
    pub elsewhere: [f64; 3],
    /// The mean cosine to the photos around it at which that says nothing.
    pub usual_company: f64,
    /// The probability that a GPS tag is wrong.
    pub wrong_tag: f64,
    /// The error of a good GPS tag.
    pub gps_km: f64,
    /// How regions change where no place is known, for kinds of travellers that are averaged.
    pub travellers: Vec<Traveller>,
    /// The probability within 750 km from which on an album's answer is told; never below what a single photo needs.
    pub can_tell_from: f64,
    /// The power of the product of all likelihoods if there are tags.
    pub look_power: f64,
    /// The largest effect of images for or against a place if there are tags, in nats.
    pub most_look: f64,
    /// The slope of the log odds of a cluster of tags by the cosine to its most alike photo, for photos of the
    /// model's kind and others. Street views on traces of `fit.csv` had 7; photos of Im2GPS3k, between places of one cluster, 2.
    pub surroundings: (f64, f64),
    /// Between two clusters it says no more than this, in nats.
    pub most_surroundings: f64,
    /// The tag nearest in time is given up for a place further than 100 km from it only where so much more is expected there: the sum of the
    /// probabilities within 1, 25, 200 and 750 km. People differ more than the traces that travel was fitted to.
    pub nearest_margin: f64,
    /// How far people go between two tags is read off the album's own tags as if it had so many more usual ones.
    pub usual_tags: f64,
    /// What is added to the share of one half where an album has a single tag: those on a trip go further than others.
    pub one_tag: f64,
    /// The probability that two cameras of an album travel together.
    pub together: f64,
    /// What one photo may say for or against that at the most, in nats.
    pub most_apart: f64,
    /// The log odds that a photo without a time belongs to the album: at a cosine of 0.5 to the photo of the album most like it, and the
    /// slope by that cosine.
    pub untimed: (f64, f64),
    /// Places this near look alike.
    pub alike_km: f64,
    /// The cosine of two embeddings at which being at one place is as likely as not, and the slope of the log odds there.
    pub likeness: (f64, f64),
    /// As `dependence`, for likeness: photos of one place look alike, and a chance resemblance is one of all.
    pub likeness_dependence: f64,
    /// No likeness says more than this, in nats.
    pub most_likeness: f64,
    /// How near is near enough where clocks and cameras are judged by how well tags fit one another, km along each axis.
    pub fit_km: f64,
    /// What a shift of a camera's clock must gain to be believed, in nats: clocks are right far more often than not.
    pub clock_nats: f64,
}

impl Default for AlbumSettings {
    fn default() -> Self {
        Self {
            dependence: 1.0,
            same_view: (0.8, 20.0),
            same_view_s: 86_400.0,
            views_dependence: 0.6,
            moment_s: 14_400.0,
            stray: 0.02,
            elsewhere: [-3.2, 1.2, 7.0],
            usual_company: 0.5,
            wrong_tag: 1e-3,
            gps_km: 0.05,
            travellers: vec![Traveller {
                share: 1.0,
                jumps: vec![(0.3, 120.0), (0.03, 400.0), (0.004, 900.0), (0.001, 3000.0)],
                anywhere_per_h: 1e-4,
            }],
            can_tell_from: 0.5,
            look_power: 0.15,
            most_look: 0.35,
            surroundings: (7.0, 2.0),
            most_surroundings: 3.0,
            nearest_margin: 0.4,
            usual_tags: 4.0,
            one_tag: 0.06,
            together: 0.99,
            most_apart: 3.0,
            untimed: (-1.8, 8.5),
            alike_km: 0.5,
            likeness: (0.70, 10.0),
            likeness_dependence: 0.3,
            most_likeness: 1.6,
            fit_km: 30.0,
            clock_nats: 6.0,
        }
    }
}

impl AlbumSettings {
    /// Reads settings from JSON; missing ones keep their defaults.
    /// Reads settings from JSON; missing ones keep their defaults. Fails on text that is not settings, and on numbers out of range.
    pub fn from_json(text: &str) -> Result<Self> {
        let settings: Self = serde_json::from_str(text).map_err(|e| AlbumError::Settings { reason: e.to_string() })?;
        let s = &settings;
        let shares = [s.stray, s.wrong_tag, 1.0 - s.together];
        let times = [s.moment_s, s.same_view_s, s.clock_nats, s.most_apart, s.look_power, s.most_look];
        let sizes = [s.gps_km, s.fit_km, s.alike_km, s.most_surroundings, s.usual_tags];
        let weights = [s.dependence, s.nearest_margin, s.views_dependence, s.same_view.1, s.likeness_dependence];
        let slopes = [s.surroundings.0, s.surroundings.1];
        let is_size = |size: &f64| *size > 0.0 && size.is_finite();
        let total: f64 = s.travellers.iter().map(|kind| kind.share).sum();
        let kinds_fit = s.travellers.iter().all(|kind| {
            let jumps_fit = kind.jumps.iter().all(|(rate, km)| is_size(rate) && is_size(km));
            kind.share > 0.0 && kind.anywhere_per_h >= 0.0 && jumps_fit
        });
        let fits = kinds_fit
            && (total - 1.0).abs() < 1e-6
            && shares.iter().all(|share| *share > 0.0 && *share < 0.5)
            && times.iter().chain(&sizes).all(is_size)
            && weights.iter().chain(&slopes).all(|weight| *weight >= 0.0)
            && (0.0..=1.0).contains(&s.can_tell_from)
            && (0.0..=0.2).contains(&s.one_tag)
            && s.same_view.0.is_finite()
            && s.untimed.0.is_finite()
            && s.untimed.1 >= 0.0
            && s.elsewhere.iter().all(|number| number.is_finite());
        if !fits {
            let reason = "shares must be 0 to ½, travellers' shares must sum to 1, sizes must be positive".to_owned();
            return Err(AlbumError::Settings { reason });
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::AlbumSettings;

    #[test]
    fn settings_are_read_and_checked() {
        let settings = AlbumSettings::from_json(r#"{"stray": 0.02, "gps_km": 0.1}"#).unwrap();
        assert_eq!((settings.stray, settings.gps_km), (0.02, 0.1));
        for bad in [r#"{"strays": 0.02}"#, r#"{"stray": 2}"#] {
            assert!(AlbumSettings::from_json(bad).is_err());
        }
    }
}
