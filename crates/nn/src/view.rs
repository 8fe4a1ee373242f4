//! Borrowed windows on tensors: row-major matrices with a row stride.

use crate::{NnError, Result, cpu, cuda, error::check_shape};
use std::{ops::Range, sync::Arc};

#[derive(Clone, Copy)]
pub(crate) enum Data<'a> {
    Cpu(&'a [f32]),
    Cuda { buffer: &'a Arc<cuda::Buffer<f32>>, offset: usize },
}

pub(crate) enum DataMut<'a> {
    Cpu(&'a mut [f32]),
    Cuda { buffer: &'a Arc<cuda::Buffer<f32>>, offset: usize },
}

/// A read-only window: `rows × cols` values, row `r` starting `r * stride` values into the storage.
/// A stride of 0 repeats one row for ever ([`View::broadcast_rows`]).
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub(crate) data: Data<'a>,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) stride: usize,
}

/// A writable window; see [`View`].
pub struct ViewMut<'a> {
    pub(crate) data: DataMut<'a>,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) stride: usize,
}

/// What both kinds of windows have.
macro_rules! windows {
    ($($view:ident, $data:ident, $mat:ident, [$($mut:tt)?];)*) => {$(
        impl<'a> $view<'a> {
            /// Number of rows.
            pub fn rows(&self) -> usize {
                self.rows
            }

            /// Number of columns.
            pub fn cols(&self) -> usize {
                self.cols
            }

            /// The columns `range` of every row.
            #[must_use]
            pub fn columns(self, range: Range<usize>) -> Self {
                assert!(range.end <= self.cols, "columns {range:?} of {}", self.cols);
                let rows = self.rows;
                self.window(range.start, rows, range.len())
            }

            /// The rows `range`.
            #[must_use]
            pub fn row_range(self, range: Range<usize>) -> Self {
                assert!(range.end <= self.rows, "rows {range:?} of {}", self.rows);
                let (skip, cols) = (range.start * self.stride, self.cols);
                self.window(skip, range.len(), cols)
            }

            /// Rows 0, `step`, 2·`step`, …
            #[must_use]
            pub fn every_row(self, step: usize) -> Self {
                Self { rows: self.rows.div_ceil(step), stride: self.stride * step, ..self }
            }

            fn window(self, skip: usize, rows: usize, cols: usize) -> Self {
                let range = if rows == 0 || cols == 0 { 0..0 } else { skip..skip + (rows - 1) * self.stride + cols };
                let data = match self.data {
                    $data::Cpu(values) => $data::Cpu(&$($mut)? values[range]),
                    $data::Cuda { buffer, offset } => $data::Cuda { buffer, offset: offset + skip },
                };
                Self { data, rows, cols, ..self }
            }

            pub(crate) fn cpu(self, op: &'static str) -> Result<cpu::$mat<'a>> {
                match self.data {
                    $data::Cpu(data) => Ok(cpu::$mat { data, rows: self.rows, cols: self.cols, stride: self.stride }),
                    $data::Cuda { .. } => Err(NnError::DeviceMismatch { op }),
                }
            }

            pub(crate) fn expect_shape(&self, op: &'static str, name: &str, rows: usize, cols: usize) -> Result<()> {
                check_shape(self.rows == rows && self.cols == cols, op, || {
                    format!("`{name}` is {}×{}, wanted {rows}×{cols}", self.rows, self.cols)
                })
            }
        }
    )*};
}

windows! {
    View, Data, Mat, [];
    ViewMut, DataMut, MatMut, [mut];
}

impl View<'_> {
    /// One row repeated `rows` times, without a copy.
    #[must_use]
    pub fn broadcast_rows(self, row: usize, rows: usize) -> Self {
        Self { rows, stride: 0, ..self.row_range(row..row + 1) }
    }
}

impl ViewMut<'_> {
    /// A shorter-lived handle on the same window.
    pub fn reborrow(&mut self) -> ViewMut<'_> {
        let data = match &mut self.data {
            DataMut::Cpu(values) => DataMut::Cpu(values),
            DataMut::Cuda { buffer, offset } => DataMut::Cuda { buffer, offset: *offset },
        };
        ViewMut { data, ..*self }
    }

    /// The same window, read-only.
    pub fn as_view(&self) -> View<'_> {
        let data = match &self.data {
            DataMut::Cpu(values) => Data::Cpu(values),
            DataMut::Cuda { buffer, offset } => Data::Cuda { buffer, offset: *offset },
        };
        View { data, rows: self.rows, cols: self.cols, stride: self.stride }
    }

    pub(crate) fn cuda(&self) -> Option<Arc<cuda::Context>> {
        match &self.data {
            DataMut::Cpu(_) => None,
            DataMut::Cuda { buffer, .. } => Some(Arc::clone(buffer.context())),
        }
    }
}
