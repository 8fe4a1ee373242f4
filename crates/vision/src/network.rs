//! What every encoder's network can do.

use crate::{Preprocessing, Result, VisionError};
use locdiff_nn::photos::{Jpeg, JpegDecoder, Outbox, Picture};
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// Gives the values of a tensor of a name and a shape: f32 in PyTorch's order.
pub trait ReadTensor: FnMut(&str, &[usize]) -> Result<Vec<f32>> {}
impl<T: FnMut(&str, &[usize]) -> Result<Vec<f32>>> ReadTensor for T {}

/// Makes the pixels of picture `k`, a JPEG file, on the host.
pub(crate) type OnHost<'a> = &'a (dyn Fn(usize, &Jpeg) -> Result<Vec<f32>> + Sync);

pub(crate) trait Network: Send + Sync {
    fn embedding(&self) -> usize;

    /// Pictures to hand over at a time: enough to be fast, few enough to bound memory.
    fn batch(&self) -> usize;

    /// The embeddings of pictures of `side × side` normalised RGB values, one after another.
    fn forward(&self, pictures: &[f32], side: usize) -> Result<Vec<Vec<f32>>>;

    /// What decodes JPEG files for [`Network::start`].
    fn decoder(&self) -> Option<&JpegDecoder> {
        None
    }

    /// Begins with pictures, [`Network::batch`] at the most.
    fn start(&self, pictures: Vec<Picture>, preprocessing: &Preprocessing, on_host: OnHost<'_>) -> Result<Started> {
        self.run_through(pictures, preprocessing, on_host)
    }

    /// The same, done when it returns.
    fn run_through(&self, mut pictures: Vec<Picture>, of: &Preprocessing, on_host: OnHost<'_>) -> Result<Started> {
        let side = of.input_side as usize;
        let failures = decode_on_host(&mut pictures, 0, side, on_host);
        let pixels = pictures.into_iter().map(|picture| match picture {
            Picture::Pixels(pixels) => pixels,
            Picture::Jpeg(_) => Vec::new(),
        });
        let embeddings = self.forward(&pixels.collect::<Vec<_>>().concat(), side)?;
        Ok(Started { embeddings, running: None, failures })
    }

    /// The pixels that the last pictures of [`Network::start`] left on a device, one after another; elsewhere none.
    fn last_pixels(&self) -> Result<Vec<f32>> {
        Ok(Vec::new())
    }

    /// Runs the pictures once more that the last pass left on a device, and waits; elsewhere nothing.
    fn run_again(&self, _count: usize) -> Result<()> {
        Ok(())
    }
}

/// Numbers of pictures, and why each has no embedding.
type Failures = Vec<(usize, VisionError)>;

/// Ways from a device that nobody uses.
pub(crate) type Outboxes = Arc<Mutex<Vec<Outbox>>>;

pub(crate) struct Started {
    /// Where they are there already.
    pub(crate) embeddings: Vec<Vec<f32>>,
    pub(crate) running: Option<Running>,
    pub(crate) failures: Failures,
}

/// Embeddings on their way from a device.
pub(crate) struct Running {
    pub(crate) outbox: Outbox,
    pub(crate) idle: Outboxes,
    pub(crate) count: usize,
    pub(crate) width: usize,
}

impl Started {
    pub(crate) fn finish(self) -> Result<Vec<Result<Vec<f32>>>> {
        let mut embeddings = self.embeddings;
        if let Some(Running { mut outbox, idle, count, width }) = self.running {
            let values = outbox.read()?;
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(outbox);
            embeddings = values[..count * width].chunks_exact(width).map(<[f32]>::to_vec).collect();
        }
        let mut embeddings: Vec<Result<_>> = embeddings.into_iter().map(Ok).collect();
        for (k, error) in self.failures {
            embeddings[k] = Err(error);
        }
        Ok(embeddings)
    }
}

/// The JPEG files among pictures, from number `first` on, as pixels; black ones where that fails, and why it fails.
pub(crate) fn decode_on_host(pictures: &mut [Picture], first: usize, side: usize, on_host: OnHost<'_>) -> Failures {
    let decode = |(k, picture): (usize, &mut Picture)| {
        let Picture::Jpeg(jpeg) = picture else { return None };
        let (pixels, failure) = match on_host(first + k, jpeg) {
            Ok(pixels) => (pixels, None),
            Err(error) => (vec![0.0; 3 * side * side], Some((first + k, error))),
        };
        *picture = Picture::Pixels(pixels);
        failure
    };
    pictures.par_iter_mut().enumerate().filter_map(decode).collect()
}

pub(crate) const RGB: usize = 3;

pub(crate) fn count_pictures(pixels: &[f32], width: usize, height: usize) -> Result<usize> {
    let one = width * height * RGB;
    if one == 0 || !pixels.len().is_multiple_of(one) {
        let what = format!("pictures of {width}×{height} RGB pixels (or a multiple)");
        return Err(VisionError::InputSize { what, wanted: one, got: pixels.len() });
    }
    Ok(pixels.len() / one)
}

/// The weights of a convolution over colours from PyTorch's order (output, colour, row, column) to (output, row, column,
/// colour); `area` is the number of places in its kernel.
pub(crate) fn colours_last(weights: &[f32], area: usize) -> Vec<f32> {
    let kernels = weights.chunks_exact(RGB * area);
    kernels.flat_map(|kernel| (0..RGB * area).map(|i| kernel[i % RGB * area + i / RGB])).collect()
}

#[derive(Default)]
pub(crate) struct Pool<T>(Mutex<Vec<T>>);

impl<T: Default> Pool<T> {
    /// Calls `work` with one that nobody else uses.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let idle = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut one = idle().pop().unwrap_or_default();
        let result = work(&mut one);
        idle().push(one);
        result
    }
}
