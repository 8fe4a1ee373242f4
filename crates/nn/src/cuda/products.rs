//! `cuBLASLt`'s handle, its scratch memory, and one plan per shape of product.

use super::failed;
use crate::{Precision, Result, kinds::Transpose};
use cudarc::{
    cublaslt::result as lt, cublaslt::result::CublasError, cublaslt::sys, driver::CudaSlice, driver::CudaStream,
};
use std::{collections::HashMap, ffi::c_void, sync::Arc, sync::Mutex, sync::PoisonError};

/// `cuBLASLt`'s scratch memory, one piece per stream.
pub(super) const WORKSPACE_BYTES: usize = 32 << 20;
/// Algorithms to choose from.
const CHOICES: usize = 8;
/// Everything an algorithm's choice depends on, in `cuBLASLt`'s column-major terms: our `c = a·b` is its `cᵀ = bᵀ·aᵀ`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) shape: Shape,
    pub(super) accumulate: bool,
    pub(super) row: Row,
    /// Powers of two that divide the addresses of a, b and c.
    pub(super) alignment: [u32; 3],
}

/// What a product does with a row beside its matrices.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Row {
    None,
    /// Adds it to every row of c.
    Added,
    /// Writes the sums of a over what the product sums: the bias's gradient, where a is that of the outputs.
    Sums,
}

/// How a product's operands a, b and c lie in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    /// Rows of c, columns of c, length of a sum.
    pub(super) sizes: [usize; 3],
    pub(super) strides: [usize; 3],
    /// Of a and b.
    pub(super) ops: [Transpose; 2],
    pub(super) precision: Precision,
    pub(super) output_bf16: bool,
}

/// Descriptors and the algorithm chosen for a [`Key`].
pub(super) struct Plan {
    pub(super) desc: sys::cublasLtMatmulDesc_t,
    pub(super) layouts: [sys::cublasLtMatrixLayout_t; 3],
    pub(super) algo: sys::cublasLtMatmulAlgo_t,
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

pub(super) struct State {
    pub(super) plans: HashMap<Key, Plan>,
    pub(super) handle: sys::cublasLtHandle_t,
}

// SAFETY: handle and descriptors are plain library objects without thread affinity; the mutex serialises their use.
unsafe impl Send for State {}

/// Memory for the two operands of a product, rounded to bf16.
type RoundedPair = [Option<Arc<CudaSlice<u16>>>; 2];

/// The library handle, the plans made so far, and the scratch memory.
pub(super) struct Products {
    pub(super) state: Mutex<State>,
    pub(super) workspaces: Vec<CudaSlice<u8>>,
    /// Operands rounded to bf16: two pieces per stream, grown as products ask for more.
    pub(super) rounded: Mutex<Vec<RoundedPair>>,
}

impl Products {
    pub(super) fn new(stream: &Arc<CudaStream>, streams: usize) -> Result<Self> {
        let handle = lt::create_handle().map_err(failed("starting cuBLASLt"))?;
        let workspaces = (0..streams)
            .map(|_| stream.alloc_zeros::<u8>(WORKSPACE_BYTES).map_err(failed("allocating cuBLASLt's scratch memory")))
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
pub(super) fn alignment(address: u64) -> u32 {
    1 << address.trailing_zeros().min(8)
}

pub(super) fn set_attribute<T>(
    desc: sys::cublasLtMatmulDesc_t,
    attribute: sys::cublasLtMatmulDescAttributes_t,
    value: &T,
) -> Result<()> {
    // SAFETY: `value` lives through the call and has the type the attribute is documented with.
    unsafe {
        lt::set_matmul_desc_attribute(desc, attribute, std::ptr::from_ref(value).cast::<c_void>(), size_of::<T>())
    }
    .map_err(failed("describing a product"))
}

impl Plan {
    pub(super) fn new(handle: sys::cublasLtHandle_t, key: &Key) -> Result<Self> {
        use sys::cublasLtMatmulDescAttributes_t as D;
        let Shape { sizes: [m, n, k], strides: [a_stride, b_stride, c_stride], ops: [op_a, op_b], .. } = key.shape;
        let compute = match key.shape.precision {
            Precision::F32 | Precision::Bf16 | Precision::Int8 => sys::cublasComputeType_t::CUBLAS_COMPUTE_32F,
            Precision::Tf32 => sys::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32,
        };
        let float = sys::cudaDataType::CUDA_R_32F;
        let operand = if key.shape.precision == Precision::Bf16 { sys::cudaDataType::CUDA_R_16BF } else { float };
        let desc = lt::create_matmul_desc(compute, float).map_err(failed("describing a product"))?;
        // cublasOperation_t: 0 is N, 1 is T.
        let op = |transpose: Transpose| i32::from(transpose == Transpose::Yes);
        // First operand: our b; second: our a. Row-major read as column-major is the transpose already.
        set_attribute(desc, D::CUBLASLT_MATMUL_DESC_TRANSA, &op(op_b))?;
        set_attribute(desc, D::CUBLASLT_MATMUL_DESC_TRANSB, &op(op_a))?;
        if key.row != Row::None {
            use sys::cublasLtEpilogue_t::{CUBLASLT_EPILOGUE_BGRADB as SUMS, CUBLASLT_EPILOGUE_BIAS as ADDED};
            let epilogue = if key.row == Row::Sums { SUMS } else { ADDED };
            set_attribute(desc, D::CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue)?;
        }
        let stored = |transpose: Transpose, rows: usize, cols: usize| match transpose {
            Transpose::No => (cols as u64, rows as u64),
            Transpose::Yes => (rows as u64, cols as u64),
        };
        let ((b_rows, b_cols), (a_rows, a_cols)) = (stored(op_b, k, n), stored(op_a, m, k));
        let layout = |kind, rows, cols, stride| {
            lt::create_matrix_layout(kind, rows, cols, stride as i64).map_err(failed("describing a matrix"))
        };
        let output = if key.shape.output_bf16 { sys::cudaDataType::CUDA_R_16BF } else { float };
        let layouts = [
            layout(operand, b_rows, b_cols, b_stride)?,
            layout(operand, a_rows, a_cols, a_stride)?,
            layout(output, n as u64, m as u64, c_stride)?,
        ];
        Ok(Self { desc, layouts, algo: choose(handle, desc, layouts, key)? })
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
            let mut found: [sys::cublasLtMatmulHeuristicResult_t; CHOICES] = std::mem::zeroed();
            let mut count = 0;
            let (most, place) = (CHOICES as i32, found.as_mut_ptr());
            sys::cublasLtMatmulAlgoGetHeuristic(
                handle,
                desc,
                first,
                second,
                out,
                out,
                pref,
                most,
                place,
                &raw mut count,
            )
            .result()?;
            let usable: Vec<_> = found[..count as usize].iter().filter(|one| one.state.result().is_ok()).collect();
            prefer(&usable, key).ok_or(CublasError(sys::cublasStatus_t::CUBLAS_STATUS_NOT_SUPPORTED))
        })
    };
    // SAFETY: created above, destroyed once.
    unsafe { lt::destroy_matmul_pref(pref) }.map_err(failed("choosing an algorithm"))?;
    choice.map_err(failed("choosing an algorithm"))
}

/// The library's first choice, except for the products in tf32 that another does faster (H200, cuBLASLt 13.1): tiles of 64 × 128 that
/// share the sums of a tile between pairs of processors. They are best where the first choice leaves many processors idle, and not where
/// `b` is read across. Nothing is timed here, so that a run has the same bits again.
fn prefer(found: &[&sys::cublasLtMatmulHeuristicResult_t], key: &Key) -> Option<sys::cublasLtMatmulAlgo_t> {
    use sys::cublasLtMatmulAlgoConfigAttributes_t as A;
    const IDLE_BELOW: f32 = 0.6;
    let shares = |one: &sys::cublasLtMatmulHeuristicResult_t| {
        let settings = [
            (A::CUBLASLT_ALGO_CONFIG_TILE_ID, 18, 4),
            (A::CUBLASLT_ALGO_CONFIG_SPLITK_NUM, u32::MAX, 4),
            (A::CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 12, 2),
        ];
        settings.into_iter().all(|(setting, wanted, size)| {
            let (mut value, mut written) = (0_u32, 0);
            let place = (&raw mut value).cast();
            // SAFETY: a setting of at most four bytes is read into as many.
            let read = unsafe {
                sys::cublasLtMatmulAlgoConfigGetAttribute(&raw const one.algo, setting, place, size, &raw mut written)
            };
            read.result().is_ok() && value == wanted
        })
    };
    let first = found.first()?;
    let better = match (key.shape.precision, key.shape.ops) {
        (Precision::Tf32, [Transpose::No, Transpose::No]) => found.iter().find(|one| !shares(one)),
        (Precision::Tf32, [Transpose::No, Transpose::Yes]) if first.wavesCount < IDLE_BELOW => {
            found.iter().find(|one| shares(one))
        }
        _ => None,
    };
    Some(better.unwrap_or(first).algo)
}
