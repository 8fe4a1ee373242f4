//! The blocks of an EfficientNet-Lite one by one, and their weights by name.

use super::config::EfficientNetLiteConfig;
use crate::{Result, VisionError, network::RGB, network::ReadTensor, network::colours_last};
use locdiff_nn::conv::Walk;

pub(crate) const STEM_KERNEL: usize = 3;
pub(crate) const STEM_STRIDE: usize = 2;

/// One block: expand, depthwise, project.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockShape {
    pub(crate) input: usize,
    pub(crate) inner: usize,
    pub(crate) out: usize,
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
    pub(crate) expands: bool,
    /// Whether the input is added to the output.
    pub(crate) residual: bool,
}

impl BlockShape {
    pub(crate) fn walk(&self, side: usize) -> Walk {
        Walk { side, kernel: self.kernel, step: self.stride }
    }
}

impl EfficientNetLiteConfig {
    pub(crate) fn blocks(&self) -> Vec<BlockShape> {
        let mut input = self.stem;
        let mut blocks = Vec::new();
        for stage in &self.stages {
            for i in 0..stage.repeat {
                let stride = if i == 0 { stage.stride } else { 1 };
                blocks.push(BlockShape {
                    input,
                    inner: input * stage.expand,
                    out: stage.out,
                    kernel: stage.kernel,
                    stride,
                    expands: stage.expand != 1,
                    residual: stride == 1 && input == stage.out,
                });
                input = stage.out;
            }
        }
        blocks
    }

    pub(crate) fn last_channels(&self) -> usize {
        self.blocks().last().map_or(self.stem, |block| block.out)
    }
}

type Layer = (Vec<f32>, Vec<f32>);

/// Reads the layers by name; see [`crate::EfficientNetLite`].
pub(crate) struct EfficientNetReader<'a, T> {
    pub(crate) config: &'a EfficientNetLiteConfig,
    pub(crate) tensor: T,
}

impl<T: ReadTensor> EfficientNetReader<'_, T> {
    fn part(&mut self, name: String, shape: &[usize]) -> Result<Vec<f32>> {
        let values = (self.tensor)(&name, shape)?;
        let (wanted, got) = (shape.iter().product(), values.len());
        if got == wanted { Ok(values) } else { Err(VisionError::InputSize { what: name, wanted, got }) }
    }

    fn layer(&mut self, name: &str, shape: &[usize]) -> Result<Layer> {
        Ok((self.part(format!("{name}.weight"), shape)?, self.part(format!("{name}.bias"), &shape[..1])?))
    }

    /// The first convolution, each output's weights by (row, column, colour).
    pub(crate) fn stem(&mut self) -> Result<Layer> {
        let shape = [self.config.stem, RGB, STEM_KERNEL, STEM_KERNEL];
        let (weight, bias) = self.layer("_conv_stem", &shape)?;
        Ok((colours_last(&weight, STEM_KERNEL * STEM_KERNEL), bias))
    }

    /// Nothing for a block that does not expand.
    pub(crate) fn expand(&mut self, number: usize, block: &BlockShape) -> Result<Option<Layer>> {
        let shape = [block.inner, block.input, 1, 1];
        let mut read = || self.layer(&format!("_blocks.{number}._expand_conv"), &shape);
        block.expands.then(&mut read).transpose()
    }

    pub(crate) fn depthwise(&mut self, number: usize, block: &BlockShape) -> Result<Layer> {
        let shape = [block.inner, 1, block.kernel, block.kernel];
        self.layer(&format!("_blocks.{number}._depthwise_conv"), &shape)
    }

    pub(crate) fn project(&mut self, number: usize, block: &BlockShape) -> Result<Layer> {
        self.layer(&format!("_blocks.{number}._project_conv"), &[block.out, block.inner, 1, 1])
    }

    pub(crate) fn head(&mut self) -> Result<Layer> {
        self.layer("_conv_head", &[self.config.head, self.config.last_channels(), 1, 1])
    }

    pub(crate) fn embed(&mut self) -> Result<Layer> {
        self.layer("embed", &[self.config.embedding, self.config.head])
    }
}
