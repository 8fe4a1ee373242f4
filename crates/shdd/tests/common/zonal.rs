//! Exact constants of a clean code's density, which is zonal: they depend on L alone.
//!
//! By Funk–Hecke `E_p[Y_lm] = λ_l Y_lm(x0)` with `λ_l = E_p[P_l(cos γ)]`, a one-dimensional integral.

use locdiff_shdd::sphere::{Degree, gauss_legendre};
use std::f64::consts::{PI, TAU};

/// λ_l, log Z and the negative entropy of a clean code's density.
pub(crate) struct Zonal {
    /// `λ_0…λ_L`.
    pub(crate) lambda: Vec<f64>,
    /// log Z_p.
    pub(crate) log_z: f64,
    /// −H(p) in nats, per steradian.
    pub(crate) negative_entropy: f64,
}

impl Zonal {
    /// By composite Gauss–Legendre quadrature over the angle, fine near the peak.
    pub(crate) fn new(degree: Degree) -> Self {
        let lmax = degree.get();
        let (x, w) = gauss_legendre(16);
        let sigma = 1.0 / degree.curvature().sqrt();
        let near = (14.0 * sigma).min(PI);
        let panels = |from: f64, to: f64, width: f64| {
            let count = ((to - from) / width).ceil().max(0.0) as usize;
            (0..count).map(move |k| (from + (to - from) * k as f64 / count as f64, (to - from) / count as f64))
        };
        let top = degree.peak();
        let (mut z, mut mean) = (0.0, 0.0);
        let mut sums = vec![0.0; lmax + 1];
        let mut legendre = vec![0.0; lmax + 1];
        for (start, width) in panels(0.0, near, sigma).chain(panels(near, PI, 1.0 / (lmax as f64 + 1.0))) {
            for (x, w) in x.iter().zip(&w) {
                let angle: f64 = start + 0.5 * (1.0 + x) * width;
                legendre_at(angle.cos(), &mut legendre);
                let field: f64 =
                    legendre.iter().enumerate().map(|(l, p)| (2 * l + 1) as f64 * p).sum::<f64>() / (2.0 * TAU);
                let mass = 0.5 * w * width * TAU * angle.sin() * (field - top).exp();
                z += mass;
                mean += mass * field;
                sums.iter_mut().zip(&legendre).for_each(|(s, p)| *s += mass * p);
            }
        }
        let log_z = top + z.ln();
        Self { lambda: sums.iter().map(|s| s / z).collect(), log_z, negative_entropy: mean / z - log_z }
    }
}

/// P_0…P_L at t.
fn legendre_at(t: f64, out: &mut [f64]) {
    out[0] = 1.0;
    out[1] = t;
    for l in 2..out.len() {
        let l_f = l as f64;
        out[l] = ((2.0 * l_f - 1.0) * t * out[l - 1] - (l_f - 1.0) * out[l - 2]) / l_f;
    }
}

#[test]
fn constants_match_the_method_page() {
    for (l, log_z, lambda, minus_entropy) in [(23, 38.896, 0.958, 5.925), (47, 173.621, 0.989, 8.722)] {
        let zonal = Zonal::new(Degree::new(l).unwrap());
        assert!((zonal.log_z - log_z).abs() < 6e-4, "{}", zonal.log_z);
        assert!((zonal.lambda[l] - lambda).abs() < 6e-4, "{}", zonal.lambda[l]);
        assert!((zonal.negative_entropy - minus_entropy).abs() < 6e-4, "{}", zonal.negative_entropy);
        assert!((zonal.lambda[0] - 1.0).abs() < 1e-14);
    }
}
