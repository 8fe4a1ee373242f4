//! Values that begin at a line of the cache. A vector of 64 bytes that lies across two lines takes two loads; in a buffer
//! as the allocator gives it, every one does.

use std::ops::{Deref, DerefMut};

/// Bytes of a line of the cache, and of the widest vector.
const LINE: usize = 64;
/// Values that may have to be skipped to reach a line.
const SPARE: usize = LINE / size_of::<f32>();

/// A slice of `f32` whose first value begins a line of the cache.
#[derive(Debug, Default)]
pub struct Aligned {
    /// Never grown in place: it would move.
    values: Vec<f32>,
    first: usize,
    len: usize,
}

impl Aligned {
    /// So many zeros.
    pub fn zeros(len: usize) -> Self {
        let values = vec![0.0; len + SPARE];
        // The offset is a hint that may be refused; then nothing is skipped.
        let first = values.as_ptr().align_offset(LINE).min(SPARE);
        Self { values, first, len }
    }

    /// The first `len` values of a buffer that grows as needed; what it held is lost then.
    pub fn window(&mut self, len: usize) -> &mut [f32] {
        if self.len < len {
            *self = Self::zeros(len);
        }
        &mut self[..len]
    }
}

impl Deref for Aligned {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.values[self.first..self.first + self.len]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.values[self.first..self.first + self.len]
    }
}

impl Clone for Aligned {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.len);
        copy.copy_from_slice(self);
        copy
    }
}

impl PartialEq for Aligned {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

#[cfg(test)]
mod tests {
    use super::Aligned;

    #[test]
    fn a_buffer_and_its_copies_begin_a_line() {
        for len in [0, 1, 15, 16, 17, 1000] {
            let mut buffer = Aligned::zeros(len);
            buffer.iter_mut().enumerate().for_each(|(i, value)| *value = i as f32);
            let copy = buffer.clone();
            assert!(copy == buffer && copy.len() == len);
            assert_eq!((buffer.as_ptr().align_offset(64), copy.as_ptr().align_offset(64)), (0, 0));
            assert_eq!(buffer.window(len + 40).len(), len + 40);
            assert_eq!((buffer.as_ptr().align_offset(64), buffer.len()), (0, len + 40));
        }
    }
}
