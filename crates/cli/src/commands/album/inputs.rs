//! The photos of albums, embedded.

use crate::sampling::check_columns;
use crate::{hints, progress, say};
use anyhow::{Context, Result};
use locdiff::{
    AlbumPhoto, AlbumRow, AlbumSettings, EmbeddedPhoto, LocateError, LocateOptions, Locator, PhotoTime,
    album_times, by_album,
};
use locdiff_data::RowFile;
use locdiff_ingest::{PhotoStream, ReadPhoto};
use std::path::{Path, PathBuf};

/// Photos, which of them belong together, and their files.
pub(super) struct Gathered {
    pub(super) photos: Vec<AlbumPhoto>,
    /// Names and positions.
    pub(super) albums: Vec<(String, Vec<usize>)>,
    pub(super) paths: Vec<Option<PathBuf>>,
    pub(super) failed: usize,
}

/// From photos; one album of all, or one for each folder.
pub(super) fn gather_photos(
    stream: PhotoStream,
    by_folder: bool,
    locator: &Locator,
    options: &LocateOptions,
) -> Result<Gathered> {
    let bar = progress::bar("looking", Some(stream.len() as u64));
    let (mut embedded, mut paths, mut failed) = (Vec::new(), Vec::new(), 0);
    for ReadPhoto { source, photo } in stream {
        let name = source.name().to_owned();
        let photo = photo.map_err(LocateError::from).and_then(|photo| locator.embed(&photo, options));
        match photo {
            Ok(photo) => {
                paths.push(source.file_path().map(Path::to_owned));
                embedded.push(photo.with_name(name));
            }
            Err(error) if error.is_about_photo() => {
                let error = anyhow::Error::from(error);
                let flag = hints::flag(&error).map_or(String::new(), |flag| format!(" ({flag})"));
                bar.suspend(|| say::error(&format!("{error}{flag}")));
                failed += 1;
            }
            Err(error) => return Err(error.into()),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let times = album_times(&embedded);
    let mut albums: Vec<(String, Vec<usize>)> = Vec::new();
    for (k, path) in paths.iter().enumerate() {
        let folder = path.as_deref().and_then(Path::parent).filter(|_| by_folder);
        let folder = folder.map_or(String::new(), |folder| folder.display().to_string());
        match albums.iter_mut().find(|(name, _)| *name == folder) {
            Some((_, members)) => members.push(k),
            None => albums.push((folder, vec![k])),
        }
    }
    let photos = locator.album_photos(&embedded, &times, options)?;
    Ok(Gathered { photos, albums, paths, failed })
}

/// From embeddings and a table.
pub(super) fn gather_embeddings(
    embeddings: &Path,
    tensor: Option<&str>,
    times: &Path,
    locator: &Locator,
    options: &LocateOptions,
) -> Result<Gathered> {
    let (photos, rows) = read_table(embeddings, tensor, times, locator, options)?;
    let paths = vec![None; photos.len()];
    Ok(Gathered { photos, albums: by_album(&rows), paths, failed: 0 })
}

/// The settings in a file, or the usual ones.
pub(crate) fn settings(path: Option<&Path>) -> Result<AlbumSettings> {
    let Some(path) = path else { return Ok(AlbumSettings::default()) };
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    AlbumSettings::from_json(&text).with_context(|| path.display().to_string())
}

/// The photos of a table, with its rows.
pub(crate) fn read_table(
    embeddings: &Path,
    tensor: Option<&str>,
    times: &Path,
    locator: &Locator,
    options: &LocateOptions,
) -> Result<(Vec<AlbumPhoto>, Vec<AlbumRow>)> {
    let file = RowFile::open(embeddings, tensor)?;
    check_columns(&file, locator.model().config())?;
    let rows = AlbumRow::read(times)?;
    let embedded: Vec<EmbeddedPhoto> =
        rows.iter().map(|row| row.embedded(&file)).collect::<Result<_, _>>()?;
    let times: Vec<PhotoTime> = rows.iter().map(|row| row.time).collect();
    Ok((locator.album_photos(&embedded, &times, options)?, rows))
}
