//! Figures that explain codes and densities: the size of coefficients, and what a degree can tell apart.

use locdiff_map::{MapImage, Raster, Window, globe_log_density, region_polygons};
use locdiff_model::{report::REGION_PROBABILITIES, report::ReportError, report::svg::Axis, report::svg::Plot};
use locdiff_shdd::sphere::{Degree, EARTH_RADIUS_KM, Grid, LatLon, SphericalHarmonics};
use locdiff_shdd::{CodeDensity, Codec, Coefficients};

/// A density with its regions, on a map that has the given window.
fn map(density: &CodeDensity<'_>, window: Window, heat: Raster, title: &str) -> Result<MapImage, ReportError> {
    let mut image = MapImage::new(window).heat(heat).title(title);
    for p in REGION_PROBABILITIES {
        let region = density.credible_region(p)?;
        image = image.outline(region_polygons(density, &region)?, &format!("{:.0} %", 100.0 * p));
    }
    Ok(image)
}

/// A world map of the density that natural parameters mean, with its highest mode; `name` begins the title.
pub(crate) fn world_map(codec: &Codec, parameters: &Coefficients, name: &str) -> Result<MapImage, ReportError> {
    const CELLS: (usize, usize) = (360, 720);
    let density = codec.density(parameters)?;
    let radius_km = density.credible_region(REGION_PROBABILITIES[1])?.radius_km;
    let place = density.top_mode().map(locdiff_shdd::Mode::place);
    let place_text = place.map_or_else(|| "anywhere".to_owned(), |place| place.to_string());
    let title = format!("{name}: {place_text}, 90 % within {radius_km:.0} km");
    let heat = globe_log_density(&density, CELLS.0, CELLS.1)?;
    let image = map(&density, Window::globe(CELLS.0, CELLS.1)?, heat, &title)?;
    Ok(match place {
        Some(place) => image.marker(place),
        None => image,
    })
}

/// A map around a place of the density that its own code means.
pub(crate) fn resolution_map(degree: Degree, place: LatLon, reach_km: f64) -> Result<MapImage, ReportError> {
    const PIXELS: usize = 500;
    let codec = Codec::new(degree);
    let code = codec.encode(place);
    let density = codec.density(&code)?;
    let window = Window::of_picture(Window::bounds(&[place.to_unit()], reach_km / 111.195), PIXELS, PIXELS)?;
    let heat = Raster::new(window, density.log_density(&window.points()))?;
    map(&density, window, heat, &format!("L = {degree}: spread {:.0} km", spread_km(degree)))
}

/// The largest value that each dimension of a code can have, by dimension, as SVG; `progress` hears the share done.
pub(crate) fn coefficient_plot(degree: Degree, progress: impl Fn(f64)) -> Result<String, ReportError> {
    let largest = largest_coefficients(degree, progress)?;
    let dimension = degree.dimension();
    let top = 1.3 * f64::from(largest.iter().copied().fold(0f32, f32::max));
    let quarters: Vec<f64> = (0..=4).map(|k| (k * dimension / 4) as f64).collect();
    let x =
        Axis {
            from: 0.0, to: dimension as f64, is_log: false, ticks: ticks(&quarters), label: "dimension l² + l + m"
        };
    let doublings: Vec<f64> = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0].into_iter().filter(|value| *value < top).collect();
    let y = Axis { from: 0.2, to: top, is_log: true, ticks: ticks(&doublings), label: "largest |Y_lm|" };
    let mut plot = Plot::new(x, y);
    plot.line("line first", largest.iter().enumerate().map(|(k, v)| (k as f64, f64::from(*v))));
    Ok(plot.finish_file(&format!("Largest absolute value of each dimension of an SHDD code, L = {degree}")))
}

fn largest_coefficients(degree: Degree, progress: impl Fn(f64)) -> Result<Vec<f32>, ReportError> {
    const BLOCK: usize = 512;
    let harmonics = SphericalHarmonics::new(degree);
    let dimension = degree.dimension();
    // Finer than the finest wave, so that every peak is met to a percent.
    let grid = Grid::fibonacci((8 * dimension).max(20_000))?;
    let mut largest = vec![0f32; dimension];
    let mut values = vec![0f32; BLOCK * dimension];
    let mut done = 0;
    for points in grid.points().chunks(BLOCK) {
        let values = &mut values[..points.len() * dimension];
        harmonics.write(points, values)?;
        for row in values.chunks_exact(dimension) {
            largest.iter_mut().zip(row).for_each(|(most, value)| *most = most.max(value.abs()));
        }
        done += points.len();
        progress(done as f64 / grid.len() as f64);
    }
    Ok(largest)
}

/// Standard deviation of a clean code's density.
fn spread_km(degree: Degree) -> f64 {
    EARTH_RADIUS_KM / degree.curvature().sqrt()
}

fn ticks(values: &[f64]) -> Vec<(f64, String)> {
    values.iter().map(|value| (*value, value.to_string())).collect()
}

/// The spread of a clean code's density by degree, with some degrees marked, as SVG.
pub(crate) fn spread_plot(marked: &[Degree]) -> String {
    let all: Vec<Degree> = (1..=255).filter_map(|l| Degree::new(l).ok()).collect();
    let number = |degree: &Degree| degree.get() as f64;
    let x = Axis {
        from: 1.0,
        to: 255.0,
        is_log: true,
        ticks: ticks(&[1.0, 3.0, 7.0, 15.0, 23.0, 47.0, 127.0, 255.0]),
        label: "degree L",
    };
    let y = Axis {
        from: 0.5,
        to: 30_000.0,
        is_log: true,
        ticks: ticks(&[1.0, 25.0, 200.0, 750.0, 2500.0]),
        label: "spread of a clean code, km",
    };
    let mut plot = Plot::new(x, y);
    plot.line("line first", all.iter().map(|degree| (number(degree), spread_km(*degree))));
    for degree in marked {
        let tip = format!("L = {degree}: {:.1} km", spread_km(*degree));
        plot.dot("dot first", number(degree), spread_km(*degree), &tip);
    }
    plot.finish_file("Standard deviation of a clean code's density by degree")
}
