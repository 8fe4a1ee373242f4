//! Encoders in ONNX files, run by `tract` on the CPU, one picture a thread. Its input is `[1, 3, side, side]`, f32.

use super::description::Description;
use crate::{Result, VisionError, network::Network, pixels::RGB};
use rayon::prelude::*;
use std::{path::Path, sync::Arc};
use tract_onnx::prelude::*;

/// A network that `tract` runs.
pub(crate) struct OnnxNetwork {
    plan: Arc<TypedRunnableModel>,
    embedding: usize,
    parameters: usize,
    file_bytes: u64,
}

impl OnnxNetwork {
    /// Takes the output that `description` names from the contents of the file `path`, and tries it on a grey picture.
    pub(crate) fn parse(path: &Path, mut contents: &[u8], description: &Description) -> Result<Self> {
        let file_bytes = contents.len() as u64;
        let bad = |error: TractError| {
            let reason = format!("{error:#}").split_whitespace().collect::<Vec<_>>().join(" ");
            VisionError::encoder(path, format!("tract cannot use this ONNX file: {reason}"))
        };
        let side = description.preprocessing().input_side as usize;
        let proto = onnx().proto_model_for_read(&mut contents).map_err(bad)?;
        let initializers = proto.graph.iter().flat_map(|graph| &graph.initializer);
        // Sizes in a damaged file may be anything.
        let values =
            |dims: &[i64]| dims.iter().fold(1_usize, |sum, &dim| sum.saturating_mul(dim.max(0) as usize));
        let parameters = initializers.map(|tensor| values(&tensor.dims)).fold(0, usize::saturating_add);
        let mut model = onnx().model_for_proto_model(&proto).map_err(bad)?;
        let inputs = model.input_outlets().map_err(bad)?.len();
        if inputs != 1 {
            return Err(VisionError::encoder(path, format!("it has {inputs} inputs: one picture is wanted")));
        }
        if let Some(output) = &description.output {
            model.select_outputs_by_name([output]).map_err(bad)?;
        }
        let plan = model
            .with_input_fact(0, f32::fact([1, RGB, side, side]).into())
            .and_then(InferenceModelExt::into_optimized)
            .and_then(IntoRunnable::into_runnable)
            .map_err(bad)?;
        let network = Self { plan, embedding: description.embedding, parameters, file_bytes };
        let (wanted, met) =
            (network.embedding, network.run(&vec![0.0; side * side * RGB], side).map_err(bad)?.len());
        if met != wanted {
            return Err(VisionError::encoder(
                path,
                format!("its output has {met} values, encoder.json says {wanted}"),
            ));
        }
        Ok(network)
    }

    pub(crate) fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// Values of the file's constants.
    pub(crate) fn parameters(&self) -> usize {
        self.parameters
    }

    fn run(&self, picture: &[f32], side: usize) -> TractResult<Vec<f32>> {
        let area = side * side;
        let planes: Vec<f32> = (0..RGB * area).map(|i| picture[i % area * RGB + i / area]).collect();
        let input = Tensor::from_shape(&[1, RGB, side, side], &planes)?;
        let outputs = self.plan.run(tvec!(input.into()))?;
        Ok(outputs[0].to_plain_array_view::<f32>()?.iter().copied().collect())
    }
}

impl Network for OnnxNetwork {
    fn embedding(&self) -> usize {
        self.embedding
    }

    fn batch(&self) -> usize {
        8 * rayon::current_num_threads()
    }

    fn forward(&self, pictures: &[f32], side: usize) -> Result<Vec<Vec<f32>>> {
        let failed = |error: TractError| VisionError::Architecture(format!("this picture: {error:#}"));
        let pictures = pictures.par_chunks_exact(side * side * RGB);
        pictures.map(|picture| self.run(picture, side).map_err(failed)).collect()
    }
}
