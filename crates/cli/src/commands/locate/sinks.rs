//! Answers into files: tables, maps, and tags in copies of the photos.

use super::target::{OutputArgs, Target};
use crate::output::{claim_file, is_forced, write_file};
use anyhow::{Context, Result};
use locdiff::{Answer, AnswerMap, Atlas, Codec, GalleryWord, Match, TraceStep, answers_page};
use locdiff_data::TableWriter;
use locdiff_map::{FeatureCollection, HtmlMap, KmlDocument};
use locdiff_phototags::{GeoTag, Overwrite, write_copy, write_sidecar};
use std::path::{Path, PathBuf};

const COLUMNS: [&str; 11] = [
    "photo",
    "lat",
    "lon",
    "radius_50_km",
    "radius_90_km",
    "probability",
    "locatability",
    "can_tell",
    "place",
    "country",
    "error",
];

/// What is added where a gallery takes part.
const GALLERY_COLUMNS: [&str; 8] = [
    "answered_by",
    "gallery_share",
    "match_row",
    "match_name",
    "match_lat",
    "match_lon",
    "match_km",
    "match_similarity",
];

/// Where answers go.
pub(crate) struct Sinks<'a> {
    args: &'a OutputArgs,
    csv: Option<TableWriter>,
    geojson: FeatureCollection,
    kml: KmlDocument,
    page: HtmlMap,
    /// Made when the first map is drawn.
    atlas: Option<Atlas>,
    written: Vec<PathBuf>,
}

impl<'a> Sinks<'a> {
    pub(crate) fn new(args: &'a OutputArgs, with_gallery: bool) -> Result<Self> {
        let mut columns = COLUMNS.to_vec();
        if with_gallery {
            columns.extend(GALLERY_COLUMNS);
        }
        let csv = args.csv.as_deref().map(|path| TableWriter::create(path, &columns)).transpose()?;
        Ok(Self {
            args,
            csv,
            geojson: FeatureCollection::new(),
            kml: KmlDocument::new("LocDiff"),
            page: answers_page(),
            atlas: None,
            written: Vec::new(),
        })
    }

    /// Writes one answer wherever it is wanted; `photo` is the photo's own file, where it has one.
    pub(crate) fn write(
        &mut self,
        answer: &Answer,
        photo: Option<&Path>,
        trace: &[TraceStep],
        codec: &Codec,
    ) -> Result<()> {
        if let Some(csv) = &mut self.csv {
            let mut fields = row(answer).to_vec();
            fields.extend(answer.gallery.as_ref().into_iter().flat_map(gallery_fields));
            csv.write(&fields.iter().map(String::as_str).collect::<Vec<_>>())?;
        }
        if self.args.wants_map() {
            let atlas = match self.atlas.take() {
                Some(atlas) => atlas,
                None => Atlas::new()?,
            };
            self.write_maps(&atlas.draw(answer)?, name(answer))?;
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
        self.tag(answer, photo)
    }

    /// Writes a photo that could not be used into the table.
    pub(crate) fn write_failure(&mut self, photo: &str, reason: &str) -> Result<()> {
        if let Some(csv) = &mut self.csv {
            let mut fields = [""; COLUMNS.len()];
            (fields[0], fields[COLUMNS.len() - 1]) = (photo, reason);
            csv.write(&fields)?;
        }
        Ok(())
    }

    /// Each kind of map, into the photo's own file where the target is a folder, else into the one file of all.
    fn write_maps(&mut self, map: &AnswerMap<'_>, name: &str) -> Result<()> {
        let args = self.args;
        if let Some(target) = &args.geojson {
            if target.is_folder() {
                self.put(target, name, "geojson", map.geojson().as_bytes())?;
            } else {
                map.add_features(&mut self.geojson);
            }
        }
        if let Some(target) = &args.kml {
            if target.is_folder() {
                self.put(target, name, "kml", map.kml().as_bytes())?;
            } else {
                self.kml.push(map.kml_folder());
            }
        }
        if let Some(target) = &args.map {
            if target.is_folder() {
                self.put(target, name, "html", map.html().as_bytes())?;
            } else {
                let page = std::mem::replace(&mut self.page, HtmlMap::new(""));
                self.page = page.photo(map.html_photo());
            }
        }
        if let Some(target) = &args.png {
            let png = map.png()?;
            if target.is_folder() {
                self.put(target, name, "png", &png)?;
            } else {
                self.file(target.path(), &png)?;
            }
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
        if let Some(target) = file_of(&args.map) {
            let text = self.page.to_html();
            self.file(target.path(), text.as_bytes())?;
        }
        Ok(self.written)
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

    /// The answer into a copy of the photo, or beside it.
    fn tag(&mut self, answer: &Answer, photo: Option<&Path>) -> Result<()> {
        let args = self.args;
        if args.write_exif.is_none() && !args.xmp {
            return Ok(());
        }
        let photo =
            photo.context("it lies inside a shard: only photos in files of their own can be tagged")?;
        let tag = GeoTag::new(answer.best).radius_km(answer.radius_90_km).area(&answer.place);
        let overwrite = if is_forced() { Overwrite::Force } else { Overwrite::Never };
        if let Some(folder) = &args.write_exif {
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
            let copy = folder.join(photo.file_name().context("it has no name")?);
            write_copy(photo, &copy, &tag, overwrite)?;
            self.written.push(copy);
        }
        if args.xmp {
            self.written.push(write_sidecar(photo, &tag, overwrite)?);
        }
        Ok(())
    }
}

fn name(answer: &Answer) -> &str {
    answer.photo.as_deref().unwrap_or_default()
}

fn row(answer: &Answer) -> [String; COLUMNS.len()] {
    [
        name(answer).to_owned(),
        format!("{:.6}", answer.best.lat_deg()),
        format!("{:.6}", answer.best.lon_deg()),
        format!("{:.1}", answer.radius_50_km),
        format!("{:.1}", answer.radius_90_km),
        format!("{:.4}", answer.hypotheses.first().map_or(0.0, |h| h.probability)),
        format!("{:.4}", answer.locatability),
        answer.can_tell.to_string(),
        answer.place.clone(),
        answer.country.clone().unwrap_or_default(),
        String::new(),
    ]
}

fn gallery_fields(word: &GalleryWord) -> [String; 8] {
    let of = |write: &dyn Fn(&Match) -> String| word.matched.as_ref().map_or(String::new(), write);
    [
        word.answered_by.name().to_owned(),
        format!("{:.4}", word.share),
        of(&|found| found.row.to_string()),
        of(&|found| found.name.clone().unwrap_or_default()),
        of(&|found| format!("{:.6}", found.at.lat_deg())),
        of(&|found| format!("{:.6}", found.at.lon_deg())),
        of(&|found| format!("{:.1}", found.distance_km)),
        of(&|found| format!("{:.4}", found.similarity)),
    ]
}
