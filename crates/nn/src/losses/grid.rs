//! The points of a quadrature on a device.

use crate::{
    Device, Result, Tensor, View, ViewMut,
    cpu::{
        Mat,
        simd::{Packed, Side, Start},
    },
    error::check_shape,
    ops::{self, Transpose},
};

/// The codes of a quadrature's points and the logs of their weights: what every [`super::Quadrature`] over them shares.
pub struct QuadratureGrid {
    codes: Codes,
    log_weights: Option<Tensor>,
    device: Device,
    points: usize,
    dim: usize,
}

enum Codes {
    /// Points × dim.
    Plain(Tensor),
    /// On the CPU: laid out for `e·gridᵀ` and for `q·grid`.
    Packed { across: Packed, along: Packed },
}

impl QuadratureGrid {
    /// `codes.len() / dim` points, with log-weights (one each, or none for equal ones).
    pub fn new(device: &Device, dim: usize, codes: &[f32], log_weights: Option<&[f32]>) -> Result<Self> {
        check_shape(dim > 0 && codes.len().is_multiple_of(dim) && !codes.is_empty(), "quadrature", || {
            format!("{} grid values for codes of size {dim}", codes.len())
        })?;
        let points = codes.len() / dim;
        if let Some(weights) = log_weights {
            check_shape(weights.len() == points, "quadrature", || {
                format!("{} log-weights for {points} grid points", weights.len())
            })?;
        }
        let codes = if device.is_cuda() {
            Codes::Plain(Tensor::from_slice(device, points, dim, codes)?)
        } else {
            let mat = Mat { data: codes, rows: points, cols: dim, stride: dim };
            Codes::Packed {
                across: Packed::of(Side { mat, transposed: true }),
                along: Packed::of(Side { mat, transposed: false }),
            }
        };
        let log_weights = log_weights.map(|w| Tensor::from_slice(device, 1, points, w)).transpose()?;
        Ok(Self { codes, log_weights, device: device.clone(), points, dim })
    }

    /// Room for the codes of so many points on a CUDA device, to be written through [`QuadratureGrid::codes_mut`].
    pub fn blank(device: &Device, dim: usize, points: usize, log_weights: Option<&[f32]>) -> Result<Self> {
        check_shape(log_weights.is_none_or(|weights| weights.len() == points), "quadrature", || {
            format!("log-weights for {points} grid points")
        })?;
        let codes = Codes::Plain(Tensor::zeros(device, points, dim)?);
        let log_weights = log_weights.map(|w| Tensor::from_slice(device, 1, points, w)).transpose()?;
        Ok(Self { codes, log_weights, device: device.clone(), points, dim })
    }

    /// The codes, to be written on the device; `None` where they are laid out for the CPU.
    pub fn codes_mut(&mut self) -> Option<ViewMut<'_>> {
        match &mut self.codes {
            Codes::Plain(codes) => Some(codes.view_mut()),
            Codes::Packed { .. } => None,
        }
    }

    /// Number of points.
    pub fn points(&self) -> usize {
        self.points
    }

    /// The device it lives on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The logs of the points' weights.
    pub(super) fn log_weights(&self) -> Option<View<'_>> {
        self.log_weights.as_ref().map(Tensor::view)
    }

    /// Replaces codes and log-weights by others of the same size, in place: fresh random anchors for every step.
    pub(super) fn set(&mut self, codes: &[f32], log_weights: Option<&[f32]>) -> Result<()> {
        check_shape(log_weights.is_some() == self.log_weights.is_some(), "set_grid", || {
            "log-weights given for a grid without, or the other way round".to_owned()
        })?;
        match &mut self.codes {
            Codes::Plain(own) => own.upload(codes)?,
            // Laying out what changes with every step would not pay.
            Codes::Packed { .. } => {
                self.codes = Codes::Plain(Tensor::from_slice(&self.device, self.points, self.dim, codes)?);
            }
        }
        match (&mut self.log_weights, log_weights) {
            (Some(own), Some(new)) => own.upload(new),
            _ => Ok(()),
        }
    }

    /// `logits = e·gridᵀ`.
    pub(super) fn logits(&self, logits: ViewMut<'_>, e: View<'_>) -> Result<()> {
        match &self.codes {
            Codes::Plain(codes) => ops::gemm(logits, e, Transpose::No, codes.view(), Transpose::Yes, 0.0, None),
            Codes::Packed { across, .. } => ops::gemm_packed(logits, e, across, Start::Zero),
        }
    }

    /// `mean = q·grid`, or `mean += q·grid`.
    pub(super) fn mean(&self, mean: ViewMut<'_>, q: View<'_>, accumulate: bool) -> Result<()> {
        match &self.codes {
            Codes::Plain(codes) => {
                let beta = if accumulate { 1.0 } else { 0.0 };
                ops::gemm(mean, q, Transpose::No, codes.view(), Transpose::No, beta, None)
            }
            Codes::Packed { along, .. } => {
                ops::gemm_packed(mean, q, along, if accumulate { Start::Kept } else { Start::Zero })
            }
        }
    }
}
