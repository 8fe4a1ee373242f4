//! What gives the location of a photo away: its tags, its words, its picture. Copies without them.

use crate::occlusion::mean_colour;
use crate::{Answer, LocateError, LocateOptions, Locator, Photo, PhotoLimits, error::Result};
use locdiff_io::tags::{LocationFinding, LocationScrub, MediaKind};
use locdiff_map::places::{Region, find_place};
use locdiff_model::answer::ReadText;
use locdiff_shdd::sphere::EARTH_RADIUS_KM;
use std::path::Path;

/// Half of the width of the band in which clocks are 1 h behind to 2.5 h ahead of the sun: 26.25° of the equator.
const ZONE_KM: f64 = 2_900.0;
/// At most so many parts of a picture are named.
const MOST_PARTS: usize = 3;

type Exposed = Result<Vec<LocationFinding>>;

impl Locator {
    /// Lists everything that gives the location of a photo or video away, the smallest radius first. `with_parts` adds parts of the picture, see
    /// [`Locator::occlusion`]. A picture that cannot be decoded is a finding without a radius. Fails if the file cannot be read, and as
    /// [`Locator::answer`] does.
    pub fn exposure(&self, file: &Path, with_parts: bool, options: &LocateOptions) -> Exposed {
        let found = Self::exposure_by_tags(file)?;
        let is_film = MediaKind::of(file) == MediaKind::Video;
        let seen = || opened(file, options).and_then(|photo| self.seen(&photo, with_parts, options));
        if is_film { Ok(found) } else { with_seen(found, seen()) }
    }

    /// Does what [`Locator::exposure`] does for a photo in memory; messages call it `name`.
    pub fn exposure_of(&self, contents: &[u8], name: &str, options: &LocateOptions) -> Exposed {
        let photo = Photo::decode(contents, name, &PhotoLimits::of_megapixels(options.max_megapixels));
        let seen = photo.map_err(LocateError::from).and_then(|photo| self.seen(&photo, false, options));
        with_seen(measured(LocationScrub::of(contents).findings), seen)
    }

    /// Lists what the metadata of a photo or video gives away, the smallest radius first. Fails if the file cannot be read.
    pub fn exposure_by_tags(file: &Path) -> Exposed {
        Ok(measured(LocationScrub::read(file).map_err(LocateError::of_source)?.findings))
    }

    /// Returns a JPEG file without metadata in which text is painted over: all text, or text about places. Returns `None` for a video, or if
    /// there is no such text. Fails as [`Locator::exposure`] does, and if the photo cannot be decoded.
    pub fn covered(&self, file: &Path, all: bool, options: &LocateOptions) -> Result<Option<Vec<u8>>> {
        if MediaKind::of(file) == MediaKind::Video {
            return Ok(None);
        }
        let photo = opened(file, options)?;
        let embedded = self.embed(&photo, options)?;
        let lines = if all { embedded.text.clone() } else { telling(&embedded.text) };
        let (colour, mut result) = (mean_colour(photo.rgb()), None);
        for line in lines {
            let span = |axis: usize, side: u32| {
                let values = line.corners.map(|corner| corner[axis].clamp(0.0, side as f32));
                let [from, to] = [f32::min, f32::max].map(|choose| values.into_iter().fold(values[0], choose));
                (from.floor() as usize, to.ceil() as usize)
            };
            let (x, y) = (span(0, photo.width()), span(1, photo.height()));
            result = Some(result.as_ref().unwrap_or(&photo).painted(x, y, colour));
        }
        Ok(result.and_then(|photo| photo.thumbnail(u32::MAX, usize::MAX)))
    }

    fn seen(&self, photo: &Photo, with_parts: bool, options: &LocateOptions) -> Exposed {
        let embedded = self.embed(photo, options)?;
        let answer = self.answer(&embedded, &options.clone().text(false))?;
        let radius_km = |answer: &Answer| Some(answer.radius_50_km).filter(|_| answer.can_tell);
        let says = if answer.can_tell { &answer.headline[..] } else { "LocDiff can't tell where it is" };
        let mut found = vec![LocationFinding::new("picture", "picture", says, radius_km(&answer))];
        if let Some(like) = answer.gallery().and_then(|gallery| gallery.matched.as_ref()) {
            let (name, says) = (like.name.clone(), format!("similarity {:.2}", like.similarity));
            let name = name.unwrap_or_else(|| format!("row {}", like.row));
            found.push(LocationFinding::new("gallery", name, &says, radius_km(&answer)));
        }
        if !embedded.text.is_empty() {
            let read = self.answer(&embedded, options)?;
            found.extend(read.text.iter().map(|line| {
                let taken_for: Vec<&str> = line.evidence.iter().map(|effect| &*effect.says).collect();
                let says = format!("\"{}\": {}", line.text, taken_for.join(", "));
                let [[x, y], ..] = line.corners;
                LocationFinding::new("text", format!("{x:.0}, {y:.0}"), &says, radius_km(&read))
            }));
        }
        if with_parts && answer.can_tell {
            let parts = self.occlusion(photo, options)?;
            let mut best: Vec<(usize, &f64)> = parts.nats.iter().enumerate().filter(|(_, nats)| **nats > 0.0).collect();
            best.sort_by(|a, b| b.1.total_cmp(a.1));
            found.extend(best.into_iter().take(MOST_PARTS).map(|(k, nats)| {
                let at = format!("row {}, column {}", k / parts.columns + 1, k % parts.columns + 1);
                let says = format!("of {} × {}: supports the answer, {nats:.2} nats", parts.rows, parts.columns);
                LocationFinding::new("part", at, &says, radius_km(&answer))
            }));
        }
        Ok(found)
    }
}

/// The lines that say something about places, and those that do so once these are gone.
fn telling(lines: &[ReadText]) -> Vec<ReadText> {
    let (mut left, mut found) = (lines.to_vec(), Vec::new());
    loop {
        let (numbers, _) = ReadText::all_evidence(&left);
        if numbers.is_empty() {
            return found;
        }
        let (told, others): (Vec<_>, Vec<_>) = left.into_iter().enumerate().partition(|(k, _)| numbers.contains(k));
        found.extend(told.into_iter().map(|(_, line)| line));
        left = others.into_iter().map(|(_, line)| line).collect();
    }
}

fn opened(file: &Path, options: &LocateOptions) -> Result<Photo> {
    Ok(Photo::open(file, &PhotoLimits::of_megapixels(options.max_megapixels))?)
}

/// Findings of tags and of a picture, which may be one that cannot be decoded.
fn with_seen(mut found: Vec<LocationFinding>, seen: Exposed) -> Exposed {
    match seen {
        Err(error) if error.is_about_photo() => {
            found.push(LocationFinding::new("picture", "picture", &format!("not seen: {error}"), None));
        }
        seen => found.extend(seen?),
    }
    Ok(in_order(found))
}

fn in_order(mut found: Vec<LocationFinding>) -> Vec<LocationFinding> {
    let key = |finding: &LocationFinding| finding.radius_km.unwrap_or(f64::INFINITY);
    found.sort_by(|a, b| key(a).total_cmp(&key(b)));
    found
}

/// Findings of tags with the radii of names and time zones.
fn measured(mut found: Vec<LocationFinding>) -> Vec<LocationFinding> {
    for finding in &mut found {
        finding.radius_km = match finding.kind {
            "place-name" => name_km(&finding.says),
            "time-zone" => Some(ZONE_KM),
            _ => finding.radius_km,
        };
    }
    in_order(found)
}

/// How far the place of a name reaches: a town with or without its state, or the state or country that stands last.
fn name_km(says: &str) -> Option<f64> {
    let parts: Vec<&str> = says.split(", ").collect();
    let (first, last) = (*parts.first()?, *parts.last()?);
    let town = |text: &str| find_place(text).ok().flatten().map(|town| town.radius_km);
    let towns = [town(says), town(&format!("{first}, {last}"))].into_iter().flatten();
    let region = Region::in_words(last).ok().map(|region| {
        let area_sr: f64 = region.polygons().iter().map(|polygon| polygon.area_sr().abs()).sum();
        EARTH_RADIUS_KM * (area_sr / std::f64::consts::PI).sqrt()
    });
    towns.chain(region).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_tell_once_others_are_gone_are_found() {
        let line = |text: &str| ReadText::new(text, 0.95, [[0.0; 2]; 4]);
        let lines = ["LEUKERBAD", "Fermé le lundi", "12:45"].map(line);
        assert_eq!(ReadText::all_evidence(&lines).0, [0], "the name hides the language");
        let told: Vec<String> = telling(&lines).into_iter().map(|line| line.text).collect();
        assert_eq!(told, ["LEUKERBAD", "Fermé le lundi"]);
    }

    #[test]
    fn names_have_radii_and_the_smallest_comes_first() {
        for (says, from, to) in
            [("Lund, Skåne, Sweden", 2.0, 10.0), ("Nowhere, Sweden", 300.0, 500.0), ("SE", 300.0, 500.0)]
        {
            assert!(name_km(says).is_some_and(|km| (from..to).contains(&km)), "{says}: {:?}", name_km(says));
        }
        assert_eq!(name_km("Nowhere at all"), None);
        let found = [("hidden", ""), ("time-zone", "+02:00"), ("place-name", "Lund, Sweden")];
        let found = measured(found.map(|(kind, says)| LocationFinding::new(kind, "EXIF", says, None)).to_vec());
        let kinds: Vec<&str> = found.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, ["place-name", "time-zone", "hidden"]);
    }
}
