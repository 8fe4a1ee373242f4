//! What operations hand to kernels and products on CUDA.
#![cfg_attr(not(feature = "cuda"), allow(dead_code))] // reason: without CUDA nothing reads them

use crate::{Indices, Rng, RowNoise, View, ViewMut, bf16::Bf16View, cuda::Buffer, kinds::SamplerStep, kinds::Walk};
use std::sync::Arc;

/// One kernel argument. Views become a pointer and a row stride.
pub(crate) enum Arg<'a> {
    In(View<'a>),
    Out(&'a ViewMut<'a>),
    /// Read or written, as the operation says.
    Bf16(Bf16View<'a>),
    /// A view or nothing (a null pointer).
    Maybe(Option<View<'a>>),
    Indices(&'a Indices),
    /// The generator's state and its first row.
    Rng(&'a Rng),
    /// The seed and the rows' keys.
    Noise(&'a RowNoise),
    /// Sides, kernel, step and padding.
    Walk(Walk),
    /// A sampler step's six factors.
    Step(SamplerStep),
    /// A view without its stride.
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

/// What goes to a kernel as it is; a size is an [`Arg::Int`].
macro_rules! from {
    ($($type:ty => $kind:ident;)*) => {
        $(impl<'a> From<$type> for Arg<'a> {
            fn from(value: $type) -> Self {
                Self::$kind(value)
            }
        })*
    };
}

from! {
    View<'a> => In;
    &'a ViewMut<'a> => Out;
    Bf16View<'a> => Bf16;
    Option<View<'a>> => Maybe;
    &'a Indices => Indices;
    &'a Rng => Rng;
    &'a RowNoise => Noise;
    Walk => Walk;
    SamplerStep => Step;
    &'a Arc<Buffer<f64>> => Doubles;
    usize => Int;
    i32 => Code;
    u32 => Word;
    f32 => Float;
    f64 => Double;
}

/// The arguments of a kernel, each by its type unless it is an [`Arg`] already.
macro_rules! args {
    ($($arg:expr),* $(,)?) => { [$($crate::kernel_args::Arg::from($arg)),*] };
}
pub(crate) use args;

/// Launches an operation's kernel if the first operand lives on CUDA. Else runs the loop on the CPU, where the operands
/// are matrices in memory.
macro_rules! run {
    ($op:expr, $grid:expr, [$($arg:expr),*]; $first:ident $(, $operand:ident)* => $loop:expr) => {{
        if let Some(context) = $first.cuda() {
            return context.launch($op, $grid, &$crate::kernel_args::args!($($arg),*));
        }
        let $first = $first.cpu($op)?;
        $(let $operand = $operand.cpu($op)?;)*
        $loop;
        Ok(())
    }};
}
pub(crate) use run;

/// Returns a shape error unless all the views have this shape.
macro_rules! expect_shapes {
    ($op:expr, $rows:expr, $cols:expr; $($view:ident),*) => {
        $($view.expect_shape($op, stringify!($view), $rows, $cols)?;)*
    };
}
pub(crate) use expect_shapes;

/// How a kernel spreads over its data.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the variants explain their fields")]
pub enum LaunchGrid {
    /// A thread a value of a matrix: block x is the row, block y the piece of columns.
    Elements { rows: usize, cols: usize },
    /// A block of 256 threads a row.
    Rows(usize),
    /// 32 columns a block, 32 threads down.
    Columns(usize),
    /// A thread a value, 256 a block.
    Flat(usize),
    /// So many blocks of so many threads.
    Blocks { blocks: usize, threads: usize },
}

type Dim = (u32, u32, u32);

impl LaunchGrid {
    pub(crate) fn each(view: &ViewMut<'_>) -> Self {
        Self::Elements { rows: view.rows, cols: view.cols }
    }

    /// A thread for four columns.
    pub(crate) fn fours(view: &ViewMut<'_>) -> Self {
        Self::Elements { rows: view.rows, cols: view.cols.div_ceil(4) }
    }

    pub(crate) fn dims(self) -> (Dim, Dim) {
        match self {
            Self::Elements { rows, cols } => {
                let threads = cols.next_multiple_of(32).min(256);
                ((rows as u32, cols.div_ceil(threads) as u32, 1), (threads as u32, 1, 1))
            }
            Self::Rows(rows) => ((rows as u32, 1, 1), (256, 1, 1)),
            Self::Columns(cols) => ((cols.div_ceil(32) as u32, 1, 1), (32, 32, 1)),
            Self::Flat(len) => ((len.div_ceil(256) as u32, 1, 1), (256, 1, 1)),
            Self::Blocks { blocks, threads } => ((blocks as u32, 1, 1), (threads as u32, 1, 1)),
        }
    }
}

/// The output of a product of bf16 matrices, or its bias, which is of the same type.
#[derive(Clone, Copy)]
pub(crate) enum EitherView<'a> {
    Bf16(Bf16View<'a>),
    F32(View<'a>),
}
