//! Layers with explicit forward and backward passes, written once for all devices.

mod csiren;
mod csunet;
mod csunet_config;
mod csunet_passes;
mod csunet_sampling;
mod csunet_workspace;
mod linear;
mod mlp;
mod times;

pub use csiren::{CSiren, CSirenGradients, CSirenState};
pub use csunet::CsUnet;
pub use csunet_config::{CsUnetConfig, Layout};
pub use csunet_passes::ForwardMode;
pub use csunet_sampling::{Conditioning, SamplingWorkspace};
pub use csunet_workspace::CsUnetWorkspace;
pub use linear::{Accumulate, Linear};
pub use mlp::{Mlp, MlpWork};
pub use times::Times;
