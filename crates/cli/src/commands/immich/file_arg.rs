//! The file that suggestions are kept in.

use clap::Args;
use std::path::PathBuf;

/// The file of suggestions.
#[derive(Debug, Args)]
pub(super) struct FileArg {
    /// The file of suggestions
    #[arg(long, value_name = "FILE.json", default_value = "immich-suggestions.json")]
    pub(super) file: PathBuf,
}
