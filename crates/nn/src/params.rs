//! All weights of a model in one flat buffer, with names.

use crate::{
    Device, Result, Tensor, View, ViewMut, cpu::random, cpu::simd::Packed, cpu::simd::Side, error::check_shape,
};
use std::{collections::HashMap, sync::Arc, sync::Mutex, sync::PoisonError};

/// Every parameter starts on a multiple of this many values, which keeps matrices aligned for the tensor cores.
const ALIGN: usize = 32;

/// How a parameter starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Init {
    /// Uniform in ±bound. With bound `1/√fan_in` this is `PyTorch`'s default for `Linear` (weight and bias).
    #[allow(missing_docs, reason = "the variant explains its fields")]
    Uniform { bound: f64 },
    /// All zero.
    Zero,
}

impl Init {
    /// `PyTorch`'s default for a `Linear` with that many inputs.
    pub fn linear_default(fan_in: usize) -> Self {
        Self::Uniform { bound: 1.0 / (fan_in as f64).sqrt() }
    }
}

/// A parameter's place in the flat buffer: a matrix of weights, or a bias as one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ParamId {
    offset: usize,
    rows: usize,
    cols: usize,
}

impl ParamId {
    /// Number of rows: a layer's outputs.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns: a layer's inputs.
    pub fn cols(&self) -> usize {
        self.cols
    }
}

/// A named parameter. One row is stored as a vector in files.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) id: ParamId,
    init: Init,
}

impl Entry {
    pub(crate) fn range(&self) -> std::ops::Range<usize> {
        self.id.offset..self.id.offset + self.id.rows * self.id.cols
    }

    /// The shape in files: biases are vectors, as in `PyTorch`.
    pub(crate) fn file_shape(&self) -> Vec<usize> {
        if self.id.rows == 1 { vec![self.id.cols] } else { vec![self.id.rows, self.id.cols] }
    }
}

/// Collects the parameters of a model before their buffer exists.
///
/// ```
/// use locdiff_nn::{Device, Init, ParamsBuilder};
/// let mut builder = ParamsBuilder::new();
/// let weight = builder.add("out.weight", 3, 2, Init::linear_default(2));
/// let params = builder.build(&Device::cpu(), 0)?;
/// assert_eq!(params.get(weight).rows(), 3);
/// assert_eq!(params.count(), 6);
/// # Ok::<(), locdiff_nn::NnError>(())
/// ```
#[derive(Clone, Default)]
pub struct ParamsBuilder {
    entries: Vec<Entry>,
    /// Numbers that its buffer will have, padding counted.
    pub len: usize,
}

impl ParamsBuilder {
    /// An empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a parameter.
    pub fn add(&mut self, name: &str, rows: usize, cols: usize, init: Init) -> ParamId {
        self.add_stacked(&[(name.to_owned(), rows)], cols, init)
    }

    /// Adds parameters of equal width one below the other and returns the stack, so that one product serves them all;
    /// in files each has its own name.
    pub(crate) fn add_stacked(&mut self, parts: &[(String, usize)], cols: usize, init: Init) -> ParamId {
        let offset = self.len;
        for (name, rows) in parts {
            let id = ParamId { offset: self.len, rows: *rows, cols };
            self.entries.push(Entry { name: name.clone(), id, init });
            self.len += rows * cols;
        }
        self.len = self.len.next_multiple_of(ALIGN);
        ParamId { offset, rows: parts.iter().map(|(_, rows)| rows).sum(), cols }
    }

    /// Adds vectors one after the other (the biases of a stack) and returns them as one row.
    pub(crate) fn add_joined(&mut self, parts: &[(String, usize)], init: Init) -> ParamId {
        let row = |column: ParamId| ParamId { rows: column.cols, cols: column.rows, ..column };
        let joined = row(self.add_stacked(parts, 1, init));
        let first = self.entries.len() - parts.len();
        self.entries[first..].iter_mut().for_each(|entry| entry.id = row(entry.id));
        joined
    }

    /// Creates the buffer and draws the start values from `seed`, the same on every device.
    pub fn build(self, device: &Device, seed: u64) -> Result<Params> {
        let mut values = vec![0.0; self.len.max(1)];
        let key = [seed as u32, (seed >> 32) as u32, 0x5EED, 0];
        for (number, entry) in self.entries.iter().enumerate() {
            let Init::Uniform { bound } = entry.init else { continue };
            for (k, four) in values[entry.range()].chunks_mut(4).enumerate() {
                for (value, word) in four.iter_mut().zip(random::block(key, number as u32, k)) {
                    *value = (bound * (2.0 * f64::from(random::uniform(word)) - 1.0)) as f32;
                }
            }
        }
        let mut params = self.build_blank(device)?;
        params.upload(&values)?;
        Ok(params)
    }

    /// Creates the buffer with zeros, to be filled from a file: nothing is drawn.
    pub fn build_blank(self, device: &Device) -> Result<Params> {
        let flat = Tensor::zeros(device, 1, self.len.max(1))?;
        Ok(Params::new(Arc::new(self.entries), flat))
    }
}

/// The weights of a model: one flat buffer with names.
pub struct Params {
    pub(crate) layout: Arc<Vec<Entry>>,
    pub(crate) flat: Tensor,
    /// Weights laid out for products on the CPU, as long as nothing changes.
    packed: Mutex<HashMap<ParamId, Arc<Packed>>>,
}

impl Params {
    fn new(layout: Arc<Vec<Entry>>, flat: Tensor) -> Self {
        Self { layout, flat, packed: Mutex::default() }
    }

    /// The device they live on.
    pub fn device(&self) -> &Device {
        self.flat.device()
    }

    /// A parameter's values.
    pub fn get(&self, id: ParamId) -> View<'_> {
        self.flat.window(id.offset, id.rows, id.cols)
    }

    /// A parameter's values, to be changed.
    pub fn get_mut(&mut self, id: ParamId) -> ViewMut<'_> {
        self.flat_changing().window_mut(id.offset, id.rows, id.cols)
    }

    /// A weight matrix (outputs × inputs) laid out for `x·wᵀ` on the CPU; kept until a parameter changes.
    pub(crate) fn packed(&self, id: ParamId) -> Result<Arc<Packed>> {
        let mut kept = self.packed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(packed) = kept.get(&id) {
            return Ok(Arc::clone(packed));
        }
        let packed = Arc::new(Packed::of(Side { mat: self.get(id).cpu("packed")?, transposed: true }));
        kept.insert(id, Arc::clone(&packed));
        Ok(packed)
    }

    /// Every change goes through here: what was laid out is forgotten.
    fn flat_changing(&mut self) -> &mut Tensor {
        self.packed.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        &mut self.flat
    }

    /// Names, rows and columns in the order they were added.
    pub fn names(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        self.layout.iter().map(|entry| (entry.name.as_str(), entry.id.rows, entry.id.cols))
    }

    /// The place of a name.
    pub fn find(&self, name: &str) -> Option<ParamId> {
        self.entry(name).map(|entry| entry.id)
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.layout.iter().find(|entry| entry.name == name)
    }

    /// Where a parameter's values lie in the flat buffer, and its shape in files.
    pub fn file_entry(&self, name: &str) -> Option<(std::ops::Range<usize>, Vec<usize>)> {
        self.entry(name).map(|entry| (entry.range(), entry.file_shape()))
    }

    /// Number of weights.
    pub fn count(&self) -> usize {
        self.layout.iter().map(|entry| entry.id.rows * entry.id.cols).sum()
    }

    /// Values in the flat buffer, the gaps between parameters included.
    pub fn len(&self) -> usize {
        self.flat.cols()
    }

    /// Whether there is no parameter.
    pub fn is_empty(&self) -> bool {
        self.layout.is_empty()
    }

    /// The flat buffer's values, the gaps (zeros) included.
    pub fn to_vec(&self) -> Result<Vec<f32>> {
        self.flat.to_vec()
    }

    /// Replaces the flat buffer's values.
    pub fn upload(&mut self, values: &[f32]) -> Result<()> {
        self.flat_changing().upload(values)
    }

    /// Replaces one parameter by name. Fails for an unknown name or a wrong number of values.
    pub fn set(&mut self, name: &str, values: &[f32]) -> Result<()> {
        let entry = self.entry(name);
        let range = entry.map_or(0..0, Entry::range);
        check_shape(entry.is_some() && range.len() == values.len(), "set", || {
            format!("`{name}` takes {} values, got {}", range.len(), values.len())
        })?;
        let mut all = self.to_vec()?;
        all[range].copy_from_slice(values);
        self.upload(&all)
    }

    /// A copy of its own on a device.
    pub fn to_device(&self, device: &Device) -> Result<Self> {
        let flat = Tensor::from_slice(device, 1, self.len(), &self.to_vec()?)?;
        Ok(Self::new(Arc::clone(&self.layout), flat))
    }

    pub(crate) fn flat_mut(&mut self) -> ViewMut<'_> {
        self.flat_changing().view_mut()
    }
}

/// The gradients of a model's weights, laid out as [`Params`].
pub struct Gradients {
    layout: Arc<Vec<Entry>>,
    pub(crate) flat: Tensor,
}

impl Gradients {
    /// Gradients of zero for these parameters.
    pub fn new(params: &Params) -> Result<Self> {
        let flat = Tensor::zeros(params.device(), 1, params.len())?;
        Ok(Self { layout: Arc::clone(&params.layout), flat })
    }

    /// A parameter's gradient.
    pub fn get(&self, id: ParamId) -> View<'_> {
        self.flat.window(id.offset, id.rows, id.cols)
    }

    /// A parameter's gradient, to be written.
    pub fn get_mut(&mut self, id: ParamId) -> ViewMut<'_> {
        self.flat.window_mut(id.offset, id.rows, id.cols)
    }

    /// Two parameters' gradients at once, to be written; the first lies before the second.
    pub(crate) fn two_mut(&mut self, first: ParamId, second: ParamId) -> [ViewMut<'_>; 2] {
        self.flat.two_windows_mut([first, second].map(|id| (id.offset, id.rows, id.cols)))
    }

    /// A parameter's gradient by name; waits for the device. Fails for an unknown name.
    pub fn by_name(&self, name: &str) -> Result<Vec<f32>> {
        let entry = self.layout.iter().find(|entry| entry.name == name);
        check_shape(entry.is_some(), "by_name", || format!("no parameter `{name}`"))?;
        Ok(self.flat.to_vec()?[entry.map_or(0..0, Entry::range)].to_vec())
    }

    /// All gradients; gaps between parameters hold zeros.
    pub fn to_vec(&self) -> Result<Vec<f32>> {
        self.flat.to_vec()
    }

    /// Adds others of the same parameters, or replaces by them: a batch in several passes. Can be recorded.
    pub fn gather(&mut self, other: &Self, replace: bool) -> Result<()> {
        crate::ops::gather_gradients(self.flat.view_mut(), other.flat.view(), replace)
    }
}
