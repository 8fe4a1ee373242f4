//! Answers into files: a table, and maps of all photos or of each.

use crate::maps::{Shown, add_places, crowd_page, crowd_photo, crowd_png, labelled, photos_title};
use crate::table::{ANSWER_COLUMNS, AnswerRow, TAG_COLUMNS};
use crate::{Answer, AnswerMap, error::Result, maps::PICTURE, maps::places_folder, maps::shown, maps::words};
use locdiff_base::{AtomicFile, WriteError};
use locdiff_io::data::TableWriter;
use locdiff_map::{CrowdMap, CrowdPhoto, FeatureCollection, GpxPoint, KmlDocument, MapImage, gpx, photos_png};
use locdiff_model::{TraceStep, answer::GalleryContribution, answer::Match};
use locdiff_shdd::Codec;
use std::{fs::File, io::BufWriter, io::IntoInnerError, path::Path, path::PathBuf};

/// With more photos than this one file holds their places alone: with regions it grows too large to open.
const MOST_WITH_REGIONS: usize = 200;
/// With more photos than this a page of all shows circles, not the density of each.
const MOST_WITH_DENSITY: usize = 200;
/// With more photos than this one picture is one map, not a small map of each.
const MOST_PANELS: usize = 12;

const GALLERY_COLUMNS: &str =
    "answered_by gallery_share match_row match_name match_lat match_lon match_km match_similarity";

/// Output files of a run: a table, maps, pictures. Each is a file for all photos, or a folder with a file for each photo, except the table and
/// the trace. See [`AnswerFiles`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct AnswerTargets {
    /// A table with a row for each photo.
    pub csv: Option<PathBuf>,
    /// GeoJSON with locations and regions.
    pub geojson: Option<PathBuf>,
    /// KML with the same, for Google Earth.
    pub kml: Option<PathBuf>,
    /// Waypoints for navigation programs: GPS tags and answers, without guesses. One file.
    pub gpx: Option<PathBuf>,
    /// A page with a map.
    pub map: Option<PathBuf>,
    /// A map as a picture: the density of one photo, up to 12 small maps, or one map of more photos.
    pub png: Option<PathBuf>,
    /// GeoTIFF with the probability of every cell of the world.
    pub geotiff: Option<PathBuf>,
    /// Animation of one photo's sampling: a .gif file.
    pub trace: Option<PathBuf>,
}

/// Whether a path is one file of so many photos that their regions would make it too large to open.
fn holds_places_alone(path: &Path, count: usize) -> bool {
    !AnswerTargets::is_folder(path) && count > MOST_WITH_REGIONS
}

/// The file of a photo in a folder; a number tells photos of one name apart.
fn in_folder(folder: &Path, photo: &str, end: &str, taken: &[PathBuf]) -> PathBuf {
    let name = Path::new(photo).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let others = (2_usize..).map(|number| folder.join(format!("{name}-{number}.{end}")));
    let mut all = std::iter::once(folder.join(format!("{name}.{end}"))).chain(others);
    all.find(|path| !taken.contains(path)).unwrap_or_default()
}

impl AnswerTargets {
    /// Returns whether a path is a folder: it ends in `/`, or exists as one.
    pub fn is_folder(path: &Path) -> bool {
        path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir()
    }

    fn wants_density(&self, count: usize) -> bool {
        let regions = [&self.geojson, &self.kml].into_iter().flatten();
        self.geotiff.is_some()
            || (self.png.is_some() && (count <= MOST_PANELS || self.picture_of_all(count).is_none()))
            || regions.into_iter().any(|path| !holds_places_alone(path, count))
            || (self.map.is_some() && (count <= MOST_WITH_DENSITY || self.crowd(count).is_none()))
    }

    /// The one picture of several photos.
    fn picture_of_all(&self, count: usize) -> Option<&Path> {
        self.png.as_deref().filter(|path| !Self::is_folder(path) && count > 1)
    }

    /// The page of several photos: a list, filters, points in clusters.
    fn crowd(&self, count: usize) -> Option<&Path> {
        self.map.as_deref().filter(|path| !Self::is_folder(path) && count > 1)
    }
}

/// A file to be written: its path, what it holds, and whether it is a photo's own in a folder that may have to be made.
type Document = (PathBuf, Vec<u8>, bool);

/// Writer of answers into [`AnswerTargets`]. It writes the table and the page of many photos itself. It returns all else as documents: a path,
/// the contents, and whether the file belongs into a folder that may not exist.
///
/// ```
/// # #[cfg(feature = "bundled")] {
/// use locdiff::{AnswerFiles, AnswerTargets, Locator};
/// # std::env::set_current_dir("../../fixtures/vision").unwrap();
/// let (locator, mut targets) = (Locator::bundled()?, AnswerTargets::default());
/// targets.geojson = Some("places.geojson".into());
/// let mut files = AnswerFiles::new(targets, 1, false)?;
/// let own = files.add(&locator.locate("china.jpg")?, None, &[], locator.predictor().codec())?;
/// let (_, all) = files.finish()?;
/// assert!(own.is_empty() && all[0].0.ends_with("places.geojson"));
/// # }
/// # Ok::<(), locdiff::LocateError>(())
/// ```
pub struct AnswerFiles {
    targets: AnswerTargets,
    count: usize,
    csv: Option<TableWriter>,
    with_gallery: bool,
    geojson: FeatureCollection,
    kml: KmlDocument,
    waypoints: Vec<GpxPoint>,
    crowd: Option<(CrowdMap<File>, PathBuf)>,
    /// What the one picture of all shows: the photos, and a map of each if there are few.
    pictured: (Vec<CrowdPhoto>, Vec<MapImage>),
    /// Photos that could not be used.
    failed: usize,
    wants_density: bool,
    named: Vec<PathBuf>,
    documents: Vec<Document>,
}

impl AnswerFiles {
    /// Prepares the files for `count` photos, with a gallery's columns if one is used. Fails if the table or the page's pictures cannot be
    /// written.
    pub fn new(targets: AnswerTargets, count: usize, with_gallery: bool) -> Result<Self> {
        let gallery = GALLERY_COLUMNS.split(' ').filter(|_| with_gallery);
        let columns: Vec<&str> = ANSWER_COLUMNS.split(' ').chain(gallery).chain(TAG_COLUMNS.split(' ')).collect();
        let csv = targets.csv.as_deref().map(|path| TableWriter::create(path, &columns)).transpose()?;
        let spool =
            |path: &Path| Ok::<_, WriteError>((crowd_page(tempfile::tempfile().map_err(spool)?), path.to_owned()));
        let crowd = targets.crowd(count).map(spool).transpose()?;
        let (geojson, kml) = (FeatureCollection::new(), KmlDocument::new("LocDiff"));
        let (pictured, failed, named, documents) = ((Vec::new(), Vec::new()), 0, Vec::new(), Vec::new());
        let wants_density = targets.wants_density(count);
        Ok(Self {
            targets,
            count,
            csv,
            with_gallery,
            geojson,
            kml,
            waypoints: Vec::new(),
            crowd,
            pictured,
            failed,
            wants_density,
            named,
            documents,
        })
    }

    /// Adds an answer and its trace, with a JPEG thumbnail, and returns the documents about this photo alone. Fails if the table cannot be
    /// written, or the answer has no density.
    pub fn add(
        &mut self,
        answer: &Answer,
        thumbnail: Option<&[u8]>,
        trace: &[TraceStep],
        codec: &Codec,
    ) -> Result<Vec<Document>> {
        self.write_row(&AnswerRow::from(answer), answer.gallery())?;
        let map = self.wants_density.then(|| AnswerMap::new(answer)).transpose()?;
        if let Some((crowd, _)) = &mut self.crowd {
            let detail = map.as_ref().filter(|_| self.count <= MOST_WITH_DENSITY).map(AnswerMap::html_photo);
            crowd.push(&crowd_photo(answer), thumbnail, detail.as_ref()).map_err(spool)?;
        }
        if self.targets.picture_of_all(self.count).is_some() {
            self.pictured.0.push(crowd_photo(answer));
            if let Some(map) = map.as_ref().filter(|_| self.count <= MOST_PANELS) {
                let width = 1600 / panel_columns(self.count) - 6;
                self.pictured.1.push(map.picture((width, 2 * width / 3), thumbnail)?);
            }
        }
        if self.targets.geojson.as_ref().is_some_and(|path| holds_places_alone(path, self.count)) {
            add_places(answer, &mut self.geojson);
        }
        if self.targets.kml.as_ref().is_some_and(|path| holds_places_alone(path, self.count)) {
            self.kml.push(places_folder(answer));
        }
        let (place, kind) = shown(answer);
        if self.targets.gpx.is_some() && kind != Shown::Guessed {
            let name = answer.photo.clone().unwrap_or_default();
            self.waypoints.push(GpxPoint { place, time: None, name, description: words(answer) });
        }
        if let Some(map) = map {
            self.add_maps(&map, answer.photo.as_deref().unwrap_or_default(), thumbnail)?;
        }
        if let Some(path) = self.targets.trace.clone() {
            let steps = AnswerMap::animation(codec, answer, trace)?;
            self.documents.push((path, steps.to_gif(480)?, false));
        }
        Ok(std::mem::take(&mut self.documents))
    }

    /// Adds a photo that cannot be used to the table. Fails if the table cannot be written.
    pub fn add_failure(&mut self, photo: &str, reason: &str) -> Result<()> {
        self.failed += 1;
        self.write_row(&AnswerRow::failed(photo, reason), None)
    }

    /// Writes a photo's row with every column of the table. If no gallery took part, its columns are empty.
    fn write_row(&mut self, row: &AnswerRow, gallery: Option<&GalleryContribution>) -> Result<()> {
        let Some(csv) = &mut self.csv else { return Ok(()) };
        let none = <[String; 8]>::default;
        let fields =
            row.fields(self.with_gallery.then(|| gallery.map_or_else(none, gallery_fields)).into_iter().flatten());
        Ok(csv.write(&fields.iter().map(String::as_str).collect::<Vec<_>>())?)
    }

    /// Adds each kind of map to the photo's own file if the target is a folder, else to the one file for all.
    fn add_maps(&mut self, map: &AnswerMap<'_>, name: &str, thumbnail: Option<&[u8]>) -> Result<()> {
        let AnswerTargets { geojson, kml, map: page, png, geotiff, .. } = self.targets.clone();
        let is_folder = |path: &Path| AnswerTargets::is_folder(path);
        match geojson {
            Some(path) if is_folder(&path) => self.own(&path, name, "geojson", map.geojson().into_bytes()),
            Some(path) if !holds_places_alone(&path, self.count) => map.add_features(&mut self.geojson),
            _ => {}
        }
        match kml {
            Some(path) if is_folder(&path) => self.own(&path, name, "kml", map.kml().into_bytes()),
            Some(path) if !holds_places_alone(&path, self.count) => self.kml.push(map.kml_folder()),
            _ => {}
        }
        match page {
            Some(path) if self.crowd.is_none() => {
                let photo = map.html_photo();
                let photo = if let Some(jpeg) = thumbnail { photo.jpeg(jpeg) } else { photo };
                self.own(&path, name, "html", photo.to_html(labelled("LocDiff")).into_bytes());
            }
            _ => {}
        }
        if let Some(path) = png.filter(|_| self.targets.picture_of_all(self.count).is_none()) {
            self.own(&path, name, "png", photos_png(&[map.picture(PICTURE, thumbnail)?], 1, "")?);
        }
        if let Some(path) = geotiff {
            self.own(&path, name, "tif", map.geotiff()?);
        }
        Ok(())
    }

    fn own(&mut self, target: &Path, name: &str, end: &str, bytes: Vec<u8>) {
        let is_folder = AnswerTargets::is_folder(target);
        let path = if is_folder { in_folder(target, name, end, &self.named) } else { target.to_owned() };
        self.named.push(path.clone());
        self.documents.push((path, bytes, is_folder));
    }

    /// Completes the table and the page. Returns the paths written and the documents about all photos. Fails if a file cannot be written.
    pub fn finish(self) -> Result<(Vec<PathBuf>, Vec<Document>)> {
        let (mut written, mut documents) = (Vec::new(), Vec::new());
        let picture = self.targets.picture_of_all(self.count).map(Path::to_owned);
        let AnswerTargets { csv: csv_path, geojson, kml, gpx: gpx_path, .. } = self.targets;
        if let (Some(csv), Some(path)) = (self.csv, csv_path) {
            csv.finish()?;
            written.push(path);
        }
        let mut whole = |path: Option<PathBuf>, text: &dyn Fn() -> String| {
            documents.extend(
                path.filter(|path| !AnswerTargets::is_folder(path)).map(|path| (path, text().into_bytes(), false)),
            );
        };
        whole(geojson, &|| self.geojson.to_string());
        whole(kml, &|| self.kml.to_string());
        whole(gpx_path, &|| gpx("LocDiff", &self.waypoints, false));
        if let Some((crowd, path)) = self.crowd {
            let failed = |reason| WriteError::new(&path.display().to_string(), reason);
            if self.count <= MOST_WITH_DENSITY || path == Path::new("-") {
                let mut page = Vec::new();
                crowd.write(&mut page).map_err(failed)?;
                documents.push((path, page, false));
            } else {
                let mut file = BufWriter::new(AtomicFile::create(&path)?);
                crowd.write(&mut file).map_err(failed)?;
                file.into_inner().map_err(IntoInnerError::into_error).map_err(failed)?.commit()?;
                written.push(path);
            }
        }
        if let Some(path) = picture {
            let (photos, maps) = self.pictured;
            let png = if maps.is_empty() {
                crowd_png(&photos, self.failed)?
            } else {
                photos_png(&maps, panel_columns(self.count), &photos_title(&photos, self.failed))?
            };
            documents.push((path, png, false));
        }
        Ok((written, documents))
    }
}

/// Small maps next to each other in one picture.
fn panel_columns(count: usize) -> usize {
    if count <= 4 { 2 } else { 3 }
}

fn spool(reason: std::io::Error) -> WriteError {
    WriteError::new("a temporary file", reason)
}

/// What a gallery had to do with an answer, as [`GALLERY_COLUMNS`] names it.
fn gallery_fields(word: &GalleryContribution) -> [String; 8] {
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
