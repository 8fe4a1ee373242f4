//! What a calibration must agree on with its model.

use locdiff_model::Model;
use locdiff_model::answer::ModelShape;

/// A model as its calibration knows it.
pub(crate) fn shape_of(model: &Model) -> ModelShape<'_> {
    let config = model.config();
    ModelShape { degree: config.degree, embedding_dim: config.embedding_dim, encoder: config.encoder.as_ref() }
}
