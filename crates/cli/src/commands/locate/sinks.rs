//! Answers into files: tables and maps.

use super::target::{OutputArgs, Target};
use crate::output::{claim_file, write_file};
use anyhow::Result;
use locdiff::parts::{
    ANSWER_COLUMNS, GALLERY_COLUMNS, TraceStep, add_places, answers_page, crowd_page, crowd_photo, gallery_fields,
    places_folder,
};
use locdiff::{Answer, AnswerMap, AnswerRow, Atlas, Codec, GalleryContribution};
use locdiff_base::AtomicFile;
use locdiff_data::TableWriter;
use locdiff_map::{CrowdMap, FeatureCollection, HtmlMap, HtmlPhoto, KmlDocument};
use std::path::{Path, PathBuf};
use std::{fs::File, io::BufWriter};

/// Where answers go.
pub(crate) struct Sinks<'a> {
    args: &'a OutputArgs,
    count: usize,
    csv: Option<TableWriter>,
    with_gallery: bool,
    geojson: FeatureCollection,
    kml: KmlDocument,
    page: HtmlMap,
    crowd: Option<(CrowdMap<File>, &'a Path)>,
    wants_density: bool,
    /// Made when the first map is drawn.
    atlas: Option<Atlas>,
    written: Vec<PathBuf>,
}

impl<'a> Sinks<'a> {
    /// For so many photos, with the columns of a gallery where one is asked.
    pub(crate) fn new(args: &'a OutputArgs, count: usize, with_gallery: bool) -> Result<Self> {
        let mut columns = ANSWER_COLUMNS.to_vec();
        if with_gallery {
            columns.extend(GALLERY_COLUMNS);
        }
        let csv = args.csv.as_deref().map(|path| TableWriter::create(path, &columns)).transpose()?;
        Ok(Self {
            args,
            count,
            csv,
            with_gallery,
            geojson: FeatureCollection::new(),
            kml: KmlDocument::new("LocDiff"),
            page: answers_page(),
            crowd: match args.crowd(count) {
                Some(path) => Some((crowd_page(tempfile::tempfile()?), path)),
                None => None,
            },
            wants_density: args.wants_density(count),
            atlas: None,
            written: Vec::new(),
        })
    }

    /// Writes one answer wherever it is wanted, with a small JPEG of the photo.
    pub(crate) fn write(
        &mut self,
        answer: &Answer,
        thumbnail: Option<&[u8]>,
        trace: &[TraceStep],
        codec: &Codec,
    ) -> Result<()> {
        self.write_row(&AnswerRow::from(answer), answer.gallery())?;
        if let Some((crowd, _)) = &mut self.crowd {
            crowd.push(&crowd_photo(answer), thumbnail)?;
        }
        if self.args.geojson.as_ref().is_some_and(|target| target.holds_places_alone(self.count)) {
            add_places(answer, &mut self.geojson);
        }
        if self.args.kml.as_ref().is_some_and(|target| target.holds_places_alone(self.count)) {
            self.kml.push(places_folder(answer));
        }
        if self.wants_density {
            let atlas = match self.atlas.take() {
                Some(atlas) => atlas,
                None => Atlas::new()?,
            };
            self.write_maps(&atlas.draw(answer)?, name(answer), thumbnail)?;
            self.atlas = Some(atlas);
        }
        if let Some(path) = &self.args.trace {
            let film = Atlas::film(codec, answer, trace)?;
            let end = path.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase);
            let bytes = match end.as_deref() {
                Some("gif") => film.to_gif(360)?,
                Some("png") => film.to_png(12, 3, 300)?,
                _ => film.to_html().into_bytes(),
            };
            self.file(path, &bytes)?;
        }
        Ok(())
    }

    /// Writes a photo that could not be used into the table.
    pub(crate) fn write_failure(&mut self, photo: &str, reason: &str) -> Result<()> {
        let row = AnswerRow { photo: photo.to_owned(), found: Err(reason.to_owned()) };
        self.write_row(&row, None)
    }

    /// A photo's row with every column of the table; those of a gallery that had no part in it are empty.
    fn write_row(&mut self, row: &AnswerRow, gallery: Option<&GalleryContribution>) -> Result<()> {
        let Some(csv) = &mut self.csv else { return Ok(()) };
        let mut fields = row.fields().to_vec();
        if self.with_gallery {
            fields.extend(gallery.map_or_else(Default::default, gallery_fields));
        }
        csv.write(&fields.iter().map(String::as_str).collect::<Vec<_>>())?;
        Ok(())
    }

    /// Each kind of map, into the photo's own file where the target is a folder, else into the one file of all.
    fn write_maps(&mut self, map: &AnswerMap<'_>, name: &str, thumbnail: Option<&[u8]>) -> Result<()> {
        let args = self.args;
        if let Some(target) = &args.geojson {
            if target.is_folder() {
                self.put(target, name, "geojson", map.geojson().as_bytes())?;
            } else if !target.holds_places_alone(self.count) {
                map.add_features(&mut self.geojson);
            }
        }
        if let Some(target) = &args.kml {
            if target.is_folder() {
                self.put(target, name, "kml", map.kml().as_bytes())?;
            } else if !target.holds_places_alone(self.count) {
                self.kml.push(map.kml_folder());
            }
        }
        if let Some(target) = &args.map {
            if target.is_folder() {
                let page = answers_page().photo(with_thumbnail(map, thumbnail)).to_html();
                self.put(target, name, "html", page.as_bytes())?;
            } else if self.crowd.is_none() {
                let page = std::mem::replace(&mut self.page, HtmlMap::new(""));
                self.page = page.photo(with_thumbnail(map, thumbnail));
            }
        }
        if let Some(target) = &args.png {
            self.one(target, name, "png", &map.png()?)?;
        }
        if let Some(target) = &args.geotiff {
            self.one(target, name, "tif", &map.geotiff()?)?;
        }
        Ok(())
    }

    /// Completes the files; returns those that were written.
    pub(crate) fn finish(mut self) -> Result<Vec<PathBuf>> {
        let args = self.args;
        if let (Some(csv), Some(path)) = (self.csv.take(), &args.csv) {
            csv.finish()?;
            self.written.push(path.clone());
        }
        let file_of = |target: &'a Option<Target>| target.as_ref().filter(|target| !target.is_folder());
        if let Some(target) = file_of(&args.geojson) {
            let text = self.geojson.to_string();
            self.file(target.path(), text.as_bytes())?;
        }
        if let Some(target) = file_of(&args.kml) {
            let text = self.kml.to_string();
            self.file(target.path(), text.as_bytes())?;
        }
        if let Some((crowd, path)) = self.crowd.take() {
            let mut file = BufWriter::new(AtomicFile::create(path)?);
            crowd.write(&mut file)?;
            file.into_inner().map_err(std::io::IntoInnerError::into_error)?.commit()?;
            self.written.push(path.to_owned());
        } else if let Some(target) = file_of(&args.map) {
            let text = self.page.to_html();
            self.file(target.path(), text.as_bytes())?;
        }
        Ok(self.written)
    }

    /// Writes what no two photos share: into a folder, or the file itself.
    fn one(&mut self, target: &Target, name: &str, end: &str, bytes: &[u8]) -> Result<()> {
        if target.is_folder() { self.put(target, name, end, bytes) } else { self.file(target.path(), bytes) }
    }

    /// Writes a photo's own file into a folder.
    fn put(&mut self, target: &Target, name: &str, end: &str, bytes: &[u8]) -> Result<()> {
        let path = target.in_folder(name, end, &self.written)?;
        claim_file(&path)?;
        self.file(&path, bytes)
    }

    fn file(&mut self, path: &Path, bytes: &[u8]) -> Result<()> {
        write_file(path, bytes)?;
        self.written.push(path.to_owned());
        Ok(())
    }
}

fn with_thumbnail(map: &AnswerMap<'_>, thumbnail: Option<&[u8]>) -> HtmlPhoto {
    match thumbnail {
        Some(jpeg) => map.html_photo().jpeg(jpeg),
        None => map.html_photo(),
    }
}

fn name(answer: &Answer) -> &str {
    answer.photo.as_deref().unwrap_or_default()
}
