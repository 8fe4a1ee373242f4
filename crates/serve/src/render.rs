//! Answers as bytes.

use crate::ask::{Ask, Extra, Format};
use crate::problem::{Kind, Problem};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use locdiff::{Answer, Atlas, DensityGrid, Embedding, LatLon, LocateError, Located, Occlusion, Read, SampledStep};
use locdiff_vision::Taken;
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

/// Bytes and their type.
pub(crate) type Rendered = Result<(Vec<u8>, &'static str), Problem>;

impl Renderer {
    /// The answers of a job: the lines that `locdiff locate` writes. A photo alone that cannot be used is a problem, one of several a
    /// line.
    pub(crate) fn answers(&self, ask: &Ask, found: Vec<Result<Located, Problem>>) -> Rendered {
        let mut found = found.into_iter().collect::<Result<Vec<_>, _>>()?;
        if found.len() == 1 {
            return self.one(ask, found.swap_remove(0).answer);
        }
        if ask.format != Format::Json {
            return Err(Problem::bad("'format' is for one photo at a time: send one, or ask for json"));
        }
        let mut text = String::new();
        for located in found {
            let line = match &located.answer {
                Ok(answer) => self.object(answer, ask.extra)?,
                Err(_) => located.to_json(),
            };
            text += &line.to_string();
            text.push('\n');
        }
        Ok((text.into_bytes(), LINES))
    }

    /// The answer to a question with one.
    pub(crate) fn one(&self, ask: &Ask, answer: Result<Answer, LocateError>) -> Rendered {
        let answer = answer.map_err(|error| Problem::from(&error))?;
        if ask.format == Format::Json {
            return Ok((format!("{}\n", self.object(&answer, ask.extra)?).into_bytes(), JSON));
        }
        Ok((self.drawn(&answer, ask.format)?, ask.format.content_type()))
    }

    /// Photos as embeddings, an object a line.
    #[expect(clippy::unused_self, reason = "one of the renderer's ways")]
    pub(crate) fn embeddings(&self, photos: Vec<Result<Read, Problem>>) -> Rendered {
        let is_one = photos.len() == 1;
        let mut text = String::new();
        for read in photos {
            let line = match read?.photo {
                Ok(photo) => {
                    let view = photo.views.first();
                    let encoder = view.and_then(Embedding::encoder).map(ToString::to_string);
                    let Taken { time, offset, camera, .. } = &photo.taken;
                    let gps = photo.gps.map(|gps| [gps.lat_deg(), gps.lon_deg()]);
                    json!({
                        "photo": photo.name, "encoder": encoder, "embedding": view.map(Embedding::values),
                        "time": time, "offset": offset, "camera": camera, "gps": gps,
                    })
                }
                Err(error) if !is_one => json!({ "error": error.to_string() }),
                Err(error) => return Err(Problem::from(&error)),
            };
            text += &line.to_string();
            text.push('\n');
        }
        Ok((text.into_bytes(), if is_one { JSON } else { LINES }))
    }

    /// The way of a job's samples from noise to places.
    #[expect(clippy::unused_self, reason = "one of the renderer's ways")]
    pub(crate) fn steps(&self, steps: Vec<Result<Vec<SampledStep>, LocateError>>) -> Rendered {
        let steps = steps.into_iter().collect::<Result<Vec<_>, _>>().map_err(|error| Problem::from(&error))?;
        // A thousandth of a degree is less than a dot.
        let place = |at: &LatLon| [at.lon_deg(), at.lat_deg()].map(|deg| (1000.0 * deg).round() / 1000.0);
        let step =
            |step: &SampledStep| json!({ "t": step.t, "places": step.places.iter().map(place).collect::<Vec<_>>() });
        let object = json!({ "steps": steps.iter().flatten().map(step).collect::<Vec<_>>() });
        Ok((format!("{object}\n").into_bytes(), JSON))
    }

    /// What the parts of a photo say.
    pub(crate) fn occlusion(mut found: Vec<Result<Occlusion, LocateError>>) -> Rendered {
        let Occlusion { at, rows, columns, nats } =
            found.pop().unwrap_or(Err(LocateError::stopped())).map_err(|error| Problem::from(&error))?;
        let object = json!({ "at": at, "rows": rows, "columns": columns, "nats": nats });
        Ok((format!("{object}\n").into_bytes(), JSON))
    }

    /// A photo made small.
    pub(crate) fn preview(mut found: Vec<Result<Vec<u8>, LocateError>>) -> Rendered {
        let jpeg = found.pop().unwrap_or(Err(LocateError::stopped()));
        jpeg.map(|jpeg| (jpeg, "image/jpeg")).map_err(|error| Problem::from(&error))
    }

    /// An album's object.
    pub(crate) fn album(said: Result<&Value, &Problem>) -> Rendered {
        said.map(|object| (format!("{object}\n").into_bytes(), JSON)).map_err(Problem::clone)
    }

    fn object(&self, answer: &Answer, extra: Extra) -> Result<Value, Problem> {
        let mut object = answer.to_json();
        if extra.grid {
            object["grid"] = grid(&DensityGrid::of(answer).map_err(|error| Problem::from(&error))?);
        }
        if extra.geojson {
            let text = self.drawn(answer, Format::GeoJson)?;
            object["density"] =
                serde_json::from_slice(&text).map_err(|error| Problem::new(Kind::Internal, error.to_string()))?;
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

fn grid(grid: &DensityGrid) -> Value {
    let window = grid.window();
    json!({
        "south": window.south_deg(),
        "north": window.north_deg(),
        "west": window.west_deg(),
        "east": window.east_deg(),
        "rows": window.rows(),
        "columns": window.columns(),
        "depth_nats": DensityGrid::DEPTH_NATS,
        "values": BASE64.encode(grid.values()),
    })
}
