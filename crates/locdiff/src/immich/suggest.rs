//! Suggestions: the server's photos, trip by trip, answered together.

use crate::immich::suggestions::{SuggestedTrip, Suggestion};
use crate::{AlbumAnswer, AlbumOptions, Control, EmbeddedPhoto, LocateError, Locator, Origin, Photo, Progress, Source};
use crate::{album_read::AlbumChanges, album_read::PlacedTrips, album_read::ReadAlbum, immich::Immich, immich::Result};
use crate::{cache::EmbeddingCache, immich::client::Asset};
use locdiff_album::{KnownPlace, PhotoTime, TripStop, WrongClock, beside, parse_time, trips};
use locdiff_io::tags::TagRule;
use locdiff_shdd::sphere::LatLon;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{collections::BTreeMap, path::Path, sync::atomic::AtomicBool};

/// How well a place in immich is known.
const TAG_KM: f64 = 0.05;

type Timed = (Asset, f64);

/// When a photo was taken, in seconds since 1970.
fn time_s(asset: &Asset) -> Option<f64> {
    parse_time(asset.time.as_deref()?, None).ok().map(|(seconds, _)| seconds)
}

/// A server's photos with a time, as trips for a [`Suggester`].
#[derive(Debug)]
pub struct Trips {
    photos: Vec<Timed>,
    members: Vec<Vec<usize>>,
    /// Photos without a time, which cannot be part of a trip.
    pub untimed: usize,
}

impl Trips {
    /// Finds the trips that have a photo without a location. A pause of more than `pause_s` seconds or a jump ends a trip.
    pub fn of(assets: Vec<Asset>, pause_s: f64) -> Self {
        let count = assets.len();
        let photos: Vec<Timed> =
            assets.into_iter().filter_map(|asset| time_s(&asset).map(|time| (asset, time))).collect();
        let stops: Vec<TripStop<'_>> = photos
            .iter()
            .map(|(asset, time_s)| TripStop { time_s: *time_s, place: asset.place, camera: asset.camera.as_deref() })
            .collect();
        let mut members = trips(&stops, pause_s);
        members.retain(|trip| trip.iter().any(|k| photos[*k].0.place.is_none()));
        Self { untimed: count - photos.len(), photos, members }
    }

    /// Returns the numbers of photos, photos without a location, trips, and photos of trips.
    pub fn counts(&self) -> [usize; 4] {
        let without = self.photos.iter().filter(|(asset, _)| asset.place.is_none()).count();
        [self.photos.len(), without, self.members.len(), self.members.iter().map(Vec::len).sum()]
    }

    /// Iterates over trips: their photos, and the locations of photos next to them.
    pub fn photos_by_trip(&self) -> impl Iterator<Item = (Vec<&Timed>, Vec<KnownPlace>)> {
        let known = |(asset, time_s): &Timed| {
            let (name, time_s) = (asset.name.clone(), *time_s);
            Some(KnownPlace { name, time_s, at: asset.place?, deviation_km: TAG_KM, embedding: Vec::new() })
        };
        let mut known: Vec<KnownPlace> = self.photos.iter().filter_map(known).collect();
        known.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        self.members.iter().map(move |trip| {
            let photos: Vec<&Timed> = trip.iter().map(|k| &self.photos[*k]).collect();
            let time_s = |photo: Option<&&Timed>| photo.map_or(0.0, |(_, time_s)| *time_s);
            let beside = beside(&known, &(time_s(photos.first())..=time_s(photos.last()))).cloned().collect();
            (photos, beside)
        })
    }
}

/// Suggestions for a trip.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct TripSuggestions {
    /// A suggestion for each photo without a location.
    pub suggestions: Vec<Suggestion>,
    /// Clocks that were corrected.
    pub clocks: Vec<WrongClock>,
    /// The trip itself, for a review.
    pub trip: SuggestedTrip,
    /// Reasons why photos have no answer, one line each.
    pub failures: Vec<String>,
}

/// Locates the photos of [`Trips`]. It keeps their embeddings, so that interrupted runs and reviews can continue.
pub struct Suggester {
    locator: Locator,
    server: Arc<Immich>,
    cache: Mutex<EmbeddingCache>,
    failure: Mutex<Option<LocateError>>,
    options: AlbumOptions,
    rule: TagRule,
}

impl Suggester {
    /// Keeps embeddings in a file next to `file`, and accepts suggestions that are sure by the rule. Fails if the embeddings' file cannot be read
    /// or written.
    pub fn new(locator: Locator, server: Arc<Immich>, file: &Path, rule: TagRule, trust_clocks: bool) -> Result<Self> {
        let mut path = file.as_os_str().to_owned();
        path.push(".photos.jsonl");
        let mut options = AlbumOptions::default();
        (options.trust_clocks, options.one_trip) = (trust_clocks, true);
        let cache = Mutex::new(EmbeddingCache::open(path.as_ref(), locator.encoder(), options.photos.text)?);
        Ok(Self { locator, server, cache, failure: Mutex::new(None), options, rule })
    }

    /// Returns the number of photos that an earlier run embedded.
    pub fn known(&self) -> usize {
        self.cache().count()
    }

    /// Suggests locations for one trip; locations next to it are `known`. `seen` is called for each photo. A photo without a readable preview is
    /// left out. Fails if it is stopped, the server or the model fails, or an embedding cannot be kept.
    pub fn trip(
        &self,
        trip: &[&Timed],
        known: Vec<KnownPlace>,
        stop: &AtomicBool,
        seen: &(dyn Fn(Progress) + Sync),
    ) -> Result<TripSuggestions> {
        let sources: Vec<Source> = trip.iter().map(|(asset, _)| self.source(asset)).collect();
        let keep = |origin: &Origin, photo: &EmbeddedPhoto| self.keep(&trip[origin.row].0.id, photo);
        let control = Control::new().with_stop(stop).with_progress(seen).with_embedded(&keep);
        let mut options = self.options.clone();
        options.known.clone_from(&known);
        let run = self.locator.locate_album_with(sources, &options, control)?;
        self.kept()?;
        let photos = trip.iter().map(|(asset, _)| asset.clone()).collect();
        let again = SuggestedTrip { photos, known, clocks: run.clocks.clone() };
        let mut found = TripSuggestions { clocks: run.clocks, trip: again, ..TripSuggestions::default() };
        for (photo, (asset, _)) in run.photos.into_iter().zip(trip) {
            match photo.answer {
                Ok(answer) if asset.place.is_none() => found.suggestions.push(self.suggestion(asset, answer)),
                Ok(_) => {}
                Err(error) => found.failures.push(photo.origin.reason(&error)),
            }
        }
        Ok(found)
    }

    /// The photos of a trip, to be placed again: from their embeddings, or from the server. Fails as [`Suggester::trip`] does.
    pub(crate) fn read(&self, trip: &SuggestedTrip, control: Control<'_>) -> Result<ReadAlbum> {
        let sources: Vec<Source> = trip.photos.iter().map(|asset| self.source(asset)).collect();
        let keep = |origin: &Origin, photo: &EmbeddedPhoto| self.keep(&trip.photos[origin.row].id, photo);
        let album = self.locator.read_album(sources, &self.options, control.with_embedded(&keep), |_| ())?;
        self.kept().map(|()| album)
    }

    /// Answers photos again after a person placed some of them at `places`, within a radius in km. Fails as [`Suggester::trip`]
    /// does.
    pub(crate) fn place(
        &self,
        trip: &SuggestedTrip,
        (album, placed): &mut (ReadAlbum, PlacedTrips),
        places: BTreeMap<usize, (LatLon, f64)>,
        control: Control<'_>,
    ) -> Result<Vec<Option<AlbumAnswer>>> {
        let mut options = self.options.clone();
        options.known.clone_from(&trip.known);
        let changes = AlbumChanges { places, clocks: Some(trip.clocks.clone()) };
        Ok(self.locator.place_album(album, &options, &changes, placed, control)?.answers)
    }

    /// Whether the rule would have an answer written.
    pub(crate) fn is_sure(&self, answer: &AlbumAnswer) -> bool {
        let odd = answer.outlier.as_ref().or(answer.hint.as_ref()).map(|odd| odd.reason.as_str());
        self.rule.doubt(answer.can_tell, answer.radius_90_km, odd).is_none()
    }

    /// Fails if an embedding could not be kept.
    fn kept(&self) -> Result<()> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        failure.map_or(Ok(()), |error| Err(error.into()))
    }

    fn suggestion(&self, asset: &Asset, answer: AlbumAnswer) -> Suggestion {
        let odd = answer.outlier.as_ref().or(answer.hint.as_ref()).map(|odd| odd.reason.clone());
        let take = self.is_sure(&answer);
        let (name, time) = (asset.name.clone(), asset.time.clone().unwrap_or_default());
        let (at, place) = (answer.best, answer.place.clone());
        let (radius_50_km, radius_90_km) = (answer.radius_50_km, answer.radius_90_km);
        let (asset, because, warning) = (asset.id.clone(), answer.because, odd);
        let (sure, corrected) = (None, None);
        Suggestion { asset, name, time, at, place, radius_50_km, radius_90_km, because, warning, take, sure, corrected }
    }

    fn cache(&self) -> MutexGuard<'_, EmbeddingCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an embedding, unless it is kept already.
    fn keep(&self, asset: &str, photo: &EmbeddedPhoto) {
        let mut cache = self.cache();
        if cache.get(asset, None).is_none()
            && let Err(error) = cache.add([(asset, None, photo, None)])
        {
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    }

    /// Returns a photo's embedding if it is known, else its preview, which is downloaded when needed.
    fn source(&self, asset: &Asset) -> Source {
        let source = if let Some((photo, _)) = self.cache().get(&asset.id, None) {
            Source::embedded(photo)
        } else {
            let (server, id, name) = (self.server.clone(), asset.id.clone(), asset.name.clone());
            let (reader, own) = (server.clone(), id.clone());
            let source = Source::reader(None, move |limits| {
                let bytes = server.preview(&id, false).map_err(LocateError::of_source)?;
                Ok(Photo::decode(&bytes, &name, limits)?)
            });
            source.with_lines(move |photo| {
                reader.text(&own, [photo.width(), photo.height()]).map_err(LocateError::of_source)
            })
        };
        source
            .called(&*asset.name)
            .with_time(time_s(asset).map(PhotoTime::at))
            .with_gps(asset.place)
            .with_camera(asset.camera.clone())
    }
}
