//! Layers with explicit forward and backward passes, written once for all devices.

mod csiren;
mod csunet;
mod csunet_config;
mod csunet_passes;
mod csunet_sampling;
mod linear;
mod mlp;

pub(crate) use csiren::{CSiren, CSirenGradients, CSirenState, Times};
pub use csunet::CsUnet;
pub use csunet_config::{CsUnetConfig, Layout};
pub use csunet_passes::{CsUnetWorkspace, ForwardMode};
pub use csunet_sampling::{Conditioning, SamplingWorkspace};
pub use linear::{Accumulate, Linear};
pub use mlp::{Mlp, MlpWork};
