//! What mass a radius must hold to hold a share of the truths, by the hours to the nearest known place: soon after it nobody is in the far
//! tails that Gaussians have, a day later people are back more often than a mixture of them has it. Fitted to the traces that travel was
//! fitted to and chosen on (`lab/scripts/fit_radii.py`).

/// Hours to the nearest known place, and what is added to the levels ½ and 0.9 there.
const HOURS: [f64; 8] = [0.05, 0.5, 2.0, 5.0, 12.0, 40.0, 120.0, 400.0];
const HALF: [f64; 8] = [-0.006, 0.005, 0.017, 0.051, -0.041, -0.051, 0.056, 0.018];
const NINE: [f64; 8] = [-0.090, -0.081, -0.032, -0.007, 0.0, 0.0, 0.0, 0.0];

/// What is added to the levels ½ and 0.9 in an album without any tag, if all photos are of another kind than the model was trained for.
/// Without it, radii of Im2GPS3k held 52.1 and 89.4 % (`PART=validation SEEDS="3 4 5" lab/scripts/album_figures.sh SHARED OUT strange`),
/// those of 51 real albums (1,100 photos, docs/results.md) 62 and 92 %. The least that keeps Im2GPS3k above 40 and 83 % is chosen.
const STRANGE: (f64, f64) = (-0.09, -0.06);

/// What is added to levels.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Levels {
    half: f64,
    nine: f64,
}

impl Levels {
    /// So many hours from the nearest known place.
    pub(crate) fn of(hours: f64) -> Self {
        Self { half: between(&HALF, hours), nine: between(&NINE, hours) }
    }

    /// Without any known place, by the mean probability that the album's photos are of another kind than the model was trained for.
    pub(crate) fn untagged(ood: f64) -> Self {
        Self { half: ood * STRANGE.0, nine: ood * STRANGE.1 }
    }

    /// Where one half is to be read at another share.
    pub(crate) fn shifted(self, shift: f64) -> Self {
        Self { half: self.level(0.5 + shift) - 0.5, ..self }
    }

    /// The mass that a radius which is to hold a share must hold.
    pub(crate) fn level(self, share: f64) -> f64 {
        let Self { half, nine } = self;
        share
            + match share {
                share if share < 0.5 => half * share / 0.5,
                share if share < 0.9 => half + (nine - half) * (share - 0.5) / 0.4,
                share => nine * (1.0 - share) / 0.1,
            }
    }

    /// The share that a radius with such a mass holds.
    pub(crate) fn share(self, mass: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            if self.level(middle) < mass { low = middle } else { high = middle }
        }
        high
    }
}

/// Linear in the logarithm of the hours, the same beyond the first and the last.
fn between(values: &[f64; 8], hours: f64) -> f64 {
    let next = HOURS.partition_point(|one| *one < hours);
    if next == 0 || next == HOURS.len() {
        return values[next.min(HOURS.len() - 1)];
    }
    let part = (hours / HOURS[next - 1]).ln() / (HOURS[next] / HOURS[next - 1]).ln();
    values[next - 1] + part * (values[next] - values[next - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels rise with the share from nothing to all, whatever is added, and shares are read back.
    #[test]
    fn levels_rise() {
        for (hours, shift) in
            [0.0, 0.3, 3.0, 20.0, 100.0, 1e5].into_iter().flat_map(|h| [-0.2, 0.0, 0.2].map(|s| (h, s)))
        {
            let levels = Levels::of(hours).shifted(shift);
            assert!((levels.level(0.5) - Levels::of(hours).level(0.5 + shift)).abs() < 1e-12);
            let all: Vec<f64> = (0..=20).map(|k| levels.level(f64::from(k) / 20.0)).collect();
            assert!(all.windows(2).all(|two| two[0] < two[1]), "{hours} {all:?}");
            assert!(all[0].abs() < 1e-12 && (all[20] - 1.0).abs() < 1e-12);
            assert!((levels.share(levels.level(0.7)) - 0.7).abs() < 1e-9);
        }
        let [usual, strange] = [0.0, 1.0].map(Levels::untagged);
        assert_eq!((usual.level(0.5), usual.level(0.9)), (0.5, 0.9));
        assert!((strange.level(0.5) - 0.41).abs() < 1e-12 && (strange.level(0.9) - 0.84).abs() < 1e-12);
    }
}
