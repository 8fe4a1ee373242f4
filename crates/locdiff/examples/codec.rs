//! Use the codec alone: a location as spherical-harmonic coefficients, and back. `cargo run --release --example codec`

use locdiff_shdd::{Codec, Coefficients, Decoder, sphere::Degree, sphere::LatLon, sphere::haversine_km};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let codec = Codec::new(Degree::new(47)?);
    let place = LatLon::new(39.999, 116.275)?;
    let code = codec.encode(place);
    println!("{} coefficients", code.as_slice().len());
    // Noise on every coefficient moves the decoded place by kilometres, not by continents.
    let noisy = code.as_slice().iter().enumerate().map(|(k, value)| value + 0.1 * (12.9898 * k as f64).sin());
    let noisy = Coefficients::new(noisy.collect())?;
    let back = codec.decode(&noisy, &Decoder::default())?.place();
    println!("decoded {:.2} km away", haversine_km(place, back));
    let region = codec.density(&noisy)?.credible_region(0.9)?;
    println!("90 % of the density within {:.0} km", region.radius_km);
    Ok(())
}
