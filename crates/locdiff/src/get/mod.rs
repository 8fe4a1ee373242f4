//! Downloads published models and encoders by name, over https or from a folder. An interrupted download resumes. The data folder never
//! holds an incomplete model.

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
