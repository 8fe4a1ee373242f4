//! Scalar products of many rows with some queries, with the widest instructions there are.

use pulp::{Simd, WithSimd};

/// Sums kept side by side: one AVX-512 register of f32.
const LANES: usize = 16;

/// `products[q·rows + k]` = codes of row k (signed bytes) · query q.
pub(crate) fn code_products(codes: &[u8], queries: &[&[i16]], products: &mut [i32]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V4::try_new() {
        return simd.vectorize(x86::CodeProducts { simd, codes, queries, products });
    } else if let Some(simd) = pulp::x86::V3::try_new() {
        return simd.vectorize(x86::CodeProducts { simd, codes, queries, products });
    }
    pulp::Arch::new().dispatch(CodeProducts { codes, queries, products });
}

/// `a · b`.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    pulp::Arch::new().dispatch(Dot { a, b })
}

struct CodeProducts<'a> {
    codes: &'a [u8],
    queries: &'a [&'a [i16]],
    products: &'a mut [i32],
}

impl WithSimd for CodeProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let rows = self.products.len() / self.queries.len().max(1);
        for (query, products) in self.queries.iter().zip(self.products.chunks_exact_mut(rows.max(1))) {
            for (row, product) in self.codes.chunks_exact(query.len()).zip(products) {
                *product = plain_product(row, query);
            }
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

    /// Queries that a row is multiplied with at a time.
    const TOGETHER: usize = 4;
    /// Rows that stay in the nearest cache while queries pass.
    const ROWS: usize = 32;

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
        pub(super) queries: &'a [&'a [i16]],
        pub(super) products: &'a mut [i32],
    }

    impl<S: PairSums> pulp::NullaryFnOnce for CodeProducts<'_, S> {
        type Output = ();

        /// Rows that stay in the nearest cache meet a few queries at a time; a row is widened once for all of them.
        #[inline(always)]
        fn call(self) {
            let Self { simd, codes, queries, products } = self;
            let Some(length) = queries.first().map(|query| query.len()) else { return };
            let count = codes.len() / length;
            for (block, rows) in codes.chunks(ROWS * length).enumerate() {
                for (group, few) in queries.chunks(TOGETHER).enumerate() {
                    // A group that is not full repeats its last query; those products are dropped.
                    let asked: [&[i16]; TOGETHER] = std::array::from_fn(|k| few[k.min(few.len() - 1)]);
                    for (row, codes) in rows.chunks_exact(length).enumerate() {
                        let totals = if few.len() == 1 {
                            [row_product(simd, codes, [asked[0]])[0]; TOGETHER]
                        } else {
                            row_product(simd, codes, asked)
                        };
                        for (query, total) in totals.iter().enumerate().take(few.len()) {
                            products[(group * TOGETHER + query) * count + block * ROWS + row] = *total;
                        }
                    }
                }
            }
        }
    }

    /// A row's products with some queries.
    #[inline(always)]
    fn row_product<S: PairSums, const N: usize>(simd: S, row: &[u8], queries: [&[i16]; N]) -> [i32; N] {
        let (codes, codes_rest) = row.as_chunks();
        let halves = queries.map(|query| query.as_chunks());
        let mut pairs = [simd.zero(); N];
        for (k, codes) in codes.iter().enumerate() {
            for (pairs, query) in pairs.iter_mut().zip(&halves) {
                *pairs = simd.add(*pairs, codes, &query.0[k]);
            }
        }
        std::array::from_fn(|q| simd.total(pairs[q]).wrapping_add(plain_product(codes_rest, halves[q].1)))
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
    fn products_are_right_at_every_length_and_for_any_number_of_queries() {
        for (length, count) in [(1, 1), (7, 2), (16, 3), (31, 4), (32, 5), (100, 9), (512, 1), (512, 6)] {
            let number = |k: usize| ((k * 977) % 4095) as i16 - 2047;
            let queries: Vec<Vec<_>> = (0..count).map(|q| (0..length).map(|k| number(k + 31 * q)).collect()).collect();
            let asked: Vec<&[i16]> = queries.iter().map(Vec::as_slice).collect();
            let rows = 70;
            let codes: Vec<u8> = (0..rows * length).map(|k| (((k * 31) % 255) as i16 - 127) as i8 as u8).collect();
            let mut products = vec![0; rows * count];
            code_products(&codes, &asked, &mut products);
            let mut plain = vec![0; rows * count];
            pulp::Arch::new().dispatch(CodeProducts { codes: &codes, queries: &asked, products: &mut plain });
            assert_eq!(products, plain);
            #[cfg(target_arch = "x86_64")]
            if let Some(simd) = pulp::x86::V3::try_new() {
                let mut narrow = vec![0; rows * count];
                let (codes, queries) = (codes.as_slice(), asked.as_slice());
                simd.vectorize(x86::CodeProducts { simd, codes, queries, products: &mut narrow });
                assert_eq!(products, narrow);
            }
            for (query, products) in queries.iter().zip(products.chunks_exact(rows)) {
                for (row, product) in codes.chunks_exact(length).zip(products) {
                    let exact: i64 = row.iter().zip(query).map(|(c, q)| i64::from(*c as i8) * i64::from(*q)).sum();
                    assert_eq!(i64::from(*product), exact);
                }
            }
            let a: Vec<f32> = queries[0].iter().map(|q| f32::from(*q) / 2047.0).collect();
            let exact: f64 = a.iter().map(|a| f64::from(*a).powi(2)).sum();
            assert!((f64::from(dot(&a, &a)) - exact).abs() < 1e-5 * exact);
        }
    }
}
