//! A page with names on the map: `cargo run -p locdiff-map --example labelled_map -- FILE.html LAT,LON`.

use locdiff_map::{
    Heat, HtmlMap, HtmlMarker, HtmlPhoto, MapLabel, MapPage, Raster, Window, contour_polygons,
};
use locdiff_places::{PlaceKind, Places, Region, describe, place_names};
use locdiff_sphere::LatLon;
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, file, place] = &arguments[..] else { return Err("give FILE.html LAT,LON".into()) };
    let (lat, lon) = place.split_once(',').ok_or("give LAT,LON")?;
    let place = LatLon::new(lat.parse()?, lon.parse()?)?;
    let begin = Instant::now();
    let phrase = describe(place).to_string();
    let first_ms = begin.elapsed().as_secs_f64() * 1e3;
    let raster = Raster::from_fn(Window::globe(360, 720)?, |point| 3000.0 * point.dot(place.to_unit()));
    let mut photo = HtmlPhoto::new("example.jpg").summary(&phrase).heat(&raster, Heat::log_density());
    for (share, label) in [(0.5, "50 % region"), (0.9, "90 % region")] {
        photo = photo.outline(&contour_polygons(&raster, raster.log_level_of_mass(share)), label);
    }
    photo = photo.marker(HtmlMarker::new(place, &phrase).probability(1.0));
    let labels = place_names(200_000).into_iter().map(|name| match name.kind {
        PlaceKind::Country { width_deg } => MapLabel::country(name.place, &name.text, width_deg),
        PlaceKind::Town { population } => MapLabel::town(name.place, &name.text, population),
    });
    let page =
        MapPage::new("LocDiff").credit("Map: Natural Earth · Places: GeoNames, CC BY 4.0").labels(labels);
    let page = HtmlMap::new(page).photo(photo);
    std::fs::write(file, page.to_html())?;

    // How long a question takes, over a grid of the whole Earth.
    let points: Vec<LatLon> = (0..10_000)
        .map(|index| {
            let (row, column) = (f64::from(index / 100), f64::from(index % 100));
            LatLon::new(-89.0 + 1.79 * row, -180.0 + 3.6 * column)
        })
        .collect::<Result<_, _>>()?;
    let begin = Instant::now();
    let sum_km: f64 = points.iter().map(|&point| Places::bundled().nearest(point).distance_km).sum();
    let each_us = begin.elapsed().as_secs_f64() * 1e6 / points.len() as f64;
    let begin = Instant::now();
    let russia = Region::parse("Russia")?;
    let inside = points.iter().filter(|&&point| russia.contains(point)).count();
    let region_us = begin.elapsed().as_secs_f64() * 1e6 / points.len() as f64;
    println!("{phrase}; first answer, with unpacking: {first_ms:.0} ms");
    println!("nearest(): {each_us:.1} µs each, mean distance {:.0} km", sum_km / points.len() as f64);
    println!("contains(): {region_us:.2} µs each, {inside} of {} points in Russia", points.len());
    Ok(())
}
