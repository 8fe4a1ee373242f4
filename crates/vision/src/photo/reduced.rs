//! A large JPEG file at a half or a quarter of its size, each way, as encoders see it: of every block of 8 × 8 samples the lowest 4 × 4 or
//! 2 × 2 frequencies are made as many pixels.

use super::{baseline::Baseline, codes::Bits, codes::Codes, jpeg_decoder::JpegDecoder};
use image::{ImageDecoder, RgbImage};
use pulp::NullaryFnOnce;

/// Pixels along the shorter side of a file, from which on it is seen so many times smaller. Smaller files gain little.
const SHRINKS: [(u32, u32); 2] = [(2048, 4), (1024, 2)];

/// Where the lowest 4 × 4 frequencies lie in the file's order.
const LOWEST: [[usize; 4]; 4] = [[0, 1, 5, 6], [2, 4, 7, 13], [3, 8, 12, 17], [9, 11, 18, 24]];
/// Places up to the last of the lowest 2 × 2 frequencies, or 4 × 4, and the longest run beyond.
const TWO: usize = 5 + 15;
const FOUR: usize = 25 + 15;

/// How many times smaller a file of this size is seen, if it is.
fn shrink_of((width, height): (u32, u32)) -> Option<u32> {
    SHRINKS.iter().find(|(least, _)| width.min(height) >= *least).map(|&(_, shrink)| shrink)
}

fn reduced((width, height): (u32, u32), shrink: u32) -> (u32, u32) {
    (width.div_ceil(shrink), height.div_ceil(shrink))
}

/// What encoders see of a large baseline file of luma and chroma; `None` for all others.
pub(super) fn of_large(contents: &[u8]) -> Option<RgbImage> {
    let head = Baseline::read(contents)?;
    let shrink = shrink_of(head.size)?;
    // The limits were held against what the whole decoder says.
    let is_same = |decoder: &JpegDecoder| decoder.is_luma_chroma() && decoder.dimensions() == head.size;
    let is_plain = JpegDecoder::new(contents).is_ok_and(|decoder| is_same(&decoder));
    if is_plain { decode(&head, shrink) } else { None }
}

/// The size that a plain JPEG file is seen in by an encoder that wants so many pixels along the shorter side, and how many times smaller it
/// is; `None` if the file is seen whole.
pub(crate) fn reduced_for(size: (u32, u32), side: u32) -> Option<((u32, u32), u32)> {
    let shrink = shrink_of(size)?;
    let seen = reduced(size, shrink);
    (seen.0.min(seen.1) >= side.saturating_mul(2)).then_some((seen, shrink))
}

/// One component: so many samples for each block, each way.
struct Plane {
    samples: Vec<u8>,
    width: usize,
}

/// Decodes a picture, by the processor's instructions for single bits if it has them; the bytes are the same.
fn decode(head: &Baseline<'_>, shrink: u32) -> Option<RgbImage> {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return simd.vectorize(Decode { head, shrink });
    }
    Decode { head, shrink }.call()
}

struct Decode<'a, 'b> {
    head: &'a Baseline<'b>,
    shrink: u32,
}

impl NullaryFnOnce for Decode<'_, '_> {
    type Output = Option<RgbImage>;

    #[inline(always)]
    fn call(self) -> Option<RgbImage> {
        let Self { head, shrink } = self;
        if shrink == 4 { decode_by::<TWO>(head, shrink, put_two) } else { decode_by::<FOUR>(head, shrink, put_four) }
    }
}

/// `None` for a damaged file: the whole decoder says why.
#[inline(always)]
fn decode_by<const PLACES: usize>(
    head: &Baseline<'_>,
    shrink: u32,
    put: impl Fn(&mut Plane, usize, usize, &[i32; PLACES], &[u8; 64]),
) -> Option<RgbImage> {
    let code = |at: usize| head.codes[at].and_then(|(counts, symbols)| Codes::new(counts, symbols));
    let codes: [Option<Codes>; 8] = std::array::from_fn(code);
    let (width, height, points) = (head.size.0 as usize, head.size.1 as usize, 8 / shrink as usize);
    let [across, down] = head.blocks.unwrap_or([1, 1]);
    let units = (width.div_ceil(8 * across), height.div_ceil(8 * down));
    let mut parts = Vec::new();
    for (k, &[quanta, means, others]) in head.tables.iter().enumerate() {
        let [across, down] = if k == 0 { [across, down] } else { [1, 1] };
        let row = points * units.0 * across;
        let plane = Plane { samples: vec![0; row * points * units.1 * down], width: row };
        parts.push((plane, [across, down], head.quanta[quanta]?, codes[means].as_ref()?, codes[others].as_ref()?));
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
                    let mut block = bits.block::<PLACES>(of_means, of_others)?;
                    *mean += block[0];
                    (mean.abs() < 1 << 15).then_some(())?;
                    block[0] = *mean;
                    put(plane, points * x, points * y, &block, quanta);
                }
            }
        }
    }
    bits.is_within().then_some(())?;
    let size = reduced(head.size, shrink);
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
        let chroma = (&blue.samples[row(blue)..], &red.samples[row(red)..]);
        if across == 2 { colours::<2>(pixels, luma, chroma) } else { colours::<1>(pixels, luma, chroma) }
    }
    RgbImage::from_raw(size.0, size.1, rgb)
}

/// The inverse cosine transform of two frequencies each way, rounded.
#[inline(always)]
fn put_two(plane: &mut Plane, x: usize, y: usize, block: &[i32; TWO], quanta: &[u8; 64]) {
    let [mean, across, down, both] = [0, 1, 2, 4].map(|place| block[place] * i32::from(quanta[place]));
    let sample = |sum: i32| ((sum + 4 + 8 * 128) >> 3).clamp(0, 255) as u8;
    let (upper, lower) = plane.samples[y * plane.width + x..].split_at_mut(plane.width);
    upper[..2].copy_from_slice(&[sample(mean + across + down + both), sample(mean - across + down - both)]);
    lower[..2].copy_from_slice(&[sample(mean + across - down - both), sample(mean - across - down + both)]);
}

/// The inverse cosine transform of four frequencies each way, rounded; exact for what a byte can hold but for the last bit of an f32.
#[inline(always)]
fn put_four(plane: &mut Plane, x: usize, y: usize, block: &[i32; FOUR], quanta: &[u8; 64]) {
    let rows = LOWEST.map(|row| row.map(|place| (block[place] * i32::from(quanta[place])) as f32));
    let columns = transposed(waves(rows));
    for (k, row) in transposed(waves(columns)).into_iter().enumerate() {
        let bytes = row.map(|sum| (sum * 0.125 + 128.5) as u8);
        plane.samples[(y + k) * plane.width + x..][..4].copy_from_slice(&bytes);
    }
}

#[inline(always)]
fn transposed(m: [[f32; 4]; 4]) -> [[f32; 4]; 4] {
    std::array::from_fn(|j| std::array::from_fn(|i| m[i][j]))
}

/// Four sums of four waves, in four columns; √8 times as large as an orthonormal transform's.
#[inline(always)]
fn waves([mean, one, two, three]: [[f32; 4]; 4]) -> [[f32; 4]; 4] {
    /// √2·cos(π/8) and √2·cos(3π/8).
    const SLOW: f32 = 1.306_562_9;
    const FAST: f32 = 0.541_196_1;
    let mut sums = [[0.0; 4]; 4];
    for k in 0..4 {
        let (outer, inner) = (mean[k] + two[k], mean[k] - two[k]);
        let (far, near) = (SLOW * one[k] + FAST * three[k], FAST * one[k] - SLOW * three[k]);
        [sums[0][k], sums[1][k], sums[2][k], sums[3][k]] = [outer + far, inner + near, inner - near, outer - far];
    }
    sums
}

/// JPEG's luma and chroma as sRGB bytes, in a row with a sample of chroma for so many pixels.
#[inline(always)]
fn colours<const ACROSS: usize>(pixels: &mut [[u8; 3]], luma: &[u8], (blue, red): (&[u8], &[u8])) {
    let colours = |(blue, red): (&u8, &u8), luma: u8| {
        let (luma, blue, red) = (i32::from(luma) << 16 | 1 << 15, i32::from(*blue) - 128, i32::from(*red) - 128);
        let sums = [luma + 91_881 * red, luma - 22_554 * blue - 46_802 * red, luma + 116_130 * blue];
        sums.map(|sum| (sum >> 16).clamp(0, 255) as u8)
    };
    let chroma = || blue.iter().zip(red);
    let (groups, rest) = pixels.as_chunks_mut::<ACROSS>();
    for ((group, lumas), chroma) in groups.iter_mut().zip(luma.as_chunks::<ACROSS>().0).zip(chroma()) {
        *group = lumas.map(|luma| colours(chroma, luma));
    }
    let last = luma[ACROSS * groups.len()..].iter().zip(chroma().skip(groups.len()));
    rest.iter_mut().zip(last).for_each(|(pixel, (&luma, chroma))| *pixel = colours(chroma, luma));
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

    /// The value of frequency `u` at point `k` of so many, in an orthonormal transform.
    fn wave(u: usize, k: usize, points: usize) -> f64 {
        let size = if u == 0 { 1.0 } else { 2.0_f64.sqrt() };
        size * (PI * u as f64 * (2.0 * k as f64 + 1.0) / (2 * points) as f64).cos() / (points as f64).sqrt()
    }

    /// What a block of the whole picture has of the lowest frequencies each way, as so many pixels.
    fn lowest(rgb: &[u8], width: usize, block: (usize, usize), points: usize) -> Vec<f64> {
        let all = |side: usize| (0..side * side).map(move |k| (k % side, k / side));
        let share = |u: usize, v: usize| -> f64 {
            let sample = |(x, y)| luma(rgb, width, 8 * block.0 + x, 8 * block.1 + y);
            all(8).map(|(x, y)| wave(u, x, 8) * wave(v, y, 8) * sample((x, y))).sum()
        };
        let shares: Vec<f64> = all(points).map(|(u, v)| share(u, v)).collect();
        let pixel = |(x, y)| -> f64 {
            let sum = all(points).zip(&shares).map(|((u, v), share)| wave(u, x, points) * wave(v, y, points) * share);
            sum.sum::<f64>() * points as f64 / 8.0
        };
        all(points).map(|place| pixel(place).clamp(0.0, 255.0)).collect()
    }

    /// Chroma that is whole, halved, of greys, and with restarts, against the whole picture.
    #[test]
    fn a_reduced_picture_has_the_lowest_frequencies_of_the_whole() {
        for (name, shrink) in
            ["china.jpg", "lund.jpg", "grey.jpg", "restarts.jpg"].into_iter().flat_map(|name| [(name, 2), (name, 4)])
        {
            let whole = Photo::open(&fixture(&format!("vision/{name}")), &PhotoLimits::default()).unwrap();
            let (width, height) = (whole.width() as usize, whole.height() as usize);
            let file = fixture_bytes(&format!("vision/{name}"));
            let head = &Baseline::read(&file).unwrap();
            let got = decode(head, shrink).unwrap();
            assert_eq!(Decode { head, shrink }.call().as_ref(), Some(&got), "other instructions, the same bytes");
            assert_eq!((got.width(), got.height()), reduced((whole.width(), whole.height()), shrink));
            let (mut errors, points) = (Vec::new(), 8 / shrink as usize);
            for (x, y) in (0..width / 8 * (height / 8)).map(|k| (k % (width / 8), k / (width / 8))) {
                for (k, expected) in lowest(whole.rgb(), width, (x, y), points).into_iter().enumerate() {
                    let (i, j) = (points * x + k % points, points * y + k / points);
                    errors.push((luma(got.as_raw(), got.width() as usize, i, j) - expected).abs());
                }
            }
            errors.sort_by(f64::total_cmp);
            // Colours beyond a byte are cut off in the one or in the other.
            let [most, worst] = [9, 99].map(|share| errors[errors.len() * share / if share == 9 { 10 } else { 100 }]);
            assert!(most < 1.5 && worst < 8.0, "{name}, {shrink}: {most} {worst}");
        }
    }

    /// What is not large, not baseline or cut has none. Damage does no harm.
    #[test]
    fn other_files_have_none() {
        let china = fixture_bytes("vision/china.jpg");
        assert!(of_large(&china).is_none() && Baseline::read(&fixture_bytes("vision/cmyk.jpg")).is_none());
        assert!(Baseline::read(&fixture_bytes("vision/progressive.jpg")).is_none());
        assert!((0..200).all(|end| Baseline::read(&china[..end]).is_none()));
        let seen = |file: &[u8], shrink| Baseline::read(file).and_then(|head| decode(&head, shrink));
        assert!(
            (0..china.len() - 100).step_by(499).all(|end| seen(&china[..end], 4).or(seen(&china[..end], 2)).is_none())
        );
        assert!(seen(&china, 2).is_some() && seen(&china, 4).is_some());
        for seed in 0..60 {
            let mut damaged = china.clone();
            damaged.iter_mut().skip(20 + 7 * seed).step_by(211 + 40 * seed).for_each(|byte| *byte ^= 0x55);
            drop([seen(&damaged, 2), seen(&damaged, 4)]);
        }
    }

    /// An encoder sees a large photo alike whether only what it looks at was decoded or all of it.
    #[test]
    fn a_large_photo_is_seen_alike() {
        for (width, height, seen) in [(2_056, 2_050, (514, 513)), (1_100, 1_030, (550, 515))] {
            let pixels: Vec<u8> =
                (0..width * height * 3).map(|k| ((k / 3 % width) / 9 + k % 3 * (k / width / 40)) as u8).collect();
            let mut file = Vec::new();
            let mut encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut file, 90);
            encoder.encode(&pixels, width, height, image::ExtendedColorType::Rgb8).unwrap();
            let limits = PhotoLimits::default();
            let whole = Photo::decode(&file, "large", &limits).unwrap();
            assert_eq!((whole.width(), whole.height()), (width, height));
            let small = Photo::decode_for(Some(256), &file, "large", &limits).unwrap();
            assert_eq!(((small.width(), small.height()), small.whole()), (seen, (width, height)));
            assert!(whole.for_encoder(256).rgb() == small.rgb() && whole.for_encoder(336).rgb() == whole.rgb());
            assert!(Photo::decode_for(Some(336), &file, "large", &limits).unwrap().rgb() == whole.rgb());
        }
    }
}
