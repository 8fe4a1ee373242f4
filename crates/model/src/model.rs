//! A model: weights, standardisation, quadrature; and the folder it lives in.

use crate::network::Network;
use crate::{CodeWriter, MODEL_VERSION, ModelConfig, ModelError, QuadraturePoints, QuadratureRecipe, Result};
use locdiff_base::{AtomicFile, BadSetting, ensure, one_line, read_bounded};
use locdiff_nn::{self as nn, Device, Init, Params, ParamsBuilder, losses::QuadratureGrid};
use locdiff_shdd::sphere::UnitVec;
use serde_json::Value;
use std::{path::Path, sync::Arc, sync::OnceLock};

/// The weights' file in a model folder.
pub const WEIGHTS_FILE: &str = "model.safetensors";
/// The settings' file in a model folder.
pub const CONFIG_FILE: &str = "config.json";
/// Larger files are none of a model's.
const LARGEST_CONFIG_BYTES: u64 = 1 << 20;
const LARGEST_WEIGHTS_BYTES: u64 = 1 << 34;

/// Mean and deviation of every column of the training embeddings.
#[derive(Debug, Clone, PartialEq)]
pub struct Standardisation {
    /// The means.
    pub mean: Vec<f32>,
    /// The deviations, all above 0.
    pub deviation: Vec<f32>,
}

impl Standardisation {
    /// Leaves embeddings as they are.
    pub fn identity(dim: usize) -> Self {
        Self { mean: vec![0.0; dim], deviation: vec![1.0; dim] }
    }

    /// Standardises rows in place.
    pub fn apply(&self, rows: &mut [f32]) {
        for row in rows.chunks_exact_mut(self.mean.len()) {
            for ((value, mean), deviation) in row.iter_mut().zip(&self.mean).zip(&self.deviation) {
                *value = (*value - mean) / deviation;
            }
        }
    }
}

/// A trained (or fresh) model on a device.
pub struct Model {
    config: ModelConfig,
    net: Network,
    params: Params,
    standardisation: Standardisation,
    quadrature: Option<QuadraturePoints>,
    /// The quadrature on the model's device, made when a sampler first asks for it.
    grid: OnceLock<Arc<QuadratureGrid>>,
}

/// The extra tensors of a weights' file.
const MEAN: &str = "standardisation.mean";
const DEVIATION: &str = "standardisation.deviation";
const POINTS: &str = "quadrature.points";
const LOG_WEIGHTS: &str = "quadrature.log_weights";

/// Network weights, then what the file holds besides; the weights' places in the buffer are those of a network alone.
fn file_params(config: &ModelConfig) -> Result<Params> {
    let mut builder = ParamsBuilder::new();
    Network::register(config, &mut builder)?;
    builder.add(MEAN, 1, config.embedding_dim, Init::Zero);
    builder.add(DEVIATION, 1, config.embedding_dim, Init::Zero);
    if let (true, QuadratureRecipe::Pool { points }) = (config.loss.has_quadrature(), config.quadrature) {
        builder.add(POINTS, points, 3, Init::Zero);
        builder.add(LOG_WEIGHTS, 1, points, Init::Zero);
    }
    Ok(builder.build_blank(&Device::cpu())?)
}

fn bad_file(path: &Path, reason: impl std::fmt::Display) -> ModelError {
    ModelError::Folder { path: path.to_owned(), reason: reason.to_string() }
}

impl Model {
    /// A model with fresh weights from the configuration's seed. A pool is set by [`Model::set_quadrature`]. Fails on
    /// settings that do not fit together, or too little device memory.
    pub fn new(device: &Device, config: ModelConfig) -> Result<Self> {
        let seed = config.seed;
        Self::with_params(config, |builder| builder.build(device, seed))
    }

    fn with_params(config: ModelConfig, build: impl FnOnce(ParamsBuilder) -> nn::Result<Params>) -> Result<Self> {
        config.check()?;
        let mut builder = ParamsBuilder::new();
        let net = Network::register(&config, &mut builder)?;
        let params = build(builder)?;
        let quadrature = match config.quadrature {
            QuadratureRecipe::Fibonacci { points } if config.loss.has_quadrature() => Some(points),
            _ => None,
        };
        let quadrature = quadrature.map(QuadraturePoints::fibonacci).transpose()?;
        let standardisation = Standardisation::identity(config.embedding_dim);
        Ok(Self { config, net, params, standardisation, quadrature, grid: OnceLock::new() })
    }

    /// The settings.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// The settings, to be changed in what does not shape the network: fingerprint, steps.
    pub(crate) fn config_mut(&mut self) -> &mut ModelConfig {
        &mut self.config
    }

    pub(crate) fn net(&self) -> &Network {
        &self.net
    }

    /// The weights.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The weights, to be changed.
    pub fn params_mut(&mut self) -> &mut Params {
        &mut self.params
    }

    /// How embeddings are standardised.
    pub fn standardisation(&self) -> &Standardisation {
        &self.standardisation
    }

    /// Sets how embeddings are standardised. Fails on another number of columns.
    pub fn set_standardisation(&mut self, standardisation: Standardisation) -> Result<()> {
        let dim = self.config.embedding_dim;
        if standardisation.mean.len() != dim || standardisation.deviation.len() != dim {
            let found = standardisation.mean.len();
            return Err(locdiff_base::setting("standardisation", found, format!("{dim} columns")));
        }
        self.standardisation = standardisation;
        Ok(())
    }

    /// The points over which the loss and the posterior mean integrate.
    pub fn quadrature(&self) -> Option<&QuadraturePoints> {
        self.quadrature.as_ref()
    }

    /// Sets those points.
    pub fn set_quadrature(&mut self, quadrature: Option<QuadraturePoints>) {
        self.quadrature = quadrature;
        self.grid = OnceLock::new();
    }

    /// Those points on the model's device, one for all samplers.
    pub(crate) fn quadrature_grid(&self) -> Result<Arc<QuadratureGrid>> {
        if let Some(grid) = self.grid.get() {
            return Ok(Arc::clone(grid));
        }
        let lacks = || BadSetting::new("quadrature", "none", "the model lacks its quadrature's points");
        let points = self.quadrature.as_ref().ok_or_else(lacks)?;
        let made = Arc::new(points.on_device(self.params.device(), &CodeWriter::new(&self.config)?)?);
        Ok(Arc::clone(self.grid.get_or_init(|| made)))
    }

    /// Writes the folder: settings and weights, each whole or not at all. Fails on a folder that cannot be written.
    pub fn save(&self, folder: &Path) -> Result<()> {
        self.save_as(folder, false)
    }

    /// Writes the folder with weights rounded to f16, for models that are distributed. Fails on a folder that cannot be
    /// written.
    pub fn save_half(&self, folder: &Path) -> Result<()> {
        self.save_as(folder, true)
    }

    fn save_as(&self, folder: &Path, half: bool) -> Result<()> {
        let failed = |error| bad_file(folder, format!("cannot create this folder: {error}"));
        std::fs::create_dir_all(folder).map_err(failed)?;
        let mut file = file_params(&self.config)?;
        let mut values = file.to_vec()?;
        let weights = self.params.to_vec()?;
        values[..weights.len()].copy_from_slice(&weights);
        file.upload(&values)?;
        file.set(MEAN, &self.standardisation.mean)?;
        file.set(DEVIATION, &self.standardisation.deviation)?;
        if file.find(POINTS).is_some() {
            let lacks = || BadSetting::new("quadrature", "pool", "set its points first");
            let quadrature = self.quadrature.as_ref().ok_or_else(lacks)?;
            let points = quadrature.points.iter().flat_map(|p| p.to_array().map(|value| value as f32));
            file.set(POINTS, &points.collect::<Vec<f32>>())?;
            file.set(LOG_WEIGHTS, &quadrature.log_weights)?;
        }
        let metadata = [("format".to_owned(), "locdiff".to_owned())].into();
        let is_half = |name: &str| half && ![MEAN, DEVIATION, POINTS, LOG_WEIGHTS].contains(&name);
        file.save_narrowed(&folder.join(WEIGHTS_FILE), metadata, is_half)?;
        let text = serde_json::to_string_pretty(&self.config).expect("settings are plain data") + "\n";
        Ok(AtomicFile::write_whole(&folder.join(CONFIG_FILE), text.as_bytes())?)
    }

    /// Reads a folder. Fails on missing or damaged files, another version, tensors that are missing or of another shape.
    pub fn load(device: &Device, folder: &Path) -> Result<Self> {
        let (path, weights) = (folder.join(CONFIG_FILE), folder.join(WEIGHTS_FILE));
        let no_model =
            |error| bad_file(&path, format!("{error}; a model is a folder with {CONFIG_FILE} and {WEIGHTS_FILE}"));
        let text = read_bounded(&path, LARGEST_CONFIG_BYTES).map_err(no_model)?;
        let contents = read_bounded(&weights, LARGEST_WEIGHTS_BYTES).map_err(|error| bad_file(&weights, error))?;
        Self::from_bytes(device, (&path, &text), (&weights, &contents))
    }

    /// A model from the contents of its two files, each with the name that errors shall give. Fails as [`Model::load`].
    pub fn from_bytes(device: &Device, config: (&Path, &[u8]), weights: (&Path, &[u8])) -> Result<Self> {
        let bad = |reason: String| bad_file(config.0, one_line(&reason));
        // The version first: the rest of another version's settings may not be readable.
        let value: Value = serde_json::from_slice(config.1).map_err(|error| bad(format!("not JSON: {error}")))?;
        let version = value.get("version").and_then(Value::as_u64);
        if version != Some(u64::from(MODEL_VERSION)) {
            let version = version.map_or("none".to_owned(), |version| version.to_string());
            return Err(bad(format!("version {version}, but this program reads version {MODEL_VERSION}")));
        }
        let config: ModelConfig =
            serde_json::from_value(value).map_err(|error| bad(format!("not a model's settings: {error}")))?;
        config.check().map_err(|error| bad(error.to_string()))?;
        let mut wanted = ParamsBuilder::new();
        Network::register(&config, &mut wanted)?;
        // A number has two bytes or four; with some room for padding, settings that ask for more are not of these weights.
        let (asked, held, file) = (wanted.len, weights.1.len(), weights.0.display());
        ensure!(held >= asked, bad(format!("its settings ask for {asked} numbers, but {file} has {held} bytes")));
        let mut model = Self::with_params(config, |builder| builder.build_blank(device))?;
        let mut file = file_params(&model.config)?;
        file.load_bytes(weights.0, weights.1)?;
        let values = file.to_vec()?;
        model.params.upload(&values[..model.params.len()])?;
        let mut rest = &values[model.params.len()..];
        // The extra tensors follow in the order they were added, each on a multiple of 32 values.
        let mut take = |count: usize| {
            let (head, tail) = rest.split_at(count.next_multiple_of(32).min(rest.len()));
            rest = tail;
            head[..count].to_vec()
        };
        let dim = model.config.embedding_dim;
        model.standardisation = Standardisation { mean: take(dim), deviation: take(dim) };
        if file.find(POINTS).is_some()
            && let QuadratureRecipe::Pool { points } = model.config.quadrature
        {
            let flat = take(3 * points);
            let point = |p: &[f32]| UnitVec::new(f64::from(p[0]), f64::from(p[1]), f64::from(p[2]));
            let points_at = flat.chunks_exact(3).map(point).collect::<Result<_, _>>()?;
            model.quadrature = Some(QuadraturePoints { points: points_at, log_weights: take(points) });
        }
        Ok(model)
    }
}
