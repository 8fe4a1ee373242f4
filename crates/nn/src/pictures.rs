//! Pictures for a network as the host has them: pixels, or JPEG files with what is made of them.
#![cfg_attr(not(feature = "cuda"), allow(dead_code))] // reason: without CUDA nothing reads them

use std::ops::Range;

/// Bytes of planes and tables that one call of [`crate::photos::DevicePhotos::reserve`] may take.
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
    /// How many times smaller each way the picture is: 1, or of every 8 × 8 samples the lowest frequencies, 2 as 4 × 4 and 4 as 2 × 2 pixels.
    pub shrink: usize,
    /// Whether its chroma has half the columns, half the rows; `None` without chroma.
    pub halved: Option<[bool; 2]>,
    /// EXIF's orientation, 1 … 8.
    pub orientation: u8,
    /// Across the upright picture.
    pub across: SideTaps,
    /// Down the upright picture.
    pub down: SideTaps,
}

/// A file that a [`crate::photos::JpegDecoder`] takes.
#[derive(Debug)]
pub struct TakenJpeg(pub(crate) Box<Jpeg>);

impl std::ops::Deref for TakenJpeg {
    type Target = Jpeg;

    fn deref(&self) -> &Jpeg {
        &self.0
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
    /// Width and height as seen.
    fn seen(&self) -> (usize, usize) {
        let (width, height) = self.size;
        (width.div_ceil(self.shrink), height.div_ceil(self.shrink))
    }

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

    pub(crate) fn bytes(&self, side: usize) -> usize {
        self.planes().into_iter().map(Plane::bytes).sum::<usize>() + self.between(side)
    }

    /// Where pixel (x, y) of the upright picture lies in the one as seen: x₀, its change with x and with y, and the same for y.
    pub(crate) fn turn(&self) -> [i32; 6] {
        let (width, height) = self.seen();
        let (right, bottom) = (width as i32 - 1, height as i32 - 1);
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
    pub(crate) fn is_sound(&self, side: usize) -> bool {
        let (width, height) = self.seen();
        let (width, height) = if self.orientation > 4 { (height, width) } else { (width, height) };
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
