//! `locdiff reproduce anchors`: the paper's generalizability table, gallery against even grids.

use crate::commands::{
    experiment::{EffortArgs, SplitArgs},
    table::{Table, percent},
    trial::Trial,
};
use crate::progress;
use anyhow::{Context, Result};
use clap::Args;
use locdiff_baselines::{Baseline, Contrastive, FitData, LocDiff, RetrievalGallery};
use locdiff_eval::Bootstrap;
use locdiff_shdd::{Anchors, Decoder};
use locdiff_sphere::{Grid, LatLon, UnitVec};
use serde_json::{Value, json};

const RADII_KM: [f64; 4] = [25.0, 200.0, 750.0, 2500.0];

#[derive(Debug, Args)]
pub(crate) struct AnchorTable {
    #[command(flatten)]
    data: SplitArgs,
    #[command(flatten)]
    effort: EffortArgs,
    /// Sizes of the even grids [the paper: 21000,100000,500000,1000000]
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "21000,100000")]
    sizes: Vec<usize>,
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

/// Where answers are looked for.
enum Among {
    Gallery(Vec<UnitVec>),
    Grid(usize),
    /// LocDiff's own decoder, without anchors.
    Everywhere,
}

impl Among {
    fn name(&self) -> String {
        match self {
            Self::Gallery(places) => format!("training places ({})", places.len()),
            Self::Grid(size) => format!("grid {size}"),
            Self::Everywhere => "exact maximum, no anchors".to_owned(),
        }
    }

    /// The paper's shares within 25, 200, 750 and 2500 km: of GeoCLIP, of LocDiff at L = 23.
    fn paper(&self) -> Option<[[f64; 4]; 2]> {
        match self {
            Self::Gallery(_) => Some([[34.47, 50.65, 69.67, 83.82], [11.1, 44.42, 68.35, 82.5]]),
            Self::Grid(1_000_000) => Some([[9.18, 33.47, 55.32, 75.34], [4.37, 43.04, 68.3, 81.66]]),
            Self::Grid(500_000) => Some([[7.17, 29.4, 52.29, 73.11], [4.47, 43.18, 68.36, 81.65]]),
            Self::Grid(100_000) => Some([[2.67, 22.39, 47.35, 68.77], [4.04, 42.91, 68.34, 82.18]]),
            Self::Grid(21_000) => Some([[0.87, 19.55, 43.78, 64.33], [4.9, 43.44, 68.29, 81.68]]),
            _ => None,
        }
    }

    fn grid(&self) -> Result<Option<Grid>> {
        Ok(match self {
            Self::Gallery(places) => Some(Grid::from_points(places.clone())?),
            Self::Grid(size) => Some(Grid::fibonacci(*size)?),
            Self::Everywhere => None,
        })
    }
}

struct Row {
    name: String,
    paper: Option<[f64; 4]>,
    trial: Trial,
}

impl AnchorTable {
    pub(crate) fn run(self) -> Result<()> {
        let splits = self.data.read()?;
        let (device, effort, seeds) = (self.effort.device()?, self.effort.effort(), self.effort.seeds());
        let mut places = splits.training.points().to_vec();
        places.sort_by(|a, b| a.to_array().partial_cmp(&b.to_array()).unwrap_or(std::cmp::Ordering::Equal));
        places.dedup();
        let mut among = vec![Among::Gallery(places)];
        among.extend(self.sizes.iter().map(|&size| Among::Grid(size)));
        among.push(Among::Everywhere);
        let grids = among.iter().map(Among::grid).collect::<Result<Vec<_>>>().context("--sizes")?;
        let row = |model: &str, among: &Among, k: usize| {
            let name = format!("{model}, {}", among.name());
            let trial = Trial::new(&name, &name);
            Row { name, paper: among.paper().map(|both| both[k]), trial }
        };
        let mut retrieval: Vec<Row> = among.iter().map(|among| row("GeoCLIP-style", among, 0)).collect();
        retrieval.pop(); // it has no answer without a gallery
        let mut ours: Vec<Row> = among.iter().map(|among| row("LocDiff", among, 1)).collect();
        let bar = progress::bar("reproducing", Some(seeds.len() as u64 * 2000));
        bar.set_style(indicatif::ProgressStyle::with_template("{prefix} {wide_bar} {percent} %")?);
        let data = FitData { training: &splits.training, validation: &splits.validation };
        let photos = splits.test.photos();
        for (s, &seed) in seeds.iter().enumerate() {
            let tell =
                |part: f64, share: f64| bar.set_position(s as u64 * 2000 + (1000.0 * (part + share)) as u64);
            let mut method = Contrastive::new(&device, effort, seed, RetrievalGallery::TrainingPlaces);
            method.fit(data, &mut |share| tell(0.0, share))?;
            for (row, grid) in retrieval.iter_mut().zip(&grids) {
                if let Some(grid) = grid {
                    row.trial.record(&method.predict_among(photos, grid.points())?, &splits);
                }
            }
            let mut method = LocDiff::new(&device, &effort, seed);
            method.fit(data, &mut |share| tell(1.0, share))?;
            let codes = method.codes(photos)?;
            for (row, grid) in ours.iter_mut().zip(&grids) {
                let answers: Vec<LatLon> = match grid {
                    None => method.predict(photos)?,
                    Some(grid) => {
                        let decoder = Decoder::Anchors(Anchors::new(grid, 0.0)?);
                        let modes = method.codec()?.decode_batch(&codes, &decoder)?;
                        modes.into_iter().map(|mode| mode.place()).collect()
                    }
                };
                row.trial.record(&answers, &splits);
            }
        }
        bar.finish_and_clear();
        let title = format!(
            "Generalizability: answers from a gallery or from even grids. {} training and {} test photos, preset {}, {} steps, \
             seeds {seeds:?}, L = {}, {device}",
            splits.training.len(),
            splits.test.len(),
            self.effort.preset_name(),
            effort.steps,
            effort.locdiff_degree
        );
        let differs = "The paper: GeoCLIP with its 100,000 MP16 places and LocDiff at L = 23, tested on Im2GPS3k. Ours: a GeoCLIP-style \
                       contrast trained on the photos given, whose gallery are the training places. Compare how much is lost from \
                       gallery to grid.";
        let rows: Vec<Row> = retrieval.into_iter().chain(ours).collect();
        self.print(&title, differs, &rows, splits.test.len());
        Ok(())
    }

    fn print(&self, title: &str, differs: &str, rows: &[Row], n: usize) {
        let (photos, bootstrap) = ((0..n).collect::<Vec<usize>>(), Bootstrap::default());
        if self.json {
            let rows: Vec<Value> = rows
                .iter()
                .map(|row| {
                    let ours: Vec<Value> = RADII_KM
                        .iter()
                        .map(|&r| json!({"radius_km": r, "share": row.trial.share(r, &photos, &bootstrap)}))
                        .collect();
                    json!({"name": row.name, "paper_within_percent": row.paper, "ours": ours})
                })
                .collect();
            println!("{}", json!({"title": title, "differs": differs, "n": n, "rows": rows}));
            return;
        }
        let mut table = Table::new(&["", "paper 25/200/750/2500 km", "25 km", "200 km", "750 km", "2500 km"]);
        for row in rows {
            let paper = row.paper.map_or("–".to_owned(), |p| p.map(|share| share.to_string()).join(" / "));
            let mut cells = vec![row.name.clone(), paper];
            cells.extend(RADII_KM.map(|radius| percent(row.trial.share(radius, &photos, &bootstrap))));
            table.push(cells);
        }
        let table = if self.markdown { table.markdown() } else { table.text() };
        println!("{title}.\n{differs}\n\n{table}");
    }
}
