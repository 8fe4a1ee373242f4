//! Rasters as GeoTIFF files, which every GIS program reads.

use crate::Raster;
use std::io::Cursor;
use tiff::encoder::{Compression, DeflateLevel, TiffEncoder, colortype::Gray32Float};
use tiff::tags::Tag;

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
    use crate::Window;
    use tiff::decoder::{Decoder, DecodingResult};

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
