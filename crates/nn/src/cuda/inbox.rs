//! Values on their way to the device while it works on others.

use super::{Buffer, Context, failed};
use crate::{Result, ViewMut};
use cudarc::driver::{CudaEvent, CudaStream, PinnedHostSlice, result};
use std::sync::Arc;

/// Two page-locked pieces of host memory with a twin each on the device, and a stream of their own: one is filled while the
/// other travels.
pub(crate) struct Inbox {
    context: Arc<Context>,
    stream: Arc<CudaStream>,
    slots: [Slot; 2],
    next: usize,
}

struct Slot {
    host: PinnedHostSlice<f32>,
    device: Arc<Buffer<f32>>,
    /// The twin has the values.
    arrived: CudaEvent,
    /// The twin was read.
    taken: CudaEvent,
}

impl Inbox {
    pub(crate) fn new(context: &Arc<Context>, len: usize) -> Result<Self> {
        let cuda = &context.device;
        let slot = || -> Result<Slot> {
            // SAFETY: f32 may have any bits; what is read was written before, by `send`.
            let host = unsafe { cuda.alloc_pinned_with_flags(len, 0) };
            Ok(Slot {
                host: host.map_err(failed("allocating page-locked memory"))?,
                device: Buffer::zeros(context, len)?,
                arrived: cuda.new_event(None).map_err(failed("creating an event"))?,
                taken: cuda.new_event(None).map_err(failed("creating an event"))?,
            })
        };
        let stream = cuda.new_stream().map_err(failed("creating a stream"))?;
        // The twins were cleared on the main stream.
        context.synchronize()?;
        Ok(Self { context: Arc::clone(context), stream, slots: [slot()?, slot()?], next: 0 })
    }

    /// Replaces `to` by `values` in the order of the main stream; returns at once unless both slots are under way.
    pub(crate) fn send(&mut self, to: &ViewMut<'_>, values: &[f32]) -> Result<()> {
        let address = self.context.address_mut(to)?;
        let (main, stream) = (&self.context.main, &self.stream);
        let Slot { host, device, arrived, taken } = &mut self.slots[self.next];
        self.next = 1 - self.next;
        self.context.bind()?;
        let event = failed::<cudarc::driver::DriverError>("waiting for an event");
        arrived.synchronize().map_err(&event)?;
        let host = host.as_mut_slice().map_err(failed("reaching page-locked memory"))?;
        host[..values.len()].copy_from_slice(values);
        stream.wait(taken).map_err(&event)?;
        // SAFETY: both pieces hold `values.len()` values at least; the host's is not touched again before `arrived`, the
        // device's not before `taken`, both of which are recorded below.
        unsafe { result::memcpy_htod_async(device.address(0), &host[..values.len()], stream.cu_stream()) }
            .map_err(failed("copying to the device"))?;
        arrived.record(stream).map_err(&event)?;
        main.wait(arrived).map_err(&event)?;
        // SAFETY: `to` has as many values in a row (the caller checked), and the main stream waits for the twin.
        unsafe { result::memcpy_dtod_async(address, device.address(0), size_of_val(values), main.cu_stream()) }
            .map_err(failed("copying on the device"))?;
        taken.record(main).map_err(&event)
    }
}
