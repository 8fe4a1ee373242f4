//! Vectors of length 1 in one byte per number, with a bound on the error: a first pass that never loses a neighbour.

/// A row's scale and the length of what its bytes leave out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RowBound {
    pub(crate) scale: f32,
    pub(crate) error: f32,
}

impl RowBound {
    pub(crate) const BYTES: usize = 8;

    pub(crate) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes.as_chunks_mut().0.copy_from_slice(&[self.scale.to_le_bytes(), self.error.to_le_bytes()]);
        bytes
    }

    pub(crate) fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let [a, b, c, d, e, f, g, h] = bytes;
        Self { scale: f32::from_le_bytes([a, b, c, d]), error: f32::from_le_bytes([e, f, g, h]) }
    }
}

/// Writes `vector` as bytes: vector ≈ scale · codes, the difference no longer than the error returned.
pub(crate) fn quantise_row(vector: &[f32], codes: &mut [i8]) -> RowBound {
    let largest = vector.iter().fold(0_f32, |most, value| most.max(value.abs()));
    if largest == 0.0 {
        codes.fill(0);
        return RowBound { scale: 0.0, error: 0.0 };
    }
    let scale = largest / 127.0;
    let mut square = 0.0_f64;
    for (code, value) in codes.iter_mut().zip(vector) {
        let nearest = (value / scale).round().clamp(-127.0, 127.0);
        *code = nearest as i8;
        square += (f64::from(*value) - f64::from(nearest) * f64::from(scale)).powi(2);
    }
    // Rounded up: the bound must hold in f32 too.
    RowBound { scale, error: (square.sqrt() * (1.0 + 1e-6)) as f32 * (1.0 + 1e-6) }
}

/// A query of length 1 in whole numbers.
#[derive(Debug)]
pub(crate) struct QuantisedQuery {
    pub(crate) codes: Vec<i16>,
    scale: f32,
    error: f32,
}

impl QuantisedQuery {
    /// Numbers up to this: with rows up to 127, sums over 8,000 products fit 32 bits.
    const LARGEST: f32 = 2047.0;
    /// So that no sum overflows.
    pub(crate) const MOST_NUMBERS: usize = 8192;

    pub(crate) fn new(query: &[f32]) -> Self {
        let largest = query.iter().fold(0_f32, |most, value| most.max(value.abs()));
        let scale = if largest > 0.0 { largest / Self::LARGEST } else { 1.0 };
        let codes: Vec<i16> = query.iter().map(|value| (value / scale).round() as i16).collect();
        let off = |(value, code): (&f32, &i16)| (f64::from(*value) - f64::from(*code) * f64::from(scale)).powi(2);
        let square: f64 = query.iter().zip(&codes).map(off).sum();
        Self { codes, scale, error: (square.sqrt() * (1.0 + 1e-6)) as f32 * (1.0 + 1e-6) }
    }

    /// The scalar product of query and row from the product of their codes, and how far it may be off.
    ///
    /// q = a·u + e and x = s·c + r give q·x = a·s·(u·c) + e·(s·c) + q·r, and both remainders are at most the product of two
    /// lengths; |q| = 1 and |s·c| ≤ 1 + |r|.
    #[inline(always)]
    pub(crate) fn score(&self, product: i32, bound: RowBound) -> (f32, f32) {
        const ROUNDING: f32 = 4e-7;
        let score = product as f32 * (self.scale * bound.scale);
        (score, bound.error + self.error * (1.0 + bound.error) + ROUNDING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn the_bound_always_holds_and_is_small() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        let mut unit = |dimension: usize, spiky: bool| {
            let power = if spiky { 7 } else { 1 };
            let mut values: Vec<f32> = (0..dimension).map(|_| rng.random_range(-1.0_f32..1.0).powi(power)).collect();
            let length = values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt() as f32;
            values.iter_mut().for_each(|value| *value /= length);
            values
        };
        let mut widest = 0_f32;
        for round in 0..2000 {
            let dimension = [1, 3, 64, 512][round % 4];
            let (q, x) = (unit(dimension, round % 3 == 0), unit(dimension, round % 2 == 0));
            let mut codes = vec![0; dimension];
            let bound = quantise_row(&x, &mut codes);
            let query = QuantisedQuery::new(&q);
            let product = codes.iter().zip(&query.codes).map(|(c, q)| i32::from(*c) * i32::from(*q)).sum();
            let (score, slack) = query.score(product, bound);
            let exact: f64 = q.iter().zip(&x).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            assert!((f64::from(score) - exact).abs() <= f64::from(slack), "{score} {exact} {slack}");
            widest = widest.max(slack);
        }
        assert!(widest < 0.04, "{widest}");
        let mut codes = [1; 3];
        assert_eq!(quantise_row(&[0.0; 3], &mut codes), RowBound { scale: 0.0, error: 0.0 });
        assert_eq!(codes, [0; 3]);
    }
}
