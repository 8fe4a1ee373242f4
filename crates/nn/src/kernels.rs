//! Kernels that a CUDA device compiles on demand: this crate's, and those of other crates with what they need.
#![cfg_attr(not(feature = "cuda"), allow(dead_code))] // reason: without CUDA nothing reads them
#![allow(unsafe_code)] // reason: callers promise that the arguments fit their kernel

pub use crate::kernel_args::LaunchGrid;
pub use crate::kernel_source::KernelSource;

use crate::{Device, Indices, Result, Rng, View, ViewMut, cuda, kernel_args::Arg};
use std::sync::Arc;

/// One argument of a kernel.
#[derive(Clone, Copy)]
pub enum KernelArg<'a> {
    /// A matrix that is written: a pointer and a row stride.
    Out(&'a ViewMut<'a>),
    /// A matrix that is read: a pointer and a row stride.
    In(View<'a>),
    /// A pointer to a row that is read, or to nothing.
    Row(Option<View<'a>>),
    /// A pointer to whole numbers, or to nothing.
    Indices(Option<&'a Indices>),
    /// A pointer to a generator's state: the seed and the step.
    State(&'a Rng),
    /// A pointer to f64 numbers.
    Doubles(&'a Doubles),
    /// An `int`.
    Int(usize),
    /// An `unsigned int`.
    Word(u32),
}

impl<'a> From<KernelArg<'a>> for Arg<'a> {
    fn from(arg: KernelArg<'a>) -> Self {
        match arg {
            KernelArg::Out(view) => Self::Out(view),
            KernelArg::In(view) => Self::In(view),
            KernelArg::Row(view) => view.map_or(Self::Null, Self::Pointer),
            KernelArg::Indices(indices) => indices.map_or(Self::Null, Self::Indices),
            KernelArg::State(rng) => Self::Indices(&rng.state),
            KernelArg::Doubles(doubles) => Self::Doubles(&doubles.0),
            KernelArg::Int(value) => Self::Int(value),
            KernelArg::Word(value) => Self::Word(value),
        }
    }
}

impl KernelSource {
    /// Has a CUDA device compile the kernels while the caller goes on; `op` names the operation in an error.
    /// Fails on the CPU.
    pub fn prepare(&'static self, device: &Device, op: &'static str) -> Result<()> {
        device.cuda_context(op)?.prepare_source(self);
        Ok(())
    }

    /// Launches a kernel after everything given to the device so far, and waits for the compiler if need be.
    /// Fails on the CPU and for arguments of another device.
    ///
    /// # Safety
    /// The arguments must be the kernel's parameters in their order, and it must read and write nothing outside of them.
    pub unsafe fn launch(
        &'static self,
        device: &Device,
        kernel: &'static str,
        grid: LaunchGrid,
        args: &[KernelArg<'_>],
    ) -> Result<()> {
        let args: Vec<Arg<'_>> = args.iter().map(|arg| Arg::from(*arg)).collect();
        // SAFETY: the caller's promise.
        unsafe { device.cuda_context(kernel)?.launch_source(self, kernel, grid, &args) }
    }
}

/// f64 numbers in the memory of a CUDA device.
#[derive(Clone)]
pub struct Doubles(Arc<cuda::Buffer<f64>>);

impl Doubles {
    /// So many zeros; `op` names the operation in an error.
    pub fn zeros(device: &Device, len: usize, op: &'static str) -> Result<Self> {
        Ok(Self(cuda::Buffer::zeros(device.cuda_context(op)?, len)?))
    }

    /// These numbers.
    pub fn from_slice(device: &Device, values: &[f64], op: &'static str) -> Result<Self> {
        let doubles = Self::zeros(device, values.len(), op)?;
        doubles.0.upload(values)?;
        Ok(doubles)
    }

    /// The first `len` numbers; waits for the device.
    pub fn to_vec(&self, len: usize) -> Result<Vec<f64>> {
        let mut values = vec![0.0; len];
        self.0.download(&mut values)?;
        Ok(values)
    }
}
