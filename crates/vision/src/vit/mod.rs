//! Vision transformers: CLIP's, DINOv2's, SigLIP's.

mod config;
mod cpu;
mod cuda;
mod layer;
pub(crate) mod names;
mod positions;
mod weights;

pub(crate) use config::{Family, Pooling, VitConfig};
pub(crate) use cpu::VisionTransformer;
pub(crate) use cuda::VisionTransformerCuda;
