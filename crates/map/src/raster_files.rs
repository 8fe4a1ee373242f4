//! Rasters as files of other programs: Esri ASCII (`.asc`) and GeoTIFF.

use crate::{MapError, Raster, Window};
use std::{fmt::Write, io::Cursor};
use tiff::encoder::{Compression, DeflateLevel, TiffEncoder, colortype::Gray32Float};
use tiff::tags::Tag;

/// The number that stands for no value.
const NO_DATA: f64 = -9999.0;

/// The raster as the text of an `.asc` file, in degrees. What is not finite becomes −9999, "no data". A window beyond
/// the antimeridian keeps its edges. Fails if the cells are not square: the format has one cell size.
pub fn ascii_grid(raster: &Raster) -> Result<String, MapError> {
    let window = raster.window();
    let (width_deg, height_deg) = (window.cell_width_deg(), window.cell_height_deg());
    // A cell's share of the whole would shift the far edge by less than a thousandth of a cell.
    let slack = 1e-3 / window.rows().max(window.columns()) as f64;
    if (width_deg / height_deg - 1.0).abs() > slack {
        return Err(MapError::NotSquare { width_deg, height_deg });
    }
    let (columns, rows, west, south) = (window.columns(), window.rows(), window.west_deg(), window.south_deg());
    let mut text = format!(
        "ncols {columns}\nnrows {rows}\nxllcorner {west}\nyllcorner {south}\ncellsize {width_deg}\nNODATA_value {NO_DATA}\n"
    );
    for row in raster.values().chunks(columns) {
        for (column, &value) in row.iter().enumerate() {
            let value = if value.is_finite() { value } else { NO_DATA };
            text.push_str(if column == 0 { "" } else { " " });
            // Debug switches to exponents for the very small; whole numbers need no ".0".
            let is_whole = value.fract() == 0.0 && value.abs() < 1e15;
            let _ = if is_whole { write!(text, "{value}") } else { write!(text, "{value:?}") };
        }
        text.push('\n');
    }
    Ok(text)
}

/// The raster in the text of an `.asc` file; "no data" becomes NaN. Fails with what is missing or wrong.
pub fn parse_ascii_grid(text: &str) -> Result<Raster, MapError> {
    let bad = |reason: String| MapError::Ascii { reason };
    let mut words = text.split_whitespace().peekable();
    let mut head = std::collections::HashMap::new();
    while let Some(name) = words.next_if(|word| word.starts_with(|c: char| c.is_ascii_alphabetic())) {
        let name = name.to_ascii_lowercase();
        let value = words.next().and_then(|word| word.parse::<f64>().ok());
        let value = value.ok_or_else(|| bad(format!("no number after {name}")))?;
        head.insert(name, value);
    }
    let get = |name: &str| head.get(name).copied().ok_or_else(|| bad(format!("no {name} in its header")));
    let (columns, rows, cell) = (get("ncols")?, get("nrows")?, get("cellsize")?);
    let half = |corner: &str, center: &str| get(corner).or_else(|_| Ok(get(center)? - 0.5 * cell));
    let (west, south) = (half("xllcorner", "xllcenter")?, half("yllcorner", "yllcenter")?);
    if !(columns >= 1.0 && rows >= 1.0 && cell > 0.0 && columns * rows <= Window::MOST_CELLS as f64) {
        return Err(bad(format!("{rows} rows and {columns} columns of {cell} degrees")));
    }
    let no_data = head.get("nodata_value").copied().unwrap_or(NO_DATA);
    let (rows, columns) = (rows as usize, columns as usize);
    // A cell size of few digits may put the far edge past the pole by a rounding.
    let north = (south + cell * rows as f64).min(90.0);
    let window = Window::new(south.max(-90.0), north, west, west + (cell * columns as f64).min(360.0), rows, columns)?;
    let values = words.map(|word| match word.parse::<f64>() {
        Ok(value) if value == no_data => Ok(f64::NAN),
        Ok(value) => Ok(value),
        Err(_) => Err(bad(format!("'{}' is not a number", word.chars().take(20).collect::<String>()))),
    });
    Raster::new(window, values.collect::<Result<_, _>>()?)
}

/// The raster as a GeoTIFF of 32-bit numbers in WGS 84 (EPSG:4326), cells as areas, north first; NaN is "no data".
pub fn geotiff(raster: &Raster) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    write(raster, &mut file).expect("a raster within Window::MOST_CELLS fits a TIFF file in memory");
    file.into_inner()
}

fn write(raster: &Raster, file: &mut Cursor<Vec<u8>>) -> tiff::TiffResult<()> {
    /// Version 1.1, four keys: geographic model, cells are areas, WGS 84, degrees.
    const GEO_KEYS: [u16; 20] = [1, 1, 0, 4, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 4326, 2054, 0, 1, 9102];
    let window = raster.window();
    let numbers: Vec<f32> = raster.values().iter().map(|&v| if v.is_finite() { v as f32 } else { f32::NAN }).collect();
    let mut encoder = TiffEncoder::new(file)?.with_compression(Compression::Deflate(DeflateLevel::Balanced));
    let mut image = encoder.new_image::<Gray32Float>(window.columns() as u32, window.rows() as u32)?;
    let directory = image.encoder();
    let scale = [window.cell_width_deg(), window.cell_height_deg(), 0.0];
    let corner = [0.0, 0.0, 0.0, window.west_deg(), window.north_deg(), 0.0];
    directory.write_tag(Tag::ModelPixelScaleTag, &scale[..])?;
    directory.write_tag(Tag::ModelTiepointTag, &corner[..])?;
    directory.write_tag(Tag::GeoKeyDirectoryTag, &GEO_KEYS[..])?;
    directory.write_tag(Tag::GdalNodata, "nan")?;
    directory.write_tag(Tag::Software, "LocDiff")?;
    image.write_data(&numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_shdd::sphere::UnitVec;
    use tiff::decoder::{Decoder, DecodingResult};

    #[test]
    fn values_read_back_exactly() {
        let values = [1e-300, -3.0, 0.1 + 0.2, 2.0, f64::NEG_INFINITY, 12345.678];
        let window = Window::new(-1.0, 1.0, 179.0, 182.0, 2, 3).unwrap();
        let text = ascii_grid(&Raster::new(window, values.to_vec()).unwrap()).unwrap();
        let back: Vec<f64> = text.lines().skip(6).flat_map(str::split_whitespace).map(|v| v.parse().unwrap()).collect();
        assert_eq!(back, [1e-300, -3.0, 0.1 + 0.2, 2.0, NO_DATA, 12345.678]);
        let head = "ncols 3\nnrows 2\nxllcorner 179\nyllcorner -1\ncellsize 1\nNODATA_value -9999\n1e-300 -3 ";
        assert!(text.starts_with(head), "{text}");
        let globe = Raster::from_fn(Window::globe(9, 18).unwrap(), UnitVec::z);
        assert_eq!(parse_ascii_grid(&ascii_grid(&globe).unwrap()).unwrap(), globe);
        assert!(parse_ascii_grid("P6 12 12").is_err());
    }

    #[test]
    fn cells_must_be_square() {
        let grid = |window: Result<Window, MapError>| ascii_grid(&Raster::from_fn(window.unwrap(), UnitVec::z));
        assert!(grid(Window::globe(10, 20)).is_ok());
        assert!(matches!(grid(Window::globe(10, 10)), Err(MapError::NotSquare { .. })));
        assert!(grid(Window::new(0.0, 1.0 / 3.0, 0.0, 1.0, 7, 21)).is_ok());
    }

    #[test]
    fn the_numbers_and_the_place_read_back() {
        let window = Window::new(-20.0, 10.0, 170.0, 200.0, 60, 60).unwrap();
        let raster = Raster::from_fn(window, |point| point.to_latlon().lat_deg());
        let bytes = geotiff(&raster);
        assert_eq!(&bytes[..4], b"II*\0");
        let mut decoder = Decoder::new(Cursor::new(bytes)).unwrap();
        assert_eq!(decoder.dimensions().unwrap(), (60, 60));
        assert_eq!(decoder.get_tag_f64_vec(Tag::ModelPixelScaleTag).unwrap(), [0.5, 0.5, 0.0]);
        assert_eq!(decoder.get_tag_f64_vec(Tag::ModelTiepointTag).unwrap()[3..5], [170.0, 10.0]);
        assert!(decoder.get_tag_u16_vec(Tag::GeoKeyDirectoryTag).unwrap().contains(&4326));
        let DecodingResult::F32(numbers) = decoder.read_image().unwrap() else { panic!() };
        assert!((numbers[0] - 9.75).abs() < 1e-5 && (numbers[3599] + 19.75).abs() < 1e-5);
    }
}
