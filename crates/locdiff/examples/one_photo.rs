//! Locate one photo: `cargo run --release --example one_photo -- photo.jpg`

use locdiff::{AnswerMap, Locator};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "fixtures/vision/china.jpg".to_owned());
    let answer = Locator::bundled()?.locate(&*path)?;
    println!("{path}: {}, best place {}", answer.headline, answer.best);
    println!("50 % within {:.0} km, 90 % within {:.0} km", answer.radius_50_km, answer.radius_90_km);
    for other in &answer.hypotheses[1..] {
        println!("or {:.0} %: {}", 100.0 * other.probability, other.place);
    }
    std::fs::write("answer.html", AnswerMap::new(&answer)?.html())?;
    Ok(())
}
