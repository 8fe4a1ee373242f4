//! The default encoder and model inside the binary, so that nothing has to be downloaded or found at run time.

pub use locdiff_bundled_encoder::encoder;
pub use locdiff_bundled_model::{ModelFiles, model};
