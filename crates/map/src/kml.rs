//! KML 2.2, for Google Earth and its like.

use crate::geojson::rounded;
use locdiff_base::escape_markup;
use locdiff_shdd::sphere::{LatLon, Polygon};
use std::fmt::{self, Write};

/// Colours of regions in the order in which a folder gets them, as KML writes them: opacity, blue, green, red.
const REGIONS: [(&str, &str); 3] = [("ff6b3008", "556b3008"), ("ffc8781f", "33c8781f"), ("ffe6b35f", "22e6b35f")];
const PIN: &str = "ff3a26b3";

/// A document of folders; [`fmt::Display`] writes the file's text.
#[derive(Debug, Clone, PartialEq)]
pub struct KmlDocument {
    name: String,
    folders: Vec<KmlFolder>,
}

/// Places and regions under one name, such as a photo's.
#[derive(Debug, Clone, PartialEq)]
pub struct KmlFolder {
    name: String,
    regions: usize,
    placemarks: String,
}

impl KmlDocument {
    /// A document without folders yet.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), folders: Vec::new() }
    }

    /// Adds a folder.
    pub fn push(&mut self, folder: KmlFolder) {
        self.folders.push(folder);
    }
}

impl KmlFolder {
    /// An empty folder.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), regions: 0, placemarks: String::new() }
    }

    /// Adds a place.
    pub fn push_point(&mut self, place: LatLon, name: &str, description: &str) {
        let geometry = format!("<Point><coordinates>{}</coordinates></Point>", positions([degrees(place)]));
        self.push_placemark(name, description, "place", &geometry);
    }

    /// Adds a region (see [`crate::contour_polygons`]).
    pub fn push_region(&mut self, polygons: &[Polygon], name: &str, description: &str) {
        let mut geometry = String::from("<MultiGeometry>");
        for polygon in polygons {
            geometry.push_str("<Polygon><tessellate>1</tessellate>");
            for (index, ring) in polygon.rings().enumerate() {
                let boundary = if index == 0 { "outerBoundaryIs" } else { "innerBoundaryIs" };
                let ring = positions(ring.iter().copied());
                let ring = format!("<LinearRing><coordinates>{ring}</coordinates></LinearRing>");
                let _ = write!(geometry, "<{boundary}>{ring}</{boundary}>");
            }
            geometry.push_str("</Polygon>");
        }
        geometry.push_str("</MultiGeometry>");
        let style = format!("region{}", self.regions % REGIONS.len());
        self.regions += 1;
        self.push_placemark(name, description, &style, &geometry);
    }

    /// Adds a line.
    pub fn push_line(&mut self, places: &[LatLon], name: &str, description: &str) {
        let line = positions(places.iter().copied().map(degrees));
        let geometry = format!("<LineString><tessellate>1</tessellate><coordinates>{line}</coordinates></LineString>");
        self.push_placemark(name, description, "region0", &geometry);
    }

    fn push_placemark(&mut self, name: &str, description: &str, style: &str, geometry: &str) {
        let (name, description) = (escape_markup(name), escape_markup(description));
        let _ = writeln!(
            self.placemarks,
            "<Placemark><name>{name}</name><description>{description}</description>\
             <styleUrl>#{style}</styleUrl>{geometry}</Placemark>"
        );
    }
}

impl fmt::Display for KmlDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
        writeln!(f, r#"<kml xmlns="http://www.opengis.net/kml/2.2">"#)?;
        writeln!(f, "<Document><name>{}</name>", escape_markup(&self.name))?;
        writeln!(f, r#"<Style id="place"><IconStyle><color>{PIN}</color></IconStyle></Style>"#)?;
        for (index, (line, fill)) in REGIONS.iter().enumerate() {
            writeln!(
                f,
                r#"<Style id="region{index}"><LineStyle><color>{line}</color><width>2</width></LineStyle><PolyStyle><color>{fill}</color></PolyStyle></Style>"#
            )?;
        }
        for folder in &self.folders {
            write!(f, "<Folder><name>{}</name>\n{}</Folder>\n", escape_markup(&folder.name), folder.placemarks)?;
        }
        writeln!(f, "</Document>\n</kml>")
    }
}

/// Positions with blanks between them, each longitude, then latitude, to 1 cm.
fn positions(of: impl IntoIterator<Item = [f64; 2]>) -> String {
    let texts = of.into_iter().map(|[lon_deg, lat_deg]| format!("{},{}", rounded(lon_deg), rounded(lat_deg)));
    texts.collect::<Vec<_>>().join(" ")
}

fn degrees(place: LatLon) -> [f64; 2] {
    [place.lon_deg(), place.lat_deg()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Raster, Window, contour_polygons};

    #[test]
    fn an_xml_parser_reads_everything_back() {
        let hostile = "a]]><script>&amp;\"'\u{1}\u{ffff} \u{202e}é.jpg";
        let fiji = LatLon::new(-17.8, 178.0).unwrap();
        let raster = Raster::from_fn(Window::globe(90, 180).unwrap(), |p| -p.angle_rad(fiji.to_unit()));
        let ring = |west: f64, size: f64| {
            vec![[west, 0.0], [west + size, 0.0], [west + size, size], [west, size], [west, 0.0]]
        };
        let mut folder = KmlFolder::new(hostile);
        folder.push_region(&contour_polygons(&raster, -0.2), hostile, "two parts");
        folder.push_region(&[Polygon { outer: ring(0.0, 9.0), holes: vec![ring(2.0, 1.0)] }], "hole", "");
        folder.push_point(fiji, hostile, hostile);
        assert!(folder.placemarks.contains("<coordinates>178,-17.8</coordinates>"));
        let mut document = KmlDocument::new(hostile);
        document.push(folder);
        let text = document.to_string();
        let xml = roxmltree::Document::parse(&text).unwrap();
        assert_eq!(xml.root_element().tag_name().namespace(), Some("http://www.opengis.net/kml/2.2"));
        let all = |name: &str| xml.descendants().filter(|node| node.has_tag_name(name)).collect::<Vec<_>>();
        let cleaned = hostile.replace(['\u{1}', '\u{ffff}'], "\u{fffd}");
        assert_eq!(all("name")[0].text(), Some(cleaned.as_str()));
        assert_eq!(all("Placemark").len(), 3);
        assert_eq!((all("Polygon").len(), all("innerBoundaryIs").len()), (3, 1));
        // Every style that is used is there.
        let styles: Vec<_> = all("Style").iter().map(|node| format!("#{}", node.attribute("id").unwrap())).collect();
        assert!(all("styleUrl").iter().all(|node| styles.iter().any(|style| Some(style.as_str()) == node.text())));
        // Every ring is closed and made of places.
        for node in all("LinearRing") {
            let text = node.descendants().find_map(|part| part.text()).unwrap();
            let positions: Vec<Vec<f64>> =
                text.split(' ').map(|p| p.split(',').map(|n| n.parse().unwrap()).collect()).collect();
            assert_eq!(positions.first(), positions.last());
            assert!(positions.iter().all(|p| p.len() == 2 && p[0].abs() <= 180.0 && p[1].abs() <= 90.0));
        }
    }
}
