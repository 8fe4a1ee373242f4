//! Radii that learn from an album's own tags: each known place is asked about as if it were not known. Where the others miss these by more
//! than they should, people of this kind go further between two tags, and radii are read at a higher mass; where by less, at a lower one.
//!
//! How much that says of photos without a tag was fitted to traces and chosen on others (`lab/scripts/fit_left_out.py`): a half of the mean share
//! less one half, as if there were four more tags that are as they should be (`usual_tags`). A single tag tells nothing of that (`one_tag`).

use crate::{AlbumSettings, Result, cloud::Cloud, earth::Earth, message::Message, prior::Anchor, prior::Anchors};
use locdiff_shdd::sphere::EARTH_RADIUS_KM;
use rayon::prelude::*;

/// Known places that are left out, at the most.
const MOST: usize = 96;
/// Tags that were left out count by how near the hours to the others are to the photo's: the deviation of the logarithm.
const LOG_HOURS: f64 = 2.0;
/// Photos without a tag are off by this part of what tags are off by.
const PART: f64 = 0.5;
/// Minutes make no difference, in hours.
const SHORTEST_H: f64 = 0.1;
/// Levels are moved no further.
const FURTHEST: f64 = 0.2;

/// Hours from each place left out to the nearest other one, and the share of truths that the radius to it should hold.
#[derive(Debug)]
pub(crate) struct LeftOut {
    pub(crate) shares: Vec<(f64, f64)>,
    usual_tags: f64,
    one_tag: f64,
}

impl LeftOut {
    pub(crate) fn of(anchors: &Anchors, settings: &AlbumSettings, earth: &Earth) -> Result<Self> {
        let share = |own: &Anchor| -> Result<Option<(f64, f64)>> {
            let is_other = |anchor: &Anchor| !std::ptr::eq(anchor, own);
            let prior = anchors.prior_by(own.time_s, is_other);
            let Some((prior, nearest)) = prior.zip(anchors.nearest_by(own.time_s, is_other)) else { return Ok(None) };
            let message = Message::of_prior(prior, earth)?;
            let cloud = Cloud::of(&message, earth).preferring(Some(nearest), settings.nearest_margin);
            let best = cloud.spots(1).first().map(|spot| spot.at);
            let share = |best| cloud.radius_share(best, best.angle_rad(own.place) * EARTH_RADIUS_KM);
            Ok(best.map(|best| (nearest.hours, share(best))))
        };
        let all = anchors.all();
        let some: Vec<&Anchor> = all.iter().step_by(all.len().div_ceil(MOST).max(1)).collect();
        let found: Vec<Option<(f64, f64)>> = some.into_par_iter().map(share).collect::<Result<_, _>>()?;
        let AlbumSettings { usual_tags, one_tag, .. } = *settings;
        Ok(Self { shares: found.into_iter().flatten().collect(), usual_tags, one_tag })
    }

    /// What is added to the share of one half, so many hours from the nearest known place.
    pub(crate) fn shift(&self, hours: f64) -> f64 {
        if self.shares.is_empty() {
            return self.one_tag;
        }
        let log = |hours: f64| (hours + SHORTEST_H).ln();
        let (mut sum, mut total) = (0.0, self.usual_tags);
        for (own_hours, share) in &self.shares {
            let weight = (-0.5 * ((log(*own_hours) - log(hours)) / LOG_HOURS).powi(2)).exp();
            (sum, total) = (sum + weight * (share - 0.5), total + weight);
        }
        (PART * sum / total).clamp(-FURTHEST, FURTHEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_model::answer::Calibration;
    use locdiff_shdd::{Coefficients, sphere::LatLon};

    /// Tags three hours apart, each so many kilometres to a side from the middle.
    fn album(count: usize, km: impl Fn(usize) -> f64) -> LeftOut {
        let earth = Earth::new(&Calibration::none(Coefficients::new(vec![0.0; 16]).unwrap())).unwrap();
        let anchor = |k: usize| {
            let place = LatLon::new(48.0, 2.0).unwrap().to_unit().step(km(k) / EARTH_RADIUS_KM, 0.0);
            Anchor { time_s: 3.0 * 3600.0 * k as f64, place, deviation_km: 0.0, of: Some(k), camera: None }
        };
        LeftOut::of(&Anchors::new((0..count).map(anchor).collect()), &AlbumSettings::default(), &earth).unwrap()
    }

    #[test]
    fn radii_are_wider_for_those_who_go_further_than_their_tags_have_it() {
        // Always at home; two hours' drive from a quiet place now and then; ever elsewhere.
        let home = album(24, |_| 0.0);
        let wild = album(24, |k| if k % 2 == 0 { 0.0 } else { 40.0 + 3.0 * k as f64 });
        assert!(home.shift(3.0) < -0.1, "{}", home.shift(3.0));
        assert!(wild.shift(3.0) > 0.1, "{}", wild.shift(3.0));
        let usual = album(24, |k| [0.0, 0.3, 0.0, 6.0, 2.0, 0.1, 14.0, 0.0][k % 8]);
        assert!(usual.shift(3.0).abs() < 0.06, "{}", usual.shift(3.0));
        // Few tags change little, and one tells nothing; what was seen at hours says little of days.
        assert!(album(3, |_| 0.0).shift(3.0).abs() < 0.11);
        assert!(album(1, |_| 0.0).shift(3.0) > 0.0 && album(1, |_| 0.0).shift(3.0) == album(1, |_| 0.0).shift(300.0));
        assert!(home.shift(2000.0).abs() < 0.5 * home.shift(3.0).abs());
    }
}
