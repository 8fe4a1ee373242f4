//! Makes a model's probabilities hold: the one way that every interface calibrates.

use crate::{Control, LocateError, Progress, error::Result, locator::open_model};
use locdiff_base::{BadSetting, ensure, setting};
use locdiff_io::data::{RowFile, TableReader};
use locdiff_model::answer::{BACKGROUND_DRAWS, CALIBRATION_FILE, Calibration, Globe, MOST_NEIGHBOURS, Observation};
use locdiff_model::answer::{FitOptions, Surroundings, fit, fit_gallery, fit_surroundings};
use locdiff_model::{Model, Predictor, SampleOptions, report::places_of_rows};
use locdiff_nn::{Device, DeviceSpec};
use locdiff_shdd::sphere::LatLon;
use std::{path::Path, path::PathBuf, sync::Arc};

/// Request to calibrate a model's probabilities.
///
/// ```no_run
/// use locdiff::{CalibrateRequest, Control, EmbeddingRows};
/// let photos = EmbeddingRows::new("photos.safetensors", None, "photos.csv");
/// let fitted = CalibrateRequest::new("my-model", photos).run(Control::new())?;
/// println!("{:.0} km", fitted.window_km);
/// # Ok::<(), locdiff::LocateError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct CalibrateRequest {
    /// Folder of the model, which gets the calibration.
    pub model: PathBuf,
    /// Embeddings of photos that the model was not trained on.
    pub embeddings: EmbeddingRows,
    /// Column of the truths with each photo's collection; all collections count the same.
    pub groups: Option<String>,
    /// Collection that exponents and window are fitted on; radii are fitted on all. `None` is all.
    pub chosen_by: Option<String>,
    /// File with the rows to use, one number per line, from 0. `None` is all.
    pub rows: Option<PathBuf>,
    /// Photos of another kind than the model was trained for.
    pub out_of_domain: Option<EmbeddingRows>,
    /// Number of first rows of `out_of_domain` to use. `None` is all.
    pub out_of_domain_first: Option<usize>,
    /// Training photos to fit map factors on. `None` takes the heads that training left in the model's folder.
    pub surroundings: Option<EmbeddingRows>,
    /// Whether to leave out map factors.
    pub without_factors: bool,
    /// Gallery whose weight is fitted too.
    pub gallery: Option<PathBuf>,
    /// GeoCLIP's folder, if GeoCLIP made the gallery's vectors.
    pub geoclip: Option<PathBuf>,
    /// Number of noise draws to average over.
    pub samples: usize,
    /// Seed of the noise.
    pub seed: u64,
    /// Device of the model.
    pub device: DeviceSpec,
    /// Folder to write model and calibration into instead, with weights as f16.
    pub export: Option<PathBuf>,
}

/// Embeddings in a file with their true locations, row by row, for [`CalibrateRequest`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct EmbeddingRows {
    /// File of embeddings.
    pub embeddings: PathBuf,
    /// Tensor, if the file holds several.
    pub tensor: Option<String>,
    /// File of true locations.
    pub truth: PathBuf,
}

type Opened = (RowFile, Vec<LatLon>, Option<Vec<usize>>);

impl EmbeddingRows {
    /// Names a file of embeddings, its tensor if it holds several, and a file of true locations.
    pub fn new(embeddings: impl Into<PathBuf>, tensor: Option<String>, truth: impl Into<PathBuf>) -> Self {
        Self { embeddings: embeddings.into(), tensor, truth: truth.into() }
    }

    /// Opens both files: the embeddings, their places, and the rows of the truths that these stand in, if they were found by name.
    /// Fails on files that cannot be read, or that do not belong together.
    fn open(&self) -> Result<Opened> {
        let file = RowFile::open(&self.embeddings, self.tensor.as_deref())?;
        let (truth, order) = places_of_rows::<LocateError>(&self.embeddings, file.rows(), &self.truth)?;
        if truth.len() != file.rows() {
            let (count, rows, name) = (truth.len(), file.rows(), file.name());
            let remedy = format!("{name} has {rows}: row k of both must be the same photo");
            return Err(setting("truth", format!("{count} rows of {}", self.truth.display()), remedy));
        }
        Ok((file, truth, order))
    }
}

impl CalibrateRequest {
    /// Requests a calibration of a model by embeddings, with the default settings.
    pub fn new(model: impl Into<PathBuf>, embeddings: EmbeddingRows) -> Self {
        let SampleOptions { samples, seed, .. } = SampleOptions::default();
        Self { model: model.into(), embeddings, samples, seed, ..Self::default() }
    }

    /// Returns the file that the calibration is written to.
    pub fn file(&self) -> PathBuf {
        self.export.clone().unwrap_or_else(|| crate::home::by_name(&self.model)).join(CALIBRATION_FILE)
    }

    /// Fits a calibration and writes it; a stopped run leaves the old one. Fails if files cannot be used or do not belong together, there are too
    /// few rows, the device fails, or the run is stopped.
    pub fn run(&self, control: Control<'_>) -> Result<Calibration> {
        let (file, truth, order) = self.embeddings.open()?;
        let (groups, names) = groups(self, file.rows(), order.as_deref())?;
        let number = |name: &String| {
            let remedy = || format!("a collection: {}", names.join(", "));
            names.iter().position(|other| other == name).ok_or_else(|| BadSetting::new("chosen by", name, remedy()))
        };
        let chosen_by = self.chosen_by.as_ref().map(number).transpose()?;
        let rows = chosen_rows(self.rows.as_deref(), file.rows())?;
        let device = Device::open(self.device)?;
        if let Some(folder) = crate::geoclip_model::geoclip_folder(&self.model) {
            return calibrate_geoclip(self, &folder, (&file, &rows, &truth, &groups), (&device, control));
        }
        let (mut model, _) = open_model(&self.model, &device)?;
        model.config().check_rows(&file)?;
        let out_of_domain = self.out_of_domain.as_ref().map(EmbeddingRows::open).transpose()?;
        if let Some((file, ..)) = &out_of_domain {
            model.config().check_rows(file)?;
        }
        if let Some(folder) = &self.export {
            // What is fitted is what is given away: the weights as they are once rounded.
            model.save_half(folder)?;
            model = Model::load(&device, folder)?;
        }
        let observer = Observer { predictor: Predictor::new(&model)?, request: self, control };
        let globe = Arc::new(Globe::new(model.config().degree)?);
        let background = observer.predictor.background(BACKGROUND_DRAWS)?;
        let seen = observer.observe(&file, &rows, &truth, &groups)?;
        let other = match &out_of_domain {
            Some((file, truth, _)) => {
                let rows: Vec<usize> = (0..file.rows().min(self.out_of_domain_first.unwrap_or(usize::MAX))).collect();
                observer.observe(file, &rows, truth, &vec![0; file.rows()])?
            }
            None => Vec::new(),
        };
        let heads = self.heads()?.map(Arc::new);
        let how = FitOptions { heads, chosen_by, samples: self.samples, seed: self.seed };
        let calibration = fit(&globe, &background, &seen, &other, how)?;
        let mut calibration = with_gallery(self, calibration, &globe, &model, (seen, other))?;
        calibration.encoder = model.config().encoder.clone().or_else(|| file.encoder().cloned());
        let folder = crate::home::by_name(&self.model);
        save(calibration, self.export.as_ref().unwrap_or(&folder), control)
    }

    /// Returns the heads for map factors: fitted ones, the folder's, or none.
    fn heads(&self) -> Result<Option<Surroundings>> {
        if self.surroundings.is_some() && self.without_factors {
            return Err(setting("surroundings", "without factors", "leave out one of the two"));
        }
        let Some(photos) = &self.surroundings else {
            let left = Surroundings::load(&crate::home::by_name(&self.model))?;
            return Ok(left.filter(|_| !self.without_factors));
        };
        let (file, truth, _) = photos.open()?;
        let rows = (0..file.rows()).map(|row| Ok(file.embedding(row)?.values().to_vec()));
        Ok(Some(fit_surroundings(&rows.collect::<Result<Vec<_>>>()?, &truth)?))
    }
}

/// The same for GeoCLIP, whose network is none.
fn calibrate_geoclip(
    request: &CalibrateRequest,
    folder: &Path,
    (file, rows, truth, groups): (&RowFile, &[usize], &[LatLon], &[usize]),
    (device, control): (&Device, Control<'_>),
) -> Result<Calibration> {
    if request.out_of_domain.is_some() || request.export.is_some() || request.surroundings.is_some() {
        let remedy = "GeoCLIP cannot have out-of-domain photos, map factors or an export folder here: leave these out";
        return Err(setting("model", request.model.display(), remedy));
    }
    let mut read = Vec::with_capacity(rows.len());
    for row in rows {
        read.push((file.embedding(*row)?.values().to_vec(), truth[*row], groups[*row]));
        control.advance(Progress::Read);
    }
    let (model, globe, fitted, seen) = crate::geoclip_model::calibrate_geoclip(folder, &read, device)?;
    let mut calibration = with_gallery(request, fitted, &globe, &model, (seen, Vec::new()))?;
    calibration.encoder = file.encoder().cloned();
    save(calibration, folder, control)
}

fn save(calibration: Calibration, folder: &Path, control: Control<'_>) -> Result<Calibration> {
    ensure!(!control.is_stopped(), LocateError::stopped());
    calibration.save(folder)?;
    Ok(calibration)
}

struct Observer<'a> {
    predictor: Predictor<&'a Model>,
    request: &'a CalibrateRequest,
    control: Control<'a>,
}

impl Observer<'_> {
    fn observe(&self, file: &RowFile, rows: &[usize], truth: &[LatLon], groups: &[usize]) -> Result<Vec<Observation>> {
        let CalibrateRequest { samples, seed, .. } = *self.request;
        let options = SampleOptions { samples, seed, ..SampleOptions::default() };
        let mut seen = Vec::with_capacity(rows.len());
        self.predictor.coefficients_of_rows(file, rows, &options, |row, embedding, evidence| {
            let embedding = embedding.values().to_vec();
            let (truth, group) = (truth[row], groups[row]);
            seen.push(Observation { evidence, truth, embedding, group, neighbours: Vec::new(), places: None });
            self.control.advance(Progress::Read);
            if self.control.is_stopped() { Err(LocateError::stopped()) } else { Ok(()) }
        })?;
        Ok(seen)
    }
}

fn with_gallery(
    request: &CalibrateRequest,
    calibration: Calibration,
    globe: &Arc<Globe>,
    model: &Model,
    (mut seen, mut other): (Vec<Observation>, Vec<Observation>),
) -> Result<Calibration> {
    let Some(gallery) = &request.gallery else { return Ok(calibration) };
    let (device, config) = (model.params().device(), model.config());
    let retriever = crate::hybrid::open_retriever(gallery, request.geoclip.as_deref(), device, |_| ())?;
    retriever.check_embeddings("the model", config.embedding_dim, config.encoder.as_ref())?;
    for photos in [&mut seen, &mut other] {
        let embeddings: Vec<Vec<f32>> = photos.iter().map(|seen| seen.embedding.clone()).collect();
        let found = retriever.retrieve_many(&embeddings, MOST_NEIGHBOURS)?;
        for (seen, hits) in photos.iter_mut().zip(found) {
            seen.neighbours = crate::retrieval::neighbours(&hits);
        }
    }
    let (key, temperature) = (retriever.identity(), retriever.temperature());
    Ok(fit_gallery(globe, &calibration, &seen, &other, &key, temperature)?)
}

/// The number of each row's collection, and the names of all.
fn groups(request: &CalibrateRequest, count: usize, order: Option<&[usize]>) -> Result<(Vec<usize>, Vec<String>)> {
    let Some(column) = &request.groups else { return Ok((vec![0; count], Vec::new())) };
    let mut table = TableReader::open(&request.embeddings.truth)?;
    let at = table.column(&[column])?;
    let (mut names, mut groups): (Vec<String>, Vec<usize>) = (Vec::new(), Vec::new());
    while let Some((_, mut fields)) = table.next_row()? {
        let name = fields.swap_remove(at);
        groups.push(names.iter().position(|other| *other == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        }));
    }
    let groups = if let Some(order) = order { order.iter().map(|row| groups[*row]).collect() } else { groups };
    Ok((groups, names))
}

fn chosen_rows(list: Option<&Path>, count: usize) -> Result<Vec<usize>> {
    let Some(path) = list else { return Ok((0..count).collect()) };
    let file = path.display();
    let text = locdiff_base::read_text_bounded(path, 1 << 30).map_err(|error| LocateError::table(&file, error))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let row = |(number, line): (usize, &str)| {
        let row = line.trim().parse::<usize>().ok().filter(|row| *row < count);
        let reason = || format!("'{}' is not a row; rows are 0 to {}", line.trim(), count - 1);
        row.ok_or_else(|| LocateError::table(format!("{file}, line {}", number + 1), reason()))
    };
    lines.map(row).collect()
}
