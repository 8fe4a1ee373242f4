//! Values on their way to or from the device while it works on others.

use super::{Buffer, Context, event_failed, failed};
use crate::{Result, View, ViewMut};
use cudarc::driver::{CudaEvent, CudaStream, PinnedHostSlice, result};
use std::{ops::Range, sync::Arc};

/// Values that leave at a time: 16 MB.
const PIECE: usize = 4 << 20;

/// Two page-locked pieces of host memory with a twin each on the device, and a stream of their own: one is filled while the
/// other travels.
pub(crate) struct Inbox {
    context: Arc<Context>,
    stream: Arc<CudaStream>,
    slots: [InSlot; 2],
    next: usize,
}

struct InSlot {
    host: PinnedHostSlice<f32>,
    device: Arc<Buffer<f32>>,
    /// The twin has the values.
    arrived: CudaEvent,
    /// The twin was read.
    taken: CudaEvent,
}

impl Inbox {
    pub(crate) fn new(context: &Arc<Context>, len: usize) -> Result<Self> {
        let slot = || -> Result<InSlot> {
            let (host, device) = (context.pinned(len)?, Buffer::zeros(context, len)?);
            Ok(InSlot { host, device, arrived: context.new_event()?, taken: context.new_event()? })
        };
        let (stream, slots) = (context.new_stream()?, [slot()?, slot()?]);
        // The twins were cleared on the main stream.
        context.synchronize()?;
        Ok(Self { context: Arc::clone(context), stream, slots, next: 0 })
    }

    /// Replaces `to` by `values` in the order of the main stream; returns at once unless both slots are under way.
    pub(crate) fn send(&mut self, to: &ViewMut<'_>, values: &[f32]) -> Result<()> {
        let address = self.context.address_mut(to)?;
        let (main, stream) = (&self.context.main, &self.stream);
        let InSlot { host, device, arrived, taken } = &mut self.slots[self.next];
        self.next = 1 - self.next;
        self.context.bind()?;
        arrived.synchronize().map_err(event_failed())?;
        let host = host.as_mut_slice().map_err(failed("reaching page-locked memory"))?;
        host[..values.len()].copy_from_slice(values);
        stream.wait(taken).map_err(event_failed())?;
        // SAFETY: both pieces hold `values.len()` values at least; the host's is not touched again before `arrived`, the
        // device's not before `taken`, both of which are recorded below.
        unsafe { result::memcpy_htod_async(device.address(0), &host[..values.len()], stream.cu_stream()) }
            .map_err(failed("copying to the device"))?;
        arrived.record(stream).map_err(event_failed())?;
        main.wait(arrived).map_err(event_failed())?;
        // SAFETY: `to` has as many values in a row (the caller checked), and the main stream waits for the twin.
        unsafe { result::memcpy_dtod_async(address, device.address(0), size_of_val(values), main.cu_stream()) }
            .map_err(failed("copying on the device"))?;
        taken.record(main).map_err(event_failed())
    }
}

/// Copies of some flat matrices in device memory, and two page-locked pieces of host memory through which they leave on a
/// stream of their own: the main stream stops for the copy on the device only.
pub(crate) struct Outbox {
    context: Arc<Context>,
    stream: Arc<CudaStream>,
    /// The copies are there.
    copied: CudaEvent,
    copies: Vec<Arc<Buffer<f32>>>,
    slots: [OutSlot; 2],
}

struct OutSlot {
    host: PinnedHostSlice<f32>,
    arrived: CudaEvent,
}

impl Outbox {
    /// Room for matrices of these sizes.
    pub(crate) fn new(context: &Arc<Context>, sizes: &[usize]) -> Result<Self> {
        let piece = sizes.iter().copied().max().unwrap_or(0).clamp(1, PIECE);
        let slot =
            || -> Result<OutSlot> { Ok(OutSlot { host: context.pinned(piece)?, arrived: context.new_event()? }) };
        let copies = sizes.iter().map(|size| Buffer::zeros(context, *size)).collect::<Result<_>>()?;
        let (stream, copied, slots) = (context.new_stream()?, context.new_event()?, [slot()?, slot()?]);
        Ok(Self { context: Arc::clone(context), stream, copied, copies, slots })
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
fn download(stream: &CudaStream, from: &Buffer<f32>, slots: &mut [OutSlot; 2]) -> Result<Vec<f32>> {
    let (len, piece) = (from.len(), slots[0].host.len());
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

fn store(slot: &mut OutSlot, len: usize, values: &mut Vec<f32>) -> Result<()> {
    slot.arrived.synchronize().map_err(event_failed())?;
    let host = slot.host.as_slice().map_err(failed("reaching page-locked memory"))?;
    values.extend_from_slice(&host[..len]);
    Ok(())
}
