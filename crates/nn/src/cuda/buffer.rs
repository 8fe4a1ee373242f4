//! Device memory.

use super::{Context, failed};
use crate::Result;
use cudarc::driver::{CudaSlice, DevicePtr, DeviceRepr, ValidAsZeroBits, result};
use std::sync::Arc;

/// `len` values of device memory, freed when the last owner goes.
pub(crate) struct Buffer<T> {
    context: Arc<Context>,
    slice: CudaSlice<T>,
    pointer: u64,
}

impl<T: DeviceRepr + ValidAsZeroBits> Buffer<T> {
    pub(crate) fn zeros(context: &Arc<Context>, len: usize) -> Result<Arc<Self>> {
        let slice = context.main.alloc_zeros::<T>(len.max(1)).map_err(failed("allocating device memory"))?;
        let pointer = slice.device_ptr(&context.main).0;
        Ok(Arc::new(Self { context: Arc::clone(context), slice, pointer }))
    }

    pub(crate) fn upload(&self, values: &[T]) -> Result<()> {
        self.upload_at(0, values)
    }

    /// Replaces values from `offset` on.
    pub(crate) fn upload_at(&self, offset: usize, values: &[T]) -> Result<()> {
        assert!(offset + values.len() <= self.slice.len());
        self.context.bind()?;
        // SAFETY: the buffer has room for `values`; the driver has read pageable host memory before it returns, and
        // the copy takes its turn on the stream all other operations use.
        unsafe { result::memcpy_htod_async(self.address(offset), values, self.context.main.cu_stream()) }
            .map_err(failed("copying to the device"))
    }

    pub(crate) fn download(&self, values: &mut [T]) -> Result<()> {
        assert!(values.len() <= self.slice.len());
        self.context.bind()?;
        // SAFETY: the buffer holds at least `values.len()` values, and we wait for the copy before returning.
        unsafe { result::memcpy_dtoh_async(values, self.pointer, self.context.main.cu_stream()) }
            .map_err(failed("copying from the device"))?;
        self.context.synchronize()
    }
}

impl<T> Buffer<T> {
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub(crate) fn len(&self) -> usize {
        self.slice.len()
    }

    /// The device address of value `offset`.
    pub(super) fn address(&self, offset: usize) -> u64 {
        self.pointer + (offset * size_of::<T>()) as u64
    }
}
