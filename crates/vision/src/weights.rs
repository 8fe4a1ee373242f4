//! Tensors of a safetensors file as f32.

use crate::{Result, VisionError};
use half::{bf16, f16};
use safetensors::{Dtype, SafeTensors};
use std::path::Path;

/// The tensors of one file, read by name.
pub(crate) struct Weights<'a> {
    path: &'a Path,
    tensors: SafeTensors<'a>,
}

impl<'a> Weights<'a> {
    pub(crate) fn parse(path: &'a Path, contents: &'a [u8]) -> Result<Self> {
        let tensors = SafeTensors::deserialize(contents).map_err(|error| VisionError::Encoder {
            path: path.to_owned(),
            detail: format!("not a whole safetensors file ({error}): copy it again"),
        })?;
        Ok(Self { path, tensors })
    }

    /// The values of a layer's tensor. Where the file has a factor for each output (`layer.scale` beside
    /// `layer.weight`: a folded batch norm that f16 weights could not hold exactly), the weights are multiplied by it.
    pub(crate) fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let mut values = self.plain(name, shape)?;
        let scale = name.strip_suffix(".weight").map(|layer| format!("{layer}.scale"));
        if let Some(scale) = scale.filter(|scale| self.tensors.tensor(scale).is_ok()) {
            let factors = self.plain(&scale, &shape[..1])?;
            let inputs: usize = shape[1..].iter().product();
            for (weights, factor) in values.chunks_exact_mut(inputs).zip(factors) {
                for weight in weights {
                    *weight *= factor;
                }
            }
        }
        Ok(values)
    }

    /// The values of the tensor `name`, which must have this shape and hold finite f16, bf16 or f32 values.
    fn plain(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let bad = |detail: String| VisionError::Encoder { path: self.path.to_owned(), detail };
        let tensor = self.tensors.tensor(name).map_err(|_| {
            bad(format!(
                "no tensor `{name}`: the file belongs to another architecture than encoder.json names"
            ))
        })?;
        if tensor.shape() != shape {
            let met = tensor.shape();
            return Err(bad(format!("`{name}` has the shape {met:?}, the architecture wants {shape:?}")));
        }
        let data = tensor.data();
        let values: Vec<f32> = match tensor.dtype() {
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
        Ok(values)
    }
}
