//! Photos on their way to the device while it works on others: each call has memory, a stream and a state of the decoder
//! of its own.

use super::{Buffer, Context, event_failed, failed, nvjpeg::Decoder, nvjpeg::Image, nvjpeg::State};
use crate::{Result, bf16::Bf16View, pictures::Jpeg, pictures::LONGEST_ROW, pictures::Picture};
use cudarc::driver::{CudaEvent, CudaStream, DeviceRepr, PinnedHostSlice, ValidAsZeroBits, result, sys};
use locdiff_base::timed;
use rayon::prelude::*;
use std::{collections::VecDeque, ffi::c_void, sync::Arc};

/// Words of a photo's description, `struct Photo` in photos.cu.
const WORDS: usize = 30;
/// Blocks that share the rows of a photo.
const BLOCKS: u32 = 64;
/// Memory grows by so many values.
const STEP: usize = 1 << 20;
/// Calls that may be on the main stream before one of their slots is waited for.
const LAUNCHED: usize = 2;

pub(crate) struct Photos {
    context: Arc<Context>,
    side: usize,
    decoder: Option<Arc<Decoder>>,
    /// Of calls that were given back.
    idle: Vec<Slot>,
    /// Of calls on the main stream, in their order.
    launched: VecDeque<Slot>,
    /// Bytes between the passes; they are of the main stream.
    between: Arc<Buffer<u8>>,
    normal: Arc<Buffer<u16>>,
}

/// One call's: memory, a stream, and what a decoder needs.
struct Slot {
    stream: Arc<CudaStream>,
    state: Option<State>,
    host: PinnedHostSlice<u32>,
    tables: Arc<Buffer<u32>>,
    planes: Arc<Buffer<u8>>,
    /// Planes and tables are there.
    ready: CudaEvent,
    /// They were read.
    free: CudaEvent,
    /// What the decoder may still read.
    pictures: Vec<Picture>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        // The decoder and the kernels may still read what goes now. A device that failed has stopped, too.
        let _ = self.stream.synchronize();
        let _ = self.free.synchronize();
    }
}

/// Pictures with a place on the device: decoded by whichever thread, then launched.
pub(crate) struct Call {
    context: Arc<Context>,
    slot: Slot,
    plan: Plan,
}

/// Makes room for `len` values, which are lost.
fn grow<T: DeviceRepr + ValidAsZeroBits>(
    context: &Arc<Context>,
    buffer: &mut Arc<Buffer<T>>,
    len: usize,
) -> Result<()> {
    if buffer.len() < len {
        *buffer = Buffer::zeros(context, len.next_multiple_of(STEP))?;
        // Other streams use it, too.
        context.synchronize()?;
    }
    Ok(())
}

impl Photos {
    /// Without a decoder no JPEG file may come.
    pub(crate) fn new(
        context: &Arc<Context>,
        side: usize,
        normal: &[[f32; 256]; 3],
        decoder: Option<&Arc<Decoder>>,
    ) -> Result<Self> {
        context.bind()?;
        let bits: Vec<u16> = normal.iter().flatten().map(|value| half::bf16::from_f32(*value).to_bits()).collect();
        let (between, normal) = (Buffer::zeros(context, STEP)?, Buffer::zeros(context, bits.len())?);
        normal.upload(&bits)?;
        context.synchronize()?;
        let (context, decoder, launched) = (Arc::clone(context), decoder.cloned(), VecDeque::new());
        Ok(Self { context, side, decoder, idle: Vec::new(), launched, between, normal })
    }

    fn slot(&mut self) -> Result<Slot> {
        if let Some(slot) = self.idle.pop() {
            return Ok(slot);
        }
        if self.launched.len() > LAUNCHED
            && let Some(mut slot) = self.launched.pop_front()
        {
            timed("decoding: waiting for room", || slot.free.synchronize()).map_err(event_failed())?;
            slot.pictures.clear();
            return Ok(slot);
        }
        let context = &self.context;
        // A thread that waits for it sleeps.
        let sleeping = Some(sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC);
        let state = |decoder| State::new(decoder).ok_or_else(|| failed("nvJPEG")("no state"));
        let slot = Slot {
            stream: context.new_stream()?,
            state: self.decoder.as_ref().map(state).transpose()?,
            host: context.pinned(STEP)?,
            tables: Buffer::zeros(context, STEP)?,
            planes: Buffer::zeros(context, STEP)?,
            ready: context.new_event()?,
            free: context.device.new_event(sleeping).map_err(failed("creating an event"))?,
            pictures: Vec::new(),
        };
        context.synchronize()?;
        Ok(slot)
    }

    /// Finds room for pictures that become rows `first` and on.
    pub(crate) fn reserve(&mut self, first: usize, pictures: Vec<Picture>) -> Result<Call> {
        self.context.bind()?;
        let plan = Plan::new(&pictures, self.side, first);
        let mut slot = self.slot()?;
        grow(&self.context, &mut slot.planes, plan.plane_bytes)?;
        grow(&self.context, &mut slot.tables, plan.words)?;
        grow(&self.context, &mut self.between, plan.between)?;
        if slot.host.len() < plan.words {
            slot.host = self.context.pinned(plan.words.next_multiple_of(STEP))?;
        }
        slot.pictures = pictures;
        Ok(Call { context: Arc::clone(&self.context), slot, plan })
    }

    /// The pictures of a call that was not launched.
    pub(crate) fn give_back(&mut self, call: Call) -> Vec<Picture> {
        let mut slot = call.slot;
        let pictures = std::mem::take(&mut slot.pictures);
        self.idle.push(slot);
        pictures
    }

    /// Makes rows of `to` of a call's pictures, in the order of the main stream.
    pub(crate) fn launch(&mut self, to: &Bf16View<'_>, call: Call) -> Result<()> {
        let Call { slot, plan, .. } = call;
        let (target, side) = (self.context.address_bf16(to)?, self.side);
        self.context.bind()?;
        let main = &self.context.main;
        main.wait(&slot.ready).map_err(event_failed())?;
        let (across, down) = (self.context.function("photos_across")?, self.context.function("photos_down")?);
        let (tables, planes, between) = (slot.tables.address(0), slot.planes.address(0), self.between.address(0));
        let launch = |function: sys::CUfunction, blocks: u32, threads: u32, shared: usize, slots: &mut [u64]| {
            let mut pointers: Vec<*mut c_void> = slots.iter_mut().map(|slot| std::ptr::from_mut(slot).cast()).collect();
            let grid = (blocks, slot.pictures.len() as u32, 1);
            // SAFETY: `pointers` points at one live slot per parameter of the kernel, in order; the buffers have the room that the
            // plan says, and what was decoded and written before is waited for.
            unsafe {
                result::launch_kernel(function, grid, (threads, 1, 1), shared as u32, main.cu_stream(), &mut pointers)
            }
            .map_err(failed("resizing photos"))
        };
        let threads = (side as u32).next_multiple_of(32).min(256);
        if plan.plane_bytes > 0 {
            launch(across, BLOCKS, threads, 4 * plan.shared, &mut [tables, planes, between, side as u64])?;
        }
        let mut slots = [tables, between, self.normal.address(0), target, to.stride as u64, side as u64];
        launch(down, side as u32, threads, 0, &mut slots)?;
        slot.free.record(main).map_err(event_failed())?;
        self.launched.push_back(slot);
        Ok(())
    }
}

impl Call {
    /// Decodes the files and brings the tables, on a stream of its own; several threads may do so at once, as the library makes whoever
    /// calls it wait. False where a file is refused; nothing is under way then.
    pub(crate) fn decode(&mut self) -> Result<bool> {
        self.context.bind()?;
        let Self { slot: Slot { stream, state, host, tables, planes, ready, pictures, .. }, plan, .. } = self;
        let (files, images): (Vec<&[u8]>, Vec<Image>) = plan.jpegs(pictures, planes.address(0)).unzip();
        // SAFETY: it is a stream of the bound device; the files are kept until `free`, as the planes are, or waited for below; the
        // planes are of the sizes that `takes` has compared with the files'; and `free` has come since the state was last used.
        let decode = |state: &mut State| unsafe { state.decode(&files, &images, stream.cu_stream().cast()) };
        if !files.is_empty() && !state.as_mut().is_some_and(|state| timed("decoding: calls", || decode(state))) {
            stream.synchronize().map_err(failed("waiting for the decoder"))?;
            return Ok(false);
        }
        let host = &mut host.as_mut_slice().map_err(failed("reaching page-locked memory"))?[..plan.words];
        timed("decoding: tables", || plan.write(host, pictures));
        // SAFETY: both pieces hold as many words; the host's is not touched again before `free`, which comes after `ready`.
        unsafe { result::memcpy_htod_async(tables.address(0), host, stream.cu_stream()) }
            .map_err(failed("copying to the device"))?;
        ready.record(stream).map_err(event_failed())?;
        Ok(true)
    }
}

/// Where everything of a call lies.
struct Plan {
    places: Vec<Place>,
    /// Words of descriptions and tables.
    words: usize,
    plane_bytes: usize,
    between: usize,
    /// Pixels of a block's row.
    shared: usize,
    first: usize,
}

/// Where a picture's parts begin.
struct Place {
    table: usize,
    planes: usize,
    between: usize,
}

impl Plan {
    fn new(pictures: &[Picture], side: usize, first: usize) -> Self {
        let words = WORDS * pictures.len();
        let mut plan = Self { places: Vec::new(), words, plane_bytes: 0, between: 0, shared: 0, first };
        let mut slack = 0;
        for picture in pictures {
            plan.places.push(Place { table: plan.words, planes: plan.plane_bytes, between: plan.between });
            match picture {
                Picture::Pixels(pixels) => plan.words += pixels.len().div_ceil(2),
                Picture::Jpeg(jpeg) => {
                    plan.words += jpeg.across.table.len() + jpeg.down.table.len();
                    plan.plane_bytes += jpeg.planes().iter().map(|plane| plane.bytes()).sum::<usize>();
                    plan.between += jpeg.between(side);
                    plan.shared = plan.shared.max(jpeg.across.sources.len() + jpeg.across.taps);
                    // Taps of no weight may lie behind the last row.
                    slack = slack.max(3 * side * jpeg.down.taps);
                }
            }
        }
        plan.between += slack;
        assert!(plan.shared <= LONGEST_ROW + 1_000 && plan.plane_bytes < 1 << 32 && plan.between < 1 << 32);
        plan
    }

    /// The files and where their planes go.
    fn jpegs<'a>(&'a self, pictures: &'a [Picture], planes: u64) -> impl Iterator<Item = (&'a [u8], Image)> {
        self.places.iter().zip(pictures).filter_map(move |(place, picture)| {
            let Picture::Jpeg(jpeg) = picture else { return None };
            let mut image = Image::default();
            let mut at = planes + place.planes as u64;
            for (k, plane) in jpeg.planes().into_iter().enumerate() {
                (image.planes[k], image.pitches[k]) = (at, plane.pitch);
                at += plane.bytes() as u64;
            }
            Some((jpeg.file.as_slice(), image))
        })
    }

    /// Descriptions and tables, on all threads.
    fn write(&self, words: &mut [u32], pictures: &[Picture]) {
        let (heads, mut rest) = words.split_at_mut(WORDS * pictures.len());
        let ends = self.places.iter().skip(1).map(|place| place.table).chain([self.words]);
        let table = |(place, end): (&Place, usize)| {
            let (table, after) = std::mem::take(&mut rest).split_at_mut(end - place.table);
            rest = after;
            table
        };
        let tables: Vec<&mut [u32]> = self.places.iter().zip(ends).map(table).collect();
        let heads = heads.par_chunks_exact_mut(WORDS).zip(tables).zip(pictures).zip(&self.places).enumerate();
        heads.for_each(|(k, (((head, table), picture), place))| {
            let number = (self.first + k) as u32;
            match picture {
                Picture::Pixels(pixels) => {
                    let bits = |value: Option<&f32>| value.map_or(0, |value| half::bf16::from_f32(*value).to_bits());
                    for (word, pair) in table.iter_mut().zip(pixels.chunks(2)) {
                        *word = u32::from(bits(pair.first())) | u32::from(bits(pair.get(1))) << 16;
                    }
                    head.fill(0);
                    head[WORDS - 2..].copy_from_slice(&[number, place.table as u32]);
                }
                Picture::Jpeg(jpeg) => {
                    let words = jpeg.across.table.iter().chain(&jpeg.down.table);
                    table.iter_mut().zip(words).for_each(|(to, from)| *to = from.cast_unsigned());
                    head.copy_from_slice(&Self::describe(jpeg, place, number));
                }
            }
        });
    }

    fn describe(jpeg: &Jpeg, place: &Place, number: u32) -> Vec<u32> {
        let planes = jpeg.planes();
        let (luma, chroma) = (planes[0], planes[planes.len() - 1]);
        let cb = place.planes + luma.bytes();
        let [halved_across, halved_down] = jpeg.halved.unwrap_or([false; 2]);
        let (across, down) = (&jpeg.across, &jpeg.down);
        let sizes = [place.planes, cb, cb + chroma.bytes(), luma.pitch, chroma.pitch];
        let sizes = sizes.into_iter().chain([luma.width, luma.height, chroma.width, chroma.height]);
        let flags = [halved_across, halved_down, jpeg.halved.is_none()];
        let sources = [across.sources.start, across.sources.len(), down.sources.start, down.sources.len()];
        let places = [place.table, place.table + across.table.len(), place.between, number as usize, 0];
        let sizes = sizes.chain(flags.map(usize::from)).chain([8 / jpeg.shrink]).map(|size| size as u32);
        let rest = sources.into_iter().chain([across.taps, down.taps]).chain(places).map(|size| size as u32);
        sizes.chain(jpeg.turn().map(i32::cast_unsigned)).chain(rest).collect()
    }
}
