//! What every answer of one degree shares: the codec and the pixels on which probabilities are summed.

use crate::answer::{Result, cell_grid::CellGrid};
use locdiff_map::cells::Cells;
use locdiff_shdd::sphere::{Degree, EARTH_RADIUS_KM, Pixel, Pixels};
use locdiff_shdd::{Codec, Coefficients};
use std::borrow::Cow;
use std::f64::consts::PI;
use std::sync::{Arc, OnceLock};

/// Pixels may be this many times as wide as the deviation of a clean code's density. Sums are integrals up to 1.6
/// deviations, and calibrated densities are no sharper than half a clean code, in natural parameters.
const WIDEST: f64 = 2.4;

/// Depth of the pixels for a degree: 102 km wide at L = 23 and 31, 25 km at L = 47.
fn depth(degree: usize) -> u8 {
    let l = degree as f64;
    let deviation_rad = (16.0 * PI / (l * (l + 1.0).powi(2) * (l + 2.0)).max(1.0)).sqrt();
    (SHALLOWEST..DEEPEST).find(|depth| Pixel::width_rad(*depth) <= WIDEST * deviation_rad).unwrap_or(DEEPEST)
}

/// A sum over pixels is an integral up to so many deviations of a kernel per pixel.
const WIDEST_PIXEL: f64 = 1.6;
/// A gallery's photos say no more than this.
const NARROWEST_KM: f64 = 100.0;

/// Pixels are 204 km wide at the most, so that radii mean something, and 6 km at the least.
const SHALLOWEST: u8 = 5;
const DEEPEST: u8 = 10;

/// The codec of a degree and equal-area pixels fine enough for its densities.
#[derive(Debug)]
pub struct Globe {
    codec: Arc<Codec>,
    pixels: Pixels,
    /// The cells for densities with map factors, laid out when the first one asks.
    cells: OnceLock<CellGrid>,
    /// The values of a field that many densities share: at the pixels, and at the smooth points of the cells.
    background: [OnceLock<(Coefficients, Vec<f64>)>; 2],
}

impl Globe {
    /// For densities of this degree. Fails on a degree out of range.
    pub fn new(degree: usize) -> Result<Self> {
        Self::of(Arc::new(Codec::new(Degree::new(degree)?)))
    }

    /// For densities of a codec's degree, with that codec. Fails if the pixels cannot be laid out.
    pub fn of(codec: Arc<Codec>) -> Result<Self> {
        let depth = depth(codec.degree().get());
        Ok(Self { codec, pixels: Pixels::new(depth)?, cells: OnceLock::new(), background: Default::default() })
    }

    /// A globe with pixels twice as wide, for work on many densities at once.
    pub(crate) fn coarser(&self) -> Result<Self> {
        let pixels = Pixels::new(self.pixels.depth().saturating_sub(1))?;
        Ok(Self { codec: self.codec.clone(), pixels, cells: OnceLock::new(), background: Default::default() })
    }

    /// The codec.
    pub fn codec(&self) -> &Codec {
        &self.codec
    }

    /// The deviation of the narrowest kernels of a gallery that are summed on its pixels.
    pub fn narrowest_kernel_km(&self) -> f64 {
        (self.pixels.area_sr().sqrt() * EARTH_RADIUS_KM / WIDEST_PIXEL).max(NARROWEST_KM)
    }

    /// Whether densities of a degree can have map factors: their pixels are no finer than the map's cells.
    pub fn has_map(degree: usize) -> bool {
        depth(degree) <= Cells::DEPTH
    }

    /// The map's cells. A globe whose pixels are finer than these has none.
    pub(crate) fn cells(&self) -> Option<&CellGrid> {
        let depth = self.pixels.depth();
        let lay_out = || CellGrid::new(depth).expect("pixels of this depth exist");
        (depth <= Cells::DEPTH).then(|| self.cells.get_or_init(lay_out))
    }

    /// The values of a field that many densities share, at the pixels or at the smooth points of a cell grid. Those of the first
    /// field are kept. Fails on coefficients of another degree.
    pub(crate) fn shared_values(&self, grid: Option<&CellGrid>, e0: &Coefficients) -> Result<Cow<'_, [f64]>> {
        let evaluate = || -> Result<Vec<f64>> {
            let field = self.codec.field(e0)?;
            Ok(grid.map_or_else(|| self.pixels.values(&field), |grid| grid.smooth_values(&field)))
        };
        let kept = &self.background[usize::from(grid.is_some())];
        if kept.get().is_none() {
            let _ = kept.set((e0.clone(), evaluate()?));
        }
        let own = kept.get().filter(|(of, _)| of == e0).map(|(_, own)| Cow::from(own));
        own.map_or_else(|| evaluate().map(Cow::from), Ok)
    }

    /// The pixels.
    pub fn pixels(&self) -> &Pixels {
        &self.pixels
    }
}
