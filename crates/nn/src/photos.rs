//! Photos on their way into a network on CUDA: JPEG files decoded by the device (nvJPEG, where it is installed and the device has decoders
//! beside its multiprocessors), resized and normalised there, or pixels that the host made; beside the pass over those before.
#![cfg_attr(not(feature = "cuda"), allow(dead_code))] // reason: without CUDA nothing reads them

use crate::{Device, Result, View, bf16::Bf16Tensor, cuda, error::check_shape, kernels::Kernels};
use std::{ops::Range, sync::Arc};

/// Bytes of planes and tables that one call of [`Photos::reserve`] may take.
pub const MOST_BYTES: usize = 512 << 20;
/// Pixels of a row that fit into a multiprocessor's memory, some room left for taps.
pub(crate) const LONGEST_ROW: usize = 11_000;
const MOST_TAPS: usize = 1_000;

/// What the pixels of one side are made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideTaps {
    /// The source pixels of all of them.
    pub sources: Range<usize>,
    /// Source pixels of each, padded with weights of 0.
    pub taps: usize,
    /// The first source of each pixel, then the weights, tap by tap: whole numbers of 22 bits after the point.
    pub table: Vec<i32>,
}

/// A baseline JPEG file, and what is made of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jpeg {
    /// The file.
    pub file: Vec<u8>,
    /// Width and height as coded.
    pub size: (usize, usize),
    /// Whether its chroma has half the columns, half the rows; `None` without chroma.
    pub halved: Option<[bool; 2]>,
    /// EXIF's orientation, 1 … 8.
    pub orientation: u8,
    /// Across the upright picture.
    pub across: SideTaps,
    /// Down the upright picture.
    pub down: SideTaps,
}

/// A file that a [`Decoder`] takes.
#[derive(Debug)]
pub struct TakenJpeg(Box<Jpeg>);

impl std::ops::Deref for TakenJpeg {
    type Target = Jpeg;

    fn deref(&self) -> &Jpeg {
        &self.0
    }
}

/// A device's decoder of JPEG files.
#[derive(Clone)]
pub struct Decoder(Arc<cuda::Decoder>);

impl Decoder {
    /// `None` where the device has none or nvJPEG is not installed (`LOCDIFF_NVJPEG=0`: not wanted).
    pub fn open(device: &Device) -> Option<Self> {
        device.with_kernels("photos::Decoder", Kernels::Photos).ok()?.decoder().map(Self)
    }

    /// The file for [`Photos::reserve`], into pictures of `side` pixels, or back where it is not taken.
    ///
    /// # Errors
    /// The file.
    pub fn take(&self, jpeg: Jpeg, side: usize) -> std::result::Result<TakenJpeg, Vec<u8>> {
        let taken = jpeg.is_sound(side) && jpeg.bytes(side) <= MOST_BYTES && self.0.takes(&jpeg.file, &jpeg.planes());
        if taken { Ok(TakenJpeg(Box::new(jpeg))) } else { Err(jpeg.file) }
    }
}

/// A picture for a network.
#[derive(Debug)]
pub enum Picture {
    /// `[side, side, 3]`, normalised.
    Pixels(Vec<f32>),
    /// To be decoded.
    Jpeg(TakenJpeg),
}

/// A plane of a coded picture in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plane {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pitch: usize,
}

impl Plane {
    fn new(width: usize, height: usize) -> Self {
        Self { width, height, pitch: width.next_multiple_of(64) }
    }

    pub(crate) fn bytes(self) -> usize {
        self.pitch * self.height
    }
}

impl Jpeg {
    pub(crate) fn planes(&self) -> Vec<Plane> {
        let (width, height) = self.size;
        let half = |length: usize, halved: bool| if halved { length.div_ceil(2) } else { length };
        let chroma = self.halved.map(|[across, down]| Plane::new(half(width, across), half(height, down)));
        [Some(Plane::new(width, height)), chroma, chroma].into_iter().flatten().collect()
    }

    /// Bytes of its rows after the first pass.
    pub(crate) fn between(&self, side: usize) -> usize {
        3 * side * self.down.sources.len()
    }

    fn bytes(&self, side: usize) -> usize {
        self.planes().into_iter().map(Plane::bytes).sum::<usize>() + self.between(side)
    }

    /// Where pixel (x, y) of the upright picture lies in the coded one: x₀, its change with x and with y, and the same for y.
    pub(crate) fn turn(&self) -> [i32; 6] {
        let (right, bottom) = (self.size.0 as i32 - 1, self.size.1 as i32 - 1);
        match self.orientation {
            2 => [right, -1, 0, 0, 0, 1],
            3 => [right, -1, 0, bottom, 0, -1],
            4 => [0, 1, 0, bottom, 0, -1],
            5 => [0, 0, 1, 0, 1, 0],
            6 => [0, 0, 1, bottom, -1, 0],
            7 => [right, 0, -1, bottom, -1, 0],
            8 => [right, 0, -1, 0, 1, 0],
            _ => [0, 1, 0, 0, 0, 1],
        }
    }

    /// Whether the tables are of this picture: nothing outside it is read.
    fn is_sound(&self, side: usize) -> bool {
        let (width, height) = if self.orientation > 4 { (self.size.1, self.size.0) } else { self.size };
        let fits = |taps: &SideTaps, length: usize| {
            let SideTaps { sources, taps, table } = taps;
            let inside = |first: &i32| usize::try_from(*first).is_ok_and(|first| sources.contains(&first));
            sources.end <= length
                && *taps <= MOST_TAPS
                && table.len() == side * (1 + taps)
                && table[..side].iter().all(inside)
        };
        fits(&self.across, width) && fits(&self.down, height) && self.across.sources.len() <= LONGEST_ROW
    }
}

impl Picture {
    /// What it takes of a call's room.
    pub fn bytes(&self, side: usize) -> usize {
        match self {
            Self::Pixels(pixels) => 2 * pixels.len(),
            Self::Jpeg(jpeg) => jpeg.bytes(side),
        }
    }
}

/// A way into a network's pixels, of `side × side` RGB values a picture.
pub struct Photos {
    side: usize,
    ways: cuda::Photos,
}

impl Photos {
    /// `normal` gives each byte's value, colour by colour; files are decoded by `decoder`.
    pub fn new(device: &Device, side: usize, normal: &[[f32; 256]; 3], decoder: Option<&Decoder>) -> Result<Self> {
        let context = device.with_kernels("photos::Photos", Kernels::Photos)?;
        Ok(Self { side, ways: cuda::Photos::new(context, side, normal, decoder.map(|decoder| &decoder.0))? })
    }

    /// Finds room for pictures that become rows `first` and on; waits where several calls are under way.
    ///
    /// # Errors
    /// Pictures that do not fit, and failures of the device.
    pub fn reserve(&mut self, first: usize, pictures: Vec<Picture>) -> Result<Call> {
        let values = 3 * self.side * self.side;
        let fits = pictures.iter().all(|picture| match picture {
            Picture::Pixels(pixels) => pixels.len() == values,
            Picture::Jpeg(jpeg) => jpeg.is_sound(self.side),
        });
        check_shape(fits, "photos::Photos", || format!("{} pictures of other sizes", pictures.len()))?;
        let rows = first + pictures.len();
        Ok(Call { rows, call: self.ways.reserve(first, pictures)? })
    }

    /// The pictures of a call that could not be decoded.
    pub fn give_back(&mut self, call: Call) -> Vec<Picture> {
        self.ways.give_back(call.call)
    }

    /// Replaces rows of `to` by the pictures of a call that was decoded, in the order of what is given to the device.
    ///
    /// # Errors
    /// Too few rows, and failures of the device.
    pub fn launch(&mut self, to: &mut Bf16Tensor, call: Call) -> Result<()> {
        let to = to.view();
        let fits = to.cols == 3 * self.side * self.side && call.rows <= to.rows;
        check_shape(fits, "photos::Photos", || format!("{} pictures for {} rows", call.rows, to.rows))?;
        self.ways.launch(&to, call.call)
    }
}

/// Pictures with a place on the device, to be decoded and launched.
pub struct Call {
    rows: usize,
    call: cuda::Call,
}

impl Call {
    /// Decodes what is a file: several calls at once, each on a thread of its own, as the decoder makes the caller wait. False where a file
    /// is refused: then the call is to be given back.
    ///
    /// # Errors
    /// Failures of the device.
    pub fn decode(&mut self) -> Result<bool> {
        self.call.decode()
    }
}

/// A way from the device for what comes of batch after batch: values travel while it works on.
pub struct Outbox(cuda::Outbox);

impl Outbox {
    /// For up to `len` values at a time.
    pub fn new(device: &Device, len: usize) -> Result<Self> {
        Ok(Self(cuda::Outbox::new(device.with_kernels("photos::Outbox", Kernels::Photos)?, &[len])?))
    }

    /// Takes values that lie in a row, after everything given to the device so far; returns at once.
    pub fn take(&mut self, from: View<'_>) -> Result<()> {
        self.0.copy(&[from])
    }

    /// What was taken last, and whatever lies behind it; waits for it.
    pub fn read(&mut self) -> Result<Vec<f32>> {
        Ok(self.0.read()?.concat())
    }
}
