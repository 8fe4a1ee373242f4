//! The decoder at the theoretical limit: the continuous maximum of the field.

use crate::{Codec, Coefficients, Mode, ShddError, search::SearchScratch};

/// At most this many peaks are refined.
const MOST_PEAKS: usize = 32;
/// Peaks at least this share of the highest (above the field's mean) compete: a lower one cannot hold more mass.
const COMPETE: f64 = 0.8;

/// The maximum of F; of several, the one with the largest mass. With a window, the maximum of F convolved with it.
pub(super) fn decode(
    codec: &Codec,
    e: &Coefficients,
    window_rad: Option<f64>,
    scratch: &mut SearchScratch,
) -> Result<Mode, ShddError> {
    let windowed = window_rad.map(|radius_rad| e.windowed(radius_rad));
    let e = windowed.as_ref().unwrap_or(e);
    codec.search.synthesize(e.as_slice(), scratch);
    let mean = e.as_slice()[0] / (4.0 * std::f64::consts::PI).sqrt();
    let modes = codec.search.modes(&codec.jets, e, scratch, MOST_PEAKS, |highest| mean + COMPETE * (highest - mean))?;
    let rank = |mode: &Mode| if window_rad.is_some() { mode.value } else { mode.log_mass(None) };
    let heaviest = modes.into_iter().max_by(|a, b| rank(a).total_cmp(&rank(b)));
    // A field without a maximum is constant: any point is as good as another.
    heaviest.ok_or(ShddError::ZeroVector)
}
