//! What a stage has the other libraries do, and the command line that does the same.

use crate::recipe::dataset::Photos;
use locdiff_base::Named;
use locdiff_model::eval::Benchmark;
use locdiff_retrieval::geoclip::GALLERY_FILE;
use std::path::{Path, PathBuf};

/// Work for the libraries that embed, train, calibrate and evaluate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Task {
    /// Lists the photos of a set that have a place, in shards to embed.
    Plan {
        /// The set.
        photos: Photos,
        /// The encoder's folder; `None` is the bundled one.
        encoder: Option<PathBuf>,
        /// Photos of a shard.
        shard_photos: usize,
        /// Folder of the job.
        job: PathBuf,
    },
    /// Embeds the shards of a job that are not embedded yet.
    Embed {
        /// Folder of the job.
        job: PathBuf,
    },
    /// Writes the embeddings of all shards into one file of f16, their places beside it.
    Merge {
        /// Folder of the job.
        job: PathBuf,
        /// The file.
        out: PathBuf,
    },
    /// Trains a model as the paper does, or goes on with it.
    Train {
        /// The embeddings.
        embeddings: PathBuf,
        /// Their places.
        locations: PathBuf,
        /// The share of the land that is held out.
        held_out: f64,
        /// Seed of everything random.
        seed: u64,
        /// Settings in the stead of the paper's, by their names on the command line.
        settings: Vec<(String, String)>,
        /// Folder of the run.
        out: PathBuf,
    },
    /// Calibrates a model with some rows.
    Calibrate {
        /// Folder of the model.
        model: PathBuf,
        /// The embeddings.
        embeddings: PathBuf,
        /// Their places.
        locations: PathBuf,
        /// A file of the rows' numbers.
        rows: PathBuf,
        /// Seed of the noise.
        seed: u64,
    },
    /// Judges LocDiff-H on a benchmark: GeoCLIP's retrieval near the samples of a model, by the paper's rule.
    Hybrid {
        /// Whose rules.
        benchmark: Benchmark,
        /// All photos with their places.
        truth: PathBuf,
        /// Folder of the model.
        model: PathBuf,
        /// GeoCLIP's folder.
        geoclip: PathBuf,
        /// The embeddings.
        embeddings: PathBuf,
        /// The table beside them, whose column path names the photos.
        embedded: PathBuf,
        /// The report, a number a row.
        csv: PathBuf,
        /// The report as a page.
        html: PathBuf,
        /// Seed of the intervals and of samples.
        seed: u64,
    },
    /// Judges a model on a benchmark.
    Evaluate {
        /// Whose rules.
        benchmark: Benchmark,
        /// All photos with their places.
        truth: PathBuf,
        /// Folder of the model.
        model: PathBuf,
        /// The embeddings.
        embeddings: PathBuf,
        /// The table beside them, whose column path names the photos.
        embedded: PathBuf,
        /// The report, a number a row.
        csv: PathBuf,
        /// The report as a page.
        html: PathBuf,
        /// Seed of the intervals and of samples.
        seed: u64,
    },
}

impl Task {
    /// The command line that does it.
    pub(crate) fn command(&self, device: Option<&str>) -> String {
        let mut line = Line("locdiff".to_owned());
        match self {
            Self::Plan { photos, encoder, shard_photos, job } => {
                line.words("batch plan");
                match photos {
                    Photos::Listed { list, pictures } => line.path(list).words("--images").path(pictures),
                    Photos::Shards(shards) => shards.iter().fold(&mut line, |line, shard| line.path(shard)),
                };
                line.words(&format!("--task embed --located --shard-photos {shard_photos} --out")).path(job);
                if let Some(folder) = encoder {
                    line.words("--encoder").path(folder);
                }
            }
            Self::Embed { job } => {
                line.words("batch run").path(job);
            }
            Self::Merge { job, out } => {
                line.words("batch merge").path(job).words("--out").path(out).words("--dtype f16 --force");
            }
            Self::Train { embeddings, locations, held_out, seed, settings, out } => {
                line.words("train --preset paper --embeddings").path(embeddings);
                line.words("--locations").path(locations);
                line.words(&format!("--validation-share {held_out} --seed {seed} --out")).path(out);
                line.words("--resume");
                for (name, value) in settings {
                    line.words(&format!("--{name}")).word(value);
                }
            }
            Self::Calibrate { model, embeddings, locations, rows, seed } => {
                line.words("calibrate --model").path(model).words("--embeddings").path(embeddings);
                line.words("--truth").path(locations).words("--rows").path(rows);
                line.words(&format!("--seed {seed}"));
            }
            Self::Hybrid { benchmark, truth, model, geoclip, embeddings, csv, seed, .. } => {
                line.words("sample --gallery-rule paper --model").path(model).words("--embeddings").path(embeddings);
                line.words("--gallery").path(&geoclip.join(GALLERY_FILE)).words("--geoclip").path(geoclip);
                line.words(&format!("--seed {seed} --out places.csv; # judged by {} of", benchmark.name())).path(truth);
                line.words("→").path(csv);
            }
            Self::Evaluate { benchmark, truth, model, embeddings, embedded, csv, html, seed } => {
                line.words(&format!("evaluate --benchmark {} --truth", benchmark.name())).path(truth);
                line.words("--model").path(model).words("--embeddings").path(embeddings);
                line.words("--embedded").path(embedded).words("--by continent --csv").path(csv);
                line.words("--html").path(html).words(&format!("--seed {seed} --force"));
            }
        }
        match device {
            Some(device) if !matches!(self, Self::Plan { .. } | Self::Merge { .. }) => {
                line.words("--device").word(device);
            }
            _ => {}
        }
        line.0
    }
}

/// A command line as it grows.
struct Line(String);

impl Line {
    fn words(&mut self, words: &str) -> &mut Self {
        self.0.push(' ');
        self.0.push_str(words);
        self
    }

    /// One word, quoted where a shell would take it for several.
    fn word(&mut self, word: &str) -> &mut Self {
        let is_plain = !word.contains([' ', '\'', '"', '*', '$']);
        self.words(&if is_plain { word.to_owned() } else { format!("'{word}'") })
    }

    fn path(&mut self, path: &Path) -> &mut Self {
        self.word(&path.to_string_lossy())
    }
}
