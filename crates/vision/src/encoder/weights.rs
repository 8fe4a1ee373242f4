//! Tensors of safetensors files as f32, read one by one where they lie: a whole CLIP's text tower never enters memory.

use super::fingerprint::tensor_hash;
use crate::{Result, VisionError};
use half::{bf16, f16};
use safetensors::{
    Dtype,
    tensor::{Metadata, TensorInfo},
};
use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{Cursor, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

/// Bytes before the header: its length.
const LENGTH_BYTES: u64 = 8;
/// The longest header believed; whole CLIPs have 100 kB.
const MAX_HEADER_BYTES: u64 = 16 << 20;

/// A file, on disk or in memory.
trait Source: Read + Seek {}
impl<T: Read + Seek> Source for T {}

/// One safetensors file, its header read.
struct Part<'a> {
    path: PathBuf,
    source: RefCell<Box<dyn Source + 'a>>,
    metadata: Metadata,
    /// Where the tensors begin.
    start: u64,
}

/// The tensors of an encoder, of one file or of several, read by name.
pub(crate) struct Weights<'a> {
    parts: Vec<Part<'a>>,
    values_read: Cell<usize>,
    /// Of each tensor read so far.
    hashes: RefCell<BTreeMap<String, u128>>,
}

impl<'a> Weights<'a> {
    /// A file in memory; `path` stands for it in messages.
    pub(crate) fn parse(path: &Path, contents: &'a [u8]) -> Result<Self> {
        Ok(Self::of(vec![Part::new(path, Cursor::new(contents), contents.len() as u64)?]))
    }

    /// Files on disk, which together hold the tensors.
    pub(crate) fn open(paths: &BTreeSet<PathBuf>) -> Result<Self> {
        let open = |path: &PathBuf| {
            let read = |source| VisionError::Read { file: path.display().to_string(), source };
            let file = File::open(path).map_err(read)?;
            let bytes = file.metadata().map_err(read)?.len();
            Part::new(path, file, bytes)
        };
        Ok(Self::of(paths.iter().map(open).collect::<Result<_>>()?))
    }

    fn of(parts: Vec<Part<'a>>) -> Self {
        Self { parts, values_read: Cell::new(0), hashes: RefCell::default() }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Values that [`Weights::tensor`] has read so far.
    pub(crate) fn values_read(&self) -> usize {
        self.values_read.get()
    }

    /// The hash of each tensor that [`Weights::tensor`] has read so far.
    pub(crate) fn hashes(&self) -> BTreeMap<String, u128> {
        self.hashes.borrow().clone()
    }

    /// Bytes of all files together.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.start + part.metadata.data_len() as u64).sum()
    }

    fn find(&self, name: &str) -> Option<(&Part<'a>, &TensorInfo)> {
        self.parts.iter().find_map(|part| part.metadata.info(name).map(|info| (part, info)))
    }

    /// The values of a layer's tensor. Where the file has a factor for each output (`layer.scale` beside
    /// `layer.weight`: a folded batch norm that f16 weights could not hold exactly), the weights are multiplied by it.
    pub(crate) fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let mut values = self.plain(name, shape)?;
        let scale = name.strip_suffix(".weight").map(|layer| format!("{layer}.scale"));
        if let Some(scale) = scale.filter(|scale| self.has(scale)) {
            let factors = self.plain(&scale, &shape[..1])?;
            let inputs: usize = shape[1..].iter().product();
            for (weights, factor) in values.chunks_exact_mut(inputs).zip(factors) {
                for weight in weights {
                    *weight *= factor;
                }
            }
        }
        self.values_read.set(self.values_read.get() + values.len());
        Ok(values)
    }

    /// The values of the tensor `name`, which must have this shape and hold finite f16, bf16 or f32 values.
    fn plain(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let Some((part, info)) = self.find(name) else {
            let path = self.parts.first().map_or_else(PathBuf::new, |part| part.path.clone());
            let detail =
                format!("no tensor `{name}`: the file belongs to another architecture than its folder names");
            return Err(VisionError::Encoder { path, detail });
        };
        let bad = |detail: String| VisionError::Encoder { path: part.path.clone(), detail };
        if info.shape != shape {
            let met = &info.shape;
            return Err(bad(format!("`{name}` has the shape {met:?}, the architecture wants {shape:?}")));
        }
        let data = part.bytes(info)?;
        let values: Vec<f32> = match info.dtype {
            Dtype::F16 => data.as_chunks().0.iter().map(|&b| f16::from_le_bytes(b).to_f32()).collect(),
            Dtype::BF16 => data.as_chunks().0.iter().map(|&b| bf16::from_le_bytes(b).to_f32()).collect(),
            Dtype::F32 => data.as_chunks().0.iter().map(|&b| f32::from_le_bytes(b)).collect(),
            other => {
                return Err(bad(format!("`{name}` holds {other:?} values: save it as F16, BF16 or F32")));
            }
        };
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            return Err(bad(format!("`{name}` holds the value {value}: the file is damaged, copy it again")));
        }
        let hash = tensor_hash(&info.dtype.to_string(), &info.shape, &data);
        self.hashes.borrow_mut().insert(name.to_owned(), hash);
        Ok(values)
    }
}

impl<'a> Part<'a> {
    /// Reads the header of a file of so many bytes.
    fn new(path: &Path, mut source: impl Source + 'a, bytes: u64) -> Result<Self> {
        let read = |source| VisionError::Read { file: path.display().to_string(), source };
        if bytes < LENGTH_BYTES {
            return Err(damaged(path, format!("{bytes} bytes")));
        }
        let mut length = [0; LENGTH_BYTES as usize];
        source.read_exact(&mut length).map_err(read)?;
        let length = u64::from_le_bytes(length);
        if length > MAX_HEADER_BYTES.min(bytes - LENGTH_BYTES) {
            return Err(damaged(path, format!("a header of {length} bytes in a file of {bytes}")));
        }
        let mut header = vec![0; length as usize];
        source.read_exact(&mut header).map_err(read)?;
        // This checks that the tensors lie one after another, each as long as its shape says.
        let metadata: Metadata = serde_json::from_slice(&header).map_err(|error| damaged(path, error))?;
        let start = LENGTH_BYTES + length;
        let wanted = start + metadata.data_len() as u64;
        if bytes != wanted {
            return Err(damaged(path, format!("{bytes} bytes, its header says {wanted}")));
        }
        Ok(Self { path: path.to_owned(), source: RefCell::new(Box::new(source)), metadata, start })
    }

    /// The bytes of a tensor; the file's length has been checked against the header.
    fn bytes(&self, info: &TensorInfo) -> Result<Vec<u8>> {
        let (first, end) = info.data_offsets;
        let mut data = vec![0; end - first];
        let mut source = self.source.borrow_mut();
        source
            .seek(SeekFrom::Start(self.start + first as u64))
            .and_then(|_| source.read_exact(&mut data))
            .map_err(|source| VisionError::Read { file: self.path.display().to_string(), source })?;
        Ok(data)
    }
}

fn damaged(path: &Path, error: impl std::fmt::Display) -> VisionError {
    let detail = format!("not a whole safetensors file ({error}): copy it again");
    VisionError::Encoder { path: path.to_owned(), detail }
}
