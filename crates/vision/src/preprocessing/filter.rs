//! Pillow's filters, and the weights that they give to the pixels of a row or a column.

use std::ops::Range;

/// The filters encoders were trained with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ResizeFilter {
    /// Keys' cubic with a = −½: Pillow's `BICUBIC`.
    Bicubic,
    /// The triangle: Pillow's `BILINEAR`.
    Bilinear,
}

impl ResizeFilter {
    /// Half the width of the filter in source pixels, when enlarging.
    fn support(self) -> f64 {
        if self == Self::Bicubic { 2.0 } else { 1.0 }
    }

    fn weight(self, x: f64) -> f64 {
        const A: f64 = -0.5;
        let x = x.abs();
        match self {
            Self::Bicubic if x < 1.0 => ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0,
            Self::Bicubic if x < 2.0 => (((x - 5.0) * x + 8.0) * x - 4.0) * A,
            Self::Bilinear if x < 1.0 => 1.0 - x,
            _ => 0.0,
        }
    }
}

/// Fraction bits of a weight: 8 bits of pixel and 2 of overshoot fit beside them in an i32.
pub(super) const FRACTION_BITS: u32 = 32 - 8 - 2;

/// The source pixels that make one pixel, and their weights.
pub(super) struct Taps {
    pub(super) first: usize,
    pub(super) weights: Vec<i32>,
}

/// For every pixel of `window`, a part of the `to` pixels made of `from`.
pub(super) fn taps(from: usize, to: usize, window: Range<usize>, filter: ResizeFilter) -> Vec<Taps> {
    let scale = from as f64 / to as f64;
    let stretch = scale.max(1.0);
    let support = filter.support() * stretch;
    let one = |target: usize| {
        let centre = (target as f64 + 0.5) * scale;
        let first = (centre - support + 0.5).max(0.0) as usize;
        let end = ((centre + support + 0.5) as usize).min(from);
        let weight = |source: usize| filter.weight((source as f64 - centre + 0.5) * (1.0 / stretch));
        let weights: Vec<f64> = (first..end).map(weight).collect();
        let sum: f64 = weights.iter().sum();
        let fixed = |weight: f64| {
            let scaled = weight * (1.0 / sum) * f64::from(1 << FRACTION_BITS);
            (scaled + 0.5_f64.copysign(scaled)) as i32
        };
        Taps { first, weights: weights.into_iter().map(fixed).collect() }
    };
    window.map(one).collect()
}
