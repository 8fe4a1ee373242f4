//! Suggestions: the server's photos, trip by trip, answered together.

use super::file_arg::FileArg;
use crate::{interrupt::InterruptGuard, output, progress, request::ModelArgs, say, verbosity};
use anyhow::{Result, bail, ensure};
use clap::Args;
use locdiff::{
    AlbumAnswer, Control, EmbeddedPhoto, Embedding, LocateError, Locator, Origin, Photo, PhotoTime, Progress, Request,
    Source, parts::parse_time,
};
use locdiff_immich::{Asset, Filter, Immich, ImmichError, KeptEmbeddings, Suggestion, Suggestions, trips};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug, Args)]
pub(super) struct Suggest {
    #[command(flatten)]
    file: FileArg,
    #[command(flatten)]
    model: ModelArgs,
    /// Photos taken after this, such as 2024-05-01T00:00:00Z
    #[arg(long, value_name = "TIME")]
    after: Option<String>,
    /// Photos taken before this
    #[arg(long, value_name = "TIME")]
    before: Option<String>,
    /// Photos of one album, by its number in immich
    #[arg(long, value_name = "ID")]
    album: Option<String>,
    /// A pause of so many hours ends a trip
    #[arg(long, value_name = "HOURS", default_value_t = 36.0)]
    pause: f64,
    /// Tick suggestions that are sure (90 %) to within this
    #[arg(long, value_name = "KM", default_value_t = 25.0)]
    sure_km: f64,
    /// Take the clocks of all cameras as they are
    #[arg(long)]
    trust_clocks: bool,
}

impl Suggest {
    pub(super) fn run(self, server: &Arc<Immich>) -> Result<()> {
        let file = &self.file.file;
        output::claim([file.as_path()], true)?;
        ensure!(self.pause > 0.0 && self.sure_km > 0.0, "--pause and --sure-km must be more than 0");
        let locator = self.model.open()?;
        let mut filter = Filter::default();
        (filter.after, filter.before, filter.album) = (self.after.clone(), self.before.clone(), self.album.clone());
        let bar = progress::bar("asking", None);
        let assets = server.assets(&filter, |seen| bar.set_position(seen as u64));
        bar.finish_and_clear();
        let (assets, times) = timed(assets?);
        let trips: Vec<Vec<usize>> = trips(&times, 3600.0 * self.pause)
            .into_iter()
            .filter(|trip| trip.iter().any(|k| assets[*k].place.is_none()))
            .collect();
        let wanted: usize = trips.iter().map(Vec::len).sum();
        let without = assets.iter().filter(|asset| asset.place.is_none()).count();
        verbosity::note(&format!(
            "{} photos, {without} without a place, in {} trips of {wanted} photos",
            assets.len(),
            trips.len()
        ));
        let guard = InterruptGuard::begin();
        let mut kept = file.as_os_str().to_owned();
        kept.push(".partial");
        let encoder = locator.encoder().map_or(String::new(), |encoder| encoder.fingerprint().to_string());
        let kept = KeptEmbeddings::open(kept.as_ref(), &encoder)?;
        if !kept.is_empty() {
            verbosity::note(&format!("going on: {} photos were looked at before", kept.len()));
        }
        let bar = progress::bar("looking", Some(wanted as u64));
        let looking = Looking { server: server.clone(), kept: Mutex::new(kept), failure: Mutex::new(None) };
        let mut found = Vec::new();
        for trip in &trips {
            let members: Vec<(&Asset, f64)> = trip.iter().map(|k| (&assets[*k], times[*k])).collect();
            found.extend(self.answer(&locator, &looking, &members, guard.stop(), &bar)?);
        }
        bar.finish_and_clear();
        let suggestions = Suggestions { server: server.server().to_owned(), suggestions: found };
        suggestions.write(file)?;
        looking.done()?;
        println!(
            "{} suggestions, {} of them ticked, are in {}",
            suggestions.suggestions.len(),
            suggestions.taken(),
            file.display()
        );
        let url = server.server();
        verbosity::note(&format!("`locdiff immich {url} review` shows them, `apply` writes those that are ticked"));
        Ok(())
    }

    /// One trip's suggestions. A photo without a preview that can be read is named and left out.
    fn answer(
        &self,
        locator: &Locator,
        looking: &Looking,
        trip: &[(&Asset, f64)],
        stop: &AtomicBool,
        bar: &indicatif::ProgressBar,
    ) -> Result<Vec<Suggestion>> {
        let mut request = Request::default();
        request.trust_clocks = self.trust_clocks;
        let sources: Vec<Source> = trip.iter().map(|(asset, time)| looking.source(asset, *time)).collect();
        let advance = |stage: Progress| bar.inc(u64::from(stage == Progress::Read));
        let keep = |origin: &Origin, photo: &EmbeddedPhoto| looking.keep(&trip[origin.row].0.id, photo);
        let control = Control::new().with_stop(stop).with_progress(&advance).with_embedded(&keep);
        let run = match locator.run_album(sources, &request, control) {
            Err(LocateError::Stopped) => bail!("stopped before the end: the same command goes on"),
            run => run?,
        };
        looking.check()?;
        run.clocks.iter().for_each(|clock| verbosity::note(&crate::commands::album::print::clock(clock)));
        let mut suggestions = Vec::new();
        for (photo, (asset, _)) in run.photos.into_iter().zip(trip) {
            match photo.answer {
                Ok(answer) if asset.place.is_none() => suggestions.push(self.suggestion(asset, answer)),
                Ok(_) => {}
                Err(error) => bar.suspend(|| say::error(&photo.origin.reason(&error))),
            }
        }
        Ok(suggestions)
    }

    fn suggestion(&self, asset: &Asset, answer: AlbumAnswer) -> Suggestion {
        Suggestion {
            asset: asset.id.clone(),
            name: asset.name.clone(),
            time: asset.time.clone().unwrap_or_default(),
            take: answer.radius_90_km <= self.sure_km && answer.outlier.is_none() && answer.hint.is_none(),
            at: answer.best,
            place: answer.place.clone(),
            radius_50_km: answer.radius_50_km,
            radius_90_km: answer.radius_90_km,
            because: answer.because,
            warning: answer.outlier.or(answer.hint).map(|odd| odd.reason),
        }
    }
}

/// Previews of the server's photos, and the embeddings of those that were looked at before.
struct Looking {
    server: Arc<Immich>,
    kept: Mutex<KeptEmbeddings>,
    /// Why an embedding could not be kept.
    failure: Mutex<Option<ImmichError>>,
}

impl Looking {
    /// Keeps an embedding, unless it is kept already.
    fn keep(&self, asset: &str, photo: &EmbeddedPhoto) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(view) = photo.views.first().filter(|_| kept.get(asset).is_none()) else { return };
        if let Err(error) = kept.add(asset, view.values()) {
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    }

    /// Fails where an embedding could not be kept.
    fn check(&self) -> Result<()> {
        match self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// Everything was answered.
    fn done(self) -> Result<()> {
        Ok(self.kept.into_inner().unwrap_or_else(PoisonError::into_inner).remove()?)
    }

    /// A photo: its embedding, where it is known, else its preview, fetched when its turn comes.
    fn source(&self, asset: &Asset, time: f64) -> Source {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.get(&asset.id).and_then(|values| Embedding::new(values.to_vec(), None).ok());
        let source = if let Some(embedding) = known {
            Source::embedded(embedding.into())
        } else {
            let (server, id, name) = (self.server.clone(), asset.id.clone(), asset.name.clone());
            Source::reader(None, move |limits| {
                let bytes = server.preview(&id, false).map_err(|error| LocateError::Source(Box::new(error)))?;
                Ok(Photo::decode(&bytes, &name, limits)?)
            })
        };
        source
            .called(&*asset.name)
            .with_time(Some(PhotoTime::at(time)))
            .with_gps(asset.place)
            .with_camera(asset.camera.clone())
    }
}

/// The photos with a time, and their times; others cannot be part of a trip.
fn timed(assets: Vec<Asset>) -> (Vec<Asset>, Vec<f64>) {
    let count = assets.len();
    let read = |asset: &Asset| parse_time(asset.time.as_deref()?, None).ok().map(|(seconds, _)| seconds);
    let pairs: Vec<(Asset, f64)> =
        assets.into_iter().filter_map(|asset| read(&asset).map(|time| (asset, time))).collect();
    if pairs.len() < count {
        verbosity::note(&format!("{} photos have no time and are left out", count - pairs.len()));
    }
    pairs.into_iter().unzip()
}
