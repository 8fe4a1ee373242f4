//! Sums over equal-area pixels.

/// log Σ exp(value)·area: the log of an integral over equal-area pixels, given logs of the integrand there.
pub fn log_integral(values: &[f64], area: f64) -> f64 {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + (values.iter().map(|value| (value - top).exp()).sum::<f64>() * area).ln()
}

/// How much of a pixel at a distance lies within a radius, its mass taken as spread evenly over `reach_rad` towards the
/// centre and away from it: without this, what is smaller than a pixel would be all or nothing.
pub(crate) fn share_within(distance_rad: f64, reach_rad: f64, radius_rad: f64) -> f64 {
    let (from, to) = ((distance_rad - reach_rad).max(0.0), distance_rad + reach_rad);
    ((radius_rad - from) / (to - from)).clamp(0.0, 1.0)
}

/// Each bin's mass spread evenly over `reach` bins on both sides, as far as there are any.
pub(crate) fn smooth(held: &[f64], reach: f64) -> Vec<f64> {
    let reach = reach.round() as usize;
    let mut difference = vec![0.0; held.len() + 1];
    for (bin, mass) in held.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
        let (from, to) = (bin.saturating_sub(reach), (bin + reach + 1).min(held.len()));
        let each = mass / (to - from) as f64;
        difference[from] += each;
        difference[to] -= each;
    }
    let mut sum = 0.0;
    difference[..held.len()]
        .iter()
        .map(|step| {
            sum += step;
            sum.max(0.0)
        })
        .collect()
}
