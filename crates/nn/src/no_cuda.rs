//! Replaces the CUDA module if the feature `cuda` is off: a device that cannot be opened. Its types have no values, so
//! none of their methods ever runs.
#![allow(dead_code)] // reason: what operations would hand to a device is made by code that never runs
#![allow(clippy::too_many_arguments)] // reason: the operands of `ops::gemm`

use crate::kernel_args::{Arg, EitherView, LaunchGrid};
use crate::kernel_source::{KernelSource, Kernels};
use crate::pictures::{Picture, Plane};
use crate::{NnError, Precision, Result, View, ViewMut, bf16::Bf16View, ops::Transpose};
use std::{marker::PhantomData, sync::Arc};

/// Side lanes that operations are numbered by.
pub(crate) const LANES: usize = 4;

/// Types without values and their methods; `new` takes a context and what is listed after it.
macro_rules! never {
    ($($type:ident $(new($($part:ty),*))? {
        $($name:ident($($arg:ty),*) $(-> $result:ty)?;)*
    })*) => {$(
        pub(crate) enum $type {}

        impl $type {
            $(pub(crate) fn new(context: &Arc<Context>, $(_: $part),*) -> Result<Self> {
                match **context {}
            })?

            $(pub(crate) fn $name(&self, $(_: $arg),*) $(-> $result)? {
                match *self {}
            })*
        }
    )*};
}

never! {
    Context {
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
        launch(&'static str, LaunchGrid, &[Arg<'_>]) -> Result<()>;
        gemm(&ViewMut<'_>, View<'_>, Transpose, View<'_>, Transpose, f32, Option<View<'_>>) -> Result<()>;
        gemm_with_sums(&ViewMut<'_>, &ViewMut<'_>, View<'_>, View<'_>) -> Result<bool>;
        gemm_bf16(EitherView<'_>, Bf16View<'_>, Bf16View<'_>, f32, Option<EitherView<'_>>) -> Result<()>;
    }
    Graph { launch() -> Result<()>; }
    Inbox new(usize) { send(&ViewMut<'_>, &[f32]) -> Result<()>; }
    Outbox new(&[usize]) {
        copy(&[View<'_>]) -> Result<()>;
        read() -> Result<Vec<Vec<f32>>>;
    }
    Decoder { takes(&[u8], &[Plane]) -> bool; }
    Photos new(usize, &[[f32; 256]; 3], Option<&Arc<Decoder>>) {
        reserve(usize, Vec<Picture>) -> Result<Call>;
        give_back(Call) -> Vec<Picture>;
        launch(&Bf16View<'_>, Call) -> Result<()>;
    }
    Call { decode() -> Result<bool>; }
}

impl Context {
    pub(crate) fn open(_ordinal: usize) -> Result<Arc<Self>> {
        Err(NnError::CudaUnavailable { reason: "this build is without the feature `cuda`".to_owned() })
    }

    /// # Safety
    /// It never runs.
    #[allow(unsafe_code)] // reason: the signature of what it replaces
    pub(crate) unsafe fn launch_source(
        &self,
        _: &'static KernelSource,
        _: &'static str,
        _: LaunchGrid,
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

pub(crate) fn ask_for_queues() {}
