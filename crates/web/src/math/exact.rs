//! Functions of angles, rounded correctly: computed as sums of two doubles. glibc's are within 0.55 of the last place, and so the same
//! but for about one argument in a thousand.

use std::sync::OnceLock;

/// A number as the sum of two doubles, the second below the last place of the first.
#[derive(Clone, Copy)]
struct Double(f64, f64);

/// `a + b` without loss.
fn sum(a: f64, b: f64) -> Double {
    let s = a + b;
    let t = s - a;
    Double(s, (a - (s - t)) + (b - t))
}

/// `a·b` without loss.
fn product(a: f64, b: f64) -> Double {
    let p = a * b;
    Double(p, a.mul_add(b, -p))
}

impl Double {
    fn add(self, other: Self) -> Self {
        let (high, low) = (sum(self.0, other.0), sum(self.1, other.1));
        let high = sum(high.0, high.1 + low.0);
        sum(high.0, high.1 + low.1)
    }

    fn times(self, other: Self) -> Self {
        let p = product(self.0, other.0);
        sum(p.0, p.1 + self.0.mul_add(other.1, self.1 * other.0))
    }

    fn scaled(self, by: f64) -> Self {
        let p = product(self.0, by);
        sum(p.0, self.1.mul_add(by, p.1))
    }

    fn over(self, by: Self) -> Self {
        let first = self.0 / by.0;
        let rest = self.add(by.scaled(-first));
        let second = rest.0 / by.0;
        let rest = rest.add(by.scaled(-second));
        sum(first, second).add(Self(rest.0 / by.0, 0.0))
    }

    fn negated(self) -> Self {
        Self(-self.0, -self.1)
    }

    fn root(self) -> Self {
        let first = self.0.sqrt();
        let rest = self.add(product(first, -first));
        sum(first, rest.0 / (2.0 * first))
    }

    fn rounded(self) -> f64 {
        self.0 + self.1
    }
}

/// π/2 in three doubles.
const HALF_PI: [f64; 3] = [
    f64::from_bits(0x3ff9_21fb_5444_2d18),
    f64::from_bits(0x3c91_a626_3314_5c07),
    f64::from_bits(0xb91f_1976_b7ed_8fbc),
];
/// From here on multiples of π/2 are not exact any more.
const LARGEST: f64 = 1e6;

/// Terms of the series of sine and cosine.
const TERMS: usize = 15;

/// `(−1)^k / (2k+1)!` and `(−1)^k / (2k)!`.
fn series() -> &'static [[Double; TERMS]; 2] {
    static SERIES: OnceLock<[[Double; TERMS]; 2]> = OnceLock::new();
    SERIES.get_or_init(|| {
        [1.0, 0.0].map(|odd| {
            let mut terms = [Double(1.0, 0.0); TERMS];
            for k in 1..TERMS {
                let n = 2.0 * k as f64 + odd;
                terms[k] = terms[k - 1].over(Double(-n * (n - 1.0), 0.0));
            }
            terms
        })
    })
}

/// An angle in quarter turns and a rest of up to an eighth of a turn; `None` for what is too large.
struct Reduced {
    rest: Double,
    square: Double,
    quarter: i64,
}

impl Reduced {
    fn new(x: f64) -> Option<Self> {
        if x.is_nan() || x.abs() > LARGEST {
            return None;
        }
        let turns = (x * std::f64::consts::FRAC_2_PI).round_ties_even();
        let rest = if turns == 0.0 {
            Double(x, 0.0)
        } else {
            let [a, b, c] = HALF_PI.map(|part| product(turns, -part));
            let first = sum(x, a.0);
            Double(first.0, 0.0).add(Double(first.1, 0.0)).add(Double(a.1, 0.0)).add(b).add(c)
        };
        Some(Self { rest, square: rest.times(rest), quarter: turns as i64 })
    }

    /// The sine of the angle, `quarters` further on.
    fn sine(&self, quarters: i64) -> Double {
        let quarter = self.quarter + quarters;
        let is_cosine = quarter & 1 == 1;
        let terms = &series()[usize::from(is_cosine)];
        let first = terms[TERMS - 1];
        let value = terms[..TERMS - 1].iter().rev().fold(first, |value, term| value.times(self.square).add(*term));
        let value = if is_cosine { value } else { value.times(self.rest) };
        if quarter & 2 == 2 { value.negated() } else { value }
    }
}

/// Sine and cosine; `None` for what is too large.
fn sin_cos(x: f64) -> Option<(Double, Double)> {
    Reduced::new(x).map(|angle| (angle.sine(0), angle.sine(1)))
}

pub(super) fn sin(x: f64) -> f64 {
    // The sign of 0, and what is its own sine.
    if x.abs() < 1e-9 {
        return libm::sin(x);
    }
    Reduced::new(x).map_or_else(|| libm::sin(x), |angle| angle.sine(0).rounded())
}

pub(super) fn cos(x: f64) -> f64 {
    Reduced::new(x).map_or_else(|| libm::cos(x), |angle| angle.sine(1).rounded())
}

pub(super) fn tan(x: f64) -> f64 {
    if x.abs() < 1e-9 {
        return libm::tan(x);
    }
    sin_cos(x).map_or_else(|| libm::tan(x), |(sine, cosine)| sine.over(cosine).rounded())
}

/// The angle of a direction, from one that is nearly it.
pub(super) fn atan2(y: f64, x: f64) -> f64 {
    let near = libm::atan2(y, x);
    let is_plain = |v: f64| v.abs() > 1e-100 && v.abs() < 1e100;
    if !is_plain(x) || !is_plain(y) || near.abs() < 1e-9 {
        return near;
    }
    let Some((sine, cosine)) = sin_cos(near) else { return near };
    let across = cosine.scaled(y).add(sine.scaled(-x));
    let along = cosine.scaled(x).add(sine.scaled(y));
    near + across.0 / along.0
}

pub(super) fn atan(x: f64) -> f64 {
    atan2(x, 1.0)
}

pub(super) fn asin(x: f64) -> f64 {
    let near = libm::asin(x);
    if !(1e-9..1.0).contains(&x.abs()) {
        return near;
    }
    let Some((sine, cosine)) = sin_cos(near) else { return near };
    near + Double(x, 0.0).add(sine.negated()).0 / cosine.0
}

pub(super) fn acos(x: f64) -> f64 {
    let near = libm::acos(x);
    if !(x.abs() < 1.0) {
        return near;
    }
    let Some((sine, cosine)) = sin_cos(near) else { return near };
    near + cosine.add(Double(-x, 0.0)).0 / sine.0
}

/// √(x² + y²), by Borges' corrected algorithm, as glibc has it.
pub(super) fn hypot(x: f64, y: f64) -> f64 {
    let (long, short) = if x.abs() > y.abs() { (x.abs(), y.abs()) } else { (y.abs(), x.abs()) };
    let is_plain = long < 1e150 && short > 1e-150 && long < short * 1e15;
    if !is_plain {
        return libm::hypot(x, y);
    }
    let h = (long * long + short * short).sqrt();
    let (first, second) = if h <= 2.0 * short {
        let over = h - short;
        (long * (2.0 * over - long), (over - 2.0 * (long - short)) * over)
    } else {
        let over = h - long;
        (2.0 * over * (long - 2.0 * short), (4.0 * over - short) * short + over * over)
    };
    h - (first + second) / (2.0 * h)
}

/// xʸ: for y = −½ rounded correctly, which is the only power that answers need.
pub(super) fn pow(x: f64, y: f64) -> f64 {
    if y == -0.5 && x > 1e-100 && x < 1e100 {
        return Double(1.0, 0.0).over(Double(x, 0.0).root()).rounded();
    }
    libm::pow(x, y)
}
