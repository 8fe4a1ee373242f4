//! Bodies as photos or embeddings.

use crate::work::{AlbumFacts, GivenFacts, Upload, Work};
use crate::{multipart, multipart::Part, problem::Kind, problem::Problem, problem::Result};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use bytes::Bytes;
use locdiff::{EmbeddedPhoto, Embedding, LatLon, LocateError, Photo, PhotoLimits, StatedPlace};
use locdiff_album::parse_time;
use locdiff_base::{ensure, excerpt};
use locdiff_model::answer::ReadText;
use locdiff_vision::Taken;
use serde::Deserialize;

/// How a body is to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BodyKind {
    Photo,
    Form { boundary: String },
    Embeddings,
}

impl BodyKind {
    /// Of photos, by their `Content-Type`; without one, a photo.
    pub(crate) fn of_photos(content_type: Option<&str>) -> Result<Self> {
        let Some(given) = content_type else { return Ok(Self::Photo) };
        let kind = essence(given);
        if kind == "multipart/form-data" {
            let boundary = multipart::boundary(given)
                .ok_or_else(|| Problem::bad("the Content-Type of the form has no boundary of 1 to 70 characters"))?;
            return Ok(Self::Form { boundary });
        }
        if kind.starts_with("image/") || kind == "application/octet-stream" {
            return Ok(Self::Photo);
        }
        Err(unknown(given, "image/jpeg (or another image type), application/octet-stream or multipart/form-data"))
    }

    /// Of an album, which is a form.
    pub(crate) fn of_album(content_type: Option<&str>) -> Result<Self> {
        let given = content_type.unwrap_or_default();
        match Self::of_photos(content_type) {
            Ok(form @ Self::Form { .. }) => Ok(form),
            Err(problem) if essence(given) == "multipart/form-data" => Err(problem),
            _ => Err(unknown(given, "multipart/form-data, a form of fields called 'photo'")),
        }
    }

    /// Of embeddings.
    pub(crate) fn of_embeddings(content_type: Option<&str>) -> Result<Self> {
        match content_type {
            None => Ok(Self::Embeddings),
            Some(given) if essence(given) == "application/json" => Ok(Self::Embeddings),
            Some(given) => Err(unknown(given, "application/json")),
        }
    }
}

fn essence(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn unknown(given: &str, wanted: &str) -> Problem {
    Problem::new(Kind::UnknownFormat, format!("the Content-Type is '{given}': send {wanted}"))
}

/// The parts of a form, at most so many.
pub(crate) fn form_parts(body: Bytes, boundary: &str, most: usize) -> Result<Vec<Part>> {
    let parts = multipart::parts(body, boundary, most);
    parts.map_err(|reason| Problem::bad(format!("the form cannot be read: {reason}")))
}

/// The photos of a body. What a single photo's head shows to be wrong is refused at once.
pub(crate) fn photos(
    body: Bytes,
    kind: &BodyKind,
    name: Option<String>,
    most: usize,
    limits: &PhotoLimits,
) -> Result<Vec<Upload>> {
    let named = match kind {
        BodyKind::Form { boundary } => {
            let parts = form_parts(body, boundary, most)?;
            if let Some(Part { field, .. }) = parts.iter().find(|part| part.field != "photo") {
                return Err(Problem::bad(format!("the form has a field '{field}': photos are fields called 'photo'")));
            }
            parts.into_iter().map(|part| (part.file_name, part.contents)).collect()
        }
        _ => vec![(name, body)],
    };
    ensure!(!named.is_empty(), Problem::bad("the form has no photo: send one or more fields called 'photo'"));
    let is_one = named.len() == 1;
    named.into_iter().map(|(name, contents)| upload(name, contents, is_one, limits)).collect()
}

/// A photo. With `is_one`, one that cannot be used is refused; else it is reported with its answer, and not decoded.
pub(crate) fn upload(name: Option<String>, contents: Bytes, is_one: bool, limits: &PhotoLimits) -> Result<Upload> {
    let called = name.as_deref().unwrap_or("the photo");
    let pixels = match Photo::size(&contents, called, limits) {
        Ok(Some((width, height))) => u64::from(width) * u64::from(height),
        // Only its decoder knows: as much as is allowed.
        Ok(None) => limits.max_pixels,
        Err(error) if is_one => return Err(LocateError::from(error).into()),
        // Reported with the others' answers; nothing is decoded.
        Err(_) => 0,
    };
    Ok(Upload { name, contents, pixels, given: GivenFacts::default() })
}

/// A photo's fields: itself, its time, place and camera.
const FIELDS: usize = 4;
/// No time, place or camera is longer.
const LONGEST_FIELD: usize = 100;
/// No name of a photo is longer.
const LONGEST_NAME: usize = 1024;
/// The lines that were read in a photo have no more bytes together.
const LONGEST_TEXT: usize = 100_000;
/// Logs and stated places of an album at the most.
const MOST_TRACKS: usize = 16;
const MOST_PLACES: usize = 100;

/// The photos of an album's form, each followed by its fields, and what is known beside them.
pub(crate) fn album(body: Bytes, kind: &BodyKind, most: usize, limits: &PhotoLimits) -> Result<Work> {
    let BodyKind::Form { boundary } = kind else { return Err(Problem::bad("an album is a form")) };
    let parts = form_parts(body, boundary, FIELDS * most + MOST_TRACKS + 1)?;
    let (mut photos, mut facts): (Vec<Upload>, _) = (Vec::new(), AlbumFacts::default());
    for part in parts {
        if part.field == "track" {
            let name = part.file_name.unwrap_or_else(|| format!("track {}", facts.tracks.len() + 1));
            facts.tracks.push((name, part.contents));
            continue;
        }
        if part.field == "places" {
            facts.places = serde_json::from_slice(&part.contents)
                .map_err(|error| Problem::bad(format!("the field 'places' is not a list of places: {error}")))?;
            continue;
        }
        if part.field == "photo" {
            ensure!(photos.len() != most, Problem::bad(format!("the form has more than {most} photos")));
            photos.push(upload(part.file_name, part.contents, false, limits)?);
            continue;
        }
        let field = &part.field;
        let Some(photo) = photos.last_mut() else {
            let detail = format!("the form begins with a field '{}': photos come first", excerpt(field));
            return Err(Problem::bad(detail));
        };
        let called = photo.name.as_deref().unwrap_or("the photo");
        let bad = |what: String| Problem::bad(format!("the field '{field}' after {called}: {what}"));
        let value = std::str::from_utf8(&part.contents).ok().filter(|text| text.len() <= LONGEST_FIELD);
        let value = value.ok_or_else(|| bad(format!("it is not text of up to {LONGEST_FIELD} bytes")))?.trim();
        let is_new = match &**field {
            "time" => {
                parse_time(value, None).map_err(|error| bad(error.to_string()))?;
                photo.given.time.replace(value.to_owned()).is_none()
            }
            "gps" => {
                let place = place(value)
                    .ok_or_else(|| bad(format!("'{}' is not a location: write it as 48.85,2.35", excerpt(value))))?;
                photo.given.gps.replace(place).is_none()
            }
            "camera" => photo.given.camera.replace(value.to_owned()).is_none(),
            _ => {
                let known = "an album has photo, time, gps and camera, and also places and track";
                return Err(Problem::bad(format!("the form has a field '{}': {known}", excerpt(field))));
            }
        };
        ensure!(is_new, bad("it is there twice".to_owned()));
    }
    ensure!(!photos.is_empty(), Problem::bad("the form has no photo: send one or more fields called 'photo'"));
    check(&facts)?;
    Ok(Work::Album(photos, facts))
}

fn check(facts: &AlbumFacts) -> Result<()> {
    for (count, most, what) in
        [(facts.tracks.len(), MOST_TRACKS, "tracks"), (facts.places.len(), MOST_PLACES, "stated places")]
    {
        ensure!(count <= most, Problem::bad(format!("the album has {count} {what}: send {most} at the most")));
    }
    Ok(())
}

/// Latitude and longitude, with a comma between.
fn place(value: &str) -> Option<LatLon> {
    let (lat, lon) = value.split_once(',')?;
    LatLon::new(lat.trim().parse().ok()?, lon.trim().parse().ok()?).ok()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    embeddings: Vec<Vec<f32>>,
}

/// The embeddings of a body, each of so many numbers.
pub(crate) fn embeddings(body: &[u8], columns: usize, most: usize) -> Result<Work> {
    let rows: Rows = serde_json::from_slice(body).map_err(|error| {
        Problem::bad(format!("the body is not an object with 'embeddings', lists of numbers: {error}"))
    })?;
    let count = rows.embeddings.len();
    ensure!(count != 0 && count <= most, Problem::bad(format!("the body has {count} embeddings: send 1 to {most}")));
    if let Some((k, row)) = rows.embeddings.iter().enumerate().find(|(_, row)| row.len() != columns) {
        let detail = format!("embedding {} has {} numbers, the model takes {columns}", k + 1, row.len());
        return Err(Problem::bad(detail));
    }
    Ok(Work::LocateEmbeddings(rows.embeddings))
}

/// The most photos of an album that come as embeddings.
pub(crate) const MOST_OF_ALBUM: usize = 5000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AlbumBody {
    photos: Vec<AlbumRow>,
    /// The texts of the files.
    #[serde(default)]
    tracks: Vec<String>,
    #[serde(default)]
    places: Vec<StatedPlace>,
}

/// What `/v1/embed` said of a photo; its embedding as base64 of 32-bit numbers, the least byte first.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AlbumRow {
    name: String,
    embedding: String,
    time: Option<String>,
    offset: Option<String>,
    camera: Option<String>,
    gps: Option<[f64; 2]>,
    /// Lines of text with confidence and corners.
    #[serde(default)]
    text: Vec<(String, f32, [[f32; 2]; 4])>,
}

impl AlbumRow {
    fn photo(self, columns: usize) -> Result<EmbeddedPhoto> {
        let name = excerpt(&self.name);
        let bad = |what: String| Problem::bad(format!("{name}: {what}"));
        let long =
            [&self.time, &self.offset, &self.camera].into_iter().flatten().any(|text| text.len() > LONGEST_FIELD);
        let lines = self.text.iter().map(|(line, ..)| line.len());
        if long || self.name.len() > LONGEST_NAME || lines.clone().sum::<usize>() + lines.len() > LONGEST_TEXT {
            return Err(bad("a text is too long".to_owned()));
        }
        let bytes =
            BASE64.decode(&self.embedding).map_err(|error| bad(format!("the embedding is not base64: {error}")))?;
        let values = bytes.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect();
        if bytes.len() != 4 * columns {
            return Err(bad(format!("the embedding has {} bytes, the model takes {}", bytes.len(), 4 * columns)));
        }
        let embedding = Embedding::new(values, None).map_err(|error| bad(error.to_string()))?;
        let gps =
            self.gps.map(|[lat, lon]| LatLon::new(lat, lon)).transpose().map_err(|error| bad(error.to_string()))?;
        let mut taken = Taken::default();
        (taken.time, taken.offset, taken.camera) = (self.time, self.offset, self.camera);
        let mut photo = EmbeddedPhoto::from(embedding).with_name(self.name).with_gps(gps).with_taken(taken);
        let line =
            |(text, confidence, corners): (String, f32, _)| ReadText::new(text, confidence.clamp(0.0, 1.0), corners);
        photo.text = self.text.into_iter().map(line).collect();
        Ok(photo)
    }
}

/// The photos of an album that were embedded before.
pub(crate) fn album_embeddings(body: &[u8], columns: usize) -> Result<Work> {
    let body: AlbumBody =
        serde_json::from_slice(body).map_err(|error| Problem::bad(format!("the body is not an album: {error}")))?;
    let count = body.photos.len();
    if count == 0 || count > MOST_OF_ALBUM {
        return Err(Problem::bad(format!("the album has {count} photos: send 1 to {MOST_OF_ALBUM}")));
    }
    let photos = body.photos.into_iter().map(|row| row.photo(columns)).collect::<Result<_, _>>()?;
    let track = |(k, text): (usize, String)| (format!("track {}", k + 1), Bytes::from(text));
    let facts = AlbumFacts { tracks: body.tracks.into_iter().enumerate().map(track).collect(), places: body.places };
    check(&facts)?;
    Ok(Work::AlbumEmbeddings(photos, facts))
}
