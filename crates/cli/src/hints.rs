//! What a library's remedy is called on the command line: libraries know no flags.

use locdiff::{ErrorKind, LocateError, get::GetError, immich::ImmichError};
use locdiff_io::tags::TagError;
use locdiff_map::clues::ClueError;
use locdiff_model::{report::ReportError, report::RowError, train::TrainError};
use locdiff_nn::NnError;
use locdiff_serve::ServeError;

/// Flags by what a cause is.
macro_rules! flags {
    ($cause:ident: $($error:pat => $flag:literal,)*) => {
        $(if let Some($error) = $cause.downcast_ref() {
            return Some($flag);
        })*
    };
}

/// The flag that a library's message speaks of in words, where there is one.
pub(crate) fn flag(error: &anyhow::Error) -> Option<&'static str> {
    error.chain().find_map(|cause| {
        flags! { cause:
            NnError::CudaUnavailable { .. } => "--device cpu",
            TagError::HasLocation { .. } => "--replace-tags",
            TagError::Exists { .. } => "--force",
            ReportError::FewForPrdc { .. } => "--prdc none",
            ImmichError::Key { .. } => "--key-file",
            GetError::Unreachable { .. } | GetError::Missing { .. } | GetError::NoFolder { .. } | GetError::Broken { .. } => "--from",
            ServeError::Open { .. } => "--key-file, --insecure",
            RowError::Absent { .. } => "--allow-absent, --by-order",
            RowError::Strange { .. } => "--allow-absent",
            RowError::Twice { .. } => "--id-column, --by-order",
            RowError::Lengths { .. } | RowError::NothingCommon { .. } => "--id-column",
            TrainError::HoldsRun { .. } => "--resume, or another --out",
            TrainError::Diverged { .. } => "--lr",
        }
        cause.downcast_ref().and_then(locate_flag)
    })
}

/// The flag for an error of a locator.
pub(crate) fn locate_flag(error: &LocateError) -> Option<&'static str> {
    if let Some(ClueError::NoTime { .. }) = error.get_ref().downcast_ref() {
        return Some("--time");
    }
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
