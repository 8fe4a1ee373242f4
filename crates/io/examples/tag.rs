//! A tagged copy and a sidecar: `cargo run -p locdiff-phototags --example tag -- PHOTO COPY LAT,LON RADIUS_KM`.

use locdiff_io::tags::{GeoTag, Overwrite, write_copy, write_sidecar};
use locdiff_shdd::sphere::LatLon;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, photo, copy, place, radius_km] = &arguments[..] else {
        return Err("give PHOTO COPY LAT,LON RADIUS_KM".into());
    };
    let (lat, lon) = place.split_once(',').ok_or("give LAT,LON")?;
    let place = LatLon::new(lat.parse()?, lon.parse()?)?;
    let tag = GeoTag::new(place).radius_km(radius_km.parse()?).area("an example – où?");
    write_copy(photo.as_ref(), copy.as_ref(), &tag, Overwrite::NEVER)?;
    let sidecar = write_sidecar(photo.as_ref(), &tag, Overwrite::NEVER)?;
    println!("wrote {copy} and {}", sidecar.display());
    Ok(())
}
