//! Where tensors live and operations run.

use crate::{NnError, Precision, Result, cuda, kernel_source::Kernels};
use locdiff_base::{BadSetting, Named};
use std::{fmt, str::FromStr, sync::Arc};

/// The name of a device that is not opened yet.
///
/// ```
/// use locdiff_nn::DeviceSpec;
/// assert_eq!("cuda".parse::<DeviceSpec>()?, DeviceSpec::Cuda(0));
/// assert_eq!(DeviceSpec::default().to_string(), "auto");
/// # Ok::<(), locdiff_nn::NnError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceSpec {
    /// CUDA where a device can be used, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// The CUDA device of that ordinal.
    Cuda(usize),
}

impl FromStr for DeviceSpec {
    type Err = NnError;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            _ => {
                let ordinal = name.strip_prefix("cuda:").and_then(|ordinal| ordinal.parse().ok());
                ordinal.map(Self::Cuda).ok_or_else(|| NnError::UnknownDevice(name.to_owned()))
            }
        }
    }
}

impl fmt::Display for DeviceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
        }
    }
}

#[derive(Clone)]
pub(crate) enum Backend {
    Cpu,
    Cuda(Arc<cuda::Context>),
}

/// An opened device; a cheap handle that can be cloned.
#[derive(Clone)]
pub struct Device {
    pub(crate) backend: Backend,
    /// Whether encoders on the CPU may multiply whole numbers.
    int8: bool,
}

impl Device {
    /// The CPU, with rayon's global thread pool.
    pub fn cpu() -> Self {
        Self { backend: Backend::Cpu, int8: false }
    }

    /// The CUDA device of that ordinal, with [`Precision::Tf32`] products.
    /// Fails with [`NnError::CudaUnavailable`] if the driver, the libraries or the device are missing.
    pub fn cuda(ordinal: usize) -> Result<Self> {
        Ok(Self { backend: Backend::Cuda(cuda::Context::open(ordinal)?), int8: false })
    }

    /// Opens the device that `spec` names. `Auto` falls back to the CPU.
    pub fn open(spec: DeviceSpec) -> Result<Self> {
        match spec {
            DeviceSpec::Cpu => Ok(Self::cpu()),
            DeviceSpec::Cuda(ordinal) => Self::cuda(ordinal),
            DeviceSpec::Auto => Ok(Self::cuda(0).unwrap_or_else(|_| Self::cpu())),
        }
    }

    /// The same with an arithmetic that is asked for: see [`Device::with_precision`]. Fails as both do.
    pub fn open_with(spec: DeviceSpec, precision: Option<Precision>) -> Result<Self> {
        let device = Self::open(spec)?;
        if let Some(precision) = precision { device.with_precision(precision) } else { Ok(device) }
    }

    /// Whether this is a CUDA device.
    pub fn is_cuda(&self) -> bool {
        matches!(self.backend, Backend::Cuda(_))
    }

    fn context(&self) -> Option<&Arc<cuda::Context>> {
        if let Backend::Cuda(context) = &self.backend { Some(context) } else { None }
    }

    /// The CUDA context; `op` names the operation in an error.
    pub(crate) fn cuda_context(&self, op: &'static str) -> Result<&Arc<cuda::Context>> {
        self.context().ok_or(NnError::DeviceMismatch { op })
    }

    /// Sets the precision of matrix products on CUDA; the CPU ignores it.
    pub fn set_precision(&self, precision: Precision) {
        if let Some(context) = self.context() {
            context.set_precision(precision);
        }
    }

    /// The precision of matrix products now; on the CPU that of encoders.
    pub fn precision(&self) -> Precision {
        match &self.backend {
            Backend::Cpu if self.int8 => Precision::Int8,
            Backend::Cpu => Precision::F32,
            Backend::Cuda(context) => context.precision(),
        }
    }

    /// The same device with another arithmetic than its own: on the CPU f32, or int8 for encoders that have it; on CUDA the others.
    /// Fails with [`NnError::Setting`] for one that the device does not have.
    ///
    /// ```
    /// use locdiff_nn::{Device, Precision};
    /// assert!(Device::cpu().with_precision(Precision::Int8)?.is_int8());
    /// assert!(Device::cpu().with_precision(Precision::Bf16).is_err());
    /// # Ok::<(), locdiff_nn::NnError>(())
    /// ```
    pub fn with_precision(mut self, precision: Precision) -> Result<Self> {
        let has = match self.backend {
            Backend::Cpu => [Precision::F32, Precision::Int8].contains(&precision),
            Backend::Cuda(_) => precision != Precision::Int8,
        };
        if !has {
            let remedy = if self.is_cuda() { "CUDA has f32, tf32 and bf16" } else { "the CPU has f32 and int8" };
            return Err(BadSetting::new("precision", precision.name(), remedy.to_owned()).into());
        }
        self.int8 = precision == Precision::Int8;
        self.set_precision(precision);
        Ok(self)
    }

    /// Whether encoders may multiply whole numbers of 8 bits.
    pub fn is_int8(&self) -> bool {
        self.int8
    }

    /// Waits until all work given to the device is done.
    pub fn synchronize(&self) -> Result<()> {
        self.context().map_or(Ok(()), |context| context.synchronize())
    }

    /// Bytes of device memory now in use on a CUDA device by everyone, `None` on the CPU.
    pub fn memory_used_bytes(&self) -> Result<Option<usize>> {
        self.context().map(|context| context.memory_used_bytes()).transpose()
    }

    /// Bytes of device memory that are free on a CUDA device, `None` on the CPU.
    pub fn memory_free_bytes(&self) -> Result<Option<usize>> {
        self.context().map(|context| context.memory_free_bytes()).transpose()
    }

    /// Runs operations beside what follows on CUDA, until [`Device::join_aside`]; on the CPU they simply run. Nothing may change
    /// what they read, nor read what they write, before; and no network's backward pass may begin.
    pub fn aside(&self, operations: impl FnOnce() -> Result<()>) -> Result<()> {
        self.on_lane(Self::LANES - 1, operations)
    }

    /// Makes what follows wait for what was given to [`Device::aside`].
    pub fn join_aside(&self) -> Result<()> {
        self.join_lane(Self::LANES - 1)
    }

    /// Its CUDA context with these kernels.
    pub(crate) fn with_kernels(&self, op: &'static str, kernels: Kernels) -> Result<&Arc<cuda::Context>> {
        let context = self.cuda_context(op)?;
        context.prepare(kernels)?;
        Ok(context)
    }

    /// Runs operations on a thread of the CPU's pool, where each of them finds the others awake; on CUDA they simply run.
    pub(crate) fn in_pool<R: Send>(&self, operations: impl FnOnce() -> R + Send) -> R {
        if self.is_cuda() { operations() } else { rayon::scope(|_| operations()) }
    }

    /// Side lanes, numbered from 0.
    pub(crate) const LANES: usize = cuda::LANES;

    /// Runs operations beside what follows on CUDA; they see everything given before. Nothing may change what they read,
    /// nor read what they write, before the lane is joined. On the CPU they simply run.
    pub(crate) fn on_lane(&self, lane: usize, operations: impl FnOnce() -> Result<()>) -> Result<()> {
        let Some(context) = self.context() else { return operations() };
        context.enter_lane(lane)?;
        let outcome = operations();
        context.leave_lane();
        outcome
    }

    /// Makes what follows wait for a lane.
    pub(crate) fn join_lane(&self, lane: usize) -> Result<()> {
        self.context().map_or(Ok(()), |context| context.join_lane(lane))
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.backend {
            Backend::Cpu => write!(f, "cpu ({} threads)", rayon::current_num_threads()),
            Backend::Cuda(context) => write!(f, "cuda:{} ({})", context.ordinal(), context.name()),
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_cuda_says_so_and_how_to_fix_it() {
        if let Err(error) = Device::cuda(0) {
            let message = error.to_string();
            assert!(message.contains("no CUDA device can be used"), "{message}");
            assert!(message.contains("or choose the CPU"), "{message}");
        }
        assert!(Device::open(DeviceSpec::Auto).is_ok());
    }
}
