//! Polygons out of `GeoJSON` text.

use locdiff_base::ensure;
use locdiff_shdd::sphere::{Polygon, Ring};
use serde_json::Value;

/// Features may hold collections that hold features: no deeper than this.
const DEEPEST: usize = 8;

/// All polygons of a `GeoJSON` text; the error says what is wrong with it.
pub(crate) fn polygons(text: &str) -> Result<Vec<Polygon>, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON ({error})"))?;
    let mut polygons = Vec::new();
    collect(&value, DEEPEST, &mut polygons)?;
    if polygons.is_empty() { Err("it has no polygons".to_owned()) } else { Ok(polygons) }
}

fn collect(value: &Value, depth: usize, polygons: &mut Vec<Polygon>) -> Result<(), String> {
    ensure!(depth != 0, "its collections are nested too deeply".to_owned());
    let part = |name: &str| value.get(name).ok_or_else(|| format!("a member \"{name}\" is missing"));
    let kind = part("type")?.as_str().unwrap_or_default();
    match kind {
        "FeatureCollection" | "GeometryCollection" => {
            let members = if kind == "FeatureCollection" { "features" } else { "geometries" };
            list(part(members)?, members)?.iter().try_for_each(|member| collect(member, depth - 1, polygons))
        }
        "Feature" => match part("geometry")? {
            Value::Null => Ok(()), // RFC 7946 §3.2: a feature without a place
            geometry => collect(geometry, depth - 1, polygons),
        },
        "Polygon" => {
            polygons.push(polygon(part("coordinates")?)?);
            Ok(())
        }
        "MultiPolygon" => {
            for part in list(part("coordinates")?, "coordinates")? {
                polygons.push(polygon(part)?);
            }
            Ok(())
        }
        other => Err(format!("a geometry of type \"{other}\" encloses nothing")),
    }
}

fn polygon(value: &Value) -> Result<Polygon, String> {
    let mut rings = list(value, "coordinates")?.iter().map(ring);
    let outer = rings.next().ok_or("a polygon has no ring")??;
    Ok(Polygon { outer, holes: rings.collect::<Result<_, _>>()? })
}

fn ring(value: &Value) -> Result<Ring, String> {
    let mut ring: Ring = Vec::new();
    let mut last_lon = None;
    for value in list(value, "ring")? {
        let number = |index: usize| value.get(index).and_then(Value::as_f64);
        let (Some(lon), Some(lat)) = (number(0), number(1)) else { return Err(format!("{value} is not a position")) };
        if !(-90.0..=90.0).contains(&lat) || lon.abs() > 540.0 {
            return Err(format!("[{lon}, {lat}] is not a longitude and latitude"));
        }
        // An edge of more than half a turn goes over the antimeridian; one of a whole turn is the edge of a map.
        let unwrapped = match (ring.last(), last_lon) {
            (Some(&[before, _]), Some(last)) => {
                let step: f64 = lon - last;
                before + if step.abs() == 360.0 { step } else { step - 360.0 * (step / 360.0).round() }
            }
            _ => lon - 360.0 * ((lon + 180.0) / 360.0).floor(),
        };
        last_lon = Some(lon);
        ring.push([unwrapped, lat]);
    }
    ensure!(ring.len() >= 4, format!("a ring has {} positions, but needs at least four", ring.len()));
    ensure!(ring.first() == ring.last(), "a ring's last position differs from its first".to_owned());
    Ok(ring)
}

fn list<'a>(value: &'a Value, name: &str) -> Result<&'a [Value], String> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| format!("its {name} is not a list"))
}
