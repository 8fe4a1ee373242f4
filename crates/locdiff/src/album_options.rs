//! Options of an album.

use crate::{LocateOptions, error::Result, names::is_default};
use locdiff_album::{AlbumSettings, KnownPlace, PhotoTime, Track};
use locdiff_base::setting;
use locdiff_vision::PhotoFacts;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How well a video knows where it was taken, km.
const VIDEO_KM: f64 = 0.05;

/// Options of an album: which photos belong together, tracks, known locations, clocks.
///
/// ```
/// use locdiff::AlbumOptions;
/// let mut options = AlbumOptions::default();
/// options.one_trip = true;
/// options.tracks = vec!["ride.gpx".into()];
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "switches that have nothing to do with each other")]
pub struct AlbumOptions {
    /// Options of each photo. Regions, priors, windows, sampling and the number of hypotheses are for single photos: an album refuses them.
    #[serde(skip)]
    pub photos: LocateOptions,
    /// Whether all photos are of one location, whenever they were taken.
    #[serde(skip_serializing_if = "is_default")]
    pub same_place: bool,
    /// Whether the photos of each folder, or of each named album, are of one location.
    #[serde(skip_serializing_if = "is_default")]
    pub folder_is_place: bool,
    /// Whether the album is one trip. Otherwise long pauses and jumps cut it.
    #[serde(skip_serializing_if = "is_default")]
    pub one_trip: bool,
    /// Locations known at other times than the photos' times.
    #[serde(skip_serializing_if = "is_default")]
    pub known: Vec<KnownPlace>,
    /// Files of tracks of the album's time: GPX, GeoJSON, Timeline.json or Records.json.
    #[serde(skip_serializing_if = "is_default")]
    pub tracks: Vec<PathBuf>,
    /// Tracks that are already open.
    #[serde(skip)]
    pub logs: Vec<Track>,
    /// Seconds that the cameras' clocks are ahead of the tracks. `None` estimates it if it is clear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub track_offset_s: Option<f64>,
    /// Towns or regions where photos of a time were taken.
    #[serde(skip_serializing_if = "is_default")]
    pub places: Vec<StatedPlace>,
    /// Whether to trust the cameras' clocks, even if one contradicts the others by hours.
    #[serde(skip_serializing_if = "is_default")]
    pub trust_clocks: bool,
    /// Seconds that clocks without an offset are ahead of UTC. `None` leaves their times local.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_offset_s: Option<f64>,
    /// Settings of the travel model.
    #[serde(skip)]
    pub settings: AlbumSettings,
}

impl AlbumOptions {
    /// Adds the locations and times of videos that state both, and returns their number.
    pub fn add_videos(&mut self, videos: &[PathBuf]) -> usize {
        let before = self.known.len();
        self.known.extend(videos.iter().filter_map(|video| {
            let facts = PhotoFacts::of_video(video).ok()?;
            let time = PhotoTime::read(facts.taken.time.as_deref()?, facts.taken.offset.as_deref()).ok()?;
            let time_s = time.is_moment().then_some(time.seconds)?;
            let name = video.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            Some(KnownPlace { name, time_s, at: facts.gps?, deviation_km: VIDEO_KM, embedding: Vec::new() })
        }));
        self.known.len() - before
    }

    /// Returns all tracks as one, in time with the photos. Fails if a file is not a track.
    pub fn track(&self) -> Result<Option<Track>> {
        let opened = self.tracks.iter().map(|path| Track::open(path));
        let tracks: Vec<Track> = opened.chain(self.logs.iter().cloned().map(Ok)).collect::<Result<_, _>>()?;
        Ok((!tracks.is_empty()).then(|| Track::joined(tracks).shifted(self.track_offset_s.unwrap_or(0.0))))
    }

    /// What is asked of each photo, unless an album cannot honour it.
    pub(crate) fn asked(&self) -> Result<LocateOptions> {
        let (asked, usual) = (&self.photos, LocateOptions::default());
        let refused = [
            ("within", asked.within != usual.within),
            ("prior", asked.prior.is_some() || asked.known().is_some()),
            ("clue", !asked.clue.is_empty() || asked.why),
            ("window", asked.window_km.is_some()),
            ("factors", asked.factors != usual.factors),
            ("hypotheses", asked.hypotheses != usual.hypotheses),
            ("pool", asked.pool.is_some()),
        ];
        if let Some((name, _)) = refused.iter().find(|(_, is_given)| *is_given) {
            return Err(setting(name, "with an album", "it is for single photos: leave it out, or state places"));
        }
        asked.resolved()
    }
}

/// A town or region where photos of a time were taken, for [`AlbumOptions::places`].
///
/// ```
/// use locdiff::{AlbumOptions, StatedPlace};
/// let mut options = AlbumOptions::default();
/// options.places.push(StatedPlace::new("Kyoto", Some("2024-05-12".to_owned()), None));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct StatedPlace {
    /// A town ("Kyoto", "Paris, France"), a country, or a region as for [`crate::LocateOptions::within`].
    #[serde(alias = "name")]
    pub place: String,
    /// Start, as an EXIF or ISO 8601 time, local if it has no offset. `None` is the first photo.
    #[serde(default)]
    pub from: Option<String>,
    /// End; a day counts until its end. `None` is the last photo.
    #[serde(default)]
    pub to: Option<String>,
}

impl StatedPlace {
    /// States a place with its start and end.
    pub fn new(place: impl Into<String>, from: Option<String>, to: Option<String>) -> Self {
        Self { place: place.into(), from, to }
    }
}
