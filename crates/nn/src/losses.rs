//! Losses over a quadrature grid, and densities on it: `q(g) ∝ w_g·exp(e·y_g)` for a code `e` and grid codes `y_g`.
//! Losses value by value are in [`crate::ops::point_loss`].

use crate::cpu::simd::{Packed, Side, Start};
use crate::{Device, Result, Tensor, View, ViewMut, cpu::Mat, error::check_shape, ops, ops::Transpose};
use std::{ops::Range, sync::Arc};

/// The codes of a quadrature's points and the logs of their weights: what every [`Quadrature`] over them shares.
pub struct QuadratureGrid {
    codes: Codes,
    log_weights: Option<Tensor>,
    device: Device,
    /// How many points it has.
    pub points: usize,
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
            let [across, along] = [true, false].map(|transposed| Packed::of(Side { mat, transposed }));
            Codes::Packed { across, along }
        };
        Self::over(device, dim, points, codes, log_weights)
    }

    fn over(device: &Device, dim: usize, points: usize, codes: Codes, log_weights: Option<&[f32]>) -> Result<Self> {
        let log_weights = log_weights.map(|w| Tensor::from_slice(device, 1, points, w)).transpose()?;
        Ok(Self { codes, log_weights, device: device.clone(), points, dim })
    }

    /// Room for the codes of so many points on a CUDA device, to be written through [`QuadratureGrid::codes_mut`].
    pub fn blank(device: &Device, dim: usize, points: usize, log_weights: Option<&[f32]>) -> Result<Self> {
        check_shape(log_weights.is_none_or(|weights| weights.len() == points), "quadrature", || {
            format!("log-weights for {points} grid points")
        })?;
        Self::over(device, dim, points, Codes::Plain(Tensor::zeros(device, points, dim)?), log_weights)
    }

    /// The codes, to be written on the device; `None` where they are laid out for the CPU.
    pub fn codes_mut(&mut self) -> Option<ViewMut<'_>> {
        match &mut self.codes {
            Codes::Plain(codes) => Some(codes.view_mut()),
            Codes::Packed { .. } => None,
        }
    }

    fn log_weights(&self) -> Option<View<'_>> {
        self.log_weights.as_ref().map(Tensor::view)
    }

    /// Replaces codes and log-weights by others of the same size, in place: fresh random anchors for every step.
    fn set(&mut self, codes: &[f32], log_weights: Option<&[f32]>) -> Result<()> {
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
    fn logits(&self, logits: ViewMut<'_>, e: View<'_>) -> Result<()> {
        match &self.codes {
            Codes::Plain(codes) => ops::gemm(logits, e, Transpose::No, codes.view(), Transpose::Yes, 0.0, None),
            Codes::Packed { across, .. } => ops::gemm_packed(logits, e, across, Start::Zero),
        }
    }

    /// `mean = q·grid`, or `mean += q·grid`.
    fn mean(&self, mean: ViewMut<'_>, q: View<'_>, accumulate: bool) -> Result<()> {
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

/// A quadrature grid and the losses that integrate over it.
/// Rows of a batch are processed in blocks, so that the logits (rows × grid points) never take more memory than
/// `max_logits` values.
pub struct Quadrature {
    grid: Arc<QuadratureGrid>,
    logits: Tensor,
    /// Logits of the target, made when [`Quadrature::reverse_kl`] is first asked for.
    target_logits: Option<Tensor>,
    /// Whether these are under way beside everything else.
    begun: bool,
    lse: Tensor,
}

impl Quadrature {
    /// A grid of `grid.len() / dim` codes, with log-weights (one each, or none for equal ones), for batches of up to
    /// `max_batch` rows.
    pub fn new(
        device: &Device,
        dim: usize,
        grid: &[f32],
        log_weights: Option<&[f32]>,
        max_batch: usize,
        max_logits: usize,
    ) -> Result<Self> {
        Self::over(Arc::new(QuadratureGrid::new(device, dim, grid, log_weights)?), max_batch, max_logits)
    }

    /// Over a grid that others use too.
    pub fn over(grid: Arc<QuadratureGrid>, max_batch: usize, max_logits: usize) -> Result<Self> {
        let rows = (max_logits / grid.points).clamp(1, max_batch.max(1));
        Ok(Self {
            logits: Tensor::zeros(&grid.device, rows, grid.points)?,
            target_logits: None,
            begun: false,
            lse: Tensor::zeros(&grid.device, rows, 1)?,
            grid,
        })
    }

    /// Number of grid points.
    pub fn points(&self) -> usize {
        self.grid.points
    }

    /// Replaces grid and log-weights by others of the same size, in place: fresh random anchors for every step.
    /// Fails if sizes differ or others use the grid.
    pub fn set_grid(&mut self, grid: &[f32], log_weights: Option<&[f32]>) -> Result<()> {
        let own = Arc::get_mut(&mut self.grid);
        check_shape(own.is_some(), "set_grid", || "the grid is shared".to_owned())?;
        own.map_or(Ok(()), |own| own.set(grid, log_weights))
    }

    /// The grid's codes, to be written on the device; `None` where others use the grid too, or on the CPU.
    pub fn grid_mut(&mut self) -> Option<ViewMut<'_>> {
        Arc::get_mut(&mut self.grid)?.codes_mut()
    }

    fn blocks(&self, rows: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let step = self.logits.rows();
        (0..rows).step_by(step).map(move |start| start..(start + step).min(rows))
    }

    /// `softmax(e·gridᵀ + log w)·scale` of one block of rows into `logits`, its log-partition into `lse`.
    fn soften(&mut self, e: View<'_>, scale: f32) -> Result<()> {
        let Self { grid, logits, lse, .. } = self;
        let mut logits = logits.view_mut().row_range(0..e.rows());
        grid.logits(logits.reborrow(), e)?;
        ops::softmax(logits, lse.view_mut().row_range(0..e.rows()), grid.log_weights(), scale)
    }

    /// The forward KL (negative log-likelihood) `log Z(e) − e·y` of every row into `loss` (batch × 1), and `scale` times
    /// its gradient `E_q[Y] − y` into `de`. With `scale = 1/batch` it is the gradient of the mean.
    pub fn nll(
        &mut self,
        mut de: ViewMut<'_>,
        mut loss: ViewMut<'_>,
        e: View<'_>,
        y: View<'_>,
        scale: f32,
    ) -> Result<()> {
        self.grid.device.clone().in_pool(|| {
            for range in self.blocks(e.rows()) {
                let (e, y) = (e.row_range(range.clone()), y.row_range(range.clone()));
                let mut de = de.reborrow().row_range(range.clone());
                let mut loss = loss.reborrow().row_range(range);
                self.soften(e, scale)?;
                ops::copy(loss.reborrow(), self.lse.view().row_range(0..e.rows()))?;
                ops::row_dot(loss, e, y, -1.0, 1.0)?;
                ops::axpby(de.reborrow(), -scale, y, 0.0)?;
                self.grid.mean(de, self.logits.view().row_range(0..e.rows()), true)?;
            }
            Ok(())
        })
    }

    /// On CUDA: begins with what [`Quadrature::reverse_kl`] needs of the targets `y` alone, [aside](Device::aside). The call
    /// comes next, with the same targets, and waits for it.
    pub fn begin_reverse_kl(&mut self, y: View<'_>) -> Result<()> {
        if !self.grid.device.is_cuda() || y.rows() > self.logits.rows() {
            return Ok(());
        }
        let mut targets = self.targets()?;
        self.grid.device.aside(|| self.grid.logits(targets.view_mut().row_range(0..y.rows()), y))?;
        (self.target_logits, self.begun) = (Some(targets), true);
        Ok(())
    }

    fn targets(&mut self) -> Result<Tensor> {
        let kept = self.target_logits.take();
        kept.map_or_else(|| Tensor::zeros(&self.grid.device, self.logits.rows(), self.points()), Ok)
    }

    /// The paper's reverse `KL(q_e ‖ q_y)` over the grid of every row into `loss` (batch × 1), and `scale` times its
    /// gradient by `e`.
    pub fn reverse_kl(
        &mut self,
        mut de: ViewMut<'_>,
        mut loss: ViewMut<'_>,
        e: View<'_>,
        y: View<'_>,
        scale: f32,
    ) -> Result<()> {
        self.grid.device.clone().in_pool(|| {
            let (mut targets, blocks) = (self.targets()?, self.blocks(e.rows()));
            let begun = std::mem::take(&mut self.begun);
            let Self { grid, logits, .. } = self;
            for range in blocks {
                let rows = 0..range.len();
                let mut q = logits.view_mut().row_range(rows.clone());
                let mut p = targets.view_mut().row_range(rows);
                let (e, y) = (e.row_range(range.clone()), y.row_range(range.clone()));
                grid.logits(q.reborrow(), e)?;
                if begun {
                    grid.device.join_aside()?;
                } else {
                    grid.logits(p.reborrow(), y)?;
                }
                ops::reverse_kl(q.reborrow(), p, grid.log_weights(), loss.reborrow().row_range(range.clone()), scale)?;
                grid.mean(de.reborrow().row_range(range), q.as_view(), false)?;
            }
            self.target_logits = Some(targets);
            Ok(())
        })
    }

    /// The mean parameter `E_q[Y] = softmax(e·gridᵀ + log w)·grid`: the denoiser that answers with the posterior mean of the code.
    pub fn posterior_mean(&mut self, mut mean: ViewMut<'_>, e: View<'_>) -> Result<()> {
        for range in self.blocks(e.rows()) {
            let e = e.row_range(range.clone());
            self.soften(e, 1.0)?;
            let q = self.logits.view().row_range(0..e.rows());
            self.grid.mean(mean.reborrow().row_range(range), q, false)?;
        }
        Ok(())
    }
}
