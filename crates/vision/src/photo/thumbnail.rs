//! A photo made small, to look at.

use super::Photo;
use image::{ExtendedColorType, RgbImage, codecs::jpeg::JpegEncoder, imageops};

impl Photo {
    /// The photo as a JPEG file whose longer side has at most `side` pixels and which has at most `most_bytes`; `None` where
    /// no quality makes it that small.
    ///
    /// ```
    /// use locdiff_vision::{Photo, PhotoLimits};
    /// let small = Photo::test_picture().thumbnail(96, 20_000).unwrap();
    /// let again = Photo::decode(&small, "small", &PhotoLimits::default())?;
    /// assert_eq!((again.width(), again.height()), (96, 96));
    /// # Ok::<(), locdiff_vision::VisionError>(())
    /// ```
    pub fn thumbnail(&self, side: u32, most_bytes: usize) -> Option<Vec<u8>> {
        const QUALITIES: [u8; 4] = [75, 60, 40, 20];
        let longer = self.width().max(self.height());
        let (width, height) = if longer <= side {
            (self.width(), self.height())
        } else {
            let scaled = |length: u32| (u64::from(length) * u64::from(side) / u64::from(longer)).max(1) as u32;
            (scaled(self.width()), scaled(self.height()))
        };
        let full = image::ImageBuffer::<image::Rgb<u8>, &[u8]>::from_raw(self.width(), self.height(), self.rgb())?;
        let small: RgbImage = imageops::thumbnail(&full, width, height);
        QUALITIES.iter().find_map(|&quality| {
            let mut file = Vec::new();
            let mut encoder = JpegEncoder::new_with_quality(&mut file, quality);
            encoder.encode(&small, small.width(), small.height(), ExtendedColorType::Rgb8).ok()?;
            (file.len() <= most_bytes).then_some(file)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_too_becomes_small_enough() {
        let mut state = 1_u32;
        let mut byte = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let noise = Photo::from_rgb(700, 300, (0..700 * 300 * 3).map(|_| byte()).collect()).unwrap();
        let file = noise.thumbnail(160, 20_000).unwrap();
        assert!(file.len() <= 20_000, "{}", file.len());
        assert_eq!(noise.thumbnail(160, 100), None);
        let thin = Photo::from_rgb(4000, 1, vec![9; 12_000]).unwrap();
        assert!(thin.thumbnail(160, 20_000).is_some());
    }
}
