//! Finding the maxima of a field: a coarse synthesis on a 2× oversampled ring grid, in f32 since it only points the
//! way, then Newton steps in f64 on the sphere. No grid remains in the answer.

use crate::sphere::{Degree, JetField, JetPlan, SphericalHarmonics, UnitVec};
use crate::{Coefficients, Mode, ShddError, refine::refine};
use pulp::{Simd, WithSimd};
use rustfft::{Fft, num_complex::Complex};
use std::{f64::consts::PI, f64::consts::TAU, sync::Arc};

/// Ring tables are padded to this many rings, the lanes of the widest f32 register.
const LANES: usize = 16;
/// Orders whose sums are gathered before they are written: one cache line of complex numbers.
const ORDERS: usize = 8;

/// The search grid of one degree: rings at colatitudes (i + ½)π/n, equally spaced longitudes from 0.
pub(crate) struct Search {
    lmax: usize,
    rings: usize,
    longitudes: usize,
    /// Rings of the northern half, padded to whole registers.
    half: usize,
    /// P_lm at the northern rings: order by order, then 16 rings at a time, degree by degree.
    legendre: Vec<CacheLine>,
    fft: Arc<dyn Fft<f32>>,
}

impl std::fmt::Debug for Search {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Search {{ L: {}, grid: {} × {} }}", self.lmax, self.rings, self.longitudes)
    }
}

/// Values on 16 rings.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct CacheLine([f32; LANES]);

/// Working memory of a search; make one a thread.
pub(crate) struct SearchScratch {
    /// Coefficients, order by order: cosine and sine.
    packed: Vec<[f32; 2]>,
    /// One row a pair of rings, north in the real and south in the imaginary part: one complex FFT makes both.
    rows: Vec<Complex<f32>>,
    /// Highest value of each row.
    highest: Vec<f32>,
    fft: Vec<Complex<f32>>,
    jets: Option<JetField>,
}

impl SearchScratch {
    /// Highest value on the grid.
    pub(crate) fn highest(&self) -> f32 {
        self.highest.iter().fold(f32::NEG_INFINITY, |a, b| a.max(*b))
    }
}

/// A local maximum of the grid values.
#[derive(Debug, Clone, Copy)]
struct GridMaximum {
    value: f32,
    ring: usize,
    longitude: usize,
}

impl Search {
    pub(crate) fn new(degree: Degree) -> Self {
        let lmax = degree.get();
        let rings = 2 * (lmax + 1);
        let longitudes = fft_friendly(4 * (lmax + 1));
        let half = (rings / 2).next_multiple_of(LANES);
        let harmonics = SphericalHarmonics::new(degree);
        // At longitude 0 the sine part vanishes and Y_lm is P_lm itself.
        let at_ring = |i: usize| {
            let colatitude = (i as f64 + 0.5) * PI / rings as f64;
            harmonics.at(UnitVec::new(colatitude.sin(), 0.0, colatitude.cos()).expect("a direction"))
        };
        let north: Vec<Vec<f64>> = (0..rings / 2).map(at_ring).collect();
        // Near the poles high orders are denormal in f32, which is slow and adds nothing.
        let flush = |p: f64| if p.abs() < 1e-20 { 0.0 } else { p as f32 };
        let mut legendre = Vec::with_capacity((lmax + 1) * (lmax + 2) / 2 * half / LANES);
        for m in 0..=lmax {
            for first in (0..half).step_by(LANES) {
                legendre.extend((m..=lmax).map(|l| {
                    CacheLine(std::array::from_fn(|i| north.get(first + i).map_or(0.0, |y| flush(y[l * l + l + m]))))
                }));
            }
        }
        let fft = inverse_fft(longitudes);
        Self { lmax, rings, longitudes, half, legendre, fft }
    }

    pub(crate) fn scratch(&self) -> SearchScratch {
        SearchScratch {
            packed: Vec::with_capacity((self.lmax + 1) * (self.lmax + 2) / 2),
            rows: vec![Complex::default(); self.rings / 2 * self.longitudes],
            highest: vec![0.0; self.rings / 2],
            fft: vec![Complex::default(); self.fft.get_inplace_scratch_len()],
            jets: None,
        }
    }

    /// Spacing of the grid in radians.
    pub(crate) fn spacing_rad(&self) -> f64 {
        PI / self.rings as f64
    }

    /// A grid point.
    pub(crate) fn point(&self, ring: usize, longitude: usize) -> UnitVec {
        let (sine, z) = ((ring as f64 + 0.5) * self.spacing_rad()).sin_cos();
        let (s, c) = (TAU * longitude as f64 / self.longitudes as f64).sin_cos();
        UnitVec::new(sine * c, sine * s, z).expect("a direction")
    }

    /// Fills `scratch` with the field on the grid.
    pub(crate) fn synthesize(&self, e: &[f64], scratch: &mut SearchScratch) {
        scratch.packed.clear();
        for m in 0..=self.lmax {
            // Order m > 0 stands twice in a row's spectrum, at m and at −m.
            let scale = if m == 0 { 1.0 } else { 0.5 };
            for l in m..=self.lmax {
                let centre = l * l + l;
                let sine = if m == 0 { 0.0 } else { -scale * e[centre - m] };
                scratch.packed.push([(scale * e[centre + m]) as f32, sine as f32]);
            }
        }
        pulp::Arch::new().dispatch(LegendreSums { search: self, packed: &scratch.packed, rows: &mut scratch.rows });
        self.fft.process_with_scratch(&mut scratch.rows, &mut scratch.fft);
        let (longitudes, rows, highest) = (self.longitudes, &scratch.rows[..], &mut scratch.highest[..]);
        pulp::Arch::new().dispatch(RowMaxima { longitudes, rows, highest });
    }

    /// Row of a ring, and whether the ring is the row's southern one.
    fn row_of(&self, ring: usize) -> (usize, bool) {
        if ring < self.rings / 2 { (ring, false) } else { (self.rings - 1 - ring, true) }
    }

    /// The field at a grid point.
    fn value(&self, scratch: &SearchScratch, ring: usize, longitude: usize) -> f32 {
        let (row, south) = self.row_of(ring);
        let pair = scratch.rows[row * self.longitudes + longitude];
        if south { pair.im } else { pair.re }
    }

    /// Grid points at least `floor` high, of the values last synthesised, and every point within a grid step of one.
    pub(crate) fn points_near_above(&self, scratch: &SearchScratch, floor: f32) -> Vec<UnitVec> {
        let n = self.longitudes;
        let mut near = vec![false; self.rings * n];
        for ring in (0..self.rings).filter(|&ring| scratch.highest[self.row_of(ring).0] >= floor) {
            for j in (0..n).filter(|&j| self.value(scratch, ring, j) >= floor) {
                for other in ring.saturating_sub(1)..=(ring + 1).min(self.rings - 1) {
                    // Meridians converge: a step of the grid spans more longitudes near a pole.
                    let sine = ((other as f64 + 0.5) * self.spacing_rad()).sin();
                    let reach = ((1.0 / sine).ceil() as usize).min(n / 2);
                    if ring == 0 || ring + 1 == self.rings || reach >= n / 4 {
                        near[other * n..][..n].fill(true);
                    } else {
                        (j + n - reach..=j + n + reach).for_each(|k| near[other * n + k % n] = true);
                    }
                }
            }
        }
        (0..near.len()).filter(|&i| near[i]).map(|i| self.point(i / n, i % n)).collect()
    }

    /// Local maxima (among the 8 neighbours) of at least `floor`.
    fn maxima(&self, scratch: &SearchScratch, floor: f32) -> Vec<GridMaximum> {
        let (n, shift) = (self.longitudes, self.longitudes / 2);
        let mut found = Vec::new();
        for ring in 0..self.rings {
            if scratch.highest[self.row_of(ring).0] < floor {
                continue;
            }
            // Across a pole the next ring is the same one, half a turn on.
            let (north, north_shift) = if ring == 0 { (0, shift) } else { (ring - 1, 0) };
            let (south, south_shift) = if ring + 1 == self.rings { (ring, shift) } else { (ring + 1, 0) };
            for j in 0..n {
                let value = self.value(scratch, ring, j);
                if value < floor {
                    continue;
                }
                // Equal values are ordered by position, so that a plateau has one maximum, and the sphere at least one.
                let above = |other_ring: usize, longitude: usize| {
                    let other = self.value(scratch, other_ring, longitude % n);
                    other > value || (other == value && (other_ring, longitude % n) > (ring, j))
                };
                let sides = [(ring, 0), (north, north_shift), (south, south_shift)];
                let hidden = (n - 1..=n + 1).any(|step| sides.iter().any(|(at, shift)| above(*at, j + shift + step)));
                if !hidden {
                    found.push(GridMaximum { value, ring, longitude: j });
                }
            }
        }
        found
    }

    /// Returns the peak of the parabolas through a grid maximum and its neighbours, and its height: a start for Newton's steps.
    fn interpolate(&self, scratch: &SearchScratch, at: GridMaximum) -> (UnitVec, f64) {
        let value = |ring: usize, longitude: usize| f64::from(self.value(scratch, ring, longitude));
        let vertex = |before: f64, here: f64, after: f64| {
            let bend = before - 2.0 * here + after;
            let slope = 0.5 * (after - before);
            if bend < 0.0 { ((-slope / bend).clamp(-0.5, 0.5), -0.5 * slope * slope / bend) } else { (0.0, 0.0) }
        };
        let n = self.longitudes;
        let here = value(at.ring, at.longitude);
        let (east, east_gain) =
            vertex(value(at.ring, (at.longitude + n - 1) % n), here, value(at.ring, (at.longitude + 1) % n));
        let (south, south_gain) = if at.ring == 0 || at.ring + 1 == self.rings {
            (0.0, 0.0)
        } else {
            vertex(value(at.ring - 1, at.longitude), here, value(at.ring + 1, at.longitude))
        };
        let (sine, z) = ((at.ring as f64 + 0.5 + south) * self.spacing_rad()).sin_cos();
        let (s, c) = (TAU * (at.longitude as f64 + east) / n as f64).sin_cos();
        let point = UnitVec::new(sine * c, sine * s, z).expect("a direction");
        (point, here + east_gain + south_gain)
    }

    /// The refined maxima of at least `floor(highest grid value)`, highest first. Needs [`Search::synthesize`].
    pub(crate) fn modes(
        &self,
        plan: &JetPlan,
        e: &Coefficients,
        scratch: &mut SearchScratch,
        most: usize,
        floor: impl Fn(f64) -> f64,
    ) -> Result<Vec<Mode>, ShddError> {
        let highest = f64::from(scratch.highest());
        let floor = floor(highest);
        // A peak stands above its best grid point by at most a third of its height, as a rule by the parabolas.
        let mean = e.as_slice()[0] / (4.0 * PI).sqrt();
        let lowest = floor - 0.35 * (highest - mean).max(0.0);
        let promise = |maximum: GridMaximum| {
            let (start, height) = self.interpolate(scratch, maximum);
            let value = f64::from(maximum.value);
            (start, value + 1.5 * (height - value))
        };
        let starts = self.maxima(scratch, lowest as f32).into_iter().map(promise);
        let mut starts: Vec<(UnitVec, f64)> = starts.filter(|(_, promise)| *promise >= floor).collect();
        starts.sort_by(|a, b| b.1.total_cmp(&a.1));
        starts.truncate(most);
        let mut jets = match scratch.jets.take() {
            Some(mut jets) => {
                plan.load(&mut jets, e.as_slice())?;
                jets
            }
            None => plan.field(e.as_slice())?,
        };
        let mut modes: Vec<Mode> = Vec::with_capacity(starts.len());
        for (start, _) in starts {
            let mode = refine(plan, &mut jets, start, self.spacing_rad());
            // Two grid maxima may climb to the same peak.
            let distinct = |other: &Mode| other.point.angle_rad(mode.point) > 0.25 * self.spacing_rad();
            if modes.iter().all(distinct) {
                modes.push(mode);
            }
        }
        scratch.jets = Some(jets);
        modes.sort_by(|a, b| b.value.total_cmp(&a.value));
        Ok(modes)
    }
}

/// The inverse transform of a length. On x86-64 by the planner for AVX alone: those for other processors take as long to compile.
fn inverse_fft(len: usize) -> Arc<dyn Fft<f32>> {
    #[cfg(target_arch = "x86_64")]
    {
        rustfft::FftPlannerAvx::new()
            .map_or_else(|()| inverse_fft_without_avx(len), |mut planner| planner.plan_fft_inverse(len))
    }
    #[cfg(not(target_arch = "x86_64"))]
    rustfft::FftPlanner::new().plan_fft_inverse(len)
}

/// Any length by a power of two.
#[cfg(target_arch = "x86_64")]
fn inverse_fft_without_avx(len: usize) -> Arc<dyn Fft<f32>> {
    use rustfft::{FftDirection, algorithm};
    let inner = algorithm::Radix4::new((2 * len).next_power_of_two(), FftDirection::Inverse);
    Arc::new(algorithm::BluesteinsAlgorithm::new(len, Arc::new(inner)))
}

/// The next length whose prime factors are 2, 3 and 5, and which is even.
fn fft_friendly(least: usize) -> usize {
    let smooth = |mut n: usize| {
        for p in [2, 3, 5] {
            while n.is_multiple_of(p) {
                n /= p;
            }
        }
        n == 1
    };
    (least..=2 * least).find(|&n| n.is_multiple_of(2) && smooth(n)).expect("a power of two is smooth")
}

/// The spectra of all rows. The parity of l − m is the parity of P_lm in z, so northern sums give the southern ones.
struct LegendreSums<'a> {
    search: &'a Search,
    packed: &'a [[f32; 2]],
    rows: &'a mut [Complex<f32>],
}

impl WithSimd for LegendreSums<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Search { lmax, rings, longitudes, half, .. } = *self.search;
        let mut start = [0; ORDERS];
        let mut next = 0;
        for first in (0..=lmax).step_by(ORDERS) {
            let orders = ORDERS.min(lmax + 1 - first);
            for (k, start) in start.iter_mut().enumerate().take(orders) {
                *start = next;
                next += lmax + 1 - first - k;
            }
            for block in (0..half).step_by(S::F32_LANES) {
                // For each order: cosine and sine sums over even and over odd l − m, lane by lane.
                let mut sums = [[[0f32; LANES]; 4]; ORDERS];
                for (k, sums) in sums.iter_mut().enumerate().take(orders) {
                    let count = lmax + 1 - first - k;
                    let packed = &self.packed[start[k]..][..count];
                    let from = start[k] * (half / LANES) + block / LANES * count;
                    let table = &self.search.legendre[from..][..count];
                    order_sums(simd, packed, table, block % LANES, sums);
                }
                for lane in 0..S::F32_LANES.min((rings / 2).saturating_sub(block)) {
                    let row = &mut self.rows[(block + lane) * longitudes..][..longitudes];
                    write_orders(row, first, orders, &sums, lane);
                }
            }
        }
        for row in self.rows.chunks_exact_mut(longitudes) {
            row[lmax + 1..longitudes - lmax].fill(Complex::default());
        }
    }
}

/// The four sums of one order on one register of rings.
#[inline(always)]
fn order_sums<S: Simd>(simd: S, packed: &[[f32; 2]], table: &[CacheLine], lane: usize, sums: &mut [[f32; LANES]; 4]) {
    let zero = simd.splat_f32s(0.0);
    let (mut even_cos, mut even_sin, mut odd_cos, mut odd_sin) = (zero, zero, zero, zero);
    let mut lines = table.chunks_exact(2);
    let mut pairs = packed.chunks_exact(2);
    for (lines, pair) in lines.by_ref().zip(pairs.by_ref()) {
        let p = S::as_simd_f32s(&lines[0].0[lane..]).0[0];
        even_cos = simd.mul_add_e_f32s(p, simd.splat_f32s(pair[0][0]), even_cos);
        even_sin = simd.mul_add_e_f32s(p, simd.splat_f32s(pair[0][1]), even_sin);
        let p = S::as_simd_f32s(&lines[1].0[lane..]).0[0];
        odd_cos = simd.mul_add_e_f32s(p, simd.splat_f32s(pair[1][0]), odd_cos);
        odd_sin = simd.mul_add_e_f32s(p, simd.splat_f32s(pair[1][1]), odd_sin);
    }
    if let ([line], [last]) = (lines.remainder(), pairs.remainder()) {
        let p = S::as_simd_f32s(&line.0[lane..]).0[0];
        even_cos = simd.mul_add_e_f32s(p, simd.splat_f32s(last[0]), even_cos);
        even_sin = simd.mul_add_e_f32s(p, simd.splat_f32s(last[1]), even_sin);
    }
    let [a, b, c, d] = sums;
    S::as_mut_simd_f32s(&mut a[..S::F32_LANES]).0[0] = even_cos;
    S::as_mut_simd_f32s(&mut b[..S::F32_LANES]).0[0] = even_sin;
    S::as_mut_simd_f32s(&mut c[..S::F32_LANES]).0[0] = odd_cos;
    S::as_mut_simd_f32s(&mut d[..S::F32_LANES]).0[0] = odd_sin;
}

/// Writes a ring pair's orders. E and O are the even and odd sums: the northern spectrum is E + O, the southern
/// E − O. The row has north + i·south at order m, and conj(north) + i·conj(south) at −m.
#[inline(always)]
fn write_orders(row: &mut [Complex<f32>], first: usize, orders: usize, sums: &[[[f32; LANES]; 4]; ORDERS], at: usize) {
    let (mut ahead, mut behind) = ([Complex::default(); ORDERS], [Complex::default(); ORDERS]);
    for k in 0..ORDERS {
        let [ec, es, oc, os] = [sums[k][0][at], sums[k][1][at], sums[k][2][at], sums[k][3][at]];
        let (north_re, north_im, south_re, south_im) = (ec + oc, es + os, ec - oc, es - os);
        ahead[k] = Complex::new(north_re - south_im, north_im + south_re);
        behind[ORDERS - 1 - k] = Complex::new(north_re + south_im, south_re - north_im);
    }
    let n = row.len();
    if first == 0 {
        // Order 0 is its own mirror image.
        row[1..orders].copy_from_slice(&ahead[1..orders]);
        row[n + 1 - orders..].copy_from_slice(&behind[ORDERS - orders..ORDERS - 1]);
        row[0] = ahead[0];
    } else {
        row[first..first + orders].copy_from_slice(&ahead[..orders]);
        row[n + 1 - first - orders..=n - first].copy_from_slice(&behind[ORDERS - orders..]);
    }
}

/// The highest value of each row.
struct RowMaxima<'a> {
    longitudes: usize,
    rows: &'a [Complex<f32>],
    highest: &'a mut [f32],
}

impl WithSimd for RowMaxima<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (row, highest) in self.rows.chunks_exact(self.longitudes).zip(self.highest) {
            let (vectors, rest) = S::as_simd_f32s(pulp::bytemuck::cast_slice(row));
            let mut lanes = simd.splat_f32s(f32::NEG_INFINITY);
            for vector in vectors {
                lanes = simd.max_f32s(lanes, *vector);
            }
            *highest = rest.iter().fold(simd.reduce_max_f32s(lanes), |a, b| a.max(*b));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn processors_without_avx_find_the_same_values() {
        for len in [8, 64, 96, 192, 250, 512] {
            let wave = |i: usize| Complex::new((i * 37 % 101) as f32 / 50.0 - 1.0, (i * 53 % 97) as f32 / 48.0);
            let mut values: Vec<Complex<f32>> = (0..2 * len).map(wave).collect();
            let mut plain = values.clone();
            inverse_fft(len).process(&mut values);
            inverse_fft_without_avx(len).process(&mut plain);
            let off = values.iter().zip(&plain).map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
            assert!(off < 2e-4, "{off} at {len}");
        }
    }
}
