//! What stands in for the CUDA module where the feature `cuda` is off: a device that cannot be opened. Its types have no values, so nothing
//! of them ever runs.
#![allow(dead_code)] // reason: what operations would hand to a device is made by code that never runs

use crate::{
    NnError, Precision, Result, View, ViewMut,
    bf16::Bf16View,
    kernel_args::{Arg, Grid, ProductBias, ProductOutput},
    kernels::{KernelSource, Kernels},
    ops::Transpose,
    pictures::{Picture, Plane},
};
use std::{marker::PhantomData, sync::Arc};

/// Side lanes that operations are numbered by.
pub(crate) const LANES: usize = 4;

/// Methods of a type without values.
macro_rules! never {
    ($($name:ident($($type:ty),*) $(-> $result:ty)?;)*) => {
        $(pub(crate) fn $name(&self, $(_: $type),*) $(-> $result)? {
            match *self {}
        })*
    };
}

pub(crate) enum Context {}

#[allow(clippy::too_many_arguments)] // reason: the operands of `ops::gemm`
impl Context {
    pub(crate) fn open(_ordinal: usize) -> Result<Arc<Self>> {
        Err(NnError::CudaUnavailable { reason: "this build is without the feature `cuda`".to_owned() })
    }

    pub(crate) fn count() -> usize {
        0
    }

    never! {
        ordinal() -> usize;
        name() -> &str;
        set_precision(Precision);
        precision() -> Precision;
        synchronize() -> Result<()>;
        decoder() -> Option<Arc<Decoder>>;
        memory_used_bytes() -> Result<usize>;
        memory_free_bytes() -> Result<usize>;
        prepare(Kernels) -> Result<()>;
        prepare_source(&'static KernelSource);
        enter_lane(usize) -> Result<()>;
        leave_lane();
        join_lane(usize) -> Result<()>;
        record(&mut dyn FnMut() -> Result<()>) -> Result<Graph>;
        launch(&'static str, Grid, &[Arg<'_>]) -> Result<()>;
        gemm(&ViewMut<'_>, View<'_>, Transpose, View<'_>, Transpose, f32, Option<View<'_>>) -> Result<()>;
        gemm_bf16(ProductOutput<'_>, Bf16View<'_>, Bf16View<'_>, f32, Option<ProductBias<'_>>) -> Result<()>;
    }
}

impl Context {
    /// # Safety
    /// It never runs.
    #[allow(unsafe_code)] // reason: the signature of what it stands in for
    pub(crate) unsafe fn launch_source(
        &self,
        _: &'static KernelSource,
        _: &'static str,
        _: Grid,
        _: &[Arg<'_>],
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
    never! { launch() -> Result<()>; }
}

pub(crate) enum Inbox {}

impl Inbox {
    pub(crate) fn new(context: &Arc<Context>, _len: usize) -> Result<Self> {
        match **context {}
    }

    never! { send(&ViewMut<'_>, &[f32]) -> Result<()>; }
}

pub(crate) enum Outbox {}

impl Outbox {
    pub(crate) fn new(context: &Arc<Context>, _sizes: &[usize]) -> Result<Self> {
        match **context {}
    }

    never! {
        copy(&[View<'_>]) -> Result<()>;
        read() -> Result<Vec<Vec<f32>>>;
    }
}

pub(crate) enum Decoder {}

impl Decoder {
    never! { takes(&[u8], &[Plane]) -> bool; }
}

pub(crate) enum Photos {}

impl Photos {
    pub(crate) fn new(
        context: &Arc<Context>,
        _side: usize,
        _normal: &[[f32; 256]; 3],
        _decoder: Option<&Arc<Decoder>>,
    ) -> Result<Self> {
        match **context {}
    }

    never! {
        reserve(usize, Vec<Picture>) -> Result<Call>;
        give_back(Call) -> Vec<Picture>;
        launch(&Bf16View<'_>, Call) -> Result<()>;
    }
}

pub(crate) enum Call {}

impl Call {
    never! { decode() -> Result<bool>; }
}

pub(crate) fn ask_for_queues() {}
