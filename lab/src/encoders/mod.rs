//! The location encoders of the paper's appendix, each with a learned decoder, in LocDiff's place for the codec.
//!
//! Only the position encoders PE are used, without the learned networks that others put behind them: those are trained for a
//! task, and here there is none but to be decoded again. Siren (SH) keeps its first layer, at its random start.

mod ablation;
mod decoder;
mod density;
mod features;

pub use ablation::EncoderKind;
pub(crate) use ablation::fit;
pub(crate) use density::EncoderDensity;
