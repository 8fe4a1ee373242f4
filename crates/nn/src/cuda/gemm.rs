//! Matrix products through `cuBLASLt`, with one plan per shape.

use super::{
    Context, failed,
    launch::{Arg, Grid},
};
use crate::{Precision, Result, View, ViewMut, bf16::Bf16View, error::check_shape, ops::Transpose};
use cudarc::{
    cublaslt::{result as lt, sys},
    driver::{CudaSlice, CudaStream, DevicePtr},
};
use std::{
    collections::HashMap,
    ffi::c_void,
    sync::{Arc, Mutex, PoisonError},
};

/// `cuBLASLt`'s scratch memory, one piece per stream.
const WORKSPACE_BYTES: usize = 32 << 20;
/// Rows of rounded operands start at multiples of this many bf16 values, 16 bytes.
const ROUNDED_ALIGNMENT: usize = 8;

/// Everything an algorithm's choice depends on, in `cuBLASLt`'s column-major terms: our `c = a·b` is its `cᵀ = bᵀ·aᵀ`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    m: usize,
    n: usize,
    k: usize,
    a_stride: usize,
    b_stride: usize,
    c_stride: usize,
    op_a: Transpose,
    op_b: Transpose,
    accumulate: bool,
    bias: bool,
    precision: Precision,
    output_bf16: bool,
    /// Powers of two that divide the addresses of a, b and c.
    alignment: [u32; 3],
}

/// Where a product of bf16 matrices goes.
#[derive(Clone, Copy)]
pub(crate) enum ProductOutput<'a> {
    Bf16(Bf16View<'a>),
    F32(&'a ViewMut<'a>),
}

/// A row added to every row of a product, in the output's type.
#[derive(Clone, Copy)]
pub(crate) enum ProductBias<'a> {
    Bf16(Bf16View<'a>),
    F32(View<'a>),
}

/// Descriptors and the algorithm chosen for a [`Key`].
struct Plan {
    desc: sys::cublasLtMatmulDesc_t,
    layouts: [sys::cublasLtMatrixLayout_t; 3],
    algo: sys::cublasLtMatmulAlgo_t,
}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: created together in `Plan::new` and destroyed once; errors at this point have no remedy.
        unsafe {
            let _ = lt::destroy_matmul_desc(self.desc);
            for layout in self.layouts {
                let _ = lt::destroy_matrix_layout(layout);
            }
        }
    }
}

struct State {
    plans: HashMap<Key, Plan>,
    handle: sys::cublasLtHandle_t,
}

// SAFETY: handle and descriptors are plain library objects without thread affinity; the mutex serialises their use.
unsafe impl Send for State {}

/// Memory for the two operands of a product, rounded to bf16.
type RoundedPair = [Option<Arc<CudaSlice<u16>>>; 2];

/// The library handle, the plans made so far, and the scratch memory.
pub(super) struct Products {
    state: Mutex<State>,
    workspaces: Vec<CudaSlice<u8>>,
    /// Operands rounded to bf16: two pieces per stream, grown as products ask for more.
    rounded: Mutex<Vec<RoundedPair>>,
}

impl Products {
    pub(super) fn new(stream: &Arc<CudaStream>, streams: usize) -> Result<Self> {
        let handle = lt::create_handle().map_err(failed("starting cuBLASLt"))?;
        let workspaces = (0..streams)
            .map(|_| {
                stream
                    .alloc_zeros::<u8>(WORKSPACE_BYTES)
                    .map_err(failed("allocating cuBLASLt's scratch memory"))
            })
            .collect::<Result<Vec<_>>>()?;
        let rounded = Mutex::new(vec![[None, None]; streams]);
        Ok(Self { state: Mutex::new(State { plans: HashMap::new(), handle }), workspaces, rounded })
    }
}

impl Drop for Products {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.plans.clear();
        // SAFETY: the handle was created in `new` and nothing uses it any more.
        unsafe {
            let _ = lt::destroy_handle(state.handle);
        }
    }
}

/// The largest power of two up to 256 that divides an address.
fn alignment(address: u64) -> u32 {
    1 << address.trailing_zeros().min(8)
}

fn set_attribute<T>(
    desc: sys::cublasLtMatmulDesc_t,
    attribute: sys::cublasLtMatmulDescAttributes_t,
    value: &T,
) -> Result<()> {
    // SAFETY: `value` lives through the call and has the type the attribute is documented with.
    unsafe {
        lt::set_matmul_desc_attribute(
            desc,
            attribute,
            std::ptr::from_ref(value).cast::<c_void>(),
            size_of::<T>(),
        )
    }
    .map_err(failed("describing a product"))
}

impl Plan {
    fn new(handle: sys::cublasLtHandle_t, key: &Key) -> Result<Self> {
        use sys::cublasLtMatmulDescAttributes_t as D;
        let compute = match key.precision {
            Precision::F32 | Precision::Bf16 => sys::cublasComputeType_t::CUBLAS_COMPUTE_32F,
            Precision::Tf32 => sys::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32,
        };
        let float = sys::cudaDataType::CUDA_R_32F;
        let operand = if key.precision == Precision::Bf16 { sys::cudaDataType::CUDA_R_16BF } else { float };
        let desc = lt::create_matmul_desc(compute, float).map_err(failed("describing a product"))?;
        // cublasOperation_t: 0 is N, 1 is T.
        let op = |transpose: Transpose| i32::from(transpose == Transpose::Yes);
        // First operand: our b; second: our a. Row-major read as column-major is the transpose already.
        set_attribute(desc, D::CUBLASLT_MATMUL_DESC_TRANSA, &op(key.op_b))?;
        set_attribute(desc, D::CUBLASLT_MATMUL_DESC_TRANSB, &op(key.op_a))?;
        if key.bias {
            let epilogue = sys::cublasLtEpilogue_t::CUBLASLT_EPILOGUE_BIAS;
            set_attribute(desc, D::CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue)?;
        }
        let stored = |transpose: Transpose, rows: usize, cols: usize| match transpose {
            Transpose::No => (cols as u64, rows as u64),
            Transpose::Yes => (rows as u64, cols as u64),
        };
        let (b_rows, b_cols) = stored(key.op_b, key.k, key.n);
        let (a_rows, a_cols) = stored(key.op_a, key.m, key.k);
        let layout = |kind, rows, cols, stride| {
            lt::create_matrix_layout(kind, rows, cols, stride as i64).map_err(failed("describing a matrix"))
        };
        let output = if key.output_bf16 { sys::cudaDataType::CUDA_R_16BF } else { float };
        let layouts = [
            layout(operand, b_rows, b_cols, key.b_stride)?,
            layout(operand, a_rows, a_cols, key.a_stride)?,
            layout(output, key.n as u64, key.m as u64, key.c_stride)?,
        ];
        let algo = choose(handle, desc, layouts, key)?;
        Ok(Self { desc, layouts, algo })
    }
}

fn choose(
    handle: sys::cublasLtHandle_t,
    desc: sys::cublasLtMatmulDesc_t,
    layouts: [sys::cublasLtMatrixLayout_t; 3],
    key: &Key,
) -> Result<sys::cublasLtMatmulAlgo_t> {
    use sys::cublasLtMatmulPreferenceAttributes_t as P;
    let pref = lt::create_matmul_pref().map_err(failed("choosing an algorithm"))?;
    let [a, b, c] = key.alignment;
    let alignments = [
        (P::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, b),
        (P::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, a),
        (P::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, c),
        (P::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, c),
    ];
    // SAFETY: attributes are set from live values of their documented types; all objects are live.
    let choice = unsafe {
        let workspace = WORKSPACE_BYTES;
        let attribute = P::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
        let pointer = std::ptr::from_ref(&workspace).cast();
        let mut set = lt::set_matmul_pref_attribute(pref, attribute, pointer, size_of::<usize>());
        for (attribute, bytes) in &alignments {
            let pointer = std::ptr::from_ref(bytes).cast();
            set = set.and(lt::set_matmul_pref_attribute(pref, *attribute, pointer, size_of::<u32>()));
        }
        set.and_then(|()| {
            let [first, second, out] = layouts;
            lt::get_matmul_algo_heuristic(handle, desc, first, second, out, out, pref)
        })
    };
    // SAFETY: created above, destroyed once.
    unsafe { lt::destroy_matmul_pref(pref) }.map_err(failed("choosing an algorithm"))?;
    Ok(choice.map_err(failed("choosing an algorithm"))?.algo)
}

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
        let k = if op_a == Transpose::No { a.cols } else { a.rows };
        if c.rows == 0 || c.cols == 0 || k == 0 {
            return check_shape(k != 0, "gemm", || "an empty inner dimension on CUDA".to_owned());
        }
        for view in [&a, &b] {
            check_shape(view.rows <= 1 || view.stride >= view.cols, "gemm", || {
                "a repeated row on CUDA".to_owned()
            })?;
        }
        let precision = self.precision();
        let ((a_at, a_stride), (b_at, b_stride)) = if precision == Precision::Bf16 {
            (self.rounded(a, 0)?, self.rounded(b, 1)?)
        } else {
            ((self.address(&a)?, a.stride.max(a.cols)), (self.address(&b)?, b.stride.max(b.cols)))
        };
        let c_at = self.address_mut(c)?;
        let bias_at = bias.map(|bias| self.address(&bias)).transpose()?;
        let key = Key {
            m: c.rows,
            n: c.cols,
            k,
            a_stride,
            b_stride,
            c_stride: c.stride,
            op_a,
            op_b,
            accumulate: beta != 0.0,
            bias: bias.is_some(),
            precision,
            output_bf16: false,
            alignment: [a_at, b_at, c_at].map(alignment),
        };
        self.multiply(key, [a_at, b_at, c_at], beta, bias_at)
    }

    /// `c = x·wᵀ + beta·c + bias` between bf16 matrices that stay rounded.
    pub(crate) fn gemm_bf16(
        self: &Arc<Self>,
        c: ProductOutput<'_>,
        x: Bf16View<'_>,
        w: Bf16View<'_>,
        beta: f32,
        bias: Option<ProductBias<'_>>,
    ) -> Result<()> {
        if x.rows == 0 || w.rows == 0 || x.cols == 0 {
            return check_shape(x.cols != 0, "gemm", || "an empty inner dimension on CUDA".to_owned());
        }
        let (c_at, c_stride, output_bf16) = match &c {
            ProductOutput::Bf16(view) => (self.address_bf16(view)?, view.stride, true),
            ProductOutput::F32(view) => (self.address_mut(view)?, view.stride, false),
        };
        let bias_at = match &bias {
            Some(ProductBias::Bf16(view)) => Some(self.address_bf16(view)?),
            Some(ProductBias::F32(view)) => Some(self.address(view)?),
            None => None,
        };
        let (a_at, b_at) = (self.address_bf16(&x)?, self.address_bf16(&w)?);
        let key = Key {
            m: x.rows,
            n: w.rows,
            k: x.cols,
            a_stride: x.stride,
            b_stride: w.stride,
            c_stride,
            op_a: Transpose::No,
            op_b: Transpose::Yes,
            accumulate: beta != 0.0,
            bias: bias.is_some(),
            precision: Precision::Bf16,
            output_bf16,
            alignment: [a_at, b_at, c_at].map(alignment),
        };
        self.multiply(key, [a_at, b_at, c_at], beta, bias_at)
    }

    /// Runs the product that `key` describes, on the operands a, b and c at these addresses.
    fn multiply(
        self: &Arc<Self>,
        key: Key,
        [a_at, b_at, c_at]: [u64; 3],
        beta: f32,
        bias_at: Option<u64>,
    ) -> Result<()> {
        self.bind()?;
        let mut state = self.products.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { plans, handle } = &mut *state;
        let plan = match plans.entry(key) {
            std::collections::hash_map::Entry::Occupied(plan) => plan.into_mut(),
            std::collections::hash_map::Entry::Vacant(slot) => slot.insert(Plan::new(*handle, &key)?),
        };
        if let Some(bias_at) = &bias_at {
            let attribute = sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_BIAS_POINTER;
            set_attribute(plan.desc, attribute, bias_at)?;
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
    ///
    /// The memory is used again by the stream's next product, which comes after this one.
    fn rounded(self: &Arc<Self>, operand: View<'_>, place: usize) -> Result<(u64, usize)> {
        let stride = operand.cols.next_multiple_of(ROUNDED_ALIGNMENT);
        let (number, stream) = self.current();
        let memory = {
            let mut all = self.products.rounded.lock().unwrap_or_else(PoisonError::into_inner);
            let piece = &mut all[number][place];
            let enough = piece.as_ref().is_some_and(|memory| memory.len() >= operand.rows * stride);
            if !enough {
                // On this very stream, so that the memory is there before what follows uses it.
                let fresh = stream.alloc_zeros::<u16>(operand.rows * stride);
                *piece = Some(Arc::new(fresh.map_err(failed("allocating memory for bf16 operands"))?));
            }
            Arc::clone(piece.as_ref().expect("it was just made"))
        };
        let address = memory.device_ptr(stream).0;
        let (rows, cols) = (operand.rows, operand.cols);
        let args = [Arg::Long(address as usize), Arg::In(operand), Arg::Int(stride), Arg::Int(cols)];
        self.launch("round_bf16", Grid::Elements { rows, cols }, &args)?;
        self.keep(|| memory as _);
        Ok((address, stride))
    }
}
