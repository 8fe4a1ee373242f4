//! What is known of a photo's place from one side: a grid for what is broad, blobs for what is sharp.

use crate::blob::{Blob, thinned, variance_of_km};
use crate::{AlbumError, earth::Earth, evidence::Evidence, travel::Travel};
use std::f64::consts::PI;

/// Blobs that are kept of a message.
const MOST_BLOBS: usize = 24;
/// One comes back to places that are not much further than this.
const COME_BACK_KM: f64 = 60.0;
/// How far photos are from the place where one stays: shares, and parts of the settings' length.
const JITTER: [(f64, f64); 3] = [(0.4, 0.3), (0.4, 1.0), (0.2, 4.0)];
/// Blobs with less of the mass are dropped.
const LIGHTEST: f64 = 1e-9;

/// A function on the sphere, not negative: the sum of both parts.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) grid: Vec<f64>,
    pub(crate) blobs: Vec<Blob>,
}

/// Which way time goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Towards {
    Later,
    Earlier,
}

/// A place that may be come back to, with the probability of that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Return {
    pub(crate) place: Blob,
    /// Log of the odds that a photo which looks so was taken there.
    pub(crate) log_odds: f64,
    /// When one was there first, as far as tags know: one comes back only to where one has been.
    pub(crate) first_s: f64,
}

/// What a tag says of the place where one stays, as blobs.
pub(crate) fn about_tag(tag: Blob, jitter_km: f64) -> Vec<Blob> {
    JITTER.map(|(share, part)| tag.spread(variance_of_km(part * jitter_km), share)).to_vec()
}

impl Message {
    /// The same everywhere.
    pub(crate) fn flat(earth: &Earth) -> Self {
        Self { grid: vec![1.0 / (4.0 * PI); earth.points.len()], blobs: Vec::new() }
    }

    pub(crate) fn total(&self, earth: &Earth) -> f64 {
        earth.integral(&self.grid) + self.blobs.iter().map(|blob| blob.mass).sum::<f64>()
    }

    /// Brings the integral to 1; returns the log of what it was.
    pub(crate) fn normalise(&mut self, earth: &Earth) -> f64 {
        let total = self.total(earth).max(f64::MIN_POSITIVE);
        self.scale(1.0 / total);
        total.ln()
    }

    fn scale(&mut self, factor: f64) {
        self.grid.iter_mut().for_each(|value| *value *= factor);
        self.blobs.iter_mut().for_each(|blob| blob.mass *= factor);
    }

    /// Times what a photo says, or nothing where it is a stray.
    pub(crate) fn hear(&mut self, evidence: &Evidence, stray: f64, earth: &Earth) {
        let floored = |ratio: f64| (1.0 - stray) * ratio + stray;
        self.grid.iter_mut().zip(&evidence.grid).for_each(|(value, ratio)| *value *= floored(*ratio));
        let centres: Vec<_> = self.blobs.iter().map(|blob| blob.centre).collect();
        for (blob, ratio) in self.blobs.iter_mut().zip(evidence.at(&centres, earth)) {
            blob.mass *= floored(ratio);
        }
    }

    /// Times a GPS tag, which is wrong with a probability; wrong ones are where any photos are.
    pub(crate) fn see_tag(&mut self, tag: &[Blob], wrong: f64, earth: &Earth) {
        let mut right = self.meets(tag, earth);
        for blob in &mut right {
            blob.mass *= 1.0 - wrong;
        }
        self.scale(wrong * earth.background_at(&[tag[0].centre])[0]);
        self.blobs.extend(right);
        self.thin(earth);
    }

    /// The product with a few blobs.
    pub(crate) fn meets(&self, tag: &[Blob], earth: &Earth) -> Vec<Blob> {
        let mut both = Vec::with_capacity((self.blobs.len() + 1) * tag.len());
        for part in tag {
            both.extend(self.blobs.iter().map(|blob| blob.times(part)));
            both.push(Blob { mass: earth.value_at(&self.grid, part.centre) * part.mass, ..*part });
        }
        both
    }

    /// Photos are taken about the place where one stays. What is broad does not notice.
    pub(crate) fn jittered(&mut self, jitter_km: f64, earth: &Earth) {
        let spread = |blob: &Blob| JITTER.map(|(share, part)| blob.spread(variance_of_km(part * jitter_km), share));
        self.blobs = self.blobs.iter().flat_map(spread).collect();
        self.thin_to(2 * MOST_BLOBS, earth);
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

    /// After a step through time. `returns` are the places that the later photo may have come back to.
    pub(crate) fn travel(
        &self,
        travel: &Travel,
        returns: &[Return],
        towards: Towards,
        earth: &Earth,
    ) -> Result<Self, AlbumError> {
        let around = variance_of_km(COME_BACK_KM);
        let mut grid = earth.travelled(&self.grid, &self.blobs, &travel.ways)?;
        let mut blobs: Vec<Blob> = Vec::with_capacity(self.blobs.len() * travel.ways.len());
        for blob in &self.blobs {
            let narrow = travel.ways.iter().filter(|(_, variance)| !Earth::is_wide(blob.variance + variance));
            blobs.extend(narrow.map(|(share, variance)| blob.spread(*variance, *share)));
        }
        match towards {
            Towards::Later => {
                let total = self.total(earth);
                for (value, background) in grid.iter_mut().zip(&earth.background) {
                    *value += travel.anywhere * total * background;
                }
                blobs.extend(returns.iter().map(|one| {
                    // What is near enough to come back from: a bump of height 1 about the place.
                    let near = Blob { centre: one.place.centre, variance: around, mass: 2.0 * PI * around };
                    let sharp: f64 = self.blobs.iter().map(|blob| blob.times(&near).mass).sum();
                    let held = sharp + near.mass * earth.value_at(&self.grid, near.centre);
                    Blob { mass: one.place.mass * held, ..one.place }
                }));
            }
            Towards::Earlier => {
                let centres: Vec<_> = self.blobs.iter().map(|blob| blob.centre).collect();
                let at_blobs = earth.background_at(&centres);
                let expected: f64 = self
                    .grid
                    .iter()
                    .zip(&earth.background)
                    .zip(&earth.areas)
                    .map(|((value, background), area)| value * background * area)
                    .sum::<f64>()
                    + self.blobs.iter().zip(at_blobs).map(|(blob, background)| blob.mass * background).sum::<f64>();
                blobs.extend(returns.iter().map(|one| {
                    let sharp: f64 = self.blobs.iter().map(|blob| blob.times(&one.place).mass).sum();
                    let met = sharp + one.place.mass * earth.value_at(&self.grid, one.place.centre);
                    Blob { centre: one.place.centre, variance: around, mass: met * 2.0 * PI * around }
                }));
                let even = travel.anywhere * expected;
                for value in &mut grid {
                    *value += even;
                }
            }
        }
        let mut moved = Self { grid, blobs };
        moved.thin(earth);
        Ok(moved)
    }

    /// The product of two: what both sides say together.
    pub(crate) fn times(&self, other: &Self, earth: &Earth) -> Self {
        let grid: Vec<f64> = self.grid.iter().zip(&other.grid).map(|(a, b)| a * b).collect();
        let mut blobs = Vec::with_capacity((self.blobs.len() + 1) * (other.blobs.len() + 1));
        for blob in &self.blobs {
            blobs.extend(other.blobs.iter().map(|second| blob.times(second)));
            blobs.push(Blob { mass: blob.mass * earth.value_at(&other.grid, blob.centre), ..*blob });
        }
        for blob in &other.blobs {
            blobs.push(Blob { mass: blob.mass * earth.value_at(&self.grid, blob.centre), ..*blob });
        }
        let mut both = Self { grid, blobs };
        both.thin_to(2 * MOST_BLOBS, earth);
        both
    }

    /// Density per steradian, as it stands.
    pub(crate) fn density(&self, point: locdiff_sphere::UnitVec, earth: &Earth) -> f64 {
        earth.value_at(&self.grid, point) + self.blobs.iter().map(|blob| blob.density(point)).sum::<f64>()
    }

    fn thin(&mut self, earth: &Earth) {
        self.thin_to(MOST_BLOBS, earth);
    }

    /// Fewer blobs: what is too much goes to the grid, as wide as it is. At its nearest point alone it would be a cell wide, and radii too
    /// small by half.
    fn thin_to(&mut self, most: usize, earth: &Earth) {
        let lightest = LIGHTEST * self.total(earth);
        let (kept, over) = thinned(std::mem::take(&mut self.blobs), most, lightest);
        self.blobs = kept;
        for blob in over {
            earth.add(&mut self.grid, &blob);
        }
    }
}

/// A message in single precision, for keeping.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    grid: Vec<f32>,
    blobs: Vec<Blob>,
}

impl Kept {
    pub(crate) fn of(message: &Message) -> Self {
        Self { grid: message.grid.iter().map(|value| *value as f32).collect(), blobs: message.blobs.clone() }
    }

    pub(crate) fn message(&self) -> Message {
        Message { grid: self.grid.iter().map(|value| f64::from(*value)).collect(), blobs: self.blobs.clone() }
    }
}
