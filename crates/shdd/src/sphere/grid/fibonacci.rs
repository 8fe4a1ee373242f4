//! The golden-angle spiral.

use crate::sphere::UnitVec;
use std::f64::consts::PI;

/// `n` points, from north to south.
pub(super) fn points(n: usize) -> Vec<UnitVec> {
    let golden_angle = PI * (1.0 + 5f64.sqrt());
    (0..n)
        .map(|i| {
            let k = i as f64 + 0.5;
            UnitVec::from_z_lon(1.0 - 2.0 * k / n as f64, (golden_angle * k) % (2.0 * PI))
        })
        .collect()
}
