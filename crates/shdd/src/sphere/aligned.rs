//! A vector of f64 that starts on a cache line, so that no register access straddles two.

use std::ops::{Deref, DerefMut};

const LINE_BYTES: usize = 64;

/// A fixed-length buffer aligned to a cache line.
#[derive(Debug)]
pub(crate) struct Aligned {
    storage: Vec<f64>,
    start: usize,
    length: usize,
}

impl Aligned {
    /// `length` zeros.
    pub(crate) fn zeros(length: usize) -> Self {
        let storage = vec![0.0; length + LINE_BYTES / size_of::<f64>()];
        let start = storage.as_ptr().align_offset(LINE_BYTES);
        debug_assert!(start < LINE_BYTES, "f64 are 8-aligned, so a line starts within 8 of them");
        Self { storage, start, length }
    }

    /// A copy of a slice.
    pub(crate) fn from_slice(values: &[f64]) -> Self {
        let mut aligned = Self::zeros(values.len());
        aligned.copy_from_slice(values);
        aligned
    }
}

impl Deref for Aligned {
    type Target = [f64];

    #[inline(always)]
    fn deref(&self) -> &[f64] {
        &self.storage[self.start..][..self.length]
    }
}

impl DerefMut for Aligned {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.storage[self.start..][..self.length]
    }
}
