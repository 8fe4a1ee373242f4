//! HEALPix pixels.

use super::healpix;
use crate::{LatLon, SphereError, UnitVec};
use std::f64::consts::PI;

/// The 12·4^depth equal-area pixels of HEALPix, in nested order: a partition of the sphere on which densities are summed.
///
/// ```
/// use locdiff_sphere::{LatLon, Pixels};
/// let pixels = Pixels::new(4)?;
/// assert_eq!(pixels.len(), 3072);
/// let at = pixels.index_of(LatLon::new(48.86, 2.35)?);
/// assert!(pixels.points()[at].angle_rad(LatLon::new(48.86, 2.35)?.to_unit()) < 0.05);
/// # Ok::<(), locdiff_sphere::SphereError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pixels {
    depth: u8,
    points: Vec<UnitVec>,
}

impl Pixels {
    /// All pixels at `depth`.
    ///
    /// # Errors
    /// When `depth` is above 13.
    pub fn new(depth: u8) -> Result<Self, SphereError> {
        Ok(Self { depth, points: healpix::points(depth)? })
    }

    /// How often the twelve base pixels were cut in four.
    pub fn depth(&self) -> u8 {
        self.depth
    }

    /// The pixels' centres.
    pub fn points(&self) -> &[UnitVec] {
        &self.points
    }

    /// Number of pixels.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Never: there are at least twelve.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Area of every pixel on the unit sphere.
    pub fn area_sr(&self) -> f64 {
        4.0 * PI / self.points.len() as f64
    }

    /// The pixel that holds a place.
    pub fn index_of(&self, place: LatLon) -> usize {
        healpix::index_of(self.depth, place) as usize
    }
}

/// One HEALPix pixel of any size, in nested order: its children are `4·index` to `4·index + 3` one deeper.
///
/// ```
/// use locdiff_sphere::{LatLon, Pixel};
/// let paris = LatLon::new(48.86, 2.35)?;
/// let pixel = Pixel::holding(paris, 20); // some six metres wide
/// assert!(pixel.centre().angle_rad(paris.to_unit()) < 1.5 * Pixel::width_rad(20));
/// # Ok::<(), locdiff_sphere::SphereError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pixel {
    /// How often the twelve base pixels were cut in four.
    pub depth: u8,
    /// Its number.
    pub index: u64,
}

impl Pixel {
    /// Pixels this deep are some centimetres wide.
    pub const MAX_DEPTH: u8 = 28;

    /// The pixel at `depth`, at most [`Pixel::MAX_DEPTH`], that holds a place.
    pub fn holding(place: LatLon, depth: u8) -> Self {
        let depth = depth.min(Self::MAX_DEPTH);
        Self { depth, index: healpix::index_of(depth, place) }
    }

    /// Its centre.
    pub fn centre(self) -> UnitVec {
        healpix::centre(self.depth, self.index)
    }

    /// The four pixels it is cut into.
    pub fn children(self) -> impl Iterator<Item = Self> {
        (0..4).map(move |k| Self { depth: self.depth + 1, index: 4 * self.index + k })
    }

    /// Area on the unit sphere of a pixel so deep.
    pub fn area_sr(depth: u8) -> f64 {
        4.0 * PI / (12.0 * 4.0_f64.powi(i32::from(depth)))
    }

    /// The side of a square of that area.
    pub fn width_rad(depth: u8) -> f64 {
        Self::area_sr(depth).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
