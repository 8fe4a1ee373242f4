//! Locate a photo with your own model and encoder: `cargo run --release --example own_model -- MODEL ENCODER PHOTO`
//!
//! MODEL is a folder that `locdiff train` made (and `locdiff calibrate` calibrated), ENCODER the folder of the encoder that
//! its embeddings came from: LocDiff's own kind, or a CLIP from Hugging Face.

use locdiff::{Locator, LocatorOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, encoder, photo] = arguments.as_slice() else {
        return Err("give a model's folder, an encoder's folder and a photo".into());
    };
    let mut options = LocatorOptions::default();
    (options.model, options.encoder) = (Some(model.into()), Some(encoder.into()));
    let locator = Locator::open(&options)?;
    if !locator.reader().calibration().is_fitted() {
        println!("this model was never calibrated: its probabilities may not hold");
    }
    let answer = locator.locate(&**photo)?;
    println!("{}", answer.to_json());
    Ok(())
}
