//! Tensors of safetensors files as f32, read one by one where they lie: a whole CLIP's text tower never enters memory.

use super::fingerprint::tensor_hash;
use crate::{Result, VisionError};
use locdiff_base::{Element, TensorFile, TensorFileError, TensorPlace, timed};
use rayon::prelude::*;
use std::io::{Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::{cell::Cell, cell::RefCell, collections::BTreeMap, collections::BTreeSet, fs::File};

trait Source: Read + Seek {}
impl<T: Read + Seek> Source for T {}

struct Part<'a> {
    path: PathBuf,
    file: RefCell<TensorFile<Box<dyn Source + 'a>>>,
    bytes: u64,
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

    pub(crate) fn values_read(&self) -> usize {
        self.values_read.get()
    }

    pub(crate) fn hashes(&self) -> BTreeMap<String, u128> {
        self.hashes.borrow().clone()
    }

    pub(crate) fn file_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    fn find(&self, name: &str) -> Option<(&Part<'a>, TensorPlace)> {
        self.parts.iter().find_map(|part| Some((part, part.file.borrow().header().find(name)?)))
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
                weights.iter_mut().for_each(|weight| *weight *= factor);
            }
        }
        self.values_read.set(self.values_read.get() + values.len());
        Ok(values)
    }

    /// The values of the tensor `name`, which must have this shape and hold finite f16, bf16 or f32 values.
    fn plain(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let Some((part, place)) = self.find(name) else {
            let path = self.parts.first().map_or_else(PathBuf::new, |part| part.path.clone());
            let detail = format!("no tensor `{name}`: the file belongs to another architecture than its folder names");
            return Err(VisionError::Encoder { path, detail });
        };
        let bad = |detail: String| VisionError::Encoder { path: part.path.clone(), detail };
        if place.shape != shape {
            let met = &place.shape;
            return Err(bad(format!("`{name}` has the shape {met:?}, the architecture wants {shape:?}")));
        }
        let Some(element) = place.element().ok().filter(|element| *element != Element::F64) else {
            return Err(bad(format!("`{name}` holds {} values: save it as F16, BF16 or F32", place.dtype)));
        };
        let read = || part.file.borrow_mut().bytes(&place);
        let data = timed("weights: reading", read).map_err(|error| failed(&part.path, error))?;
        let dtype = place.dtype.to_string();
        let both = || rayon::join(|| numbers(element, &data), || tensor_hash(&dtype, shape, &data));
        let (values, hash) = timed("weights: numbers", both);
        if let Some(value) = not_finite(&values) {
            return Err(bad(format!("`{name}` holds the value {value}: the file is damaged, copy it again")));
        }
        self.hashes.borrow_mut().insert(name.to_owned(), hash);
        Ok(values)
    }
}

/// Values that a thread takes at a time.
const PIECE: usize = 1 << 16;

/// The first value that is not finite. Whole pieces are asked first: a loop that need not stop takes many values at once.
fn not_finite(values: &[f32]) -> Option<f32> {
    let is_bad = |piece: &&[f32]| piece.iter().fold(false, |bad, value| bad | !value.is_finite());
    let piece = values.par_chunks(PIECE).find_first(is_bad)?;
    piece.iter().copied().find(|value| !value.is_finite())
}

fn numbers(element: Element, data: &[u8]) -> Vec<f32> {
    let width = element.bytes();
    let mut values = vec![0.0; data.len() / width];
    let pieces = values.par_chunks_mut(PIECE).zip(data.par_chunks(PIECE * width));
    pieces.for_each(|(to, from)| element.decode_f32(from, to));
    values
}

impl<'a> Part<'a> {
    fn new(path: &Path, source: impl Source + 'a, bytes: u64) -> Result<Self> {
        let file = TensorFile::new(Box::new(source) as Box<dyn Source + 'a>, bytes);
        let file = RefCell::new(file.map_err(|error| failed(path, error))?);
        Ok(Self { path: path.to_owned(), file, bytes })
    }
}

fn failed(path: &Path, error: TensorFileError) -> VisionError {
    match error {
        TensorFileError::Read(source) => VisionError::Read { file: path.display().to_string(), source },
        unsound => {
            let detail = format!("not a whole safetensors file ({unsound}): copy it again");
            VisionError::Encoder { path: path.to_owned(), detail }
        }
    }
}
