//! `locdiff encoder inspect`: what an encoder's folder is, whether it works, and how fast.

use crate::args::DeviceArg;
use anyhow::{Context, Result, anyhow, ensure};
use clap::{Args, Subcommand};
use locdiff_nn::Device;
use locdiff_vision::{CropRounding, Encoder, Photo, Preprocessing, ResizeRule, VisionError};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// About image encoders.
#[derive(Debug, Subcommand)]
pub(crate) enum EncoderCommand {
    /// Print what an encoder's folder is, check it and time it
    Inspect(Inspect),
}

impl EncoderCommand {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Inspect(command) => command.run(),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// Folder: one with an encoder.json, or a CLIP from Hugging Face [default: the bundled one]
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArg,
    /// Print one JSON object instead of lines
    #[arg(long)]
    json: bool,
}

/// Milliseconds a photo.
struct Times {
    preprocess: f64,
    one_thread: f64,
    all_threads: f64,
}

/// Photos in the batch that is timed.
const BATCH: usize = 16;

impl Inspect {
    fn run(self) -> Result<()> {
        let device = Device::open(self.device.device)?;
        let encoder = locdiff::encoder_of(self.folder.as_deref(), &device)?;
        check(&encoder)?;
        let times = time(&encoder)?;
        let threads = rayon::current_num_threads();
        let files = self.folder.as_deref().map(file_sizes).transpose()?.unwrap_or_default();
        let p = encoder.preprocessing();
        if self.json {
            let files: Vec<_> =
                files.iter().map(|(name, bytes)| json!({"name": name, "bytes": bytes})).collect();
            let summary = json!({
                "folder": self.folder, "family": encoder.family(), "architecture": encoder.architecture(),
                "licence": encoder.licence(), "fingerprint": encoder.fingerprint().to_string(), "parameters": encoder.parameters(),
                "weight_bytes": encoder.file_bytes(), "files": files, "embedding": encoder.embedding(),
                "input_side": p.input_side, "resize": resize(p), "crop": crop(p), "scale": p.scale, "mean": p.mean,
                "std": p.std, "device": device.to_string(), "threads": threads, "batch": BATCH,
                "milliseconds": {
                    "preprocess": times.preprocess, "encode_one_thread": times.one_thread,
                    "encode_all_threads": times.all_threads,
                },
            });
            println!("{summary}");
            return Ok(());
        }
        let folder = self.folder.as_ref().map_or("bundled".to_owned(), |folder| folder.display().to_string());
        println!("encoder      {folder}: {}, {}", encoder.family(), encoder.architecture());
        println!("fingerprint  {}", encoder.fingerprint());
        println!("licence      {}", encoder.licence());
        println!("photo        {}, {}, input {s}×{s}", resize(p), crop(p), s = p.input_side);
        println!("colours      (byte × {} − {:?}) / {:?}", p.scale, p.mean, p.std);
        println!("embedding    {} numbers", encoder.embedding());
        println!("weights      {} numbers, {} bytes", encoder.parameters(), encoder.file_bytes());
        for (name, bytes) in files {
            println!("file         {name}, {bytes} bytes");
        }
        println!(
            "checks       finite, not zero, the same each time and in any batch, another for another picture"
        );
        println!(
            "time         {:.2} ms a photo to resize; {:.2} ms to encode alone on one thread, {:.2} ms in a batch of \
             {BATCH} on {threads} ({device})",
            times.preprocess, times.one_thread, times.all_threads
        );
        Ok(())
    }
}

/// Runs the encoder on pictures whose answers must be alike, or must not.
fn check(encoder: &Encoder) -> Result<()> {
    let picture = Photo::test_picture();
    let grey = Photo::from_rgb(64, 48, vec![127; 3 * 64 * 48])?;
    let embedded = encoder.embed(std::slice::from_ref(&picture)).map_err(|error| match error {
        VisionError::Data(_) => {
            anyhow!("the encoder's answer is not finite: its weights are damaged or of another architecture")
        }
        error => error.into(),
    })?;
    let first = embedded[0].values();
    let again = encoder.embed(&[grey.clone(), picture.clone(), grey, picture])?;
    ensure!(
        again[0] != again[1],
        "the encoder gives the same answer to every picture: its weights are damaged or not trained"
    );
    ensure!(
        first.iter().any(|&value| value != 0.0),
        "the encoder's answer is all zeros: its weights are damaged"
    );
    // A batch may round otherwise on a GPU; the same place in the same batch may not.
    let difference =
        again[1].values().iter().zip(first).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt();
    let size = first.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
    ensure!(
        again[0] == again[2] && again[1] == again[3] && difference <= 1e-2 * size,
        "the encoder's answer changes from run to run or with the batch: run it on --device cpu, and report this"
    );
    Ok(())
}

fn time(encoder: &Encoder) -> Result<Times> {
    let picture = Photo::test_picture();
    let pixels = encoder.preprocess(&picture)?;
    let batch = pixels.repeat(BATCH);
    let one_thread =
        rayon::ThreadPoolBuilder::new().num_threads(1).build().context("no thread can be started")?;
    Ok(Times {
        preprocess: median_ms(|| Ok(encoder.preprocess(&picture)?))?,
        one_thread: one_thread.install(|| median_ms(|| Ok(encoder.embed_pixels(&pixels)?)))?,
        all_threads: median_ms(|| Ok(encoder.embed_pixels(&batch)?))? / BATCH as f64,
    })
}

/// The median of at least three calls, for a second at most.
fn median_ms<T>(mut call: impl FnMut() -> Result<T>) -> Result<f64> {
    const MOST: usize = 50;
    let begin = Instant::now();
    let mut times_ms = Vec::new();
    while times_ms.len() < 3 || (times_ms.len() < MOST && begin.elapsed() < Duration::from_secs(1)) {
        let start = Instant::now();
        std::hint::black_box(call()?);
        times_ms.push(1e3 * start.elapsed().as_secs_f64());
    }
    times_ms.sort_by(f64::total_cmp);
    Ok(times_ms[times_ms.len() / 2])
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
    preprocessing.crop.map_or("not cropped".to_owned(), |crop| {
        let rounding = match crop.rounding {
            CropRounding::Even => "to even",
            CropRounding::Down => "down",
        };
        format!("the middle {}×{} (odd margins halved {rounding})", crop.width, crop.height)
    })
}

/// The files of a folder by name, with their sizes.
fn file_sizes(folder: &Path) -> Result<Vec<(String, u64)>> {
    let cannot = || format!("cannot read the folder {}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(cannot)? {
        let entry = entry.with_context(cannot)?;
        let data = entry.path().metadata().with_context(cannot)?;
        if data.is_file() {
            files.push((entry.file_name().to_string_lossy().into_owned(), data.len()));
        }
    }
    files.sort();
    Ok(files)
}
