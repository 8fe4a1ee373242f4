//! What a calibration must know of its model.

use locdiff_model::{Model, answer::ModelShape};

pub(crate) fn shape_of(model: &Model) -> ModelShape<'_> {
    let config = model.config();
    ModelShape { degree: config.degree, embedding_dim: config.embedding_dim, encoder: config.encoder.as_ref() }
}
