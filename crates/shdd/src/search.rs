//! Finding the maxima of a field: a coarse synthesis on a 2× oversampled ring grid, in f32 since it only points the
//! way, then Newton steps in f64 on the sphere. No grid remains in the answer.

use crate::refine::refine;
use crate::{Coefficients, Mode};
use locdiff_sphere::{Degree, Harmonics, JetField, JetPlan, UnitVec};
use pulp::{Simd, WithSimd};
use realfft::num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner};
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

/// Ring tables are padded to this many rings, the lanes of the widest f32 register.
const LANES: usize = 16;

/// The search grid of one degree: rings at colatitudes (i + ½)π/n, equally spaced longitudes from 0.
pub(crate) struct Search {
    lmax: usize,
    rings: usize,
    longitudes: usize,
    /// Rings of the northern half, padded to whole registers.
    half: usize,
    /// P_lm at the northern rings: order by order, degree by degree, `half` values each.
    legendre: Vec<f32>,
    fft: Arc<dyn ComplexToReal<f32>>,
}

impl std::fmt::Debug for Search {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Search {{ L: {}, grid: {} × {} }}", self.lmax, self.rings, self.longitudes)
    }
}

/// Working memory of a search; make one a thread.
pub(crate) struct SearchScratch {
    /// Coefficients, order by order: the cosine ones, then the sine ones.
    packed: Vec<[f32; 2]>,
    spectrum: Vec<Complex<f32>>,
    values: Vec<f32>,
    fft: Vec<Complex<f32>>,
    jets: Option<JetField>,
}

/// A local maximum of the grid values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GridMaximum {
    pub(crate) value: f32,
    ring: usize,
    longitude: usize,
}

impl Search {
    pub(crate) fn new(degree: Degree) -> Self {
        let lmax = degree.get();
        let rings = 2 * (lmax + 1);
        let longitudes = fft_friendly(4 * (lmax + 1));
        let half = (rings / 2).next_multiple_of(LANES);
        let harmonics = Harmonics::new(degree);
        let north: Vec<Vec<f64>> = (0..rings / 2)
            .map(|i| {
                // At longitude 0 the sine part vanishes and Y_lm is P_lm itself.
                let colatitude = (i as f64 + 0.5) * PI / rings as f64;
                harmonics.at(UnitVec::new(colatitude.sin(), 0.0, colatitude.cos()).expect("a direction"))
            })
            .collect();
        let mut legendre = Vec::with_capacity((lmax + 1) * (lmax + 2) / 2 * half);
        for m in 0..=lmax {
            for l in m..=lmax {
                legendre.extend((0..half).map(|i| north.get(i).map_or(0.0, |y| y[l * l + l + m] as f32)));
            }
        }
        let fft = RealFftPlanner::<f32>::new().plan_fft_inverse(longitudes);
        Self { lmax, rings, longitudes, half, legendre, fft }
    }

    pub(crate) fn scratch(&self) -> SearchScratch {
        SearchScratch {
            packed: Vec::with_capacity((self.lmax + 1) * (self.lmax + 2) / 2),
            spectrum: vec![Complex::default(); self.rings * (self.longitudes / 2 + 1)],
            values: vec![0.0; self.rings * self.longitudes],
            fft: self.fft.make_scratch_vec(),
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

    /// Fills `scratch.values` with the field on the grid.
    pub(crate) fn synthesize(&self, e: &[f64], scratch: &mut SearchScratch) {
        scratch.packed.clear();
        for m in 0..=self.lmax {
            // The two ends of a real spectrum count once, the bins between twice.
            let scale = if m == 0 { 1.0 } else { 0.5 };
            for l in m..=self.lmax {
                let centre = l * l + l;
                let sine = if m == 0 { 0.0 } else { -scale * e[centre - m] };
                scratch.packed.push([(scale * e[centre + m]) as f32, sine as f32]);
            }
        }
        pulp::Arch::new().dispatch(LegendreSums {
            search: self,
            packed: &scratch.packed,
            spectrum: &mut scratch.spectrum,
        });
        let bins = self.longitudes / 2 + 1;
        for (bins, values) in
            scratch.spectrum.chunks_exact_mut(bins).zip(scratch.values.chunks_exact_mut(self.longitudes))
        {
            bins[self.lmax + 1..].fill(Complex::default()); // the inverse FFT uses its input as working memory
            bins[0].im = 0.0;
            self.fft.process_with_scratch(bins, values, &mut scratch.fft).expect("plan and buffers have one length");
        }
    }

    /// Grid points at least `floor` high, of the values last synthesised.
    pub(crate) fn points_above(&self, scratch: &SearchScratch, floor: f32) -> Vec<UnitVec> {
        let mut points = Vec::new();
        for (ring, values) in scratch.values.chunks_exact(self.longitudes).enumerate() {
            points.extend((0..values.len()).filter(|&j| values[j] >= floor).map(|j| self.point(ring, j)));
        }
        points
    }

    /// Highest value on the grid.
    pub(crate) fn highest(&self, scratch: &SearchScratch) -> f32 {
        scratch.values.chunks_exact(self.longitudes).map(highest_of).fold(f32::NEG_INFINITY, f32::max)
    }

    /// Local maxima (among the 8 neighbours) of at least `floor`, highest first.
    pub(crate) fn maxima(&self, scratch: &SearchScratch, floor: f32) -> Vec<GridMaximum> {
        let row = |ring: usize| &scratch.values[ring * self.longitudes..][..self.longitudes];
        let (n, shift) = (self.longitudes, self.longitudes / 2);
        let mut found = Vec::new();
        for ring in 0..self.rings {
            let here = row(ring);
            if highest_of(here) < floor {
                continue;
            }
            // Across a pole the next ring is the same one, half a turn on.
            let (north, north_shift) = if ring == 0 { (0, shift) } else { (ring - 1, 0) };
            let (south, south_shift) = if ring + 1 == self.rings { (ring, shift) } else { (ring + 1, 0) };
            for j in 0..n {
                let value = here[j];
                if value < floor {
                    continue;
                }
                // Equal values are ordered by position, so that a plateau has one maximum, and the sphere at least one.
                let above = |other_ring: usize, longitude: usize| {
                    let other = row(other_ring)[longitude % n];
                    other > value || (other == value && (other_ring, longitude % n) > (ring, j))
                };
                let hidden = (n - 1..=n + 1).any(|step| {
                    above(ring, j + step) || above(north, j + north_shift + step) || above(south, j + south_shift + step)
                });
                if !hidden {
                    found.push(GridMaximum { value, ring, longitude: j });
                }
            }
        }
        found.sort_by(|a, b| b.value.total_cmp(&a.value));
        found
    }

    /// Where the parabola through a grid maximum and its neighbours peaks: a start for Newton's steps.
    fn interpolate(&self, scratch: &SearchScratch, at: GridMaximum) -> UnitVec {
        let value = |ring: usize, longitude: usize| f64::from(scratch.values[ring * self.longitudes + longitude]);
        let vertex = |before: f64, here: f64, after: f64| {
            let bend = before - 2.0 * here + after;
            if bend < 0.0 { (0.5 * (before - after) / bend).clamp(-0.5, 0.5) } else { 0.0 }
        };
        let n = self.longitudes;
        let here = value(at.ring, at.longitude);
        let east = vertex(
            value(at.ring, (at.longitude + n - 1) % n),
            here,
            value(at.ring, (at.longitude + 1) % n),
        );
        let south = if at.ring == 0 || at.ring + 1 == self.rings {
            0.0
        } else {
            vertex(value(at.ring - 1, at.longitude), here, value(at.ring + 1, at.longitude))
        };
        let (sine, z) = ((at.ring as f64 + 0.5 + south) * self.spacing_rad()).sin_cos();
        let (s, c) = (TAU * (at.longitude as f64 + east) / n as f64).sin_cos();
        UnitVec::new(sine * c, sine * s, z).expect("a direction")
    }

    /// The refined maxima of the field whose grid value is at least `floor(highest grid value)`, highest first, at
    /// most `most` of them. Needs [`Search::synthesize`] first.
    pub(crate) fn modes(
        &self,
        plan: &JetPlan,
        e: &Coefficients,
        scratch: &mut SearchScratch,
        most: usize,
        floor: impl Fn(f64) -> f64,
    ) -> Vec<Mode> {
        let floor = floor(f64::from(self.highest(scratch))) as f32;
        let mut maxima = self.maxima(scratch, floor);
        maxima.truncate(most);
        let mut jets = match scratch.jets.take() {
            Some(mut jets) => {
                plan.load(&mut jets, e.as_slice()).expect("the degree was checked");
                jets
            }
            None => plan.field(e.as_slice()).expect("the degree was checked"),
        };
        let mut modes: Vec<Mode> = Vec::with_capacity(maxima.len());
        for maximum in maxima {
            let start = self.interpolate(scratch, maximum);
            let mode = refine(plan, &mut jets, start, self.spacing_rad());
            // Two grid maxima may climb to the same peak.
            let distinct = |other: &Mode| other.point.angle_rad(mode.point) > 0.25 * self.spacing_rad();
            if modes.iter().all(distinct) {
                modes.push(mode);
            }
        }
        scratch.jets = Some(jets);
        modes.sort_by(|a, b| b.value.total_cmp(&a.value));
        modes
    }
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
    (least..).find(|&n| n.is_multiple_of(2) && smooth(n)).expect("powers of two are smooth")
}

/// Maximum of a row, several lanes at a time.
fn highest_of(values: &[f32]) -> f32 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [f32::NEG_INFINITY; LANES];
    for chunk in chunks {
        for i in 0..LANES {
            lanes[i] = if chunk[i] > lanes[i] { chunk[i] } else { lanes[i] };
        }
    }
    lanes.iter().chain(rest).fold(f32::NEG_INFINITY, |a, b| a.max(*b))
}

/// Spectra of all rings. The parity of l − m is the parity of P_lm in z, so northern sums give the southern ones.
struct LegendreSums<'a> {
    search: &'a Search,
    packed: &'a [[f32; 2]],
    spectrum: &'a mut [Complex<f32>],
}

impl WithSimd for LegendreSums<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let search = self.search;
        let (half, bins) = (search.half, search.longitudes / 2 + 1);
        let zero = simd.splat_f32s(0.0);
        let mut start = 0;
        for m in 0..=search.lmax {
            let count = search.lmax + 1 - m;
            let packed = &self.packed[start..][..count];
            let table = &search.legendre[start * half..][..count * half];
            start += count;
            for block in (0..half).step_by(S::F32_LANES) {
                // Cosine and sine sums over even and odd l − m.
                let (mut even_cos, mut even_sin, mut odd_cos, mut odd_sin) = (zero, zero, zero, zero);
                let mut rows = table.chunks_exact(2 * half);
                let mut pairs = packed.chunks_exact(2);
                for (rows, pair) in rows.by_ref().zip(pairs.by_ref()) {
                    let p = S::as_simd_f32s(&rows[block..][..S::F32_LANES]).0[0];
                    even_cos = simd.mul_add_e_f32s(p, simd.splat_f32s(pair[0][0]), even_cos);
                    even_sin = simd.mul_add_e_f32s(p, simd.splat_f32s(pair[0][1]), even_sin);
                    let p = S::as_simd_f32s(&rows[half + block..][..S::F32_LANES]).0[0];
                    odd_cos = simd.mul_add_e_f32s(p, simd.splat_f32s(pair[1][0]), odd_cos);
                    odd_sin = simd.mul_add_e_f32s(p, simd.splat_f32s(pair[1][1]), odd_sin);
                }
                if let [last] = pairs.remainder() {
                    let p = S::as_simd_f32s(&rows.remainder()[block..][..S::F32_LANES]).0[0];
                    even_cos = simd.mul_add_e_f32s(p, simd.splat_f32s(last[0]), even_cos);
                    even_sin = simd.mul_add_e_f32s(p, simd.splat_f32s(last[1]), even_sin);
                }
                let mut lanes = [[0f32; LANES]; 4];
                let width = S::F32_LANES;
                S::as_mut_simd_f32s(&mut lanes[0][..width]).0[0] = simd.add_f32s(even_cos, odd_cos);
                S::as_mut_simd_f32s(&mut lanes[1][..width]).0[0] = simd.add_f32s(even_sin, odd_sin);
                S::as_mut_simd_f32s(&mut lanes[2][..width]).0[0] = simd.sub_f32s(even_cos, odd_cos);
                S::as_mut_simd_f32s(&mut lanes[3][..width]).0[0] = simd.sub_f32s(even_sin, odd_sin);
                for i in 0..width {
                    let ring = block + i;
                    if ring < search.rings / 2 {
                        self.spectrum[ring * bins + m] = Complex::new(lanes[0][i], lanes[1][i]);
                        let south = search.rings - 1 - ring;
                        self.spectrum[south * bins + m] = Complex::new(lanes[2][i], lanes[3][i]);
                    }
                }
            }
        }
    }
}
