//! What stands in for the CUDA module where the feature `cuda` is off: a device that cannot be opened. Its types have no values, so nothing
//! of them ever runs.
#![allow(dead_code)] // reason: what operations would hand to a device is made by code that never runs

use crate::{Indices, NnError, Precision, Result, View, ViewMut, bf16::Bf16View, ops::Transpose};
use std::{marker::PhantomData, sync::Arc};

/// Side lanes that operations are numbered by.
pub(crate) const LANES: usize = 4;
pub(crate) const NCCL_ID_BYTES: usize = 128;

const REASON: &str = "this build is without the feature `cuda`";

pub(crate) enum Context {}

impl Context {
    pub(crate) fn open(_ordinal: usize) -> Result<Arc<Self>> {
        Err(NnError::CudaUnavailable { reason: REASON.to_owned() })
    }

    pub(crate) fn count() -> usize {
        0
    }

    pub(crate) fn ordinal(&self) -> usize {
        match *self {}
    }

    pub(crate) fn name(&self) -> &str {
        match *self {}
    }

    pub(crate) fn set_precision(&self, _precision: Precision) {
        match *self {}
    }

    pub(crate) fn precision(&self) -> Precision {
        match *self {}
    }

    pub(crate) fn synchronize(&self) -> Result<()> {
        match *self {}
    }

    pub(crate) fn memory_used_bytes(&self) -> Result<usize> {
        match *self {}
    }

    pub(crate) fn memory_free_bytes(&self) -> Result<usize> {
        match *self {}
    }

    pub(crate) fn prepare_bf16(&self) -> Result<()> {
        match *self {}
    }

    pub(crate) fn prepare_conv(&self) -> Result<()> {
        match *self {}
    }

    pub(crate) fn prepare_feed(&self) -> Result<()> {
        match *self {}
    }

    pub(crate) fn prepare_decode(&self) -> Result<()> {
        match *self {}
    }

    pub(crate) fn enter_lane(&self, _lane: usize) -> Result<()> {
        match *self {}
    }

    pub(crate) fn leave_lane(&self) {
        match *self {}
    }

    pub(crate) fn join_lane(&self, _lane: usize) -> Result<()> {
        match *self {}
    }

    pub(crate) fn record(&self, _operations: &mut dyn FnMut() -> Result<()>) -> Result<Graph> {
        match *self {}
    }

    pub(crate) fn launch(&self, _kernel: &'static str, _grid: Grid, _args: &[Arg<'_>]) -> Result<()> {
        match *self {}
    }

    #[allow(clippy::too_many_arguments)] // reason: the operands of `ops::gemm`
    pub(crate) fn gemm(
        &self,
        _c: &ViewMut<'_>,
        _a: View<'_>,
        _op_a: Transpose,
        _b: View<'_>,
        _op_b: Transpose,
        _beta: f32,
        _bias: Option<View<'_>>,
    ) -> Result<()> {
        match *self {}
    }

    pub(crate) fn gemm_bf16(
        &self,
        _c: ProductOutput<'_>,
        _x: Bf16View<'_>,
        _w: Bf16View<'_>,
        _beta: f32,
        _bias: Option<ProductBias<'_>>,
    ) -> Result<()> {
        match *self {}
    }
}

pub(crate) struct Buffer<T> {
    context: Arc<Context>,
    values: PhantomData<T>,
}

impl<T> Buffer<T> {
    pub(crate) fn zeros(context: &Arc<Context>, _len: usize) -> Result<Arc<Self>> {
        match **context {}
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub(crate) fn upload(&self, _values: &[T]) -> Result<()> {
        match *self.context {}
    }

    pub(crate) fn upload_at(&self, _offset: usize, _values: &[T]) -> Result<()> {
        match *self.context {}
    }

    pub(crate) fn download(&self, _values: &mut [T]) -> Result<()> {
        match *self.context {}
    }

    pub(crate) fn len(&self) -> usize {
        match *self.context {}
    }
}

pub(crate) enum Graph {}

impl Graph {
    pub(crate) fn launch(&self) -> Result<()> {
        match *self {}
    }
}

pub(crate) enum Inbox {}

impl Inbox {
    pub(crate) fn new(context: &Arc<Context>, _len: usize) -> Result<Self> {
        match **context {}
    }

    pub(crate) fn send(&mut self, _to: &ViewMut<'_>, _values: &[f32]) -> Result<()> {
        match *self {}
    }
}

pub(crate) enum Outbox {}

impl Outbox {
    pub(crate) fn new(context: &Arc<Context>, _sizes: &[usize]) -> Result<Self> {
        match **context {}
    }

    pub(crate) fn copy(&mut self, _from: &[View<'_>]) -> Result<()> {
        match *self {}
    }

    pub(crate) fn read(&mut self) -> Result<Vec<Vec<f32>>> {
        match *self {}
    }
}

pub(crate) enum Communicator {}

impl Communicator {
    pub(crate) fn join(
        context: &Arc<Context>,
        _id: [u8; NCCL_ID_BYTES],
        _rank: usize,
        _world: usize,
    ) -> Result<Self> {
        match **context {}
    }

    pub(crate) fn version(&self) -> usize {
        match *self {}
    }

    pub(crate) fn sum(&self, _values: &ViewMut<'_>) -> Result<()> {
        match *self {}
    }

    pub(crate) fn abort(&self) {
        match *self {}
    }
}

pub(crate) fn unique_id() -> Result<[u8; NCCL_ID_BYTES]> {
    Err(NnError::NcclUnavailable { reason: REASON.to_owned() })
}

#[derive(Clone, Copy)]
pub(crate) enum ProductOutput<'a> {
    Bf16(Bf16View<'a>),
    F32(&'a ViewMut<'a>),
}

#[derive(Clone, Copy)]
pub(crate) enum ProductBias<'a> {
    Bf16(Bf16View<'a>),
    F32(View<'a>),
}

pub(crate) enum Arg<'a> {
    In(View<'a>),
    Out(&'a ViewMut<'a>),
    Bf16(Bf16View<'a>),
    Maybe(Option<View<'a>>),
    Indices(&'a Indices),
    Pointer(View<'a>),
    Halves(&'a Arc<Buffer<u16>>),
    Floats(&'a Arc<Buffer<f32>>),
    Doubles(&'a Arc<Buffer<f64>>),
    Null,
    Int(usize),
    Long(usize),
    Code(i32),
    Word(u32),
    Float(f32),
    Double(f64),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Grid {
    Elements { rows: usize, cols: usize },
    Rows(usize),
    Columns(usize),
    Flat(usize),
    Blocks { blocks: usize, threads: usize },
}
