//! The shape of CLIP's vision transformers.

use crate::{Result, VisionError};
use locdiff_nn::Gelu;

/// Everything but the weights of a CLIP vision tower.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VitConfig {
    /// Width and height of the input in pixels.
    pub(crate) side: usize,
    /// Width and height of a patch in pixels.
    pub(crate) patch: usize,
    /// Values of a token.
    pub(crate) width: usize,
    /// Values between the two products of a layer's second half.
    pub(crate) inner: usize,
    /// Number of layers.
    pub(crate) layers: usize,
    /// Attention heads of a layer; they share the width evenly.
    pub(crate) heads: usize,
    /// What lies between the two products.
    pub(crate) activation: Gelu,
    /// Added to the variance in layer norms.
    pub(crate) eps: f32,
    /// Values of the projected class token; without a projection the embedding is the class token itself.
    pub(crate) projection: Option<usize>,
}

impl VitConfig {
    /// Patches of a picture.
    pub(crate) fn patches(&self) -> usize {
        (self.side / self.patch).pow(2)
    }

    /// Patches and the class token.
    pub(crate) fn tokens(&self) -> usize {
        self.patches() + 1
    }

    /// Values of a head.
    pub(crate) fn head(&self) -> usize {
        self.width / self.heads
    }

    /// Values of an embedding.
    pub(crate) fn embedding(&self) -> usize {
        self.projection.unwrap_or(self.width)
    }

    /// All settings in one line, for the fingerprint; written out so that a field renamed changes nothing.
    pub(crate) fn text(&self) -> String {
        let Self { side, patch, width, inner, layers, heads, activation, eps, projection } = self;
        let activation = match activation {
            Gelu::Quick => "quick_gelu",
            Gelu::Exact => "gelu",
        };
        format!("clip {side} {patch} {width} {inner} {layers} {heads} {activation} {eps:?} {}", projection.unwrap_or(0))
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
