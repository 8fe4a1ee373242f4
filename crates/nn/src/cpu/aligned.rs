//! Host storage that starts on a cache line.

/// Values a cache line holds.
const LINE: usize = 16;

/// A vector of f32 whose first value lies on a 64-byte boundary: wide loads then never straddle two lines.
pub(crate) struct AlignedVec {
    /// The values, with up to a line of unused ones before and after; never resized, so it never moves.
    padded: Vec<f32>,
    start: usize,
    len: usize,
}

impl AlignedVec {
    pub(crate) fn zeros(len: usize) -> Self {
        let padded = vec![0.0; len + LINE];
        // `align_offset` may decline (as it does under Miri); then any start will do.
        let start = padded.as_ptr().align_offset(LINE * size_of::<f32>()).min(LINE);
        Self { padded, start, len }
    }

    pub(crate) fn as_slice(&self) -> &[f32] {
        &self.padded[self.start..self.start + self.len]
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [f32] {
        &mut self.padded[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_on_a_line_whatever_its_size() {
        for len in [0, 1, 15, 16, 17, 1000, 100_000] {
            let mut values = AlignedVec::zeros(len);
            assert_eq!(values.as_slice().len(), len);
            assert!(values.as_mut_slice().as_ptr().addr().is_multiple_of(64) || len == 0);
        }
    }
}
