//! What an encoder looks at, and photos with boxes painted over.

use super::{Photo, PhotoFacts};

impl Photo {
    /// What an encoder looks at that wants so many pixels along the shorter side: the reduced photo, if it has twice as many, else the photo.
    pub(crate) fn for_encoder(&self, side: u32) -> &Self {
        self.reduced.as_deref().filter(|reduced| reduced.is_enough_for(side)).unwrap_or(self)
    }

    pub(super) fn is_enough_for(&self, side: u32) -> bool {
        self.width.min(self.height) >= side.saturating_mul(2)
    }

    /// Width and height of the photo that this was reduced from, or its own.
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
        Self {
            width: self.width,
            height: self.height,
            rgb,
            facts: PhotoFacts::default(),
            reduced: None,
            whole: self.whole,
        }
    }
}
