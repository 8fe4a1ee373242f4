//! CLIP's vision transformers.

mod config;
mod cpu;
mod cuda;
mod layer;
mod weights;

pub(crate) use config::VitConfig;
pub(crate) use cpu::VisionTransformer;
pub(crate) use cuda::VisionTransformerCuda;
