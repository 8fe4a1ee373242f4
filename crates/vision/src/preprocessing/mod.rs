//! From a photo to what a network sees of it: resized, cropped, normalised.

mod augment;
mod filter;
mod passes;
pub mod resize;

pub use augment::{Augmentation, Crop};

use crate::{Photo, Result};
use locdiff_nn::photos::SideTaps;
use resize::{ResizeFilter, half_pixel_bilinear, short_side_size, window, window_taps};
use std::{array::from_fn, ops::Range};

/// The largest side an encoder may ask for: a typing error shall not take all memory.
pub(crate) const MAX_SIDE: u32 = 4096;

/// How a photo is resized first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResizeRule {
    /// Not at all.
    Keep,
    /// The shorter side becomes so many pixels, the longer one keeps the proportion, rounded down.
    ShortSide(u32),
    /// To this width and height, whatever the proportion.
    Exact(u32, u32),
}

/// Where the middle lies when the margin is odd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CropRounding {
    /// Half of it, rounded to even: torchvision.
    Even,
    /// Half of it, rounded down: Hugging Face.
    Down,
}

/// The middle of a resized photo, with black around it where the photo is smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CentreCrop {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The rule for odd margins.
    pub rounding: CropRounding,
}

/// Everything between a photo and a network's input.
#[derive(Debug, Clone, PartialEq)]
pub struct Preprocessing {
    /// The first step.
    pub resize: ResizeRule,
    /// Pillow's filter for it.
    pub filter: ResizeFilter,
    /// The second step, if any.
    pub crop: Option<CentreCrop>,
    /// Width and height of the input; reached by bilinear interpolation between pixel centres where the steps before
    /// end with another size.
    pub input_side: u32,
    /// Multiplies the bytes before `mean` and `std` apply: 1, or 1/255.
    pub scale: f32,
    /// Subtracted from each colour.
    pub mean: [f32; 3],
    /// Divides each colour.
    pub std: [f32; 3],
}

impl Preprocessing {
    /// What the network sees of a photo, `[side, side, 3]`. Fails with [`crate::VisionError::TooThin`] for a photo
    /// whose sides are too unlike.
    pub fn apply(&self, photo: &Photo) -> Result<Vec<f32>> {
        let picture = self.resized(photo)?;
        if (picture.width(), picture.height()) == (self.input_side, self.input_side) {
            // Bytes still: each has one value.
            let table = self.normal_bytes();
            let pixels = picture.rgb().as_chunks::<3>().0.iter();
            return Ok(pixels.flat_map(|pixel| from_fn::<_, 3, _>(|c| table[c][usize::from(pixel[c])])).collect());
        }
        let mut pixels = half_pixel_bilinear(&picture, self.input_side, self.input_side);
        for pixel in pixels.as_chunks_mut::<3>().0 {
            *pixel = from_fn(|c| self.normal(pixel[c], c));
        }
        Ok(pixels)
    }

    fn normal(&self, value: f32, colour: usize) -> f32 {
        (value * self.scale - self.mean[colour]) / self.std[colour]
    }

    /// What each byte becomes, colour by colour.
    pub(crate) fn normal_bytes(&self) -> [[f32; 256]; 3] {
        from_fn(|c| from_fn(|byte| self.normal(byte as f32, c)))
    }

    /// What the input is made of, across and down, of a photo of the size `whole` that is seen in the size `seen`; `None` where more is done
    /// to it than the two passes of resizing, rows first.
    pub(crate) fn taps(&self, whole: (u32, u32), seen: (u32, u32)) -> Option<[SideTaps; 2]> {
        let to = self.resized_size(whole).ok()?;
        let side = self.input_side as usize;
        let (across, down) = match self.crop {
            Some(crop) => {
                let [across, down] = crop.spans(to).map(|span| span.from);
                let is_whole = (across.len(), down.len()) == (crop.width as usize, crop.height as usize);
                is_whole.then_some((across, down))?
            }
            None => (0..to.0 as usize, 0..to.1 as usize),
        };
        let is_input = self.resize != ResizeRule::Keep && (across.len(), down.len()) == (side, side);
        is_input.then(|| window_taps((seen.0 as usize, seen.1 as usize), to, across, down, self.filter))?
    }

    /// The pixels that it wants along a photo's shorter side, at the most.
    pub(crate) fn shorter_side(&self) -> u32 {
        match self.resize {
            ResizeRule::Keep => u32::MAX,
            ResizeRule::ShortSide(side) => side,
            ResizeRule::Exact(width, height) => width.max(height),
        }
    }

    fn resized_size(&self, size: (u32, u32)) -> Result<(u32, u32)> {
        match self.resize {
            ResizeRule::Keep => Ok(size),
            ResizeRule::ShortSide(side) => short_side_size(size, side),
            ResizeRule::Exact(width, height) => Ok((width, height)),
        }
    }

    /// The photo after resizing and cropping, only the pixels of the crop computed.
    fn resized(&self, photo: &Photo) -> Result<Photo> {
        let photo = photo.for_encoder(self.shorter_side());
        let to = self.resized_size(photo.whole())?;
        let Some(crop) = self.crop else {
            let (across, down) = (0..to.0 as usize, 0..to.1 as usize);
            return Photo::from_rgb(to.0, to.1, window(photo, to, across, down, self.filter));
        };
        let [across, down] = crop.spans(to);
        let inside = window(photo, to, across.from.clone(), down.from.clone(), self.filter);
        if across.from.len() == crop.width as usize && down.from.len() == crop.height as usize {
            return Photo::from_rgb(crop.width, crop.height, inside);
        }
        let row_bytes = 3 * crop.width as usize;
        let mut padded = vec![0; row_bytes * crop.height as usize];
        let rows = padded.chunks_exact_mut(row_bytes).skip(down.at);
        for (row, from) in rows.zip(inside.chunks_exact(3 * across.from.len())) {
            row[3 * across.at..][..from.len()].copy_from_slice(from);
        }
        Photo::from_rgb(crop.width, crop.height, padded)
    }

    /// Refuses numbers without meaning; the message names the value.
    pub(crate) fn check(&self) -> std::result::Result<(), String> {
        let resize = match self.resize {
            ResizeRule::Keep => vec![],
            ResizeRule::ShortSide(side) => vec![side],
            ResizeRule::Exact(width, height) => vec![width, height],
        };
        let crop = self.crop.iter().flat_map(|crop| [crop.width, crop.height]);
        for side in resize.into_iter().chain(crop).chain([self.input_side]) {
            if side == 0 || side > MAX_SIDE {
                return Err(format!("a side of {side} pixels is out of range: choose 1 … {MAX_SIDE}"));
            }
        }
        let finite = self.mean.iter().chain(&self.std).chain([&self.scale]).all(|value| value.is_finite());
        if !finite || self.std.iter().any(|&std| std <= 0.0) || self.scale <= 0.0 {
            let Self { mean, std, scale, .. } = self;
            return Err(format!("mean = {mean:?}, std = {std:?}, scale = {scale}: scale and std must be above 0"));
        }
        Ok(())
    }
}

impl CentreCrop {
    /// Across and down, of a photo of this size.
    fn spans(self, (width, height): (u32, u32)) -> [Span; 2] {
        [Span::new(width, self.width, self.rounding), Span::new(height, self.height, self.rounding)]
    }
}

/// One side of a crop: which pixels of the photo it takes, and where they begin in it.
struct Span {
    from: Range<usize>,
    at: usize,
}

impl Span {
    fn new(length: u32, crop: u32, rounding: CropRounding) -> Self {
        let (length, crop) = (length as usize, crop as usize);
        if let Some(margin) = length.checked_sub(crop) {
            let start = match rounding {
                CropRounding::Even => (margin as f64 / 2.0).round_ties_even() as usize,
                CropRounding::Down => margin / 2,
            };
            return Self { from: start..start + crop, at: 0 };
        }
        // Hugging Face: ⌈pad/2⌉ zeros before the photo, then the crop starts at ⌈pad/2⌉ + ⌊−pad/2⌋ = 0.
        Self { from: 0..length, at: (crop - length).div_ceil(2) }
    }
}
