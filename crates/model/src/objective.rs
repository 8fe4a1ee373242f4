//! The training losses on the device.

use crate::{CodeWriter, LossKind, ModelConfig, QuadraturePoints, QuadratureRecipe, Result, quadrature::integrals};
use locdiff_nn::{Device, NnError, View, ViewMut, losses::Quadrature, losses::QuadratureGrid, ops};
use locdiff_shdd::sphere::UnitVec;
use std::sync::Arc;

/// Fresh random anchors a step in the paper's training.
pub(crate) const PAPER_ANCHORS: usize = 2048;

/// A loss with its storage, for batches of one size.
pub struct Objective {
    kind: LossKind,
    quadrature: Option<Quadrature>,
}

impl Objective {
    /// For a model's loss and its `anchors`. Fails if anchors are missing, or device memory is too small.
    pub fn new(
        device: &Device,
        config: &ModelConfig,
        codes: &CodeWriter,
        anchors: Option<&QuadraturePoints>,
        batch: usize,
    ) -> Result<Self> {
        let quadrature = match (config.loss, anchors) {
            (LossKind::Nll | LossKind::Kl, anchors) => {
                let none = || locdiff_base::BadSetting::new("quadrature", "none", "nll and kl need anchors");
                Some(integrals(device, Arc::new(anchors.ok_or_else(none)?.on_device(device, codes)?), batch)?)
            }
            (LossKind::KlPaper, _) => {
                let grid = QuadratureGrid::blank(device, codes.dimension(), PAPER_ANCHORS, None)?;
                Some(Quadrature::over(Arc::new(grid), batch, 1 << 28)?)
            }
            _ => None,
        };
        Ok(Self { kind: config.loss, quadrature })
    }

    /// Whether every step needs anchors of its own, through [`Objective::set_anchors`].
    pub(crate) fn wants_fresh_anchors(&self) -> bool {
        self.kind == LossKind::KlPaper
    }

    /// Replaces the anchors by the codes of [`PAPER_ANCHORS`] others. Fails on another number of values.
    pub(crate) fn set_anchors(&mut self, codes: &[f32]) -> Result<(), NnError> {
        self.quadrature.as_mut().map_or(Ok(()), |quadrature| quadrature.set_grid(codes, None))
    }

    /// The anchors' codes, to be written on the device; `None` for losses without fresh ones.
    pub(crate) fn anchors_mut(&mut self) -> Option<ViewMut<'_>> {
        self.quadrature.as_mut().filter(|_| self.kind == LossKind::KlPaper)?.grid_mut()
    }

    /// Begins with what the loss needs of the targets alone, beside what follows: [`Objective::apply`] comes next.
    pub(crate) fn begin(&mut self, target: View<'_>) -> Result<(), NnError> {
        match (self.kind, &mut self.quadrature) {
            (LossKind::Kl | LossKind::KlPaper, Some(own)) => own.begin_reverse_kl(target),
            _ => Ok(()),
        }
    }

    /// The loss of every row into `loss`, and `scale` times its gradient into `de`. `target` is the code of the true
    /// place, or what the network should give for the losses `l1` and `l2`. Fails on shapes that do not fit.
    pub fn apply(
        &mut self,
        (de, loss): (ViewMut<'_>, ViewMut<'_>),
        (e, target): (View<'_>, View<'_>),
        scale: f32,
    ) -> Result<(), NnError> {
        let kind = match (self.kind, &mut self.quadrature) {
            (LossKind::Nll, Some(quadrature)) => return quadrature.nll(de, loss, e, target, scale),
            (LossKind::Kl | LossKind::KlPaper, Some(own)) => return own.reverse_kl(de, loss, e, target, scale),
            (LossKind::L1, _) => ops::PointLoss::L1,
            (LossKind::L2, _) => ops::PointLoss::L2,
            _ => ops::PointLoss::Cosine,
        };
        ops::point_loss(kind, de, loss, e, target, scale)
    }
}

/// The points that a configuration asks for, pooled about training `locations`. Fails on a recipe that cannot be
/// followed.
pub(crate) fn make_quadrature(config: &ModelConfig, locations: &[UnitVec]) -> Result<Option<QuadraturePoints>> {
    let made = match config.quadrature {
        _ if !config.loss.has_quadrature() => return Ok(None),
        QuadratureRecipe::Fibonacci { points } => QuadraturePoints::fibonacci(points),
        QuadratureRecipe::Pool { points } => QuadraturePoints::pool(config.degree, locations, points, config.seed),
        QuadratureRecipe::None => return Ok(None),
    };
    made.map(Some)
}
