//! EfficientNet-Lite on CUDA: 1×1 convolutions are products in the device's precision, everything is stored in f32.

use super::config::EfficientNetLiteConfig;
use super::weights::{BlockShape, EfficientNetReader, STEM_KERNEL, STEM_STRIDE};
use crate::Result;
use crate::network::{Network, RGB, ReadTensor, count_pictures};
use locdiff_nn::{Device, Tensor, View, ViewMut, conv, conv::Walk, ops, ops::Transpose};
use std::sync::{Mutex, PoisonError};

/// Pictures of a batch: their widest layer takes 5 MB each in Lite0.
const BATCH: usize = 64;

struct Dense {
    weight: Tensor,
    bias: Tensor,
}

struct Block {
    shape: BlockShape,
    expand: Option<Dense>,
    /// A row for each place in the kernel.
    taps: Tensor,
    bias: Tensor,
    project: Dense,
}

/// The activations of a batch, each buffer as large as the largest that it will hold.
struct Buffers {
    pixels: Tensor,
    patches: Tensor,
    input: Tensor,
    output: Tensor,
    expanded: Tensor,
    inner: Tensor,
    mean: Tensor,
    embedding: Tensor,
}

/// An EfficientNet-Lite on a CUDA device. Tensors are named as in [`crate::EfficientNetLite`].
pub struct EfficientNetLiteCuda {
    device: Device,
    config: EfficientNetLiteConfig,
    stem: Dense,
    blocks: Vec<Block>,
    head: Dense,
    embed: Dense,
    /// Made for the side of the pictures met first.
    buffers: Mutex<Option<(usize, Buffers)>>,
}

impl Dense {
    fn new(device: &Device, inputs: usize, weight: &[f32], bias: &[f32]) -> Result<Self> {
        let weight = Tensor::from_slice(device, bias.len(), inputs, weight)?;
        Ok(Self { weight, bias: Tensor::from_slice(device, 1, bias.len(), bias)? })
    }

    fn outputs(&self) -> usize {
        self.weight.rows()
    }

    fn run(&self, y: ViewMut<'_>, x: View<'_>, beta: f32) -> locdiff_nn::Result<()> {
        ops::gemm(y, x, Transpose::No, self.weight.view(), Transpose::Yes, beta, Some(self.bias.view()))
    }
}

impl EfficientNetLiteCuda {
    /// As [`crate::EfficientNetLite::new`]. Fails also if the device's memory does not suffice.
    pub fn new(config: &EfficientNetLiteConfig, device: &Device, tensor: impl ReadTensor) -> Result<Self> {
        config.check()?;
        let mut reader = EfficientNetReader { config, tensor };
        let dense = |inputs, (weight, bias): (Vec<f32>, Vec<f32>)| Dense::new(device, inputs, &weight, &bias);
        let stem = dense(STEM_KERNEL * STEM_KERNEL * RGB, reader.stem()?)?;
        let mut blocks = Vec::new();
        for shape in config.blocks() {
            let (number, area) = (blocks.len(), shape.kernel * shape.kernel);
            let expand = reader.expand(number, &shape)?.map(|layer| dense(shape.input, layer)).transpose()?;
            let (weight, bias) = reader.depthwise(number, &shape)?;
            let taps: Vec<f32> =
                (0..area * shape.inner).map(|i| weight[i % shape.inner * area + i / shape.inner]).collect();
            blocks.push(Block {
                shape,
                expand,
                taps: Tensor::from_slice(device, area, shape.inner, &taps)?,
                bias: Tensor::from_slice(device, 1, shape.inner, &bias)?,
                project: dense(shape.inner, reader.project(number, &shape)?)?,
            });
        }
        let head = dense(config.last_channels(), reader.head()?)?;
        let embed = dense(config.head, reader.embed()?)?;
        let (device, config) = (device.clone(), config.clone());
        Ok(Self { device, config, stem, blocks, head, embed, buffers: Mutex::new(None) })
    }

    /// As [`crate::EfficientNetLite::forward`], for square pictures. Fails also if the device does.
    pub fn forward(&self, pictures: &[f32], side: usize) -> Result<Vec<Vec<f32>>> {
        let (count, one) = (count_pictures(pictures, side, side)?, side * side * RGB);
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        if buffers.as_ref().is_none_or(|(made_for, _)| *made_for != side) {
            *buffers = Some((side, self.make_buffers(side)?));
        }
        let Some((_, buffers)) = buffers.as_mut() else { return Ok(Vec::new()) };
        let mut embeddings = Vec::with_capacity(count);
        for batch in pictures.chunks(BATCH * one) {
            let count = batch.len() / one;
            buffers.pixels.upload_rows(batch)?;
            self.pass(buffers, count, side)?;
            let mut values = vec![0.0; count * self.config.embedding];
            buffers.embedding.download_rows(&mut values)?;
            embeddings.extend(values.chunks_exact(self.config.embedding).map(<[f32]>::to_vec));
        }
        Ok(embeddings)
    }

    fn make_buffers(&self, side: usize) -> Result<Buffers> {
        let walk = Walk { side, kernel: STEM_KERNEL, step: STEM_STRIDE };
        let mut pixels = walk.out_side().pow(2);
        let patches = pixels * STEM_KERNEL * STEM_KERNEL * RGB;
        let (mut between, mut expanded, mut inner) = (pixels * self.stem.outputs(), 0, 0);
        let mut side_now = walk.out_side();
        for Block { shape, .. } in &self.blocks {
            expanded = expanded.max(pixels * shape.inner);
            side_now = shape.walk(side_now).out_side();
            pixels = side_now.pow(2);
            inner = inner.max(pixels * shape.inner);
            between = between.max(pixels * shape.out);
        }
        inner = inner.max(pixels * self.head.outputs());
        let piece = |values: usize| Tensor::zeros(&self.device, BATCH, values.max(1));
        Ok(Buffers {
            pixels: piece(side * side * RGB)?,
            patches: piece(patches)?,
            input: piece(between)?,
            output: piece(between)?,
            expanded: piece(expanded)?,
            inner: piece(inner)?,
            mean: piece(self.head.outputs())?,
            embedding: piece(self.config.embedding)?,
        })
    }

    fn pass(&self, buffers: &mut Buffers, count: usize, side: usize) -> locdiff_nn::Result<()> {
        let Buffers { pixels, patches, input, output, expanded, inner, mean, embedding } = buffers;
        let walk = Walk { side, kernel: STEM_KERNEL, step: STEM_STRIDE };
        let mut side = walk.out_side();
        let mut rows = count * side * side;
        let patch = STEM_KERNEL * STEM_KERNEL * RGB;
        conv::patches(patches.shaped_mut(rows, patch), pixels.view().row_range(0..count), walk)?;
        let mut channels = self.stem.outputs();
        self.stem.run(input.shaped_mut(rows, channels), patches.shaped(rows, patch), 0.0)?;
        conv::relu6(input.shaped_mut(rows, channels))?;
        for block in &self.blocks {
            let walk = block.shape.walk(side);
            let width = block.shape.inner;
            let wide = if let Some(expand) = &block.expand {
                expand.run(expanded.shaped_mut(rows, width), input.shaped(rows, channels), 0.0)?;
                expanded.shaped(rows, width)
            } else {
                input.shaped(rows, channels)
            };
            side = walk.out_side();
            rows = count * side * side;
            let (taps, bias) = (block.taps.view(), block.bias.view());
            conv::depthwise(inner.shaped_mut(rows, width), wide, taps, bias, walk, block.expand.is_some())?;
            channels = block.shape.out;
            if block.shape.residual {
                block.project.run(input.shaped_mut(rows, channels), inner.shaped(rows, width), 1.0)?;
            } else {
                block.project.run(output.shaped_mut(rows, channels), inner.shaped(rows, width), 0.0)?;
                std::mem::swap(input, output);
            }
        }
        let features = self.head.outputs();
        self.head.run(inner.shaped_mut(rows, features), input.shaped(rows, channels), 0.0)?;
        conv::mean_relu6(mean.shaped_mut(count, features), inner.shaped(rows, features))?;
        let outputs = self.embed.outputs();
        self.embed.run(embedding.shaped_mut(count, outputs), mean.shaped(count, features), 0.0)
    }
}

impl Network for EfficientNetLiteCuda {
    fn embedding(&self) -> usize {
        self.config.embedding
    }

    fn batch(&self) -> usize {
        BATCH
    }

    fn forward(&self, pictures: &[f32], side: usize) -> Result<Vec<Vec<f32>>> {
        EfficientNetLiteCuda::forward(self, pictures, side)
    }
}
