//! The generalizability table: answers from a gallery against answers from even grids.

use super::{Experiment, beside, paper_cell, share_cells};
use crate::contrastive::Contrastive;
use crate::locdiff::LocDiff;
use crate::{Baseline, FitData, Result, RetrievalGallery, Table, Trial, baseline::Task, comparison::TABLE_RADII_KM};
use locdiff_model::eval::Bootstrap;
use locdiff_shdd::{Anchors, Decoder, sphere::Grid, sphere::LatLon, sphere::UnitVec};
use serde_json::{Value, json};

const DIFFERENCE: &str = "The paper: GeoCLIP with its 100,000 MP16 places and LocDiff at L = 23, tested on Im2GPS3k. Ours: a GeoCLIP-style \
contrast trained on the photos given, whose gallery are the training places. Compare how much is lost from gallery to grid.";

/// Where answers are looked for.
enum Among {
    Gallery(Vec<UnitVec>),
    Grid(usize),
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

/// One model with its answers among one set of places.
#[derive(Debug, Clone)]
struct Row {
    name: String,
    paper: Option<[f64; 4]>,
    trial: Trial,
}

/// The table with our results beside the paper's.
#[derive(Debug, Clone)]
pub struct AnchorTable {
    title: String,
    rows: Vec<Row>,
    photos: Vec<usize>,
    bootstrap: Bootstrap,
}

impl AnchorTable {
    /// Trains a GeoCLIP-style contrast and LocDiff with every seed and lets both answer among the training places and
    /// among even grids of these sizes; `progress` hears the share done.
    pub fn make(experiment: &Experiment<'_>, sizes: &[usize], progress: &dyn Fn(f64)) -> Result<Self> {
        let Experiment { device, splits, effort, seeds, .. } = *experiment;
        let mut among = vec![Among::Gallery(splits.distinct_training_points())];
        among.extend(sizes.iter().map(|&size| Among::Grid(size)));
        among.push(Among::Everywhere);
        let grids = among.iter().map(Among::grid).collect::<Result<Vec<_>, _>>()?;
        let row = |model: &str, among: &Among, k: usize| {
            let name = format!("{model}, {}", among.name());
            let trial = Trial::new(&name, &name);
            Row { name, paper: among.paper().map(|both| both[k]), trial }
        };
        let mut retrieval: Vec<Row> = among.iter().map(|among| row("GeoCLIP-style", among, 0)).collect();
        retrieval.pop(); // it has no answer without a gallery
        let mut ours: Vec<Row> = among.iter().map(|among| row("LocDiff-Bayes", among, 1)).collect();
        let data = FitData { training: &splits.training, validation: &splits.validation };
        let photos = splits.test.photos();
        for (s, &seed) in seeds.iter().enumerate() {
            let tell = |part: f64, share: f64| {
                progress((s as f64 + 0.5 * (part + share)) / seeds.len() as f64);
            };
            let task = Task { method: "geoclip-gallery", device, effort: &effort, seed, data };
            let method = Contrastive::fit(task, RetrievalGallery::TrainingPlaces, &mut |share| tell(0.0, share))?;
            for (row, grid) in retrieval.iter_mut().zip(&grids) {
                if let Some(grid) = grid {
                    row.trial.record(&method.places.predict_among(photos, grid.points())?, splits);
                }
            }
            let run = LocDiff::run_config(&effort, seed);
            let method = LocDiff::fit(device, &effort, run, data, &mut |share| tell(1.0, share))?;
            let codes = method.codes(photos)?;
            for (row, grid) in ours.iter_mut().zip(&grids) {
                let answers: Vec<LatLon> = match grid {
                    None => method.predict(photos)?,
                    Some(grid) => {
                        let decoder = Decoder::Anchors(Anchors::new(grid, 0.0)?);
                        let modes = method.codec().decode_batch(&codes, &decoder)?;
                        modes.into_iter().map(|mode| mode.place()).collect()
                    }
                };
                row.trial.record(&answers, splits);
            }
        }
        let mut rows = Vec::new();
        for method in beside(experiment) {
            let name = method.description();
            let mut trial = Trial::new(name, name);
            let answers = method.build(device, effort, 0)(data, &mut |_| ())?.predict(photos)?;
            for _ in seeds {
                trial.record(&answers, splits);
            }
            rows.push(Row { name: name.to_owned(), paper: None, trial });
        }
        rows.extend(retrieval.into_iter().chain(ours));
        let title = format!(
            "Generalizability: answers from a gallery or from even grids. {}; LocDiff-Bayes: network bayes, nll, L = {}; {device}",
            experiment.in_words(),
            effort.locdiff_degree
        );
        let (photos, bootstrap) = (experiment.photos(), splits.bootstrap());
        Ok(Self { title, rows, photos, bootstrap })
    }

    /// The table with what was done above it, as text or as Markdown.
    pub fn render(&self, markdown: bool) -> String {
        let mut table = Table::new(&["", "paper 25/200/750/2500 km", "1 km", "25 km", "200 km", "750 km", "2500 km"]);
        for row in &self.rows {
            let mut cells = vec![row.name.clone(), paper_cell(row.paper)];
            cells.extend(share_cells(&row.trial, &self.photos, &self.bootstrap));
            table.push(cells);
        }
        format!("{}.\n{DIFFERENCE}\n\n{}\n", self.title, table.render(markdown))
    }

    pub fn to_json(&self) -> Value {
        let share = |row: &Row, radius: f64| json!({"radius_km": radius, "share": row.trial.share(radius, &self.photos, &self.bootstrap)});
        let row = |row: &Row| {
            let ours = TABLE_RADII_KM.map(|radius| share(row, radius));
            json!({"name": row.name, "paper_within_percent": row.paper, "ours": ours})
        };
        let rows: Vec<Value> = self.rows.iter().map(row).collect();
        json!({"title": self.title, "differs": DIFFERENCE, "n": self.photos.len(), "rows": rows})
    }
}
