//! NCCL by hand: the few functions that one sum over several GPUs needs. cudarc's own binding looks for `libnccl.so` alone and
//! panics without it; pip's package has `libnccl.so.2` only.

use super::Context;
use crate::{NnError, Result, ViewMut};
use libloading::Library;
use std::{
    ffi::{CStr, c_char, c_int, c_void},
    sync::{
        Arc,
        atomic::{AtomicPtr, Ordering},
    },
};

/// The environment variable that names the library's file.
const PATH_VARIABLE: &str = "LOCDIFF_NCCL";
const NAMES: [&str; 2] = ["libnccl.so.2", "libnccl.so"];

/// What all ranks of a communicator share; one makes it, the others are told.
pub(crate) const ID_BYTES: usize = 128;

/// `ncclUniqueId`, which goes by value.
#[derive(Clone, Copy)]
#[repr(C)]
struct UniqueId([c_char; ID_BYTES]);

type Handle = *mut c_void;

/// `ncclFloat32` and `ncclSum`.
const FLOAT32: c_int = 7;
const SUM: c_int = 0;

/// The functions, and the library that holds them.
struct Functions {
    get_unique_id: unsafe extern "C" fn(*mut UniqueId) -> c_int,
    init_rank: unsafe extern "C" fn(*mut Handle, c_int, UniqueId, c_int) -> c_int,
    all_reduce:
        unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int, c_int, Handle, *mut c_void) -> c_int,
    destroy: unsafe extern "C" fn(Handle) -> c_int,
    abort: unsafe extern "C" fn(Handle) -> c_int,
    error_string: unsafe extern "C" fn(c_int) -> *const c_char,
    version: c_int,
    _library: Library,
}

impl Functions {
    fn load() -> Result<Self> {
        let named = std::env::var(PATH_VARIABLE).ok();
        let names = named.as_deref().map_or(NAMES.to_vec(), |path| vec![path]);
        // SAFETY: a shared library's initialisers run; NCCL's do nothing but set up its own state.
        let found = names.iter().find_map(|name| unsafe { Library::new(*name) }.ok());
        let library = found.ok_or_else(|| NnError::NcclUnavailable {
            reason: format!("{} was not found", names.join(" or ")),
        })?;
        /// One function by name.
        fn find<T: Copy>(library: &Library, name: &str) -> Result<T> {
            // SAFETY: each field's type is that of nccl.h, unchanged since NCCL 2.0.
            unsafe { library.get::<T>(name) }.map(|symbol| *symbol).map_err(|error| {
                NnError::NcclUnavailable { reason: format!("the library has no {name} ({error})") }
            })
        }
        let get_version: unsafe extern "C" fn(*mut c_int) -> c_int = find(&library, "ncclGetVersion")?;
        let mut version = 0;
        // SAFETY: it writes one number.
        unsafe { get_version(&raw mut version) };
        Ok(Self {
            get_unique_id: find(&library, "ncclGetUniqueId")?,
            init_rank: find(&library, "ncclCommInitRank")?,
            all_reduce: find(&library, "ncclAllReduce")?,
            destroy: find(&library, "ncclCommDestroy")?,
            abort: find(&library, "ncclCommAbort")?,
            error_string: find(&library, "ncclGetErrorString")?,
            version,
            _library: library,
        })
    }

    fn check(&self, what: &'static str, code: c_int) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: NCCL answers with a text that lives as long as the library.
        let words = unsafe { CStr::from_ptr((self.error_string)(code)) };
        Err(NnError::Cuda { what, detail: format!("NCCL: {}", words.to_string_lossy()) })
    }
}

/// A fresh id.
pub(crate) fn unique_id() -> Result<[u8; ID_BYTES]> {
    let functions = Functions::load()?;
    let mut id = UniqueId([0; ID_BYTES]);
    // SAFETY: it fills in the 128 bytes.
    let code = unsafe { (functions.get_unique_id)(&raw mut id) };
    functions.check("ncclGetUniqueId", code)?;
    Ok(id.0.map(c_char::cast_unsigned))
}

/// One rank's end.
pub(crate) struct Communicator {
    functions: Functions,
    /// Null once aborted.
    handle: AtomicPtr<c_void>,
    context: Arc<Context>,
}

impl Communicator {
    /// Waits for all ranks.
    pub(crate) fn join(
        context: &Arc<Context>,
        id: [u8; ID_BYTES],
        rank: usize,
        world: usize,
    ) -> Result<Self> {
        let functions = Functions::load()?;
        context.bind()?;
        let mut handle = std::ptr::null_mut();
        let id = UniqueId(id.map(u8::cast_signed));
        // SAFETY: the id came from `unique_id`; the device is bound to this thread; the handle is written once.
        let code = unsafe { (functions.init_rank)(&raw mut handle, world as c_int, id, rank as c_int) };
        functions.check("ncclCommInitRank", code)?;
        Ok(Self { functions, handle: AtomicPtr::new(handle), context: Arc::clone(context) })
    }

    /// NCCL's version, such as 22809.
    pub(crate) fn version(&self) -> usize {
        self.functions.version as usize
    }

    /// Sums over all ranks, in place, on the main stream; can be captured.
    pub(crate) fn sum(&self, values: &ViewMut<'_>) -> Result<()> {
        let address = self.context.address_mut(values)?;
        let (count, stream) = (values.rows * values.cols, self.context.stream().cu_stream());
        let handle = self.handle.load(Ordering::Acquire);
        if handle.is_null() {
            return Err(NnError::Cuda {
                what: "ncclAllReduce",
                detail: "the communicator was aborted".into(),
            });
        }
        self.context.bind()?;
        // SAFETY: the view is `count` values in a row of live device memory (a whole flat buffer), kept by the graph
        // that is recorded, if one is; the stream is the one that all other operations use.
        let code = unsafe {
            let (from, to) = (address as *const c_void, address as *mut c_void);
            (self.functions.all_reduce)(from, to, count, FLOAT32, SUM, handle, stream.cast())
        };
        self.functions.check("ncclAllReduce", code)
    }

    /// Ends sums that wait for a rank which will not come; from any thread.
    pub(crate) fn abort(&self) {
        let handle = self.handle.swap(std::ptr::null_mut(), Ordering::AcqRel);
        if !handle.is_null() {
            // SAFETY: the handle is live and, swapped out, nobody else's any more. NCCL allows this beside running sums.
            unsafe { (self.functions.abort)(handle) };
        }
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        let handle = self.handle.swap(std::ptr::null_mut(), Ordering::AcqRel);
        if !handle.is_null() {
            // SAFETY: the handle is live and nobody else's any more; work on the stream is done (the owner waited).
            unsafe { (self.functions.destroy)(handle) };
        }
    }
}
