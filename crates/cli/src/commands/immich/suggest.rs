//! Suggestions: the server's photos, trip by trip, answered together.

use super::file_arg::FileArg;
use crate::interrupt::Careful;
use crate::model::ModelArgs;
use crate::{manners, output, progress, say};
use anyhow::{Result, ensure};
use clap::Args;
use locdiff::{
    AlbumSettings, EmbeddedPhoto, Embedding, LocateOptions, Locator, Photo, PhotoLimits, PhotoTime,
    parse_time, set_clocks,
};
use locdiff_immich::{Asset, Filter, Immich, KeptEmbeddings, Suggestion, Suggestions, trips};
use std::sync::atomic::{AtomicBool, Ordering};

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
    pub(super) fn run(self, server: &Immich) -> Result<()> {
        let file = &self.file.file;
        output::claim([file.as_path()], true)?;
        ensure!(self.pause > 0.0 && self.sure_km > 0.0, "--pause and --sure-km must be more than 0");
        let locator = self.model.open(true)?;
        let mut filter = Filter::default();
        (filter.after, filter.before, filter.album) =
            (self.after.clone(), self.before.clone(), self.album.clone());
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
        manners::note(&format!(
            "{} photos, {without} without a place, in {} trips of {wanted} photos",
            assets.len(),
            trips.len()
        ));
        let careful = Careful::begin();
        let mut kept = file.as_os_str().to_owned();
        kept.push(".partial");
        let encoder = locator.encoder().map_or(String::new(), |encoder| encoder.fingerprint().to_string());
        let mut kept = KeptEmbeddings::open(kept.as_ref(), &encoder)?;
        if !kept.is_empty() {
            manners::note(&format!("going on: {} photos were looked at before", kept.len()));
        }
        let bar = progress::bar("looking", Some(wanted as u64));
        let mut found = Vec::new();
        for trip in &trips {
            let members: Vec<(&Asset, f64)> = trip.iter().map(|k| (&assets[*k], times[*k])).collect();
            let embedded = look(server, &locator, &members, &mut kept, careful.stop(), &bar)?;
            found.extend(self.answer(&locator, embedded)?);
        }
        bar.finish_and_clear();
        let suggestions = Suggestions { server: server.server().to_owned(), suggestions: found };
        suggestions.write(file)?;
        kept.remove()?;
        println!(
            "{} suggestions, {} of them ticked, are in {}",
            suggestions.suggestions.len(),
            suggestions.taken(),
            file.display()
        );
        let url = server.server();
        manners::note(&format!(
            "`locdiff immich {url} review` shows them, `apply` writes those that are ticked"
        ));
        Ok(())
    }

    /// One trip's suggestions.
    fn answer(&self, locator: &Locator, seen: Vec<(&Asset, f64, EmbeddedPhoto)>) -> Result<Vec<Suggestion>> {
        let times: Vec<PhotoTime> = seen.iter().map(|(_, time, _)| PhotoTime::at(*time)).collect();
        let (assets, photos): (Vec<&Asset>, Vec<EmbeddedPhoto>) =
            seen.into_iter().map(|(asset, _, photo)| (asset, photo)).unzip();
        let mut photos = locator.album_photos(&photos, &times, &LocateOptions::default())?;
        let album = locator.album(AlbumSettings::default())?;
        if !self.trust_clocks {
            let wrong = album.wrong_clocks(&photos)?;
            for clock in &wrong {
                manners::note(&crate::commands::album::print::clock(clock));
            }
            set_clocks(&mut photos, &wrong);
        }
        let answers = album.answers(&photos, &[], |_| ())?;
        let pairs = assets.into_iter().zip(answers).filter(|(asset, _)| asset.place.is_none());
        Ok(pairs
            .map(|(asset, answer)| Suggestion {
                asset: asset.id.clone(),
                name: asset.name.clone(),
                time: asset.time.clone().unwrap_or_default(),
                take: answer.radius_90_km <= self.sure_km
                    && answer.outlier.is_none()
                    && answer.hint.is_none(),
                at: answer.best,
                place: answer.place,
                radius_50_km: answer.radius_50_km,
                radius_90_km: answer.radius_90_km,
                because: answer.because,
                warning: answer.outlier.or(answer.hint).map(|odd| odd.reason),
            })
            .collect())
    }
}

/// The photos with a time, and their times; others cannot be part of a trip.
fn timed(assets: Vec<Asset>) -> (Vec<Asset>, Vec<f64>) {
    let count = assets.len();
    let read = |asset: &Asset| parse_time(asset.time.as_deref()?, None).ok().map(|(seconds, _)| seconds);
    let pairs: Vec<(Asset, f64)> =
        assets.into_iter().filter_map(|asset| read(&asset).map(|time| (asset, time))).collect();
    if pairs.len() < count {
        manners::note(&format!("{} photos have no time and are left out", count - pairs.len()));
    }
    pairs.into_iter().unzip()
}

/// Embeds the photos of a trip, from their previews. A photo without one is named and left out.
fn look<'a>(
    server: &Immich,
    locator: &Locator,
    members: &[(&'a Asset, f64)],
    kept: &mut KeptEmbeddings,
    stop: &AtomicBool,
    bar: &indicatif::ProgressBar,
) -> Result<Vec<(&'a Asset, f64, EmbeddedPhoto)>> {
    let options = LocateOptions::default();
    let mut seen = Vec::with_capacity(members.len());
    for (asset, time) in members {
        ensure!(!stop.load(Ordering::SeqCst), "stopped before the end: the same command goes on");
        let embedding = if let Some(known) = kept.get(&asset.id) {
            Embedding::new(known.to_vec(), None)?
        } else {
            let bytes = server.preview(&asset.id, false)?;
            let photo = Photo::decode(&bytes, &asset.name, &PhotoLimits::default());
            match photo.map_err(locdiff::LocateError::from).and_then(|photo| locator.embed(&photo, &options))
            {
                Ok(mut photo) => {
                    let embedding = photo.views.swap_remove(0);
                    kept.add(&asset.id, embedding.values())?;
                    embedding
                }
                Err(error) if error.is_about_photo() => {
                    bar.suspend(|| say::error(&error.to_string()));
                    bar.inc(1);
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
        };
        let mut photo = EmbeddedPhoto::from(embedding).with_name(&*asset.name).with_gps(asset.place);
        photo.taken.camera.clone_from(&asset.camera);
        seen.push((*asset, *time, photo));
        bar.inc(1);
    }
    Ok(seen)
}
