//! What every encoder's network can do.

use crate::{EfficientNetLite, Result};

/// A network on its device.
pub(crate) trait Network: Send + Sync {
    /// Values of an embedding.
    fn embedding(&self) -> usize;

    /// Pictures to hand over at a time: enough to be fast, few enough to bound memory.
    fn batch(&self) -> usize;

    /// The embeddings of pictures of `side × side` normalised RGB values, one after another.
    fn forward(&self, pictures: &[f32], side: usize) -> Result<Vec<Vec<f32>>>;
}

impl Network for EfficientNetLite {
    fn embedding(&self) -> usize {
        EfficientNetLite::embedding(self)
    }

    fn batch(&self) -> usize {
        8 * rayon::current_num_threads()
    }

    fn forward(&self, pictures: &[f32], side: usize) -> Result<Vec<Vec<f32>>> {
        EfficientNetLite::forward(self, pictures, side, side)
    }
}
