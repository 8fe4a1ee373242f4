//! The tables of losses, location encoders, bottleneck widths and degrees.

use crate::paper::{Experiment, beside, drift::anywhere, drift::drifts_km, mean, paper_cell, share_cells};
use crate::{Effort, EncoderKind, Fit, Method, Result, Table, Trial, locdiff::LocDiff, locdiff::with_degree};
use anyhow::Context;
use locdiff_base::Named;
use locdiff_model::{CodeScale, LossKind, QuadratureRecipe, eval::Bootstrap, train::RunConfig};
use locdiff_shdd::{Codec, Decoder, sphere::Degree};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

/// What differs from the paper in every table.
const DIFFERENCE: &str = "The paper: CLIP ViT-L/14 embeddings of 4.7 million MP16 photos, 750,000 steps, tested on Im2GPS3k. Ours: the \
embeddings given, far fewer photos and steps, tested on the test photos given. Compare rows with rows, not columns with columns.";
/// Points of the drift column, and the variance of their noise.
const DRIFT_POINTS: usize = 1000;
const DRIFT_VARIANCE: f64 = 0.01;

/// Which table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelTableKind {
    Losses,
    /// Location encoders and decoders, with their drift.
    Encoders,
    Widths,
    Degrees,
}

/// A row: its name, the paper's shares within 25, 200, 750 and 2500 km, and the method with a seed.
#[derive(Debug, Clone)]
struct Row {
    name: String,
    paper: Option<[f64; 4]>,
    paper_drift_km: Option<f64>,
    make: Make,
}

#[derive(Debug, Clone)]
enum Make {
    LocDiff(Box<RunConfig>),
    /// The same read by samples, also where it gives densities.
    Sampled(Box<RunConfig>),
    Method(Method),
}

fn locdiff_row(name: &str, paper: Option<[f64; 4]>, run: RunConfig) -> Row {
    Row { name: name.to_owned(), paper, paper_drift_km: None, make: Make::LocDiff(Box::new(run)) }
}

/// A method that the paper's table does not have.
fn method_row(method: Method) -> Row {
    Row { name: method.description().to_owned(), paper: None, paper_drift_km: None, make: Make::Method(method) }
}

/// LocDiff with a loss; the blur is the same for all, the paper's loss has the paper's scale.
fn with_loss(effort: &Effort, loss: LossKind) -> RunConfig {
    let mut run = LocDiff::cs_unet_config(effort, 0);
    run.model.loss = loss;
    if !loss.has_quadrature() {
        run.model.quadrature = QuadratureRecipe::None;
    }
    if loss == LossKind::KlPaper {
        run.model.code_scale = CodeScale::Paper;
    }
    run
}

impl ModelTableKind {
    fn title(self) -> &'static str {
        match self {
            Self::Losses => "Training losses, network cs-unet",
            Self::Encoders => "Location encoders, losses and readings, network cs-unet",
            Self::Widths => "Bottleneck widths, network cs-unet, nll, a single evaluation",
            Self::Degrees => "Degrees L, network bayes, nll, a single evaluation",
        }
    }

    fn differs(self, effort: &Effort) -> String {
        let own = match self {
            Self::Losses => format!(
                "L = {} here, 47 there. `kl-paper` is the paper's loss over 2,048 random anchors, `kl` the same with exact \
                 quadrature; `nll` is our default. All have targets blurred alike ({:.0} km) and our learning rate; `kl-paper` has \
                 the paper's code scale, the others ours; the preset `paper` of `locdiff train` has all of the paper's. `kl` and `nll` are \
                 read by a single evaluation, the others, which give no density, by the pooled code of samples.",
                effort.locdiff_degree,
                LocDiff::run_config(effort, 0).model.low_pass_km.unwrap_or(0.0)
            ),
            Self::Encoders => "Position encoders without the learned networks behind them (they are trained for tasks); decoder: \
                               six layers, trained on fresh even points; diffusion by mean squared error, read by samples. SHDD stands here with that loss and reading, then with \
                               nll read by samples, then by a single evaluation: one cause a row. The rows of vMF are the density loss on \
                               xyz (an MLP of the same width, no diffusion). The paper does not say \
                               which Sphere2Vec it means; its figure stands beside sphereC+. Drift: noise of variance 0.01 on every \
                               number of the encoding; SHDD at the L of its row in both columns."
                .to_owned(),
            Self::Widths => "The narrowest width of the funnel; the paper's L = 31.".to_owned(),
            Self::Degrees => "The paper plots this without numbers; its figures here come from its other tables (L = 23: grid of one \
                              million anchors; 31: w = 128; 47: main table)."
                .to_owned(),
        };
        format!("{own} {DIFFERENCE}")
    }

    fn rows(self, effort: &Effort) -> Vec<Row> {
        match self {
            Self::Losses => vec![
                locdiff_row("l1", Some([0.5, 20.3, 30.6, 43.5]), with_loss(effort, LossKind::L1)),
                locdiff_row("l2", Some([0.7, 20.1, 32.7, 44.9]), with_loss(effort, LossKind::L2)),
                locdiff_row("cosine", Some([32.2, 53.0, 71.5, 84.9]), with_loss(effort, LossKind::Cosine)),
                locdiff_row("kl-paper", Some([34.0, 53.3, 72.5, 85.2]), with_loss(effort, LossKind::KlPaper)),
                locdiff_row("kl", None, with_loss(effort, LossKind::Kl)),
                locdiff_row("nll", None, with_loss(effort, LossKind::Nll)),
            ],
            Self::Encoders => {
                let encoder = |kind: EncoderKind| {
                    let (paper, paper_drift_km) = match kind {
                        EncoderKind::Rbf => (Some([0.0, 18.2, 44.1, 60.2]), Some(102.4)),
                        EncoderKind::SphereCPlus => (Some([0.0, 22.1, 58.4, 72.3]), Some(89.1)),
                        _ => (None, None),
                    };
                    let name = kind.paper_name().to_owned();
                    Row {
                        name: format!("{name}, mse, samples"),
                        paper,
                        paper_drift_km,
                        make: Make::Method(Method::Encoder(kind)),
                    }
                };
                let mut rows: Vec<Row> = EncoderKind::ALL.iter().map(|(kind, ..)| encoder(*kind)).collect();
                let l2 = with_loss(effort, LossKind::L2);
                rows.push(locdiff_row("SHDD, mse, samples", None, l2));
                let run = LocDiff::cs_unet_config(effort, 0);
                let sampled = Make::Sampled(Box::new(run.clone()));
                rows.push(Row { make: sampled, ..locdiff_row("SHDD, nll, samples", None, run.clone()) });
                let ours = locdiff_row("SHDD, nll, a single evaluation", Some([34.0, 53.3, 72.5, 85.2]), run);
                rows.push(Row { paper_drift_km: Some(5.3), ..ours });
                rows.extend([("xyz, nll, vMF", Method::Vmf), ("xyz, nll, vMF mixture", Method::VmfMixture)].map(
                    |(name, method)| Row {
                        name: name.to_owned(),
                        paper: None,
                        paper_drift_km: None,
                        make: Make::Method(method),
                    },
                ));
                rows
            }
            Self::Widths => [(32, [27.2, 50.9, 71.2, 84.1]), (128, [27.0, 50.2, 70.8, 84.3])]
                .map(|(width, paper)| {
                    let mut run = LocDiff::cs_unet_config(effort, 0);
                    run.model = with_degree(run.model, 31);
                    run.model.width = width;
                    locdiff_row(&format!("w = {width}"), Some(paper), run)
                })
                .into(),
            Self::Degrees => [
                (15, None),
                (23, Some([4.37, 43.04, 68.3, 81.66])),
                (31, Some([27.0, 50.2, 70.8, 84.3])),
                (47, Some([34.0, 53.3, 72.5, 85.2])),
            ]
            .map(|(degree, paper)| {
                let mut run = LocDiff::run_config(effort, 0);
                run.model = with_degree(run.model, degree);
                locdiff_row(&format!("L = {degree}"), paper, run)
            })
            .into(),
        }
    }
}

/// A row with its results.
#[derive(Debug, Clone)]
struct Done {
    row: Row,
    trial: Trial,
    drift_km: Option<f64>,
}

fn run_row(
    row: &Row,
    trial: &mut Trial,
    experiment: &Experiment<'_>,
    seed: u64,
    progress: &mut dyn FnMut(f64),
) -> Result<Option<f64>> {
    let Experiment { device, effort, splits, .. } = *experiment;
    match &row.make {
        Make::Method(method) => {
            let fit = method.build(device, effort, seed);
            let method = trial.run(&*fit, splits, seed, None, progress)?;
            Ok(method.drifts_km(DRIFT_VARIANCE, DRIFT_POINTS, seed)?.map(|drifts| mean(&drifts)))
        }
        Make::LocDiff(run) | Make::Sampled(run) => {
            let by_samples = matches!(row.make, Make::Sampled(_));
            let mut run = (**run).clone();
            run.model.seed = seed;
            let degree = run.model.degree;
            let fit: &Fit<'_> = &|data, progress| {
                let fitted = LocDiff::fit(device, &effort, run.clone(), data, progress)?;
                Ok(Box::new(if by_samples { fitted.by_samples() } else { fitted }))
            };
            trial.run(fit, splits, seed, None, progress)?;
            if row.paper_drift_km.is_none() {
                return Ok(None);
            }
            let (codec, exact) = (Codec::new(Degree::new(degree)?), Decoder::Exact { window_rad: None });
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let places = (DRIFT_POINTS, anywhere);
            let drifts = drifts_km((&codec, &exact), places, None, DRIFT_VARIANCE, &mut rng, |_| ())?;
            Ok(Some(mean(&drifts)))
        }
    }
}

/// A table of the paper with our results beside its own.
#[derive(Debug, Clone)]
pub struct ModelTable {
    title: String,
    differs: String,
    rows: Vec<Done>,
    photos: Vec<usize>,
    bootstrap: Bootstrap,
}

impl ModelTable {
    /// Trains every row with every seed; `progress` hears the row's name, the seed and the share of it all that is done.
    pub fn make(kind: ModelTableKind, experiment: &Experiment<'_>, progress: &dyn Fn(&str, u64, f64)) -> Result<Self> {
        let mut rows: Vec<Row> = beside(experiment).into_iter().map(method_row).collect();
        rows.extend(kind.rows(&experiment.effort));
        let total = (rows.len() * experiment.seeds.len()) as f64;
        let mut done = 0.0;
        let mut finished = Vec::new();
        for row in rows {
            let mut trial = Trial::new(&row.name, &row.name);
            let mut drifts = Vec::new();
            for &seed in experiment.seeds {
                let mut tell = |share: f64| progress(&row.name, seed, (done + share) / total);
                tell(0.0);
                let drift = run_row(&row, &mut trial, experiment, seed, &mut tell)
                    .with_context(|| format!("{}, seed {seed}", row.name))?;
                drifts.extend(drift);
                done += 1.0;
            }
            let drift_km = (!drifts.is_empty()).then(|| mean(&drifts));
            finished.push(Done { row, trial, drift_km });
        }
        Ok(Self {
            title: format!("{}: {}, {}", kind.title(), experiment.in_words(), experiment.device),
            differs: kind.differs(&experiment.effort),
            rows: finished,
            photos: experiment.photos(),
            bootstrap: experiment.splits.bootstrap(),
        })
    }

    /// The table with what was done above it, as text or as Markdown.
    pub fn render(&self, markdown: bool) -> String {
        format!("{}.\n{}\n\n{}\n", self.title, self.differs, self.table().render(markdown))
    }

    fn table(&self) -> Table {
        let with_drift = self.rows.iter().any(|done| done.drift_km.is_some());
        let mut header = vec!["", "paper 25/200/750/2500 km", "1 km", "25 km", "200 km", "750 km", "2500 km"];
        if with_drift {
            header.extend(["paper drift km", "drift km"]);
        }
        let mut table = Table::new(&header);
        for Done { row, trial, drift_km } in &self.rows {
            let mut cells = vec![row.name.clone(), paper_cell(row.paper)];
            cells.extend(share_cells(trial, &self.photos, &self.bootstrap));
            if with_drift {
                let show = |km: Option<f64>| km.map_or("–".to_owned(), |km| format!("{km:.1}"));
                cells.extend([show(row.paper_drift_km), show(*drift_km)]);
            }
            table.push(cells);
        }
        table
    }

    pub fn to_json(&self) -> Value {
        let row = |Done { row, trial, drift_km }: &Done| {
            json!({
                "name": row.name, "paper_within_percent": row.paper, "paper_drift_km": row.paper_drift_km,
                "drift_km": drift_km, "ours": trial.to_json(&self.photos, &self.bootstrap),
            })
        };
        let rows: Vec<Value> = self.rows.iter().map(row).collect();
        json!({"title": self.title, "differs": self.differs, "rows": rows})
    }
}
