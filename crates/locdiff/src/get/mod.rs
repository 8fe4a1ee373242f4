//! Published models and encoders by name: fetched over https or from a folder, resumed where they were cut off, and in the data folder whole
//! or not at all.

mod error;
mod install;
mod plan;
mod remote;
mod table;
mod tower;
mod transfer;

pub use error::GetError;
pub use install::Installed;
pub use plan::{GetPlan, GetSettings};
pub use table::Published;
