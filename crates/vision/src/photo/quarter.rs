//! A large JPEG file at a quarter of its size, each way, as encoders see it: of every block of 8 × 8 samples only the lowest two
//! frequencies are made pixels, 2 × 2 of them. Most of a file's bits are stepped over.

use super::{baseline::Baseline, codes::Bits, codes::Codes, jpeg_decoder::JpegDecoder};
use super::{Photo, PhotoFacts};
use image::RgbImage;

/// Pixels along a side, for one of the picture.
pub(super) const QUARTER: u32 = 4;

/// Pixels along the shorter side from which on there is a quarter. Smaller files gain little.
pub(super) const LEAST: u32 = 2048;

/// The quarter of a large baseline file of luma and chroma; `None` for all others.
pub(super) fn of_large(contents: &[u8]) -> Option<RgbImage> {
    let head = Baseline::read(contents).filter(|head| head.size.0.min(head.size.1) >= LEAST)?;
    let is_plain = JpegDecoder::new(contents).is_ok_and(|decoder| decoder.is_luma_chroma());
    if is_plain { decode(&head) } else { None }
}

impl Photo {
    /// What an encoder looks at that wants so many pixels along the shorter side: the quarter, if it has twice as many, else the photo.
    pub(crate) fn for_encoder(&self, side: u32) -> &Self {
        self.quarter.as_deref().filter(|quarter| quarter.is_enough_for(side)).unwrap_or(self)
    }

    pub(super) fn is_enough_for(&self, side: u32) -> bool {
        self.width.min(self.height) >= side.saturating_mul(2)
    }

    /// Width and height of the photo that this is a quarter of, or its own.
    pub(crate) fn whole(&self) -> (u32, u32) {
        self.whole
    }

    /// Returns it with a box painted over, from and to these columns and rows.
    #[must_use]
    pub fn painted(&self, x: (usize, usize), y: (usize, usize), colour: [u8; 3]) -> Self {
        let (width, mut rgb) = (self.width as usize, self.rgb.clone());
        for row in y.0..y.1 {
            rgb[3 * (row * width + x.0)..3 * (row * width + x.1)].as_chunks_mut::<3>().0.fill(colour);
        }
        Self { width: self.width, height: self.height, rgb, facts: PhotoFacts::default(), quarter: None, whole: self.whole }
    }
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
    let (mut bits, mut means) = (Bits::new(head.scan), [0; 3]);
    for unit in 0..units.0 * units.1 {
        if unit > 0 && head.restart > 0 && unit % head.restart == 0 {
            means = [0; 3];
            bits.restart().then_some(())?;
        }
        let (x, y) = (unit % units.0, unit / units.0);
        for ((plane, [across, down], quanta, of_means, of_others), mean) in parts.iter_mut().zip(&mut means) {
            for block in 0..*across * *down {
                let [difference, others @ ..] = bits.block(of_means, of_others)?;
                *mean += difference;
                (mean.abs() < 1 << 15).then_some(())?;
                let (x, y) = (x * *across + block % *across, y * *down + block / *across);
                plane.put(x, y, [*mean, others[0], others[1], others[2]], quanta);
            }
        }
    }
    bits.is_within().then_some(())?;
    let size = (head.size.0.div_ceil(QUARTER), head.size.1.div_ceil(QUARTER));
    let planes: Vec<Plane> = parts.into_iter().map(|part| part.0).collect();
    let mut rgb = vec![0; 3 * size.0 as usize * size.1 as usize];
    for (y, row) in rgb.chunks_exact_mut(3 * size.0 as usize).enumerate() {
        let luma = &planes[0].samples[y * planes[0].width..];
        let pixels = row.as_chunks_mut::<3>().0.iter_mut();
        let [_, blue, red] = &planes[..] else {
            pixels.zip(luma).for_each(|(pixel, &grey)| *pixel = [grey; 3]);
            continue;
        };
        let row = |plane: &Plane| y / down * plane.width;
        let (blue, red) = (&blue.samples[row(blue)..], &red.samples[row(red)..]);
        for (x, (pixel, &luma)) in pixels.zip(luma).enumerate() {
            *pixel = colour(luma, blue[x / across], red[x / across]);
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
