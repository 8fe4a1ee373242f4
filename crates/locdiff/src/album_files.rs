//! The answers of an album as files: a track with its uncertainty.

use crate::{error::Result, maps::crowd_photo, maps::crowd_png, maps::labelled};
use locdiff_album::AlbumAnswer;
use locdiff_base::distance;
use locdiff_io::data::TableWriter;
use locdiff_map::{FeatureCollection, GpxPoint, KmlDocument, KmlFolder, TrackMap, TrackPhoto, gpx};
use locdiff_shdd::sphere::LatLon;
use serde_json::{Value, json};
use std::{collections::BTreeMap, path::Path};

/// Files about an album's answers, in order of time.
///
/// ```
/// # #[cfg(feature = "bundled")] {
/// use locdiff::{AlbumFiles, AlbumOptions, LatLon, Locator, PhotoTime, Source};
/// # std::env::set_current_dir("../../fixtures/vision")?;
/// let paris = Some(LatLon::new(48.86, 2.35)?);
/// let photo = Source::file("china.jpg").with_time(Some(PhotoTime::at(0.0))).with_gps(paris);
/// let run = Locator::bundled()?.locate_album([photo], &AlbumOptions::default())?;
/// let answers: Vec<_> = run.answers().cloned().collect();
/// let files = AlbumFiles::new("A trip", &answers);
/// assert!(files.gpx().contains("<time>1970-01-01T00:00:00Z</time>"));
/// assert!(files.geojson().contains("\"because\":\"its own GPS tag"));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AlbumFiles<'a> {
    name: &'a str,
    given: &'a [AlbumAnswer],
    /// Their numbers, in order of time.
    order: Vec<usize>,
}

impl<'a> AlbumFiles<'a> {
    /// Prepares files for an album of this name.
    pub fn new(name: &'a str, answers: &'a [AlbumAnswer]) -> Self {
        let mut order: Vec<usize> = (0..answers.len()).collect();
        let start = |k: usize| *answers[k].time.span().end(); // unknown times come last
        order.sort_by(|&a, &b| start(a).total_cmp(&start(b)));
        Self { name, given: answers, order }
    }

    fn answers(&self) -> impl Iterator<Item = &'a AlbumAnswer> {
        self.order.iter().map(|&k| &self.given[k])
    }

    /// Writes a CSV with a row for each photo, in the order of the answers. Fails if the file cannot be written.
    pub fn write_csv(&self, path: &Path) -> Result<()> {
        let columns = "photo time time_from lat lon radius_50_km radius_90_km probability place country headline gps \
                       because outlier trip";
        let mut table = TableWriter::create(path, &columns.split(' ').collect::<Vec<_>>())?;
        for answer in self.given {
            let row = [
                answer.name().to_owned(),
                answer.time.text().unwrap_or_default(),
                answer.time.words().to_owned(),
                format!("{:.6}", answer.best.lat_deg()),
                format!("{:.6}", answer.best.lon_deg()),
                format!("{:.2}", answer.radius_50_km),
                format!("{:.2}", answer.radius_90_km),
                format!("{:.4}", answer.probability()),
                answer.place.clone(),
                answer.country.clone().unwrap_or_default(),
                answer.headline.clone(),
                answer.gps.is_some().to_string(),
                answer.because.clone(),
                answer.outlier.as_ref().map_or(String::new(), |outlier| outlier.reason.clone()),
                answer.trip.map_or(String::new(), |trip| trip.to_string()),
            ];
            table.write(&row.each_ref().map(String::as_str))?;
        }
        table.finish()?;
        Ok(())
    }

    /// Returns GeoJSON: points with radii, times and reasons, and the track. Photos that do not fit the track are not on it.
    pub fn geojson(&self) -> String {
        let mut features = FeatureCollection::new();
        for (trip, track) in self.tracks() {
            features.push_line(&track, &[("album", json!(self.name)), ("track", json!(true)), ("trip", json!(trip))]);
        }
        for answer in self.answers() {
            let outlier = answer.outlier.as_ref().map(|outlier| &outlier.reason);
            let properties: [(&str, Value); 11] = [
                ("photo", json!(answer.name())),
                ("time", json!(answer.time.text())),
                ("headline", json!(answer.headline)),
                ("place", json!(answer.place)),
                ("radius_50_km", json!(answer.radius_50_km)),
                ("radius_90_km", json!(answer.radius_90_km)),
                ("can_tell", json!(answer.can_tell)),
                ("gps", json!(answer.gps.is_some())),
                ("because", json!(answer.because)),
                ("outlier", json!(outlier)),
                ("trip", json!(answer.trip)),
            ];
            features.push_point(answer.best, &properties);
        }
        features.to_string()
    }

    /// Returns the points and the track as KML, for Google Earth.
    pub fn kml(&self) -> String {
        let mut document = KmlDocument::new("LocDiff");
        let mut folder = KmlFolder::new(self.name);
        for (trip, track) in self.tracks() {
            let name = trip.map_or("track".to_owned(), |trip| format!("trip {trip}"));
            folder.push_line(&track, &name, "in order of time");
        }
        for answer in self.answers() {
            folder.push_point(answer.best, answer.name(), &words(answer));
        }
        document.push(folder);
        document.to_string()
    }

    /// Returns the track as GPX. Points have a time only if their UTC time is known.
    pub fn gpx(&self) -> String {
        let fitting = self.answers().filter(|answer| is_on_track(answer));
        let point = |answer: &AlbumAnswer| {
            let (place, time, name) = (answer.best, answer.time.utc(), answer.name().to_owned());
            GpxPoint { place, time, name, description: words(answer) }
        };
        gpx(self.name, &fitting.map(point).collect::<Vec<_>>(), true)
    }

    /// Returns an HTML page with a map and a time slider, as one file that needs no network. `pictures` are JPEG thumbnails in the order of the
    /// answers.
    pub fn html(&self, pictures: &[Option<&[u8]>]) -> Vec<u8> {
        let mut page = TrackMap::new(labelled(&format!("LocDiff: {}", self.name)));
        for (answer, &k) in self.answers().zip(&self.order) {
            let photo = TrackPhoto {
                name: answer.name().to_owned(),
                time: answer.time.text().unwrap_or_else(|| "time unknown".to_owned()),
                place: answer.best,
                words: answer.headline.clone(),
                because: answer.because.clone(),
                radius_50_km: answer.radius_50_km,
                radius_90_km: answer.radius_90_km,
                is_tagged: answer.gps.is_some(),
                can_tell: answer.can_tell,
                is_timed: answer.time.is_moment(),
                outlier: answer.outlier.as_ref().map(|outlier| outlier.reason.clone()),
            };
            page = page.photo(photo, pictures.get(k).copied().flatten());
        }
        let mut text = Vec::new();
        page.write(&mut text).expect("writing to memory cannot fail");
        text
    }

    /// Draws a PNG map of the photos with the uncertainty of each location. Fails if the map cannot be drawn.
    pub fn png(&self) -> Result<Vec<u8>> {
        crowd_png(&self.answers().map(|answer| crowd_photo(answer)).collect::<Vec<_>>(), 0)
    }

    fn tracks(&self) -> BTreeMap<Option<usize>, Vec<LatLon>> {
        let mut tracks: BTreeMap<Option<usize>, Vec<LatLon>> = BTreeMap::new();
        for answer in self.answers().filter(|answer| is_on_track(answer)) {
            tracks.entry(answer.trip).or_default().push(answer.best);
        }
        tracks.retain(|_, track| track.len() > 1);
        tracks
    }
}

/// What does not fit, or has no moment, is not on a track.
fn is_on_track(answer: &AlbumAnswer) -> bool {
    answer.outlier.is_none() && answer.time.is_moment()
}

fn words(answer: &AlbumAnswer) -> String {
    let (half, most) = (distance(answer.radius_50_km), distance(answer.radius_90_km));
    format!("{}; 50 % within {half}, 90 % within {most}; {}", answer.place, answer.because)
}
