//! The summary of one density: in words, as JSON, as GeoJSON and as a picture.

use crate::report::Result;
use locdiff_base::named;
use locdiff_map::{FeatureCollection, MapImage, Raster, Window, globe_log_density, region_polygons};
use locdiff_shdd::{CodeDensity, Codec, CredibleRegion, WeightedMode, sphere::LatLon, sphere::Polygon};
use serde_json::{Value, json};
use std::fmt::Write;

/// The regions that are drawn, written and printed.
pub const REGION_PROBABILITIES: [f64; 2] = [0.5, 0.9];

named! {
    /// What a picture of a density shows.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum MapView: "view" {
        Auto = "auto", "the 90 % region if it is small, otherwise the world";
        World = "world", "the whole world";
        Region = "region", "the 90 % region";
    }
}

/// A density's regions, modes and numbers.
///
/// ```
/// use locdiff_model::report::{DensitySummary, MapView};
/// use locdiff_shdd::Codec;
/// use locdiff_shdd::sphere::{Degree, LatLon};
/// let codec = Codec::new(Degree::new(15)?);
/// let code = codec.encode(LatLon::new(48.86, 2.35)?);
/// let density = codec.density(&code)?;
/// let summary = DensitySummary::new(&codec, &density, 5)?;
/// assert!(summary.to_text().starts_with("best place   48.8600° N, 2.3500° E"));
/// let png = summary.to_png(&density, &summary.outlines(&density)?, MapView::Auto)?;
/// assert_eq!(&png[1..4], b"PNG");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct DensitySummary {
    degree: usize,
    regions: Vec<CredibleRegion>,
    modes: Vec<WeightedMode>,
    log_z: f64,
    entropy: f64,
}

impl DensitySummary {
    /// Regions of [`REGION_PROBABILITIES`] and the most probable modes (at least one). Fails if regions cannot be
    /// found.
    pub fn new(codec: &Codec, density: &CodeDensity<'_>, modes: usize) -> Result<Self> {
        let regions = REGION_PROBABILITIES.iter().map(|&p| density.credible_region(p));
        let (degree, regions) = (codec.degree().get(), regions.collect::<Result<_, _>>()?);
        let (modes, log_z, entropy) = (density.modes(modes.max(1)), density.log_z(), density.entropy());
        Ok(Self { degree, regions, modes, log_z, entropy })
    }

    /// The outlines of the regions. Fails as [`region_polygons`].
    pub fn outlines(&self, density: &CodeDensity<'_>) -> Result<Vec<Vec<Polygon>>> {
        Ok(self.regions.iter().map(|region| region_polygons(density, region)).collect::<Result<_, _>>()?)
    }

    fn best(&self) -> Option<LatLon> {
        self.modes.first().map(|mode| mode.mode.place())
    }

    /// One JSON object.
    pub fn to_json(&self) -> Value {
        let region = |r: &CredibleRegion| {
            let CredibleRegion { probability, radius_km, area_km2, log_density, .. } = r;
            json!({"probability": probability, "radius_km": radius_km, "area_km2": area_km2, "log_density": log_density})
        };
        let regions: Vec<_> = self.regions.iter().map(region).collect();
        let modes: Vec<_> = self.modes.iter().map(mode_json).collect();
        json!({
            "degree": self.degree, "log_z": self.log_z, "entropy_nats": self.entropy, "regions": regions,
            "modes": modes,
        })
    }

    /// The outlined regions and the modes.
    pub fn to_geojson(&self, outlines: &[Vec<Polygon>]) -> FeatureCollection {
        let mut features = FeatureCollection::new();
        for (region, outline) in self.regions.iter().zip(outlines) {
            let CredibleRegion { probability, radius_km, area_km2, .. } = *region;
            let numbers = [("probability", probability), ("radius_km", radius_km), ("area_km2", area_km2)];
            features.push_region(outline, &numbers.map(|(name, value)| (name, value.into())));
        }
        for mode in &self.modes {
            let properties = [("probability", mode.mass.into()), ("log_density", mode.log_density.into())];
            features.push_point(mode.mode.place(), &properties);
        }
        features
    }

    /// A few lines for the terminal.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        if let Some(best) = self.modes.first() {
            let _ = writeln!(out, "best place   {}   probability {:.3}", best.mode.place(), best.mass);
        }
        for region in &self.regions {
            let (p, radius, area) = (100.0 * region.probability, region.radius_km, region.area_km2);
            let within = format!("{p:.0} % within {radius:>6.0} km of the highest mode");
            let _ = writeln!(out, "{within}; smallest region {area:.0} km²");
        }
        let Self { degree, log_z, entropy, .. } = self;
        let numbers = format!("degree {degree}, log Z {log_z:.4}, entropy {entropy:.4} nats");
        let _ = writeln!(out, "{numbers} (uniform on the sphere: 2.5310)");
        if self.modes.len() > 1 {
            let _ = writeln!(out, "\n{:>12} {:>24} {:>10} {:>12}", "probability", "place", "spread_km", "log_density");
            for m in &self.modes {
                let (place, spread) = (m.mode.place(), m.mode.spread_km());
                let _ = writeln!(out, "{:>12.4} {place:>24} {spread:>10.1} {:>12.3}", m.mass, m.log_density);
            }
        }
        out
    }

    /// A map of the density with its regions and modes. Fails on a window that cannot be.
    pub fn to_png(&self, density: &CodeDensity<'_>, outlines: &[Vec<Polygon>], view: MapView) -> Result<Vec<u8>> {
        const WORTH_A_ZOOM_KM: f64 = 2500.0;
        const WORTH_A_MARKER: f64 = 0.01;
        let radius_km = self.regions.last().map_or(0.0, |region| region.radius_km);
        let zoom = view == MapView::Region || view == MapView::Auto && radius_km < WORTH_A_ZOOM_KM;
        let (window, heat) = match self.best() {
            Some(place) if zoom => {
                let reach_deg = (4.0 * radius_km).clamp(250.0, 9000.0) / 111.195;
                let window = Window::of_picture(Window::bounds(&[place.to_unit()], reach_deg), 960, 640)?;
                (window, Raster::new(window, density.log_density(&window.points()))?)
            }
            _ => (Window::globe(720, 1440)?, globe_log_density(density, 720, 1440)?),
        };
        let mut image = MapImage::new(window).heat(heat);
        for (region, outline) in self.regions.iter().zip(outlines) {
            image = image
                .outline(outline.clone(), &format!("smallest region that holds {:.0} %", 100.0 * region.probability));
        }
        for mode in self.modes.iter().filter(|mode| mode.mass >= WORTH_A_MARKER) {
            image = image.marker(mode.mode.place());
        }
        if let Some(place) = self.best() {
            image = image.title(&format!("{place}: 90 % within {radius_km:.0} km"));
        }
        Ok(image.to_png())
    }
}

fn mode_json(mode: &WeightedMode) -> Value {
    let (place, spread) = (mode.mode.place(), mode.mode.spread_km());
    json!({
        "lat": place.lat_deg(), "lon": place.lon_deg(), "probability": mode.mass,
        "log_density": mode.log_density, "spread_km": spread.is_finite().then_some(spread),
    })
}
