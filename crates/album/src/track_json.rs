//! Positions in JSON: what Google's programs export, and GeoJSON with times.

use crate::{track::TrackPoint, track_points::LogPoints, track_points::utc};
use locdiff_base::excerpt;
use locdiff_shdd::sphere::LatLon;
use serde::Deserialize;
use serde_json::Value;
use std::io::Read;

/// How well phones know where they are, km, where they do not say it.
const PHONE_KM: f64 = 0.1;
/// What is within the radius that phones give for two thirds, as a deviation along each axis.
const OF_RADIUS: f64 = 0.66;
/// Google's numbers wrap around.
const WRAP_E7: i64 = 1 << 32;

/// A point at a moment.
fn point(time_s: f64, at: LatLon, deviation_km: f64) -> TrackPoint {
    TrackPoint { time_s, until_s: time_s, at, deviation_km }
}

/// Any of the documents that are objects.
#[derive(Deserialize)]
struct Document {
    locations: Option<Vec<Location>>,
    #[serde(rename = "semanticSegments")]
    segments: Option<Vec<Segment>>,
    #[serde(rename = "rawSignals")]
    signals: Option<Vec<Signal>>,
    #[serde(rename = "type")]
    kind: Option<String>,
    features: Option<Vec<Value>>,
    geometry: Option<Value>,
    properties: Option<Value>,
}

/// Of Records.json.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    latitude_e7: Option<i64>,
    longitude_e7: Option<i64>,
    accuracy: Option<f64>,
    timestamp: Option<String>,
    timestamp_ms: Option<String>,
}

/// Of Timeline.json and location-history.json.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Segment {
    start_time: Option<String>,
    end_time: Option<String>,
    timeline_path: Option<Vec<PathPoint>>,
    visit: Option<Visit>,
    activity: Option<Activity>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PathPoint {
    point: Option<Value>,
    time: Option<String>,
    duration_minutes_offset_from_start_time: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Visit {
    top_candidate: Option<Candidate>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    place_location: Option<Value>,
}

#[derive(Deserialize)]
struct Activity {
    start: Option<Value>,
    end: Option<Value>,
}

#[derive(Deserialize)]
struct Signal {
    position: Option<Position>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Position {
    #[serde(alias = "LatLng")]
    lat_lng: Option<Value>,
    accuracy_meters: Option<f64>,
    timestamp: Option<String>,
}

/// The list that iPhones write.
pub(crate) fn of_iphone(from: impl Read) -> Result<LogPoints, String> {
    let mut log = LogPoints::default();
    numbered("segment", &read::<Vec<Segment>>(from)?, &mut log, of_segment);
    Ok(log)
}

/// Timeline.json, Records.json or GeoJSON.
pub(crate) fn of_document(from: impl Read) -> Result<LogPoints, String> {
    let document: Document = read(from)?;
    let mut log = LogPoints::default();
    match (&document.locations, &document.segments, document.kind.as_deref(), &document.features) {
        (Some(locations), ..) => numbered("location", locations, &mut log, of_location),
        (_, Some(segments), ..) => {
            numbered("segment", segments, &mut log, of_segment);
            numbered("raw signal", document.signals.as_deref().unwrap_or_default(), &mut log, of_signal);
        }
        (_, _, Some("FeatureCollection"), Some(features)) => numbered("feature", features, &mut log, of_feature),
        (_, _, Some("Feature"), _) => {
            let feature = serde_json::json!({ "geometry": document.geometry, "properties": document.properties });
            numbered("feature", &[feature], &mut log, of_feature);
        }
        _ => return Err("it is not GPX, GeoJSON of features, Timeline.json or Records.json".to_owned()),
    }
    Ok(log)
}

fn read<T: for<'a> Deserialize<'a>>(from: impl Read) -> Result<T, String> {
    serde_json::from_reader(from).map_err(|error| format!("it is not a GPS track: {error}"))
}

/// The points of each; what cannot be read is left out, with its number.
fn numbered<T, P: IntoIterator<Item = TrackPoint>>(
    what: &str,
    all: &[T],
    log: &mut LogPoints,
    of: impl Fn(&T) -> Result<P, String>,
) {
    for (k, one) in all.iter().enumerate() {
        match of(one) {
            Ok(points) => log.points.extend(points),
            Err(reason) => log.leave_out(format!("{what} {}: {reason}", k + 1)),
        }
    }
}

fn of_location(location: &Location) -> Result<Option<TrackPoint>, String> {
    let time = match (&location.timestamp, &location.timestamp_ms) {
        (Some(text), _) => utc(text)?,
        (None, Some(text)) => {
            let ms: i64 = text.parse().map_err(|_| format!("'{}' is not a number of milliseconds", excerpt(text)))?;
            ms as f64 / 1000.0
        }
        (None, None) => return Ok(None),
    };
    let Some((lat, lon)) = location.latitude_e7.zip(location.longitude_e7) else { return Ok(None) };
    let degrees = |e7: i64| (if e7 > 1_800_000_000 { e7 - WRAP_E7 } else { e7 }) as f64 / 1e7;
    let at = LatLon::new(degrees(lat), degrees(lon)).map_err(|error| error.to_string())?;
    Ok(Some(point(time, at, of_meters(location.accuracy))))
}

fn of_meters(radius: Option<f64>) -> f64 {
    radius.map_or(PHONE_KM, |meters| (OF_RADIUS * meters / 1000.0).clamp(0.005, 100.0))
}

fn of_signal(signal: &Signal) -> Result<Option<TrackPoint>, String> {
    let Some(position) = &signal.position else { return Ok(None) };
    let (Some(at), Some(time)) = (&position.lat_lng, &position.timestamp) else { return Ok(None) };
    Ok(Some(point(utc(time)?, place(at)?, of_meters(position.accuracy_meters))))
}

fn of_segment(segment: &Segment) -> Result<Vec<TrackPoint>, String> {
    let start = segment.start_time.as_deref().map(utc).transpose()?;
    let end = segment.end_time.as_deref().map(utc).transpose()?;
    let mut points = Vec::new();
    for step in segment.timeline_path.iter().flatten() {
        let minutes = step.duration_minutes_offset_from_start_time.as_ref().and_then(number);
        let time = match (&step.time, start.zip(minutes)) {
            (Some(text), _) => utc(text)?,
            (None, Some((start, minutes))) => start + 60.0 * minutes,
            (None, None) => continue,
        };
        if let Some(at) = &step.point {
            points.push(point(time, place(at)?, PHONE_KM));
        }
    }
    let visited = segment.visit.as_ref().and_then(|visit| visit.top_candidate.as_ref()?.place_location.as_ref());
    if let (Some(at), Some((start, end))) = (visited, start.zip(end)) {
        let until_s = end.max(start);
        points.push(TrackPoint { time_s: start, until_s, at: place(at)?, deviation_km: PHONE_KM });
    }
    if let Some(activity) = &segment.activity {
        for (at, time) in [(&activity.start, start), (&activity.end, end)] {
            if let Some((at, time)) = at.as_ref().zip(time) {
                points.push(point(time, place(at)?, PHONE_KM));
            }
        }
    }
    Ok(points)
}

/// A number, also as a text.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number: &f64| number.is_finite())
}

/// A place such as "48.8577°, 2.2950°", "geo:48.85,2.29" or an object with one.
fn place(value: &Value) -> Result<LatLon, String> {
    let text = value.as_str().or_else(|| value.get("latLng").or_else(|| value.get("LatLng"))?.as_str());
    let text = text.ok_or_else(|| format!("'{}' is not a location", excerpt(&value.to_string())))?;
    let bad = || format!("'{}' is not a location", excerpt(text));
    let plain = text.trim().trim_start_matches("geo:").replace('°', "");
    let (lat, lon) = plain.split_once(',').ok_or_else(bad)?;
    let degrees = |text: &str| text.trim().parse::<f64>().map_err(|_| bad());
    LatLon::new(degrees(lat)?, degrees(lon)?).map_err(|error| error.to_string())
}

/// A line with a time for each position, or a point with one. What has no time is passed over.
fn of_feature(feature: &Value) -> Result<Vec<TrackPoint>, String> {
    let (properties, geometry) = (&feature["properties"], &feature["geometry"]);
    let times = ["coordTimes", "times", "time", "timestamp"].iter().map(|name| &properties[*name]);
    let inner = &properties["coordinateProperties"]["times"];
    let Some(times) = times.chain([inner]).find(|times| !times.is_null()) else { return Ok(Vec::new()) };
    let mut points = Vec::new();
    match geometry["type"].as_str() {
        Some("Point") => points.push(position(&geometry["coordinates"], times)?),
        Some("LineString" | "MultiPoint") => line(&geometry["coordinates"], times, &mut points)?,
        Some("MultiLineString") => {
            let lines = geometry["coordinates"].as_array().into_iter().flatten();
            for (k, part) in lines.enumerate() {
                line(part, &times[k], &mut points)?;
            }
        }
        _ => {}
    }
    Ok(points)
}

fn line(coordinates: &Value, times: &Value, points: &mut Vec<TrackPoint>) -> Result<(), String> {
    let (Some(coordinates), Some(times)) = (coordinates.as_array(), times.as_array()) else { return Ok(()) };
    if coordinates.len() != times.len() {
        return Err(format!("it has {} positions and {} times", coordinates.len(), times.len()));
    }
    for (k, (at, time)) in coordinates.iter().zip(times).enumerate().filter(|(_, (_, time))| !time.is_null()) {
        points.push(position(at, time).map_err(|reason| format!("position {}: {reason}", k + 1))?);
    }
    Ok(())
}

fn position(at: &Value, time: &Value) -> Result<TrackPoint, String> {
    let bad = || format!("'{}' is not a longitude and latitude", excerpt(&at.to_string()));
    let degrees = |k: usize| at[k].as_f64().ok_or_else(bad);
    let place = LatLon::new(degrees(1)?, degrees(0)?).map_err(|error| error.to_string())?;
    let text = time.as_str().map_or_else(|| time.to_string(), str::to_owned);
    // Numbers are milliseconds where seconds would be of another age.
    let seconds = match time.as_f64() {
        Some(number) if number.abs() > 1e11 => number / 1000.0,
        Some(number) => number,
        None => utc(&text)?,
    };
    Ok(point(seconds, place, 0.02))
}
