//! The EfficientNet-Lite family.

mod block;
mod config;
mod cpu;
mod cuda;
mod weights;

pub use config::{EfficientNetLiteConfig, Stage};
pub use cpu::EfficientNetLite;
pub use cuda::EfficientNetLiteCuda;
