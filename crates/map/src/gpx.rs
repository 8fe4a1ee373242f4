//! GPX: a track with times, for navigation programs.

use locdiff_base::escape_markup;
use locdiff_shdd::sphere::LatLon;
use std::fmt::Write;

/// A point of a track. Its time is ISO 8601 of UTC; `None` where the order or a clock without an offset is all that is known.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names say it all")]
pub struct GpxPoint {
    pub place: LatLon,
    pub time: Option<String>,
    pub name: String,
    pub description: String,
}

/// A GPX 1.1 document: a waypoint for each point, and with `is_track` the track through them.
///
/// ```
/// use locdiff_map::{GpxPoint, gpx};
/// use locdiff_shdd::sphere::LatLon;
/// let place = LatLon::new(-12.05, -77.04)?;
/// let point = GpxPoint { place, time: Some("2024-05-12T11:45:10Z".into()), name: "a & b.jpg".into(), description: String::new() };
/// let text = gpx("A trip", &[point], true);
/// assert!(text.contains(r#"<trkpt lat="-12.0500000" lon="-77.0400000"><time>2024-05-12T11:45:10Z</time>"#));
/// assert!(text.contains("a &amp; b.jpg"));
/// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
/// ```
pub fn gpx(name: &str, points: &[GpxPoint], is_track: bool) -> String {
    let name = escape_markup(name);
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<gpx version=\"1.1\" creator=\"LocDiff\" xmlns=\"http://www.topografix.com/GPX/1/1\">\n",
    );
    let _ = writeln!(text, "<metadata><name>{name}</name></metadata>");
    let time = |point: &GpxPoint| {
        point.time.as_deref().map_or(String::new(), |time| format!("<time>{}</time>", escape_markup(time)))
    };
    for point in points {
        let (lat, lon) = (point.place.lat_deg(), point.place.lon_deg());
        let (name, words) = (escape_markup(&point.name), escape_markup(&point.description));
        let _ = writeln!(
            text,
            "<wpt lat=\"{lat:.7}\" lon=\"{lon:.7}\">{}<name>{name}</name><desc>{words}</desc></wpt>",
            time(point)
        );
    }
    if is_track {
        let _ = writeln!(text, "<trk><name>{name}</name><trkseg>");
        for point in points {
            let (lat, lon) = (point.place.lat_deg(), point.place.lon_deg());
            let _ = writeln!(text, "<trkpt lat=\"{lat:.7}\" lon=\"{lon:.7}\">{}</trkpt>", time(point));
        }
        text.push_str("</trkseg></trk>\n");
    }
    text.push_str("</gpx>\n");
    text
}
