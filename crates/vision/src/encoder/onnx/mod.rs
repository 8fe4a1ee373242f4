//! Encoders in ONNX files, run by ONNX Runtime on the CPU, one picture a thread. Their input is `[1, 3, side, side]`, f32.

mod runtime;

use super::description::Description;
use crate::{Result, VisionError, network::Network, network::RGB};
use ort::{session::Session, session::SessionInputValue, value::TensorRef};
use rayon::prelude::*;
use std::{borrow::Cow, path::Path, path::PathBuf, sync::Mutex, sync::PoisonError};

pub(crate) struct OnnxNetwork {
    path: PathBuf,
    pub(crate) contents: Vec<u8>,
    /// One thread each, so that a picture's numbers do not depend on how many there are; made when one is wanted and
    /// none is idle.
    idle: Mutex<Vec<Session>>,
    input: String,
    output: String,
    embedding: usize,
}

impl OnnxNetwork {
    /// Takes the output that `description` names from the contents of the file `path`, and tries it on a grey picture.
    pub(crate) fn new(path: &Path, contents: Vec<u8>, description: &Description) -> Result<Self> {
        let bad = |detail: String| VisionError::encoder(path, detail);
        let session = session(path, &contents)?;
        let names = |outlets: &[ort::value::Outlet]| -> Vec<String> {
            outlets.iter().map(|outlet| outlet.name().to_owned()).collect()
        };
        let (mut inputs, outputs) = (names(session.inputs()), names(session.outputs()));
        let (Some(input), 0) = (inputs.pop(), inputs.len()) else {
            return Err(bad(format!("it has {} inputs: one picture is wanted", session.inputs().len())));
        };
        let output = match &description.output {
            Some(wanted) if outputs.contains(wanted) => wanted.clone(),
            Some(wanted) => {
                let has = outputs.join("`, `");
                return Err(bad(format!("it has no output `{wanted}`, only `{has}`: correct encoder.json")));
            }
            None => outputs.into_iter().next().ok_or_else(|| bad("it has no output".to_owned()))?,
        };
        let (path, idle, embedding) = (path.to_owned(), Mutex::new(vec![session]), description.embedding);
        let network = Self { path, contents, idle, input, output, embedding };
        let side = description.preprocessing().input_side as usize;
        network.run(&vec![0.0; side * side * RGB], side)?;
        Ok(network)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Session>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, picture: &[f32], side: usize) -> Result<Vec<f32>> {
        let taken = self.idle().pop();
        let mut session = taken.map_or_else(|| session(&self.path, &self.contents), Ok)?;
        let values = self.embed(&mut session, picture, side).map_err(|error| unusable(&self.path, &error));
        self.idle().push(session);
        let (values, wanted) = (values?, self.embedding);
        if values.len() != wanted {
            let detail = format!("its output has {} values, encoder.json says {wanted}", values.len());
            return Err(VisionError::encoder(&self.path, detail));
        }
        Ok(values)
    }

    fn embed(&self, session: &mut Session, picture: &[f32], side: usize) -> ort::Result<Vec<f32>> {
        let area = side * side;
        let planes: Vec<f32> = (0..RGB * area).map(|i| picture[i % area * RGB + i / area]).collect();
        let tensor = TensorRef::from_array_view(([1, RGB, side, side], &planes[..]))?;
        let input: (Cow<'_, str>, SessionInputValue<'_>) = (self.input.as_str().into(), tensor.into());
        let outputs = session.run(vec![input])?;
        let values = outputs.get(&self.output).ok_or_else(|| ort::Error::new("it gave no such output"))?;
        Ok(values.try_extract_tensor::<f32>()?.1.to_vec())
    }
}

fn session(path: &Path, contents: &[u8]) -> Result<Session> {
    let environment = runtime::environment().map_err(|detail| VisionError::encoder(path, detail))?;
    let build = || {
        let builder = Session::builder(environment)?.with_intra_threads(1)?.with_inter_threads(1);
        builder?.commit_from_memory(contents)
    };
    build().map_err(|error: ort::Error| unusable(path, &error))
}

/// The error for a file that the library refuses, in its own words on one line.
fn unusable(path: &Path, error: &ort::Error) -> VisionError {
    let reason = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    VisionError::encoder(path, format!("ONNX Runtime cannot use this file: {reason}"))
}

impl Network for OnnxNetwork {
    fn embedding(&self) -> usize {
        self.embedding
    }

    fn batch(&self) -> usize {
        8 * rayon::current_num_threads()
    }

    fn forward(&self, pictures: &[f32], side: usize) -> Result<Vec<Vec<f32>>> {
        pictures.par_chunks_exact(side * side * RGB).map(|picture| self.run(picture, side)).collect()
    }
}
