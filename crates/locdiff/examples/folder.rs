//! Locate the photos of a folder: `cargo run --release --example folder -- photos/`

use locdiff::{LocateOptions, Locator};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "fixtures/vision".to_owned());
    let mut photos: Vec<_> =
        std::fs::read_dir(&folder)?.map(|file| Ok(file?.path())).collect::<std::io::Result<_>>()?;
    photos.sort();
    let locator = Locator::bundled()?;
    for photo in locator.locate_all(photos, &LocateOptions::new())? {
        match photo.answer {
            Ok(answer) if answer.can_tell => println!("{}: {}", photo.name, answer.headline),
            Ok(answer) => println!("{}: I can't tell; a guess: {}", photo.name, answer.headline),
            Err(error) => println!("{}: {error}", photo.name),
        }
    }
    Ok(())
}
