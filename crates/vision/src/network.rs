//! What every encoder's network can do.

use crate::Result;

/// A network on its device.
pub(crate) trait Network: Send + Sync {
    /// Values of an embedding.
    fn embedding(&self) -> usize;

    /// Pictures to hand over at a time: enough to be fast, few enough to bound memory.
    fn batch(&self) -> usize;

    /// The embeddings of pictures of `side × side` normalised RGB values, one after another.
    fn forward(&self, pictures: &[f32], side: usize) -> Result<Vec<Vec<f32>>>;

    /// Runs the pictures once more that the last pass left on a device, and waits; elsewhere nothing.
    fn run_again(&self, _count: usize) -> Result<()> {
        Ok(())
    }
}
