//! Gauss–Legendre nodes and weights on [−1, 1].

use std::f64::consts::PI;

/// Nodes (descending) and weights of the `n`-point rule, exact for polynomials of degree `2n − 1`.
///
/// ```
/// let (nodes, weights) = locdiff_shdd::sphere::gauss_legendre(5);
/// let integral: f64 = nodes.iter().zip(&weights).map(|(x, w)| w * x.powi(8)).sum();
/// assert!((integral - 2.0 / 9.0).abs() < 1e-15);
/// ```
pub fn gauss_legendre(n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut nodes = vec![0.0; n];
    let mut weights = vec![0.0; n];
    for i in 0..n.div_ceil(2) {
        // Tricomi's start, then Newton; the last derivative gives the weight.
        let mut x = (PI * (i as f64 + 0.75) / (n as f64 + 0.5)).cos();
        if 2 * i + 1 == n {
            x = 0.0;
        }
        let mut derivative = 1.0;
        for _ in 0..16 {
            let (value, d) = legendre_and_derivative(n, x);
            derivative = d;
            let step = value / d;
            x -= step;
            if step.abs() <= 2.0 * f64::EPSILON * x.abs() {
                break;
            }
        }
        let weight = 2.0 / ((1.0 - x * x) * derivative * derivative);
        (nodes[i], nodes[n - 1 - i]) = (x, -x);
        (weights[i], weights[n - 1 - i]) = (weight, weight);
    }
    (nodes, weights)
}

/// Legendre polynomial P_n and its derivative at |x| < 1.
fn legendre_and_derivative(n: usize, x: f64) -> (f64, f64) {
    let (mut before, mut now) = (1.0, x);
    for k in 2..=n {
        let k = k as f64;
        (before, now) = (now, ((2.0 * k - 1.0) * x * now - (k - 1.0) * before) / k);
    }
    if n == 0 {
        return (1.0, 0.0);
    }
    (now, n as f64 * (x * now - before) / (x * x - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrates_polynomials_exactly() {
        for n in [1usize, 2, 3, 8, 48, 97, 512] {
            let (nodes, weights) = gauss_legendre(n);
            for power in [0, 2, 6, 2 * n - 2] {
                if power > 2 * n - 1 {
                    continue;
                }
                let sum: f64 = nodes.iter().zip(&weights).map(|(x, w)| w * x.powi(power as i32)).sum();
                let exact = 2.0 / (power as f64 + 1.0);
                assert!((sum - exact).abs() < 1e-13, "n={n} power={power}: {sum} {exact}");
            }
            assert!(nodes.windows(2).all(|w| w[0] > w[1]));
        }
    }
}
