//! Add what you know about a photo: `cargo run --release --example prior_knowledge -- photo.jpg Japan`

use locdiff::{Knowledge, LocateOptions, Locator};
use locdiff_map::places::Region;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let photo = arguments.next().unwrap_or_else(|| "fixtures/vision/china.jpg".to_owned());
    let region = Region::parse(&arguments.next().unwrap_or_else(|| "Japan".to_owned()))?;
    let locator = Locator::bundled()?;
    println!("without: {}", locator.locate(&*photo)?.place);
    // A region it must be in, and a weight: nearer to the equator is more probable.
    let known = Knowledge::new().within(region).weight(|place| place.lat_deg().to_radians().cos());
    let answer = locator.locate_with(&*photo, &LocateOptions::new().knowledge(known))?;
    println!("with:    {}", answer.place);
    Ok(())
}
