//! Answers as maps: GeoJSON, KML, a page, a picture, an animation of the backward process.

use crate::{Answer, Density, DensityGrid, error::Failure, error::Result, grid::worth_drawing};
use locdiff_base::{counted, kilometres};
use locdiff_map::places::{PlaceKind, PlaceName, place_names};
use locdiff_map::{Colour, CrowdMap, CrowdPhoto, FeatureCollection, HtmlMarker, HtmlPhoto, KmlDocument};
use locdiff_map::{KmlFolder, MapImage, MapLabel, MapPage, Marker, MarkerShape, Raster, Trace, Window};
use locdiff_map::{contour_polygons, crowd_image, geotiff, photos_png};
use locdiff_model::{TraceStep, answer::DensityRegion};
use locdiff_shdd::Codec;
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, Polygon, UnitVec, haversine_km};
use locdiff_vision::{Photo, PhotoLimits};
use rayon::prelude::*;
use std::{io::Read, io::Seek, io::Write, sync::OnceLock};

const PROBABILITIES: [f64; 2] = [0.5, 0.9];
/// Densities this far below the maximum look alike on a map.
const DEPTH_NATS: f64 = 40.0;
const CREDIT: &str = "Land and borders: Natural Earth. Towns: GeoNames, CC BY 4.0.";
/// Towns from this size on are named on a page's map.
const LABEL_POPULATION: u32 = 300_000;
const WORTH_A_MARKER: f64 = 0.02;
const GPS_TAG: &str = "GPS tag";
/// Pixels of a point in pictures: they are sharp at half of their width.
const SCALE: f64 = 2.0;
/// Pixels of a picture of one photo.
pub(crate) const PICTURE: (usize, usize) = (1600, 900);

/// Map of an answer, for all kinds of map files.
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
    density: &'a Density,
    raster: Raster,
    regions: Vec<(f64, f64, Vec<Polygon>)>,
}

/// Returns the log density at a window's cells, cut off at [`DEPTH_NATS`] below the maximum.
fn raster(density: &Density, window: Window) -> Result<Raster> {
    let [rows, columns] = window.lines();
    let mut values = density.log_density_on(&rows, &columns);
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for value in &mut values {
        *value = value.max(top - DEPTH_NATS);
    }
    Ok(Raster::new(window, values)?)
}

/// Returns the outlines of regions, the smallest first. Map factors make a density ragged in cells of 25 km. So outlines follow the density
/// smoothed over up to 40 km, or over a cell of the raster if that is wider. They have the regions' areas. A small first region is
/// smoothed less.
fn outlines(raster: &Raster, regions: [DensityRegion; 2]) -> Vec<(f64, f64, Vec<Polygon>)> {
    const SIGMA_KM: f64 = 40.0;
    const KM_PER_DEGREE: f64 = 111.195;
    let cell_km = KM_PER_DEGREE * raster.window().height_deg() / raster.window().rows() as f64;
    let smooth = raster.smoothed((0.06 * regions[0].area_km2.sqrt()).min(SIGMA_KM).max(cell_km));
    let outline = |DensityRegion { probability, area_km2, .. }| {
        (probability, area_km2, contour_polygons(&smooth, smooth.level_of_area(area_km2)))
    };
    regions.into_par_iter().map(outline).collect()
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

/// Returns a photo's position on a map, and its kind of marker: at its GPS tag if it has one.
pub(crate) fn shown(answer: &Answer) -> (LatLon, Shown) {
    let untagged = if answer.can_tell { Shown::Answered } else { Shown::Guessed };
    answer.gps.map_or((answer.best, untagged), |gps| (gps, Shown::Tagged))
}

/// The answer for a photo in words; of a tagged one, how far it is from the tag.
pub(crate) fn words(answer: &Answer) -> String {
    let guess = if answer.can_tell { "" } else { "I can't tell: " };
    let place = restricted_headline(answer);
    let Some(gps) = answer.gps else { return format!("{guess}{place}") };
    let off = kilometres(haversine_km(answer.best, gps));
    let what = if answer.can_tell { "the answer" } else { "a guess" };
    format!("GPS tag; {what} is {off} km away, {place}")
}

/// The headline and, if the answer was restricted, by what.
fn restricted_headline(answer: &Answer) -> String {
    let (headline, regions) = (&answer.headline, answer.restricted_by.join(" or "));
    if regions.is_empty() { headline.clone() } else { format!("{headline} (restricted by {regions})") }
}

pub(crate) fn crowd_photo(answer: &Answer) -> CrowdPhoto {
    let (place, shown) = shown(answer);
    if shown == Shown::Tagged {
        let mut photo = CrowdPhoto::new(name(answer), place, &words(answer));
        photo.is_tagged = true;
        return photo;
    }
    let mut photo = CrowdPhoto::new(name(answer), place, &restricted_headline(answer));
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
            if !answer.restricted_by.is_empty() {
                properties.push(("restricted_by", answer.restricted_by.join(" or ").into()));
            }
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
    static LABELS: OnceLock<Vec<MapLabel>> = OnceLock::new();
    let label = |name: PlaceName| match name.kind {
        PlaceKind::Country { width_deg } => MapLabel::country(name.place, &name.text, width_deg),
        PlaceKind::Town { population } => MapLabel::town(name.place, &name.text, population),
    };
    LABELS.get_or_init(|| place_names(LABEL_POPULATION).into_iter().map(label).collect()).iter().cloned()
}

fn name(answer: &Answer) -> &str {
    answer.photo.as_deref().unwrap_or("photo")
}

impl<'a> AnswerMap<'a> {
    /// Draws an answer. Fails if it has no density, as in an album.
    pub fn new(answer: &'a Answer) -> Result<Self> {
        let density = answer.density().ok_or(Failure::NoDensity)?;
        let regions = density.regions(PROBABILITIES);
        let wide = raster(density, worth_drawing(density, None)?)?;
        // Outlines have cells of their own where these are finer, or the rest is not worth drawing.
        let window = worth_drawing(density, Some(regions[1].log_density))?;
        let cell_deg = |window: &Window| window.height_deg() / window.rows() as f64;
        let is_finer = cell_deg(&window) < 0.7 * cell_deg(wide.window());
        let is_beyond = regions[1].log_density < wide.max() - DensityGrid::DEPTH_NATS;
        let own = (is_finer || is_beyond).then(|| raster(density, window)).transpose()?;
        let regions = outlines(own.as_ref().unwrap_or(&wide), regions);
        Ok(Self { answer, density, regions, raster: wide })
    }

    /// An animation of the backward process: at every step the mean of the samples' own densities `exp(e·Y)`, with the noise that is still in
    /// them. Its cube root is shown: samples are too narrow to be seen on a globe. Fails on steps of another degree than the codec's.
    pub(crate) fn animation(codec: &Codec, answer: &Answer, steps: &[TraceStep]) -> Result<Trace> {
        /// More samples take longer and show no more.
        const MOST_SAMPLES: usize = 12;
        let window = Window::globe(90, 180)?;
        let points = window.points();
        let areas = |cell: usize| window.cell_area_sr(cell / window.columns());
        let mut trace = Trace::new("cube root of the samples' density, before map factors");
        for TraceStep { t, samples } in steps {
            let mut sum = vec![0.0; points.len()];
            for code in samples.iter().take(MOST_SAMPLES) {
                let values = codec.field(code).map_err(locdiff_model::ModelError::from)?.values(&points);
                let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let total: f64 = values.iter().enumerate().map(|(cell, value)| areas(cell) * (value - top).exp()).sum();
                sum.iter_mut().zip(&values).for_each(|(sum, value)| *sum += (value - top).exp() / total);
            }
            let logs = sum.into_iter().map(|value| f64::ln(value.max((-DEPTH_NATS).exp())) / 3.0).collect();
            trace.push(&format!("sampling, t = {t}"), Raster::new(window, logs)?);
        }
        Ok(trace.answer(answer.best))
    }

    /// Returns regions and locations as GeoJSON.
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

    /// Returns regions and locations as KML.
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

    /// Returns an HTML page with a map that needs no network.
    pub fn html(&self) -> String {
        self.html_photo().to_html(labelled("LocDiff"))
    }

    pub(crate) fn html_photo(&self) -> HtmlPhoto {
        let answer = self.answer;
        let mut photo = HtmlPhoto::new(name(answer))
            .summary(&words(answer))
            .fact("best place", &answer.best.to_string())
            .fact("half within", &format!("{} km", kilometres(answer.radius_50_km)))
            .fact("nine in ten within", &format!("{} km", kilometres(answer.radius_90_km)))
            .fact("locatability", &format!("{:.2}", answer.locatability))
            .heat(&self.raster);
        for (p, _, outline) in &self.regions {
            photo = photo.outline(outline, &region_words(*p));
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

    /// Returns a GeoTIFF with the probability of every cell of the world; they sum to 1. Fails if it cannot be encoded.
    pub fn geotiff(&self) -> Result<Vec<u8>> {
        /// Cells of a quarter of a degree.
        const WORLD: (usize, usize) = (720, 1440);
        let raster = raster(self.density, Window::globe(WORLD.0, WORLD.1)?)?;
        let (window, top) = (*raster.window(), raster.max());
        let cells = raster.values().chunks(window.columns()).enumerate();
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

    /// Draws a PNG of the density around the 90 % region, to be shown 800 pixels wide. Fails if it cannot be drawn.
    pub fn png(&self) -> Result<Vec<u8>> {
        Ok(photos_png(&[self.picture(PICTURE, None)?], 1, "")?)
    }

    /// A map of so many pixels, with a small JPEG of the photo.
    pub(crate) fn picture(&self, size: (usize, usize), photo: Option<&[u8]>) -> Result<MapImage> {
        /// Pixels of a cell of the density.
        const CELL: usize = 4;
        let (answer, density) = (self.answer, self.density);
        let level = density.region(PROBABILITIES[1]).log_density;
        // What is far from most of the region may lie outside.
        let near = (2.0 * answer.radius_90_km / EARTH_RADIUS_KM, answer.best.to_unit());
        let held = density.points().iter().zip(density.point_log_density());
        let held = held.filter(|(point, value)| **value >= level && near.1.angle_rad(**point) <= near.0);
        let places = answer.gps.iter().chain([&answer.best]).map(|place| place.to_unit());
        let shown: Vec<UnitVec> = held.map(|(point, _)| *point).chain(places).collect();
        let [south, north, ..] = Window::bounds(&shown, 0.0);
        let margin_deg = 0.5 + 0.2 * (north - south).min(30.0);
        let window = Window::of_picture(Window::bounds(&shown, margin_deg), size.0, size.1)?;
        let cells = window.with_cells((window.rows() / CELL).max(1), (window.columns() / CELL).max(1))?;
        let mut image = MapImage::new(window).scale(SCALE).heat(raster(density, cells)?);
        for (p, _, outline) in &self.regions {
            image = image.outline(outline.clone(), &region_words(*p));
        }
        image = image.marker(Marker::new(answer.best).legend("most likely location"));
        for other in answer.hypotheses.iter().skip(1).filter(|other| other.probability >= WORTH_A_MARKER) {
            let dot = Marker::new(other.at).shape(MarkerShape::Dot).legend("other hypotheses");
            image = image.marker(dot.label(&format!("{:.0} %", 100.0 * other.probability)));
        }
        if let Some(gps) = answer.gps {
            image = image.marker(Marker::new(gps).shape(MarkerShape::Circle).colour(Colour::GPS_TAG).legend(GPS_TAG));
        }
        let small = photo.and_then(|jpeg| Photo::decode(jpeg, name(answer), &PhotoLimits::default()).ok());
        if let Some(photo) = small {
            image = image.photo(photo.rgb().to_vec(), photo.width() as usize);
        }
        let cannot = if answer.can_tell { "" } else { "I can't tell: " };
        let (half, most) = (kilometres(answer.radius_50_km), kilometres(answer.radius_90_km));
        let countries = answer.likeliest_countries();
        let most = format!(", nine in ten within {most} km\nmost likely {countries}");
        let most = if size == PICTURE { most.trim_end_matches("\nmost likely ") } else { "" };
        Ok(image
            .title(&format!("{cannot}{}\nhalf within {half} km{most}", restricted_headline(answer)))
            .names(labels()))
    }
}

fn region_words(p: f64) -> String {
    format!("smallest region that holds {:.0} %", 100.0 * p)
}

/// Draws many photos in one picture: their numbers by region, and how far away they may have been taken.
pub(crate) fn crowd_png(photos: &[CrowdPhoto], unreadable: usize) -> Result<Vec<u8>> {
    let image = crowd_image(photos)?.names(labels()).title(&photos_title(photos, unreadable));
    Ok(photos_png(&[image], 1, "")?)
}

/// How many photos of each kind there are, in the words of the summary that `locdiff locate` prints.
pub(crate) fn photos_title(photos: &[CrowdPhoto], unreadable: usize) -> String {
    let tagged = photos.iter().filter(|photo| photo.is_tagged).count();
    let guessed = photos.iter().filter(|photo| !photo.is_tagged && !photo.can_tell).count();
    let answered = photos.len() - tagged - guessed;
    let counts =
        [(answered, "answered"), (guessed, "can't tell"), (tagged, "already tagged"), (unreadable, "unreadable")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, kind)| format!("{count} {kind}"));
    format!("{}: {}", counted(photos.len() + unreadable, "photo"), counts.collect::<Vec<_>>().join(", "))
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
        let title = photos_title(&[crowd_photo(&answer), crowd_photo(&tagged)], 1);
        assert_eq!(title, "3 photos: 1 can't tell, 1 already tagged, 1 unreadable");
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

    #[test]
    fn maps_say_what_an_answer_was_restricted_by() {
        let at = LatLon::new(10.0, 2.0).unwrap();
        let hypotheses = vec![locdiff_model::answer::Hypothesis::new(at, 0.5)];
        let mut answer = Answer::at(at, [5.0, 9.0], hypotheses, 0.5);
        assert_eq!(restricted_headline(&answer), answer.headline);
        answer.restricted_by = vec!["Japan".to_owned(), "Korea".to_owned()];
        let mut features = FeatureCollection::new();
        add_places(&answer, &mut features);
        for text in [words(&answer), crowd_photo(&answer).words, features.to_string()] {
            assert!(text.contains("Japan or Korea"), "{text}");
        }
    }

    fn places_folder_text(answer: &Answer) -> String {
        let mut document = KmlDocument::new("x");
        document.push(places_folder(answer));
        document.to_string()
    }
}
