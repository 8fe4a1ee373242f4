//! A page of many photos from a folder of small JPEG files, at made places: to look at and to time.
//!
//! ```text
//! cargo run -p locdiff-map --example crowd -- THUMBNAILS page.html
//! ```

use locdiff_map::{CrowdMap, CrowdPhoto};
use locdiff_sphere::LatLon;
use std::io::BufWriter;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [folder, page] =
        std::env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "give FOLDER PAGE")?;
    let mut files: Vec<_> =
        std::fs::read_dir(folder)?.map(|file| file.map(|file| file.path())).collect::<Result<_, _>>()?;
    files.sort();
    let mut map = CrowdMap::new("LocDiff", std::io::Cursor::new(Vec::new()));
    let towns = [
        (48.9, 2.4),
        (40.4, -3.7),
        (35.7, 139.7),
        (-33.9, 151.2),
        (40.7, -74.0),
        (-12.0, -77.0),
        (30.0, 31.2),
        (-17.8, 178.0),
    ];
    for (k, file) in files.iter().enumerate() {
        let number = k as f64;
        let (lat, lon) = towns[k % towns.len()];
        let (turn, away) = (number * 2.399_963, 14.0 * (number * 0.618_034).fract().powi(2));
        let place = LatLon::new((lat + away * turn.sin()).clamp(-80.0, 80.0), lon + away * turn.cos())?;
        let mut photo =
            CrowdPhoto::new(&file.display().to_string(), place, &format!("near town {}", k % towns.len()));
        photo.confidence = (number * 0.754_877).fract();
        photo.can_tell = photo.confidence > 0.2;
        (photo.radius_50_km, photo.radius_90_km) =
            (900.0 * (1.0 - photo.confidence), 4000.0 * (1.0 - photo.confidence));
        map.push(&photo, Some(&std::fs::read(file)?))?;
    }
    Ok(map.write(&mut BufWriter::new(std::fs::File::create(page)?))?)
}
