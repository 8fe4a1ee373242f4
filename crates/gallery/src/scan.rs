//! Scalar products of many rows with one query, with the widest instructions there are.

use pulp::{Simd, WithSimd};

/// Sums kept side by side: one AVX-512 register of f32.
const LANES: usize = 16;

/// `products[k]` = codes of row k (signed bytes) · query.
pub(crate) fn code_products(codes: &[u8], query: &[i16], products: &mut [i32]) {
    pulp::Arch::new().dispatch(CodeProducts { codes, query, products });
}

/// `a · b`.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    pulp::Arch::new().dispatch(Dot { a, b })
}

struct CodeProducts<'a> {
    codes: &'a [u8],
    query: &'a [i16],
    products: &'a mut [i32],
}

impl WithSimd for CodeProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for (row, product) in self.codes.chunks_exact(self.query.len()).zip(self.products) {
            let mut sum = 0_i32;
            for (code, query) in row.iter().zip(self.query) {
                // Never wraps (see `QuantisedQuery::MOST_NUMBERS`); a checked sum would not be vectorised.
                sum = sum.wrapping_add(i32::from(*code as i8).wrapping_mul(i32::from(*query)));
            }
            *product = sum;
        }
    }
}

struct Dot<'a> {
    a: &'a [f32],
    b: &'a [f32],
}

impl WithSimd for Dot<'_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> f32 {
        let mut sums = [0_f32; LANES];
        let (a, a_rest) = self.a.as_chunks::<LANES>();
        let (b, b_rest) = self.b.as_chunks::<LANES>();
        for (a, b) in a.iter().zip(b) {
            for k in 0..LANES {
                sums[k] += a[k] * b[k];
            }
        }
        let mut sum = sums.iter().sum();
        for (a, b) in a_rest.iter().zip(b_rest) {
            sum += a * b;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_right_at_every_length() {
        for length in [1, 7, 16, 31, 32, 100, 512] {
            let query: Vec<i16> = (0..length).map(|k| ((k * 977) % 4095 - 2047) as i16).collect();
            let codes: Vec<u8> = (0..3 * length).map(|k| ((k * 31) % 255 - 127) as i8 as u8).collect();
            let mut products = [0; 3];
            code_products(&codes, &query, &mut products);
            for (row, product) in codes.chunks_exact(query.len()).zip(products) {
                let exact: i64 =
                    row.iter().zip(&query).map(|(c, q)| i64::from(*c as i8) * i64::from(*q)).sum();
                assert_eq!(i64::from(product), exact);
            }
            let a: Vec<f32> = query.iter().map(|q| f32::from(*q) / 2047.0).collect();
            let exact: f64 = a.iter().map(|a| f64::from(*a).powi(2)).sum();
            assert!((f64::from(dot(&a, &a)) - exact).abs() < 1e-5 * exact);
        }
    }
}
