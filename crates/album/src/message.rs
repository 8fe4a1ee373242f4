//! What is known of a photo's place from one side: a grid for what is broad, blobs for what is sharp.

use crate::{Result, blob::Blob, blob::thinned, earth::Earth, likelihood::LikelihoodRatio, prior::Prior};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, UnitVec};
use std::f64::consts::PI;

/// The neighbourhood of a place reaches so far, km.
pub(crate) const NEIGHBOURHOOD_KM: f64 = 25.0;
/// Blobs that are kept of a message.
const MOST_BLOBS: usize = 32;
/// Blobs with less of the mass are dropped.
const LIGHTEST: f64 = 1e-9;

/// A function on the sphere, not negative: the sum of both parts.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) grid: Vec<f64>,
    pub(crate) blobs: Vec<Blob>,
}

/// A place that may be come back to, with the probability of that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Return {
    pub(crate) place: Blob,
    /// Log of the odds that the photo was taken there, by its similarity.
    pub(crate) log_odds: f64,
}

impl Message {
    /// The prior before any photo counts.
    pub(crate) fn usual(earth: &Earth) -> Self {
        Self { grid: earth.usual.clone(), blobs: Vec::new() }
    }

    /// What the places known of other times say; wide parts lie on land.
    pub(crate) fn of_prior(prior: Prior, earth: &Earth) -> Result<Self> {
        let (wide, narrow): (Vec<Blob>, Vec<Blob>) = prior.blobs.into_iter().partition(|b| Earth::is_wide(b.variance));
        let mass: f64 = wide.iter().map(|blob| blob.mass).sum();
        let mut grid = earth.wide(&wide)?;
        grid.iter_mut().zip(&earth.land).for_each(|(value, land)| *value *= land);
        let scale = mass / earth.integral(&grid).max(f64::MIN_POSITIVE);
        for (value, usual) in grid.iter_mut().zip(&earth.usual) {
            *value = scale * *value + prior.anywhere * usual;
        }
        let mut message = Self { grid, blobs: narrow };
        message.thin_to(2 * MOST_BLOBS, earth);
        message.normalise(earth);
        Ok(message)
    }

    /// A mixture of this one, by its share, and another.
    pub(crate) fn mixed(mut self, share: f64, mut other: Self, earth: &Earth) -> Self {
        self.scale(share);
        other.scale(1.0 - share);
        self.grid.iter_mut().zip(&other.grid).for_each(|(value, other)| *value += other);
        self.blobs.extend(other.blobs);
        self.thin_to(2 * MOST_BLOBS, earth);
        self
    }

    /// Times a ratio on the grid.
    pub(crate) fn weigh(&mut self, ratio: &[f64], earth: &Earth) {
        self.grid.iter_mut().zip(ratio).for_each(|(value, ratio)| *value *= ratio);
        for blob in &mut self.blobs {
            blob.mass *= earth.value_at(ratio, blob.centre);
        }
    }

    pub(crate) fn total(&self, earth: &Earth) -> f64 {
        earth.integral(&self.grid) + self.sharp()
    }

    /// The mass of the blobs.
    pub(crate) fn sharp(&self) -> f64 {
        self.blobs.iter().map(|blob| blob.mass).sum()
    }

    /// Brings the integral to 1.
    pub(crate) fn normalise(&mut self, earth: &Earth) {
        self.scale(1.0 / self.total(earth).max(f64::MIN_POSITIVE));
    }

    fn scale(&mut self, factor: f64) {
        self.grid.iter_mut().for_each(|value| *value *= factor);
        self.blobs.iter_mut().for_each(|blob| blob.mass *= factor);
    }

    /// Multiplies by a photo's likelihood ratio, or by 1 if the photo is a stray.
    pub(crate) fn apply_likelihood(&mut self, ratio: &LikelihoodRatio, stray: f64, earth: &Earth) {
        let floored = |ratio: f64| (1.0 - stray) * ratio + stray;
        self.grid.iter_mut().zip(&ratio.grid).for_each(|(value, ratio)| *value *= floored(*ratio));
        let centres: Vec<_> = self.blobs.iter().map(|blob| blob.centre).collect();
        for (blob, ratio) in self.blobs.iter_mut().zip(ratio.at(&centres, earth)) {
            blob.mass *= floored(ratio);
        }
    }

    /// Times a GPS tag, which is wrong with a probability; wrong ones are where any photos are.
    pub(crate) fn see_tag(&mut self, tag: &[Blob], wrong: f64, earth: &Earth) {
        let mut right = self.product_with(tag, earth);
        for blob in &mut right {
            blob.mass *= 1.0 - wrong;
        }
        self.scale(wrong * earth.background_at(&[tag[0].centre])[0]);
        self.blobs.extend(right);
        self.thin(earth);
    }

    /// The product with a few blobs.
    pub(crate) fn product_with(&self, tag: &[Blob], earth: &Earth) -> Vec<Blob> {
        let mut both = Vec::with_capacity((self.blobs.len() + 1) * tag.len());
        for part in tag {
            both.extend(self.blobs.iter().map(|blob| blob.times(part)));
            both.push(Blob { mass: earth.value_at(&self.grid, part.centre) * part.mass, ..*part });
        }
        both
    }

    /// Reweights the neighbourhoods of places by their log odds. Blobs near none of them keep their probability.
    pub(crate) fn reweight(&mut self, places: &[(UnitVec, f64)]) {
        let (mut before, mut after) = (0.0, 0.0);
        let about: Vec<Option<f64>> = self.blobs.iter().map(|blob| odds_about(blob, places)).collect();
        for (blob, odds) in self.blobs.iter().zip(&about) {
            let odds = odds.unwrap_or(f64::NEG_INFINITY);
            before += if odds.is_finite() { blob.mass } else { 0.0 };
            after += blob.mass * odds.exp();
        }
        for (blob, odds) in self.blobs.iter_mut().zip(about) {
            blob.mass *= odds.map_or(1.0, |odds| odds.exp() * before / after.max(f64::MIN_POSITIVE));
        }
    }

    /// Times what likeness to tagged places says.
    pub(crate) fn compare(&mut self, returns: &[Return], earth: &Earth) {
        let mut found = Vec::new();
        for Return { place, log_odds, .. } in returns {
            // The bump that likeness is: 1 far away, the odds at the place.
            let reach = 2.0 * PI * place.variance;
            for blob in &mut self.blobs {
                let angle = blob.centre.angle_rad(place.centre);
                if blob.variance < 4.0 * place.variance {
                    blob.mass *= (log_odds * (-0.5 * angle * angle / (place.variance + blob.variance)).exp()).exp();
                } else if *log_odds > 0.0 {
                    let both = blob.times(&Blob { mass: 1.0, ..*place });
                    found.push(Blob { mass: both.mass * reach * log_odds.exp_m1(), ..both });
                }
            }
            if *log_odds > 0.0 {
                let mass = earth.value_at(&self.grid, place.centre) * reach * log_odds.exp_m1();
                found.push(Blob { mass, ..*place });
            }
        }
        self.blobs.extend(found);
        self.thin(earth);
    }

    /// Density per steradian, as it stands.
    pub(crate) fn density(&self, point: locdiff_shdd::sphere::UnitVec, earth: &Earth) -> f64 {
        earth.value_at(&self.grid, point) + self.blobs.iter().map(|blob| blob.density(point)).sum::<f64>()
    }

    /// What lies within a distance, blobs by their centres.
    pub(crate) fn mass_about(&self, place: locdiff_shdd::sphere::UnitVec, km: f64, earth: &Earth) -> f64 {
        let cosine = (km / EARTH_RADIUS_KM).cos();
        let grid = self.grid.iter().zip(&earth.points).zip(&earth.areas);
        let coarse: f64 = grid.filter(|((_, at), _)| place.dot(**at) > cosine).map(|((v, _), area)| v * area).sum();
        let blobs = self.blobs.iter().filter(|blob| place.dot(blob.centre) > cosine);
        coarse + blobs.map(|blob| blob.mass).sum::<f64>()
    }

    fn thin(&mut self, earth: &Earth) {
        self.thin_to(MOST_BLOBS, earth);
    }

    /// Fewer blobs: the lightest go to the grid with their width, else radii would be too small by half.
    fn thin_to(&mut self, most: usize, earth: &Earth) {
        let lightest = LIGHTEST * self.total(earth);
        let (kept, over) = thinned(std::mem::take(&mut self.blobs), most, lightest);
        self.blobs = kept;
        for blob in over {
            earth.add(&mut self.grid, &blob);
        }
    }
}

/// The log odds of the place that a blob is about.
fn odds_about(blob: &Blob, places: &[(UnitVec, f64)]) -> Option<f64> {
    let km = |place: UnitVec| blob.centre.angle_rad(place) * EARTH_RADIUS_KM;
    let nearest = places.iter().map(|(place, odds)| (km(*place), *odds)).min_by(|a, b| a.0.total_cmp(&b.0));
    let is_about = |km: f64| km.max(blob.variance.sqrt() * EARTH_RADIUS_KM) < NEIGHBOURHOOD_KM;
    nearest.filter(|(km, _)| is_about(*km)).map(|(_, odds)| odds)
}
