//! HEALPix pixels.

use super::{healpix, pixel_rings::PixelRings};
use crate::sphere::{Field, LatLon, SphereError, UnitVec};
use std::{f64::consts::PI, sync::OnceLock};

/// The 12·4^depth equal-area pixels of HEALPix, in nested order: a partition of the sphere on which densities are summed.
///
/// ```
/// use locdiff_shdd::sphere::{LatLon, Pixels};
/// let pixels = Pixels::new(4)?;
/// assert_eq!(pixels.len(), 3072);
/// let at = pixels.index_of(LatLon::new(48.86, 2.35)?);
/// assert!(pixels.points()[at].angle_rad(LatLon::new(48.86, 2.35)?.to_unit()) < 0.05);
/// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
/// ```
#[derive(Debug)]
pub struct Pixels {
    depth: u8,
    points: Vec<UnitVec>,
    /// Laid out when values are first asked for.
    rings: OnceLock<PixelRings>,
}

impl Pixels {
    /// Creates all pixels at `depth`. Fails if `depth` is above 13.
    pub fn new(depth: u8) -> Result<Self, SphereError> {
        Ok(Self { depth, points: healpix::points(depth)?, rings: OnceLock::new() })
    }

    /// Creates the pixels with these numbers. Fails if `depth` is above 13.
    pub fn some(depth: u8, chosen: &[u32]) -> Result<Self, SphereError> {
        let all = healpix::points(depth)?;
        let points = chosen.iter().map(|number| all[*number as usize]).collect();
        Ok(Self { depth, points, rings: OnceLock::new() })
    }

    /// Returns the HEALPix depth: how often the twelve base pixels were divided into four.
    #[inline]
    pub fn depth(&self) -> u8 {
        self.depth
    }

    /// Returns the pixels' centres.
    #[inline]
    pub fn points(&self) -> &[UnitVec] {
        &self.points
    }

    /// Returns the number of pixels.
    #[inline]
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Returns false: there are at least twelve pixels.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Returns the area of each pixel in steradian.
    #[inline]
    pub fn area_sr(&self) -> f64 {
        Pixel::area_sr(self.depth)
    }

    /// Returns a field's values at every centre, on all threads, many times as fast as [`Field::values`].
    pub fn values(&self, field: &Field) -> Vec<f64> {
        self.rings.get_or_init(|| PixelRings::new(&self.points)).values(field)
    }

    /// Returns the index of the pixel that holds a location.
    pub fn index_of(&self, place: LatLon) -> usize {
        healpix::index_of(self.depth, place) as usize
    }
}

/// One HEALPix pixel of any size, in nested order: its children are `4·index` to `4·index + 3` one deeper.
///
/// ```
/// use locdiff_shdd::sphere::{LatLon, Pixel};
/// let paris = LatLon::new(48.86, 2.35)?;
/// let pixel = Pixel::holding(paris, 20); // some six metres wide
/// assert!(pixel.centre().angle_rad(paris.to_unit()) < 1.5 * Pixel::width_rad(20));
/// # Ok::<(), locdiff_shdd::sphere::SphereError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pixel {
    /// HEALPix depth: how often the twelve base pixels were divided into four.
    pub depth: u8,
    /// Number of the pixel.
    pub index: u64,
}

impl Pixel {
    /// Largest depth: its pixels are a few centimetres wide.
    pub const MAX_DEPTH: u8 = 28;

    /// Returns the pixel at `depth`, at most [`Pixel::MAX_DEPTH`], that holds a location.
    pub fn holding(place: LatLon, depth: u8) -> Self {
        let depth = depth.min(Self::MAX_DEPTH);
        Self { depth, index: healpix::index_of(depth, place) }
    }

    /// Returns its centre.
    pub fn centre(self) -> UnitVec {
        healpix::centre(self.depth, self.index)
    }

    /// Iterates over the four pixels one level deeper.
    pub fn children(self) -> impl Iterator<Item = Self> {
        (0..4).map(move |k| Self { depth: self.depth + 1, index: 4 * self.index + k })
    }

    /// Returns the area in steradian of a pixel at this depth.
    #[inline]
    pub fn area_sr(depth: u8) -> f64 {
        4.0 * PI / (12.0 * 4.0_f64.powi(i32::from(depth)))
    }

    /// Returns the side in radians of a square with the pixel's area.
    #[inline]
    pub fn width_rad(depth: u8) -> f64 {
        Self::area_sr(depth).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The transform by rings against the sum at each point, also where rings are too short for the degree.
    #[test]
    fn values_by_rings_are_those_at_the_points() {
        for (depth, degree) in [(0, 3), (1, 7), (3, 31), (5, 31), (6, 47), (4, 1)] {
            let plan = crate::sphere::FieldPlan::new(crate::sphere::Degree::new(degree).unwrap());
            let coefficients: Vec<f64> = (0..(degree + 1).pow(2)).map(|i| (1.0 + i as f64).sin()).collect();
            let field = plan.field(&coefficients).unwrap();
            let pixels = Pixels::new(depth).unwrap();
            let (fast, slow) = (pixels.values(&field), field.values(pixels.points()));
            let size = slow.iter().fold(1.0_f64, |top, value| top.max(value.abs()));
            for (fast, slow) in fast.iter().zip(&slow) {
                assert!((fast - slow).abs() < 1e-12 * size, "depth {depth}, degree {degree}: {fast} {slow}");
            }
        }
    }

    /// A pixel's centre lies in it, and all of them together are the sphere.
    #[test]
    fn centres_lie_in_their_pixels() {
        let pixels = Pixels::new(3).unwrap();
        for index in 0..pixels.len() {
            assert_eq!(pixels.index_of(pixels.points()[index].to_latlon()), index);
        }
        assert!((pixels.area_sr() * pixels.len() as f64 - 4.0 * PI).abs() < 1e-12);
    }
}
