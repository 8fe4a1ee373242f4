//! Reads the text in photos: `read_text [--model FILE] PHOTO...` prints one JSON line for each photo,
//! `{"name", "seconds", "lines": [{"text", "confidence", "corners"}]}`. `seconds` is the processor time to read without
//! decoding. The sums are on standard error.

use locdiff_vision::{Photo, PhotoLimits, TextLine, TextReader};
use std::{error::Error, path::Path};

/// Processor time of all threads so far, on Linux.
fn processor_seconds() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let text = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("schedstat")).ok();
    let nanoseconds = threads.filter_map(text).filter_map(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.sum::<f64>() / 1e9
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut photos: Vec<String> = std::env::args().skip(1).collect();
    let mut model = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/vision/reading/reading.safetensors").to_owned();
    if photos.first().is_some_and(|first| first == "--model") {
        model = photos.drain(..2).next_back().unwrap_or_default();
    }
    let reader = TextReader::new(&std::fs::read(model)?)?;
    let (mut total, mut with_text) = (0.0, 0);
    for name in &photos {
        let photo = match Photo::open(Path::new(name), &PhotoLimits::default()) {
            Ok(photo) => photo,
            Err(error) => {
                eprintln!("{error}");
                continue;
            }
        };
        let start = processor_seconds();
        let read = reader.read(&photo);
        let seconds = processor_seconds() - start;
        total += seconds;
        with_text += usize::from(!read.is_empty());
        let lines: Vec<_> = read
            .iter()
            .map(|TextLine { text, confidence, corners, .. }| {
                serde_json::json!({"text": text, "confidence": confidence, "corners": corners})
            })
            .collect();
        println!("{}", serde_json::json!({"name": name, "seconds": seconds, "lines": lines}));
    }
    let count = photos.len().max(1) as f64;
    eprintln!("{} photos, {with_text} with text, {:.3} s a photo", photos.len(), total / count);
    Ok(())
}
