//! Other views of a photo: random crops and colours, for training copies and for test-time views.

use super::resize::{ResizeFilter, resize};
use crate::{Photo, Result};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::RangeInclusive;

/// How views of a photo differ from it.
///
/// A view is a crop chosen as torchvision's `RandomResizedCrop` does, squeezed to a square of its shorter side, then its
/// colours changed as `ColorJitter` does, brightness, contrast and saturation with Pillow's arithmetic. View `k` of photo
/// `i` depends on (seed, i, k) and nothing else, so that copies can be made in any order and again.
///
/// Nothing is mirrored unless asked: a mirrored street drives on the wrong side and its script cannot be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Augmentation {
    /// Share of the photo's area that a crop keeps.
    pub area: RangeInclusive<f64>,
    /// Width of a crop for each pixel of its height, drawn evenly in its logarithm.
    pub ratio: RangeInclusive<f64>,
    /// Brightness is multiplied by a factor from 1 − this (at least 0) to 1 + this.
    pub brightness: f32,
    /// Contrast, likewise.
    pub contrast: f32,
    /// Saturation, likewise.
    pub saturation: f32,
    /// Hues turn by up to this share of the colour circle, at most ½, either way.
    pub hue: f32,
    /// Whether every other view is mirrored.
    pub mirror: bool,
}

impl Default for Augmentation {
    /// Crops of 40 to 100 % of the area, colours within 20 %; hues stay, for the colour of soil and plants is evidence.
    fn default() -> Self {
        let (area, ratio) = (0.4..=1.0, 0.75..=4.0 / 3.0);
        Self { area, ratio, brightness: 0.2, contrast: 0.2, saturation: 0.2, hue: 0.0, mirror: false }
    }
}

/// A rectangle of pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crop {
    /// First column.
    pub left: u32,
    /// First row.
    pub top: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Augmentation {
    /// View `view` of a photo that has the number `photo_index` in its collection; view 0 is the photo itself. Fails
    /// with [`crate::VisionError::PixelCount`] for a crop without pixels, which sound ranges never make.
    pub fn view(&self, photo: &Photo, seed: u64, photo_index: u64, view: u32) -> Result<Photo> {
        if view == 0 {
            return Ok(photo.clone());
        }
        let mut random = chance(seed, photo_index, view);
        let crop = self.draw_crop(photo.width(), photo.height(), &mut random);
        let mut rgb = cut(photo, crop);
        let side = crop.width.min(crop.height);
        if crop.width != crop.height {
            let cropped = Photo::from_rgb(crop.width, crop.height, rgb)?;
            rgb = resize(&cropped, side, side, ResizeFilter::Bicubic)?.into_rgb();
        }
        self.jitter(&mut rgb, &mut random);
        // Drawn last: asking for mirrored views leaves the others as they are.
        if self.mirror && random.random::<bool>() {
            for row in rgb.chunks_exact_mut(3 * side as usize) {
                row.as_chunks_mut::<3>().0.reverse();
            }
        }
        Photo::from_rgb(side, side, rgb)
    }

    /// The crop of a view, before it is squeezed.
    pub fn crop(&self, width: u32, height: u32, seed: u64, photo_index: u64, view: u32) -> Crop {
        if view == 0 {
            return Crop { left: 0, top: 0, width, height };
        }
        self.draw_crop(width, height, &mut chance(seed, photo_index, view))
    }

    /// torchvision's rule: ten attempts, then the middle with the nearest ratio that is allowed.
    fn draw_crop(&self, width: u32, height: u32, random: &mut impl Rng) -> Crop {
        const ATTEMPTS: usize = 10;
        let area = f64::from(width) * f64::from(height);
        let (narrow, wide) = (*self.ratio.start(), *self.ratio.end());
        for _ in 0..ATTEMPTS {
            let kept = area * random.random_range(self.area.clone());
            let ratio = random.random_range(narrow.ln()..=wide.ln()).exp();
            let (w, h) = ((kept * ratio).sqrt().round_ties_even(), (kept / ratio).sqrt().round_ties_even());
            let (w, h) = (w as u32, h as u32);
            if (1..=width).contains(&w) && (1..=height).contains(&h) {
                let top = random.random_range(0..=height - h);
                let left = random.random_range(0..=width - w);
                return Crop { left, top, width: w, height: h };
            }
        }
        let ratio = f64::from(width) / f64::from(height);
        let (w, h) = match ratio {
            _ if ratio < narrow => (width, ((f64::from(width) / narrow).round_ties_even() as u32).clamp(1, height)),
            _ if ratio > wide => (((f64::from(height) * wide).round_ties_even() as u32).clamp(1, width), height),
            _ => (width, height),
        };
        Crop { left: (width - w) / 2, top: (height - h) / 2, width: w, height: h }
    }

    fn jitter(&self, rgb: &mut [u8], random: &mut impl Rng) {
        let Self { brightness, contrast, saturation, hue, .. } = *self;
        let mut order = [('b', brightness), ('c', contrast), ('s', saturation), ('h', hue.min(0.5))];
        for last in (1..order.len()).rev() {
            order.swap(last, random.random_range(0..=last));
        }
        for (kind, most) in order {
            // Always drawn, so that leaving out one change leaves the others as they are.
            let swing = most.max(0.0) * random.random_range(-1.0_f32..=1.0);
            if most <= 0.0 {
                continue;
            }
            let factor = (1.0 + swing).max(0.0);
            let mean = if kind == 'c' { mean_grey(rgb) } else { 0 };
            match kind {
                'b' | 'c' => blend(rgb, factor, |_| mean),
                's' => blend(rgb, factor, grey),
                _ => turn_hue(rgb, swing),
            }
        }
    }
}

/// The generator of one view: a key from the seed, a stream a photo, a stretch of it a view.
fn chance(seed: u64, photo_index: u64, view: u32) -> ChaCha8Rng {
    /// Words of a view; ten attempts and the colours take fewer than a hundred.
    const WORDS: u128 = 1 << 10;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(photo_index);
    random.set_word_pos(u128::from(view) * WORDS);
    random
}

fn cut(photo: &Photo, crop: Crop) -> Vec<u8> {
    let (left, width) = (3 * crop.left as usize, 3 * crop.width as usize);
    let rows = photo.rgb().chunks_exact(3 * photo.width() as usize);
    let rows = rows.skip(crop.top as usize).take(crop.height as usize);
    rows.flat_map(|row| &row[left..left + width]).copied().collect()
}

/// Pillow's grey of a pixel: ITU-R 601-2 in 16-bit fixed point, rounded.
fn grey([r, g, b]: [u8; 3]) -> u8 {
    ((19595 * u32::from(r) + 38470 * u32::from(g) + 7471 * u32::from(b) + 0x8000) >> 16) as u8
}

/// The mean grey as Pillow's `ImageEnhance.Contrast` takes it.
fn mean_grey(rgb: &[u8]) -> u8 {
    let (pixels, _) = rgb.as_chunks::<3>();
    let sum: u64 = pixels.iter().map(|&pixel| u64::from(grey(pixel))).sum();
    (sum as f64 / pixels.len().max(1) as f64 + 0.5) as u8
}

/// Pillow's `Image.blend(towards, photo, factor)`: truncated, as Pillow does.
fn blend(rgb: &mut [u8], factor: f32, towards: impl Fn([u8; 3]) -> u8) {
    for pixel in rgb.as_chunks_mut::<3>().0 {
        let other = f32::from(towards(*pixel));
        *pixel = pixel.map(|value| (other + factor * (f32::from(value) - other)).clamp(0.0, 255.0) as u8);
    }
}

fn turn_hue(rgb: &mut [u8], turn: f32) {
    for pixel in rgb.as_chunks_mut::<3>().0 {
        let [r, g, b] = pixel.map(f32::from);
        let (low, high) = (r.min(g).min(b), r.max(g).max(b));
        let range = high - low;
        if range == 0.0 {
            continue;
        }
        let sixth = match high {
            _ if high == r => (g - b) / range,
            _ if high == g => 2.0 + (b - r) / range,
            _ => 4.0 + (r - g) / range,
        };
        let hue = (sixth + 6.0 * turn).rem_euclid(6.0);
        // Each channel is a trapezoid over the circle, a third of it apart from the next.
        let channel = |offset: f32| {
            let k = (offset + hue).rem_euclid(6.0);
            (high - range * k.min(4.0 - k).clamp(0.0, 1.0)).round() as u8
        };
        *pixel = [channel(5.0), channel(3.0), channel(1.0)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use safetensors::SafeTensors;

    #[test]
    fn colours_change_as_pillow_changes_them() {
        let contents = include_bytes!("../../../../fixtures/vision/colours.safetensors");
        let fixture = SafeTensors::deserialize(contents).unwrap();
        let input = fixture.tensor("input").unwrap().data();
        for factor in [0.7, 1.3] {
            let mean = mean_grey(input);
            let mut changed = [input.to_vec(), input.to_vec(), input.to_vec()];
            blend(&mut changed[0], factor, |_| 0);
            blend(&mut changed[1], factor, |_| mean);
            blend(&mut changed[2], factor, grey);
            for (name, got) in ["brightness", "contrast", "saturation"].iter().zip(changed) {
                let expected = fixture.tensor(&format!("{name}_{factor}")).unwrap();
                assert_eq!(got, expected.data(), "{name} {factor}");
            }
        }
    }

    #[test]
    fn hues_turn_round_the_circle() {
        let start: Vec<u8> = (0..=255).flat_map(|i: u8| [i, i.wrapping_mul(7), i.wrapping_mul(29)]).collect();
        let mut same = start.clone();
        turn_hue(&mut same, 0.0);
        assert_eq!(same, start);
        // A third of the circle makes red green, green blue and blue red.
        let mut turned = start.clone();
        turn_hue(&mut turned, 1.0 / 3.0);
        for (before, after) in start.as_chunks::<3>().0.iter().zip(turned.as_chunks::<3>().0) {
            let [r, g, b] = *before;
            assert!(after.iter().zip([b, r, g]).all(|(x, y)| x.abs_diff(y) <= 1), "{before:?} {after:?}");
        }
    }
}
