//! Matrix products through `cuBLASLt`.

use super::products::{Key, Plan, Row, Shape, State, WORKSPACE_BYTES, alignment, set_attribute};
use super::{Context, failed, lock};
use crate::kernel_args::{Arg, EitherView, LaunchGrid};
use crate::{Precision, Result, View, ViewMut, bf16::Bf16View, error::check_shape, kinds::Transpose};
use cudarc::{cublaslt::result as lt, cublaslt::sys, driver::DevicePtr};
use std::{collections::hash_map::Entry, ffi::c_void, sync::Arc};

/// Rows of rounded operands start at multiples of this many bf16 values, 16 bytes.
const ROUNDED_ALIGNMENT: usize = 8;

impl Context {
    #[allow(clippy::too_many_arguments)] // reason: the operands of `ops::gemm`
    pub(crate) fn gemm(
        self: &Arc<Self>,
        c: &ViewMut<'_>,
        a: View<'_>,
        op_a: Transpose,
        b: View<'_>,
        op_b: Transpose,
        beta: f32,
        bias: Option<View<'_>>,
    ) -> Result<()> {
        let bias = bias.map(|bias| self.address(&bias)).transpose()?.map(|bias| (Row::Added, bias));
        self.product(c, (a, op_a), (b, op_b), beta, bias)
    }

    /// `dw = dyᵀ·x` and the sums of dy's columns into `db`; false where the library has no such product.
    pub(crate) fn gemm_with_sums(
        self: &Arc<Self>,
        dw: &ViewMut<'_>,
        db: &ViewMut<'_>,
        dy: View<'_>,
        x: View<'_>,
    ) -> Result<bool> {
        if self.precision() == Precision::Bf16 {
            return Ok(false); // the sums would be those of rounded values
        }
        let sums = Some((Row::Sums, self.address_mut(db)?));
        Ok(self.product(dw, (dy, Transpose::Yes), (x, Transpose::No), 0.0, sums).is_ok())
    }

    fn product(
        self: &Arc<Self>,
        c: &ViewMut<'_>,
        (a, op_a): (View<'_>, Transpose),
        (b, op_b): (View<'_>, Transpose),
        beta: f32,
        row: Option<(Row, u64)>,
    ) -> Result<()> {
        let k = if op_a == Transpose::No { a.cols } else { a.rows };
        if c.rows == 0 || c.cols == 0 || k == 0 {
            return check_shape(k != 0, "gemm", || "an empty inner dimension on CUDA".to_owned());
        }
        for view in [&a, &b] {
            check_shape(view.rows <= 1 || view.stride >= view.cols, "gemm", || "a repeated row on CUDA".to_owned())?;
        }
        let precision = self.precision();
        let ((a_at, a_stride), (b_at, b_stride)) = if precision == Precision::Bf16 {
            (self.rounded(a, 0)?, self.rounded(b, 1)?)
        } else {
            ((self.address(&a)?, a.stride.max(a.cols)), (self.address(&b)?, b.stride.max(b.cols)))
        };
        let c_at = self.address_mut(c)?;
        let (sizes, strides) = ([c.rows, c.cols, k], [a_stride, b_stride, c.stride]);
        let shape = Shape { sizes, strides, ops: [op_a, op_b], precision, output_bf16: false };
        self.multiply(shape, [a_at, b_at, c_at], beta, row)
    }

    /// `c = x·wᵀ + beta·c + bias` between bf16 matrices that stay rounded.
    pub(crate) fn gemm_bf16(
        self: &Arc<Self>,
        c: EitherView<'_>,
        x: Bf16View<'_>,
        w: Bf16View<'_>,
        beta: f32,
        bias: Option<EitherView<'_>>,
    ) -> Result<()> {
        if x.rows == 0 || w.rows == 0 || x.cols == 0 {
            return check_shape(x.cols != 0, "gemm", || "an empty inner dimension on CUDA".to_owned());
        }
        let place = |view: EitherView<'_>| match view {
            EitherView::Bf16(view) => (self.address_bf16(&view), view.stride, true),
            EitherView::F32(view) => (self.address(&view), view.stride, false),
        };
        let (c_at, c_stride, output_bf16) = place(c);
        let (c_at, bias_at) = (c_at?, bias.map(|bias| place(bias).0).transpose()?.map(|bias| (Row::Added, bias)));
        let (a_at, b_at) = (self.address_bf16(&x)?, self.address_bf16(&w)?);
        let (sizes, strides) = ([x.rows, w.rows, x.cols], [x.stride, w.stride, c_stride]);
        let ops = [Transpose::No, Transpose::Yes];
        let shape = Shape { sizes, strides, ops, precision: Precision::Bf16, output_bf16 };
        self.multiply(shape, [a_at, b_at, c_at], beta, bias_at)
    }

    /// Runs the product of the operands a, b and c at these addresses.
    fn multiply(self: &Arc<Self>, shape: Shape, at: [u64; 3], beta: f32, row: Option<(Row, u64)>) -> Result<()> {
        self.bind()?;
        let [a_at, b_at, c_at] = at;
        let key = Key {
            shape,
            accumulate: beta != 0.0,
            row: row.map_or(Row::None, |row| row.0),
            alignment: at.map(alignment),
        };
        let mut state = lock(&self.products.state);
        let State { plans, handle } = &mut *state;
        let plan = match plans.entry(key) {
            Entry::Occupied(plan) => plan.into_mut(),
            Entry::Vacant(slot) => slot.insert(Plan::new(*handle, &key)?),
        };
        if let Some((_, row_at)) = &row {
            let attribute = sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_BIAS_POINTER;
            set_attribute(plan.desc, attribute, row_at)?;
        }
        let (number, stream) = self.current();
        let workspace = self.products.workspaces[number].device_ptr(stream).0;
        let (one, [first, second, out]) = (1.0_f32, plan.layouts);
        // SAFETY: addresses come from live buffers of this device (kept alive by the stream order or the recording), the
        // layouts describe exactly the views checked by `ops::gemm`, and each stream has scratch memory of its own.
        unsafe {
            lt::matmul(
                *handle,
                plan.desc,
                std::ptr::from_ref(&one).cast(),
                std::ptr::from_ref(&beta).cast(),
                b_at as *const c_void,
                first,
                a_at as *const c_void,
                second,
                c_at as *const c_void,
                out,
                c_at as *mut c_void,
                out,
                &raw const plan.algo,
                workspace as *mut c_void,
                WORKSPACE_BYTES,
                stream.cu_stream().cast(),
            )
        }
        .map_err(failed("a matrix product"))
    }

    /// Rounds an operand to bf16 in the stream's scratch memory; returns its address and row stride.
    /// The memory is used again by the stream's next product, which comes after this one.
    fn rounded(self: &Arc<Self>, operand: View<'_>, place: usize) -> Result<(u64, usize)> {
        let stride = operand.cols.next_multiple_of(ROUNDED_ALIGNMENT);
        let (number, stream) = self.current();
        let memory = {
            let mut all = lock(&self.products.rounded);
            let piece = &mut all[number][place];
            let enough = piece.as_ref().is_some_and(|memory| memory.len() >= operand.rows * stride);
            if !enough {
                // On this very stream, so that the memory is there before what follows uses it.
                let fresh = stream.alloc_zeros::<u16>(operand.rows * stride);
                *piece = Some(Arc::new(fresh.map_err(failed("allocating memory for bf16 operands"))?));
            }
            Arc::clone(piece.as_ref().expect("it was just made"))
        };
        let (address, rows, cols) = (memory.device_ptr(stream).0, operand.rows, operand.cols);
        let args = [Arg::Long(address as usize), Arg::In(operand), Arg::Int(stride), Arg::Int(cols)];
        self.launch("round_bf16", LaunchGrid::Elements { rows, cols }, &args)?;
        self.keep(|| memory as _);
        Ok((address, stride))
    }
}
