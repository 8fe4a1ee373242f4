//! Where fields of spherical harmonics are highest, on a CUDA device: among given points, or exactly.

use crate::{
    Device, Indices, Precision, Result, Tensor, View, cuda,
    error::check_shape,
    feed::{Harmonics, Points},
    kernel_args::{Grid, args},
    kernels::Kernels,
    ops::{self, Transpose},
};
use std::sync::Arc;

/// Codes have at most so many numbers.
const MOST_NUMBERS: usize = 9216;

fn context<'a>(device: &'a Device, op: &'static str) -> Result<&'a Arc<cuda::Context>> {
    device.with_kernels(op, Kernels::Decode)
}

/// The harmonics of points that answers are chosen from, with room for the scores of a batch.
pub struct AnchorSearch {
    device: Device,
    anchors: Tensor,
    scores: Tensor,
    best: Indices,
}

impl AnchorSearch {
    /// For batches of up to `most` codes.
    pub fn new(device: &Device, harmonics: &Harmonics, anchors: &Points, most: usize) -> Result<Self> {
        context(device, "decode::AnchorSearch")?;
        let mut codes = Tensor::zeros(device, anchors.len(), harmonics.numbers())?;
        harmonics.write(codes.view_mut(), anchors, false)?;
        Ok(Self {
            scores: Tensor::zeros(device, most, anchors.len())?,
            best: Indices::from_slice(device, &vec![0; most])?,
            device: device.clone(),
            anchors: codes,
        })
    }

    /// The number of the anchor at which each code's field is highest; waits for the device.
    pub fn run(&mut self, codes: View<'_>) -> Result<Vec<u32>> {
        const OP: &str = "decode::AnchorSearch";
        let (context, rows) = (context(&self.device, OP)?, codes.rows());
        check_shape(rows <= self.scores.rows(), OP, || format!("{rows} codes"))?;
        let mut scores = self.scores.view_mut().row_range(0..rows);
        // In full precision: the highest score is the answer.
        let precision = context.precision();
        context.set_precision(Precision::F32);
        let product =
            ops::gemm(scores.reborrow(), codes, Transpose::No, self.anchors.view(), Transpose::Yes, 0.0, None);
        context.set_precision(precision);
        product?;
        context.launch("row_argmax", Grid::Rows(rows), &args!(&self.best, scores.as_view(), scores.cols()))?;
        let mut best = self.best.to_vec()?;
        best.truncate(rows);
        Ok(best)
    }
}

/// The ring grid on which peaks are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingGrid {
    /// Rings, at colatitudes (i + ½)π/rings.
    pub rings: usize,
    /// Points of a ring, from longitude 0; an even number.
    pub longitudes: usize,
}

/// A search for the continuous maximum: scores on a ring grid, then Newton steps in f64.
pub struct ExactSearch {
    device: Device,
    grid: RingGrid,
    degree: usize,
    codes: Tensor,
    scores: Tensor,
    answers: Arc<cuda::Buffer<f64>>,
    most: usize,
}

impl ExactSearch {
    /// For batches of up to `most` codes with all coefficients; `points` are the grid's, ring by ring.
    pub fn new(device: &Device, harmonics: &Harmonics, grid: RingGrid, points: &Points, most: usize) -> Result<Self> {
        const OP: &str = "decode::ExactSearch";
        let (context, dim, degree) = (context(device, OP)?, harmonics.numbers(), harmonics.degree());
        check_shape(
            points.len() == grid.rings * grid.longitudes
                && grid.longitudes.is_multiple_of(2)
                && dim == (degree + 1) * (degree + 1)
                && dim <= MOST_NUMBERS,
            OP,
            || format!("{grid:?} and codes of {dim} numbers"),
        )?;
        let mut codes = Tensor::zeros(device, points.len(), dim)?;
        harmonics.write(codes.view_mut(), points, false)?;
        Ok(Self {
            scores: Tensor::zeros(device, most, points.len())?,
            answers: cuda::Buffer::zeros(context, 4 * most)?,
            device: device.clone(),
            grid,
            degree,
            codes,
            most,
        })
    }

    /// `[x, y, z, value]` of each code's maximum; waits for the device.
    pub fn run(&mut self, harmonics: &Harmonics, codes: View<'_>) -> Result<Vec<[f64; 4]>> {
        const OP: &str = "decode::ExactSearch";
        let (context, rows) = (context(&self.device, OP)?, codes.rows());
        check_shape(rows <= self.most, OP, || format!("{rows} codes"))?;
        let mut scores = self.scores.view_mut().row_range(0..rows);
        // They only point the way: tf32 will do.
        ops::gemm(scores.reborrow(), codes, Transpose::No, self.codes.view(), Transpose::Yes, 0.0, None)?;
        let (steps, diagonal) = harmonics.recurrence();
        let args = args!(
            &self.answers,
            codes,
            scores.as_view(),
            self.degree,
            self.grid.rings,
            self.grid.longitudes,
            steps,
            diagonal
        );
        context.launch("exact_peaks", Grid::Rows(rows), &args)?;
        let mut flat = vec![0.0; 4 * rows];
        self.answers.download(&mut flat)?;
        Ok(flat.chunks_exact(4).map(|four| [four[0], four[1], four[2], four[3]]).collect())
    }
}
