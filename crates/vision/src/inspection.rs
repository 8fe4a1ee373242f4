//! What an encoder is, and whether it works.

use crate::{CropRounding, Encoder, Photo, Preprocessing, ResizeRule, Result, VisionError};
use serde_json::{Value, json};
use std::{fmt::Write, path::Path, path::PathBuf};

/// What an encoder is, for people and programs; it was checked.
pub struct Inspection<'a> {
    encoder: &'a Encoder,
    folder: Option<PathBuf>,
    /// Names and bytes.
    files: Vec<(String, u64)>,
    device: String,
}

impl<'a> Inspection<'a> {
    /// Checks an encoder; `folder` is where it came from, `device` where it runs,
    /// in words. Fails with [`VisionError::Unsound`] where it does not work; a folder that cannot be read.
    pub fn of(encoder: &'a Encoder, folder: Option<&Path>, device: String) -> Result<Self> {
        Self::check(encoder)?;
        let files = folder.map(file_sizes).transpose()?.unwrap_or_default();
        Ok(Self { encoder, folder: folder.map(Path::to_owned), files, device })
    }

    /// Runs an encoder on pictures whose answers must be alike, or must not.
    /// Fails with [`VisionError::Unsound`] if it does not work.
    pub fn check(encoder: &Encoder) -> Result<()> {
        let ensure = |holds: bool, fault: &'static str| holds.then_some(()).ok_or(VisionError::Unsound { fault });
        let picture = Photo::test_picture();
        let grey = Photo::from_rgb(64, 48, vec![127; 3 * 64 * 48])?;
        let embedded = encoder.embed(std::slice::from_ref(&picture)).map_err(|error| match error {
            VisionError::Data(_) => {
                let fault = "the encoder's answer is not finite: its weights are damaged or of another architecture";
                VisionError::Unsound { fault }
            }
            error => error,
        })?;
        let first = embedded[0].values();
        let again = encoder.embed(&[grey.clone(), picture.clone(), grey, picture])?;
        let same = "the encoder gives the same answer to every picture: its weights are damaged or not trained";
        ensure(again[0] != again[1], same)?;
        ensure(first.iter().any(|&value| value != 0.0), "the encoder's answer is all zeros: its weights are damaged")?;
        // A batch may round otherwise on a GPU; the same place in the same batch may not.
        let difference = again[1].values().iter().zip(first).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt();
        let size = first.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
        ensure(
            again[0] == again[2] && again[1] == again[3] && difference <= 1e-2 * size,
            "the encoder's answer changes from run to run or with the batch: run it on the CPU, and report this",
        )
    }

    /// As one object.
    pub fn to_json(&self) -> Value {
        let (encoder, p) = (self.encoder, self.encoder.preprocessing());
        let files: Vec<_> = self.files.iter().map(|(name, bytes)| json!({"name": name, "bytes": bytes})).collect();
        json!({
            "folder": self.folder, "family": encoder.family(), "architecture": encoder.architecture(),
            "licence": encoder.licence(), "fingerprint": encoder.fingerprint().to_string(), "parameters": encoder.parameters(),
            "weight_bytes": encoder.file_bytes(), "files": files, "embedding": encoder.embedding(),
            "input_side": p.input_side, "resize": resize(p), "crop": crop(p), "scale": p.scale, "mean": p.mean,
            "std": p.std, "device": self.device,
        })
    }

    /// As lines.
    pub fn to_text(&self) -> String {
        let (encoder, p) = (self.encoder, self.encoder.preprocessing());
        let folder = self.folder.as_ref().map_or("bundled".to_owned(), |folder| folder.display().to_string());
        let mut text = String::new();
        let mut line = |name: &str, words: String| {
            writeln!(text, "{name:<12} {words}").expect("writing to a String cannot fail");
        };
        line("encoder", format!("{folder}: {}, {}", encoder.family(), encoder.architecture()));
        line("fingerprint", encoder.fingerprint().to_string());
        line("licence", encoder.licence().to_string());
        line("photo", format!("{}, {}, input {s}×{s}", resize(p), crop(p), s = p.input_side));
        line("colours", format!("(byte × {} − {:?}) / {:?}", p.scale, p.mean, p.std));
        line("embedding", format!("{} numbers", encoder.embedding()));
        let numbers = encoder.parameters().map_or(String::new(), |count| format!("{count} numbers, "));
        line("weights", format!("{numbers}{} bytes", encoder.file_bytes()));
        for (name, bytes) in &self.files {
            line("file", format!("{name}, {bytes} bytes"));
        }
        line("checks", "finite, not zero, the same each time and in any batch, another for another picture".to_owned());
        line("device", self.device.clone());
        text
    }
}

fn resize(preprocessing: &Preprocessing) -> String {
    let filter = format!("{:?}", preprocessing.filter).to_lowercase();
    match preprocessing.resize {
        ResizeRule::Keep => "not resized".to_owned(),
        ResizeRule::ShortSide(side) => format!("short side to {side} ({filter})"),
        ResizeRule::Exact(width, height) => format!("resized to {width}×{height} ({filter})"),
    }
}

fn crop(preprocessing: &Preprocessing) -> String {
    let Some(crop) = preprocessing.crop else { return "not cropped".to_owned() };
    let rounding = if crop.rounding == CropRounding::Even { "to even" } else { "down" };
    format!("the middle {}×{} (odd margins halved {rounding})", crop.width, crop.height)
}

fn file_sizes(folder: &Path) -> Result<Vec<(String, u64)>> {
    let cannot = |source| VisionError::Read { file: folder.display().to_string(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let data = entry.path().metadata().map_err(cannot)?;
        if data.is_file() {
            files.push((entry.file_name().to_string_lossy().into_owned(), data.len()));
        }
    }
    files.sort();
    Ok(files)
}
