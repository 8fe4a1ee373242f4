//! Densities on a quadrature grid: `q(g) ∝ w_g·exp(e·y_g)` for a code `e` and grid codes `y_g`.

use super::QuadratureGrid;
use crate::{Device, Result, Tensor, View, ViewMut, error::check_shape, ops};
use std::sync::Arc;

/// A quadrature grid and the losses that integrate over it.
///
/// Rows of a batch are processed in blocks, so that the logits (rows × grid points) never take more memory than
/// `max_logits` values.
pub struct Quadrature {
    grid: Arc<QuadratureGrid>,
    logits: Tensor,
    /// Logits of the target, made when [`Quadrature::reverse_kl`] is first asked for.
    target_logits: Option<Tensor>,
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
        let rows = (max_logits / grid.points()).clamp(1, max_batch.max(1));
        Ok(Self {
            logits: Tensor::zeros(grid.device(), rows, grid.points())?,
            target_logits: None,
            lse: Tensor::zeros(grid.device(), rows, 1)?,
            grid,
        })
    }

    /// Number of grid points.
    pub fn points(&self) -> usize {
        self.grid.points()
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

    fn blocks(&self, rows: usize) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
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

    /// The forward KL (negative log-likelihood) `log Z(e) − e·y` of every row into `loss`, and `scale` times its
    /// gradient `E_q[Y] − y` into `de`. With `scale = 1/batch` it is the gradient of the mean.
    ///
    /// # Shapes
    /// `e`, `y`, `de`: batch × dim; `loss`: batch × 1.
    pub fn nll(
        &mut self,
        mut de: ViewMut<'_>,
        mut loss: ViewMut<'_>,
        e: View<'_>,
        y: View<'_>,
        scale: f32,
    ) -> Result<()> {
        self.grid.device().clone().in_pool(|| {
            for range in self.blocks(e.rows()) {
                let (e, y) = (e.row_range(range.clone()), y.row_range(range.clone()));
                let mut de = de.reborrow().row_range(range.clone());
                let mut loss = loss.reborrow().row_range(range);
                self.soften(e, scale)?;
                ops::copy(loss.reborrow(), self.lse.view().row_range(0..e.rows()))?;
                ops::row_dot(loss, e, y, -1.0, 1.0)?;
                ops::axpby(de.reborrow(), -scale, y, 0.0)?;
                let q = self.logits.view().row_range(0..e.rows());
                self.grid.mean(de, q, true)?;
            }
            Ok(())
        })
    }

    /// The paper's reverse `KL(q_e ‖ q_y)` over the grid of every row into `loss`, and `scale` times its gradient by `e`.
    ///
    /// # Shapes
    /// `e`, `y`, `de`: batch × dim; `loss`: batch × 1.
    pub fn reverse_kl(
        &mut self,
        mut de: ViewMut<'_>,
        mut loss: ViewMut<'_>,
        e: View<'_>,
        y: View<'_>,
        scale: f32,
    ) -> Result<()> {
        self.grid.device().clone().in_pool(|| {
            let targets = match self.target_logits.take() {
                Some(targets) => targets,
                None => Tensor::zeros(self.grid.device(), self.logits.rows(), self.points())?,
            };
            let Self { grid, logits, .. } = self;
            let mut targets = targets;
            let step = logits.rows();
            for start in (0..e.rows()).step_by(step) {
                let range = start..(start + step).min(e.rows());
                let rows = 0..range.len();
                let mut q = logits.view_mut().row_range(rows.clone());
                let mut p = targets.view_mut().row_range(rows);
                let (e, y) = (e.row_range(range.clone()), y.row_range(range.clone()));
                grid.logits(q.reborrow(), e)?;
                grid.logits(p.reborrow(), y)?;
                ops::reverse_kl(q.reborrow(), p, grid.log_weights(), loss.reborrow().row_range(range.clone()), scale)?;
                let de = de.reborrow().row_range(range);
                grid.mean(de, q.as_view(), false)?;
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
            let mean = mean.reborrow().row_range(range);
            self.grid.mean(mean, q, false)?;
        }
        Ok(())
    }
}
