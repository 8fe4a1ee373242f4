//! CLIP's vision transformers.

mod config;
mod cpu;
mod cuda;
mod layer;
mod weights;

pub use config::VitConfig;
pub use cpu::VisionTransformer;
pub use cuda::VisionTransformerCuda;
