//! The photos of one trip, answered together.

use crate::job::{Job, Told};
use crate::problem::Problem;
use crate::render::name_of;
use locdiff::{
    Album, AlbumAnswer, AlbumFiles, AlbumSettings, EmbeddedPhoto, LocateError, LocateOptions, Locator,
    TimeSource, WrongClock, album_times, failure_json, iso_time, set_clocks,
};
use serde_json::{Value, json};
use std::sync::OnceLock;

/// Answers albums; what all of them need is made when the first comes.
#[derive(Default)]
pub(crate) struct Trips {
    album: OnceLock<Album>,
}

impl Trips {
    /// The answer to a job: an object with a photo's answer for each, in the order they were sent.
    pub(crate) fn answer(
        &self,
        locator: &Locator,
        job: &Job,
        photos: Vec<Result<EmbeddedPhoto, LocateError>>,
        options: &LocateOptions,
    ) -> Result<Value, Problem> {
        let (mut own, mut told, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        let mut first_failure = None;
        for (k, (photo, upload)) in photos.into_iter().zip(job.work.photos()).enumerate() {
            match photo {
                Ok(photo) => {
                    own.push(with(photo, &upload.told, || name_of(&job.work, k)));
                    told.push(&upload.told);
                    rows.push(None);
                }
                Err(error) if error.is_about_photo() => {
                    let name = name_of(&job.work, k);
                    rows.push(Some(failure_json(&name, &error.about(&name))));
                    first_failure.get_or_insert(Problem::from(&error));
                }
                Err(error) => return Err(Problem::from(&error)),
            }
        }
        if let (true, Some(problem)) = (own.is_empty(), first_failure) {
            return Err(problem);
        }
        let (answers, clocks) = self
            .answers(locator, &own, &told, job.ask.trusts_clocks, options)
            .map_err(|error| Problem::from(&error))?;
        let track: Value =
            serde_json::from_str(&AlbumFiles::new("album", &answers).geojson()).unwrap_or_default();
        let mut answers = answers.iter().map(object);
        let photos: Vec<Value> = rows.into_iter().filter_map(|row| row.or_else(|| answers.next())).collect();
        Ok(json!({ "photos": photos, "clocks": clocks, "track": track }))
    }

    fn answers(
        &self,
        locator: &Locator,
        photos: &[EmbeddedPhoto],
        told: &[&Told],
        trusts_clocks: bool,
        options: &LocateOptions,
    ) -> Result<(Vec<AlbumAnswer>, Vec<WrongClock>), LocateError> {
        let album = if let Some(album) = self.album.get() {
            album
        } else {
            let made = locator.album(AlbumSettings::default())?;
            self.album.get_or_init(|| made)
        };
        let mut times = album_times(photos);
        for (time, told) in times.iter_mut().zip(told) {
            if told.time.is_some() {
                time.source = TimeSource::Table;
            }
        }
        let mut photos = locator.album_photos(photos, &times, options)?;
        let clocks = if trusts_clocks { Vec::new() } else { album.wrong_clocks(&photos)? };
        set_clocks(&mut photos, &clocks);
        Ok((album.answers(&photos, &[], |_| ())?, clocks))
    }
}

/// A photo with what the form says of it.
fn with(mut photo: EmbeddedPhoto, told: &Told, name: impl Fn() -> String) -> EmbeddedPhoto {
    if let Some(time) = &told.time {
        photo.taken.time = Some(time.clone());
        photo.taken.offset = None;
    }
    if told.camera.is_some() {
        photo.taken.camera.clone_from(&told.camera);
    }
    if told.gps.is_some() {
        photo.gps = told.gps;
    }
    photo.name.get_or_insert_with(name);
    photo
}

fn object(answer: &AlbumAnswer) -> Value {
    let mut object = answer.to_json();
    object["time"]["utc"] = json!(iso_time(answer.time.seconds));
    object
}
