//! Operations on views, each written once per backend behind one checked signature. All of them write into storage that
//! exists already, so that a whole training step or sampler can be captured by [`crate::Recorded`]. Operands must live on
//! one device.

mod elementwise;
mod gemm;
mod groups;
mod losses;
mod noise_codes;
mod norm;
mod optim;
mod random;
mod reduce;

pub use crate::kinds::{Activation, PointLoss, SamplerStep, Transpose};
pub use elementwise::{
    activate, activate_backward, axpby, copy, dropout, dropout_backward, dropout_sine, dropout_sine_backward, film,
    film_backward, gather_rows, mix_rows, scale, sinusoidal,
};
pub use gemm::gemm;
pub(crate) use gemm::{gemm_packed, weight_gradient};
pub(crate) use groups::{RowGroups, film_by_group, film_by_group_backward};
pub use losses::{point_loss, reverse_kl};
pub use noise_codes::{NoiseCodes, noise_codes};
pub(crate) use norm::layer_norm_row;
pub use norm::{layer_norm, normalise, normalise_backward};
pub(crate) use optim::{AdamBuffers, adam_step, gather_gradients};
pub use random::Dropout;
pub use random::{drop_rows, fill_indices, fill_normal, fill_row_noise, fill_uniform, sampler_step};
pub use reduce::{column_sums, row_dot, softmax};
