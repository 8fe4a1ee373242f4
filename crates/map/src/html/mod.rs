//! A page with a map to look at: one file that needs no network.

mod crowd;
mod heat_image;
mod page;
mod track;

pub use crowd::{CrowdMap, CrowdPhoto};
pub use page::MapPage;
pub use track::{TrackMap, TrackPhoto};

use crate::{Raster, label::degrees, seam::is_edge_of_region};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use heat_image::HeatImage;
use locdiff_shdd::sphere::{LatLon, Polygon};
use serde_json::{Value, json};

/// A place in the list beside the map, and its numbered pin.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct HtmlMarker {
    place: LatLon,
    label: String,
    probability: Option<f64>,
    is_truth: bool,
}

/// One photo's answer as a page: land and borders, a density, outlines, numbered markers and a list beside them; zoom and pan
/// by mouse, finger and keyboard. Everything is in the one file; nothing is loaded.
///
/// Mercator's projection: what lies beyond 85° of latitude is not shown.
#[derive(Debug, Clone, PartialEq, Default)]
#[must_use]
pub struct HtmlPhoto {
    name: String,
    summary: String,
    facts: Vec<(String, String)>,
    thumbnail: Option<String>,
    heat: Option<HeatImage>,
    outlines: Vec<(String, Vec<Vec<[f64; 2]>>)>,
    markers: Vec<HtmlMarker>,
}

impl HtmlMarker {
    /// A marker with a label such as "12 km north of Lima, Peru".
    pub fn new(place: LatLon, label: &str) -> Self {
        Self { place, label: label.to_owned(), probability: None, is_truth: false }
    }

    /// How likely the photo was taken around here, 0…1.
    pub fn probability(mut self, probability: f64) -> Self {
        self.probability = Some(probability);
        self
    }

    /// Where the photo really was taken: ticked, not numbered. Add it after the guesses.
    pub fn truth(mut self) -> Self {
        self.is_truth = true;
        self
    }
}

impl HtmlPhoto {
    /// A photo by its file name.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// The answer in one phrase.
    pub fn summary(mut self, summary: &str) -> Self {
        summary.clone_into(&mut self.summary);
        self
    }

    /// A line of the table below the answer.
    pub fn fact(mut self, name: &str, value: &str) -> Self {
        self.facts.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A small picture of the photo, a JPEG file.
    pub fn jpeg(self, jpeg: &[u8]) -> Self {
        Self { thumbnail: Some(format!("data:image/jpeg;base64,{}", BASE64.encode(jpeg))), ..self }
    }

    /// The density, as log densities up to a constant.
    pub fn heat(self, raster: &Raster) -> Self {
        Self { heat: Some(HeatImage::new(raster)), ..self }
    }

    /// The edge of a region (see [`crate::contour_polygons`]); its label goes into the legend.
    pub fn outline(mut self, region: &[Polygon], label: &str) -> Self {
        // Every other point is enough for a line of many.
        let thin = |line: Vec<[f64; 2]>| {
            let (step, last) = (1 + line.len() / 50, line.last().copied());
            let mut kept: Vec<[f64; 2]> = line.into_iter().step_by(step).collect();
            kept.extend(last.filter(|last| kept.last() != Some(last)));
            kept
        };
        let lines = region.iter().flat_map(Polygon::rings).flat_map(|ring| real_lines(ring)).map(thin).collect();
        self.outlines.push((label.to_owned(), lines));
        self
    }

    /// Marks a place; the first is number 1.
    pub fn marker(mut self, marker: HtmlMarker) -> Self {
        self.markers.push(marker);
        self
    }

    /// The page's text.
    pub fn to_html(&self, page: impl Into<MapPage>) -> String {
        let data = json!({ "ramp": heat_image::css_ramp(), "photos": [self.json()] });
        let mut text = Vec::new();
        page.into().write(&mut text, data, None).expect("writing to memory cannot fail");
        String::from_utf8(text).expect("its parts are text")
    }

    fn json(&self) -> Value {
        let outline = |(label, lines): &(String, Vec<Vec<[f64; 2]>>)| {
            // To 100 m: lines are long.
            let flat =
                |line: &Vec<[f64; 2]>| line.iter().flatten().map(|v| (v * 1e3).round() / 1e3).collect::<Vec<f64>>();
            json!({ "label": label, "lines": lines.iter().map(flat).collect::<Vec<_>>() })
        };
        let marker = |HtmlMarker { place, label, probability, is_truth }: &HtmlMarker| {
            let [lon, lat] = degrees(*place);
            json!({ "lon": lon, "lat": lat, "label": label, "probability": probability, "is_truth": is_truth })
        };
        json!({
            "name": self.name, "summary": self.summary, "facts": self.facts, "thumbnail": self.thumbnail,
            "heat": self.heat.as_ref().map(HeatImage::json),
            "outlines": self.outlines.iter().map(outline).collect::<Vec<_>>(),
            "markers": self.markers.iter().map(marker).collect::<Vec<_>>(),
        })
    }
}

/// The stretches of a ring that are edges of its region, not the cut along the antimeridian or a pole.
fn real_lines(ring: &[[f64; 2]]) -> Vec<Vec<[f64; 2]>> {
    let edges: Vec<&[[f64; 2]]> = ring.windows(2).collect();
    let stretches = edges.split(|edge| !is_edge_of_region(edge[0], edge[1])).filter(|edges| !edges.is_empty());
    stretches.map(|edges| edges.iter().map(|edge| edge[0]).chain(edges.last().map(|edge| edge[1])).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MapLabel, Window, contour_polygons};

    /// The JSON that a page holds.
    fn data_of(page: &str) -> Value {
        let (_, rest) = page.split_once(r#"id="data">"#).unwrap();
        serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
    }

    #[test]
    fn hostile_names_stay_text_and_nothing_is_loaded() {
        let page = |name: &str| {
            let place = LatLon::new(1.0, 2.0).unwrap();
            let photo = HtmlPhoto::new(name)
                .summary(name)
                .fact(name, name)
                .outline(&[], name)
                .marker(HtmlMarker::new(place, name));
            let label = MapLabel { place, text: name.to_owned(), least_zoom: 0.0, is_town: true };
            photo.to_html(MapPage::new(name).labels([label]).credit(name))
        };
        page::check_names(page);
        let hostile = "</script><script>\u{2028} \"&{{data}}.jpg";
        let data = data_of(&page(hostile));
        assert_eq!(data["photos"][0]["name"], hostile);
        assert_eq!(data["photos"][0]["markers"][0]["label"], hostile);
        assert_eq!(data["labels"][0][2], hostile);
        assert!(page(hostile).contains("<title>&lt;/script&gt;&lt;script&gt;"));
    }

    #[test]
    fn answers_go_into_the_page() {
        let fiji = LatLon::new(-17.8, 178.0).unwrap();
        let window = Window::new(-35.0, 0.0, 160.0, 200.0, 140, 160).unwrap();
        let raster = Raster::from_fn(window, |p| 400.0 * p.dot(fiji.to_unit()));
        // A density of this kind holds 90 % where it is above a tenth of its maximum.
        let region = contour_polygons(&raster, raster.max() + 0.1_f64.ln());
        assert_eq!(region.len(), 2, "the region is cut at the antimeridian");
        let photo = HtmlPhoto::new("fiji.jpg")
            .heat(&raster)
            .outline(&region, "90 %")
            .marker(HtmlMarker::new(fiji, "in Fiji").probability(0.5))
            .marker(HtmlMarker::new(fiji, "here").truth())
            .jpeg(&[0]);
        let data = data_of(&photo.to_html("x"));
        let photo = &data["photos"][0];
        assert_eq!(photo["markers"][0]["probability"], 0.5);
        assert_eq!(photo["markers"][1]["is_truth"], true);
        assert_eq!(photo["thumbnail"], "data:image/jpeg;base64,AA==");
        // No line runs along the cut.
        for line in photo["outlines"][0]["lines"].as_array().unwrap() {
            let lons: Vec<f64> = line.as_array().unwrap().iter().step_by(2).map(|v| v.as_f64().unwrap()).collect();
            assert!(lons.windows(2).all(|pair| !(pair[0].abs() == 180.0 && pair[1].abs() == 180.0)));
        }
        let heat = &photo["heat"];
        assert!(heat["uri"].as_str().unwrap().starts_with("data:image/png;base64,"));
        let (west, east) = (heat["x0"].as_f64().unwrap(), heat["x1"].as_f64().unwrap());
        assert!(west < 1.0 && east > 1.0 && east - west < 0.3, "{west} {east}: across the antimeridian");
    }
}
