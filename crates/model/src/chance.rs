//! Random numbers on the host that are a function of their place alone.

use locdiff_shdd::sphere::UnitVec;

/// A 64-bit hash of several numbers (SplitMix64 steps): equal input, equal output, everywhere.
pub fn hash(words: &[u64]) -> u64 {
    words.iter().fold(0x9E37_79B9_7F4A_7C15, |state, word| {
        let mut z = (state ^ word).wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    })
}

/// A number in [0, 1).
pub fn uniform(words: &[u64]) -> f64 {
    (hash(words) >> 11) as f64 / (1u64 << 53) as f64
}

/// A whole number below `bound`, which must be above 0.
pub fn below(words: &[u64], bound: usize) -> usize {
    ((u128::from(hash(words)) * bound as u128) >> 64) as usize
}

/// A point drawn uniformly on the sphere.
pub fn point(words: [u64; 3]) -> UnitVec {
    let [a, b, c] = words;
    let z = 2.0 * uniform(&[a, b, c, 1]) - 1.0;
    let s = (1.0 - z * z).max(0.0).sqrt();
    let (sin, cos) = (std::f64::consts::TAU * uniform(&[a, b, c, 2])).sin_cos();
    UnitVec::new(s * cos, s * sin, z).unwrap_or(UnitVec::NORTH)
}

/// Two standard normal numbers (Box–Muller: exactly two uniform numbers make them, each a function of its place; the
/// rejection methods of `rand_distr` would change the points that every model was trained with).
pub fn normals(words: [u64; 3]) -> (f64, f64) {
    let [a, b, c] = words;
    let radius = (-2.0 * (1.0 - uniform(&[a, b, c, 3])).ln()).sqrt();
    let (sin, cos) = (std::f64::consts::TAU * uniform(&[a, b, c, 4])).sin_cos();
    (radius * cos, radius * sin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_moments() {
        assert_eq!(hash(&[1, 2]), hash(&[1, 2]));
        assert_ne!(hash(&[1, 2]), hash(&[2, 1]));
        let n = 20_000;
        let (mut mean, mut square, mut z) = (0.0, 0.0, 0.0);
        for k in 0..n {
            let (a, b) = normals([5, 6, k]);
            mean += a + b;
            square += a * a + b * b;
            z += point([7, 8, k]).z();
            assert!(below(&[9, k], 7) < 7);
        }
        let n = n as f64;
        assert!((mean / n).abs() < 0.03 && (square / n - 2.0).abs() < 0.06 && (z / n).abs() < 0.02);
    }
}
