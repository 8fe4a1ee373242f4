//! What a job makes of its photos.

use locdiff_base::Named;
use serde::{Deserialize, Serialize};

/// What is made of the photos.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// Answers: where each photo was taken.
    #[default]
    Locate,
    /// Embeddings of the photos.
    Embed,
}

impl Named for Task {
    const WHAT: &'static str = "task";
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Locate, "locate", "where each photo was taken: the answers of `locate`"),
        (Self::Embed, "embed", "the photos as embeddings: the rows of `embed`"),
    ];
}
