//! The photos of a folder under review: placed by albums, tagged by the rules of safe tagging.

use super::ReviewWork;
use super::{ChosenPlace, ReviewBackend, ReviewDecisions, ReviewError, ReviewPhoto, ReviewPhotos, ReviewResult};
use crate::album_read::{AlbumChanges, PlacedAlbum, PlacedTrips, ReadAlbum};
use crate::cache::{EmbeddingCache, FileStamp};
use crate::{AlbumAnswer, AlbumOptions, Control, LatLon, Locator, Photo, Progress, Read, Source, error::Result};
use locdiff_album::{Track, WrongClock};
use locdiff_io::tags::{JOURNAL_NAME, Overwrite, TagPlace, TagPlan, TagRule, Tagger, Undo, adobe_sidecar_path};
use locdiff_io::tags::{sidecar_path, undo};
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError, RwLock, atomic::AtomicBool, atomic::AtomicUsize, atomic::Ordering};
use std::{collections::BTreeMap, collections::HashMap, fmt::Write, fs, path::Path, path::PathBuf};

/// The subfolder for a session's files.
const OWN: &str = ".locdiff-review";
/// The longer side of the photo that is looked at, and the most bytes of it.
const LARGE: (u32, usize) = (960, 400_000);

/// The photos of a folder for a [`ReviewSession`](super::ReviewSession).
pub struct FolderReview {
    folder: PathBuf,
    photos: Vec<PathBuf>,
    /// Where tagged copies go.
    copies: PathBuf,
    /// Which places are ticked unasked.
    rule: TagRule,
    options: AlbumOptions,
    /// As seen from the folder, with `/` between folders.
    keys: Vec<String>,
    locator: Mutex<Locator>,
    album: RwLock<Option<ReadAlbum>>,
    thumbnails: Mutex<Vec<Option<Vec<u8>>>>,
    /// Clocks as they were found, then as they are set.
    clocks: Mutex<[Option<Vec<WrongClock>>; 2]>,
    trips: Mutex<PlacedTrips>,
    track: Option<Track>,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FolderReview {
    /// Prepares the review of a folder; no photo is read yet. Tagged copies go to `copies`, and photos that are sure by the rule are accepted.
    /// Fails if a track cannot be read, or a setting is out of range.
    pub fn new(
        locator: Locator,
        folder: PathBuf,
        photos: Vec<PathBuf>,
        copies: PathBuf,
        rule: TagRule,
        options: AlbumOptions,
    ) -> ReviewResult<Self> {
        let track = options.track().map_err(ReviewError::of)?;
        let key = |path: &PathBuf| {
            let below = path.strip_prefix(&folder).unwrap_or(path);
            below.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
        };
        let keys = photos.iter().map(key).collect();
        let thumbnails = Mutex::new(vec![None; photos.len()]);
        let (album, clocks, trips) = (RwLock::new(None), Mutex::new([None, None]), Mutex::default());
        let locator = Mutex::new(locator);
        Ok(Self { folder, photos, copies, rule, options, keys, locator, album, thumbnails, clocks, trips, track })
    }

    /// Returns the file of a session's actions, and creates its private folder. Fails if the folder cannot be written, or a link is in the way.
    pub fn acts(folder: &Path) -> ReviewResult<PathBuf> {
        let own = Self::own_file(folder, "acts.jsonl")?;
        let parent = folder.join(OWN);
        let made = locdiff_base::make_private_folder(&parent);
        made.map_err(|error| ReviewError::of(format!("{}: {error}", parent.display())))?;
        Ok(own)
    }

    fn own_file(folder: &Path, name: &str) -> ReviewResult<PathBuf> {
        locdiff_base::inside(folder, &format!("{OWN}/{name}")).map_err(ReviewError::of)
    }

    /// Reads the photos, except those that an earlier session has read.
    fn read(&self, stop: &AtomicBool, told: &(dyn Fn(Progress) + Sync)) -> ReviewResult<ReadAlbum> {
        let Self { folder, photos, options, .. } = self;
        let locator = locked(&self.locator);
        let path = Self::own_file(folder, "photos.jsonl")?;
        let mut cache = EmbeddingCache::open(&path, locator.encoder(), options.photos.text).map_err(ReviewError::of)?;
        let ours = self.written()?;
        let (mut sources, mut stamps) = (Vec::with_capacity(photos.len()), Vec::with_capacity(photos.len()));
        for (k, (path, key)) in photos.iter().zip(&self.keys).enumerate() {
            let stamp = FileStamp::of(path);
            // Where the place was written into the photo itself, the pixels are the same.
            let before = stamp.and_then(|stamp| cache.get(key, Some(stamp).filter(|_| !ours.contains(key))));
            stamps.push(stamp.filter(|_| before.is_none()));
            let source = match before {
                Some((photo, thumbnail)) => {
                    locked(&self.thumbnails)[k] = thumbnail;
                    Source::embedded(photo.with_name(key))
                }
                None => Source::file(path),
            };
            sources.push(source.called(key));
        }
        let control = Control::new().with_stop(stop).with_progress(told).with_strip_thumbnails();
        let mut failure = None;
        let block = |few: &[Read]| {
            let new = few.iter().filter_map(|read| {
                let (k, photo) = (read.origin.row, read.photo.as_ref().ok()?);
                Some((self.keys[k].as_str(), Some(stamps[k]?), photo, read.thumbnail.as_deref()))
            });
            failure = cache.add(new).err().or(failure.take());
            let mut thumbnails = locked(&self.thumbnails);
            for read in few.iter().filter(|read| read.thumbnail.is_some()) {
                thumbnails[read.origin.row].clone_from(&read.thumbnail);
            }
        };
        let album = locator.read_album(sources, options, control, block).map_err(ReviewError::of)?;
        failure.map_or(Ok(album), |error| Err(ReviewError::of(error)))
    }

    /// What somebody says, by the photos' numbers.
    fn changes(&self, album: &ReadAlbum, decisions: &ReviewDecisions) -> AlbumChanges {
        let tagged = |k: usize| album.read[k].photo.as_ref().is_ok_and(|photo| photo.gps.is_some());
        let places = self.keys.iter().enumerate().filter(|(k, _)| !tagged(*k)).filter_map(|(k, key)| {
            let moved = decisions.moves.get(key)?;
            Some((k, (moved.at, moved.radius_km)))
        });
        AlbumChanges { places: places.collect(), clocks: None }
    }

    /// Places photos with the clocks that a person set, or else with the offsets that were found the first time.
    fn place_read(&self, album: &ReadAlbum, decisions: &ReviewDecisions, control: Control<'_>) -> Result<PlacedAlbum> {
        let locator = locked(&self.locator);
        let mut changes = self.changes(album, decisions);
        let place = |changes: &AlbumChanges| {
            locator.place_album(album, &self.options, changes, &mut locked(&self.trips), control)
        };
        let [found, _] = locked(&self.clocks).clone();
        let mut clocks = if let Some(found) = found {
            found
        } else {
            let first = place(&changes)?;
            *locked(&self.clocks) = [Some(first.clocks.clone()), Some(first.clocks.clone())];
            if decisions.clocks.is_empty() {
                return Ok(first);
            }
            first.clocks
        };
        for (camera, &ahead_s) in &decisions.clocks {
            let was = clocks.iter().position(|clock| clock.camera == *camera).map(|k| clocks.remove(k));
            let (by_track, photos) = was.map_or((false, 0), |was| (was.by_track, was.photos));
            let ahead_h = (ahead_s / 3600.0).round() as i32;
            clocks.push(WrongClock { camera: camera.clone(), ahead_h, ahead_s, by_track, gain_nats: 0.0, photos });
        }
        locked(&self.clocks)[1] = Some(clocks.clone());
        changes.clocks = Some(clocks);
        place(&changes)
    }

    fn journals(&self) -> impl Iterator<Item = PathBuf> {
        let folders = [self.folder.clone(), self.copies.clone()];
        folders.into_iter().map(|folder| folder.join(JOURNAL_NAME)).filter(|journal| journal.exists())
    }

    fn photo(
        &self,
        album: &ReadAlbum,
        k: usize,
        answer: Option<&AlbumAnswer>,
        decisions: &ReviewDecisions,
    ) -> ReviewPhoto {
        let read = &album.read[k];
        let embedded = read.photo.as_ref().ok();
        let gps = embedded.and_then(|photo| photo.gps);
        let said = match (&read.photo, answer) {
            (Err(error), _) => Err(read.origin.reason(error)),
            (Ok(_), None) => Err("it has no location".to_owned()),
            (Ok(_), Some(answer)) => Ok(answer_json(answer, gps, decisions.moves.keys())),
        };
        let odd = answer.and_then(|answer| answer.outlier.as_ref().or(answer.hint.as_ref()));
        let rule = self.rule;
        let doubt = answer.map(|one| rule.doubt(one.can_tell, one.radius_90_km, odd.map(|odd| odd.reason.as_str())));
        let key = self.keys[k].clone();
        let camera = embedded.and_then(|photo| photo.taken.camera.clone());
        ReviewPhoto { name: key.clone(), key, camera, gps, said, is_sure: doubt == Some(None), is_written: false }
    }

    fn plan(&self, way: &str) -> TagPlan {
        let Self { folder, copies, .. } = self;
        TagPlan {
            given: vec![folder.clone()],
            copies: (way == "copies").then(|| copies.clone()),
            in_place: way == "in_place",
            sidecars: way == "sidecars",
            // A person who ticked it is sure.
            rule: TagRule::GUESSES,
            overwrite: Overwrite::NEVER,
            ..TagPlan::default()
        }
    }
}

/// An answer for the page; `moved` are the names of photos that somebody placed.
pub(crate) fn answer_json<'a>(
    answer: &AlbumAnswer,
    gps: Option<LatLon>,
    moved: impl IntoIterator<Item = &'a String>,
) -> Value {
    let mut because = answer.because.clone();
    // Who was placed by hand has no tag.
    for name in moved {
        because = because.replace(&format!("{name}, which has a GPS tag"), &format!("{name}, which you placed"));
    }
    let mut time = serde_json::to_value(answer.time).unwrap_or_default();
    time["utc"] = json!(answer.time.utc());
    let alternatives = answer.alternatives().iter().take(4).collect::<Vec<_>>();
    json!({
        "best": answer.best, "headline": answer.headline, "place": answer.place, "can_tell": answer.can_tell,
        "radius_50_km": answer.radius_50_km, "radius_90_km": answer.radius_90_km, "because": because, "time": time,
        "alternatives": alternatives,
        "probability": answer.probability(), "moved_km": answer.moved_km, "outlier": answer.outlier, "hint": answer.hint,
        "gps": gps, "trip": answer.trip,
    })
}

impl ReviewBackend for FolderReview {
    fn title(&self) -> String {
        let folder = &self.folder;
        let name = fs::canonicalize(folder).ok().and_then(|path| path.file_name().map(ToOwned::to_owned));
        name.unwrap_or_else(|| folder.as_os_str().to_owned()).to_string_lossy().into_owned()
    }

    fn ways(&self) -> Vec<(&'static str, String)> {
        let in_place = "into the photos; each original stays as NAME_original".to_owned();
        let copies = format!("into copies in {}", self.copies.display());
        vec![
            ("sidecars", "into files NAME.xmp next to the photos".to_owned()),
            ("in_place", in_place),
            ("copies", copies),
        ]
    }

    fn places_again(&self) -> bool {
        true
    }

    fn place(&self, decisions: &ReviewDecisions, work: ReviewWork<'_>) -> ReviewResult<ReviewPhotos> {
        let ReviewWork { stop, told } = work;
        let all = self.keys.len();
        let done = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let step = |stage: Progress| match stage {
            Progress::Read => told("Photos read", done[0].fetch_add(1, Ordering::Relaxed) + 1, all),
            Progress::Placed => told("Photos placed", done[1].fetch_add(1, Ordering::Relaxed) + 1, all),
            _ => {}
        };
        if self.album.read().unwrap_or_else(PoisonError::into_inner).is_none() {
            told("Photos read", 0, all);
            let read = self.read(stop, &step)?;
            *self.album.write().unwrap_or_else(PoisonError::into_inner) = Some(read);
        }
        let album = self.album.read().unwrap_or_else(PoisonError::into_inner);
        let Some(album) = &*album else { return Ok(ReviewPhotos::default()) };
        told("Photos placed", 0, all);
        let control = Control::new().with_stop(stop).with_progress(&step);
        let placed = self.place_read(album, decisions, control).map_err(ReviewError::of)?;
        let photos = (0..all).map(|k| self.photo(album, k, placed.answers[k].as_ref(), decisions)).collect();
        let [found, _] = locked(&self.clocks).clone();
        let ahead_s = |camera: &str| {
            let clock = found.iter().flatten().find(|clock| clock.camera == camera);
            clock.map_or(0.0, |clock| clock.ahead_s)
        };
        let clock = |(camera, photos): (&str, usize)| (camera.to_owned(), photos, ahead_s(camera));
        Ok(ReviewPhotos { photos, clocks: album.cameras().into_iter().map(clock).collect() })
    }

    fn picture(&self, number: usize, _: &str, is_large: bool) -> ReviewResult<Vec<u8>> {
        if !is_large && let Some(small) = locked(&self.thumbnails).get(number).cloned().flatten() {
            return Ok(small);
        }
        let path = self.photos.get(number).ok_or_else(|| ReviewError::of("that photo is not here"))?;
        let photo = Photo::open(path, &self.options.photos.limits()).map_err(ReviewError::of)?;
        let (side, most) = if is_large { LARGE } else { (160, 20_000) };
        photo.thumbnail(side, most).ok_or_else(|| ReviewError::of("it cannot be made small"))
    }

    fn along(&self, camera: &str, ahead_s: f64, known: &BTreeMap<usize, LatLon>) -> Vec<(usize, LatLon)> {
        let album = self.album.read().unwrap_or_else(PoisonError::into_inner);
        let [_, set] = locked(&self.clocks).clone();
        let set = set.unwrap_or_default();
        album.as_ref().map_or(Vec::new(), |album| album.along(camera, ahead_s, known, &set, self.track.as_ref()))
    }

    fn write(&self, chosen: &[ChosenPlace], way: &str, work: ReviewWork<'_>) -> ReviewResult<String> {
        let written = self.written()?;
        let mut tagger = Tagger::new(self.plan(way)).map_err(ReviewError::of)?;
        let mut reasons: Vec<String> = Vec::new();
        let mut failure = None;
        for (done, one) in chosen.iter().enumerate() {
            (work.told)("Writing", done, chosen.len());
            if work.stop.load(Ordering::SeqCst) {
                break;
            }
            if written.contains(&one.key) {
                continue;
            }
            let ChosenPlace { key: photo, at: best, radius_90_km, place, by_hand, .. } = one.clone();
            let (can_tell, odd, names, gps) = (true, None, None, None);
            let place = TagPlace { photo, best, radius_90_km, can_tell, odd, place, names, gps, by_hand };
            match tagger.tag(&place, Some(&self.photos[one.number])) {
                Ok(steps) => reasons.extend(steps.into_iter().filter_map(|step| step.reason)),
                Err(error) => {
                    failure = Some(error.to_string());
                    break;
                }
            }
        }
        let tagged = tagger.finish().map_err(ReviewError::of)?;
        let mut words = format!("{tagged}.");
        if let Some(journal) = tagged.journals.first() {
            let _ = write!(words, " `locdiff undo {}` takes them back, too.", journal.display());
        }
        reasons.truncate(3);
        reasons.extend(failure.clone());
        if !reasons.is_empty() {
            let _ = write!(words, " {}.", reasons.join("; "));
        }
        if failure.is_some() { Err(ReviewError::of(words)) } else { Ok(words) }
    }

    fn take_back(&self, _: &AtomicBool) -> ReviewResult<String> {
        let mut counts = [0, 0, 0];
        for journal in self.journals().collect::<Vec<_>>() {
            for (_, what) in undo(&journal, false).map_err(ReviewError::of)? {
                match what {
                    Undo::Removed | Undo::Restored => counts[0] += 1,
                    Undo::Changed | Undo::Lost => counts[1] += 1,
                    Undo::Nothing => counts[2] += 1,
                }
            }
        }
        let [done, kept, nothing] = counts;
        let mut words = format!("{} taken back.", locdiff_base::counted(done, "file"));
        if kept > 0 {
            let _ = write!(words, " {kept} changed since and stay.");
        }
        if nothing > 0 {
            let _ = write!(words, " {nothing} had nothing to undo.");
        }
        Ok(words)
    }

    fn written(&self) -> ReviewResult<Vec<String>> {
        let mut found = Vec::new();
        for journal in self.journals() {
            let base = journal.parent().and_then(|folder| fs::canonicalize(folder).ok()).unwrap_or_default();
            let files = |key: &String| {
                let photo = base.join(key);
                [sidecar_path(&photo), adobe_sidecar_path(&photo), photo].map(|file| (file, key.clone()))
            };
            let keys: HashMap<PathBuf, String> = self.keys.iter().flat_map(files).collect();
            let done = undo(&journal, true).map_err(ReviewError::of)?;
            let ours = done.iter().filter(|(_, what)| matches!(what, Undo::Removed | Undo::Restored));
            found.extend(ours.filter_map(|(file, _)| keys.get(file).cloned()));
        }
        Ok(found)
    }
}
