//! How large a photo may be.

/// The most that a photo may need. A larger one is refused before its pixels are allocated.
/// [`PhotoLimits::of_megapixels`] has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhotoLimits {
    /// Width times height.
    pub max_pixels: u64,
    /// Bytes of the file, and bytes of its pixels as decoded (16-bit RGBA takes 8 a pixel).
    pub max_bytes: u64,
}

impl Default for PhotoLimits {
    /// 100 megapixels, 1 GiB.
    fn default() -> Self {
        Self { max_pixels: 100_000_000, max_bytes: 1 << 30 }
    }
}

impl PhotoLimits {
    /// So many millions of pixels, in 16-bit RGBA at the most.
    ///
    /// ```
    /// use locdiff_vision::PhotoLimits;
    /// assert_eq!(PhotoLimits::of_megapixels(100), PhotoLimits::default());
    /// assert_eq!(PhotoLimits::of_megapixels(4000).max_bytes, 32_000_000_000);
    /// ```
    pub fn of_megapixels(megapixels: u32) -> Self {
        let max_pixels = u64::from(megapixels) * 1_000_000;
        Self { max_pixels, max_bytes: Self::default().max_bytes.max(8 * max_pixels) }
    }
}
