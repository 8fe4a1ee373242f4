//! What a library's remedy is called on the command line: libraries know no flags.

use locdiff::immich::ImmichError;
use locdiff::{ErrorKind, LocateError, get::GetError};
use locdiff_io::tags::TagError;
use locdiff_model::report::{ReportError, RowError};
use locdiff_model::train::TrainError;
use locdiff_nn::NnError;
use locdiff_serve::ServeError;

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

/// The flag for an error of a locator.
pub(crate) fn locate_flag(error: &LocateError) -> Option<&'static str> {
    Some(match error.kind() {
        ErrorKind::PhotoTooLarge => "--max-megapixels",
        ErrorKind::Region => "--within",
        ErrorKind::Track => "--track",
        ErrorKind::Prior => "--prior",
        ErrorKind::Gallery => "--gallery",
        ErrorKind::NoDensities => "--pool",
        ErrorKind::GeoClip => "--geoclip",
        ErrorKind::NoBundledEncoder => "--encoder",
        ErrorKind::ModelFolder | ErrorKind::NoBundledModel => "--model",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;
    use locdiff_vision::VisionError;

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
