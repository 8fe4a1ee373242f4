//! A device, its streams, its compiled kernels, and recorded graphs.

use super::{Decoder, failed, lock, products::Products};
use crate::{NnError, Precision, Result, kernel_source::KernelSource, kernel_source::Kernels};
use cudarc::driver::{CudaContext, CudaEvent, CudaFunction, CudaGraph, CudaStream, DeviceRepr, PinnedHostSlice, sys};
use cudarc::{cublaslt, driver, nvrtc, nvrtc::CompileOptions};
use locdiff_base::{setting, timed};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::{any::Any, collections::HashMap, sync::Arc, sync::Mutex, sync::OnceLock, thread::JoinHandle};

/// Side lanes beside the main one.
pub(crate) const LANES: usize = 4;

const COMMON: &str = include_str!("kernels/common.cu");
const BF16: &str = include_str!("kernels/bf16.cu");

/// What everybody uses, then those of [`Kernels`] in their order, then what is compiled when it is first launched.
static MODULES: [KernelSource; 9] = [
    KernelSource {
        sources: &[
            include_str!("kernels/elementwise.cu"),
            include_str!("kernels/rows.cu"),
            include_str!("kernels/random.cu"),
            include_str!("kernels/optim.cu"),
        ],
        kernels: "activate activate_backward dropout dropout_backward dropout_sine dropout_sine_backward film \
            film_backward axpby scale round_bf16 gather_rows mix_rows sinusoidal column_sums softmax \
            row_dot layer_norm normalise normalise_backward point_loss reverse_kl \
            fill_random fill_row_noise fill_indices drop_rows sampler_step advance_counter gather_gradients \
            noise_codes adam_prepare adam",
    },
    KernelSource {
        sources: &[BF16],
        kernels: "layer_norm_bf16 layer_norm_wide_bf16 embed_tokens mean_rows_bf16 activate_bf16 patches_bf16",
    },
    KernelSource { sources: &["#define HEAD 64\n", BF16], kernels: "attention_64" },
    KernelSource {
        sources: &[include_str!("kernels/conv.cu")],
        kernels: "conv_patches depthwise clamp_relu6 mean_relu6",
    },
    KernelSource { sources: &[include_str!("kernels/feed.cu")], kernels: "draw_rows gather_table" },
    KernelSource { sources: &[include_str!("kernels/photos.cu")], kernels: "photos_across photos_down" },
    KernelSource { sources: &["#define HEAD 32\n", BF16], kernels: "attention_32" },
    KernelSource { sources: &["#define HEAD 96\n", BF16], kernels: "attention_96" },
    KernelSource { sources: &["#define HEAD 128\n", BF16], kernels: "attention_128" },
];

type Functions = HashMap<&'static str, CudaFunction>;

/// A module's functions, or the thread that compiles them.
#[derive(Default)]
struct Compiled {
    functions: OnceLock<Functions>,
    under_way: Mutex<Option<JoinHandle<Result<Functions>>>>,
}

impl Compiled {
    /// Compiles a module on a thread of its own, once.
    fn start(&self, device: &Arc<CudaContext>, module: &'static KernelSource) {
        let mut under_way = lock(&self.under_way);
        if self.functions.get().is_none() && under_way.is_none() {
            *under_way = Some(compile(device, module));
        }
    }

    /// A kernel; waits if it is not compiled yet.
    fn get(&self, device: &Arc<CudaContext>, module: &'static KernelSource, name: &str) -> Result<sys::CUfunction> {
        if self.functions.get().is_none() {
            let mut under_way = lock(&self.under_way);
            if self.functions.get().is_none() {
                let thread = under_way.take().unwrap_or_else(|| compile(device, module));
                let compiled = timed("waiting for compiled kernels", || thread.join().expect("the compiler's thread"))?;
                self.functions.get_or_init(|| compiled);
            }
        }
        let function = self.functions.get().and_then(|functions| functions.get(name));
        Ok(function.expect("a kernel of the module").cu_function())
    }

    /// A process that ends must not end the compiler's threads before they do.
    fn finish(&self) {
        let _ = lock(&self.under_way).take().map(JoinHandle::join);
    }
}

/// A side stream with the events that order it against the main one.
struct Lane {
    stream: Arc<CudaStream>,
    start: CudaEvent,
    done: CudaEvent,
}

type Keep = Arc<dyn Any + Send + Sync>;

/// An opened CUDA device.
pub(crate) struct Context {
    pub(super) device: Arc<CudaContext>,
    /// The main stream.
    pub(super) main: Arc<CudaStream>,
    lanes: Vec<Lane>,
    /// 0: the main stream; k + 1: lane k.
    current: AtomicUsize,
    compiled: [Compiled; MODULES.len()],
    /// Kernels of other crates.
    others: Mutex<Vec<(&'static KernelSource, Arc<Compiled>)>>,
    pub(super) products: Products,
    precision: AtomicU8,
    /// While a graph is recorded: everything it uses.
    recording: Mutex<Option<Vec<Keep>>>,
    name: String,
}

/// Numbers that may have any bits.
pub(super) trait PlainNumber: DeviceRepr {}

impl PlainNumber for f32 {}
impl PlainNumber for u32 {}

fn unavailable(reason: String) -> NnError {
    NnError::CudaUnavailable { reason }
}

/// Whether the libraries can be loaded at all; cudarc panics on first use where they cannot.
fn check_libraries() -> Result<()> {
    // SAFETY: these only try to open shared libraries by name.
    let (driver, blas, compiler) =
        unsafe { (driver::sys::is_culib_present(), cublaslt::sys::is_culib_present(), nvrtc::sys::is_culib_present()) };
    for (present, what) in [(driver, "the driver, libcuda"), (blas, "libcublasLt"), (compiler, "libnvrtc")] {
        if !present {
            return Err(unavailable(format!("{what} was not found")));
        }
    }
    Ok(())
}

impl Context {
    pub(crate) fn open(ordinal: usize) -> Result<Arc<Self>> {
        check_libraries()?;
        let context = CudaContext::new(ordinal)
            .map_err(|error| unavailable(format!("device {ordinal} cannot be opened ({error:?})")))?;
        // SAFETY: we order streams ourselves, with one main stream and explicit events for the lanes.
        unsafe { context.disable_event_tracking() };
        check_architecture(&context)?;
        let compiled: [Compiled; MODULES.len()] = Default::default();
        compiled[0].start(&context, &MODULES[0]);
        let main = context.new_stream().map_err(failed("creating a stream"))?;
        let event = || context.new_event(None).map_err(failed("creating an event"));
        let lane = |_| -> Result<Lane> {
            let stream = context.new_stream().map_err(failed("creating a stream"))?;
            Ok(Lane { stream, start: event()?, done: event()? })
        };
        let lanes = (0..LANES).map(lane).collect::<Result<Vec<_>>>()?;
        let products = Products::new(&main, LANES + 1)?;
        let name = context.name().map_err(failed("asking for the device's name"))?;
        Ok(Arc::new(Self {
            device: context,
            main,
            lanes,
            current: AtomicUsize::new(0),
            compiled,
            others: Mutex::default(),
            products,
            precision: AtomicU8::new(Precision::Tf32 as u8),
            recording: Mutex::new(None),
            name,
        }))
    }

    pub(crate) fn ordinal(&self) -> usize {
        self.device.ordinal()
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn set_precision(&self, precision: Precision) {
        self.precision.store(precision as u8, Ordering::Relaxed);
    }

    pub(crate) fn precision(&self) -> Precision {
        match self.precision.load(Ordering::Relaxed) {
            code if code == Precision::F32 as u8 => Precision::F32,
            code if code == Precision::Bf16 as u8 => Precision::Bf16,
            _ => Precision::Tf32,
        }
    }

    pub(crate) fn synchronize(&self) -> Result<()> {
        self.main.synchronize().map_err(failed("waiting for the device"))
    }

    pub(crate) fn memory_used_bytes(&self) -> Result<usize> {
        let (free, total) = self.device.mem_get_info().map_err(failed("asking for free memory"))?;
        Ok(total - free)
    }

    pub(crate) fn memory_free_bytes(&self) -> Result<usize> {
        Ok(self.device.mem_get_info().map_err(failed("asking for free memory"))?.0)
    }

    pub(super) fn new_stream(&self) -> Result<Arc<CudaStream>> {
        self.device.new_stream().map_err(failed("creating a stream"))
    }

    pub(super) fn new_event(&self) -> Result<CudaEvent> {
        self.device.new_event(None).map_err(failed("creating an event"))
    }

    /// Page-locked memory with any numbers in it.
    pub(super) fn pinned<T: PlainNumber>(&self, len: usize) -> Result<PinnedHostSlice<T>> {
        // SAFETY: these numbers may have any bits.
        unsafe { self.device.alloc_pinned_with_flags(len, 0) }.map_err(failed("allocating page-locked memory"))
    }

    pub(super) fn bind(&self) -> Result<()> {
        self.device.bind_to_thread().map_err(failed("binding the device to the thread"))
    }

    /// The device's decoder of JPEG files, where it has one and nvJPEG is installed.
    pub(crate) fn decoder(&self) -> Option<Arc<Decoder>> {
        self.bind().ok()?;
        Decoder::open()
    }

    /// The number of the stream now in use, and the stream.
    pub(super) fn current(&self) -> (usize, &Arc<CudaStream>) {
        let current = self.current.load(Ordering::Relaxed);
        if current == 0 { (0, &self.main) } else { (current, &self.lanes[current - 1].stream) }
    }

    /// A kernel; waits if it is not compiled yet.
    pub(super) fn function(&self, name: &'static str) -> Result<sys::CUfunction> {
        if let Some(function) = self.compiled.iter().find_map(|compiled| compiled.functions.get()?.get(name)) {
            return Ok(function.cu_function());
        }
        let has = |module: &KernelSource| module.kernels.split_whitespace().any(|kernel| kernel == name);
        let number = MODULES.iter().position(has).expect("a kernel of a module");
        self.compiled[number].get(&self.device, &MODULES[number], name)
    }

    /// A kernel of another crate; waits if it is not compiled yet.
    pub(super) fn function_of(&self, source: &'static KernelSource, name: &str) -> Result<sys::CUfunction> {
        self.other(source).get(&self.device, source, name)
    }

    fn other(&self, source: &'static KernelSource) -> Arc<Compiled> {
        let mut others = lock(&self.others);
        if let Some((_, compiled)) = others.iter().find(|(other, _)| std::ptr::eq(*other, source)) {
            return Arc::clone(compiled);
        }
        let compiled = Arc::<Compiled>::default();
        others.push((source, Arc::clone(&compiled)));
        compiled
    }

    /// Has the kernels of another crate compiled while the caller goes on.
    pub(crate) fn prepare_source(&self, source: &'static KernelSource) {
        self.other(source).start(&self.device, source);
    }

    /// Has these kernels compiled beside what follows; those who launch one wait for it.
    pub(crate) fn prepare(&self, kernels: Kernels) -> Result<()> {
        let number = kernels as usize + 1;
        if self.compiled[number].functions.get().is_some() {
            return Ok(());
        }
        // The least compute capability that has their instructions.
        let least = if matches!(kernels, Kernels::Bf16 | Kernels::Attention) { (8, 0) } else { (0, 0) };
        let capability = self.device.compute_capability().map_err(failed("asking for the compute capability"))?;
        if capability < least {
            return Err(setting(
                "the compute capability",
                format!("{}.{} ({})", capability.0, capability.1, self.name),
                format!("bf16 needs {}.{} or more; choose the CPU", least.0, least.1),
            ));
        }
        self.compiled[number].start(&self.device, &MODULES[number]);
        Ok(())
    }

    /// Sends what follows to a side lane, which first waits for everything given so far.
    pub(crate) fn enter_lane(&self, lane: usize) -> Result<()> {
        let Lane { stream, start, .. } = &self.lanes[lane];
        start.record(&self.main).map_err(failed("recording an event"))?;
        stream.wait(start).map_err(failed("waiting for an event"))?;
        self.current.store(lane + 1, Ordering::Relaxed);
        Ok(())
    }

    /// Sends what follows to the main stream again, without waiting for the lane.
    pub(crate) fn leave_lane(&self) {
        self.current.store(0, Ordering::Relaxed);
    }

    /// Makes what follows on the main stream wait for a lane.
    pub(crate) fn join_lane(&self, lane: usize) -> Result<()> {
        let Lane { stream, done, .. } = &self.lanes[lane];
        done.record(stream).map_err(failed("recording an event"))?;
        self.main.wait(done).map_err(failed("waiting for an event"))
    }

    /// Keeps `used` alive as long as the graph being recorded, if one is.
    pub(super) fn keep(&self, used: impl FnOnce() -> Keep) {
        if let Some(kept) = lock(&self.recording).as_mut() {
            kept.push(used());
        }
    }

    /// Records what `operations` gives to the device, without running it.
    pub(crate) fn record(self: &Arc<Self>, operations: &mut dyn FnMut() -> Result<()>) -> Result<Graph> {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        self.main.begin_capture(mode).map_err(failed("starting a recording"))?;
        *lock(&self.recording) = Some(Vec::new());
        let outcome = operations();
        self.leave_lane();
        let kept = lock(&self.recording).take().unwrap_or_default();
        let graph = self.main.end_capture(sys::CUgraphInstantiate_flags(0)).map_err(failed("ending a recording"));
        outcome?;
        let graph = graph?.ok_or_else(|| failed("ending a recording")("nothing was recorded"))?;
        graph.upload().map_err(failed("preparing a graph"))?;
        Ok(Graph { graph, _kept: kept })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.compiled.iter().for_each(Compiled::finish);
        lock(&self.others).iter().for_each(|(_, compiled)| compiled.finish());
    }
}

fn architecture(context: &CudaContext) -> Result<i32> {
    let (major, minor) = context.compute_capability().map_err(failed("asking for the compute capability"))?;
    Ok(10 * major + minor)
}

/// Fails where the compiler does not know the device.
fn check_architecture(context: &CudaContext) -> Result<()> {
    let wanted = architecture(context)?;
    let mut count = 0;
    // SAFETY: the target is a number of ours.
    let status = unsafe { nvrtc::sys::nvrtcGetNumSupportedArchs(&raw mut count) };
    status.result().map_err(failed("asking the compiler"))?;
    let mut known = vec![0; count.max(0) as usize];
    // SAFETY: there is room for as many numbers as the library said.
    let status = unsafe { nvrtc::sys::nvrtcGetSupportedArchs(known.as_mut_ptr()) };
    status.result().map_err(failed("asking the compiler"))?;
    let reason = || unavailable(format!("NVRTC does not know compute capability {}.{}", wanted / 10, wanted % 10));
    if known.contains(&wanted) { Ok(()) } else { Err(reason()) }
}

fn compile(context: &Arc<CudaContext>, module: &'static KernelSource) -> JoinHandle<Result<Functions>> {
    let context = Arc::clone(context);
    std::thread::spawn(move || {
        let target = format!("--gpu-architecture=compute_{}", architecture(&context)?);
        let options = CompileOptions { options: vec![target, "--std=c++17".to_owned()], ..CompileOptions::default() };
        let source = [COMMON].iter().chain(module.sources).copied().collect::<String>();
        let ptx = timed("compiling", || nvrtc::compile_ptx_with_opts(source, options));
        let ptx = ptx.map_err(failed("compiling the kernels"))?;
        let loaded = timed("loading kernels", || context.load_module(ptx)).map_err(failed("loading the kernels"))?;
        let load = |name| Ok((name, loaded.load_function(name).map_err(failed("finding a kernel"))?));
        module.kernels.split_whitespace().map(load).collect()
    })
}

/// A recorded sequence, with everything it uses kept alive.
pub(crate) struct Graph {
    graph: CudaGraph,
    _kept: Vec<Keep>,
}

// SAFETY: a graph is a driver object without thread affinity: cudarc binds the context to the calling thread before it
// launches one, freeing one needs no context, and what it keeps alive may be dropped on any thread.
unsafe impl Send for Graph {}

impl Graph {
    pub(crate) fn launch(&self) -> Result<()> {
        self.graph.launch().map_err(failed("launching a graph"))
    }
}
