//! A folder of photos, a result for each: `cargo run --release --example folder -- photos/`

use locdiff::{Control, Locator, Request, Source};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "fixtures/vision".to_owned());
    let mut photos: Vec<_> =
        std::fs::read_dir(&folder)?.map(|file| Ok(file?.path())).collect::<std::io::Result<_>>()?;
    photos.sort();
    let (locator, request) = (Locator::bundled()?, Request::default());
    for located in locator.run(photos.into_iter().map(Source::file), &request, Control::new())? {
        let located = located?;
        let photo = located.origin.called().to_owned();
        match located.answer {
            Ok(answer) if answer.can_tell => println!("{photo}: {}", answer.place),
            Ok(answer) => println!("{photo}: I can't tell; a guess: {}", answer.place),
            Err(error) => println!("{photo}: {error}"),
        }
    }
    Ok(())
}
