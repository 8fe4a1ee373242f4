//! Scalar products of many rows with one query, with the widest instructions there are.

use pulp::{Simd, WithSimd};

/// Sums kept side by side: one AVX-512 register of f32.
const LANES: usize = 16;

/// `products[k]` = codes of row k (signed bytes) · query.
pub(crate) fn code_products(codes: &[u8], query: &[i16], products: &mut [i32]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V4::try_new() {
        return simd.vectorize(x86::CodeProducts { simd, codes, query, products });
    } else if let Some(simd) = pulp::x86::V3::try_new() {
        return simd.vectorize(x86::CodeProducts { simd, codes, query, products });
    }
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
            *product = plain_product(row, self.query);
        }
    }
}

/// Never wraps (see `QuantisedQuery::MOST_NUMBERS`); a checked sum would not be vectorised.
#[inline(always)]
fn plain_product(codes: &[u8], query: &[i16]) -> i32 {
    let products = codes.iter().zip(query).map(|(code, query)| i32::from(*code as i8) * i32::from(*query));
    products.fold(0, i32::wrapping_add)
}

/// Thirty-two bytes at a time: widened to 16 bits, multiplied and added in pairs.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::plain_product;
    use pulp::x86::{V3, V4};
    use std::arch::x86_64::{__m128i, __m256i, __m512i};

    /// Sums of products in a register or two.
    pub(super) trait PairSums: Copy {
        type Sums: Copy;
        fn zero(self) -> Self::Sums;
        fn add(self, sums: Self::Sums, codes: &[u8; 32], query: &[i16; 32]) -> Self::Sums;
        fn total(self, sums: Self::Sums) -> i32;
    }

    impl PairSums for V3 {
        type Sums = [__m256i; 2];

        #[inline(always)]
        fn zero(self) -> Self::Sums {
            [self.avx._mm256_setzero_si256(); 2]
        }

        #[inline(always)]
        fn add(self, sums: Self::Sums, codes: &[u8; 32], query: &[i16; 32]) -> Self::Sums {
            let codes: [__m128i; 2] = pulp::cast(*codes);
            let query: [__m256i; 2] = pulp::cast(*query);
            let add = |k: usize| {
                let pairs = self.avx2._mm256_madd_epi16(self.avx2._mm256_cvtepi8_epi16(codes[k]), query[k]);
                self.avx2._mm256_add_epi32(sums[k], pairs)
            };
            [add(0), add(1)]
        }

        #[inline(always)]
        fn total(self, sums: Self::Sums) -> i32 {
            let sums: [i32; 8] = pulp::cast(self.avx2._mm256_add_epi32(sums[0], sums[1]));
            sums.into_iter().fold(0, i32::wrapping_add)
        }
    }

    impl PairSums for V4 {
        type Sums = __m512i;

        #[inline(always)]
        fn zero(self) -> Self::Sums {
            self.avx512f._mm512_setzero_si512()
        }

        #[inline(always)]
        fn add(self, sums: Self::Sums, codes: &[u8; 32], query: &[i16; 32]) -> Self::Sums {
            let codes: __m256i = pulp::cast(*codes);
            let query: __m512i = pulp::cast(*query);
            let pairs = self.avx512bw._mm512_madd_epi16(self.avx512bw._mm512_cvtepi8_epi16(codes), query);
            self.avx512f._mm512_add_epi32(sums, pairs)
        }

        #[inline(always)]
        fn total(self, sums: Self::Sums) -> i32 {
            self.avx512f._mm512_reduce_add_epi32(sums)
        }
    }

    pub(super) struct CodeProducts<'a, S> {
        pub(super) simd: S,
        pub(super) codes: &'a [u8],
        pub(super) query: &'a [i16],
        pub(super) products: &'a mut [i32],
    }

    impl<S: PairSums> pulp::NullaryFnOnce for CodeProducts<'_, S> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            let Self { simd, codes, query, products } = self;
            let rows = codes.chunks_exact(query.len());
            let (query, query_rest) = query.as_chunks();
            for (row, product) in rows.zip(products) {
                let (codes, codes_rest) = row.as_chunks();
                let mut pairs = simd.zero();
                for (codes, query) in codes.iter().zip(query) {
                    pairs = simd.add(pairs, codes, query);
                }
                *product = simd.total(pairs).wrapping_add(plain_product(codes_rest, query_rest));
            }
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
            let mut plain = [0; 3];
            pulp::Arch::new().dispatch(CodeProducts { codes: &codes, query: &query, products: &mut plain });
            assert_eq!(products, plain);
            #[cfg(target_arch = "x86_64")]
            if let Some(simd) = pulp::x86::V3::try_new() {
                let mut narrow = [0; 3];
                simd.vectorize(x86::CodeProducts {
                    simd,
                    codes: &codes,
                    query: &query,
                    products: &mut narrow,
                });
                assert_eq!(products, narrow);
            }
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
