//! The points on which a density is summed.

use crate::Globe;
use locdiff_sphere::{Field, Pixel, UnitVec};
use std::{f64::consts::PI, sync::Arc};

/// Centres of pixels of one size: all of a globe's, or finer ones that cover a small region.
#[derive(Debug, Clone)]
pub(crate) enum Support {
    /// Every pixel of the globe.
    Globe(Arc<Globe>),
    /// Some pixels, and their centres.
    Fine(Arc<(Vec<Pixel>, Vec<UnitVec>)>),
}

impl Support {
    /// Pixels of one size, at least one.
    pub(crate) fn fine(pixels: Vec<Pixel>) -> Self {
        let points = pixels.iter().map(|pixel| pixel.centre()).collect();
        Self::Fine(Arc::new((pixels, points)))
    }

    /// The centres.
    pub(crate) fn points(&self) -> &[UnitVec] {
        match self {
            Self::Globe(globe) => globe.pixels().points(),
            Self::Fine(own) => &own.1,
        }
    }

    /// A field's values there.
    pub(crate) fn values(&self, field: &Field) -> Vec<f64> {
        match self {
            Self::Globe(globe) => globe.pixels().values(field),
            Self::Fine(own) => field.values(&own.1),
        }
    }

    /// How deep the pixels are.
    pub(crate) fn depth(&self) -> u8 {
        match self {
            Self::Globe(globe) => globe.pixels().depth(),
            Self::Fine(own) => own.0.first().map_or(0, |pixel| pixel.depth),
        }
    }

    /// The number of the coarser pixel at `depth` that a pixel is part of.
    pub(crate) fn parent(&self, pixel: usize, depth: u8) -> u64 {
        let index = match self {
            Self::Globe(_) => pixel as u64,
            Self::Fine(own) => own.0[pixel].index,
        };
        index >> (2 * self.depth().saturating_sub(depth))
    }

    /// Area of each pixel.
    pub(crate) fn area_sr(&self) -> f64 {
        Pixel::area_sr(self.depth())
    }

    /// The radius of a disc of a pixel's area.
    pub(crate) fn reach_rad(&self) -> f64 {
        (self.area_sr() / PI).sqrt()
    }
}
