//! Prior knowledge from files.

use crate::{Knowledge, LocateError, error::Failure, error::Result};
use locdiff_base::ensure;
use locdiff_io::data::TableReader;
use locdiff_shdd::sphere::LatLon;
use std::path::Path;

const LARGEST_RASTER_BYTES: u64 = 1 << 31;

/// Multiplies knowledge by the weights of a file: an Esri ASCII raster (`.asc`), or a CSV with lat, lon and weight, whose
/// places reach about `spread_km` far. Fails on a file that cannot be read, or that weighs nothing.
pub(crate) fn with_prior(knowledge: Knowledge, path: &Path, spread_km: f64) -> Result<Knowledge> {
    let bad = |reason: String| LocateError::from(Failure::Prior { file: path.display().to_string(), reason });
    if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("asc")) {
        return raster(knowledge, path).map_err(bad);
    }
    let mut table = TableReader::open(path)?;
    let columns = [
        table.column(&["lat", "latitude"])?,
        table.column(&["lon", "lng", "longitude"])?,
        table.column(&["weight", "probability"])?,
    ];
    let mut places = Vec::new();
    while let Some((at, fields)) = table.next_row()? {
        let [lat, lon, weight] = columns.map(|column| table.number(&fields[column]));
        let weight = weight.filter(|weight| *weight >= 0.0 && weight.is_finite());
        let (Some(lat), Some(lon), Some(weight)) = (lat, lon, weight) else {
            return Err(bad(format!("row {}: lat, lon and a weight of 0 or more are wanted", at.row)));
        };
        let place = LatLon::new(lat, lon).map_err(|error| bad(format!("row {}: {error}", at.row)))?;
        places.push((place, weight));
    }
    ensure!(!places.iter().all(|(_, weight)| *weight == 0.0), bad("no location in it has a weight above 0".to_owned()));
    Ok(knowledge.places(places, spread_km))
}

fn raster(knowledge: Knowledge, path: &Path) -> Result<Knowledge, String> {
    let text = locdiff_base::read_text_bounded(path, LARGEST_RASTER_BYTES).map_err(|error| error.to_string())?;
    let raster = locdiff_map::parse_ascii_grid(&text).map_err(|error| error.to_string())?;
    // 0 outside the raster and where it has no value.
    let value = move |place: LatLon| {
        raster.window().cell_of(place).map_or(0.0, |(row, column)| raster.get(row, column).max(0.0))
    };
    Ok(knowledge.weight(value))
}
