//! Several processes that train one model: who they are, how they meet, what they sum, who failed.

mod agreement;
mod collective;
mod join;
mod nccl;
mod rendezvous;
mod ring;
mod watch;
mod wire;
mod world;

pub(crate) use agreement::agree;
pub use collective::{Alone, Collective};
pub use join::{CollectiveKind, join_ranks};
pub use nccl::NcclGroup;
pub use ring::Ring;
pub use world::World;
