//! The network of a model, for training and for samplers. The default model, LocDiff-Bayes (`bayes`), is a density given the image, and its denoiser follows by Bayes' rule; the paper's network is the CS-UNet (`cs-unet`).

use crate::{ModelConfig, NetworkKind, Result};
use locdiff_nn::layers::{Conditioning, CsUnet, CsUnetWorkspace, ForwardMode, Mlp, MlpWork, SamplingWorkspace};
use locdiff_nn::{Device, Gradients, NnError, Params, ParamsBuilder, Tensor, View, ViewMut, ops};

/// Width of the image network's hidden layer where none is asked for.
const IMAGE_WIDTH: usize = 1024;

/// A network's layers.
///
/// With [`NetworkKind::Bayes`] an MLP gives the natural parameters `e_I` of the photo's own density, and the noisy code
/// joins by Bayes' rule: `p(x0 | x_t, I) ∝ p(x0 | I)·p(x_t | x0)`, and since all codes are equally long the log of the
/// second factor is `√ᾱ·s/(1−ᾱ)·x_t·code(x0)`, linear in the code. So `e = e_I + c(t)·x_t` is the best denoiser that there
/// is for `e_I`, without a parameter of its own (`x_t` filtered as the codes are).
#[derive(Debug, Clone)]
pub(crate) enum Network {
    /// The paper's conditional Siren U-Network.
    CsUnet(Box<CsUnet>),
    /// The image network; noisy codes join by Bayes' rule.
    Bayes(Mlp),
}

/// Storage for [`Network::forward`] and [`Network::backward`] at one batch size.
pub(crate) enum NetworkBuffers {
    CsUnet(Box<CsUnetWorkspace>),
    Bayes(MlpWork),
}

impl NetworkBuffers {
    pub(crate) fn output(&self) -> View<'_> {
        match self {
            Self::CsUnet(work) => work.output(),
            Self::Bayes(work) => work.output.view(),
        }
    }
}

impl Network {
    /// Adds a configuration's network to `builder`. Fails on sizes that no network has.
    pub(crate) fn register(config: &ModelConfig, builder: &mut ParamsBuilder) -> Result<Self> {
        Ok(match config.network {
            NetworkKind::CsUnet => Self::CsUnet(Box::new(config.cs_unet().register(builder)?)),
            NetworkKind::Bayes => {
                let widths = [config.embedding_dim, config.hidden.unwrap_or(IMAGE_WIDTH), config.code_dim()];
                Self::Bayes(Mlp::new(builder, "image", &widths, config.dropout))
            }
        })
    }

    /// Whether noise and time go into the layers.
    pub(crate) fn reads_noise(&self) -> bool {
        matches!(self, Self::CsUnet(_))
    }

    /// Storage for training with `batch` rows. Fails if device memory is too small.
    pub(crate) fn work(&self, device: &Device, batch: usize) -> Result<NetworkBuffers, NnError> {
        Ok(match self {
            Self::CsUnet(net) => NetworkBuffers::CsUnet(Box::new(net.workspace(device, batch, true)?)),
            Self::Bayes(net) => NetworkBuffers::Bayes(net.work(device, batch)?),
        })
    }

    /// The output for noisy codes `x` at times `t` and embeddings `cond`; for [`NetworkKind::Bayes`] that at pure
    /// noise.
    pub(crate) fn forward(
        &self,
        params: &Params,
        work: &mut NetworkBuffers,
        x: View<'_>,
        cond: View<'_>,
        t: View<'_>,
        mode: ForwardMode<'_>,
    ) -> Result<(), NnError> {
        match (self, work) {
            (Self::CsUnet(net), NetworkBuffers::CsUnet(work)) => net.forward(params, work, x, cond, t, mode),
            (Self::Bayes(net), NetworkBuffers::Bayes(work)) => net.forward(params, work, cond, mode),
            _ => panic!("storage of another network"),
        }
    }

    /// The gradients of all weights for the gradient `d_out` of the output.
    pub(crate) fn backward(
        &self,
        params: &Params,
        grads: &mut Gradients,
        work: &mut NetworkBuffers,
        x: View<'_>,
        cond: View<'_>,
        d_out: View<'_>,
    ) -> Result<(), NnError> {
        match (self, work) {
            (Self::CsUnet(net), NetworkBuffers::CsUnet(work)) => net.backward(params, grads, work, x, cond, d_out),
            (Self::Bayes(net), NetworkBuffers::Bayes(work)) => net.backward(params, grads, work, cond, d_out, None),
            _ => panic!("storage of another network"),
        }
    }
}

/// A network inside a sampler: what depends on photo and time alone is computed once.
pub(crate) enum Denoising {
    CsUnet { work: SamplingWorkspace, conditioning: Conditioning },
    Bayes { work: MlpWork, image: Tensor, joining: Tensor },
}

impl Denoising {
    /// For `rows` noisy codes and embeddings `cond`, one for all codes or one for each.
    pub(crate) fn new(
        (net, config, params): (&Network, &ModelConfig, &Params),
        rows: usize,
        cond: View<'_>,
        timesteps: &[f32],
    ) -> Result<Self> {
        let device = params.device();
        let mut made = match net {
            Network::CsUnet(net) => Self::CsUnet {
                work: net.sampling_workspace(device, rows)?,
                conditioning: net.conditioning(params, cond, timesteps)?,
            },
            Network::Bayes(net) => Self::Bayes {
                work: net.work(device, cond.rows())?,
                image: Tensor::zeros(device, cond.rows(), config.code_dim())?,
                joining: joining(config, device, timesteps)?,
            },
        };
        made.set_cond(net, params, cond)?;
        Ok(made)
    }

    pub(crate) fn set_cond(&mut self, net: &Network, params: &Params, cond: View<'_>) -> Result<(), NnError> {
        match (net, self) {
            (Network::CsUnet(net), Self::CsUnet { conditioning, .. }) => net.set_cond(params, conditioning, cond),
            (Network::Bayes(net), Self::Bayes { work, image, .. }) => net.infer(params, work, image.view_mut(), cond),
            _ => unreachable!("made for another network"),
        }
    }

    /// The output for noisy codes `x` at a step of the time table.
    pub(crate) fn predict(
        &mut self,
        (net, params): (&Network, &Params),
        out: ViewMut<'_>,
        (x, step): (View<'_>, usize),
    ) -> Result<(), NnError> {
        match (net, self) {
            (Network::CsUnet(net), Self::CsUnet { work, conditioning }) => {
                net.predict(params, work, out, x, conditioning, step)
            }
            (Network::Bayes(_), Self::Bayes { image, joining, .. }) => {
                let image = image.view();
                let image = if image.rows() == 1 { image.broadcast_rows(0, x.rows()) } else { image };
                ops::film(out, x, joining.view().broadcast_rows(step, x.rows()), image)
            }
            _ => unreachable!("made for another network"),
        }
    }
}

/// Above this the noisy code alone settles which of the quadrature's points it is; more would only cost digits of f32.
const MOST_CODES: f64 = 100.0;

/// What [`ops::film`] needs to add `c(t)·x_t` to the photo's parameters, one row a time step. At pure noise `c` is 0: the
/// evidence does not depend on the noise. The mean over the quadrature makes it the exact denoiser of a prior on its points.
fn joining(config: &ModelConfig, device: &Device, timesteps: &[f32]) -> Result<Tensor> {
    let (schedule, scale, dim) = (config.schedule()?, config.code_scale.factor(), config.code_dim());
    let low_pass = config.low_pass();
    let mut rows = Vec::with_capacity(timesteps.len() * 2 * dim);
    for t in timesteps {
        let t = *t as usize;
        let (signal, noise) = (schedule.signal(t), schedule.noise(t));
        let gain = (signal * scale / (noise * noise)).min(MOST_CODES / scale);
        let gain = if t + 1 == schedule.steps() { 0.0 } else { gain };
        for (block, factor) in config.degree_blocks().iter().zip(&low_pass) {
            rows.extend(std::iter::repeat_n((gain * factor) as f32 - 1.0, block.len()));
        }
        rows.extend(std::iter::repeat_n(0.0, dim));
    }
    Ok(Tensor::from_slice(device, timesteps.len(), 2 * dim, &rows)?)
}
