//! The fingerprint of an encoder: a hash of everything that shapes its embeddings.

use crate::{CentreCrop, CropRounding, Preprocessing, ResizeRule, resize::ResizeFilter};
use locdiff_io::data::Fingerprint;
use std::{collections::BTreeMap, path::Path, sync::Arc};
use twox_hash::XxHash3_128;

pub(crate) enum Content<'a> {
    /// The hash of each tensor that the network read, by name.
    Tensors(BTreeMap<String, u128>),
    /// A file that holds weights and network alike.
    #[cfg_attr(not(feature = "onnx"), allow(dead_code, reason = "only ONNX encoders are such files"))]
    File(&'a [u8]),
}

/// The hash of a tensor as a file holds it: its number type, shape and bytes.
pub(crate) fn tensor_hash(dtype: &str, shape: &[usize], bytes: &[u8]) -> u128 {
    let mut hasher = XxHash3_128::new();
    hasher.write(format!("{dtype} {shape:?}\n").as_bytes());
    hasher.write(bytes);
    hasher.finish_128()
}

/// The fingerprint of a network with its settings in `network`, behind `preprocessing`. It depends on no file's layout,
/// so an encoder is the same from a folder, from memory and on every device.
pub(crate) fn fingerprint(name: String, network: &str, of: &Preprocessing, content: Content<'_>) -> Arc<Fingerprint> {
    let mut hasher = XxHash3_128::new();
    hasher.write(format!("{network}\n{}\n", preprocessing_text(of)).as_bytes());
    match content {
        Content::Tensors(tensors) => {
            for (name, hash) in tensors {
                hasher.write(format!("{name} {hash:032x}\n").as_bytes());
            }
        }
        Content::File(bytes) => hasher.write(bytes),
    }
    Arc::new(Fingerprint::new(name, hasher.finish_128()))
}

/// The name of the folder that a description lies in, or else `otherwise`.
pub(crate) fn folder_name(description: &Path, otherwise: &str) -> String {
    let folder = description.parent().unwrap_or(Path::new(""));
    // "." and ".." have no name of their own.
    let resolved = folder.file_name().is_none().then(|| Path::new(".").join(folder).canonicalize().ok());
    let folder = resolved.flatten().unwrap_or_else(|| folder.to_owned());
    folder.file_name().map_or_else(|| otherwise.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// All numbers of the steps before the network. Written out field by field: a field renamed in the code must not change
/// the fingerprints of yesterday's embeddings.
fn preprocessing_text(preprocessing: &Preprocessing) -> String {
    let Preprocessing { resize, filter, crop, input_side, scale, mean, std } = preprocessing;
    let resize = match resize {
        ResizeRule::Keep => "keep".to_owned(),
        ResizeRule::ShortSide(side) => format!("short {side}"),
        ResizeRule::Exact(width, height) => format!("exact {width} {height}"),
    };
    let filter = match filter {
        ResizeFilter::Bilinear => "bilinear",
        ResizeFilter::Bicubic => "bicubic",
    };
    let crop = match crop {
        None => "none".to_owned(),
        Some(CentreCrop { width, height, rounding: CropRounding::Even }) => format!("{width} {height} even"),
        Some(CentreCrop { width, height, rounding: CropRounding::Down }) => format!("{width} {height} down"),
    };
    format!("{resize}; {filter}; {crop}; {input_side}; {scale:?} {mean:?} {std:?}")
}
