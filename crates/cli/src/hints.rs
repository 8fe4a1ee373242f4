//! What a library's remedy is called on the command line: libraries know no flags.

use locdiff::LocateError;
use locdiff::parts::{AlbumError, GetError};
use locdiff::immich::ImmichError;
use locdiff_model::ModelError;
use locdiff_nn::NnError;
use locdiff_io::tags::TagError;
use locdiff_model::report::{ReportError, RowError};
use locdiff_serve::ServeError;
use locdiff_model::train::TrainError;
use locdiff_vision::VisionError;

/// The flag that a library's message speaks of in words, where there is one.
pub(crate) fn flag(error: &anyhow::Error) -> Option<&'static str> {
    error.chain().find_map(|cause| {
        if let Some(flag) = cause.downcast_ref().and_then(locate_flag) {
            return Some(flag);
        }
        if let Some(NnError::CudaUnavailable { .. }) = cause.downcast_ref() {
            return Some("--device cpu");
        }
        if let Some(TagError::HasLocation { .. }) = cause.downcast_ref() {
            return Some("--replace-tags");
        }
        if let Some(TagError::Exists { .. }) = cause.downcast_ref() {
            return Some("--force");
        }
        if let Some(ReportError::FewForPrdc { .. }) = cause.downcast_ref() {
            return Some("--prdc none");
        }
        if let Some(ImmichError::Key { .. }) = cause.downcast_ref() {
            return Some("--key-file");
        }
        if let Some(GetError::Unreachable { .. } | GetError::Missing { .. }) = cause.downcast_ref() {
            return Some("--from");
        }
        if let Some(ServeError::Open { .. }) = cause.downcast_ref() {
            return Some("--key-file, --insecure");
        }
        match cause.downcast_ref() {
            Some(RowError::Absent { .. }) => return Some("--allow-absent, --by-order"),
            Some(RowError::Strange { .. }) => return Some("--allow-absent"),
            Some(RowError::Twice { .. }) => return Some("--id-column, --by-order"),
            Some(RowError::Lengths { .. } | RowError::NothingCommon { .. }) => return Some("--id-column"),
            _ => {}
        }
        match cause.downcast_ref() {
            Some(TrainError::HoldsRun { .. }) => Some("--resume, or another --out"),
            Some(TrainError::Diverged { .. }) => Some("--lr"),
            _ => None,
        }
    })
}

/// The flag for an error of the front desk.
pub(crate) fn locate_flag(error: &LocateError) -> Option<&'static str> {
    match error {
        LocateError::Vision(VisionError::TooManyPixels { .. }) => Some("--max-megapixels"),
        LocateError::Places(_) => Some("--within"),
        LocateError::Album(AlbumError::Track { .. }) => Some("--track"),
        LocateError::Prior { .. } => Some("--prior"),
        LocateError::Gallery(_) => Some("--gallery"),
        LocateError::NoDensities { .. } => Some("--pool"),
        LocateError::GeoClip(_) => Some("--geoclip"),
        LocateError::NotBundled { what: "encoder" } => Some("--encoder"),
        LocateError::Model(ModelError::Folder { .. }) | LocateError::NotBundled { .. } => Some("--model"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn remedies_are_called_by_their_flags() {
        let exists = TagError::Exists { file: "a.jpg".to_owned() };
        assert_eq!(flag(&Err::<(), _>(exists).context("tagging").unwrap_err()), Some("--force"));
        let diverged = TrainError::Diverged { step: 3, loss: f64::NAN };
        assert_eq!(flag(&diverged.into()), Some("--lr"));
        let large = VisionError::TooManyPixels { file: "a".to_owned(), width: 9, height: 9, max_pixels: 1 };
        assert_eq!(flag(&LocateError::from(large).into()), Some("--max-megapixels"));
        assert_eq!(flag(&anyhow::anyhow!("anything else")), None);
    }
}
