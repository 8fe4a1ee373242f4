//! Albums: photos answered together.

use crate::album_read::{AlbumChanges, PlacedAlbum, PlacedTrips, ReadAlbum};
use crate::{AlbumOptions, Control, EmbeddedPhoto, LocateError, LocateOptions, Located, Locator, Progress, Source};
use crate::{album_known::AlbumKnowledge, error::Result, pipeline::Read, reading::unignored, source::Origin};
use locdiff_album::{Album, AlbumAnswer, AlbumPhoto, AlbumPlaces, AlbumSettings, PhotoTime, TimeSource, Trip};
use locdiff_album::{WrongClock, cut, parse_offset, parse_time, set_clocks};
use locdiff_base::ensure;
use locdiff_io::data::Embedding;
use locdiff_map::evidence::Evidence;
use locdiff_model::answer::{PlaceField, ReadText};
use serde_json::Value;
use std::{path::Path, sync::Arc};

/// The result of [`Locator::locate_album`]: an answer or a reason for each photo.
#[non_exhaustive]
pub struct AlbumRun {
    /// One for each photo, in their order.
    pub photos: Vec<Located<AlbumAnswer>>,
    /// Cameras whose clocks were wrong, and were corrected.
    pub clocks: Vec<WrongClock>,
}

impl Located<AlbumAnswer> {
    /// Returns the JSON object that every interface writes: the answer, or the photo's name and the reason.
    pub fn to_json(&self) -> Value {
        self.json(AlbumAnswer::to_json)
    }
}

impl AlbumRun {
    /// Iterates over the answers, without photos that have none.
    pub fn answers(&self) -> impl Iterator<Item = &AlbumAnswer> {
        self.photos.iter().filter_map(|photo| photo.answer.as_ref().ok())
    }

    /// Iterates over the thumbnails of the photos with answers, in the order of [`AlbumRun::answers`].
    pub fn thumbnails(&self) -> impl Iterator<Item = Option<&[u8]>> {
        self.photos.iter().filter(|photo| photo.answer.is_ok()).map(|photo| photo.thumbnail.as_deref())
    }
}

impl Locator {
    /// Answers all photos of an album, each from all photos of its trip and their GPS tags. Pauses and jumps cut the album into trips, unless
    /// [`AlbumOptions::one_trip`] is set. A photo alone in its trip gets the answer of [`Locator::locate`]. Fails if an album cannot honour an
    /// option, or for a reason that concerns no single photo.
    ///
    /// ```
    /// # #[cfg(feature = "bundled")] {
    /// use locdiff::{AlbumOptions, LatLon, Locator, Source};
    /// # std::env::set_current_dir("../../fixtures/vision").unwrap();
    /// let beijing = LatLon::new(39.99, 116.27)?;
    /// let photos = [
    ///     Source::file("china.jpg").called("IMG_20240512_134510.jpg").with_gps(Some(beijing)),
    ///     Source::file("china.jpg").called("IMG_20240512_135010.jpg"),
    /// ];
    /// let album = Locator::bundled()?.locate_album(photos, &AlbumOptions::default())?;
    /// let second = album.photos[1].answer.as_ref().unwrap();
    /// assert_eq!(second.country_code.as_deref(), Some("CN"));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn locate_album(
        &self,
        photos: impl IntoIterator<Item: Into<Source>>,
        options: &AlbumOptions,
    ) -> Result<AlbumRun> {
        let sources: Vec<Source> = photos.into_iter().map(Into::into).collect();
        self.locate_album_with(sources, options, Control::new())
    }

    /// Does what [`Locator::locate_album`] does, with run control. Fails likewise, and with [`ErrorKind::Stopped`](crate::ErrorKind::Stopped) if
    /// it is stopped.
    pub fn locate_album_with(
        &self,
        sources: Vec<Source>,
        options: &AlbumOptions,
        control: Control<'_>,
    ) -> Result<AlbumRun> {
        let made = (options.settings != AlbumSettings::default()).then(|| self.album(options.settings.clone()));
        let made = made.transpose()?;
        let album = if let Some(made) = &made { made } else { self.usual_album()? };
        // Bad files are reported before any work.
        let asked = Arc::new(options.asked()?);
        let knowledge = AlbumKnowledge::of(options, album)?;
        let ReadAlbum { read, photos } = self.read_album(sources, options, control, |_| ())?;
        let nothing = AlbumChanges::default();
        let placed = self.place(album, &read, photos, (options, &asked), (&knowledge, &nothing), None, control)?;
        let photos = read.into_iter().zip(placed.answers).map(|(read, answer)| {
            let answer = read.photo.and_then(|_| answer.ok_or_else(LocateError::stopped));
            Located::new(read.origin, answer, read.thumbnail)
        });
        Ok(AlbumRun { photos: photos.collect(), clocks: placed.clocks })
    }

    /// Embeds the photos of an album and computes the model's evidence for each, so that they can be placed repeatedly. Calls `block` with
    /// each block of photos that was read.
    pub(crate) fn read_album<'a>(
        &'a self,
        sources: impl IntoIterator<Item = Source, IntoIter: Send + 'a>,
        options: &AlbumOptions,
        control: Control<'a>,
        mut block: impl FnMut(&[Read]),
    ) -> Result<ReadAlbum> {
        let asked = Arc::new(options.asked()?);
        self.check(&asked)?;
        let mut stage = self.read(sources, asked.clone(), control);
        stage.embedder.thumbnails = control.thumbnails;
        let mut read = Vec::new();
        while let Some(few) = stage.next_block()? {
            block(&few);
            read.extend(few);
        }
        ensure!(!control.is_stopped(), LocateError::stopped());
        let photos = self.entries(&read, options.clock_offset_s, &asked)?;
        Ok(ReadAlbum { read, photos })
    }

    /// Places photos that were read, with what somebody changed since: no photo is read again, and no trip placed again of which
    /// nothing changed.
    pub(crate) fn place_album(
        &self,
        read: &ReadAlbum,
        options: &AlbumOptions,
        changes: &AlbumChanges,
        trips: &mut PlacedTrips,
        control: Control<'_>,
    ) -> Result<PlacedAlbum> {
        let album = self.usual_album()?;
        let knowledge = AlbumKnowledge::of(options, album)?;
        let asked = options.asked()?;
        trips.begin();
        let photos = read.photos.clone();
        self.place(album, &read.read, photos, (options, &asked), (&knowledge, changes), Some(trips), control)
    }

    #[expect(clippy::too_many_arguments, reason = "what an album is, and what is known of it")]
    fn place(
        &self,
        album: &Album,
        read: &[Read],
        mut photos: Vec<Option<AlbumPhoto>>,
        (told, options): (&AlbumOptions, &LocateOptions),
        (knowledge, changes): (&AlbumKnowledge, &AlbumChanges),
        mut placed: Option<&mut PlacedTrips>,
        control: Control<'_>,
    ) -> Result<PlacedAlbum> {
        let mut answers: Vec<Option<AlbumAnswer>> = photos.iter().map(|_| None).collect();
        let mut clocks = changes.clocks.clone().unwrap_or_default();
        let finds_clocks = !told.trust_clocks && changes.clocks.is_none();
        let are_views = told.same_place || told.folder_is_place;
        changes.tag(&mut photos);
        for members in groups(read, told) {
            let mut own: Vec<AlbumPhoto> = members.iter().filter_map(|k| photos[*k].take()).collect();
            let mut known = told.known.clone();
            if !are_views {
                set_clocks(&mut own, changes.clocks.as_deref().unwrap_or_default());
                if finds_clocks {
                    clocks.extend(knowledge.set_clocks(&mut own, told, album)?);
                }
                known.extend(knowledge.known(&own));
                if finds_clocks {
                    let wrong = album.wrong_clocks(&own, &known)?;
                    set_clocks(&mut own, &wrong);
                    clocks.extend(wrong);
                }
                knowledge.give(&mut own);
                changes.place_roughly(&mut own, &members);
            }
            let all = || vec![Trip { members: (0..own.len()).collect(), known: Vec::new() }];
            let trips = if are_views { all() } else { cut(&own, told.one_trip) };
            let is_one = trips.len() == 1;
            if !are_views && own.iter().any(|photo| !photo.time.is_moment()) {
                let places = AlbumPlaces::of(&own, &known);
                for (photo, k) in own.iter().zip(&members).filter(|(photo, _)| !photo.time.is_moment()) {
                    control.advance(Progress::Placed);
                    let alone = self.alone(&read[*k], photo, (album, options))?;
                    answers[*k] = Some(album.untimed(photo, alone, &places)?);
                }
            }
            let mut own: Vec<Option<AlbumPhoto>> = own.into_iter().map(Some).collect();
            for (number, trip) in trips.into_iter().enumerate() {
                let photos: Vec<AlbumPhoto> = trip.members.iter().filter_map(|k| own[*k].take()).collect();
                let known = [&trip.known[..], &known].concat();
                let numbers: Vec<usize> = trip.members.iter().map(|k| members[*k]).collect();
                let found = match &photos[..] {
                    [photo] if is_unknown(photo) && known.is_empty() => {
                        control.advance(Progress::Placed);
                        vec![self.alone(&read[members[trip.members[0]]], photo, (album, options))?]
                    }
                    photos if are_views => {
                        photos.iter().for_each(|_| control.advance(Progress::Placed));
                        album.same_place(photos, None)?
                    }
                    photos => {
                        let make = || album.answers_knowing(photos, &known, &[], |_| control.advance(Progress::Placed));
                        match &mut placed {
                            Some(placed) => placed.answers(&numbers, photos, &known, make)?,
                            None => make()?,
                        }
                    }
                };
                for (k, mut answer) in trip.members.iter().zip(found) {
                    answer.trip = (!is_one).then_some(number + 1);
                    answers[members[*k]] = Some(answer);
                }
            }
        }
        Ok(PlacedAlbum { answers, clocks })
    }

    /// The answer of a photo by itself: as [`Locator::locate`] has it, unless its place is known.
    fn alone(&self, read: &Read, own: &AlbumPhoto, (album, options): (&Album, &LocateOptions)) -> Result<AlbumAnswer> {
        if !is_unknown(own) {
            return Ok(album.answers_knowing(std::slice::from_ref(own), &[], &[], |_| ())?.remove(0));
        }
        let Ok(embedded) = &read.photo else { return Err(LocateError::stopped()) };
        let answer = self.answer(embedded, options)?.about(&*own.name, None);
        Ok(AlbumAnswer::without_others(answer, own.time))
    }

    pub(crate) fn usual_album(&self) -> Result<&Album> {
        if let Some(album) = self.album.get() {
            return Ok(album);
        }
        let made = self.album(AlbumSettings::default())?;
        Ok(self.album.get_or_init(|| made))
    }

    /// The photos that were read as an album sees them; none for those that were not.
    fn entries(&self, read: &[Read], zone: Option<f64>, options: &LocateOptions) -> Result<Vec<Option<AlbumPhoto>>> {
        let good: Vec<(&Origin, &EmbeddedPhoto)> =
            read.iter().filter_map(|read| Some((&read.origin, read.photo.as_ref().ok()?))).collect();
        let mut times = album_times(good.iter().map(|(_, photo)| *photo), zone);
        for (time, (origin, _)) in times.iter_mut().zip(&good) {
            if let Some(known) = origin.known.time {
                *time = zone.map_or(known, |zone| known.in_zone(zone));
            } else if origin.known.time_text.is_some() && time.is_moment() {
                time.source = TimeSource::Table;
            }
        }
        let photos: Vec<&EmbeddedPhoto> = good.iter().map(|(_, photo)| *photo).collect();
        let mut entries = self.album_photos(&photos, &times, options)?.into_iter();
        let each = read.iter().map(|read| {
            let mut entry = read.photo.as_ref().ok().and_then(|_| entries.next())?;
            if entry.name.is_empty() {
                read.origin.called().clone_into(&mut entry.name);
            }
            Some(entry)
        });
        Ok(each.collect())
    }

    /// Returns the album model with this calibration and these settings. Fails if the model's degree is out of range.
    pub fn album(&self, settings: AlbumSettings) -> Result<Album> {
        Ok(Album::new(self.reader().calibration().clone(), settings)?)
    }

    /// Embedded photos with what the model says of each, ready for an album. Their GPS tags count there.
    pub(crate) fn album_photos(
        &self,
        photos: &[&EmbeddedPhoto],
        times: &[PhotoTime],
        options: &LocateOptions,
    ) -> Result<Vec<AlbumPhoto>> {
        let mut all = Vec::with_capacity(photos.len());
        let size = self.photos_per_block();
        for (block, times) in photos.chunks(size).zip(times.chunks(size)) {
            block.iter().try_for_each(|photo| self.check_photo(photo, options))?;
            let queries: Vec<_> = block.iter().map(|photo| photo.query()).collect();
            let evidence = self.evidence(&queries, options)?;
            let said = evidence.into_iter().zip(self.album_places(block, options)?);
            all.extend(block.iter().zip(times).zip(said).map(|((photo, time), (evidence, places))| {
                let views = photo.views.iter().map(Embedding::values);
                let ood = self.reader().calibration().model_output(&evidence, views).ood;
                let mut own = AlbumPhoto::new(photo.name.clone().unwrap_or_default(), *time, evidence)
                    .with_gps(photo.gps)
                    .with_camera(photo.taken.camera.clone())
                    .with_embedding(photo.for_retrieval(), ood)
                    .with_places(places)
                    .with_evidence(album_evidence(photo, options));
                own.offset_h = photo.taken.offset.as_deref().and_then(parse_offset).map(|seconds| seconds / 3600.0);
                own
            }));
        }
        Ok(all)
    }

    /// What a model that gives places scores finds for photos; nothing for other models.
    fn album_places(&self, photos: &[&EmbeddedPhoto], options: &LocateOptions) -> Result<Vec<Option<Arc<PlaceField>>>> {
        if let Some(found) = self.find_places(photos, options.refine)? {
            return Ok(found.into_iter().map(|found| Some(found.field)).collect());
        }
        Ok(vec![None; photos.len()])
    }
}

/// What text in a photo says of its place.
fn album_evidence(photo: &EmbeddedPhoto, options: &LocateOptions) -> Vec<Evidence> {
    if !options.text {
        return Vec::new();
    }
    ReadText::all_evidence(&unignored(&photo.text, &options.ignore_text)).1
}

/// Whether nothing is known of a photo's place but its look.
fn is_unknown(photo: &AlbumPhoto) -> bool {
    photo.gps.is_none() && photo.track.is_none() && photo.soft.is_empty()
}

/// Finds when each photo was taken: by its EXIF data, else by digits in its name. A clock without an offset gets the offset `zone`,
/// or else the most frequent offset of the other photos.
fn album_times<'a>(photos: impl Iterator<Item = &'a EmbeddedPhoto> + Clone, zone: Option<f64>) -> Vec<PhotoTime> {
    let offset = |photo: &EmbeddedPhoto| {
        let (time, offset) = (photo.taken.time.as_deref()?, photo.taken.offset.as_deref()?);
        let (with, without) = (parse_time(time, Some(offset)).ok()?, parse_time(time, None).ok()?);
        with.1.then_some(without.0 - with.0)
    };
    let mut offsets: Vec<f64> = photos.clone().filter_map(offset).collect();
    offsets.sort_by(f64::total_cmp);
    let usual = offsets.get(offsets.len() / 2).copied().unwrap_or(0.0);
    let each = photos.map(EmbeddedPhoto::own_time).map(|time| {
        if time.is_utc || !time.is_moment() {
            return time;
        }
        let clock = PhotoTime { seconds: time.seconds - usual, ahead_s: usual, ..time };
        zone.map_or(clock, |zone| clock.in_zone(zone))
    });
    each.collect()
}

/// Returns the photos that are answered together: all, a folder's, or a named album's.
fn groups(read: &[Read], told: &AlbumOptions) -> Vec<Vec<usize>> {
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    for (k, read) in read.iter().enumerate().filter(|(_, read)| read.photo.is_ok()) {
        let folder = || read.origin.path.as_deref().and_then(Path::parent).map(|path| path.display().to_string());
        let name = match &read.origin.album {
            _ if told.same_place => String::new(),
            Some(album) => album.clone(),
            None if told.folder_is_place => folder().unwrap_or_default(),
            None => String::new(),
        };
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, members)) => members.push(k),
            None => groups.push((name, vec![k])),
        }
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_vision::Taken;

    fn photo(name: &str, time: Option<&str>, offset: Option<&str>) -> EmbeddedPhoto {
        let mut taken = Taken::default();
        taken.time = time.map(str::to_owned);
        taken.offset = offset.map(str::to_owned);
        EmbeddedPhoto::new(Vec::new()).with_name(name).with_taken(taken)
    }

    #[test]
    fn times_come_from_exif_then_names_and_are_never_invented() {
        let photos = [
            photo("a.jpg", Some("2024:05:12 13:45:10"), Some("+02:00")),
            photo("b.jpg", Some("2024:05:12 13:55:10"), None),
            photo("IMG_20240512_140510.jpg", None, None),
            photo("d.jpg", Some("0000:00:00 00:00:00"), None),
            photo("007.jpg", Some("1970:01:01 00:00:00"), None),
            photo("IMG-20240512-WA0001.jpg", None, None),
        ];
        let times = album_times(photos.iter(), None);
        for (k, source) in [TimeSource::Exif, TimeSource::Clock, TimeSource::Name].into_iter().enumerate() {
            assert_eq!((times[k].seconds, times[k].source), (1_715_514_310.0 + 600.0 * k as f64, source));
        }
        assert_eq!((times[3], times[4], times[5].source), (PhotoTime::UNKNOWN, PhotoTime::UNKNOWN, TimeSource::Day));
        let (photos, times) = (&photos[..4], &times[..4]);
        // Only the first is surely of UTC; the clocks of the others say what they said, and the last has none.
        let text = |times: &[PhotoTime]| times.iter().map(|time| time.text().unwrap_or_default()).collect::<Vec<_>>();
        assert_eq!(text(times), ["2024-05-12T11:45:10Z", "2024-05-12T13:55:10", "2024-05-12T14:05:10", ""]);
        let told = album_times(photos.iter(), Some(3600.0));
        assert_eq!(text(&told), ["2024-05-12T11:45:10Z", "2024-05-12T12:55:10Z", "2024-05-12T13:05:10Z", ""]);
    }
}
