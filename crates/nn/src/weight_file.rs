//! Weights and training state in safetensors files, and copies of that state taken while training goes on.

use crate::{Adam, NnError, Params, Result, Tensor, View, cuda, device::Backend, params::Entry};
use half::f16;
use locdiff_base::{AtomicFile, TensorFile, TensorFileError};
use safetensors::{Dtype, tensor::TensorView};
use std::{collections::HashMap, fs::File, io::Cursor, io::Read, io::Seek, path::Path};

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn bad(path: &Path, detail: impl std::fmt::Display) -> NnError {
    NnError::WeightFile { path: path.to_owned(), detail: detail.to_string() }
}

fn failed(path: &Path) -> impl Fn(TensorFileError) -> NnError {
    move |error| match error {
        TensorFileError::Read(source) => NnError::Io { path: path.to_owned(), source },
        unsound => bad(path, unsound),
    }
}

type Part<'a> = (&'a str, Dtype, Vec<usize>, Vec<u8>);

fn write(path: &Path, parts: &[Part<'_>], metadata: HashMap<String, String>) -> Result<()> {
    let views = parts.iter().map(|(name, dtype, shape, data)| {
        Ok((*name, TensorView::new(*dtype, shape.clone(), data).map_err(|e| bad(path, e))?))
    });
    let views = views.collect::<Result<Vec<_>>>()?;
    let file = safetensors::serialize(views, Some(metadata)).map_err(|e| bad(path, e))?;
    Ok(AtomicFile::write_whole(path, &file)?)
}

fn open(path: &Path) -> Result<TensorFile<File>> {
    let io = |source| NnError::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(io)?;
    let bytes = file.metadata().map_err(io)?.len();
    TensorFile::new(file, bytes).map_err(failed(path))
}

impl Params {
    /// Writes every parameter under its name, with `metadata` in the header; whole or not at all.
    pub fn save(&self, path: &Path, metadata: HashMap<String, String>) -> Result<()> {
        self.save_narrowed(path, metadata, |_| false)
    }

    /// The same, with the parameters whose name `is_half` picks rounded to f16: half the size on disk.
    pub fn save_narrowed(
        &self,
        path: &Path,
        metadata: HashMap<String, String>,
        is_half: impl Fn(&str) -> bool,
    ) -> Result<()> {
        let values = self.to_vec()?;
        let parts = self.layout.iter().map(|entry| {
            let (name, values, shape) = (entry.name.as_str(), &values[entry.range()], entry.file_shape());
            let halves = || values.iter().flat_map(|value| f16::from_f32(*value).to_le_bytes()).collect();
            if is_half(name) { (name, Dtype::F16, shape, halves()) } else { (name, Dtype::F32, shape, bytes(values)) }
        });
        write(path, &parts.collect::<Vec<_>>(), metadata)
    }

    /// Reads every parameter by name, f32 or f16.
    /// Fails with [`NnError::WeightFile`] for a file that is damaged, lacks a parameter or has one of another shape. The
    /// parameters are then unchanged.
    pub fn load(&mut self, path: &Path) -> Result<()> {
        self.load_tensors(path, open(path)?)
    }

    /// The same from the contents of a file; `path` is the name that errors give.
    pub fn load_bytes(&mut self, path: &Path, contents: &[u8]) -> Result<()> {
        let file = TensorFile::new(Cursor::new(contents), contents.len() as u64).map_err(failed(path))?;
        self.load_tensors(path, file)
    }

    fn load_tensors<R: Read + Seek>(&mut self, path: &Path, mut file: TensorFile<R>) -> Result<()> {
        let mut values = vec![0.0; self.len()];
        for entry in self.layout.iter() {
            values[entry.range()].copy_from_slice(&read(path, &mut file, entry)?);
        }
        self.upload(&values)
    }
}

fn read<R: Read + Seek>(path: &Path, file: &mut TensorFile<R>, entry: &Entry) -> Result<Vec<f32>> {
    let name = &entry.name;
    let tensor = file.header().find(name).ok_or_else(|| bad(path, format!("no tensor `{name}`")))?;
    let known = matches!(tensor.dtype, Dtype::F32 | Dtype::F16);
    if !known || tensor.shape != entry.file_shape() {
        let (dtype, met, wanted) = (tensor.dtype, &tensor.shape, entry.file_shape());
        let detail = format!("`{name}` is {dtype} {met:?}, the model wants F32 or F16 {wanted:?}");
        return Err(bad(path, detail));
    }
    file.values(&tensor).map_err(failed(path))
}

/// Everything an optimiser and its weights hold, as plain numbers on the host: put back with [`Adam::import_state`], a
/// run continues bit for bit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrainingState {
    /// The flat buffer of the weights.
    pub weights: Vec<f32>,
    /// Adam's first moments.
    pub m: Vec<f32>,
    /// Adam's second moments.
    pub v: Vec<f32>,
    /// The averaged weights, empty without an average.
    pub ema: Vec<f32>,
    /// Steps done.
    pub step: u32,
}

impl Adam {
    /// Copies weights, moments, average and step counter to the host.
    pub fn export_state(&self, params: &Params) -> Result<TrainingState> {
        Ok(TrainingState {
            weights: params.to_vec()?,
            m: self.m.to_vec()?,
            v: self.v.to_vec()?,
            ema: self.ema().map_or(Ok(Vec::new()), Params::to_vec)?,
            step: self.steps_done()?,
        })
    }

    /// Puts an exported state back.
    pub fn import_state(&mut self, params: &mut Params, state: &TrainingState) -> Result<()> {
        params.upload(&state.weights)?;
        self.m.upload(&state.m)?;
        self.v.upload(&state.v)?;
        if let Some(ema) = &mut self.ema {
            ema.upload(&state.ema)?;
        }
        self.step.upload(&[state.step])
    }
}

impl TrainingState {
    /// Writes the state, with `metadata` (the generator's counter, the position in the data, …); whole or not at all.
    pub fn save(&self, path: &Path, mut metadata: HashMap<String, String>) -> Result<()> {
        metadata.insert("step".to_owned(), self.step.to_string());
        let parts = [("weights", &self.weights), ("adam.m", &self.m), ("adam.v", &self.v), ("ema", &self.ema)]
            .map(|(name, values)| (name, Dtype::F32, vec![values.len()], bytes(values)));
        write(path, &parts, metadata)
    }

    /// Reads a state and its metadata. Fails with [`NnError::WeightFile`] for a damaged or foreign file.
    pub fn load(path: &Path) -> Result<(Self, HashMap<String, String>)> {
        let mut file = open(path)?;
        let metadata = file.header().texts();
        let step = metadata.get("step").and_then(|step| step.parse().ok());
        let step = step.ok_or_else(|| bad(path, "no training step in its header: not a training state"))?;
        let mut get = |name: &str| {
            let tensor = file.header().find(name).ok_or_else(|| bad(path, format!("no tensor `{name}`")))?;
            file.values(&tensor).map_err(failed(path))
        };
        let state = Self { weights: get("weights")?, m: get("adam.m")?, v: get("adam.v")?, ema: get("ema")?, step };
        Ok((state, metadata))
    }
}

/// A copy of weights, moments and average at one step. On CUDA it is made in device memory, in the order of the operations
/// and without waiting for them, and comes to the host while the device works on: [`Snapshot::take`] costs a fraction of a
/// millisecond, and [`Snapshot::read`] may be called by another thread. On the CPU it is a plain copy.
pub struct Snapshot {
    /// Where the device has memory for it.
    outbox: Option<cuda::Outbox>,
    /// What was taken at once, and the step.
    state: TrainingState,
}

/// What is copied: everything but the step counter.
fn parts<'a>(adam: &'a Adam, params: &'a Params) -> Vec<View<'a>> {
    let all = [Some(&params.flat), Some(&adam.m), Some(&adam.v), adam.ema().map(|ema| &ema.flat)];
    all.into_iter().flatten().map(Tensor::view).collect()
}

impl Snapshot {
    /// Room for the state of these weights. A device without memory for it is copied from directly, and waits meanwhile.
    pub fn new(adam: &Adam, params: &Params) -> Self {
        let outbox = match &params.device().backend {
            Backend::Cpu => None,
            Backend::Cuda(context) => {
                let sizes: Vec<usize> = parts(adam, params).iter().map(View::cols).collect();
                cuda::Outbox::new(context, &sizes).ok()
            }
        };
        Self { outbox, state: TrainingState::default() }
    }

    /// Takes the state after all operations so far, which are those of `step` steps.
    pub fn take(&mut self, adam: &Adam, params: &Params, step: u32) -> Result<()> {
        match &mut self.outbox {
            Some(outbox) => outbox.copy(&parts(adam, params))?,
            None => self.state = adam.export_state(params)?,
        }
        self.state.step = step;
        Ok(())
    }

    /// What was taken last, once; waits for it.
    pub fn read(&mut self) -> Result<TrainingState> {
        if let Some(outbox) = &mut self.outbox {
            let mut parts = outbox.read()?.into_iter();
            let TrainingState { weights, m, v, ema, .. } = &mut self.state;
            for part in [weights, m, v, ema] {
                *part = parts.next().unwrap_or_default();
            }
        }
        Ok(std::mem::take(&mut self.state))
    }
}
