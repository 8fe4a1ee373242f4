//! The training losses on the device.

use crate::{CodeWriter, LossKind, ModelConfig, QuadraturePoints, QuadratureRecipe, Result, quadrature::integrals};
use locdiff_nn::losses::{Quadrature, QuadratureGrid};
use locdiff_nn::{Device, NnError, View, ViewMut, ops};
use std::sync::Arc;

/// Fresh random anchors a step in the paper's training.
pub const PAPER_ANCHORS: usize = 2048;

/// A loss with its storage, for batches of one size.
///
/// ```
/// use locdiff_model::{CodeWriter, Model, ModelConfig, Objective};
/// use locdiff_nn::{Device, Tensor};
/// use locdiff_shdd::sphere::UnitVec;
/// let device = Device::cpu();
/// let model = Model::new(&device, ModelConfig::new(3, 8))?;
/// let codes = CodeWriter::new(model.config())?;
/// let mut objective = Objective::new(&device, model.config(), &codes, model.quadrature(), 1)?;
/// let mut code = [0.0; 16];
/// codes.write(&[UnitVec::NORTH], &mut code)?;
/// let target = Tensor::from_slice(&device, 1, 16, &code)?;
/// let flat = Tensor::zeros(&device, 1, 16)?;
/// let (mut gradient, mut loss) = (Tensor::zeros(&device, 1, 16)?, Tensor::zeros(&device, 1, 1)?);
/// objective.apply(gradient.view_mut(), loss.view_mut(), flat.view(), target.view(), 1.0)?;
/// assert!((loss.to_vec()?[0] - 2.531).abs() < 1e-3); // a uniform density: log 4π
/// # Ok::<(), locdiff_model::ModelError>(())
/// ```
pub struct Objective {
    kind: LossKind,
    quadrature: Option<Quadrature>,
}

impl Objective {
    /// For a model's loss; `anchors` are the model's, where its loss has any.
    /// Fails on missing anchors, or too little device memory.
    pub fn new(
        device: &Device,
        config: &ModelConfig,
        codes: &CodeWriter,
        anchors: Option<&QuadraturePoints>,
        batch: usize,
    ) -> Result<Self> {
        let quadrature = match (config.loss, anchors) {
            (LossKind::Nll | LossKind::Kl, Some(anchors)) => {
                Some(integrals(Arc::new(anchors.on_device(device, codes)?), batch)?)
            }
            (LossKind::Nll | LossKind::Kl, None) => {
                return Err(locdiff_base::setting("quadrature", "none", "nll and kl need anchors"));
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
    pub fn wants_fresh_anchors(&self) -> bool {
        self.kind == LossKind::KlPaper
    }

    /// Replaces the anchors by the codes of [`PAPER_ANCHORS`] others. Fails on another number of values.
    pub fn set_anchors(&mut self, codes: &[f32]) -> Result<(), NnError> {
        self.quadrature.as_mut().map_or(Ok(()), |quadrature| quadrature.set_grid(codes, None))
    }

    /// The anchors' codes, to be written on the device; `None` for losses without fresh ones.
    pub fn anchors_mut(&mut self) -> Option<ViewMut<'_>> {
        self.quadrature.as_mut().filter(|_| self.kind == LossKind::KlPaper)?.grid_mut()
    }

    /// The loss of every row into `loss`, and `scale` times its gradient into `de`. `target` is the code of the true
    /// place, or what the network should give for the losses `l1` and `l2`. Fails on shapes that do not fit.
    pub fn apply(
        &mut self,
        de: ViewMut<'_>,
        loss: ViewMut<'_>,
        e: View<'_>,
        target: View<'_>,
        scale: f32,
    ) -> Result<(), NnError> {
        match (self.kind, &mut self.quadrature) {
            (LossKind::Nll, Some(quadrature)) => quadrature.nll(de, loss, e, target, scale),
            (LossKind::Kl | LossKind::KlPaper, Some(quadrature)) => quadrature.reverse_kl(de, loss, e, target, scale),
            (LossKind::L1, _) => ops::point_loss(ops::PointLoss::L1, de, loss, e, target, scale),
            (LossKind::L2, _) => ops::point_loss(ops::PointLoss::L2, de, loss, e, target, scale),
            _ => ops::point_loss(ops::PointLoss::Cosine, de, loss, e, target, scale),
        }
    }
}

/// The points that a configuration asks for; `locations` are the training locations, for a pool.
/// Fails on a recipe that cannot be followed.
pub fn make_quadrature(
    config: &ModelConfig,
    locations: &[locdiff_shdd::sphere::UnitVec],
) -> Result<Option<QuadraturePoints>> {
    if !config.loss.has_quadrature() {
        return Ok(None);
    }
    Ok(match config.quadrature {
        QuadratureRecipe::Fibonacci { points } => Some(QuadraturePoints::fibonacci(points)?),
        QuadratureRecipe::Pool { points } => {
            Some(QuadraturePoints::pool(config.degree, locations, points, config.seed)?)
        }
        QuadratureRecipe::None => None,
    })
}
