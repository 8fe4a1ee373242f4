//! What a stage does: tasks are the caller's, the rest is done here.

use crate::recipe::error::{RecipeError, Result};
use crate::{recipe::dataset::Photos, recipe::error::cannot, recipe::stage::Step, recipe::task::Task};
use locdiff_base::AtomicFile;
use locdiff_io::data::{PointColumns, TableWriter, read_points};
use locdiff_vision::sources::PhotoList;
use locdiff_shdd::sphere::LatLon;
use locdiff_model::train::split_by_blocks;
use std::{fs, path::Path};

/// Does a step.
pub(crate) fn perform<E: From<RecipeError>>(
    step: &Step,
    task: &mut impl FnMut(&Task) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    match step {
        Step::Task { unless: Some(file), .. } if file.is_file() => {}
        Step::Task { task: what, .. } => task(what)?,
        Step::Truth { photos, out } => truth(photos, out)?,
        Step::HeldOut { locations, share, seed, least, out } => {
            held_out(locations, *share, *seed, *least, out)?;
        }
        Step::Copy { from, to } => {
            let bytes = fs::read(from).map_err(cannot(from))?;
            if let Some(folder) = to.parent() {
                fs::create_dir_all(folder).map_err(cannot(folder))?;
            }
            AtomicFile::write_whole(to, &bytes).map_err(RecipeError::from)?;
        }
        Step::Tables { reports, about, json, markdown } => {
            let tables = crate::recipe::tables::Tables::read(about, reports)?;
            AtomicFile::write_whole(json, tables.to_json().to_string().as_bytes()).map_err(RecipeError::from)?;
            AtomicFile::write_whole(markdown, tables.to_markdown().as_bytes()).map_err(RecipeError::from)?;
        }
    }
    Ok(())
}

/// Writes id, lat and lon of every photo of a set, those whose pictures are missing too.
fn truth(photos: &Photos, out: &Path) -> Result<()> {
    let mut table = TableWriter::create(out, &["id", "lat", "lon"])?;
    let mut write =
        |id: &str, place: LatLon| table.write(&[id, &place.lat_deg().to_string(), &place.lon_deg().to_string()]);
    match photos {
        Photos::Listed { list, .. } => {
            for photo in PhotoList::read(list)?.photos() {
                write(&photo.id, photo.place)?;
            }
        }
        Photos::Shards(shards) => {
            for photo in locdiff_vision::sources::Photos::gather(shards, None)?.sources() {
                if let Some((place, _)) = photo.place() {
                    write(photo.name(), place)?;
                }
            }
        }
    }
    table.finish()?;
    Ok(())
}

/// Writes the rows that `train` leaves out with the same share and seed.
fn held_out(locations: &Path, share: f64, seed: u64, least: usize, out: &Path) -> Result<()> {
    let places = read_points(locations, None, &PointColumns::default())?;
    let rows = split_by_blocks(&places, share, seed).validation;
    if rows.len() < least {
        return Err(RecipeError::FewHeldOut { photos: rows.len(), least });
    }
    let lines: Vec<String> = rows.iter().map(|row| format!("{row}\n")).collect();
    let text = lines.concat();
    Ok(AtomicFile::write_whole(out, text.as_bytes())?)
}
