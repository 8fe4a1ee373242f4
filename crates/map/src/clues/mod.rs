//! What somebody knows about a photo, as evidence: `language=Polish`, `drives!=left`, `shadow=1.4±0.1`.

mod asked;
mod clocks;
mod clue;
mod error;
mod kinds;
mod nature;
mod sunlight;
mod tables;
mod words;

pub use asked::ClueTime;
pub use clue::{Clue, MOST_CLUES};
pub use error::ClueError;
