//! What the tensors of a tower are called, by who saved it.

/// The names of a tower's tensors, without what stands before all of them.
#[derive(Debug)]
pub(crate) struct Names {
    /// The product that makes tokens of patches.
    pub(crate) patches: &'static str,
    pub(crate) patches_have_bias: bool,
    pub(crate) class: &'static str,
    pub(crate) positions: &'static str,
    /// Dimensions of 1 before those of the class token and of the positions.
    pub(crate) ones: [usize; 2],
    pub(crate) before: &'static str,
    /// Stands before a layer's number.
    pub(crate) layers: &'static str,
    pub(crate) norm1: &'static str,
    pub(crate) attention: Attention,
    pub(crate) out: &'static str,
    pub(crate) norm2: &'static str,
    pub(crate) fc1: &'static str,
    pub(crate) fc2: &'static str,
    /// The factors after both halves of a layer.
    pub(crate) scales: [&'static str; 2],
    pub(crate) after: &'static str,
}

/// Where queries, keys and values come from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Attention {
    Three([&'static str; 3]),
    /// One for all, PyTorch's `MultiheadAttention`: the name before `in_proj_weight`.
    One(&'static str),
}

/// CLIP as Hugging Face saves it; SigLIP has the same names.
pub(crate) const CLIP: Names = Names {
    patches: "embeddings.patch_embedding",
    patches_have_bias: false,
    class: "embeddings.class_embedding",
    positions: "embeddings.position_embedding.weight",
    ones: [0, 0],
    before: "pre_layrnorm",
    layers: "encoder.layers",
    norm1: "layer_norm1",
    attention: Attention::Three(["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"]),
    out: "self_attn.out_proj",
    norm2: "layer_norm2",
    fc1: "mlp.fc1",
    fc2: "mlp.fc2",
    scales: ["", ""],
    after: "post_layernorm",
};

pub(crate) const SIGLIP: Names = Names { patches_have_bias: true, ..CLIP };

/// DINOv2 as the hub has it.
pub(crate) const DINOV2: Names = Names {
    patches: "embeddings.patch_embeddings.projection",
    patches_have_bias: true,
    class: "embeddings.cls_token",
    positions: "embeddings.position_embeddings",
    ones: [2, 1],
    before: "",
    layers: "encoder.layer",
    norm1: "norm1",
    attention: Attention::Three(["attention.attention.query", "attention.attention.key", "attention.attention.value"]),
    out: "attention.output.dense",
    norm2: "norm2",
    fc1: "mlp.fc1",
    fc2: "mlp.fc2",
    scales: ["layer_scale1.lambda1", "layer_scale2.lambda1"],
    after: "layernorm",
};

/// DINOv2 as newer versions of the library name it.
pub(crate) const DINOV2_NEWER: Names = Names {
    attention: Attention::Three(["attention.q_proj", "attention.k_proj", "attention.v_proj"]),
    out: "attention.o_proj",
    ..DINOV2
};
