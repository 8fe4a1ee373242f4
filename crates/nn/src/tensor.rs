//! Owned f32 matrices and u32 vectors on a device.

use crate::view::{Data, DataMut};
use crate::{Device, NnError, Result, View, ViewMut, aligned::Aligned, cuda, device::Backend, error::check_shape};
use std::sync::Arc;

enum Storage {
    Cpu(Aligned),
    Cuda(Arc<cuda::Buffer<f32>>),
}

/// An owned row-major f32 matrix on a device.
pub struct Tensor {
    device: Device,
    storage: Storage,
    rows: usize,
    cols: usize,
}

impl Tensor {
    /// A matrix of zeros.
    pub fn zeros(device: &Device, rows: usize, cols: usize) -> Result<Self> {
        let storage = match &device.backend {
            Backend::Cpu => Storage::Cpu(Aligned::zeros(rows * cols)),
            Backend::Cuda(context) => Storage::Cuda(cuda::Buffer::zeros(context, rows * cols)?),
        };
        Ok(Self { device: device.clone(), storage, rows, cols })
    }

    /// A matrix with these values, row by row.
    pub fn from_slice(device: &Device, rows: usize, cols: usize, values: &[f32]) -> Result<Self> {
        let mut tensor = Self::zeros(device, rows, cols)?;
        tensor.upload(values)?;
        Ok(tensor)
    }

    /// Replaces all values.
    pub fn upload(&mut self, values: &[f32]) -> Result<()> {
        self.check_all("upload", values.len())?;
        self.upload_rows(values)
    }

    /// Replaces the first rows, as many as `values` fills. Fails unless these are whole rows, no more than the tensor.
    pub fn upload_rows(&mut self, values: &[f32]) -> Result<()> {
        self.check_rows("upload", values.len())?;
        match &mut self.storage {
            Storage::Cpu(own) => own[..values.len()].copy_from_slice(values),
            Storage::Cuda(buffer) => buffer.upload(values)?,
        }
        Ok(())
    }

    pub(crate) fn check_all(&self, op: &'static str, len: usize) -> Result<()> {
        check_shape(len == self.rows * self.cols, op, || {
            format!("{len} values for a {}×{} tensor", self.rows, self.cols)
        })
    }

    fn check_rows(&self, op: &'static str, len: usize) -> Result<()> {
        check_shape(len <= self.rows * self.cols && (len == 0 || len.is_multiple_of(self.cols)), op, || {
            format!("{len} values for rows of a {}×{} tensor", self.rows, self.cols)
        })
    }

    /// Copies all values into `values`; waits for the device.
    pub fn download(&self, values: &mut [f32]) -> Result<()> {
        self.check_all("download", values.len())?;
        self.download_rows(values)
    }

    /// Copies the first rows into `values`, as many as fill it; waits for the device. Fails unless these are whole rows,
    /// no more than the tensor.
    pub fn download_rows(&self, values: &mut [f32]) -> Result<()> {
        self.check_rows("download", values.len())?;
        match &self.storage {
            Storage::Cpu(own) => values.copy_from_slice(&own[..values.len()]),
            Storage::Cuda(buffer) => buffer.download(values)?,
        }
        Ok(())
    }

    /// All values, row by row; waits for the device.
    pub fn to_vec(&self) -> Result<Vec<f32>> {
        let mut values = vec![0.0; self.rows * self.cols];
        self.download(&mut values)?;
        Ok(values)
    }

    /// The device it lives on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// A window on the whole matrix.
    pub fn view(&self) -> View<'_> {
        self.window(0, self.rows, self.cols)
    }

    /// A writable window on the whole matrix.
    pub fn view_mut(&mut self) -> ViewMut<'_> {
        self.window_mut(0, self.rows, self.cols)
    }

    /// The first `rows · cols` values as a matrix of that shape: one piece of memory for matrices of several shapes.
    /// Panics if the tensor is smaller.
    pub fn shaped(&self, rows: usize, cols: usize) -> View<'_> {
        self.window(0, rows, cols)
    }

    /// Writable [`Tensor::shaped`].
    pub fn shaped_mut(&mut self, rows: usize, cols: usize) -> ViewMut<'_> {
        self.window_mut(0, rows, cols)
    }

    /// `rows × cols` values that start `offset` values into the storage, seen as a matrix of their own.
    pub(crate) fn window(&self, offset: usize, rows: usize, cols: usize) -> View<'_> {
        let data = match &self.storage {
            Storage::Cpu(values) => Data::Cpu(&values[offset..offset + rows * cols]),
            Storage::Cuda(buffer) => {
                assert!(offset + rows * cols <= buffer.len());
                Data::Cuda { buffer, offset }
            }
        };
        View { data, rows, cols, stride: cols }
    }

    pub(crate) fn window_mut(&mut self, offset: usize, rows: usize, cols: usize) -> ViewMut<'_> {
        let data = match &mut self.storage {
            Storage::Cpu(values) => DataMut::Cpu(&mut values[offset..offset + rows * cols]),
            Storage::Cuda(buffer) => {
                assert!(offset + rows * cols <= buffer.len());
                DataMut::Cuda { buffer, offset }
            }
        };
        ViewMut { data, rows, cols, stride: cols }
    }

    /// Two windows at once (offset, rows, columns); the first lies before the second.
    pub(crate) fn two_windows_mut(&mut self, [a, b]: [(usize, usize, usize); 2]) -> [ViewMut<'_>; 2] {
        let of = |data, (_, rows, cols)| ViewMut { data, rows, cols, stride: cols };
        let (a_end, b_end) = (a.0 + a.1 * a.2, b.0 + b.1 * b.2);
        match &mut self.storage {
            Storage::Cpu(values) => {
                let (left, right) = values[..b_end].split_at_mut(b.0);
                [of(DataMut::Cpu(&mut left[a.0..a_end]), a), of(DataMut::Cpu(right), b)]
            }
            Storage::Cuda(buffer) => {
                assert!(a_end <= b.0 && b_end <= buffer.len());
                [a, b].map(|window| of(DataMut::Cuda { buffer, offset: window.0 }, window))
            }
        }
    }
}

/// An owned vector of u32 on a device: row numbers to gather, time steps, counters.
pub struct Indices {
    pub(crate) storage: IndexStorage,
    len: usize,
}

pub(crate) enum IndexStorage {
    Cpu(Vec<u32>),
    Cuda(Arc<cuda::Buffer<u32>>),
}

impl Indices {
    /// A vector with these values.
    pub fn from_slice(device: &Device, values: &[u32]) -> Result<Self> {
        let storage = match &device.backend {
            Backend::Cpu => IndexStorage::Cpu(values.to_vec()),
            Backend::Cuda(context) => IndexStorage::Cuda(cuda::Buffer::zeros(context, values.len())?),
        };
        let mut indices = Self { storage, len: values.len() };
        indices.upload(values)?;
        Ok(indices)
    }

    /// Replaces all values.
    pub fn upload(&mut self, values: &[u32]) -> Result<()> {
        check_shape(values.len() == self.len, "upload", || {
            format!("{} values for a vector of {}", values.len(), self.len)
        })?;
        match &mut self.storage {
            IndexStorage::Cpu(own) => own.copy_from_slice(values),
            IndexStorage::Cuda(buffer) => buffer.upload(values)?,
        }
        Ok(())
    }

    /// All values; waits for the device.
    pub fn to_vec(&self) -> Result<Vec<u32>> {
        let mut values = vec![0; self.len];
        match &self.storage {
            IndexStorage::Cpu(own) => values.copy_from_slice(own),
            IndexStorage::Cuda(buffer) => buffer.download(&mut values)?,
        }
        Ok(values)
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds no value.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn cuda(&self) -> Option<Arc<cuda::Context>> {
        match &self.storage {
            IndexStorage::Cpu(_) => None,
            IndexStorage::Cuda(buffer) => Some(Arc::clone(buffer.context())),
        }
    }

    pub(crate) fn cpu(&self, op: &'static str) -> Result<&[u32]> {
        match &self.storage {
            IndexStorage::Cpu(values) => Ok(values),
            IndexStorage::Cuda(_) => Err(NnError::DeviceMismatch { op }),
        }
    }

    pub(crate) fn cpu_mut(&mut self, op: &'static str) -> Result<&mut [u32]> {
        match &mut self.storage {
            IndexStorage::Cpu(values) => Ok(values),
            IndexStorage::Cuda(_) => Err(NnError::DeviceMismatch { op }),
        }
    }
}
