//! The sets of photos that the paper trains and tests on: which files, how large, where their authors publish them, and whether
//! they are there.

use locdiff_base::named;
use locdiff_eval::Benchmark;
use std::fs;
use std::path::{Path, PathBuf};

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
    pub(crate) const fn dataset(self) -> &'static Dataset {
        match self {
            Self::Mp16 => &MP16,
            Self::Osv5m => &OSV5M,
        }
    }
}

/// The files of a benchmark.
pub(crate) const fn test_set(benchmark: Benchmark) -> &'static Dataset {
    match benchmark {
        Benchmark::Im2gps => &IM2GPS,
        Benchmark::Im2gps3k => &IM2GPS3K,
        Benchmark::Yfcc4k => &YFCC4K,
        Benchmark::Yfcc26k => &YFCC26K,
        Benchmark::Gws15k => &GWS15K,
        Benchmark::Osv5m => &OSV5M_TEST,
    }
}

/// A published set of photos.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dataset {
    /// What its stage is called.
    pub(crate) name: &'static str,
    /// Its folder below the data.
    pub(crate) folder: &'static str,
    /// The published lists, best first: there or in `metadata/`.
    lists: &'static [&'static str],
    /// Where its pictures are below the folder; empty for anywhere.
    pictures: &'static str,
    /// How many photos it has.
    pub(crate) photos: u64,
    /// About how large it is, in gigabytes.
    pub(crate) gigabytes: f64,
    /// Where its authors publish it, and what to do with it.
    pub(crate) from: &'static str,
}

const MP16: Dataset = Dataset {
    name: "mp16",
    folder: "mp16",
    lists: &["MP16_Pro_filtered.csv", "MP16_Pro_places365.csv", "mp16_places365.csv", "mp16.csv"],
    pictures: "",
    photos: 4_123_000,
    gigabytes: 370.0,
    from: "https://huggingface.co/datasets/Jia-py/MP16-Pro: metadata/MP16_Pro_filtered.csv and mp-16-images00 … 18, joined with \
           `cat mp-16-images?? > mp-16-images.tar`",
};
const OSV5M: Dataset = Dataset {
    name: "osv5m",
    folder: "osv5m",
    lists: &["train.csv"],
    pictures: "images/train",
    photos: 4_894_685,
    gigabytes: 290.0,
    from: "https://huggingface.co/datasets/osv5m/osv5m: train.csv (2.9 GB) and images/train/00.zip … 97.zip, which need not be unpacked",
};
const OSV5M_TEST: Dataset = Dataset {
    name: "osv5m-test",
    folder: "osv5m",
    lists: &["test.csv"],
    pictures: "images/test",
    photos: 210_122,
    gigabytes: 12.5,
    from: "https://huggingface.co/datasets/osv5m/osv5m: test.csv (0.1 GB) and images/test/00.zip … 04.zip, which need not be unpacked",
};
const IM2GPS: Dataset = Dataset {
    name: "im2gps",
    folder: "im2gps",
    lists: &["im2gps_places365.csv", "im2gps.csv"],
    pictures: "",
    photos: 237,
    gigabytes: 0.05,
    from: "photos: http://graphics.cs.cmu.edu/projects/im2gps/ (the test set); list: im2gps_places365.csv in the folder meta of \
           https://github.com/TIBHannover/GeoEstimation, branch original_tf",
};
const IM2GPS3K: Dataset = Dataset {
    name: "im2gps3k",
    folder: "im2gps3k",
    lists: &["im2gps3k_places365.csv", "im2gps3k.csv"],
    pictures: "",
    photos: 2_997,
    gigabytes: 0.5,
    from: "photos: im2gps3ktest.zip by https://github.com/lugiavn/revisiting-im2gps; list: im2gps3k_places365.csv in the folder meta of \
           https://github.com/TIBHannover/GeoEstimation, branch original_tf",
};
const YFCC4K: Dataset = Dataset {
    name: "yfcc4k",
    folder: "yfcc4k",
    lists: &["info.txt", "yfcc4k_places365.csv", "yfcc4k.csv"],
    pictures: "",
    photos: 4_536,
    gigabytes: 0.7,
    from: "yfcc4k.zip with info.txt by https://github.com/lugiavn/revisiting-im2gps",
};
const YFCC26K: Dataset = Dataset {
    name: "yfcc26k",
    folder: "yfcc26k",
    lists: &["yfcc25600_places365.csv", "yfcc26k.csv"],
    pictures: "",
    photos: 25_600,
    gigabytes: 3.8,
    from: "list: https://github.com/TIBHannover/GeoEstimation/releases/download/pytorch/yfcc25600_places365.csv; photos: YFCC100M on \
           http://multimedia-commons.s3-website-us-west-2.amazonaws.com, or yfcc25600_urls.csv of the same release",
};
const GWS15K: Dataset = Dataset {
    name: "gws15k",
    folder: "gws15k",
    lists: &["gws15k.csv", "GWS15k.csv", "gws15k_places365.csv"],
    pictures: "",
    photos: 14_955,
    gigabytes: 2.0,
    from: "not public: ask the authors of Clark et al., Where We Are and What We're Looking At (CVPR 2023); a CSV of IMG_ID, LAT, LON and \
           a folder of photos",
};

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
