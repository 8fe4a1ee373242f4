//! What the model of an album assumes, with the values chosen on validation.

use crate::AlbumError;
use serde::{Deserialize, Serialize};

/// The numbers of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct AlbumSettings {
    /// How much each further view of the same moment takes from the weight of all: n views weigh `1 / (1 + c·(n − 1))` each.
    pub dependence: f64,
    /// Two photos are such views by halves at this cosine of their embeddings, with this slope of the log odds: what looks the same tells
    /// the same, what does not is a word of its own.
    pub same_view: (f64, f64),
    /// And by 1/e after this time, in seconds.
    pub same_view_s: f64,
    /// The same for photos that are said to be views of one place.
    pub views_dependence: f64,
    /// Photos this near in time count as views of one moment, in seconds.
    pub moment_s: f64,
    /// The probability that a photo does not belong to the album at all.
    pub stray: f64,
    /// The log odds that a photo is from elsewhere: a constant, less so much for each nat by which its look fits what the others say of its
    /// place, less so much for its mean cosine to the photos around it. Chosen on validation trips such that hardly any photo that belongs
    /// is named.
    pub elsewhere: [f64; 3],
    /// The mean cosine to the photos around it at which that says nothing.
    pub usual_company: f64,
    /// The probability that a GPS tag is wrong.
    pub wrong_tag: f64,
    /// The error of a good GPS tag.
    pub gps_km: f64,
    /// How far from the place where one stays photos are taken, km along each axis.
    pub jitter_km: f64,
    /// How people move.
    pub travel: TravelSettings,
    /// The probability of having come back to a tagged place, at any step.
    pub revisit: f64,
    /// People who travel in other ways. Which one made an album is read off its tags.
    pub other_travellers: Vec<Traveller>,
    /// Places this near look alike.
    pub alike_km: f64,
    /// The cosine of two embeddings at which being at one place is as likely as not, and the slope of the log odds there.
    pub likeness: (f64, f64),
    /// How much each further photo of the same moment takes from what likeness says, as `dependence` does for looks: photos of one
    /// place look alike, and a chance resemblance is one of all.
    pub likeness_dependence: f64,
    /// No likeness says more than this, in nats.
    pub most_likeness: f64,
    /// What a shift of a camera's clock must gain to be believed, in nats: clocks are right far more often than not.
    pub clock_nats: f64,
    /// For radii and regions of trips with tags that are to hold 10, 20 … 90 %: the probability that the posterior must hold. Where looks
    /// alone speak, in trips without tags and of views of one place, it needs no correction.
    pub levels: Levels,
}

/// The levels of answers of two kinds, each from 10 to 90 %.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Levels {
    /// Sharp answers, next to a tag: most lies within a few kilometres.
    pub at_tags: [f64; 9],
    /// Broad ones of an album with tags: a drive away from one. People arrive, so that few are far beyond.
    pub between_tags: [f64; 9],
}

/// Somebody who travels in another way than most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traveller {
    /// The share of albums that are such people's.
    pub share: f64,
    /// How far a day's drive goes at the most, in parts of what it does for most.
    pub reach: f64,
    /// The probability of having come back to a tagged place, at any step.
    pub revisit: f64,
}

/// The travel kernel: staying, walking about, driving, flying.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TravelSettings {
    /// Time after which people have moved on with probability 1 − 1/e, in hours.
    pub stay_h: f64,
    /// How suddenly: 1 is a constant rate, more means that people stay for a while and then move on.
    pub stay_power: f64,
    /// The time between photos, in hours, at which that is so; with longer ones people have moved on sooner, by this power.
    pub pace_h: f64,
    /// That power.
    pub pace_power: f64,
    /// The probability of having moved on is never more than this: some stay for days.
    pub move_most: f64,
    /// How far one is from the last photo's place without having moved on, km after an hour (grows with the root of time).
    pub about_km: f64,
    /// The same never more than this.
    pub about_most_km: f64,
    /// How far a drive goes in an hour, km along each axis.
    pub drive_km: f64,
    /// The power of time that it grows with.
    pub drive_power: f64,
    /// A day's drive at the most.
    pub drive_most_km: f64,
    /// How far a flight goes in an hour.
    pub fly_km: f64,
    /// Share of moves that are flights when there was time for one.
    pub fly_share: f64,
    /// The probability of being anywhere on Earth next, for any reason.
    pub anywhere: f64,
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
            wrong_tag: 3e-4,
            gps_km: 0.05,
            jitter_km: 0.6,
            travel: TravelSettings::default(),
            revisit: 0.02,
            // Who stays at one place and makes excursions from there.
            other_travellers: vec![Traveller { share: 0.05, reach: 0.5, revisit: 0.3 }],
            alike_km: 0.5,
            likeness: (0.70, 10.0),
            likeness_dependence: 0.3,
            most_likeness: 1.6,
            clock_nats: 5.0,
            levels: Levels::default(),
        }
    }
}

impl Default for Levels {
    fn default() -> Self {
        Self {
            at_tags: [0.03, 0.1, 0.17, 0.27, 0.39, 0.5, 0.62, 0.73, 0.86],
            between_tags: [0.14, 0.25, 0.36, 0.44, 0.51, 0.585, 0.66, 0.745, 0.84],
        }
    }
}

impl Default for TravelSettings {
    fn default() -> Self {
        Self {
            stay_h: 2.2,
            stay_power: 1.5,
            pace_h: 0.5,
            pace_power: 0.7,
            move_most: 0.98,
            about_km: 0.6,
            about_most_km: 5.0,
            drive_km: 50.0,
            drive_power: 0.85,
            drive_most_km: 275.0,
            fly_km: 500.0,
            fly_share: 0.01,
            anywhere: 1e-5,
        }
    }
}

impl AlbumSettings {
    /// Each kind of traveller: the share of albums, and the settings for them. Most come first.
    pub(crate) fn travellers(&self) -> Vec<(f64, Self)> {
        let most = 1.0 - self.other_travellers.iter().map(|other| other.share).sum::<f64>();
        let of = |other: &Traveller| {
            let drive_most_km = self.travel.drive_most_km * other.reach;
            let travel = TravelSettings { drive_most_km, ..self.travel.clone() };
            (other.share, Self { travel, revisit: other.revisit, ..self.clone() })
        };
        std::iter::once((most, self.clone())).chain(self.other_travellers.iter().map(of)).collect()
    }

    /// From JSON; what is not said stays as it is.
    ///
    /// ```
    /// use locdiff_album::AlbumSettings;
    /// let settings = AlbumSettings::from_json(r#"{"stray": 0.02, "travel": {"stay_h": 1.5}}"#)?;
    /// assert_eq!((settings.stray, settings.travel.stay_h), (0.02, 1.5));
    /// assert!(AlbumSettings::from_json(r#"{"strays": 0.02}"#).is_err());
    /// assert!(AlbumSettings::from_json(r#"{"stray": 2}"#).is_err());
    /// # Ok::<(), locdiff_album::AlbumError>(())
    /// ```
    ///
    /// # Errors
    /// What is no settings, and numbers out of range.
    pub fn from_json(text: &str) -> Result<Self, AlbumError> {
        let settings: Self =
            serde_json::from_str(text).map_err(|error| AlbumError::Settings { reason: error.to_string() })?;
        let travel = &settings.travel;
        let shares = [settings.stray, settings.wrong_tag, settings.revisit, travel.fly_share, travel.anywhere];
        let sizes = [
            settings.moment_s,
            settings.same_view_s,
            settings.gps_km,
            settings.clock_nats,
            settings.jitter_km,
            travel.pace_h,
            settings.alike_km,
            travel.stay_h,
            travel.stay_power,
            travel.drive_power,
            travel.about_km,
            travel.about_most_km,
            travel.drive_km,
            travel.drive_most_km,
            travel.fly_km,
        ];
        let others_share: f64 = settings.other_travellers.iter().map(|other| other.share).sum();
        let others_fit = settings.other_travellers.iter().all(|other| {
            other.share > 0.0
                && other.reach > 0.0
                && other.reach.is_finite()
                && other.revisit > 0.0
                && other.revisit < 0.5
        });
        let levels = [&settings.levels.at_tags, &settings.levels.between_tags];
        let rising = levels.iter().all(|list| list.windows(2).all(|pair| pair[0] < pair[1]));
        let fits = others_fit
            && others_share < 1.0
            && shares.iter().all(|share| *share > 0.0 && *share < 0.5)
            && sizes.iter().all(|size| *size > 0.0 && size.is_finite())
            && travel.move_most > 0.0
            && travel.move_most < 1.0
            && settings.dependence >= 0.0
            && settings.views_dependence >= 0.0
            && settings.same_view.0.is_finite()
            && settings.same_view.1 >= 0.0
            && settings.elsewhere.iter().all(|number| number.is_finite())
            && settings.likeness_dependence >= 0.0
            && levels.iter().all(|list| list.iter().all(|level| (0.0..=1.0).contains(level)));
        if fits && rising {
            Ok(settings)
        } else {
            let reason = "shares lie between 0 and ½, sizes above 0, levels rise from 0 to 1".to_owned();
            Err(AlbumError::Settings { reason })
        }
    }
}
