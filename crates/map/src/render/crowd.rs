//! Many photos on one map: how many there are where, and how far they may be from there.

use super::{Colour, MapImage, Marker, MarkerShape, heat::RANGE_NATS, view::View};
use crate::{MapError, Raster, Window, cells::Cells, html::CrowdPhoto};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};
use std::f64::consts::{LN_2, PI};

const PIXELS: (usize, usize) = (1600, 960);
const SCALE: f64 = 2.0;

/// A map of photos, fit to be shown 800 pixels wide: discs with numbers of photos, rings for guesses, and colour where the
/// photos that were placed may have been taken. Fails on a window that cannot be.
pub fn crowd_image(photos: &[CrowdPhoto]) -> Result<MapImage, MapError> {
    let window = Window::of_picture(Window::bounds(&reach(photos), 1.0), PIXELS.0, PIXELS.1)?;
    let mut image = MapImage { meaning: "where they may have been taken", ..MapImage::new(window).scale(SCALE) };
    if photos.iter().any(is_placed) {
        let spread = spread(photos, window)?;
        // In proportion to the number of photos, not to its logarithm.
        let scale = RANGE_NATS / spread.max();
        let values = spread.values().iter().map(|value| scale * value).collect();
        image = image.heat(Raster::new(*spread.window(), values)?);
    }
    for (place, [placed, guessed, tagged]) in clusters(photos, &View { window, scale: SCALE }) {
        let number = placed + guessed + tagged;
        let (shape, colour, words) = if tagged == number {
            (MarkerShape::Count(number), Colour::GPS_TAG, "photos with a GPS tag")
        } else if guessed == number {
            (MarkerShape::Guesses(number), Colour::ANSWER, "guesses: LocDiff can't tell")
        } else if guessed > 0 {
            (MarkerShape::Count(number), Colour::from_hex(0xd07a86), "photos placed and guesses")
        } else {
            (MarkerShape::Count(number), Colour::ANSWER, "photos placed, and their number")
        };
        image = image.marker(Marker::new(place).shape(shape).colour(colour).legend(words));
    }
    Ok(image)
}

fn is_placed(photo: &CrowdPhoto) -> bool {
    photo.can_tell && !photo.is_tagged
}

/// The places of photos, and what lies on their circles of 50 %.
fn reach(photos: &[CrowdPhoto]) -> Vec<UnitVec> {
    const MOST_KM: f64 = 1500.0;
    let around = |photo: &CrowdPhoto| {
        let (at, far) = (
            photo.place.to_unit(),
            photo.radius_50_km.min(MOST_KM) / EARTH_RADIUS_KM * f64::from(u8::from(is_placed(photo))),
        );
        [at, at.step(far, 0.0), at.step(-far, 0.0), at.step(0.0, far), at.step(0.0, -far)]
    };
    photos.iter().flat_map(around).collect()
}

/// The expected number of photos per area, on land and near shores: a Gaussian for each photo, cut at twice its radius of 50 %.
fn spread(photos: &[CrowdPhoto], window: Window) -> Result<Raster, MapError> {
    let cells = window.with_cells((window.rows() / 4).max(1), (window.columns() / 4).max(1))?;
    let (points, least_rad) = (cells.points(), 1.5 * cells.cell_height_deg().to_radians());
    let is_land: Vec<bool> = points.iter().map(|point| Cells::bundled().at(point.to_latlon()).is_some()).collect();
    let mut values = vec![0.0; points.len()];
    for photo in photos.iter().filter(|photo| is_placed(photo)) {
        let (at, radius) = (photo.place.to_unit(), (photo.radius_50_km / EARTH_RADIUS_KM).max(least_rad));
        let (rate, rim) = (2.0 * LN_2 / (radius * radius), (2.0 * radius).min(PI).cos());
        let near = points.iter().enumerate().filter(|(cell, point)| is_land[*cell] && at.dot(**point) > rim);
        let own: Vec<(usize, f64)> = near.map(|(cell, point)| (cell, (rate * (at.dot(*point) - 1.0)).exp())).collect();
        let area_sr = |cell: usize| cells.cell_area_sr(cell / cells.columns());
        let total: f64 = own.iter().map(|(cell, value)| area_sr(*cell) * value).sum();
        own.into_iter().for_each(|(cell, value)| values[cell] += value / total);
    }
    Raster::new(cells, values)
}

/// Photos that would cover each other, at the first one's place: how many are placed, guessed and tagged.
fn clusters(photos: &[CrowdPhoto], view: &View) -> Vec<(LatLon, [usize; 3])> {
    const NEAR: f64 = 30.0;
    let mut clusters: Vec<([f64; 2], LatLon, [usize; 3])> = Vec::new();
    for photo in photos {
        let Some(at) = view.place(photo.place) else { continue };
        let kind = if photo.is_tagged { 2 } else { usize::from(!photo.can_tell) };
        let is_near =
            |cluster: &&mut ([f64; 2], LatLon, [usize; 3])| (cluster.0[0] - at[0]).hypot(cluster.0[1] - at[1]) < NEAR;
        if let Some(cluster) = clusters.iter_mut().find(is_near) {
            cluster.2[kind] += 1;
        } else {
            let mut counts = [0; 3];
            counts[kind] = 1;
            clusters.push((at, photo.place, counts));
        }
    }
    clusters.sort_by_key(|(_, _, counts)| counts.iter().sum::<usize>());
    clusters.into_iter().map(|(_, place, counts)| (place, counts)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn photos_are_counted_by_kind_and_show_how_far_they_may_be() {
        let at = |lat, lon| LatLon::new(lat, lon).unwrap();
        let photo = |place, radius_50_km, can_tell, is_tagged| CrowdPhoto {
            radius_50_km,
            can_tell,
            is_tagged,
            ..CrowdPhoto::new("a.jpg", place, "")
        };
        let photos = [
            photo(at(48.0, 11.0), 400.0, true, false),
            photo(at(48.1, 11.1), 100.0, false, false),
            photo(at(35.0, 139.0), 900.0, false, false),
            photo(at(-33.0, 151.0), 0.0, true, true),
        ];
        let view = View { window: Window::globe(960, 1600).unwrap(), scale: SCALE };
        let found: Vec<[usize; 3]> = clusters(&photos, &view).into_iter().map(|cluster| cluster.1).collect();
        assert_eq!(found, [[0, 1, 0], [0, 0, 1], [1, 1, 0]]);
        // The colour holds as many photos as are placed.
        let raster = spread(&photos, view.window).unwrap();
        let cells = raster.values().chunks(raster.window().columns()).enumerate();
        let sum: f64 = cells.map(|(row, line)| raster.window().cell_area_sr(row) * line.iter().sum::<f64>()).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        let (width, height, _) = crate::render::decode_png(&crowd_image(&photos).unwrap().to_png());
        assert_eq!((width, height), (1600, 960));
        assert!(crowd_image(&[]).is_ok() && crowd_image(&photos[3..]).unwrap().heat.is_none());
    }
}
