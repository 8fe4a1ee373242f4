//! `locdiff reproduce losses|encoders|widths|degrees`: tables of the paper that train models, on embeddings at hand.

use crate::commands::{
    experiment::{EffortArgs, SplitArgs, Splits},
    reproduce::drifts_km,
    table::{Table, percent},
    trial::Trial,
};
use crate::progress;
use anyhow::{Context, Result};
use clap::Args;
use locdiff_baselines::{Baseline, Effort, EncoderAblation, EncoderKind, LocDiff};
use locdiff_eval::Bootstrap;
use locdiff_model::{LossKind, QuadratureRecipe};
use locdiff_nn::Device;
use locdiff_shdd::{Codec, Decoder};
use locdiff_sphere::Degree;
use locdiff_train::RunConfig;
use serde_json::{Value, json};

/// Radii of the paper's tables; within 1 km neither finds anything worth telling here.
const RADII_KM: [f64; 4] = [25.0, 200.0, 750.0, 2500.0];
/// What differs from the paper in every table.
const DIFFERENCE: &str = "The paper: CLIP ViT-L/14 embeddings of 4.7 million MP16 photos, 750,000 steps, tested on Im2GPS3k. Ours: the \
embeddings given, far fewer photos and steps, tested on the test photos given. Compare rows with rows, not columns with columns.";
/// Points of the drift column.
const DRIFT_POINTS: usize = 1000;

#[derive(Debug, Args)]
pub(crate) struct ModelTable {
    #[command(flatten)]
    data: SplitArgs,
    #[command(flatten)]
    effort: EffortArgs,
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

/// Which table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Losses,
    Encoders,
    Widths,
    Degrees,
}

/// A row: its name, the paper's shares within 25, 200, 750 and 2500 km, and the method with a seed.
struct Row {
    name: String,
    paper: Option<[f64; 4]>,
    paper_drift_km: Option<f64>,
    make: Make,
}

enum Make {
    LocDiff(Box<RunConfig>),
    Encoder(EncoderKind),
}

fn locdiff_row(name: &str, paper: Option<[f64; 4]>, run: RunConfig) -> Row {
    Row { name: name.to_owned(), paper, paper_drift_km: None, make: Make::LocDiff(Box::new(run)) }
}

/// LocDiff with a loss; the blur belongs to the log-likelihood alone, with which it was measured.
fn with_loss(effort: &Effort, loss: LossKind) -> RunConfig {
    let mut run = LocDiff::run_config(effort, 0);
    run.model.loss = loss;
    if !loss.has_quadrature() {
        run.model.quadrature = QuadratureRecipe::None;
    }
    if loss != LossKind::Nll {
        run.model.low_pass_km = None;
    }
    run
}

impl Kind {
    fn title(self) -> &'static str {
        match self {
            Self::Losses => "Training losses",
            Self::Encoders => "Location encoders and decoders",
            Self::Widths => "Bottleneck widths",
            Self::Degrees => "Degrees L",
        }
    }

    fn differs(self, effort: &Effort) -> String {
        let own = match self {
            Self::Losses => format!(
                "L = {} here, 47 there. `kl-paper` is the paper's loss over 2,048 random anchors, `kl` the same with exact \
                 quadrature; `nll` is our default, with blurred targets. All have our code scale and learning rate; \
                 `locdiff train --preset paper` has the paper's.",
                effort.locdiff_degree
            ),
            Self::Encoders => "Position encoders without the learned networks behind them (they are trained for tasks); decoder: \
                               six layers, trained on fresh even points; diffusion by mean squared error. The paper does not say \
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
                    Row {
                        name: kind.paper_name().to_owned(),
                        paper,
                        paper_drift_km,
                        make: Make::Encoder(kind),
                    }
                };
                let mut rows: Vec<Row> = EncoderKind::ALL.map(encoder).into();
                let run = LocDiff::run_config(effort, 0);
                let ours = locdiff_row("SHDD + SHDD (LocDiff)", Some([34.0, 53.3, 72.5, 85.2]), run);
                rows.push(Row { paper_drift_km: Some(5.3), ..ours });
                rows
            }
            Self::Widths => [(32, [27.2, 50.9, 71.2, 84.1]), (128, [27.0, 50.2, 70.8, 84.3])]
                .map(|(width, paper)| {
                    let mut run = LocDiff::run_config(effort, 0);
                    run.model = run.model.with_degree(31);
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
                run.model = run.model.with_degree(degree);
                locdiff_row(&format!("L = {degree}"), paper, run)
            })
            .into(),
        }
    }
}

/// A row with its results.
struct Done {
    row: Row,
    trial: Trial,
    drift_km: Option<f64>,
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn run_row(
    row: &Row,
    trial: &mut Trial,
    (device, effort, splits): (&Device, Effort, &Splits),
    seed: u64,
    progress: &mut dyn FnMut(f64),
) -> Result<Option<f64>> {
    match &row.make {
        Make::Encoder(kind) => {
            let mut method = EncoderAblation::new(device, effort, seed, *kind);
            trial.run(&mut method, splits, seed, None, progress)?;
            Ok(Some(mean(&method.drifts_km(0.01, DRIFT_POINTS, seed)?)))
        }
        Make::LocDiff(run) => {
            let mut run = (**run).clone();
            run.model.seed = seed;
            let degree = run.model.degree;
            let mut method = LocDiff::with_run(device, &effort, run);
            trial.run(&mut method as &mut dyn Baseline, splits, seed, None, progress)?;
            if row.paper_drift_km.is_none() {
                return Ok(None);
            }
            let codec = Codec::new(Degree::new(degree)?);
            let exact = Decoder::Exact { window_rad: None };
            Ok(Some(mean(&drifts_km(&codec, &exact, 0.01, DRIFT_POINTS, seed, |_| ())?)))
        }
    }
}

impl ModelTable {
    pub(crate) fn run(self, kind: Kind) -> Result<()> {
        let splits = self.data.read()?;
        let (device, effort, seeds) = (self.effort.device()?, self.effort.effort(), self.effort.seeds());
        let rows = kind.rows(&effort);
        let total = (rows.len() * seeds.len()) as u64 * 1000;
        let bar = progress::bar("reproducing", Some(total));
        bar.set_style(indicatif::ProgressStyle::with_template("{prefix} {wide_bar} {percent} % {msg}")?);
        let mut all = Vec::new();
        for (r, row) in rows.into_iter().enumerate() {
            let mut trial = Trial::new(&row.name, &row.name);
            let mut drifts = Vec::new();
            for (s, seed) in seeds.iter().enumerate() {
                bar.set_message(format!("{}, seed {seed}", row.name));
                let start = ((r * seeds.len() + s) * 1000) as f64;
                let mut tell = |share: f64| bar.set_position((start + 1000.0 * share) as u64);
                let drift = run_row(&row, &mut trial, (&device, effort, &splits), *seed, &mut tell)
                    .with_context(|| format!("{}, seed {seed}", row.name))?;
                drifts.extend(drift);
            }
            let drift_km = (!drifts.is_empty()).then(|| mean(&drifts));
            all.push(Done { row, trial, drift_km });
        }
        bar.finish_and_clear();
        let title = format!(
            "{}: {} training and {} test photos, preset {}, {} steps, seeds {seeds:?}, {device}",
            kind.title(),
            splits.training.len(),
            splits.test.len(),
            self.effort.preset_name(),
            effort.steps
        );
        let photos: Vec<usize> = (0..splits.test.len()).collect();
        if self.json {
            println!("{}", to_json(&title, &kind.differs(&effort), &all, &photos));
            return Ok(());
        }
        let table = to_table(&all, &photos);
        let table = if self.markdown { table.markdown() } else { table.text() };
        println!("{title}.\n{}\n\n{table}", kind.differs(&effort));
        Ok(())
    }
}

fn to_table(all: &[Done], photos: &[usize]) -> Table {
    let with_drift = all.iter().any(|done| done.drift_km.is_some());
    let mut header = vec!["", "paper 25/200/750/2500 km", "25 km", "200 km", "750 km", "2500 km"];
    if with_drift {
        header.extend(["paper drift km", "drift km"]);
    }
    let mut table = Table::new(&header);
    for Done { row, trial, drift_km } in all {
        let paper =
            row.paper.map_or("–".to_owned(), |shares| shares.map(|share| share.to_string()).join(" / "));
        let mut cells = vec![row.name.clone(), paper];
        cells.extend(RADII_KM.map(|radius| percent(trial.share(radius, photos, &Bootstrap::default()))));
        if with_drift {
            let show = |km: Option<f64>| km.map_or("–".to_owned(), |km| format!("{km:.1}"));
            cells.extend([show(row.paper_drift_km), show(*drift_km)]);
        }
        table.push(cells);
    }
    table
}

fn to_json(title: &str, differs: &str, all: &[Done], photos: &[usize]) -> Value {
    let rows: Vec<Value> = all
        .iter()
        .map(|Done { row, trial, drift_km }| {
            json!({
                "name": row.name, "paper_within_percent": row.paper, "paper_drift_km": row.paper_drift_km,
                "drift_km": drift_km, "ours": trial.to_json(photos, &Bootstrap::default()),
            })
        })
        .collect();
    json!({"title": title, "differs": differs, "rows": rows})
}
