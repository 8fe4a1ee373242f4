//! What a job makes of its photos.

use locdiff_base::named;
use serde::{Deserialize, Serialize};

named! {
    /// What is made of the photos.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Task: "task" {
        #[default]
        Locate = "locate", "where each photo was taken: the answers of `locate`";
        Embed = "embed", "the photos as embeddings: the rows of `embed`";
    }
}
