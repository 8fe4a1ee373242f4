//! The weights of CLIP's vision transformers, layer by layer.

use super::config::VitConfig;
use crate::{
    Result,
    pixels::{RGB, colours_last},
};

/// Weights and bias of a product, PyTorch's order: `weight[o * inputs + i]`.
pub(crate) struct Dense {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

/// Gain and shift of a layer norm.
pub(crate) struct Norm {
    pub(crate) gain: Vec<f32>,
    pub(crate) shift: Vec<f32>,
}

/// The weights of one layer. Keys and values are one product.
pub(crate) struct LayerWeights {
    pub(crate) norm1: Norm,
    pub(crate) query: Dense,
    pub(crate) key_value: Dense,
    pub(crate) out: Dense,
    pub(crate) norm2: Norm,
    pub(crate) fc1: Dense,
    pub(crate) fc2: Dense,
}

/// Reads a tower's tensors under their names at Hugging Face, a layer at a time.
pub(crate) struct VitReader<'a, T> {
    pub(crate) config: &'a VitConfig,
    /// The values of a tensor of that name and shape.
    pub(crate) tensor: T,
}

impl<T: FnMut(&str, &[usize]) -> Result<Vec<f32>>> VitReader<'_, T> {
    /// The patches' weights, each output's in the order of an NHWC picture: (row, column, colour).
    pub(crate) fn patch_weights(&mut self) -> Result<Vec<f32>> {
        let VitConfig { width, patch, .. } = *self.config;
        let planes = (self.tensor)("embeddings.patch_embedding.weight", &[width, RGB, patch, patch])?;
        Ok(colours_last(&planes, patch * patch))
    }

    /// The rows that patches are added to: class token and positions, `[tokens, width]`.
    pub(crate) fn positions(&mut self) -> Result<Vec<f32>> {
        let (tokens, width) = (self.config.tokens(), self.config.width);
        let class = (self.tensor)("embeddings.class_embedding", &[width])?;
        let mut positions = (self.tensor)("embeddings.position_embedding.weight", &[tokens, width])?;
        for (position, class) in positions.iter_mut().zip(class) {
            *position += class;
        }
        Ok(positions)
    }

    pub(crate) fn norm(&mut self, name: &str) -> Result<Norm> {
        let shape = [self.config.width];
        let gain = (self.tensor)(&format!("{name}.weight"), &shape)?;
        Ok(Norm { gain, shift: (self.tensor)(&format!("{name}.bias"), &shape)? })
    }

    fn dense(&mut self, name: &str, inputs: usize, outputs: usize) -> Result<Dense> {
        let weight = (self.tensor)(&format!("{name}.weight"), &[outputs, inputs])?;
        Ok(Dense { weight, bias: (self.tensor)(&format!("{name}.bias"), &[outputs])? })
    }

    pub(crate) fn layer(&mut self, number: usize) -> Result<LayerWeights> {
        let VitConfig { width, inner, .. } = *self.config;
        let name = format!("encoder.layers.{number}");
        let mut key_value = self.dense(&format!("{name}.self_attn.k_proj"), width, width)?;
        let value = self.dense(&format!("{name}.self_attn.v_proj"), width, width)?;
        key_value.weight.extend(value.weight);
        key_value.bias.extend(value.bias);
        Ok(LayerWeights {
            norm1: self.norm(&format!("{name}.layer_norm1"))?,
            query: self.dense(&format!("{name}.self_attn.q_proj"), width, width)?,
            key_value,
            out: self.dense(&format!("{name}.self_attn.out_proj"), width, width)?,
            norm2: self.norm(&format!("{name}.layer_norm2"))?,
            fc1: self.dense(&format!("{name}.mlp.fc1"), width, inner)?,
            fc2: self.dense(&format!("{name}.mlp.fc2"), inner, width)?,
        })
    }

    /// `[projection, width]`, or nothing.
    pub(crate) fn projection(&mut self) -> Result<Option<Vec<f32>>> {
        let width = self.config.width;
        let read = |projection| (self.tensor)("visual_projection.weight", &[projection, width]);
        self.config.projection.map(read).transpose()
    }
}
