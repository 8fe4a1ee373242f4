//! `GeoJSON` (RFC 7946).

use locdiff_shdd::sphere::{LatLon, Polygon};
use serde_json::Value;
use std::fmt;

/// Features with properties; [`fmt::Display`] writes the file's text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FeatureCollection {
    /// Each as its JSON text: properties keep their order, and large regions take little memory.
    features: Vec<String>,
}

impl FeatureCollection {
    /// No features yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a region: a `Polygon`, or a `MultiPolygon` when it has several parts (or none).
    pub fn push_region(&mut self, polygons: &[Polygon], properties: &[(&str, Value)]) {
        let part = |polygon: &Polygon| {
            list(polygon.rings().map(|ring| list(ring.iter().map(|&[lon, lat]| position(lon, lat)))))
        };
        match polygons {
            [polygon] => self.push("Polygon", &part(polygon), properties),
            _ => self.push("MultiPolygon", &list(polygons.iter().map(part)), properties),
        }
    }

    /// Adds a place.
    pub fn push_point(&mut self, place: LatLon, properties: &[(&str, Value)]) {
        self.push("Point", &position(place.lon_deg(), place.lat_deg()), properties);
    }

    /// Adds a line; where it crosses the antimeridian it is cut, as RFC 7946 asks.
    pub fn push_line(&mut self, places: &[LatLon], properties: &[(&str, Value)]) {
        let part = |part: &Vec<[f64; 2]>| list(part.iter().map(|&[lon, lat]| position(lon, lat)));
        self.push("MultiLineString", &list(cut_at_antimeridian(places).iter().map(part)), properties);
    }

    fn push(&mut self, kind: &str, coordinates: &str, properties: &[(&str, Value)]) {
        let properties: Vec<String> =
            properties.iter().map(|(name, value)| format!("{}:{value}", Value::from(*name))).collect();
        self.features.push(format!(
            r#"{{"type":"Feature","properties":{{{}}},"geometry":{{"type":"{kind}","coordinates":{coordinates}}}}}"#,
            properties.join(",")
        ));
    }
}

impl fmt::Display for FeatureCollection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, r#"{{"type":"FeatureCollection","features":{}}}"#, list(&self.features))
    }
}

/// The stretches of a line between crossings of the antimeridian, as longitude and latitude.
fn cut_at_antimeridian(places: &[LatLon]) -> Vec<Vec<[f64; 2]>> {
    let mut parts: Vec<Vec<[f64; 2]>> = vec![Vec::new()];
    for place in places {
        let (lon, lat) = (place.lon_deg(), place.lat_deg());
        let part = parts.last_mut().expect("there is one at the start");
        if let Some(&[before, height]) = part.last()
            && (lon - before).abs() > 180.0
        {
            let (edge, beyond) = if before > 0.0 { (180.0, lon + 360.0) } else { (-180.0, lon - 360.0) };
            let share = if beyond == before { 0.0 } else { (edge - before) / (beyond - before) };
            let crossing = height + share * (lat - height);
            part.push([edge, crossing]);
            parts.push(vec![[-edge, crossing], [lon, lat]]);
        } else {
            part.push([lon, lat]);
        }
    }
    parts.retain(|part| part.len() > 1);
    parts
}

/// A JSON array of JSON texts.
fn list<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let mut text = String::from("[");
    for item in items {
        text.push_str(if text.len() > 1 { "," } else { "" });
        text.push_str(item.as_ref());
    }
    text + "]"
}

/// To a ten-millionth of a degree, 1 cm: RFC 7946 §11.2 asks for no needless digits.
fn position(lon_deg: f64, lat_deg: f64) -> String {
    format!("[{},{}]", rounded(lon_deg), rounded(lat_deg))
}

/// Degrees to a ten-millionth.
pub(crate) fn rounded(degrees: f64) -> f64 {
    (degrees * 1e7).round() / 1e7 + 0.0 // + 0.0 turns −0 into 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn points_and_lines_cut_at_the_antimeridian() {
        let at = |lat, lon| LatLon::new(lat, lon).unwrap();
        let mut features = FeatureCollection::new();
        features.push_line(&[at(0.0, 170.0), at(10.0, -170.0)], &[]);
        let text = features.to_string();
        assert!(text.contains("[[[170,0],[180,5]],[[-180,5],[-170,10]]]"), "{text}");
        features.push_point(at(48.86, 2.35), &[("name", "Paris".into()), ("log_density", 3.5.into())]);
        let point = r#"{"type":"Feature","properties":{"name":"Paris","log_density":3.5},"geometry":{"type":"Point","coordinates":[2.35,48.86]}}]}"#;
        assert!(features.to_string().ends_with(point), "{features}");
    }

    #[test]
    fn regions_are_polygons_or_multipolygons() {
        let square = |west: f64| Polygon {
            outer: vec![[west, -0.00000001], [west + 1.0, 0.0], [west + 1.0, 1.0 / 3.0], [west, -0.00000001]],
            holes: vec![],
        };
        let mut features = FeatureCollection::new();
        features.push_region(&[square(0.0)], &[]);
        features.push_region(&[square(0.0), square(5.0)], &[("p", 0.5.into())]);
        features.push_region(&[], &[]);
        let value: Value = serde_json::from_str(&features.to_string()).unwrap();
        assert_eq!(value["features"].as_array().unwrap().len(), 3);
        let geometry = |index: usize| &value["features"][index]["geometry"];
        assert_eq!(geometry(0)["type"], "Polygon");
        assert_eq!(geometry(0)["coordinates"][0][0], json!([0, 0]));
        assert_eq!(geometry(0)["coordinates"][0][2], json!([1, 0.3333333]));
        assert_eq!(geometry(1)["type"], "MultiPolygon");
        assert_eq!(geometry(1)["coordinates"].as_array().unwrap().len(), 2);
        assert_eq!(value["features"][1]["properties"]["p"], 0.5);
        assert_eq!(geometry(2)["coordinates"], json!([]));
    }
}
