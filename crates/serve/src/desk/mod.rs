//! The review desk: its page, and a folder's photos on it.

mod folder;
mod kept;
mod page;

pub use folder::{FolderBench, FolderSettings};
pub use page::run_desk;
