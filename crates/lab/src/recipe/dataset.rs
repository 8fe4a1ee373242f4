//! The sets of photos that the paper trains and tests on: which files, how large, where their authors publish them, and whether
//! they are there.

use locdiff_base::{Named, named};
use locdiff_model::eval::Benchmark;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::{fs, sync::LazyLock};

named! {
    /// What the model is trained on.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub(crate) enum TrainingSet: "training set" {
        /// MediaEval's placing task of 2016, photos of Flickr: the paper's main table.
        Mp16 = "mp16", "4.1 to 4.7 million photos of Flickr; tested on all but osv5m";
        /// OpenStreetView-5M, street views: its row of the table of generative methods.
        Osv5m = "osv5m", "4.9 million street views; tested on osv5m";
    }
}

impl TrainingSet {
    /// Whether a benchmark is of the model that this set trains.
    pub(crate) fn is_tested_by(self, benchmark: Benchmark) -> bool {
        (self == Self::Osv5m) == (benchmark == Benchmark::Osv5m)
    }

    /// Its files.
    pub(crate) fn dataset(self) -> &'static Dataset {
        dataset(self.name())
    }
}

/// The files of a benchmark.
pub(crate) fn test_set(benchmark: Benchmark) -> &'static Dataset {
    dataset(if benchmark == Benchmark::Osv5m { "osv5m-test" } else { benchmark.name() })
}

/// A published set of photos.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Dataset {
    /// What its stage is called.
    pub(crate) name: &'static str,
    /// Its folder below the data.
    pub(crate) folder: &'static str,
    /// The published lists, best first: there or in `metadata/`.
    lists: Vec<&'static str>,
    /// Where its pictures are below the folder; empty for anywhere.
    pictures: &'static str,
    /// How many photos it has.
    pub(crate) photos: u64,
    /// About how large it is, in gigabytes.
    pub(crate) gigabytes: f64,
    /// Where its authors publish it, and what to do with it.
    pub(crate) from: &'static str,
}

/// All of them.
static DATASETS: LazyLock<Vec<Dataset>> =
    LazyLock::new(|| serde_json::from_str(include_str!("datasets.json")).expect("datasets.json lists datasets"));

fn dataset(name: &str) -> &'static Dataset {
    DATASETS.iter().find(|set| set.name == name).expect("datasets.json has every set")
}

/// Where a set's photos are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Photos {
    /// A list, and the folder of the pictures.
    Listed { list: PathBuf, pictures: PathBuf },
    /// WebDataset or Parquet shards that hold the places, too.
    Shards(Vec<PathBuf>),
}

/// A thing that is not there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Missing {
    /// What.
    pub(crate) what: String,
    /// Where it was sought.
    pub(crate) at: PathBuf,
    /// About how large it is, in gigabytes.
    pub(crate) gigabytes: f64,
    /// Where its authors publish it.
    pub(crate) from: String,
}

impl Dataset {
    /// Where it would be.
    pub(crate) fn expected(&self, data: &Path) -> Photos {
        let folder = data.join(self.folder);
        Photos::Listed { list: folder.join(self.lists[0]), pictures: folder.join(self.pictures) }
    }

    /// Looks for it below a folder.
    ///
    /// # Errors
    /// What is missing.
    pub(crate) fn find(&self, data: &Path) -> Result<Photos, Missing> {
        let folder = data.join(self.folder);
        let missing =
            |what: String| Missing { what, at: folder.clone(), gigabytes: self.gigabytes, from: self.from.to_owned() };
        let places = [folder.clone(), folder.join("metadata")];
        let list = self.lists.iter().find_map(|list| places.iter().map(|at| at.join(list)).find(|at| at.is_file()));
        let pictures = folder.join(self.pictures);
        if let Some(list) = list {
            if !holds_pictures(&pictures) {
                let joined =
                    if folder.join("mp-16-images00").exists() { ", whose parts are to be joined first" } else { "" };
                return Err(missing(format!("the pictures of {}{joined}", self.name)));
            }
            return Ok(Photos::Listed { list, pictures });
        }
        let split = if self.name.ends_with("-test") { "test" } else { "train" };
        for at in [folder.join(split), folder.clone()] {
            // A folder of several splits belongs to none of them.
            let is_shared = at == folder && (folder.join("train").is_dir() || folder.join("test").is_dir());
            let shards = shards(&at);
            if !shards.is_empty() && !is_shared {
                return Ok(Photos::Shards(shards));
            }
        }
        Err(missing(format!("the list {} of {}", self.lists[0], self.name)))
    }
}

/// The encoder's folder, where it is whole.
///
/// # Errors
/// What is missing.
pub(crate) fn find_encoder(folder: &Path) -> Result<(), Missing> {
    let is_there = ["config.json", "encoder.json"].iter().any(|name| folder.join(name).is_file());
    if is_there {
        return Ok(());
    }
    Err(Missing {
        what: "the encoder CLIP ViT-L/14".to_owned(),
        at: folder.to_owned(),
        gigabytes: 1.7,
        from: "https://huggingface.co/openai/clip-vit-large-patch14: config.json, preprocessor_config.json and model.safetensors".to_owned(),
    })
}

/// Whether there is anything but lists in a folder.
fn holds_pictures(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let path = entry.path();
        let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default().to_ascii_lowercase();
        let is_shard_or_picture = ["zip", "tar", "parquet", "jpg", "jpeg", "png", "webp"].contains(&end.as_str());
        is_shard_or_picture || (path.is_dir() && !path.ends_with("metadata"))
    })
}

/// The `.tar` and `.parquet` files of a folder, by name.
fn shards(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_shard = |path: &PathBuf| path.extension().is_some_and(|end| end == "tar" || end == "parquet");
    let mut found: Vec<PathBuf> = entries.filter(is_shard).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_has_files() {
        for (set, name, _) in TrainingSet::ALL {
            assert!(set.dataset().name == *name && !set.dataset().lists.is_empty());
        }
        for (benchmark, ..) in Benchmark::ALL {
            assert_eq!(test_set(*benchmark).photos, benchmark.photos() as u64);
        }
    }
}
