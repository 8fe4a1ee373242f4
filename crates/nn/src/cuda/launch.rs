//! Kernel launches with checked arguments.

use super::{Buffer, Context, failed};
use crate::kernel_args::{Arg, LaunchGrid};
use crate::tensor::IndexStorage;
use crate::{Indices, NnError, Result, View, ViewMut, bf16::Bf16View, kernel_source::KernelSource, view::Data};
use cudarc::driver::{result, sys::CUfunction};
use std::{ffi::c_void, sync::Arc};

impl Context {
    /// The device address of a view, which must live on this device.
    pub(super) fn address(self: &Arc<Self>, view: &View<'_>) -> Result<u64> {
        match view.data {
            Data::Cuda { buffer, offset } => self.place(buffer, offset),
            Data::Cpu(_) => Err(NnError::DeviceMismatch { op: "launch" }),
        }
    }

    pub(super) fn address_mut(self: &Arc<Self>, view: &ViewMut<'_>) -> Result<u64> {
        self.address(&view.as_view())
    }

    pub(super) fn address_bf16(self: &Arc<Self>, view: &Bf16View<'_>) -> Result<u64> {
        self.place(view.buffer, 0)
    }

    /// The device address of a value of a buffer, which must live on this device.
    fn place<T: Send + Sync + 'static>(self: &Arc<Self>, buffer: &Arc<Buffer<T>>, offset: usize) -> Result<u64> {
        if !Arc::ptr_eq(buffer.context(), self) {
            return Err(NnError::DeviceMismatch { op: "launch" });
        }
        self.keep(|| Arc::clone(buffer) as _);
        Ok(buffer.address(offset))
    }

    fn indices(self: &Arc<Self>, indices: &Indices) -> Result<u64> {
        match &indices.storage {
            IndexStorage::Cuda(buffer) => self.place(buffer, 0),
            IndexStorage::Cpu(_) => Err(NnError::DeviceMismatch { op: "launch" }),
        }
    }

    /// Launches a kernel on the stream now in use.
    pub(crate) fn launch(self: &Arc<Self>, kernel: &'static str, grid: LaunchGrid, args: &[Arg<'_>]) -> Result<()> {
        // SAFETY: each operation of this crate and its kernel are written together and tested together.
        unsafe { self.launch_found(kernel, || self.function(kernel), grid, args) }
    }

    /// Launches a kernel of another crate on the stream now in use.
    ///
    /// # Safety
    /// The arguments are the kernel's parameters, and it reads and writes inside of them only.
    pub(crate) unsafe fn launch_source(
        self: &Arc<Self>,
        source: &'static KernelSource,
        kernel: &'static str,
        grid: LaunchGrid,
        args: &[Arg<'_>],
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.launch_found(kernel, || self.function_of(source, kernel), grid, args) }
    }

    /// # Safety
    /// As [`Context::launch_source`].
    unsafe fn launch_found(
        self: &Arc<Self>,
        kernel: &'static str,
        find: impl FnOnce() -> Result<CUfunction>,
        grid: LaunchGrid,
        args: &[Arg<'_>],
    ) -> Result<()> {
        // Every argument takes a slot of 8 bytes, of which the kernel reads as many as its type has (little endian).
        let mut slots: Vec<u64> = Vec::with_capacity(2 * args.len());
        let narrow = |value: usize| u64::from(u32::try_from(value).expect("a size under 2^31"));
        for arg in args {
            match arg {
                Arg::Out(view) => slots.extend([self.address_mut(view)?, narrow(view.stride)]),
                Arg::In(view) | Arg::Maybe(Some(view)) => slots.extend([self.address(view)?, narrow(view.stride)]),
                Arg::Bf16(view) => slots.extend([self.address_bf16(view)?, narrow(view.stride)]),
                Arg::Maybe(None) => slots.extend([0, 0]),
                Arg::Indices(indices) => slots.push(self.indices(indices)?),
                Arg::Rng(rng) => slots.extend([self.indices(&rng.state)?, rng.first_row as u64]),
                Arg::Noise(noise) => slots.extend([self.indices(&noise.seed)?, self.indices(&noise.rows)?]),
                Arg::Walk(walk) => {
                    let sizes = [walk.side, walk.out_side(), walk.kernel, walk.step, walk.before()];
                    slots.extend(sizes.map(narrow));
                }
                Arg::Step(step) => slots.extend(step.factors().map(|factor| u64::from(factor.to_bits()))),
                Arg::Pointer(view) => slots.push(self.address(view)?),
                Arg::Halves(buffer) => slots.push(self.place(buffer, 0)?),
                Arg::Floats(buffer) => slots.push(self.place(buffer, 0)?),
                Arg::Doubles(buffer) => slots.push(self.place(buffer, 0)?),
                Arg::Null => slots.push(0),
                Arg::Int(value) => slots.push(narrow(*value)),
                Arg::Long(value) => slots.push(*value as u64),
                Arg::Code(value) => slots.push(u64::from(*value as u32)),
                Arg::Word(value) => slots.push(u64::from(*value)),
                Arg::Float(value) => slots.push(u64::from(value.to_bits())),
                Arg::Double(value) => slots.push(value.to_bits()),
            }
        }
        let (blocks, threads) = grid.dims();
        if blocks.0 == 0 || blocks.1 == 0 {
            return Ok(());
        }
        let mut pointers: Vec<*mut c_void> = slots.iter_mut().map(|slot| std::ptr::from_mut(slot).cast()).collect();
        self.bind()?;
        let (_, stream) = self.current();
        let function = find()?;
        // SAFETY: `pointers` points at one live slot per parameter of the kernel, in order, as the caller says; addresses
        // come from live buffers of this device, and the operation checked that the shapes fit.
        unsafe { result::launch_kernel(function, blocks, threads, 0, stream.cu_stream(), &mut pointers) }
            .map_err(failed(kernel))
    }
}
