//! Whether locatability stays a probability when it is known where a photo was taken: photos restricted to their own country.
//!
//! ```text
//! cargo run -p locdiff --example locatability_within -- EMBEDDINGS.safetensors TENSOR TRUTH.csv
//! ```

use locdiff::{Knowledge, LatLon, LocateOptions, Locator, Region, haversine_km};
use locdiff_data::{PointColumns, RowFile, read_points};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [embeddings, tensor, truth] = &arguments[..] else {
        return Err("give a file of embeddings, its tensor and a file of true places".into());
    };
    let file = RowFile::open(Path::new(embeddings), Some(tensor))?;
    let truth = read_points(Path::new(truth), None, &PointColumns::default())?;
    let locator = Locator::bundled()?;
    let mut countries: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (row, place) in truth.iter().enumerate() {
        if let Some(country) = locdiff_places::describe(*place).country_code {
            countries.entry(country).or_default().push(row);
        }
    }
    let mut pairs: Vec<(f64, bool, f64)> = Vec::new();
    for (country, rows) in &countries {
        let Ok(region) = Region::parse(country) else { continue };
        let known = Arc::new(Knowledge::new().within(region));
        let options = LocateOptions::default().with_knowledge(known);
        for row in rows {
            let answer = locator.answer(&file.embedding(*row)?.into(), &options)?;
            let km = |at: LatLon| haversine_km(at, truth[*row]);
            pairs.push((
                answer.locatability,
                km(answer.best) <= 750.0,
                answer.radius_90_km - km(answer.best),
            ));
        }
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    println!("{:>12} {:>6} {:>14} {:>14}", "locatability", "n", "mean said, %", "within 750 km");
    let tell = |name: &str, some: &[(f64, bool, f64)]| {
        let n = some.len().max(1) as f64;
        let said = 100.0 * some.iter().map(|pair| pair.0).sum::<f64>() / n;
        let right = 100.0 * some.iter().filter(|pair| pair.1).count() as f64 / n;
        println!("{name:>12} {:>6} {said:>14.1} {right:>14.1}", some.len());
    };
    for (k, part) in pairs.chunks(pairs.len().div_ceil(5).max(1)).enumerate() {
        tell(&format!("fifth {}", k + 1), part);
    }
    tell("all", &pairs);
    let inside = pairs.iter().filter(|pair| pair.2 >= 0.0).count() as f64 / pairs.len().max(1) as f64;
    println!("within the radius said to hold 90 %: {:.1} %", 100.0 * inside);
    Ok(())
}
