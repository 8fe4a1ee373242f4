//! A folder of photos, a result for each: `cargo run --release --example folder -- photos/`

use locdiff::{LocateOptions, Locator};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "fixtures/vision".to_owned());
    let mut photos: Vec<_> =
        std::fs::read_dir(&folder)?.map(|file| Ok(file?.path())).collect::<std::io::Result<_>>()?;
    photos.sort();
    let answers = Locator::bundled()?.locate_many(&photos, &LocateOptions::default());
    for (photo, answer) in photos.iter().zip(answers) {
        match answer {
            Ok(answer) if answer.can_tell => println!("{}: {}", photo.display(), answer.place),
            Ok(answer) => println!("{}: I can't tell; a guess: {}", photo.display(), answer.place),
            Err(error) => println!("{}: {error}", photo.display()),
        }
    }
    Ok(())
}
