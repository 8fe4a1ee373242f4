//! Answers into files: tables, maps, and tags in copies of the photos.

use super::Located;
use super::options::{OutputArgs, Target};
use super::print::{kilometres, place};
use crate::output::write_file;
use anyhow::{Context, Result};
use locdiff_data::TableWriter;
use locdiff_map::{
    FeatureCollection, Heat, HtmlMap, HtmlMarker, HtmlPhoto, KmlDocument, KmlFolder, MapImage, MapLabel,
    Marker, Raster, Trace, Window, contour_polygons,
};
use locdiff_phototags::{GeoTag, Overwrite, write_copy, write_sidecar};
use locdiff_places::{PlaceKind, describe, place_names};
use locdiff_sphere::{Polygon, UnitVec};
use std::path::{Path, PathBuf};

/// The regions that are drawn and written.
const PROBABILITIES: [f64; 2] = [0.5, 0.9];
/// The world raster that maps and outlines are made from: cells of a quarter of a degree, half a pixel of the answer.
const WORLD: (usize, usize) = (720, 1440);
/// Densities this far below the top are the same to the eye, and to a contour.
const DEPTH_NATS: f64 = 40.0;
/// Whose data the page's map shows.
const CREDIT: &str = "Land and borders: Natural Earth. Towns: GeoNames, CC BY 4.0.";
/// Towns from this size on are named on a page's map.
const LABEL_POPULATION: u32 = 300_000;
/// A marker stands for at least this much.
const WORTH_A_MARKER: f64 = 0.02;

const COLUMNS: [&str; 10] = [
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
];

/// Where answers go.
pub(crate) struct Sinks<'a> {
    args: &'a OutputArgs,
    csv: Option<TableWriter>,
    geojson: FeatureCollection,
    kml: KmlDocument,
    page: HtmlMap,
    window: Window,
    /// Centres of the world raster's cells, once they are needed.
    points: Vec<UnitVec>,
    written: Vec<PathBuf>,
}

/// What several files show of an answer.
struct Drawn {
    raster: Raster,
    regions: Vec<(f64, f64, Vec<Polygon>)>,
}

impl<'a> Sinks<'a> {
    pub(crate) fn new(args: &'a OutputArgs) -> Result<Self> {
        let csv = args.csv.as_deref().map(|path| TableWriter::create(path, &COLUMNS)).transpose()?;
        Ok(Self {
            args,
            csv,
            geojson: FeatureCollection::new(),
            kml: KmlDocument::new("LocDiff"),
            page: new_page(),
            window: Window::globe(WORLD.0, WORLD.1)?,
            points: Vec::new(),
            written: Vec::new(),
        })
    }

    /// Writes one answer wherever it is wanted.
    pub(crate) fn write(&mut self, located: &Located<'_>) -> Result<()> {
        if let Some(csv) = &mut self.csv {
            let fields = row(located);
            csv.write(&fields.each_ref().map(String::as_str))?;
        }
        let args = self.args;
        if args.wants_map() {
            let drawn = self.draw(located)?;
            if let Some(target) = &args.geojson {
                let mut alone = FeatureCollection::new();
                let features = if target.is_folder() { &mut alone } else { &mut self.geojson };
                add_features(features, located, &drawn);
                self.put(target, located, "geojson", || alone.to_string().into_bytes())?;
            }
            if let Some(target) = &args.kml {
                let folder = kml_folder(located, &drawn);
                if target.is_folder() {
                    let mut alone = KmlDocument::new(located.name);
                    alone.push(folder);
                    self.put(target, located, "kml", || alone.to_string().into_bytes())?;
                } else {
                    self.kml.push(folder);
                }
            }
            if let Some(target) = &args.map {
                let photo = html_photo(located, &drawn);
                if target.is_folder() {
                    let page = new_page().photo(photo);
                    self.put(target, located, "html", || page.to_html().into_bytes())?;
                } else {
                    let page = std::mem::replace(&mut self.page, HtmlMap::new(""));
                    self.page = page.photo(photo);
                }
            }
            if let Some(target) = &args.png {
                let png = picture(located, &drawn)?;
                if target.is_folder() {
                    self.put(target, located, "png", || png)?;
                } else {
                    self.file(target.path(), &png)?;
                }
            }
        }
        if let Some(path) = &args.trace {
            let film = film(located)?;
            let end = path.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase);
            let bytes = match end.as_deref() {
                Some("gif") => film.to_gif(360)?,
                Some("png") => film.to_png(12, 3, 300)?,
                _ => film.to_html().into_bytes(),
            };
            self.file(path, &bytes)?;
        }
        self.tag(located)
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

    fn draw(&mut self, located: &Located<'_>) -> Result<Drawn> {
        if self.points.is_empty() {
            self.points = self.window.points();
        }
        let mut values = located.density.log_density(&self.points);
        let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for value in &mut values {
            *value = value.max(top - DEPTH_NATS);
        }
        let raster = Raster::new(self.window, values)?;
        let regions = PROBABILITIES.iter().map(|&p| {
            let region = located.density.region(p);
            (p, region.area_km2, contour_polygons(&raster, region.log_density))
        });
        Ok(Drawn { regions: regions.collect(), raster })
    }

    /// Writes a photo's own file into a folder target.
    fn put(
        &mut self,
        target: &Target,
        located: &Located<'_>,
        end: &str,
        bytes: impl FnOnce() -> Vec<u8>,
    ) -> Result<()> {
        if target.is_folder() {
            let path = target.in_folder(located.name, end, &self.written)?;
            self.file(&path, &bytes())?;
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, bytes: &[u8]) -> Result<()> {
        write_file(path, bytes)?;
        self.written.push(path.to_owned());
        Ok(())
    }

    /// The answer into a copy of the photo, or beside it.
    fn tag(&mut self, located: &Located<'_>) -> Result<()> {
        let args = self.args;
        if args.write_exif.is_none() && !args.xmp {
            return Ok(());
        }
        let photo = located
            .path
            .context("it lies inside a shard: only photos in files of their own can be tagged")?;
        let best = place(located.answer.best);
        let tag = GeoTag::new(best).radius_km(located.answer.radius_90_km).area(&describe(best).to_string());
        let overwrite = if args.force { Overwrite::Force } else { Overwrite::Never };
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

fn new_page() -> HtmlMap {
    let labels = place_names(LABEL_POPULATION).into_iter().map(|name| match name.kind {
        PlaceKind::Country { width_deg } => MapLabel::country(name.place, &name.text, width_deg),
        PlaceKind::Town { population } => MapLabel::town(name.place, &name.text, population),
    });
    HtmlMap::new("LocDiff").labels(labels).credit(CREDIT)
}

fn row(located: &Located<'_>) -> [String; 10] {
    let (answer, said) = (located.answer, describe(place(located.answer.best)));
    [
        located.name.to_owned(),
        format!("{:.6}", answer.best.lat),
        format!("{:.6}", answer.best.lon),
        format!("{:.1}", answer.radius_50_km),
        format!("{:.1}", answer.radius_90_km),
        format!("{:.4}", answer.hypotheses.first().map_or(0.0, |h| h.probability)),
        format!("{:.4}", answer.locatability),
        answer.can_tell.to_string(),
        said.to_string(),
        said.country.unwrap_or_default(),
    ]
}

fn add_features(features: &mut FeatureCollection, located: &Located<'_>, drawn: &Drawn) {
    for (p, area_km2, outline) in &drawn.regions {
        let properties =
            [("photo", located.name.into()), ("probability", (*p).into()), ("area_km2", (*area_km2).into())];
        features.push_region(outline, &properties);
    }
    for (k, hypothesis) in located.answer.hypotheses.iter().enumerate() {
        let at = place(hypothesis.place);
        let mut properties = vec![
            ("photo", located.name.into()),
            ("rank", (k + 1).into()),
            ("probability", hypothesis.probability.into()),
            ("place", describe(at).to_string().into()),
        ];
        if k == 0 {
            properties.push(("radius_50_km", located.answer.radius_50_km.into()));
            properties.push(("radius_90_km", located.answer.radius_90_km.into()));
            properties.push(("can_tell", located.answer.can_tell.into()));
        }
        features.push_point(at, &properties);
    }
}

fn kml_folder(located: &Located<'_>, drawn: &Drawn) -> KmlFolder {
    let mut folder = KmlFolder::new(located.name);
    for (p, area_km2, outline) in &drawn.regions {
        folder.push_region(outline, &format!("{:.0} %", 100.0 * p), &format!("{area_km2:.0} km²"));
    }
    for (k, hypothesis) in located.answer.hypotheses.iter().enumerate() {
        let at = place(hypothesis.place);
        let name = format!("{}: {:.0} %", k + 1, 100.0 * hypothesis.probability);
        folder.push_point(at, &name, &describe(at).to_string());
    }
    folder
}

fn html_photo(located: &Located<'_>, drawn: &Drawn) -> HtmlPhoto {
    let (answer, best) = (located.answer, place(located.answer.best));
    let guess = if answer.can_tell { "" } else { "I can't tell; a guess: " };
    let summary = format!("{guess}{}", describe(best));
    let mut photo = HtmlPhoto::new(located.name)
        .summary(&summary)
        .fact("best place", &best.to_string())
        .fact("50 % within", &format!("{} km", kilometres(answer.radius_50_km)))
        .fact("90 % within", &format!("{} km", kilometres(answer.radius_90_km)))
        .fact("locatability", &format!("{:.2}", answer.locatability))
        .heat(&drawn.raster, Heat::log_density());
    for (p, _, outline) in &drawn.regions {
        photo = photo.outline(outline, &format!("{:.0} %", 100.0 * p));
    }
    for hypothesis in answer.hypotheses.iter().filter(|h| h.probability >= WORTH_A_MARKER) {
        let at = place(hypothesis.place);
        photo =
            photo.marker(HtmlMarker::new(at, &describe(at).to_string()).probability(hypothesis.probability));
    }
    if let Some(gps) = located.gps {
        photo = photo.marker(HtmlMarker::new(gps, "the photo's GPS tag, not used").truth());
    }
    photo
}

/// A map of the 90 % region where it is small, else of the world.
fn picture(located: &Located<'_>, drawn: &Drawn) -> Result<Vec<u8>> {
    const WORTH_A_ZOOM_KM: f64 = 2000.0;
    const ROWS: usize = 720;
    let (answer, best) = (located.answer, place(located.answer.best));
    let window = if answer.radius_90_km < WORTH_A_ZOOM_KM {
        let window = Window::around(best, (2.0 * answer.radius_90_km).clamp(400.0, 9000.0), ROWS)?;
        let aspect = window.width_deg() * best.lat_deg().to_radians().cos() / window.height_deg();
        window.with_cells(ROWS, (aspect * ROWS as f64).round().clamp(400.0, 1440.0) as usize)?
    } else {
        *drawn.raster.window()
    };
    let mut image = MapImage::new(window).heat(drawn.raster.clone(), Heat::log_density());
    for (p, _, outline) in drawn.regions.iter().rev() {
        image = image.outline(outline.clone(), &format!("{:.0} %", 100.0 * p));
    }
    for (k, hypothesis) in answer.hypotheses.iter().enumerate() {
        if k == 0 || hypothesis.probability >= WORTH_A_MARKER {
            let label = format!("{:.0} %", 100.0 * hypothesis.probability);
            image = image.marker(Marker::new(place(hypothesis.place)).label(&label));
        }
    }
    let words = if answer.can_tell { describe(best).to_string() } else { "I can't tell".to_owned() };
    let (half, most) = (kilometres(answer.radius_50_km), kilometres(answer.radius_90_km));
    let title = format!("{words}: 50 % within {half} km, 90 % within {most} km");
    Ok(image.title(&title).to_png())
}

/// The backward process: at every step the mean of the samples' clean estimates, read as the paper reads a code, by the
/// density `exp(e·Y)`.
fn film(located: &Located<'_>) -> Result<Trace> {
    let best = place(located.answer.best);
    let window = Window::globe(180, 360)?;
    let points = window.points();
    let mut trace = Trace::new(located.name).answer(best, &describe(best).to_string());
    for (t, code) in located.trace {
        let log_density = located.density.globe().codec().field().values(code, &points)?;
        trace.push(&format!("t = {t}"), Raster::new(window, log_density)?);
    }
    Ok(trace)
}
