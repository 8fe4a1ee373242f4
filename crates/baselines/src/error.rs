//! What can go wrong with a baseline.

use locdiff_base::BadSetting;

/// Data that do not fit, a method that was not fitted, or a failure below.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// A setting or a set of data outside its range.
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// An answer was asked for before the method was fitted.
    #[error("{method} has not been fitted: call fit first")]
    NotFitted {
        /// The method.
        method: &'static str,
    },
    /// A loss that is no number any more.
    #[error("{method}: the loss is {loss} at step {step}; the embeddings may hold huge values")]
    Diverged {
        /// The method.
        method: &'static str,
        /// The step.
        step: u32,
        /// The loss.
        loss: f64,
    },
    /// A failure of the engine.
    #[error(transparent)]
    Engine(#[from] locdiff_nn::NnError),
    /// A failure of the diffusion.
    #[error(transparent)]
    Diffusion(#[from] locdiff_diffusion::DiffusionError),
    /// A failure on the sphere.
    #[error(transparent)]
    Sphere(#[from] locdiff_sphere::SphereError),
    /// A failure of the codec.
    #[error(transparent)]
    Codec(#[from] locdiff_shdd::ShddError),
    /// A failure of the model.
    #[error(transparent)]
    Model(#[from] locdiff_model::ModelError),
    /// A failure of a density.
    #[error(transparent)]
    Density(#[from] locdiff_answer::AnswerError),
    /// An embedding that is none.
    #[error(transparent)]
    Data(#[from] locdiff_data::DataError),
    /// A failure in training or in its data.
    #[error(transparent)]
    Train(#[from] locdiff_train::TrainError),
}
