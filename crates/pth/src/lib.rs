//! The tensors of PyTorch's `.pth` files, and nothing but tensors.
//!
//! | you want | item |
//! |---|---|
//! | the tensors of a file that `torch.save` wrote | [`read_pth`], [`PthTensor`] |
//! | a zip archive (a wheel, say) within limits | [`Archive`] |
//! | what is wrong with a file, in one line | [`Refused`] |
//!
//! A pickle is a program. This crate runs none: it reads the few instructions that describe tensors as data and refuses a
//! file with anything else in it, by name. Memory stays in proportion to the file.

mod archive;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod pickle;
mod pth;

use locdiff_base::one_line;

pub use archive::Archive;
pub use pth::{PthTensor, read_pth};

/// A file with anything in it but plain tensors, or a damaged one. Nothing of it was used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file} is refused: {}", one_line(reason))]
pub struct Refused {
    /// The file.
    pub file: String,
    /// What is wrong with it, and what would be right.
    pub reason: String,
}
