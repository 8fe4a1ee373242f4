//! The fully normalised Legendre recurrence, in two memory layouts.
//!
//! Every harmonic is a polynomial part times a plane part, `Y_lm = Q_lm(z)·C_m(x, y)` with `C_m = Re (x+iy)^m`
//! (m ≥ 0) or `Im (x+iy)^|m|` (m < 0). For fixed m,
//! `Q_l = a·z·Q_{l−1} + c·Q_{l−2}`, from `Q_mm = diagonal_m`: exact to rounding at every degree, unlike the paper's
//! closed form, whose power sum cancels away all digits near l = 47. There is no singular point at the poles.

use crate::sphere::{aligned::Aligned, simd::vectors};
use pulp::Simd;
use std::f64::consts::PI;

/// Plane parts below this are zero: their product with any Q_lm is far under rounding, and denormal arithmetic is slow.
pub(crate) const FLUSH: f64 = 1e-280;

/// Rows are padded to this many orders, a multiple of every register's lanes.
const CHUNK: usize = 8;

/// `a` and `c` of the recurrence at degree l, order m < l.
fn step(l: usize, m: usize) -> (f64, f64) {
    let (l, m) = (l as f64, m as f64);
    let a = ((4.0 * l * l - 1.0) / (l * l - m * m)).sqrt();
    let before = l - 1.0;
    let b = if before > m { ((before * before - m * m) / (4.0 * before * before - 1.0)).sqrt() } else { 0.0 };
    (a, -a * b)
}

/// `Q_mm`, with the √2 of the real harmonics for m > 0.
fn diagonals(lmax: usize) -> Vec<f64> {
    let mut value = (0.25 / PI).sqrt();
    let ratio = |m: f64| ((2.0 * m + 1.0) / (2.0 * m)).sqrt() * if m == 1.0 { 2f64.sqrt() } else { 1.0 };
    let mut next = |m: usize| {
        value *= if m > 0 { ratio(m as f64) } else { 1.0 };
        value
    };
    (0..=lmax).map(&mut next).collect()
}

/// Returns the recurrence as plain numbers, for other kernels: `[a, c]` at `l·(L+1) + m` (zero if m ≥ l), and `Q_mm`.
pub(crate) fn plain(lmax: usize) -> (Vec<[f64; 2]>, Vec<f64>) {
    let at = |l: usize, m: usize| if m < l { step(l, m).into() } else { [0.0; 2] };
    ((0..=lmax).flat_map(|l| (0..=lmax).map(move |m| at(l, m))).collect(), diagonals(lmax))
}

/// Row layout: for each degree l, the orders m = 0…l side by side, padded with zeros to whole chunks.
#[derive(Debug)]
pub(crate) struct RowTable {
    pub(crate) lmax: usize,
    /// `Q_ll` at its lane of row l's last chunk, zeros in the other lanes.
    diagonal: Vec<[f64; CHUNK]>,
    /// Coefficients `a` of all rows, each row padded with zeros to whole chunks.
    pub(crate) a: Aligned,
    /// Coefficients `c`, likewise.
    pub(crate) c: Aligned,
    /// Where row l starts in `a` and `c`.
    pub(crate) row_start: Vec<usize>,
}

impl RowTable {
    pub(crate) fn new(lmax: usize) -> Self {
        let (mut a, mut c, mut row_start) = (Vec::new(), Vec::new(), Vec::new());
        for l in 0..=lmax {
            row_start.push(a.len());
            for m in 0..Self::width(l) {
                let (a_lm, c_lm) = if m < l { step(l, m) } else { (0.0, 0.0) };
                a.push(a_lm);
                c.push(c_lm);
            }
        }
        let mut diagonal = vec![[0.0; CHUNK]; lmax + 1];
        for (l, value) in diagonals(lmax).into_iter().enumerate() {
            diagonal[l][l % CHUNK] = value;
        }
        Self { lmax, diagonal, a: Aligned::from_slice(&a), c: Aligned::from_slice(&c), row_start }
    }

    /// The term that register `k` of row l gains in addition to the recurrence: the diagonal element, in the row's last chunk only.
    #[inline(always)]
    pub(crate) fn diagonal<S: Simd>(&self, simd: S, l: usize, k: usize) -> S::f64s {
        let first = l / CHUNK * (CHUNK / S::F64_LANES);
        if k >= first { vectors::<S>(&self.diagonal[l])[k - first] } else { simd.splat_f64s(0.0) }
    }

    /// `Q_ll`.
    #[inline(always)]
    pub(crate) fn diagonal_value(&self, l: usize) -> f64 {
        self.diagonal[l][l % CHUNK]
    }

    /// Length of row l with its padding.
    #[inline(always)]
    pub(crate) const fn width(l: usize) -> usize {
        (l + CHUNK) / CHUNK * CHUNK
    }
}

/// Order layout: for each order m, the degrees l = m+1…L in a row.
#[derive(Debug)]
pub(crate) struct OrderTable {
    pub(crate) lmax: usize,
    pub(crate) diagonal: Vec<f64>,
    pub(crate) steps: Vec<[f64; 2]>,
    /// First step of order m in `steps`; order m has `lmax − m` steps.
    pub(crate) order_start: Vec<usize>,
    /// `sine_limit[m]`: if sin θ is at most this, every order from m on is negligible.
    sine_limit: Vec<f64>,
}

impl OrderTable {
    /// `negligible`: the largest |Y_lm| that may be dropped.
    pub(crate) fn new(lmax: usize, negligible: f64) -> Self {
        let mut steps = Vec::with_capacity(lmax * (lmax + 1) / 2);
        let mut order_start = Vec::with_capacity(lmax + 1);
        let diagonal = diagonals(lmax);
        let mut sine_limit = Vec::with_capacity(lmax + 1);
        for m in 0..=lmax {
            order_start.push(steps.len());
            // Q_lm is a Gegenbauer polynomial: |Q_lm(z)| ≤ Q_lm(1), so |Y_lm| ≤ sᵐ·max_l Q_lm(1).
            let (mut before, mut now) = (0.0, diagonal[m]);
            let mut largest = now;
            for l in m + 1..=lmax {
                let (a, c) = step(l, m);
                steps.push([a, c]);
                (before, now) = (now, a * now + c * before);
                largest = largest.max(now);
            }
            sine_limit.push(if m == 0 { 0.0 } else { ((negligible.ln() - largest.ln()) / m as f64).exp() });
        }
        for m in (0..lmax).rev() {
            sine_limit[m] = sine_limit[m].min(sine_limit[m + 1]);
        }
        Self { lmax, diagonal, steps, order_start, sine_limit }
    }

    /// How many orders (0, 1, …) matter at sin θ = `sine`.
    pub(crate) fn orders(&self, sine: f64) -> usize {
        self.sine_limit.partition_point(|&limit| limit < sine).max(1)
    }
}
