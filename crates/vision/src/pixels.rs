//! Pictures as the networks take them: rows of pixels, the colours of a pixel side by side (NHWC).

use crate::{Result, VisionError};

/// Colours of a pixel.
pub(crate) const RGB: usize = 3;

/// How many pictures of `width × height` pixels these are.
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
