//! Draws a few maps: `cargo run -p locdiff-map --example maps -- FOLDER`.

use locdiff_map::{
    Colour, Heat, HtmlMap, HtmlMarker, HtmlPhoto, MapImage, Marker, MarkerShape, Raster, Trace, Window,
    contour_polygons,
};
use locdiff_sphere::{LatLon, UnitVec};
use std::error::Error;
use std::path::PathBuf;

/// The log of a mixture of von Mises–Fisher bumps (place, concentration, weight), up to a constant.
fn mixture(bumps: &[(LatLon, f64, f64)]) -> impl Fn(UnitVec) -> f64 {
    move |point| {
        let density = |&(place, kappa, weight): &(LatLon, f64, f64)| {
            weight * kappa * (kappa * (point.dot(place.to_unit()) - 1.0)).exp()
        };
        bumps.iter().map(density).sum::<f64>().ln()
    }
}

fn draw(view: Window, raster: Raster, title: &str) -> MapImage {
    let region = |share| contour_polygons(&raster, raster.log_level_of_mass(share));
    let (half, most) = (region(0.5), region(0.9));
    MapImage::new(view)
        .heat(raster, Heat::log_density())
        .outline(half, "50 %")
        .outline(most, "90 %")
        .title(title)
}

/// A page of two photos, the second with frames in time.
fn page(guesses: &[(LatLon, f64, f64)], sharpened: &[LatLon]) -> Result<String, Box<dyn Error>> {
    let cells = Window::globe(360, 720)?;
    let raster = Raster::from_fn(cells, mixture(guesses));
    let mut photo = HtmlPhoto::new("holiday <b>2024</b>.jpg").summary("near Paris, France");
    photo = photo.fact("50 % within", "610 km").fact("90 % within", "9,400 km").fact("locatability", "0.42");
    photo = photo.heat(&raster, Heat::log_density());
    for (share, label) in [(0.5, "50 % region"), (0.9, "90 % region")] {
        photo = photo.outline(&contour_polygons(&raster, raster.log_level_of_mass(share)), label);
    }
    for &(place, _, weight) in guesses {
        photo = photo.marker(HtmlMarker::new(place, "a guess").probability(weight));
    }
    let mut steps = HtmlPhoto::new("steps.jpg").summary("the backward process");
    for step in 0..12 {
        let kappa = 2f64.powi(step - 1);
        let bumps: Vec<_> = sharpened.iter().map(|&place| (place, kappa, 0.5)).collect();
        let raster = Raster::from_fn(Window::globe(180, 360)?, mixture(&bumps));
        steps = steps.frame(&format!("step {step}"), &raster, Heat::log_density());
    }
    Ok(HtmlMap::new("LocDiff").photo(photo).photo(steps).to_html())
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("give the folder to write to")?);
    let place = LatLon::new;
    let (paris, lima, fiji) = (place(48.86, 2.35)?, place(-12.05, -77.04)?, place(-17.8, 178.0)?);
    let truth = |place| {
        Marker::new(place).shape(MarkerShape::Circle).colour(Colour::from_hex(0x0a7d32)).label("truth")
    };

    let world = Window::globe(720, 1440)?;
    let cells = Window::globe(360, 720)?;
    let guesses =
        [(paris, 120.0, 0.6), (lima, 60.0, 0.25), (fiji, 40.0, 0.15), (place(80.0, -40.0)?, 30.0, 0.05)];
    let image = draw(
        world,
        Raster::from_fn(cells, mixture(&guesses)),
        "photo.jpg – 48.86° N, 2.35° E, 61 % within 750 km",
    );
    let image = image
        .marker(Marker::new(paris).label("1"))
        .marker(Marker::new(lima).label("2"))
        .marker(truth(place(45.0, 7.0)?));
    std::fs::write(folder.join("world.png"), image.to_png())?;

    let near = Window::around(paris, 400.0, 600)?;
    let raster = Raster::from_fn(near, mixture(&[(paris, 4000.0, 1.0), (place(50.5, 4.0)?, 9000.0, 0.4)]));
    let image = draw(near, raster, "a window of 400 km about Paris").marker(paris);
    std::fs::write(folder.join("paris.png"), image.to_png())?;

    let near = Window::around(fiji, 2500.0, 600)?;
    let raster = Raster::from_fn(near, mixture(&[(fiji, 60.0, 1.0)]));
    let image = draw(near, raster, "over the antimeridian").marker(truth(fiji));
    std::fs::write(folder.join("fiji.png"), image.to_png())?;

    let pacific = Window::new(-90.0, 90.0, 0.0, 360.0, 500, 1000)?;
    let raster = Raster::from_fn(cells, mixture(&[(place(90.0, 0.0)?, 20.0, 0.5), (fiji, 10.0, 0.5)]));
    std::fs::write(
        folder.join("pole.png"),
        draw(pacific, raster, "a pole, and the Pacific in the middle").to_png(),
    )?;

    std::fs::write(
        folder.join("thumbnail.png"),
        MapImage::new(Window::globe(180, 360)?).marker(lima).to_png(),
    )?;
    std::fs::write(folder.join("plain.png"), MapImage::world().to_png())?;
    std::fs::write(folder.join("map.html"), page(&guesses, &[fiji, paris])?)?;
    let mut trace = Trace::new("photo.jpg").answer(paris, "in Paris, France");
    for step in 0..12 {
        let raster = Raster::from_fn(Window::globe(180, 360)?, mixture(&[(paris, 2f64.powi(step - 1), 1.0)]));
        trace.push(&format!("step {step}"), raster);
    }
    std::fs::write(folder.join("trace.gif"), trace.to_gif(400)?)?;
    std::fs::write(folder.join("trace.html"), trace.to_html())?;
    Ok(())
}
