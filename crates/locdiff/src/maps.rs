//! Answers as maps: GeoJSON, KML, a page, a picture, a film of the backward process.

use crate::{Answer, Density, DensityGrid, LocateError, error::Failure, grid::worth_drawing};
use locdiff_base::{counted, kilometres};
use locdiff_map::places::{PlaceKind, place_names};
use locdiff_map::{
    Colour, CrowdMap, CrowdPhoto, FeatureCollection, Heat, HtmlMap, HtmlMarker, HtmlPhoto, KmlDocument, KmlFolder,
    MapImage, MapLabel, MapPage, Marker, MarkerShape, Raster, Trace, Window, contour_polygons, geotiff,
};
use locdiff_model::TraceStep;
use locdiff_shdd::Codec;
use locdiff_shdd::sphere::{LatLon, Polygon, UnitVec, haversine_km, spherical_mean};
use std::io::{Read, Seek, Write};
use std::sync::OnceLock;

const PROBABILITIES: [f64; 2] = [0.5, 0.9];
/// The world raster that maps and outlines are made from: cells of a quarter of a degree, half a pixel of the answer.
const WORLD: (usize, usize) = (720, 1440);
/// Densities this far below the top are the same to the eye, and to a contour.
const DEPTH_NATS: f64 = 40.0;
/// Cells of this share of the world's are worth tracing outlines in.
const WORTH_TRACING: f64 = 0.7;
const CREDIT: &str = "Land and borders: Natural Earth. Towns: GeoNames, CC BY 4.0.";
/// Towns from this size on are named on a page's map.
const LABEL_POPULATION: u32 = 300_000;
const WORTH_A_MARKER: f64 = 0.02;
const GPS_TAG: &str = "GPS tag";
const GUESS: Colour = Colour::from_hex(0xd98c3f);
/// As on the pages.
const TAG: Colour = Colour::from_hex(0x0a7d32);

/// An answer drawn on the world: what every kind of map file shows.
///
/// ```
/// # #[cfg(feature = "bundled")] {
/// use locdiff::{AnswerMap, Locator};
/// # let photo = "../../fixtures/vision/china.jpg";
/// let answer = Locator::bundled()?.locate(photo)?;
/// let map = AnswerMap::new(&answer)?;
/// assert!(map.geojson().starts_with("{\"type\":\"FeatureCollection\""));
/// assert_eq!(&map.png()?[1..4], b"PNG");
/// # }
/// # Ok::<(), locdiff::LocateError>(())
/// ```
pub struct AnswerMap<'a> {
    answer: &'a Answer,
    raster: Raster,
    regions: Vec<(f64, f64, Vec<Polygon>)>,
}

/// The cells of the world and their centres, made when the first map is drawn.
fn world() -> Result<&'static (Window, Vec<UnitVec>), LocateError> {
    static CELLS: OnceLock<(Window, Vec<UnitVec>)> = OnceLock::new();
    if let Some(cells) = CELLS.get() {
        return Ok(cells);
    }
    let window = Window::globe(WORLD.0, WORLD.1)?;
    Ok(CELLS.get_or_init(|| (window, window.points())))
}

/// The log density at a window's cells, cut where nothing is to be seen.
fn raster(density: &Density, window: Window, points: &[UnitVec]) -> Result<Raster, LocateError> {
    let mut values = density.log_density(points);
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for value in &mut values {
        *value = value.max(top - DEPTH_NATS);
    }
    Ok(Raster::new(window, values)?)
}

/// A page for answers, to which [`AnswerMap::html_photo`] is added.
pub(crate) fn answers_page() -> HtmlMap {
    HtmlMap::new(labelled("LocDiff"))
}

/// A page for any number of answers, to which [`crowd_photo`] is added; their pictures wait in `spool`.
pub(crate) fn crowd_page<S: Read + Write + Seek>(spool: S) -> CrowdMap<S> {
    CrowdMap::new(labelled("LocDiff"), spool)
}

pub(crate) fn labelled(title: &str) -> MapPage {
    MapPage::new(title).labels(labels()).credit(CREDIT)
}

/// As what a photo is shown and counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Answered,
    Guessed,
    Tagged,
}

/// Where a photo is shown, and as what: at its GPS tag if it has one.
pub(crate) fn shown(answer: &Answer) -> (LatLon, Shown) {
    let untagged = if answer.can_tell { Shown::Answered } else { Shown::Guessed };
    answer.gps.map_or((answer.best, untagged), |gps| (gps, Shown::Tagged))
}

/// The answer for a photo in words; of a tagged one, how far it is from the tag.
pub(crate) fn words(answer: &Answer) -> String {
    let guess = if answer.can_tell { "" } else { "I can't tell; a guess: " };
    let Some(gps) = answer.gps else { return format!("{guess}{}", answer.place) };
    let off = kilometres(haversine_km(answer.best, gps));
    let what = if answer.can_tell { "the answer" } else { "a guess" };
    format!("GPS tag; {what} is {off} km away, {}", answer.place)
}

pub(crate) fn crowd_photo(answer: &Answer) -> CrowdPhoto {
    let (place, shown) = shown(answer);
    if shown == Shown::Tagged {
        let mut photo = CrowdPhoto::new(name(answer), place, &words(answer));
        photo.is_tagged = true;
        return photo;
    }
    let mut photo = CrowdPhoto::new(name(answer), place, &answer.place);
    photo.radius_50_km = answer.radius_50_km;
    photo.radius_90_km = answer.radius_90_km;
    photo.confidence = answer.locatability;
    photo.can_tell = answer.can_tell;
    photo
}

/// Adds the places of an answer to a collection, without the regions: for many photos in one file.
pub(crate) fn add_places(answer: &Answer, features: &mut FeatureCollection) {
    if let Some(gps) = answer.gps {
        features.push_point(gps, &[("photo", name(answer).into()), ("place", GPS_TAG.into()), ("is_tag", true.into())]);
    }
    for (k, hypothesis) in answer.hypotheses.iter().enumerate() {
        let mut properties = vec![
            ("photo", name(answer).into()),
            ("rank", (k + 1).into()),
            ("probability", hypothesis.probability.into()),
            ("place", hypothesis.place.clone().into()),
        ];
        if k == 0 {
            properties.push(("radius_50_km", answer.radius_50_km.into()));
            properties.push(("radius_90_km", answer.radius_90_km.into()));
            properties.push(("can_tell", answer.can_tell.into()));
        }
        features.push_point(hypothesis.at, &properties);
    }
}

pub(crate) fn places_folder(answer: &Answer) -> KmlFolder {
    let mut folder = KmlFolder::new(name(answer));
    push_places(answer, &mut folder);
    folder
}

fn push_places(answer: &Answer, folder: &mut KmlFolder) {
    if let Some(gps) = answer.gps {
        folder.push_point(gps, GPS_TAG, &words(answer));
    }
    for (k, hypothesis) in answer.hypotheses.iter().enumerate() {
        let name = format!("{}: {:.0} %", k + 1, 100.0 * hypothesis.probability);
        folder.push_point(hypothesis.at, &name, &hypothesis.place);
    }
}

fn labels() -> impl Iterator<Item = MapLabel> {
    place_names(LABEL_POPULATION).into_iter().map(|name| match name.kind {
        PlaceKind::Country { width_deg } => MapLabel::country(name.place, &name.text, width_deg),
        PlaceKind::Town { population } => MapLabel::town(name.place, &name.text, population),
    })
}

fn name(answer: &Answer) -> &str {
    answer.photo.as_deref().unwrap_or("photo")
}

impl<'a> AnswerMap<'a> {
    /// Draws an answer. Fails if it has no density: one of an album.
    pub fn new(answer: &'a Answer) -> Result<Self, LocateError> {
        let density = answer.density().ok_or(Failure::NoDensity)?;
        let (world, points) = world()?;
        let raster = raster(density, *world, points)?;
        // The world's cells are coarse for a small country: its outlines are traced in cells of its own.
        let window = worth_drawing(density)?;
        let cell_deg = |window: &Window| window.height_deg() / window.rows() as f64;
        let is_finer = cell_deg(&window) < WORTH_TRACING * cell_deg(world);
        let fine = is_finer.then(|| self::raster(density, window, &window.points())).transpose()?;
        let regions = PROBABILITIES.iter().map(|&p| {
            let region = density.region(p);
            let whole = fine.as_ref().filter(|fine| region.log_density > fine.max() - DensityGrid::DEPTH_NATS);
            (p, region.area_km2, contour_polygons(whole.unwrap_or(&raster), region.log_density))
        });
        Ok(Self { answer, regions: regions.collect(), raster })
    }

    /// An animation of the backward process: at every step the mean of the samples' clean estimates, read as the paper reads a
    /// code, by the density `exp(e·Y)`. Fails on steps of another degree than the codec's.
    pub(crate) fn animation(codec: &Codec, answer: &Answer, steps: &[TraceStep]) -> Result<Trace, LocateError> {
        let window = Window::globe(180, 360)?;
        let points = window.points();
        let mut trace = Trace::new(name(answer)).answer(answer.best, &answer.place);
        for TraceStep { t, code, .. } in steps {
            let field = codec.field(code).map_err(locdiff_model::ModelError::from)?;
            trace.push(&format!("t = {t}"), Raster::new(window, field.values(&points))?);
        }
        Ok(trace)
    }

    /// Regions and places as a GeoJSON text.
    pub fn geojson(&self) -> String {
        let mut features = FeatureCollection::new();
        self.add_features(&mut features);
        features.to_string()
    }

    pub(crate) fn add_features(&self, features: &mut FeatureCollection) {
        for (p, area_km2, outline) in &self.regions {
            let properties =
                [("photo", name(self.answer).into()), ("probability", (*p).into()), ("area_km2", (*area_km2).into())];
            features.push_region(outline, &properties);
        }
        add_places(self.answer, features);
    }

    /// The same as a KML text.
    pub fn kml(&self) -> String {
        let mut document = KmlDocument::new(name(self.answer));
        document.push(self.kml_folder());
        document.to_string()
    }

    pub(crate) fn kml_folder(&self) -> KmlFolder {
        let mut folder = KmlFolder::new(name(self.answer));
        for (p, area_km2, outline) in &self.regions {
            folder.push_region(outline, &format!("{:.0} %", 100.0 * p), &format!("{area_km2:.0} km²"));
        }
        push_places(self.answer, &mut folder);
        folder
    }

    /// A page with a map that needs no network.
    pub fn html(&self) -> String {
        answers_page().photo(self.html_photo()).to_html()
    }

    pub(crate) fn html_photo(&self) -> HtmlPhoto {
        let answer = self.answer;
        let mut photo = HtmlPhoto::new(name(answer))
            .summary(&words(answer))
            .fact("best place", &answer.best.to_string())
            .fact("50 % within", &format!("{} km", kilometres(answer.radius_50_km)))
            .fact("90 % within", &format!("{} km", kilometres(answer.radius_90_km)))
            .fact("locatability", &format!("{:.2}", answer.locatability))
            .heat(&self.raster, Heat::log_density());
        for (p, _, outline) in &self.regions {
            photo = photo.outline(outline, &format!("{:.0} %", 100.0 * p));
        }
        for hypothesis in answer.hypotheses.iter().filter(|h| h.probability >= WORTH_A_MARKER) {
            let marker = HtmlMarker::new(hypothesis.at, &hypothesis.place);
            photo = photo.marker(marker.probability(hypothesis.probability));
        }
        if let Some(gps) = answer.gps {
            photo = photo.marker(HtmlMarker::new(gps, GPS_TAG).truth());
        }
        photo
    }

    /// The probability of every cell of the world as a GeoTIFF file; they sum to 1.
    pub fn geotiff(&self) -> Result<Vec<u8>, LocateError> {
        let window = *self.raster.window();
        let top = self.raster.max();
        let cells = self.raster.values().chunks(window.columns()).enumerate();
        let mut masses: Vec<f64> = cells
            .flat_map(|(row, values)| {
                let area_sr = window.cell_area_sr(row);
                values.iter().map(move |value| (value - top).exp() * area_sr)
            })
            .collect();
        let sum: f64 = masses.iter().sum();
        for mass in &mut masses {
            *mass /= sum;
        }
        Ok(geotiff(&Raster::new(window, masses)?))
    }

    /// A picture of the 90 % region where it is small, else of the world.
    pub fn png(&self) -> Result<Vec<u8>, LocateError> {
        let answer = self.answer;
        let away_km = answer.gps.map_or(0.0, |gps| haversine_km(answer.best, gps));
        let window = picture_window(answer.best, answer.radius_90_km.max(away_km))?;
        let mut image = MapImage::new(window).heat(self.raster.clone(), Heat::log_density());
        for (p, _, outline) in self.regions.iter().rev() {
            image = image.outline(outline.clone(), &format!("{:.0} %", 100.0 * p));
        }
        for (k, hypothesis) in answer.hypotheses.iter().enumerate() {
            if k == 0 || hypothesis.probability >= WORTH_A_MARKER {
                let label = format!("{:.0} %", 100.0 * hypothesis.probability);
                image = image.marker(Marker::new(hypothesis.at).label(&label));
            }
        }
        if let Some(gps) = answer.gps {
            image = image.marker(Marker::new(gps).shape(MarkerShape::Circle).colour(TAG).label(GPS_TAG));
        }
        let words = if answer.can_tell { &answer.place } else { "I can't tell" };
        let (half, most) = (kilometres(answer.radius_50_km), kilometres(answer.radius_90_km));
        let title = format!("{words}: 50 % within {half} km, 90 % within {most} km");
        Ok(image.title(&title).to_png())
    }
}

/// The part of the world that a picture shows: around a place where what is to be seen is near it, else all of it.
fn picture_window(place: LatLon, reach_km: f64) -> Result<Window, LocateError> {
    const WORTH_A_ZOOM_KM: f64 = 2000.0;
    if reach_km >= WORTH_A_ZOOM_KM {
        return Ok(Window::globe(WORLD.0, WORLD.1)?);
    }
    let rows = WORLD.0;
    let window = Window::around(place, (2.0 * reach_km).clamp(400.0, 9000.0), rows)?;
    let aspect = window.width_deg() * place.lat_deg().to_radians().cos() / window.height_deg();
    Ok(window.with_cells(rows, (aspect * rows as f64).round().clamp(400.0, 1440.0) as usize)?)
}

/// Many photos in one picture: a dot each, in the colour of what it is shown as.
pub(crate) fn dots_png(places: &[(LatLon, Shown)], unreadable: usize) -> Result<Vec<u8>, LocateError> {
    let points: Vec<UnitVec> = places.iter().map(|(place, _)| place.to_unit()).collect();
    let window = match spherical_mean(&points).map(UnitVec::to_latlon) {
        Some(middle) => {
            let reach_km = places.iter().map(|(place, _)| haversine_km(middle, *place)).fold(0.0, f64::max);
            picture_window(middle, reach_km)?
        }
        None => Window::globe(WORLD.0, WORLD.1)?,
    };
    let mut image = MapImage::new(window);
    for (place, shown) in places {
        let dot = Marker::new(*place).shape(MarkerShape::Dot);
        image = image.marker(match shown {
            Shown::Answered => dot,
            Shown::Guessed => dot.colour(GUESS),
            Shown::Tagged => dot.colour(TAG),
        });
    }
    Ok(image.title(&dots_title(places, unreadable)).to_png())
}

/// How many photos of each kind there are, in the words of the summary that `locdiff locate` prints.
fn dots_title(places: &[(LatLon, Shown)], unreadable: usize) -> String {
    let count = |kind: Shown| places.iter().filter(|(_, shown)| *shown == kind).count();
    let [answered, guessed, tagged] = [Shown::Answered, Shown::Guessed, Shown::Tagged].map(count);
    let photos = counted(places.len() + unreadable, "photo");
    format!(
        "{photos}: {answered} answered (dark), {guessed} can't tell (orange), {tagged} already tagged (green), {unreadable} unreadable"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tagged_photo_is_shown_and_counted_by_its_tag() {
        let at = |lat| LatLon::new(lat, 2.0).unwrap();
        let mut answer = Answer::at(at(10.0), [5.0, 9.0], Vec::new(), 0.5);
        answer.can_tell = false;
        let tagged = answer.clone().about("b.jpg", Some(at(20.0)));
        assert_eq!((shown(&answer), shown(&tagged)), ((at(10.0), Shown::Guessed), (at(20.0), Shown::Tagged)));
        let title = dots_title(&[shown(&answer), shown(&tagged)], 1);
        assert_eq!(title, "3 photos: 0 answered (dark), 1 can't tell (orange), 1 already tagged (green), 1 unreadable");
        let crowd = crowd_photo(&tagged);
        assert!(
            crowd.is_tagged && crowd.place == at(20.0) && crowd.words.contains("a guess is 1,100 km away"),
            "{crowd:?}"
        );
        let mut features = FeatureCollection::new();
        add_places(&tagged, &mut features);
        assert!(features.to_string().contains("\"is_tag\":true"), "{features}");
        assert!(places_folder_text(&tagged).contains("<name>GPS tag</name>"));
    }

    fn places_folder_text(answer: &Answer) -> String {
        let mut document = KmlDocument::new("x");
        document.push(places_folder(answer));
        document.to_string()
    }
}
