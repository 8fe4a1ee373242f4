//! A large JPEG file at a quarter of its size, each way, as encoders see it: of every block of 8 × 8 samples only the lowest two
//! frequencies are made pixels, 2 × 2 of them. Most of a file's bits are stepped over.

use super::{baseline::Baseline, codes::Bits, codes::Codes, jpeg_decoder::JpegDecoder};
use image::{ImageDecoder, RgbImage};

/// Pixels along a side, for one of the picture.
pub(super) const QUARTER: u32 = 4;

/// Pixels along the shorter side from which on there is a quarter. Smaller files gain little.
pub(super) const LEAST: u32 = 2048;

/// The quarter of a large baseline file of luma and chroma; `None` for all others.
pub(super) fn of_large(contents: &[u8]) -> Option<RgbImage> {
    let head = Baseline::read(contents).filter(|head| head.size.0.min(head.size.1) >= LEAST)?;
    // The limits were held against what the whole decoder says.
    let is_same = |decoder: &JpegDecoder| decoder.is_luma_chroma() && decoder.dimensions() == head.size;
    let is_plain = JpegDecoder::new(contents).is_ok_and(|decoder| is_same(&decoder));
    if is_plain { decode(&head) } else { None }
}

/// The size of the quarter of a plain JPEG file, where an encoder that wants so many pixels along the shorter side looks at it.
pub(crate) fn quarter_for((width, height): (u32, u32), side: u32) -> Option<(u32, u32)> {
    let quarter = (width.div_ceil(QUARTER), height.div_ceil(QUARTER));
    (width.min(height) >= LEAST && quarter.0.min(quarter.1) >= side.saturating_mul(2)).then_some(quarter)
}

/// One component: two samples for each block, each way.
struct Plane {
    samples: Vec<u8>,
    width: usize,
}

/// `None` for a damaged file: the whole decoder says why.
fn decode(head: &Baseline<'_>) -> Option<RgbImage> {
    let code = |at: usize| head.codes[at].and_then(|(counts, symbols)| Codes::new(counts, symbols));
    let codes: [Option<Codes>; 8] = std::array::from_fn(code);
    let (width, height) = (head.size.0 as usize, head.size.1 as usize);
    let [across, down] = head.blocks.unwrap_or([1, 1]);
    let units = (width.div_ceil(8 * across), height.div_ceil(8 * down));
    let mut parts = Vec::new();
    for (k, &[quanta, means, others]) in head.tables.iter().enumerate() {
        let [across, down] = if k == 0 { [across, down] } else { [1, 1] };
        let row = 2 * units.0 * across;
        let plane = Plane { samples: vec![0; row * 2 * units.1 * down], width: row };
        parts.push((plane, [across, down], head.quanta[quanta], codes[means].as_ref()?, codes[others].as_ref()?));
    }
    let (mut bits, mut means, mut left) = (Bits::new(head.scan), [0; 3], head.restart);
    for (y, x) in (0..units.1).flat_map(|y| (0..units.0).map(move |x| (y, x))) {
        if left == 0 && head.restart > 0 {
            (means, left) = ([0; 3], head.restart);
            bits.restart().then_some(())?;
        }
        left = left.saturating_sub(1);
        for ((plane, [across, down], quanta, of_means, of_others), mean) in parts.iter_mut().zip(&mut means) {
            for y in y * *down..(y + 1) * *down {
                for x in x * *across..(x + 1) * *across {
                    let [difference, others @ ..] = bits.block(of_means, of_others)?;
                    *mean += difference;
                    (mean.abs() < 1 << 15).then_some(())?;
                    plane.put(x, y, [*mean, others[0], others[1], others[2]], quanta);
                }
            }
        }
    }
    bits.is_within().then_some(())?;
    let size = (head.size.0.div_ceil(QUARTER), head.size.1.div_ceil(QUARTER));
    let planes: Vec<Plane> = parts.into_iter().map(|part| part.0).collect();
    let mut rgb = vec![0; 3 * size.0 as usize * size.1 as usize];
    for (y, row) in rgb.chunks_exact_mut(3 * size.0 as usize).enumerate() {
        let luma = &planes[0].samples[y * planes[0].width..];
        let pixels = row.as_chunks_mut::<3>().0;
        let [_, blue, red] = &planes[..] else {
            pixels.iter_mut().zip(luma).for_each(|(pixel, &grey)| *pixel = [grey; 3]);
            continue;
        };
        let row = |plane: &Plane| y / down * plane.width;
        let chroma = blue.samples[row(blue)..].iter().zip(&red.samples[row(red)..]);
        for ((pixels, lumas), (&blue, &red)) in pixels.chunks_mut(across).zip(luma.chunks(across)).zip(chroma) {
            pixels.iter_mut().zip(lumas).for_each(|(pixel, &luma)| *pixel = colour(luma, blue, red));
        }
    }
    RgbImage::from_raw(size.0, size.1, rgb)
}

impl Plane {
    /// The inverse cosine transform of two frequencies each way, rounded.
    #[inline(always)]
    fn put(&mut self, x: usize, y: usize, coefficients: [i32; 4], quanta: &[i32; 4]) {
        let [mean, across, down, both] = std::array::from_fn(|k| coefficients[k] * quanta[k]);
        let sample = |sum: i32| ((sum + 4 + 8 * 128) >> 3).clamp(0, 255) as u8;
        let at = 2 * y * self.width + 2 * x;
        let (upper, lower) = self.samples[at..].split_at_mut(self.width);
        upper[..2].copy_from_slice(&[sample(mean + across + down + both), sample(mean - across + down - both)]);
        lower[..2].copy_from_slice(&[sample(mean + across - down - both), sample(mean - across - down + both)]);
    }
}

/// JPEG's luma and chroma as sRGB bytes.
#[inline(always)]
fn colour(luma: u8, blue: u8, red: u8) -> [u8; 3] {
    let (luma, blue, red) = (i32::from(luma) << 16 | 1 << 15, i32::from(blue) - 128, i32::from(red) - 128);
    let sums = [luma + 91_881 * red, luma - 22_554 * blue - 46_802 * red, luma + 116_130 * blue];
    sums.map(|sum| (sum >> 16).clamp(0, 255) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Photo, PhotoLimits};
    use locdiff_testing::{fixture, fixture_bytes};
    use std::f64::consts::PI;

    fn luma(rgb: &[u8], width: usize, x: usize, y: usize) -> f64 {
        let [r, g, b] = rgb.as_chunks::<3>().0[y * width + x].map(f64::from);
        0.299 * r + 0.587 * g + 0.114 * b
    }

    /// What a block of the whole picture has of the lowest two frequencies each way, as 2 × 2 pixels.
    fn lowest(rgb: &[u8], width: usize, block: (usize, usize)) -> [[f64; 2]; 2] {
        let wave =
            |u: usize, x: usize| (PI * u as f64 * (2.0 * x as f64 + 1.0) / 16.0).cos() * [0.5_f64.sqrt(), 1.0][u] / 2.0;
        let share = |u: usize, v: usize| -> f64 {
            let each = (0..64).map(|k| (k % 8, k / 8));
            each.map(|(x, y)| wave(u, x) * wave(v, y) * luma(rgb, width, 8 * block.0 + x, 8 * block.1 + y)).sum()
        };
        let [mean, across, down, both] = [share(0, 0), share(1, 0), share(0, 1), share(1, 1)];
        [
            [mean + across + down + both, mean - across + down - both],
            [mean + across - down - both, mean - across - down + both],
        ]
        .map(|row| row.map(|sum| (sum / 8.0).clamp(0.0, 255.0)))
    }

    /// Chroma that is whole, halved, of greys, and with restarts, against the whole picture.
    #[test]
    fn a_quarter_has_the_lowest_frequencies_of_the_whole() {
        for name in ["china.jpg", "lund.jpg", "grey.jpg", "restarts.jpg"] {
            let whole = Photo::open(&fixture(&format!("vision/{name}")), &PhotoLimits::default()).unwrap();
            let (width, height) = (whole.width() as usize, whole.height() as usize);
            let quarter = decode(&Baseline::read(&fixture_bytes(&format!("vision/{name}"))).unwrap()).unwrap();
            assert_eq!((quarter.width() as usize, quarter.height() as usize), (width.div_ceil(4), height.div_ceil(4)));
            let mut errors = Vec::new();
            for (x, y) in (0..width / 8 * (height / 8)).map(|k| (k % (width / 8), k / (width / 8))) {
                let expected = lowest(whole.rgb(), width, (x, y));
                for (i, j) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    let got = luma(quarter.as_raw(), quarter.width() as usize, 2 * x + i, 2 * y + j);
                    errors.push((got - expected[j][i]).abs());
                }
            }
            errors.sort_by(f64::total_cmp);
            // Colours beyond a byte are cut off in the one or in the other.
            assert!(errors[errors.len() * 9 / 10] < 1.0 && errors[errors.len() * 99 / 100] < 8.0, "{name}: {errors:?}");
        }
    }

    /// What is not large, not baseline or cut has none. Damage does no harm.
    #[test]
    fn other_files_have_none() {
        let china = fixture_bytes("vision/china.jpg");
        assert!(of_large(&china).is_none() && Baseline::read(&fixture_bytes("vision/cmyk.jpg")).is_none());
        assert!(Baseline::read(&fixture_bytes("vision/progressive.jpg")).is_none());
        assert!((0..200).all(|end| Baseline::read(&china[..end]).is_none()));
        let quarter = |file: &[u8]| Baseline::read(file).and_then(|head| decode(&head));
        assert!((0..china.len() - 100).step_by(499).all(|end| quarter(&china[..end]).is_none()));
        assert!(quarter(&china).is_some());
        for seed in 0..60 {
            let mut damaged = china.clone();
            damaged.iter_mut().skip(20 + 7 * seed).step_by(211 + 40 * seed).for_each(|byte| *byte ^= 0x55);
            drop(quarter(&damaged));
        }
    }

    /// An encoder sees a large photo alike whether only its quarter was decoded or all of it.
    #[test]
    fn a_large_photo_is_seen_alike() {
        let (width, height) = (2_056, 2_050);
        let pixels: Vec<u8> =
            (0..width * height * 3).map(|k| ((k / 3 % width) / 9 + k % 3 * (k / width / 40)) as u8).collect();
        let mut file = Vec::new();
        let mut encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut file, 90);
        encoder.encode(&pixels, width, height, image::ExtendedColorType::Rgb8).unwrap();
        let limits = PhotoLimits::default();
        let whole = Photo::decode(&file, "large", &limits).unwrap();
        assert_eq!((whole.width(), whole.height()), (width, height));
        let quarter = Photo::decode_for(Some(256), &file, "large", &limits).unwrap();
        assert_eq!((quarter.width(), quarter.height(), quarter.whole()), (514, 513, (width, height)));
        assert!(whole.for_encoder(256).rgb() == quarter.rgb() && whole.for_encoder(336).rgb() == whole.rgb());
        assert!(Photo::decode_for(Some(336), &file, "large", &limits).unwrap().rgb() == whole.rgb());
    }
}
