//! Weights and training state in safetensors files.

use crate::{Adam, NnError, Params, Result, params::Entry};
use half::f16;
use locdiff_base::AtomicFile;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::{collections::HashMap, fs, path::Path};

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn half_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| f16::from_f32(*value).to_le_bytes()).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect()
}

fn bad(path: &Path, detail: impl std::fmt::Display) -> NnError {
    NnError::WeightFile { path: path.to_owned(), detail: detail.to_string() }
}

impl Params {
    /// Writes every parameter under its name, with `metadata` in the header; whole or not at all.
    ///
    /// # Errors
    /// [`NnError::Write`] if the file cannot be written.
    pub fn save(&self, path: &Path, metadata: HashMap<String, String>) -> Result<()> {
        self.save_narrowed(path, metadata, |_| false)
    }

    /// The same, with the parameters whose name `is_half` picks rounded to f16: half the size on disk.
    ///
    /// # Errors
    /// [`NnError::Write`] if the file cannot be written.
    pub fn save_narrowed(
        &self,
        path: &Path,
        metadata: HashMap<String, String>,
        is_half: impl Fn(&str) -> bool,
    ) -> Result<()> {
        let values = self.to_vec()?;
        let parts: Vec<_> = self
            .layout
            .iter()
            .map(|entry| {
                let values = &values[entry.range()];
                let narrow = is_half(&entry.name);
                let (dtype, data) =
                    if narrow { (Dtype::F16, half_bytes(values)) } else { (Dtype::F32, bytes(values)) };
                (entry, dtype, data)
            })
            .collect();
        let views = parts
            .iter()
            .map(|(entry, dtype, data)| {
                let view = TensorView::new(*dtype, entry.file_shape(), data).map_err(|e| bad(path, e))?;
                Ok((entry.name.as_str(), view))
            })
            .collect::<Result<Vec<_>>>()?;
        let file = safetensors::serialize(views, Some(metadata)).map_err(|e| bad(path, e))?;
        Ok(AtomicFile::write_whole(path, &file)?)
    }

    /// Reads every parameter by name, f32 or f16.
    ///
    /// # Errors
    /// [`NnError::WeightFile`] for a file that is damaged, lacks a parameter or has one of another shape; the
    /// parameters are then unchanged.
    pub fn load(&mut self, path: &Path) -> Result<()> {
        let contents = fs::read(path).map_err(|source| NnError::Io { path: path.to_owned(), source })?;
        self.load_bytes(path, &contents)
    }

    /// The same from the contents of a file; `path` is the name that errors give.
    ///
    /// # Errors
    /// As [`Params::load`].
    pub fn load_bytes(&mut self, path: &Path, contents: &[u8]) -> Result<()> {
        let file = SafeTensors::deserialize(contents).map_err(|e| bad(path, e))?;
        let mut values = vec![0.0; self.len()];
        for entry in self.layout.iter() {
            read(path, &file, entry, &mut values[entry.range()])?;
        }
        self.upload(&values)
    }
}

fn read(path: &Path, file: &SafeTensors<'_>, entry: &Entry, values: &mut [f32]) -> Result<()> {
    let tensor = file.tensor(&entry.name).map_err(|_| bad(path, format!("no tensor `{}`", entry.name)))?;
    let known = matches!(tensor.dtype(), Dtype::F32 | Dtype::F16);
    if !known || tensor.shape() != entry.file_shape() {
        let detail = format!(
            "`{}` is {:?} {:?}, the model wants F32 or F16 {:?}",
            entry.name,
            tensor.dtype(),
            tensor.shape(),
            entry.file_shape()
        );
        return Err(bad(path, detail));
    }
    if tensor.dtype() == Dtype::F16 {
        for (value, two) in values.iter_mut().zip(tensor.data().as_chunks().0) {
            *value = f16::from_le_bytes(*two).to_f32();
        }
    } else {
        for (value, four) in values.iter_mut().zip(tensor.data().as_chunks().0) {
            *value = f32::from_le_bytes(*four);
        }
    }
    Ok(())
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
    ///
    /// # Errors
    /// [`NnError::Cuda`] if an earlier operation failed.
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
    ///
    /// # Errors
    /// A shape error if the state belongs to another model.
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
    ///
    /// # Errors
    /// [`NnError::Write`] if the file cannot be written.
    pub fn save(&self, path: &Path, mut metadata: HashMap<String, String>) -> Result<()> {
        metadata.insert("step".to_owned(), self.step.to_string());
        let parts =
            [("weights", &self.weights), ("adam.m", &self.m), ("adam.v", &self.v), ("ema", &self.ema)]
                .map(|(name, values)| (name, values.len(), bytes(values)));
        let views = parts
            .iter()
            .map(|(name, len, data)| {
                Ok((*name, TensorView::new(Dtype::F32, vec![*len], data).map_err(|e| bad(path, e))?))
            })
            .collect::<Result<Vec<_>>>()?;
        let file = safetensors::serialize(views, Some(metadata)).map_err(|e| bad(path, e))?;
        Ok(AtomicFile::write_whole(path, &file)?)
    }

    /// Reads a state and its metadata.
    ///
    /// # Errors
    /// [`NnError::WeightFile`] for a damaged or foreign file.
    pub fn load(path: &Path) -> Result<(Self, HashMap<String, String>)> {
        let contents = fs::read(path).map_err(|source| NnError::Io { path: path.to_owned(), source })?;
        let (_, header) = SafeTensors::read_metadata(&contents).map_err(|e| bad(path, e))?;
        let metadata = header.metadata().clone().unwrap_or_default();
        let step = metadata.get("step").and_then(|step| step.parse().ok());
        let step = step.ok_or_else(|| bad(path, "no training step in its header: not a training state"))?;
        let file = SafeTensors::deserialize(&contents).map_err(|e| bad(path, e))?;
        let get = |name: &str| -> Result<Vec<f32>> {
            Ok(floats(file.tensor(name).map_err(|e| bad(path, e))?.data()))
        };
        let state =
            Self { weights: get("weights")?, m: get("adam.m")?, v: get("adam.v")?, ema: get("ema")?, step };
        Ok((state, metadata))
    }
}
