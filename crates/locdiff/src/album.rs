//! Albums: photos answered together.

use crate::{EmbeddedPhoto, LocateError, LocateOptions, Locator};
use locdiff_album::{
    Album, AlbumPhoto, AlbumSettings, GUESSED_GAP_S, PhotoTime, TimeSource, parse_time, time_in_name,
};
use locdiff_data::Embedding;

impl Locator {
    /// Answers for albums, with this model's calibration.
    ///
    /// ```
    /// # #[cfg(feature = "bundled")] {
    /// use locdiff::{AlbumSettings, LatLon, LocateOptions, Locator, Photo, PhotoLimits, album_times, haversine_km};
    /// let locator = Locator::bundled()?;
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vision/china.jpg");
    /// let options = LocateOptions::default();
    /// let photo = Photo::open(path.as_ref(), &PhotoLimits::default())?;
    /// let beijing = LatLon::new(39.99, 116.27)?;
    /// let photos = [
    ///     locator.embed(&photo, &options)?.with_name("IMG_20240512_134510.jpg").with_gps(Some(beijing)),
    ///     locator.embed(&photo, &options)?.with_name("IMG_20240512_135010.jpg"),
    /// ];
    /// let photos = locator.album_photos(&photos, &album_times(&photos), &options)?;
    /// let answers = locator.album(AlbumSettings::default())?.answers(&photos, &[], |_| ())?;
    /// assert!(haversine_km(answers[1].best, beijing) < 1.0);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A model of a degree out of range.
    pub fn album(&self, settings: AlbumSettings) -> Result<Album, LocateError> {
        Ok(Album::new(self.reader().calibration().clone(), settings)?)
    }

    /// Embedded photos with what the model says of each, ready for an album. Their GPS tags are heard there.
    ///
    /// # Errors
    /// As [`Locator::answer`].
    pub fn album_photos(
        &self,
        photos: &[EmbeddedPhoto],
        times: &[PhotoTime],
        options: &LocateOptions,
    ) -> Result<Vec<AlbumPhoto>, LocateError> {
        options.check()?;
        let mut said = Vec::with_capacity(photos.len());
        for block in photos.chunks(self.photos_per_block()) {
            block.iter().try_for_each(|photo| self.check_photo(photo))?;
            let queries: Vec<_> = block.iter().map(EmbeddedPhoto::query).collect();
            said.extend(self.predictor().evidence(&queries, &options.sampling)?);
        }
        let both = photos.iter().zip(times).zip(said);
        Ok(both
            .map(|((photo, time), evidence)| {
                let views = photo.views.iter().map(Embedding::values);
                let stranger = self.reader().calibration().said(&evidence, views).stranger;
                AlbumPhoto::new(photo.name.clone().unwrap_or_default(), *time, evidence)
                    .with_gps(photo.gps)
                    .with_camera(photo.taken.camera.clone())
                    .with_embedding(photo.for_retrieval(), stranger)
            })
            .collect())
    }
}

/// When each photo was taken: by its EXIF data, else the digits in its name, else by the order of the files. Clocks without an
/// offset are taken to have the one that most photos with an offset have.
pub fn album_times(photos: &[EmbeddedPhoto]) -> Vec<PhotoTime> {
    let read: Vec<Option<(f64, TimeSource)>> = photos
        .iter()
        .map(|photo| {
            let taken = &photo.taken;
            let exif = taken.time.as_deref().and_then(|time| parse_time(time, taken.offset.as_deref()).ok());
            exif.map(|(at, known)| (at, if known { TimeSource::Exif } else { TimeSource::Clock }))
                .or_else(|| Some((time_in_name(photo.name.as_deref()?)?, TimeSource::Name)))
        })
        .collect();
    let mut offsets: Vec<f64> = photos
        .iter()
        .filter_map(|photo| {
            let (time, offset) = (photo.taken.time.as_deref()?, photo.taken.offset.as_deref()?);
            let (with, without) = (parse_time(time, Some(offset)).ok()?, parse_time(time, None).ok()?);
            with.1.then_some(without.0 - with.0)
        })
        .collect();
    offsets.sort_by(f64::total_cmp);
    let usual = offsets.get(offsets.len() / 2).copied().unwrap_or(0.0);
    let mut last = 0.0;
    read.into_iter()
        .map(|found| {
            let time = match found {
                Some((seconds, TimeSource::Exif)) => PhotoTime { seconds, source: TimeSource::Exif },
                Some((seconds, source)) => PhotoTime { seconds: seconds - usual, source },
                None => PhotoTime { seconds: last + GUESSED_GAP_S, source: TimeSource::Order },
            };
            last = time.seconds;
            time
        })
        .collect()
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
    fn times_come_from_exif_then_names_then_the_order() {
        let photos = [
            photo("a.jpg", Some("2024:05:12 13:45:10"), Some("+02:00")),
            photo("b.jpg", Some("2024:05:12 13:55:10"), None),
            photo("IMG_20240512_140510.jpg", None, None),
            photo("d.jpg", Some("0000:00:00 00:00:00"), None),
        ];
        let times = album_times(&photos);
        let sources = [TimeSource::Exif, TimeSource::Clock, TimeSource::Name, TimeSource::Order];
        for (k, (time, source)) in times.iter().zip(sources).enumerate() {
            assert_eq!((time.seconds, time.source), (1_715_514_310.0 + 600.0 * k as f64, source));
        }
    }
}
