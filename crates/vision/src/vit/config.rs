//! The shape of vision transformers: CLIP's, DINOv2's, SigLIP's.

use crate::{Result, VisionError};
use locdiff_nn::Gelu;

/// Who published a tower: what it is made of follows from that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// OpenAI's CLIP as Hugging Face saves it.
    Clip,
    /// DINOv2: layer scale, no norm before the layers, positions for any size.
    Dinov2,
    /// SigLIP: no class token, an attention head that pools.
    Siglip,
}

impl Family {
    /// The first word of an architecture's name.
    pub(crate) fn name(self) -> &'static str {
        ["clip", "dinov2", "siglip"][self as usize]
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Clip => "CLIP vision transformer",
            Self::Dinov2 => "DINOv2 vision transformer",
            Self::Siglip => "SigLIP vision transformer",
        }
    }
}

/// What of the last layer is the embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    Class,
    Mean,
    ClassAndMean,
    /// What a learned query finds in all tokens.
    Attention,
}

/// Everything but the weights of a vision tower.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VitConfig {
    pub(crate) family: Family,
    pub(crate) side: usize,
    pub(crate) patch: usize,
    /// Patches along a side of the pictures that the positions were learned on; for other pictures they are interpolated.
    pub(crate) grid: usize,
    pub(crate) width: usize,
    /// Values between the two products of a layer's second half.
    pub(crate) inner: usize,
    pub(crate) layers: usize,
    /// Attention heads of a layer; they share the width evenly.
    pub(crate) heads: usize,
    pub(crate) activation: Gelu,
    /// Added to the variance in layer norms.
    pub(crate) eps: f32,
    pub(crate) norm_before: bool,
    /// Whether each half of a layer ends with a factor for each value.
    pub(crate) layer_scale: bool,
    pub(crate) pooling: Pooling,
    /// Values of the projected class token; without a projection the embedding is what was pooled.
    pub(crate) projection: Option<usize>,
}

impl VitConfig {
    pub(crate) fn patches(&self) -> usize {
        (self.side / self.patch).pow(2)
    }

    pub(crate) fn class_tokens(&self) -> usize {
        usize::from(self.family != Family::Siglip)
    }

    pub(crate) fn tokens(&self) -> usize {
        self.patches() + self.class_tokens()
    }

    pub(crate) fn head(&self) -> usize {
        self.width / self.heads
    }

    pub(crate) fn embedding(&self) -> usize {
        let pooled = if self.pooling == Pooling::ClassAndMean { 2 * self.width } else { self.width };
        self.projection.unwrap_or(pooled)
    }

    /// The name of the network, as the published towers of its size go by.
    pub(crate) fn architecture(&self) -> String {
        let sizes = [(384, "small"), (768, "base"), (1024, "large"), (1152, "so400m"), (1280, "huge")];
        let known = sizes.into_iter().find(|(width, _)| *width == self.width);
        let size = known.map_or_else(|| format!("width{}", self.width), |(_, name)| name.to_owned());
        format!("{}-vit-{size}-patch{}-{}", self.family.name(), self.patch, self.side)
    }

    /// All settings in one line, for the fingerprint; written out so that a field renamed changes nothing.
    pub(crate) fn text(&self) -> String {
        let Self { family, side, patch, grid, width, inner, layers, heads, activation, eps, .. } = self;
        let Self { norm_before, layer_scale, pooling, projection, .. } = self;
        let activation = match activation {
            Gelu::Quick => "quick_gelu",
            Gelu::Exact => "gelu",
            Gelu::Tanh => "gelu_tanh",
        };
        let (name, projection) = (family.name(), projection.unwrap_or(0));
        let common =
            format!("{name} {side} {patch} {width} {inner} {layers} {heads} {activation} {eps:?} {projection}");
        if *family == Family::Clip {
            return common;
        }
        let pooling = ["class", "mean", "both", "attention"][*pooling as usize];
        format!("{common} {grid} {norm_before} {layer_scale} {pooling}")
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
            ("projection_dim", self.embedding(), 1 << 17),
            ("image_size / patch_size", self.grid, 4096),
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
