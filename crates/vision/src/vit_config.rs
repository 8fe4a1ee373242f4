//! The shape of CLIP's vision transformers, and their weights layer by layer.

use crate::{Activation, Result, VisionError};

/// Everything but the weights of a CLIP vision tower.
#[derive(Debug, Clone, PartialEq)]
pub struct VitConfig {
    /// Width and height of the input in pixels.
    pub side: usize,
    /// Width and height of a patch in pixels.
    pub patch: usize,
    /// Values of a token.
    pub width: usize,
    /// Values between the two products of a layer's second half.
    pub inner: usize,
    /// Number of layers.
    pub layers: usize,
    /// Attention heads of a layer; they share the width evenly.
    pub heads: usize,
    /// What lies between the two products.
    pub activation: Activation,
    /// Added to the variance in layer norms.
    pub eps: f32,
    /// Values of the projected class token; without a projection the embedding is the class token itself.
    pub projection: Option<usize>,
}

impl VitConfig {
    /// Patches of a picture.
    pub fn patches(&self) -> usize {
        (self.side / self.patch).pow(2)
    }

    /// Patches and the class token.
    pub fn tokens(&self) -> usize {
        self.patches() + 1
    }

    /// Values of a head.
    pub fn head(&self) -> usize {
        self.width / self.heads
    }

    /// Values of an embedding.
    pub fn embedding(&self) -> usize {
        self.projection.unwrap_or(self.width)
    }

    /// All settings in one line, for the fingerprint; written out so that a field renamed changes nothing.
    pub(crate) fn text(&self) -> String {
        let Self { side, patch, width, inner, layers, heads, activation, eps, projection } = self;
        let activation = match activation {
            Activation::QuickGelu => "quick_gelu",
            Activation::Gelu => "gelu",
        };
        format!(
            "clip {side} {patch} {width} {inner} {layers} {heads} {activation} {eps:?} {}",
            projection.unwrap_or(0)
        )
    }

    /// Refuses shapes without meaning, or of a size that no tower has.
    pub(crate) fn check(&self) -> Result<()> {
        let bad = |what: String| Err(VisionError::Architecture(what));
        let limits = [
            ("image_size", self.side, 4096),
            ("patch_size", self.patch, 4096),
            ("hidden_size", self.width, 1 << 16),
            ("intermediate_size", self.inner, 1 << 18),
            ("num_hidden_layers", self.layers, 1024),
            ("num_attention_heads", self.heads, 1024),
            ("projection_dim", self.embedding(), 1 << 16),
        ];
        for (name, value, most) in limits {
            if value == 0 || value > most {
                return bad(format!("{name} = {value}: choose 1 … {most}"));
            }
        }
        if !self.width.is_multiple_of(self.heads) {
            return bad(format!("a width of {} shared by {} heads", self.width, self.heads));
        }
        if self.patch > self.side {
            return bad(format!("patches of {} pixels in a picture of {}", self.patch, self.side));
        }
        if !(self.eps.is_finite() && self.eps > 0.0) {
            return bad(format!("layer_norm_eps = {}: choose a small number above 0", self.eps));
        }
        Ok(())
    }
}

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
        let planes = (self.tensor)("embeddings.patch_embedding.weight", &[width, 3, patch, patch])?;
        let area = patch * patch;
        let by_pixel =
            |plane: &[f32]| (0..3 * area).map(|i| plane[i % 3 * area + i / 3]).collect::<Vec<f32>>();
        Ok(planes.chunks_exact(3 * area).flat_map(by_pixel).collect())
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
