//! Every choice that makes a model, as it stands in `config.json`.

use crate::{Result, diffusion::PredictionKind, diffusion::Schedule};
use locdiff_base::{BadSetting, ensure, named, setting};
use locdiff_io::data::{Fingerprint, RowFile};
use locdiff_nn::layers::{CsUnetConfig, Layout};
use locdiff_shdd::sphere::{Degree, EARTH_RADIUS_KM};
use serde::{Deserialize, Serialize};

/// The version of the model folder that this crate writes and reads.
pub const MODEL_VERSION: u32 = 1;

named! {
    /// A training loss.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum LossKind: "loss" {
        #[default]
        Nll = "nll", "the forward KL to the true location: its negative log-likelihood";
        Kl = "kl", "the paper's reverse KL, over a quadrature that resolves it";
        KlPaper = "kl-paper", "the paper's reverse KL over 2048 fresh random anchors a step";
        Cosine = "cosine", "one less the cosine between the codes";
        L1 = "l1", "the mean absolute difference of the codes";
        L2 = "l2", "the mean squared difference of the codes";
    }
}

impl LossKind {
    /// Whether the network's output is compared value by value with a target, so that it may predict noise or v.
    pub fn is_pointwise(self) -> bool {
        matches!(self, Self::L1 | Self::L2)
    }

    /// Whether the loss integrates over a quadrature that the model keeps.
    pub fn has_quadrature(self) -> bool {
        matches!(self, Self::Nll | Self::Kl)
    }
}

named! {
    /// Which network.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum NetworkKind: "network" {
        #[default]
        CsUnet = "cs-unet", "the paper's: denoises at every time step";
        Bayes = "bayes", "the photo's own density; noisy codes join by Bayes' rule";
    }
}

named! {
    /// A noise schedule.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum ScheduleKind: "schedule" {
        #[default]
        Cosine = "cosine", "of Nichol and Dhariwal";
        Linear = "linear", "of Ho et al.";
    }
}

named! {
    /// The size codes have in the diffusion.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum CodeScale: "code scale" {
        #[default]
        UnitRms = "unit-rms", "times √4π: a root mean square of one";
        Paper = "paper", "as they are: a root mean square of 0.28";
    }
}

impl CodeScale {
    /// The factor on a code.
    pub fn factor(self) -> f64 {
        if self == Self::Paper { 1.0 } else { (4.0 * std::f64::consts::PI).sqrt() }
    }
}

/// The points over which the densities are integrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum QuadratureRecipe {
    /// A Fibonacci grid.
    Fibonacci {
        /// Number of points.
        points: usize,
    },
    /// A Fibonacci grid with more points about training locations; its points are stored with the model.
    Pool {
        /// Number of points in all.
        points: usize,
    },
    /// None: the loss needs none.
    None,
}

/// Above this degree a Fibonacci grid that resolves the densities would be too large.
const LARGEST_FIBONACCI_DEGREE: usize = 31;
/// Fibonacci points for every number of a code, up to L = 23. Above, the densities' width falls with L², so that points
/// must grow with L⁴.
const POINTS_PER_NUMBER: f64 = 12_288.0 / 576.0;
/// Points of a pool: a share for the Fibonacci grid, the rest about training locations.
const POOL_POINTS: usize = 49_152;
/// Numbers of a quadrature's table, points times coefficients, at most: 8 GB of them.
const MOST_QUADRATURE_NUMBERS: usize = 1 << 31;
/// The longest embedding; encoders have some hundreds to some thousands of numbers.
const MOST_EMBEDDING_NUMBERS: usize = 1 << 16;
/// The longest noise schedule; a thousand steps are many.
const MOST_DIFFUSION_STEPS: usize = 100_000;

impl QuadratureRecipe {
    /// The recipe that fits a degree.
    pub fn usual(degree: usize) -> Self {
        if degree > LARGEST_FIBONACCI_DEGREE {
            return Self::Pool { points: POOL_POINTS };
        }
        let numbers = ((degree + 1) * (degree + 1)) as f64;
        let points = (POINTS_PER_NUMBER * numbers * (numbers / 576.0).max(1.0)).round() as usize;
        Self::Fibonacci { points: points.next_multiple_of(64) }
    }
}

/// Every choice that makes a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// Version of the folder's layout.
    pub version: u32,
    /// Spherical-harmonic degree L.
    pub degree: usize,
    /// Size of an embedding.
    pub embedding_dim: usize,
    /// Which network.
    #[serde(default)]
    pub network: NetworkKind,
    /// How a CS-UNet's widths go.
    pub layout: Layout,
    /// The narrowest width.
    pub width: usize,
    /// Width after the first layer; where absent (L+1)², for `bayes` 1024.
    pub hidden: Option<usize>,
    /// Blocks down, and as many up.
    pub depth: usize,
    /// Size of the time embedding.
    pub time_dim: usize,
    /// Inner widths are multiples of this.
    pub width_multiple: usize,
    /// Share of values dropped in training.
    pub dropout: f32,
    /// The factor inside the sine.
    pub w0: f32,
    /// The noise schedule.
    pub schedule: ScheduleKind,
    /// Its length T.
    pub diffusion_steps: usize,
    /// What the network predicts.
    pub prediction: PredictionKind,
    /// The loss it was trained with.
    pub loss: LossKind,
    /// The size of codes in the diffusion.
    pub code_scale: CodeScale,
    /// The quadrature of loss and posterior mean.
    pub quadrature: QuadratureRecipe,
    /// Codes are those of a place blurred by a heat kernel of this standard deviation.
    pub low_pass_km: Option<f64>,
    /// The coefficients that the network works on, where not all of them: see [`ModelConfig::keep_dimensions`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Vec<u32>>,
    /// Whether embeddings are brought to mean 0 and deviation 1, column by column.
    pub standardise: bool,
    /// The encoder that the training embeddings came from, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoder: Option<Fingerprint>,
    /// A hash of the training data.
    pub data_fingerprint: String,
    /// The seed of weights and training.
    pub seed: u64,
    /// Training steps done.
    pub trained_steps: u64,
}

impl ModelConfig {
    /// Fails if embeddings are not the model's: another number of values, or another encoder.
    pub fn check_rows(&self, file: &RowFile) -> Result<(), BadSetting> {
        if self.embedding_dim != file.columns() {
            let remedy = format!("the model takes {}: use the encoder it was trained with", self.embedding_dim);
            return Err(setting("embeddings", format!("{} numbers of {}", file.columns(), file.name()), remedy));
        }
        if let (Some(met), Some(trained)) = (file.encoder(), &self.encoder)
            && !met.is_same_encoder(trained)
        {
            let remedy = format!("the model was trained with {trained}: use one encoder for both");
            return Err(setting("encoder", format!("{met} of {}", file.name()), remedy));
        }
        Ok(())
    }

    /// What was most accurate on validation, for degree `degree` and embeddings of size `embedding_dim`.
    pub fn new(degree: usize, embedding_dim: usize) -> Self {
        Self {
            version: MODEL_VERSION,
            degree,
            embedding_dim,
            network: NetworkKind::CsUnet,
            layout: Layout::Funnel,
            width: 128,
            hidden: None,
            depth: 3,
            time_dim: 200,
            width_multiple: 8,
            dropout: 0.3,
            w0: 1.0,
            schedule: ScheduleKind::Cosine,
            diffusion_steps: 200,
            prediction: PredictionKind::X0,
            loss: LossKind::Nll,
            code_scale: CodeScale::UnitRms,
            quadrature: QuadratureRecipe::usual(degree),
            low_pass_km: None,
            kept: None,
            standardise: true,
            encoder: None,
            data_fingerprint: String::new(),
            seed: 0,
            trained_steps: 0,
        }
    }

    /// The blur that did best on validation photos for the loss `nll`: 100 km at L = 31, 67 km at L = 47. Without it a
    /// network of this size learns the training photos' exact places by heart.
    pub fn usual_low_pass_km(degree: usize) -> f64 {
        3200.0 / (degree as f64 + 1.0)
    }

    /// Whether the choices fit together. Fails with the first setting that does not fit and what would.
    pub fn check(&self) -> Result<()> {
        if self.version != MODEL_VERSION {
            let remedy = format!("this program reads version {MODEL_VERSION}; use the program that wrote it");
            return Err(setting("version", self.version, remedy));
        }
        self.degree()?;
        for (what, value, most) in [
            ("embedding_dim", self.embedding_dim, MOST_EMBEDDING_NUMBERS),
            ("diffusion_steps", self.diffusion_steps, MOST_DIFFUSION_STEPS),
        ] {
            ensure!((1..=most).contains(&value), setting(what, value, format!("1 to {most}")));
        }
        self.schedule()?;
        self.check_kept()?;
        if self.prediction != PredictionKind::X0 && !self.loss.is_pointwise() {
            let remedy = "noise and v need the loss l1 or l2; other losses need x0";
            return Err(setting("prediction", format!("{:?}", self.prediction), remedy));
        }
        if self.loss.has_quadrature() && self.quadrature == QuadratureRecipe::None {
            return Err(setting("quadrature", "none", "nll and kl integrate over a quadrature"));
        }
        let most = MOST_QUADRATURE_NUMBERS / self.code_dim();
        if let QuadratureRecipe::Fibonacci { points } | QuadratureRecipe::Pool { points } = self.quadrature
            && !(1..=most).contains(&points)
        {
            return Err(setting("quadrature points", points, format!("1 to {most} at this degree")));
        }
        if let Some(km) = self.low_pass_km.filter(|km| !(*km >= 0.0 && *km < 20_000.0)) {
            return Err(setting("low_pass_km", km, "0 to 20000"));
        }
        if self.network == NetworkKind::Bayes && self.loss != LossKind::Nll {
            return Err(setting("network", "bayes", "it gives log densities, which the loss nll teaches"));
        }
        self.cs_unet().register(&mut locdiff_nn::ParamsBuilder::new())?;
        Ok(())
    }

    /// The degree, checked. Fails on a degree of 0 or above the largest.
    pub fn degree(&self) -> Result<Degree> {
        Ok(Degree::new(self.degree)?)
    }

    /// Numbers that the network works on: (L+1)², or those that are kept.
    pub fn code_dim(&self) -> usize {
        self.kept.as_ref().map_or(self.whole_dim(), Vec::len)
    }

    /// Numbers in a code, (L+1)².
    pub fn whole_dim(&self) -> usize {
        (self.degree + 1) * (self.degree + 1)
    }

    pub(crate) fn cs_unet(&self) -> CsUnetConfig {
        let Self { time_dim, hidden, width, depth, layout, dropout, w0, width_multiple, .. } = *self;
        let base = CsUnetConfig::new(self.code_dim(), self.embedding_dim);
        CsUnetConfig { time_dim, hidden, width, depth, layout, dropout, w0, width_multiple, ..base }
    }

    /// The noise schedule. Fails on a length it does not take.
    pub fn schedule(&self) -> Result<Schedule> {
        match self.schedule {
            ScheduleKind::Cosine => Schedule::cosine(self.diffusion_steps),
            ScheduleKind::Linear => Schedule::linear(self.diffusion_steps),
        }
    }

    /// The factor of the low-pass filter for each degree l = 0 … L: `exp(−l(l+1)σ²/2)`, all ones without a filter.
    pub fn low_pass(&self) -> Vec<f64> {
        let sigma = self.low_pass_km.unwrap_or(0.0) / EARTH_RADIUS_KM;
        (0..=self.degree).map(|l| (-0.5 * sigma * sigma * (l * (l + 1)) as f64).exp()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_do_not_fit_are_named() {
        let (base, large) = (ModelConfig::new(7, 4), ModelConfig::new(511, 4));
        for (config, what) in [
            (ModelConfig { version: 9, ..base.clone() }, "version"),
            (ModelConfig { prediction: PredictionKind::V, ..base.clone() }, "prediction"),
            (ModelConfig { quadrature: QuadratureRecipe::None, ..base.clone() }, "quadrature"),
            (ModelConfig { low_pass_km: Some(-1.0), ..base.clone() }, "low_pass_km"),
            (ModelConfig { width: 0, ..base.clone() }, "width"),
            (ModelConfig { diffusion_steps: 0, ..base.clone() }, "steps"),
            (ModelConfig { diffusion_steps: usize::MAX, ..base.clone() }, "diffusion_steps"),
            (ModelConfig { embedding_dim: usize::MAX, ..base.clone() }, "embedding_dim"),
            (ModelConfig { time_dim: 1 << 40, ..base.clone() }, "time_dim"),
            (ModelConfig { quadrature: QuadratureRecipe::Pool { points: usize::MAX }, ..base.clone() }, "quadrature"),
            (ModelConfig { quadrature: QuadratureRecipe::Fibonacci { points: 0 }, ..base.clone() }, "quadrature"),
            (large.clone(), "quadrature"),
            (ModelConfig { loss: LossKind::Cosine, quadrature: QuadratureRecipe::None, ..large }, "network"),
        ] {
            let message = config.check().unwrap_err().to_string();
            assert!(message.contains(what), "{message}");
        }
        let filter = ModelConfig { low_pass_km: Some(100.0), ..base }.low_pass();
        assert!(filter[0] == 1.0 && filter.windows(2).all(|pair| pair[0] > pair[1]));
    }
}
