//! Resizing as Pillow does it, to the bit: antialiased filters with 22-bit fixed-point weights, along the rows and along
//! the columns, rounded to bytes in between. Which of the two comes first decides the last bit.

pub use super::filter::ResizeFilter;

use super::{filter::Taps, filter::taps, passes::along_columns, passes::along_rows};
use crate::{Photo, Result, VisionError};
use locdiff_base::ensure;
use locdiff_nn::photos::SideTaps;
use std::ops::Range;

/// A photo of `width × height` pixels, as Pillow's `Image.resize((width, height), filter)`. Fails with
/// [`VisionError::PixelCount`] if a side is 0.
pub fn resize(photo: &Photo, width: u32, height: u32, filter: ResizeFilter) -> Result<Photo> {
    ensure!(width != 0 && height != 0, VisionError::PixelCount { width, height, wanted: 0, got: 0 });
    let rgb = window(photo, (width, height), 0..width as usize, 0..height as usize, filter);
    Photo::from_rgb(width, height, rgb)
}

type Span = Range<usize>;

/// The pixels `across` × `down` of a photo resized to `to`.
pub(crate) fn window(photo: &Photo, to: (u32, u32), across: Span, down: Span, filter: ResizeFilter) -> Vec<u8> {
    let from = (photo.width() as usize, photo.height() as usize);
    let to = (to.0 as usize, to.1 as usize);
    let (width, row_bytes) = (across.len(), 3 * from.0);
    let horizontal = taps(from.0, to.0, across, filter);
    let mut vertical = taps(from.1, to.1, down, filter);
    if columns_first(from, to) {
        let short = along_columns(photo.rgb(), row_bytes, &vertical);
        return along_rows(&short, row_bytes, &horizontal);
    }
    // Only the rows that the window is made of.
    let Range { start: first, end } = sources(&vertical);
    vertical.iter_mut().for_each(|tap| tap.first -= first);
    let narrow = along_rows(&photo.rgb()[first * row_bytes..end * row_bytes], row_bytes, &horizontal);
    along_columns(&narrow, 3 * width, &vertical)
}

/// What [`window`] makes of a photo of the size `from`, for a device: across and down. `None` where the columns come first.
pub(crate) fn window_taps(
    from: (usize, usize),
    to: (u32, u32),
    across: Span,
    down: Span,
    filter: ResizeFilter,
) -> Option<[SideTaps; 2]> {
    let to = (to.0 as usize, to.1 as usize);
    let sides = || [taps(from.0, to.0, across, filter), taps(from.1, to.1, down, filter)];
    (!columns_first(from, to)).then(|| sides().map(|taps| side_taps(&taps)))
}

/// The source pixels that any of these is made of.
fn sources(pixels: &[Taps]) -> Span {
    let first = pixels.iter().map(|tap| tap.first).min().unwrap_or(0);
    first..pixels.iter().map(|tap| tap.first + tap.weights.len()).max().unwrap_or(0)
}

fn side_taps(pixels: &[Taps]) -> SideTaps {
    let taps = pixels.iter().map(|tap| tap.weights.len()).max().unwrap_or(0);
    let weights = |k: usize| pixels.iter().map(move |tap| tap.weights.get(k).copied().unwrap_or(0));
    let table = pixels.iter().map(|tap| tap.first as i32).chain((0..taps).flat_map(weights)).collect();
    SideTaps { sources: sources(pixels), taps, table }
}

/// The order in which Pillow 13.0 takes the two passes, found by experiment; the fixtures hold sizes
/// on either side of the line.
fn columns_first(from: (usize, usize), to: (usize, usize)) -> bool {
    let saved = |from: usize, to: usize| from as i64 - to as i64;
    let (across, down) = (saved(from.0, to.0), saved(from.1, to.1));
    down > 0 && down > 2 * across
}

/// The size of a photo whose shorter side becomes `side` pixels; the longer one keeps the proportion, rounded down.
pub(crate) fn short_side_size((width, height): (u32, u32), side: u32) -> Result<(u32, u32)> {
    const LONGEST: u64 = 100_000;
    let long = u64::from(side) * u64::from(width.max(height)) / u64::from(width.min(height));
    if long > LONGEST {
        return Err(VisionError::TooThin { width, height });
    }
    Ok(if width <= height { (side, long as u32) } else { (long as u32, side) })
}

/// Samples a photo on a grid of `width × height` by bilinear interpolation between pixel centres, without
/// antialiasing (PyTorch's `interpolate(mode="bilinear", align_corners=False)`); unrounded, three values a pixel.
pub fn half_pixel_bilinear(photo: &Photo, width: u32, height: u32) -> Vec<f32> {
    let row = photo.width() as usize;
    let across = neighbours(row, width as usize);
    let down = neighbours(photo.height() as usize, height as usize);
    let (pixels, _) = photo.rgb().as_chunks::<3>();
    let mut out = Vec::with_capacity(3 * across.len() * down.len());
    for &(y0, y1, v) in &down {
        let (upper, lower) = (&pixels[y0 * row..][..row], &pixels[y1 * row..][..row]);
        for &(x0, x1, u) in &across {
            for c in 0..3 {
                let mix = |row: &[[u8; 3]]| f32::from(row[x0][c]) * (1.0 - u) + f32::from(row[x1][c]) * u;
                out.push(mix(upper) * (1.0 - v) + mix(lower) * v);
            }
        }
    }
    out
}

/// For every target pixel the source pixels on either side, and how far it lies towards the second.
fn neighbours(from: usize, to: usize) -> Vec<(usize, usize, f32)> {
    let scale = from as f32 / to as f32;
    let one = |target: usize| {
        let source = ((target as f32 + 0.5) * scale - 0.5).max(0.0);
        let first = (source as usize).min(from - 1);
        (first, (first + 1).min(from - 1), source - first as f32)
    };
    (0..to).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a device does with the tables, against the passes here.
    #[test]
    fn tables_say_what_the_passes_do() {
        let path = locdiff_testing::fixture("vision/china.jpg");
        let photo = Photo::open(&path, &crate::PhotoLimits::default()).unwrap();
        let (width, from) = (640, (640, 427));
        let cases = [((336, 224), 56..280, 0..224), ((900, 601), 0..601, 0..601), ((31, 31), 0..31, 0..31)];
        for (to, across, down) in cases {
            let side = across.len();
            let [rows, columns] = window_taps(from, to, across.clone(), down.clone(), ResizeFilter::Bicubic).unwrap();
            let byte = |taps: &SideTaps, pixel: usize, source: &dyn Fn(usize) -> u8| {
                let first = taps.table[pixel] as usize;
                let product = |k: usize| match taps.table[side * (k + 1) + pixel] {
                    0 => 0, // may lie outside
                    weight => i32::from(source(first + k)) * weight,
                };
                (((1 << 21) + (0..taps.taps).map(product).sum::<i32>()) >> 22).clamp(0, 255) as u8
            };
            let between =
                |y: usize, x: usize, c: usize| byte(&rows, x, &|from| photo.rgb()[3 * (y * width + from) + c]);
            let narrow: Vec<u8> = (0..427 * side * 3).map(|i| between(i / 3 / side, i / 3 % side, i % 3)).collect();
            let last = |y: usize, i: usize| byte(&columns, y, &|from| narrow[from * 3 * side + i]);
            let got: Vec<u8> = (0..side * side * 3).map(|i| last(i / 3 / side, i % (3 * side))).collect();
            assert!(got == window(&photo, to, across, down, ResizeFilter::Bicubic), "{to:?}");
        }
        assert_eq!(window_taps((300, 2000), (224, 1493), 0..224, 634..858, ResizeFilter::Bicubic), None);
    }
}
