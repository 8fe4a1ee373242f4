//! What an album is told.

use crate::names::is_default;
use crate::{LocateError, LocateOptions};
use locdiff_album::{AlbumSettings, KnownPlace, PhotoTime, Track};
use locdiff_base::setting;
use locdiff_vision::PhotoFacts;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How well a video knows where it was taken, km.
const VIDEO_KM: f64 = 0.05;

/// What an album is told: which photos belong together, tracks, places, clocks.
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
    /// What is asked of each photo. Regions, priors, windows, sampling and the number of hypotheses are for single photos: an album
    /// refuses them.
    #[serde(skip)]
    pub photos: LocateOptions,
    /// All photos are of one place, whenever they were taken.
    #[serde(skip_serializing_if = "is_default")]
    pub same_place: bool,
    /// The photos of each folder, or of each named album, are of one place.
    #[serde(skip_serializing_if = "is_default")]
    pub folder_is_place: bool,
    /// The album is one trip, however long its pauses. Otherwise it is cut at long pauses and jumps.
    #[serde(skip_serializing_if = "is_default")]
    pub one_trip: bool,
    /// Locations known at other times than those of the photos.
    #[serde(skip_serializing_if = "is_default")]
    pub known: Vec<KnownPlace>,
    /// Files of tracks of the album's time: GPX, GeoJSON, Timeline.json or Records.json.
    #[serde(skip_serializing_if = "is_default")]
    pub tracks: Vec<PathBuf>,
    /// Tracks that the program has read already.
    #[serde(skip)]
    pub logs: Vec<Track>,
    /// How many seconds the cameras' clocks are ahead of the tracks. `None` finds it if it is clear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub track_offset_s: Option<f64>,
    /// Where photos of some times were taken, as somebody knows.
    #[serde(skip_serializing_if = "is_default")]
    pub places: Vec<StatedPlace>,
    /// Leaves the cameras' clocks alone, even if one contradicts the others by hours.
    #[serde(skip_serializing_if = "is_default")]
    pub trust_clocks: bool,
    /// How many seconds clocks without an offset are ahead of UTC. `None` leaves their times local.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_offset_s: Option<f64>,
    /// The numbers of the travel model.
    #[serde(skip)]
    pub settings: AlbumSettings,
}

impl AlbumOptions {
    /// Adds the places and times of videos that state both, and returns how many do.
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

    /// The tracks of files and of the program, as one that is in time with the photos.
    /// Fails on a file that is no track.
    pub fn track(&self) -> Result<Option<Track>, LocateError> {
        let opened = self.tracks.iter().map(|path| Track::open(path));
        let tracks: Vec<Track> = opened.chain(self.logs.iter().cloned().map(Ok)).collect::<Result<_, _>>()?;
        Ok((!tracks.is_empty()).then(|| Track::joined(tracks).shifted(self.track_offset_s.unwrap_or(0.0))))
    }

    /// What is asked of each photo, unless an album cannot honour it.
    pub(crate) fn asked(&self) -> Result<LocateOptions, LocateError> {
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

/// Where somebody says that photos of a time were taken: one of [`AlbumOptions::places`].
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
    /// A town ("Kyoto", "Paris, France"), a country, or a region as [`crate::LocateOptions::within`] has it.
    #[serde(alias = "name")]
    pub place: String,
    /// From when on, as EXIF or ISO 8601 has times; local where it has no offset. `None` is from the first photo on.
    #[serde(default)]
    pub from: Option<String>,
    /// Until when; a day is until its end. `None` is to the last photo.
    #[serde(default)]
    pub to: Option<String>,
}

impl StatedPlace {
    /// A place, from when on, and until when.
    pub fn new(place: impl Into<String>, from: Option<String>, to: Option<String>) -> Self {
        Self { place: place.into(), from, to }
    }
}
