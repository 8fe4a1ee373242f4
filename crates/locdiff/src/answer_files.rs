//! Answers into files: a table, and maps of all photos or of each.

use crate::maps::{add_places, answers_page, crowd_page, crowd_photo, dots_png, places_folder};
use crate::{Answer, AnswerMap, AnswerRow, Atlas, GalleryContribution, LocateError, table::ANSWER_COLUMNS};
use locdiff_base::{AtomicFile, WriteError};
use locdiff_io::data::TableWriter;
use locdiff_map::{CrowdMap, FeatureCollection, HtmlMap, HtmlPhoto, KmlDocument};
use locdiff_model::TraceStep;
use locdiff_model::answer::Match;
use locdiff_shdd::Codec;
use locdiff_shdd::sphere::LatLon;
use std::path::{Path, PathBuf};
use std::{fs::File, io::BufWriter, io::IntoInnerError};

/// With more photos than this one file holds their places alone: with regions it grows too large to open.
const MOST_WITH_REGIONS: usize = 200;
/// With more photos than this a page shows points in clusters, not the density of each.
const MOST_WITH_DENSITY: usize = 50;

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

/// A file for all photos, or a folder with a file for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The file or the folder.
    pub path: PathBuf,
    /// Whether it is a folder.
    pub is_folder: bool,
}

impl Target {
    /// Whether it is one file of so many photos that their regions would make it too large to open.
    fn holds_places_alone(&self, count: usize) -> bool {
        !self.is_folder && count > MOST_WITH_REGIONS
    }

    /// The file of a photo in the folder; a number tells photos of one name apart.
    fn in_folder(&self, photo: &str, end: &str, taken: &[PathBuf]) -> PathBuf {
        let name = Path::new(photo).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let first = self.path.join(format!("{name}.{end}"));
        let others = (2_usize..).map(|number| self.path.join(format!("{name}-{number}.{end}")));
        std::iter::once(first).chain(others).find(|path| !taken.contains(path)).unwrap_or_default()
    }
}

/// Where answers go.
#[derive(Debug, Clone, Default)]
pub struct AnswerTargets {
    /// A table with a row for each photo.
    pub csv: Option<PathBuf>,
    /// Places and regions.
    pub geojson: Option<Target>,
    /// The same for Google Earth.
    pub kml: Option<Target>,
    /// A page with a map.
    pub map: Option<Target>,
    /// A map as a picture: of the density of one photo, of the places of several.
    pub png: Option<Target>,
    /// The probability of every cell of the world.
    pub geotiff: Option<Target>,
    /// The backward process of one photo: .gif, .html or .png.
    pub trace: Option<PathBuf>,
}

impl AnswerTargets {
    /// Whether the density of every photo is drawn.
    fn wants_density(&self, count: usize) -> bool {
        let regions = [&self.geojson, &self.kml].into_iter().flatten();
        self.geotiff.is_some()
            || (self.png.is_some() && self.dots(count).is_none())
            || regions.into_iter().any(|target| !target.holds_places_alone(count))
            || (self.map.is_some() && self.crowd(count).is_none())
    }

    /// The one picture of several photos.
    fn dots(&self, count: usize) -> Option<&Path> {
        self.png.as_ref().filter(|target| !target.is_folder && count > 1).map(|target| target.path.as_path())
    }

    /// The page of so many photos that they are points in clusters.
    fn crowd(&self, count: usize) -> Option<&Path> {
        let target = self.map.as_ref().filter(|target| !target.is_folder && count > MOST_WITH_DENSITY);
        target.map(|target| target.path.as_path())
    }
}

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its path.
    pub path: PathBuf,
    /// What it holds.
    pub bytes: Vec<u8>,
    /// Whether it is a photo's own file in a folder that may have to be made.
    pub in_folder: bool,
}

/// Answers on their way into files: the table and the page of a crowd are written here, everything else comes back as documents.
pub struct AnswerFiles {
    targets: AnswerTargets,
    count: usize,
    csv: Option<TableWriter>,
    with_gallery: bool,
    geojson: FeatureCollection,
    kml: KmlDocument,
    /// The page of all photos, made when the first is drawn on it: its names take longer than an answer.
    page: Option<HtmlMap>,
    crowd: Option<(CrowdMap<File>, PathBuf)>,
    /// Best places, and whether they are answers, for the one picture of all.
    dots: Vec<(LatLon, bool)>,
    wants_density: bool,
    /// Made when the first map is drawn.
    atlas: Option<Atlas>,
    named: Vec<PathBuf>,
    documents: Vec<Document>,
}

impl AnswerFiles {
    /// For so many photos, with the columns of a gallery where one is asked.
    ///
    /// # Errors
    /// A table that cannot be written, or no room for the pictures of a crowd.
    pub fn new(targets: AnswerTargets, count: usize, with_gallery: bool) -> Result<Self, LocateError> {
        let mut columns = ANSWER_COLUMNS.to_vec();
        if with_gallery {
            columns.extend(GALLERY_COLUMNS);
        }
        let csv = targets.csv.as_deref().map(|path| TableWriter::create(path, &columns)).transpose()?;
        let crowd = match targets.crowd(count) {
            Some(path) => Some((crowd_page(tempfile::tempfile().map_err(spool)?), path.to_owned())),
            None => None,
        };
        Ok(Self {
            count,
            csv,
            with_gallery,
            geojson: FeatureCollection::new(),
            kml: KmlDocument::new("LocDiff"),
            page: None,
            crowd,
            dots: Vec::new(),
            wants_density: targets.wants_density(count),
            targets,
            atlas: None,
            named: Vec::new(),
            documents: Vec::new(),
        })
    }

    /// Takes one answer wherever it is wanted, with a small JPEG of the photo: the documents that are about it alone.
    ///
    /// # Errors
    /// A table that cannot be written, or an answer without a density.
    pub fn add(
        &mut self,
        answer: &Answer,
        thumbnail: Option<&[u8]>,
        trace: &[TraceStep],
        codec: &Codec,
    ) -> Result<Vec<Document>, LocateError> {
        self.write_row(&AnswerRow::from(answer), answer.gallery())?;
        if let Some((crowd, _)) = &mut self.crowd {
            crowd.push(&crowd_photo(answer), thumbnail).map_err(spool)?;
        }
        if self.targets.dots(self.count).is_some() {
            self.dots.push((answer.best, answer.can_tell));
        }
        if self.targets.geojson.as_ref().is_some_and(|target| target.holds_places_alone(self.count)) {
            add_places(answer, &mut self.geojson);
        }
        if self.targets.kml.as_ref().is_some_and(|target| target.holds_places_alone(self.count)) {
            self.kml.push(places_folder(answer));
        }
        if self.wants_density {
            let atlas = match self.atlas.take() {
                Some(atlas) => atlas,
                None => Atlas::new()?,
            };
            self.add_maps(&atlas.draw(answer)?, answer.photo.as_deref().unwrap_or_default(), thumbnail)?;
            self.atlas = Some(atlas);
        }
        if let Some(path) = self.targets.trace.clone() {
            let film = Atlas::film(codec, answer, trace)?;
            let end = path.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase);
            let bytes = match end.as_deref() {
                Some("gif") => film.to_gif(360)?,
                Some("png") => film.to_png(12, 3, 300)?,
                _ => film.to_html().into_bytes(),
            };
            self.documents.push(Document { path, bytes, in_folder: false });
        }
        Ok(std::mem::take(&mut self.documents))
    }

    /// Puts a photo that could not be used into the table.
    ///
    /// # Errors
    /// A table that cannot be written.
    pub fn add_failure(&mut self, photo: &str, reason: &str) -> Result<(), LocateError> {
        let row = AnswerRow { photo: photo.to_owned(), found: Err(reason.to_owned()) };
        self.write_row(&row, None)
    }

    /// A photo's row with every column of the table; those of a gallery that had no part in it are empty.
    fn write_row(&mut self, row: &AnswerRow, gallery: Option<&GalleryContribution>) -> Result<(), LocateError> {
        let Some(csv) = &mut self.csv else { return Ok(()) };
        let mut fields = row.fields().to_vec();
        if self.with_gallery {
            fields.extend(gallery.map_or_else(Default::default, gallery_fields));
        }
        Ok(csv.write(&fields.iter().map(String::as_str).collect::<Vec<_>>())?)
    }

    /// Each kind of map, into the photo's own file where the target is a folder, else into the one file of all.
    fn add_maps(&mut self, map: &AnswerMap<'_>, name: &str, thumbnail: Option<&[u8]>) -> Result<(), LocateError> {
        let AnswerTargets { geojson, kml, map: page, png, geotiff, .. } = self.targets.clone();
        match geojson {
            Some(target) if target.is_folder => self.own(&target, name, "geojson", map.geojson().into_bytes()),
            Some(target) if !target.holds_places_alone(self.count) => map.add_features(&mut self.geojson),
            _ => {}
        }
        match kml {
            Some(target) if target.is_folder => self.own(&target, name, "kml", map.kml().into_bytes()),
            Some(target) if !target.holds_places_alone(self.count) => self.kml.push(map.kml_folder()),
            _ => {}
        }
        match page {
            Some(target) if target.is_folder => {
                let page = answers_page().photo(with_thumbnail(map, thumbnail)).to_html();
                self.own(&target, name, "html", page.into_bytes());
            }
            Some(_) if self.crowd.is_none() => {
                let page = self.page.take().unwrap_or_else(answers_page);
                self.page = Some(page.photo(with_thumbnail(map, thumbnail)));
            }
            _ => {}
        }
        if let Some(target) = png.filter(|_| self.targets.dots(self.count).is_none()) {
            self.own(&target, name, "png", map.png()?);
        }
        if let Some(target) = geotiff {
            self.own(&target, name, "tif", map.geotiff()?);
        }
        Ok(())
    }

    /// A photo's own file, in a folder or by its name.
    fn own(&mut self, target: &Target, name: &str, end: &str, bytes: Vec<u8>) {
        let in_folder = target.is_folder;
        let path = if in_folder { target.in_folder(name, end, &self.named) } else { target.path.clone() };
        self.named.push(path.clone());
        self.documents.push(Document { path, bytes, in_folder });
    }

    /// Completes the table and the page of a crowd: their paths, and the documents of all photos.
    ///
    /// # Errors
    /// Files that cannot be written.
    pub fn finish(self) -> Result<(Vec<PathBuf>, Vec<Document>), LocateError> {
        let (mut written, mut documents) = (Vec::new(), Vec::new());
        let dots = self.targets.dots(self.count).map(Path::to_owned);
        let AnswerTargets { csv: csv_path, geojson, kml, map, .. } = self.targets;
        if let (Some(csv), Some(path)) = (self.csv, csv_path) {
            csv.finish()?;
            written.push(path);
        }
        let mut whole = |target: Option<Target>, text: &dyn Fn() -> String| {
            if let Some(Target { path, .. }) = target.filter(|target| !target.is_folder) {
                documents.push(Document { path, bytes: text().into_bytes(), in_folder: false });
            }
        };
        whole(geojson, &|| self.geojson.to_string());
        whole(kml, &|| self.kml.to_string());
        if let Some((crowd, path)) = self.crowd {
            let failed = |reason| WriteError::new(&path.display().to_string(), reason);
            let mut file = BufWriter::new(AtomicFile::create(&path)?);
            crowd.write(&mut file).map_err(failed)?;
            file.into_inner().map_err(IntoInnerError::into_error).map_err(failed)?.commit()?;
            written.push(path);
        } else {
            let page = self.page;
            whole(map, &|| page.as_ref().map_or_else(|| answers_page().to_html(), HtmlMap::to_html));
        }
        if let Some(path) = dots {
            documents.push(Document { path, bytes: dots_png(&self.dots)?, in_folder: false });
        }
        Ok((written, documents))
    }
}

fn spool(reason: std::io::Error) -> WriteError {
    WriteError::new("a temporary file", reason)
}

fn with_thumbnail(map: &AnswerMap<'_>, thumbnail: Option<&[u8]>) -> HtmlPhoto {
    match thumbnail {
        Some(jpeg) => map.html_photo().jpeg(jpeg),
        None => map.html_photo(),
    }
}

/// What a gallery had to do with an answer, as [`GALLERY_COLUMNS`] names it.
fn gallery_fields(word: &GalleryContribution) -> [String; GALLERY_COLUMNS.len()] {
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
