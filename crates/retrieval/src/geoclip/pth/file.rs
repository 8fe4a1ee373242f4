//! `.pth` files: a zip archive with one pickle that describes tensors, and the tensors' numbers beside it.

use super::{archive::Archive, pickle, pickle::LONGEST_PICKLE, pickle::StorageInfo, pickle::TensorInfo};
use locdiff_base::{Element, ensure, excerpt, one_line};
use std::collections::{BTreeMap, HashMap};

/// A file with anything in it but plain tensors, or a damaged one. Nothing of it was used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file} is refused: {}", one_line(reason))]
pub struct Refused {
    /// The file.
    pub file: String,
    /// What is wrong with it, and what would be right.
    pub reason: String,
}

/// A tensor of a `.pth` file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PthTensor {
    /// Its shape; empty for a single number.
    pub(crate) shape: Vec<usize>,
    /// Its values, row by row, all finite.
    pub(crate) values: Vec<f32>,
}

/// Reads the tensors of a `.pth` file that `torch.save` wrote (a `state_dict`, or one tensor without a name). Nothing in it
/// is executed: a pickle that names anything but tensors is refused with that name. Errors call the file `file`.
///
/// Memory stays in proportion to the file: members do not overlap, and no tensor is larger than its storage.
pub(crate) fn read_pth(file: &str, bytes: &[u8]) -> Result<BTreeMap<String, PthTensor>, Refused> {
    read(bytes).map_err(|reason| Refused { file: file.to_owned(), reason })
}

fn read(bytes: &[u8]) -> Result<BTreeMap<String, PthTensor>, String> {
    if !bytes.starts_with(b"PK") {
        let reason = match bytes.first() {
            None => "it is empty; copy or download it again",
            Some(0x80) => {
                "it is a bare pickle, PyTorch's format from before version 1.6; load and save it with a newer one"
            }
            Some(_) => "it is not a .pth file of PyTorch",
        };
        return Err(reason.to_owned());
    }
    let mut archive = Archive::open(bytes)?;
    let roots: Vec<_> = archive.names().filter_map(|name| name.strip_suffix("/data.pkl").map(str::to_owned)).collect();
    let [root] = &roots[..] else {
        return Err(format!("it has {} members called data.pkl, but a .pth file has one", roots.len()));
    };
    if archive.names().any(|name| name.ends_with("/constants.pkl")) {
        return Err("it is a TorchScript program; save the state_dict() of the module instead".to_owned());
    }
    let order_name = format!("{root}/byteorder");
    // Files from before the member existed come from little-endian machines.
    let order =
        if archive.names().any(|name| name == order_name) { archive.stored(&order_name)? } else { b"little".to_vec() };
    ensure!(
        order == b"little",
        format!("its byte order is '{}', not little", excerpt(&String::from_utf8_lossy(&order)))
    );
    let pickle = archive.stored(&format!("{root}/data.pkl"))?;
    if pickle.len() as u64 > LONGEST_PICKLE {
        return Err(format!("its pickle has {} bytes, too many for names and shapes", pickle.len()));
    }
    let infos = pickle::tensors(&pickle)?;
    let mut storages: HashMap<String, (Element, Vec<f32>)> = HashMap::new();
    let mut tensors = BTreeMap::new();
    // Tied weights repeat a storage; a file that only repeats is made to fill the memory.
    let mut values_left = 4 * bytes.len() as u64;
    for (name, info) in infos {
        let StorageInfo { key, element: claimed, count } = &*info.storage;
        if !storages.contains_key(key) {
            let raw = archive.stored(&format!("{root}/data/{key}"))?;
            storages.insert(key.clone(), (*claimed, claimed.to_f32(&raw)));
        }
        let (element, storage) = &storages[key];
        let held = storage.len();
        let wrong = |reason: String| format!("tensor '{}' {reason}", excerpt(&name));
        if element != claimed || *count != held as u64 {
            return Err(wrong(format!(
                "claims {count} numbers of {claimed:?}, its storage holds {held} of {element:?}"
            )));
        }
        let tensor = gather(&info, storage).map_err(wrong)?;
        let left = values_left.checked_sub(tensor.values.len() as u64);
        values_left = left.ok_or_else(|| wrong("repeats numbers beyond the file's size".to_owned()))?;
        if let Some(value) = tensor.values.iter().find(|value| !value.is_finite()) {
            return Err(wrong(format!("holds the value {value}")));
        }
        ensure!(tensors.insert(name.clone(), tensor).is_none(), wrong("is there twice".to_owned()));
    }
    Ok(tensors)
}

/// Copies a window of a storage, row by row.
fn gather(info: &TensorInfo, storage: &[f32]) -> Result<PthTensor, String> {
    const MOST_DIMENSIONS: usize = 8;
    let TensorInfo { offset, shape, stride, .. } = info;
    if shape.len() != stride.len() || shape.len() > MOST_DIMENSIONS {
        return Err(format!("has a shape of {} and strides of {} numbers", shape.len(), stride.len()));
    }
    let held = storage.len() as u64;
    let count = shape.iter().try_fold(1_u64, |product, side| product.checked_mul(*side));
    let Some(count) = count.filter(|count| *count <= held) else {
        return Err(format!("has the shape {shape:?}, but its storage holds {held} numbers"));
    };
    let mut ends = shape.iter().zip(stride);
    let last = ends.try_fold(*offset, |at, (side, step)| at.checked_add(side.saturating_sub(1).checked_mul(*step)?));
    if count > 0 && last.is_none_or(|last| last >= held) {
        let beyond = format!("reaches beyond the {held} numbers of its storage");
        return Err(format!("of shape {shape:?}, strides {stride:?} from {offset} {beyond}"));
    }
    let mut values = Vec::with_capacity(count as usize);
    let mut index = vec![0_u64; shape.len()];
    for _ in 0..count {
        let at = index.iter().zip(stride).fold(*offset, |at, (i, step)| at + i * step);
        values.push(storage[at as usize]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    Ok(PthTensor { shape: shape.iter().map(|side| *side as usize).collect(), values })
}
