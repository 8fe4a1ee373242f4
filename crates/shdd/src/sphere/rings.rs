//! Iso-latitude grids and the fast transform between coefficients and values on them (Legendre sums + real FFT).

use crate::sphere::field::{order_sums, packed_start};
use crate::sphere::simd::{dispatch, vectors, vectors_mut};
use crate::sphere::{Field, FieldPlan, LatLon, SphereError, UnitVec, gauss_legendre};
use crate::{sphere::error::expect_len, sphere::recurrence::OrderTable};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use realfft::{RealFftPlanner, num_complex::Complex};
use std::f64::consts::{PI, TAU};

/// Rings a tile: one vector lane each.
pub(crate) const LANES: usize = 16;

/// Points on rings of equal latitude, every ring with the same number of equally spaced longitudes.
///
/// Values on rings are stored ring by ring, each ring from its first longitude eastwards.
///
/// ```
/// use locdiff_shdd::sphere::{Degree, FieldPlan, Rings};
/// let plan = FieldPlan::new(Degree::new(11)?);
/// let coefficients: Vec<f64> = (0..144).map(|i| f64::from(i).sin()).collect();
/// let rings = Rings::gauss_legendre(12, 24);
/// let values = rings.synthesize(&plan.field(&coefficients)?);
/// let back = rings.analyze(&plan, &values)?;
/// assert!(coefficients.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-12));
/// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Rings {
    z: Vec<f64>,
    /// ∫ over the ring's band in z: the weights sum to 2.
    weights: Vec<f64>,
    longitudes: usize,
    first_lon_rad: f64,
}

impl Rings {
    /// Creates `rings` Gauss–Legendre latitudes from north to south, with `longitudes` points on each from 0° eastwards.
    ///
    /// Integrates products of total degree below `2·rings` and `longitudes` exactly.
    pub fn gauss_legendre(rings: usize, longitudes: usize) -> Self {
        let (z, weights) = gauss_legendre(rings.max(1));
        Self { z, weights, longitudes: longitudes.max(1), first_lon_rad: 0.0 }
    }

    /// Creates the centres of an equiangular raster, from north to south and 180° W eastwards; a weight is the area of a row.
    pub fn raster(rows: usize, columns: usize) -> Self {
        let (rows, columns) = (rows.max(1), columns.max(1));
        let step = PI / rows as f64;
        let cos = |edge: usize| (edge as f64 * step).cos();
        Self {
            z: (0..rows).map(|r| ((r as f64 + 0.5) * step).cos()).collect(),
            weights: (0..rows).map(|r| cos(r) - cos(r + 1)).collect(),
            longitudes: columns,
            first_lon_rad: -PI + PI / columns as f64,
        }
    }

    /// Returns sin(latitude) of each ring.
    #[inline]
    pub fn z(&self) -> &[f64] {
        &self.z
    }

    /// Returns the number of points on each ring.
    #[inline]
    pub fn longitudes(&self) -> usize {
        self.longitudes
    }

    /// Returns the number of points.
    #[inline]
    pub fn len(&self) -> usize {
        self.z.len() * self.longitudes
    }

    /// Returns whether there are no points, which is never true for constructed rings.
    pub fn is_empty(&self) -> bool {
        self.z.is_empty()
    }

    /// Returns one point.
    #[inline]
    pub fn point(&self, ring: usize, longitude: usize) -> UnitVec {
        UnitVec::from_z_lon(self.z[ring], self.first_lon_rad + TAU * longitude as f64 / self.longitudes as f64)
    }

    /// Returns all points, in the order of the values.
    pub fn points(&self) -> Vec<UnitVec> {
        (0..self.z.len()).flat_map(|r| (0..self.longitudes).map(move |j| self.point(r, j))).collect()
    }

    /// Returns the area weight in steradian of each point of a ring.
    #[inline]
    pub fn ring_point_weight(&self, ring: usize) -> f64 {
        self.weights[ring] * TAU / self.longitudes as f64
    }

    /// Returns area weights in steradian, one per point.
    pub fn point_weights(&self) -> Vec<f64> {
        (0..self.z.len()).flat_map(|r| std::iter::repeat_n(self.ring_point_weight(r), self.longitudes)).collect()
    }

    /// Returns the values of a field at every point, on all threads.
    pub fn synthesize(&self, field: &Field) -> Vec<f64> {
        let (table, weights) = (&*field.table, &field.weights[..]);
        let fft = RealFftPlanner::<f64>::new().plan_fft_inverse(self.longitudes);
        let turns = self.turns(table.lmax);
        let mut values = vec![0.0; self.len()];
        values.par_chunks_mut(LANES * self.longitudes).zip(self.z.par_chunks(LANES)).for_each(|(values, z)| {
            let sums = dispatch(Legendre { table, weights, z });
            let mut spectrum = fft.make_input_vec();
            let mut scratch = fft.make_scratch_vec();
            for (lane, ring) in values.chunks_exact_mut(self.longitudes).enumerate() {
                spectrum.fill(Complex::default());
                for (m, (cos, sin)) in sums.iter().enumerate() {
                    let value = Complex::new(cos[lane], -sin[lane]) * turns[m];
                    add_order(&mut spectrum, self.longitudes, m, value);
                }
                fft.process_with_scratch(&mut spectrum, ring, &mut scratch)
                    .expect("plan and buffers have one length, and the end bins are real");
            }
        });
        values
    }

    /// `e^{i·m·λ₀}`, the phase of order m at the first longitude.
    fn turns(&self, lmax: usize) -> Vec<Complex<f64>> {
        (0..=lmax).map(|m| Complex::from_polar(1.0, m as f64 * self.first_lon_rad)).collect()
    }

    /// Coefficients `∫ f·Y` by the rings' quadrature: the inverse of [`Rings::synthesize`] on Gauss–Legendre rings
    /// with more than L rings and more than 2L longitudes.
    /// Fails if there is not one value a point, or there are not more than 2L longitudes.
    pub fn analyze(&self, plan: &FieldPlan, values: &[f64]) -> Result<Vec<f64>, SphereError> {
        expect_len("values on rings", values.len(), self.len())?;
        let table = &*plan.table;
        let lmax = table.lmax;
        if self.longitudes <= 2 * lmax {
            let remedy = "analysis needs more than 2L longitudes";
            return Err(SphereError::GridSize { grid: "ring", size: self.longitudes, remedy });
        }
        let fft = RealFftPlanner::<f64>::new().plan_fft_forward(self.longitudes);
        let turns = self.turns(lmax);
        let tile = |(tile, (values, z)): (usize, (&[f64], &[f64]))| {
            let mut ring = fft.make_input_vec();
            let mut spectrum = fft.make_output_vec();
            let mut scratch = fft.make_scratch_vec();
            let mut orders = vec![([0.0; LANES], [0.0; LANES]); lmax + 1];
            for (lane, values) in values.chunks_exact(self.longitudes).enumerate() {
                ring.copy_from_slice(values);
                let whole = fft.process_with_scratch(&mut ring, &mut spectrum, &mut scratch);
                whole.expect("plan and buffers have one length");
                let weight = self.ring_point_weight(tile * LANES + lane);
                for (m, (cos, sin)) in orders.iter_mut().enumerate() {
                    let value = spectrum[m] * turns[m].conj() * weight;
                    (cos[lane], sin[lane]) = (value.re, -value.im);
                }
            }
            dispatch(LegendreAdjoint { table, orders: &orders, z })
        };
        let tiles = values.par_chunks(LANES * self.longitudes).zip(self.z.par_chunks(LANES));
        let partial: Vec<Vec<[f64; 2]>> = tiles.enumerate().map(tile).collect();
        let mut packed = vec![[0.0; 2]; (lmax + 1) * (lmax + 2) / 2];
        for part in partial {
            packed.iter_mut().zip(part).for_each(|(sum, p)| *sum = [sum[0] + p[0], sum[1] + p[1]]);
        }
        let mut coefficients = vec![0.0; plan.degree().dimension()];
        for m in 0..=lmax {
            for l in m..=lmax {
                let [cos, sin] = packed[packed_start(lmax, m) + l - m];
                coefficients[l * l + l + m] = cos;
                if m > 0 {
                    coefficients[l * l + l - m] = sin;
                }
            }
        }
        Ok(coefficients)
    }
}

impl Field {
    /// Returns F on the parallels of `rows` and the meridians of `columns`, row after row, many times as fast as [`Field::values`].
    pub fn on_crossings(&self, rows: &[LatLon], columns: &[LatLon]) -> Vec<f64> {
        let order = |m: usize| {
            let turns = columns.iter().map(move |column| (m as f64 * column.lon_deg().to_radians()).sin_cos());
            turns.unzip::<f64, f64, Vec<f64>, Vec<f64>>()
        };
        let orders: Vec<(Vec<f64>, Vec<f64>)> = (0..=self.table.lmax).map(order).collect();
        let z: Vec<f64> = rows.iter().map(|row| row.to_unit().z()).collect();
        let mut values = vec![0.0; rows.len() * columns.len()];
        values.par_chunks_mut(LANES * columns.len().max(1)).zip(z.par_chunks(LANES)).for_each(|(values, z)| {
            let sums = dispatch(Legendre { table: &self.table, weights: &self.weights, z });
            for (lane, line) in values.chunks_exact_mut(columns.len()).enumerate() {
                for ((cos_sum, sin_sum), (sin, cos)) in sums.iter().zip(&orders) {
                    let (a, b) = (cos_sum[lane], sin_sum[lane]);
                    line.iter_mut().zip(cos.iter().zip(sin)).for_each(|(sum, (cos, sin))| *sum += a * cos + b * sin);
                }
            }
        });
        values
    }
}

/// Adds `Re(value·e^{imλ})` to the half-complex spectrum of a ring of `n` points. Orders beyond its Nyquist limit fold back. So
/// the values are right at the points even if the ring is too coarse for the field.
fn add_order(spectrum: &mut [Complex<f64>], n: usize, m: usize, value: Complex<f64>) {
    let k = m % n;
    if k == 0 || 2 * k == n {
        spectrum[k].re += value.re;
    } else if 2 * k < n {
        spectrum[k] += value * 0.5;
    } else {
        spectrum[n - k] += value.conj() * 0.5;
    }
}

/// Heights and sines of a tile of rings (unused lanes 0), and the largest sine.
fn lanes(z: &[f64]) -> ([f64; LANES], [f64; LANES], f64) {
    let mut heights = [0.0; LANES];
    heights[..z.len()].copy_from_slice(z);
    let sine: [f64; LANES] = std::array::from_fn(|i| ((1.0 - heights[i]) * (1.0 + heights[i])).max(0.0).sqrt());
    let widest = sine[..z.len()].iter().fold(0.0, |a: f64, b| a.max(*b));
    (heights, sine, widest)
}

/// `sin^m θ · Σ_l e_lm Q_lm` on a tile of rings, for every order that matters there.
pub(crate) struct Legendre<'a> {
    pub(crate) table: &'a OrderTable,
    pub(crate) weights: &'a [[f64; 2]],
    /// At most [`LANES`] heights.
    pub(crate) z: &'a [f64],
}

impl WithSimd for Legendre<'_> {
    type Output = Vec<([f64; LANES], [f64; LANES])>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let (z, sine, widest) = lanes(self.z);
        let mut power = [1.0; LANES];
        let mut sums = Vec::with_capacity(self.table.lmax + 1);
        // No closures here: they would be compiled without this kernel's vector instructions.
        for m in 0..self.table.orders(widest) {
            let (mut cos, mut sin) = ([0.0; LANES], [0.0; LANES]);
            for (group, z) in vectors::<S>(&z).iter().enumerate() {
                let (c, s) = order_sums::<S, 1>(simd, self.table, self.weights, m, &[*z]);
                vectors_mut::<S>(&mut cos)[group] = c[0];
                vectors_mut::<S>(&mut sin)[group] = s[0];
            }
            for i in 0..LANES {
                (cos[i], sin[i]) = (cos[i] * power[i], sin[i] * power[i]);
                power[i] *= sine[i];
            }
            sums.push((cos, sin));
        }
        sums
    }
}

/// The transpose of [`Legendre`]: sums over a tile of rings, in the packing of `pack_by_order`.
struct LegendreAdjoint<'a> {
    table: &'a OrderTable,
    orders: &'a [([f64; LANES], [f64; LANES])],
    z: &'a [f64],
}

impl WithSimd for LegendreAdjoint<'_> {
    type Output = Vec<[f64; 2]>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let lmax = self.table.lmax;
        let (z, sine, widest) = lanes(self.z);
        let mut packed = vec![[0.0; 2]; (lmax + 1) * (lmax + 2) / 2];
        let mut power = [1.0; LANES];
        for m in 0..self.table.orders(widest) {
            let (cos, sin) = &self.orders[m];
            let (mut cos, mut sin) = (*cos, *sin);
            for i in 0..LANES {
                (cos[i], sin[i]) = (cos[i] * power[i], sin[i] * power[i]);
                power[i] *= sine[i];
            }
            let out = &mut packed[packed_start(lmax, m)..][..=lmax - m];
            let steps = &self.table.steps[self.table.order_start[m]..][..lmax - m];
            let (cos, sin) = (vectors::<S>(&cos), vectors::<S>(&sin));
            for ((z, cos), sin) in vectors::<S>(&z).iter().zip(cos).zip(sin) {
                let (mut before, mut now) = (simd.splat_f64s(0.0), simd.splat_f64s(self.table.diagonal[m]));
                for l in 0..=lmax - m {
                    out[l][0] += simd.reduce_sum_f64s(simd.mul_f64s(now, *cos));
                    out[l][1] += simd.reduce_sum_f64s(simd.mul_f64s(now, *sin));
                    if let Some(step) = steps.get(l) {
                        let (a, c) = (simd.splat_f64s(step[0]), simd.splat_f64s(step[1]));
                        let next = simd.mul_add_e_f64s(simd.mul_f64s(a, *z), now, simd.mul_f64s(c, before));
                        (before, now) = (now, next);
                    }
                }
            }
        }
        packed
    }
}
