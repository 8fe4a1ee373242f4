//! Matrices that stay rounded to bf16 on a CUDA device.

use crate::{Device, Result, cuda, device::Backend, error::check_shape, kernel_source::Kernels};
use locdiff_base::setting;
use rayon::prelude::*;
use std::sync::Arc;

/// Rows start at multiples of this many values, 16 bytes.
const ALIGNMENT: usize = 8;

/// An owned row-major bf16 matrix on a CUDA device; spare values at the end of its rows are zero or never read.
pub struct Bf16Tensor {
    buffer: Arc<cuda::Buffer<u16>>,
    rows: usize,
    cols: usize,
    stride: usize,
}

/// A window on a [`Bf16Tensor`]: rows a fixed distance apart.
#[derive(Clone, Copy)]
pub struct Bf16View<'a> {
    pub(crate) buffer: &'a Arc<cuda::Buffer<u16>>,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) stride: usize,
}

/// A writable [`Bf16View`].
pub struct Bf16ViewMut<'a>(pub(crate) Bf16View<'a>);

impl Bf16Tensor {
    /// A matrix of zeros.
    /// Fails with [`crate::NnError::Setting`] unless `device` is a CUDA device of compute capability 8.0 or more.
    pub fn zeros(device: &Device, rows: usize, cols: usize) -> Result<Self> {
        let Backend::Cuda(context) = &device.backend else {
            return Err(setting("the device of a bf16 matrix", device, "use a CUDA device"));
        };
        context.prepare(Kernels::Bf16)?;
        context.prepare(Kernels::Attention)?;
        let stride = cols.next_multiple_of(ALIGNMENT);
        Ok(Self { buffer: cuda::Buffer::zeros(context, rows * stride)?, rows, cols, stride })
    }

    /// A matrix with these values, row by row, rounded to nearest.
    pub fn from_slice(device: &Device, rows: usize, cols: usize, values: &[f32]) -> Result<Self> {
        check_shape(values.len() == rows * cols && cols > 0, "upload", || {
            format!("{} values for a {rows}×{cols} matrix", values.len())
        })?;
        let mut tensor = Self::zeros(device, rows, cols)?;
        tensor.upload_rows(values, &mut Vec::new())?;
        Ok(tensor)
    }

    /// Replaces the first rows, as many as `values` fills; rounds on all threads, into `rounded`: memory kept from call to
    /// call, as touching fresh memory takes longer. Fails unless `values` holds whole rows, no more than the matrix.
    pub fn upload_rows(&mut self, values: &[f32], rounded: &mut Vec<u16>) -> Result<()> {
        let (cols, stride) = (self.cols, self.stride);
        check_shape(values.len().is_multiple_of(cols) && values.len() <= self.rows * cols, "upload", || {
            format!("{} values for rows of a {}×{cols} matrix", values.len(), self.rows)
        })?;
        rounded.resize(values.len() / cols * stride, 0);
        rounded.par_chunks_exact_mut(stride).zip(values.par_chunks_exact(cols)).for_each(|(to, from)| {
            for (to, from) in to.iter_mut().zip(from) {
                *to = half::bf16::from_f32(*from).to_bits();
            }
            to[cols..].fill(0);
        });
        self.buffer.upload(rounded)
    }

    /// All values, row by row; waits for the device.
    pub fn to_vec(&self) -> Result<Vec<f32>> {
        let mut bits = vec![0; self.rows * self.stride];
        self.buffer.download(&mut bits)?;
        let rows = bits.chunks_exact(self.stride.max(1)).flat_map(|row| &row[..self.cols]);
        Ok(rows.map(|&bits| half::bf16::from_bits(bits).to_f32()).collect())
    }

    /// A window on the first `rows` rows.
    pub fn rows(&self, rows: usize) -> Bf16View<'_> {
        assert!(rows <= self.rows, "{rows} rows of {}", self.rows);
        Bf16View { buffer: &self.buffer, rows, cols: self.cols, stride: self.stride }
    }

    /// A writable window on the first `rows` rows.
    pub fn rows_mut(&mut self, rows: usize) -> Bf16ViewMut<'_> {
        Bf16ViewMut(self.rows(rows))
    }

    /// A window on the whole matrix.
    pub fn view(&self) -> Bf16View<'_> {
        self.rows(self.rows)
    }
}

impl Bf16View<'_> {
    /// Rows 0, `step`, 2·`step`, …
    #[must_use]
    pub fn every_row(self, step: usize) -> Self {
        Self { rows: self.rows.div_ceil(step), stride: self.stride * step, ..self }
    }

    pub(super) fn expect_shape(&self, op: &'static str, name: &str, rows: usize, cols: usize) -> Result<()> {
        check_shape(self.rows == rows && self.cols == cols, op, || {
            format!("`{name}` is {}×{}, wanted {rows}×{cols}", self.rows, self.cols)
        })
    }

    pub(super) fn context(&self) -> &Arc<cuda::Context> {
        self.buffer.context()
    }
}
