//! From noisy codes to clean ones: the network, guidance, and what its output means.

use crate::{LossKind, Model, Result, diffusion::Denoiser, network::Denoising, quadrature::integrals};
use locdiff_nn::{NnError, Tensor, View, ViewMut, losses::Quadrature, ops};
use std::ops::Deref;

/// How a network's output becomes the prediction that the sampler takes.
enum Reading {
    /// Natural parameters: the mean parameters `E_q[Y]`.
    PosteriorMean(Box<Quadrature>),
    /// The mean code itself: what minimises the reverse KL.
    Code,
    /// A code whose degrees may not be longer than a clean code's: the paper's losses, which leave lengths free.
    Clipped { blocks: Vec<(std::ops::Range<usize>, f32)>, norms: Tensor },
    /// A direction: as long as a clean code.
    Direction { length: f32, norms: Tensor },
    /// The prediction itself, scaled already.
    Plain,
}

/// The network at one batch size, with guidance: natural parameters, or whatever its loss taught it to give.
pub(crate) struct GuidedNetwork<M> {
    model: M,
    denoising: Denoising,
    /// Guidance, and what it needs.
    guidance: Option<(f32, Denoising, Tensor)>,
    /// The last output.
    pub(crate) natural: Tensor,
}

impl<M: Deref<Target = Model>> GuidedNetwork<M> {
    pub(crate) fn new(model: M, rows: usize, cond: View<'_>, timesteps: &[f32], guidance: f32) -> Result<Self> {
        let (config, net, params) = (model.config(), model.net(), model.params());
        let (device, dim) = (params.device(), config.code_dim());
        let guide = || -> Result<_> {
            let nothing = Tensor::zeros(device, 1, config.embedding_dim)?;
            let unconditional = Denoising::new((net, config, params), rows, nothing.view(), timesteps)?;
            Ok((guidance, unconditional, Tensor::zeros(device, rows, dim)?))
        };
        let guidance = (guidance != 0.0).then(guide).transpose()?;
        let denoising = Denoising::new((net, config, params), rows, cond, timesteps)?;
        Ok(Self { denoising, guidance, natural: Tensor::zeros(device, rows, dim)?, model })
    }

    pub(crate) fn set_cond(&mut self, cond: View<'_>) -> Result<(), NnError> {
        self.denoising.set_cond(self.model.net(), self.model.params(), cond)
    }

    /// The network's output for noisy codes at a step of the plan.
    pub(crate) fn run(&mut self, x: View<'_>, position: usize) -> Result<&Tensor, NnError> {
        let Self { model, denoising, guidance, natural } = self;
        let (net, params) = (model.net(), model.params());
        denoising.predict((net, params), natural.view_mut(), (x, position))?;
        if let Some((weight, unconditional, scratch)) = guidance {
            unconditional.predict((net, params), scratch.view_mut(), (x, position))?;
            ops::axpby(natural.view_mut(), -*weight, scratch.view(), 1.0 + *weight)?;
        }
        Ok(natural)
    }
}

/// The network as a sampler sees it: with what its output means.
pub(crate) struct Head<M> {
    pub(crate) network: GuidedNetwork<M>,
    /// What the network gave at the plan's first step of the last run, pure noise.
    pub(crate) first: Tensor,
    /// What the network gave at another step, if asked for.
    pub(crate) kept: Option<(usize, Tensor)>,
    /// Natural parameters added to the network's, where samples are of a tilted density.
    tilt: Option<Tensor>,
    reading: Reading,
    scale: f32,
}

impl<M: Deref<Target = Model>> Head<M> {
    pub(crate) fn new(network: GuidedNetwork<M>, rows: usize) -> Result<Self> {
        let model = &network.model;
        let (config, device) = (model.config(), model.params().device());
        let length = |(l, f): (usize, &f64)| f * ((2 * l + 1) as f64 / (4.0 * std::f64::consts::PI)).sqrt();
        let clean: Vec<f64> = config.low_pass().iter().enumerate().map(length).collect();
        let blocks = config.degree_blocks();
        // The mean square of what is kept of a degree is its share of the whole.
        let kept = |l: usize| blocks[l].len() as f64 / (2 * l + 1) as f64;
        let square: f64 = clean.iter().enumerate().map(|(l, length)| kept(l) * length * length).sum();
        let norms = || Tensor::zeros(device, rows, 1);
        let reading = match config.loss {
            LossKind::Nll => Reading::PosteriorMean(Box::new(integrals(device, model.quadrature_grid()?, rows)?)),
            LossKind::Kl => Reading::Code,
            LossKind::KlPaper => Reading::Clipped {
                blocks: blocks.into_iter().zip(clean.iter().map(|length| *length as f32)).collect(),
                norms: norms()?,
            },
            LossKind::Cosine => Reading::Direction { length: square.sqrt() as f32, norms: norms()? },
            LossKind::L1 | LossKind::L2 => Reading::Plain,
        };
        let first = Tensor::zeros(device, rows, config.code_dim())?;
        let scale = config.code_scale.factor() as f32;
        Ok(Self { first, kept: None, tilt: None, reading, scale, network })
    }

    /// Tilts the density that the next runs sample, one row each; returns whether tilts begin or end to exist.
    pub(crate) fn set_tilt(&mut self, rows: Option<&[f32]>) -> Result<bool, NnError> {
        let changed = self.tilt.is_some() != rows.is_some();
        match (&mut self.tilt, rows) {
            (Some(tilt), Some(rows)) => tilt.upload(rows)?,
            (tilt, rows) => {
                let (device, count, columns) = (self.first.device(), self.first.rows(), self.first.cols());
                *tilt = rows.map(|rows| Tensor::from_slice(device, count, columns, rows)).transpose()?;
            }
        }
        Ok(changed)
    }

    /// Keeps the network's output at a step of the next runs, too; `None` ends that.
    pub(crate) fn keep_at(&mut self, position: Option<usize>) -> Result<(), NnError> {
        let blank = || Tensor::zeros(self.first.device(), self.first.rows(), self.first.cols());
        self.kept = position.map(|position| Ok::<_, NnError>((position, blank()?))).transpose()?;
        Ok(())
    }
}

impl<M: Deref<Target = Model>> Denoiser for Head<M> {
    fn predict(&mut self, mut out: ViewMut<'_>, x: View<'_>, position: usize) -> Result<(), NnError> {
        let Self { network, first, kept, tilt, reading, scale } = self;
        network.run(x, position)?;
        let natural = &mut network.natural;
        if position == 0 {
            ops::copy(first.view_mut(), natural.view())?;
        }
        if let Some(tilt) = tilt {
            ops::axpby(natural.view_mut(), 1.0, tilt.view(), 1.0)?;
        }
        if let Some((_, kept)) = kept.as_mut().filter(|(at, _)| *at == position) {
            ops::copy(kept.view_mut(), natural.view())?;
        }
        match reading {
            Reading::Plain => return ops::copy(out, natural.view()),
            Reading::Code => ops::copy(out.reborrow(), natural.view())?,
            Reading::PosteriorMean(quadrature) => quadrature.posterior_mean(out.reborrow(), natural.view())?,
            Reading::Direction { length, norms } => {
                ops::normalise(out.reborrow(), norms.view_mut(), natural.view(), 1e-12)?;
                ops::scale(out.reborrow(), *length)?;
            }
            Reading::Clipped { blocks, norms } => {
                for (block, length) in blocks.iter().filter(|(block, _)| !block.is_empty()) {
                    // x / max(|x|, length), times length: shorter blocks stay, longer ones end at the length.
                    let block = block.clone();
                    let from = natural.view().columns(block.clone());
                    ops::normalise(out.reborrow().columns(block.clone()), norms.view_mut(), from, *length)?;
                    ops::scale(out.reborrow().columns(block), *length)?;
                }
            }
        }
        ops::scale(out, *scale)
    }
}
