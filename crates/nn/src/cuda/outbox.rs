//! Values on their way from the device while it works on.

use super::{Buffer, Context, failed};
use crate::{Result, View};
use cudarc::driver::{CudaEvent, CudaStream, DriverError, PinnedHostSlice, result};
use std::{ops::Range, sync::Arc};

/// Values that travel at a time: 16 MB.
const PIECE: usize = 4 << 20;

/// Copies of some flat matrices in device memory, and two page-locked pieces of host memory through which they leave on a
/// stream of their own: the main stream stops for the copy on the device only.
pub(crate) struct Outbox {
    context: Arc<Context>,
    stream: Arc<CudaStream>,
    /// The copies are there.
    copied: CudaEvent,
    copies: Vec<Arc<Buffer<f32>>>,
    slots: [Slot; 2],
}

struct Slot {
    host: PinnedHostSlice<f32>,
    arrived: CudaEvent,
}

fn event_failed() -> impl Fn(DriverError) -> crate::NnError {
    failed("waiting for an event")
}

impl Outbox {
    /// Room for matrices of these sizes.
    pub(crate) fn new(context: &Arc<Context>, sizes: &[usize]) -> Result<Self> {
        let cuda = &context.device;
        let piece = sizes.iter().copied().max().unwrap_or(0).clamp(1, PIECE);
        let slot = || -> Result<Slot> {
            // SAFETY: f32 may have any bits; what is read was written before, by the device.
            let host = unsafe { cuda.alloc_pinned_with_flags(piece, 0) };
            Ok(Slot {
                host: host.map_err(failed("allocating page-locked memory"))?,
                arrived: cuda.new_event(None).map_err(failed("creating an event"))?,
            })
        };
        let copies = sizes.iter().map(|size| Buffer::zeros(context, *size)).collect::<Result<_>>()?;
        let stream = cuda.new_stream().map_err(failed("creating a stream"))?;
        let copied = cuda.new_event(None).map_err(failed("creating an event"))?;
        Ok(Self { context: Arc::clone(context), stream, copied, copies, slots: [slot()?, slot()?] })
    }

    /// Copies matrices of the sizes it was made for, in the order of the main stream; returns at once.
    pub(crate) fn copy(&mut self, from: &[View<'_>]) -> Result<()> {
        assert!(from.len() == self.copies.len());
        self.context.bind()?;
        let main = &self.context.main;
        for (view, copy) in from.iter().zip(&self.copies) {
            let len = view.rows() * view.cols();
            assert!(len <= copy.len() && view.stride == view.cols);
            let address = self.context.address(view)?;
            // SAFETY: both hold `len` values in a row; earlier readers of the copy were waited for by `read`.
            unsafe { result::memcpy_dtod_async(copy.address(0), address, len * 4, main.cu_stream()) }
                .map_err(failed("copying on the device"))?;
        }
        self.copied.record(main).map_err(event_failed())
    }

    /// The values of the last [`Outbox::copy`]; waits for them, and the device does not.
    pub(crate) fn read(&mut self) -> Result<Vec<Vec<f32>>> {
        self.context.bind()?;
        self.stream.wait(&self.copied).map_err(event_failed())?;
        let Self { stream, copies, slots, .. } = self;
        copies.iter().map(|copy| download(stream, copy, slots)).collect()
    }
}

/// One piece comes while the one before is stored.
fn download(stream: &CudaStream, from: &Buffer<f32>, slots: &mut [Slot; 2]) -> Result<Vec<f32>> {
    let len = from.len();
    let piece = slots[0].host.len();
    let mut values = Vec::with_capacity(len);
    let ranges = (0..len).step_by(piece).map(|start| start..len.min(start + piece));
    let mut under_way: Option<(usize, Range<usize>)> = None;
    for (number, range) in ranges.enumerate() {
        let slot = &mut slots[number % 2];
        let host = slot.host.as_mut_slice().map_err(failed("reaching page-locked memory"))?;
        // SAFETY: both pieces hold as many values; the host's is not touched before `arrived`, which is recorded below.
        let copied = unsafe {
            result::memcpy_dtoh_async(&mut host[..range.len()], from.address(range.start), stream.cu_stream())
        };
        copied.map_err(failed("copying from the device"))?;
        slot.arrived.record(stream).map_err(event_failed())?;
        if let Some((slot, range)) = under_way.replace((number % 2, range)) {
            store(&mut slots[slot], range.len(), &mut values)?;
        }
    }
    if let Some((slot, range)) = under_way {
        store(&mut slots[slot], range.len(), &mut values)?;
    }
    Ok(values)
}

fn store(slot: &mut Slot, len: usize, values: &mut Vec<f32>) -> Result<()> {
    slot.arrived.synchronize().map_err(event_failed())?;
    let host = slot.host.as_slice().map_err(failed("reaching page-locked memory"))?;
    values.extend_from_slice(&host[..len]);
    Ok(())
}
