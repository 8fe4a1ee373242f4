//! HEALPix pixel centres, from the `healpix` crate.

use crate::sphere::{SphereError, UnitVec};

const MAX_DEPTH: u8 = 13;

/// The centres of all pixels at `depth`, in nested order.
pub(super) fn points(depth: u8) -> Result<Vec<UnitVec>, SphereError> {
    if depth > MAX_DEPTH {
        let remedy = "choose a depth from 0 to 13";
        return Err(SphereError::GridSize { grid: "healpix", size: usize::from(depth), remedy });
    }
    Ok((0..12u64 << (2 * depth)).map(|pixel| centre(depth, pixel)).collect())
}

/// The centre of a pixel.
pub(super) fn centre(depth: u8, pixel: u64) -> UnitVec {
    let centre = healpix::get(depth).center(pixel);
    UnitVec::from_z_lon(centre.lat.sin(), centre.lon)
}

/// The pixel that holds a place.
pub(super) fn index_of(depth: u8, place: crate::sphere::LatLon) -> u64 {
    healpix::get(depth).hash([place.lon_deg().to_radians(), place.lat_deg().to_radians()])
}
