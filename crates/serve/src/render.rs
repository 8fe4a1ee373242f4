//! Answers as bytes.

use crate::{ask::Ask, ask::Extra, ask::Format, problem::Kind, problem::Problem};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use locdiff::{Answer, AnswerMap, DensityGrid, Embedding, LatLon, LocateError, Located, Occlusion, Read};
use locdiff_io::tags::LocationFinding;
use locdiff_model::answer::ReadText;
use locdiff_vision::Taken;
use serde_json::{Value, json};

/// One object, or one a line.
/// A step of sampling: its number, and where the samples are.
type Step = (usize, Vec<LatLon>);

const JSON: &str = "application/json";
const LINES: &str = "application/x-ndjson";

/// Draws answers; the cells of the world are made when the first is drawn.
pub(crate) struct Renderer;

/// Bytes and their type.
pub(crate) type Rendered = Result<(Vec<u8>, &'static str), Problem>;

impl Renderer {
    /// The answers of a job: the lines that `locdiff locate` writes. A photo alone that cannot be used is a problem, one of several a
    /// line.
    pub(crate) fn answers(ask: &Ask, found: Vec<Result<Located, Problem>>) -> Rendered {
        let mut found = found.into_iter().collect::<Result<Vec<_>, _>>()?;
        if found.len() == 1 {
            return Self::one(ask, found.swap_remove(0).answer);
        }
        if ask.format != Format::Json {
            return Err(Problem::bad("'format' is for one photo at a time: send one, or ask for json"));
        }
        let mut text = String::new();
        for located in found {
            let line = match &located.answer {
                Ok(answer) => Self::object(answer, ask.extra)?,
                Err(_) => located.to_json(),
            };
            text += &line.to_string();
            text.push('\n');
        }
        Ok((text.into_bytes(), LINES))
    }

    /// The answer to a question with one.
    pub(crate) fn one(ask: &Ask, answer: Result<Answer, LocateError>) -> Rendered {
        let answer = answer?;
        if ask.format == Format::Json {
            return Ok(json_of(&Self::object(&answer, ask.extra)?));
        }
        Ok((Self::drawn(&answer, ask.format)?, ask.format.content_type()))
    }

    /// Photos as embeddings, an object a line.
    pub(crate) fn embeddings(photos: Vec<Result<Read, Problem>>) -> Rendered {
        let is_one = photos.len() == 1;
        let mut text = String::new();
        for read in photos {
            let line = match read?.photo {
                Ok(photo) => {
                    let view = photo.views.first();
                    let encoder = view.and_then(Embedding::encoder).map(ToString::to_string);
                    let Taken { time, offset, camera, .. } = &photo.taken;
                    let gps = photo.gps.map(|gps| [gps.lat_deg(), gps.lon_deg()]);
                    let mut object = json!({
                        "photo": photo.name, "encoder": encoder, "embedding": view.map(Embedding::values),
                        "time": time, "offset": offset, "camera": camera, "gps": gps,
                    });
                    if !photo.text.is_empty() {
                        let line =
                            |ReadText { text, confidence, corners, .. }: &ReadText| json!([text, confidence, corners]);
                        object["text"] = photo.text.iter().map(line).collect();
                    }
                    object
                }
                Err(error) if !is_one => json!({ "error": error.to_string() }),
                Err(error) => return Err(error.into()),
            };
            text += &line.to_string();
            text.push('\n');
        }
        Ok((text.into_bytes(), if is_one { JSON } else { LINES }))
    }

    /// The way of a job's samples from noise to places.
    pub(crate) fn steps(steps: Vec<Result<Vec<Step>, LocateError>>) -> Rendered {
        let steps = steps.into_iter().collect::<Result<Vec<_>, _>>()?;
        // A thousandth of a degree is less than a dot.
        let place = |at: &LatLon| [at.lon_deg(), at.lat_deg()].map(|deg| (1000.0 * deg).round() / 1000.0);
        let step = |(t, places): &Step| json!({ "t": t, "places": places.iter().map(place).collect::<Vec<_>>() });
        let object = json!({ "steps": steps.iter().flatten().map(step).collect::<Vec<_>>() });
        Ok(json_of(&object))
    }

    /// What the parts of a photo say.
    pub(crate) fn occlusion(mut found: Vec<Result<Occlusion, LocateError>>) -> Rendered {
        let Occlusion { at, rows, columns, nats, .. } = found.pop().unwrap_or(Err(LocateError::stopped()))?;
        let object = json!({ "at": at, "rows": rows, "columns": columns, "nats": nats });
        Ok(json_of(&object))
    }

    /// What gives a photo away.
    pub(crate) fn findings(mut found: Vec<Result<Vec<LocationFinding>, LocateError>>) -> Rendered {
        Ok(json_of(&json!({ "findings": found.pop().unwrap_or(Err(LocateError::stopped()))? })))
    }

    /// A photo made small.
    pub(crate) fn preview(mut found: Vec<Result<Vec<u8>, LocateError>>) -> Rendered {
        Ok((found.pop().unwrap_or(Err(LocateError::stopped()))?, "image/jpeg"))
    }

    /// An album's object.
    pub(crate) fn album(said: Result<&Value, &Problem>) -> Rendered {
        said.map(json_of).map_err(Problem::clone)
    }

    fn object(answer: &Answer, extra: Extra) -> Result<Value, Problem> {
        let mut object = answer.to_json();
        if extra.grid {
            object["grid"] = grid(&DensityGrid::of(answer)?);
        }
        if extra.geojson {
            let text = Self::drawn(answer, Format::GeoJson)?;
            object["density"] =
                serde_json::from_slice(&text).map_err(|error| Problem::new(Kind::Internal, error.to_string()))?;
        }
        Ok(object)
    }

    fn drawn(answer: &Answer, format: Format) -> Result<Vec<u8>, Problem> {
        let map = AnswerMap::new(answer)?;
        Ok(match format {
            Format::Json => answer.to_json().to_string().into_bytes(),
            Format::GeoJson => map.geojson().into_bytes(),
            Format::Kml => map.kml().into_bytes(),
            Format::Png => map.png()?,
            Format::GeoTiff => map.geotiff()?,
        })
    }
}

fn json_of(object: &Value) -> (Vec<u8>, &'static str) {
    (format!("{object}\n").into_bytes(), JSON)
}

fn grid(grid: &DensityGrid) -> Value {
    let window = grid.window();
    json!({
        "south": window.south_deg(), "north": window.north_deg(), "west": window.west_deg(), "east": window.east_deg(),
        "rows": window.rows(), "columns": window.columns(), "depth_nats": DensityGrid::DEPTH_NATS,
        "values": BASE64.encode(grid.values()),
    })
}
