//! Answers as bytes.

use crate::ask::{Ask, Format};
use crate::job::Work;
use crate::problem::{Kind, Problem};
use locdiff::{Answer, Atlas, EmbeddedPhoto, Embedding, LocateError, failure_json};
use serde_json::{Value, json};
use std::sync::OnceLock;

/// One object, or one a line.
const JSON: &str = "application/json";
const LINES: &str = "application/x-ndjson";

/// Draws answers; the cells of the world are made when the first is drawn.
#[derive(Default)]
pub(crate) struct Renderer {
    atlas: OnceLock<Atlas>,
}

type Rendered = Result<(Vec<u8>, &'static str), Problem>;

impl Renderer {
    /// The answers of a job. The lines are those that `locdiff locate` writes.
    pub(crate) fn answers(
        &self,
        ask: &Ask,
        work: &Work,
        answers: Vec<Result<Answer, LocateError>>,
    ) -> Rendered {
        let is_one = answers.len() == 1;
        if ask.format != Format::Json {
            let [answer] = &answers[..] else {
                return Err(Problem::bad("'format' is for one photo at a time: send one, or ask for json"));
            };
            let answer = answer.as_ref().map_err(Problem::from)?;
            return Ok((self.drawn(answer, ask.format)?, ask.format.content_type()));
        }
        let mut text = String::new();
        for (k, answer) in answers.into_iter().enumerate() {
            let line = match answer {
                Ok(answer) => self.object(&answer, ask.with_density)?,
                Err(error) if error.is_about_photo() && !is_one => {
                    let name = name_of(work, k);
                    failure_json(&name, &error.about(&name))
                }
                Err(error) => return Err(Problem::from(&error)),
            };
            text += &line.to_string();
            text.push('\n');
        }
        Ok((text.into_bytes(), if is_one { JSON } else { LINES }))
    }

    /// Photos as embeddings, an object a line.
    #[expect(clippy::unused_self, reason = "one of the renderer's ways")]
    pub(crate) fn embeddings(&self, photos: Vec<Result<EmbeddedPhoto, LocateError>>) -> Rendered {
        let is_one = photos.len() == 1;
        let mut text = String::new();
        for photo in photos {
            let line = match photo {
                Ok(photo) => {
                    let view = photo.views.first();
                    let encoder = view.and_then(Embedding::encoder).map(ToString::to_string);
                    json!({ "photo": photo.name, "encoder": encoder, "embedding": view.map(Embedding::values) })
                }
                Err(error) if error.is_about_photo() && !is_one => json!({ "error": error.to_string() }),
                Err(error) => return Err(Problem::from(&error)),
            };
            text += &line.to_string();
            text.push('\n');
        }
        Ok((text.into_bytes(), if is_one { JSON } else { LINES }))
    }

    fn object(&self, answer: &Answer, with_density: bool) -> Result<Value, Problem> {
        let mut object = answer.to_json();
        if with_density {
            let text = self.drawn(answer, Format::GeoJson)?;
            object["density"] = serde_json::from_slice(&text)
                .map_err(|error| Problem::new(Kind::Internal, error.to_string()))?;
        }
        Ok(object)
    }

    fn drawn(&self, answer: &Answer, format: Format) -> Result<Vec<u8>, Problem> {
        let failed = |error: LocateError| Problem::from(&error);
        let atlas = if let Some(atlas) = self.atlas.get() {
            atlas
        } else {
            let made = Atlas::new().map_err(failed)?;
            self.atlas.get_or_init(|| made)
        };
        let map = atlas.draw(answer).map_err(failed)?;
        match format {
            Format::Json => Ok(answer.to_json().to_string().into_bytes()),
            Format::GeoJson => Ok(map.geojson().into_bytes()),
            Format::Kml => Ok(map.kml().into_bytes()),
            Format::Png => map.png().map_err(failed),
            Format::GeoTiff => map.geotiff().map_err(failed),
        }
    }
}

/// What a job's photo is called in messages.
fn name_of(work: &Work, k: usize) -> String {
    let given = match work {
        Work::Locate(photos) | Work::Embed(photos) => photos.get(k).and_then(|photo| photo.name.clone()),
        Work::LocateEmbeddings(_) => Some(format!("row {}", k + 1)),
    };
    given.unwrap_or_else(|| "the photo".to_owned())
}
