//! The cells of the map on which a density with map factors is summed, and how smooth densities get their values there.

use crate::answer::{Result, fine_pixels::FinePixels};
use locdiff_map::cells::{Cells, MapAttribute};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, Field, LatLon, Pixel, Pixels, UnitVec};
use std::sync::{Arc, OnceLock};

/// Smooth densities are evaluated on pixels of this depth, 51 km wide, and taken as constant within each:
/// −log density is off by 0.0005 nats at degree 31.
const SMOOTH_DEPTH: u8 = 7;

/// The active cells, each with the pixel that gives its smooth value and its joint class.
#[derive(Debug)]
pub(crate) struct CellGrid {
    /// All active cells.
    pub(crate) cells: Arc<FinePixels>,
    /// The pixels at which smooth densities are evaluated: those that hold active cells.
    parents: Pixels,
    /// For each cell its position among them.
    parent_of: Vec<u32>,
    /// Where the cells of each begin, and where those of the last end.
    starts: Vec<u32>,
    /// For each cell the number of its combination of classes.
    joint: Vec<u16>,
}

/// Distances in whole kilometres: finer than the pixels, and no sorting.
pub(crate) const KM_BINS: usize = 20_100;

/// Steps of the sine of half an angle.
const STEPS: u16 = 1 << 15;

/// The step of the angle between two points with this scalar product.
fn km_step(dot: f64) -> u16 {
    ((0.5 * (1.0 - dot)).max(0.0).sqrt() * f64::from(STEPS)) as i32 as u16
}

/// The whole kilometres at each step, to one: a twentieth of a cell.
fn km_table() -> &'static [u16] {
    static TABLE: OnceLock<Vec<u16>> = OnceLock::new();
    let km = |k: u16| (2.0 * ((f64::from(k) + 0.5) / f64::from(STEPS)).min(1.0).asin() * EARTH_RADIUS_KM) as u16;
    TABLE.get_or_init(|| (0..=STEPS).map(km).collect())
}

/// The number of combinations of classes.
pub(crate) fn joint_count() -> usize {
    MapAttribute::ALL.iter().map(|attribute| attribute.count()).product()
}

/// The classes in a combination, in the order of [`MapAttribute::ALL`].
pub(crate) fn classes_of(mut joint: usize) -> [usize; MapAttribute::ALL.len()] {
    MapAttribute::ALL.map(|attribute| {
        let class = joint % attribute.count();
        joint /= attribute.count();
        class
    })
}

impl CellGrid {
    /// For densities of a globe whose pixels have this depth. Fails if the pixels cannot be laid out.
    pub(crate) fn new(depth: u8) -> Result<Self> {
        let cells = Cells::bundled();
        let depth = depth.clamp(SMOOTH_DEPTH, Cells::DEPTH);
        let (mut parents, mut parent_of, mut starts) =
            (Vec::new(), Vec::with_capacity(cells.indices().len()), Vec::new());
        for (index, cell) in cells.indices().iter().zip(0..) {
            let parent = index >> (2 * (Cells::DEPTH - depth));
            if parents.last() != Some(&parent) {
                parents.push(parent);
                starts.push(cell);
            }
            parent_of.push(parents.len() as u32 - 1);
        }
        starts.push(cells.indices().len() as u32);
        let mut joint = vec![0; cells.indices().len()];
        for attribute in MapAttribute::ALL.into_iter().rev() {
            let pairs = joint.iter_mut().zip(cells.classes(attribute));
            pairs.for_each(|(joint, class)| *joint = *joint * attribute.count() as u16 + u16::from(*class));
        }
        let pixel = |index: &u32| Pixel { depth: Cells::DEPTH, index: u64::from(*index) };
        let cells = Arc::new(FinePixels::new(cells.indices().iter().map(pixel).collect()));
        Ok(Self { cells, parents: Pixels::some(depth, parents)?, parent_of, starts, joint })
    }

    /// The points at which smooth densities are evaluated.
    pub(crate) fn smooth_points(&self) -> &[UnitVec] {
        self.parents.points()
    }

    /// A field at those points.
    pub(crate) fn smooth_values(&self, field: &Field) -> Vec<f64> {
        self.parents.values(field)
    }

    /// The sum of a density over the cells of each combination of classes, given its values at the smooth points.
    pub(crate) fn histogram(&self, densities: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; joint_count()];
        let cells = self.parent_of.iter().zip(&self.joint);
        cells.for_each(|(parent, joint)| sums[usize::from(*joint)] += densities[*parent as usize]);
        sums.iter_mut().for_each(|sum| *sum *= Pixel::area_sr(Cells::DEPTH));
        sums
    }

    /// The log density of each cell: the smooth one plus what its combination of classes adds.
    pub(crate) fn log_densities<'a>(
        &'a self,
        smooth: &'a [f64],
        by_joint: &'a [f64],
    ) -> impl Iterator<Item = f64> + 'a {
        let cells = self.parent_of.iter().zip(&self.joint);
        cells.map(|(parent, joint)| smooth[*parent as usize] + by_joint[usize::from(*joint)])
    }

    /// The density of each cell: the smooth one times the factor of its combination of classes.
    pub(crate) fn products<'a>(&'a self, smooth: &'a [f64], by_joint: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let cells = self.parent_of.iter().zip(&self.joint);
        cells.map(|(parent, joint)| smooth[*parent as usize] * by_joint[usize::from(*joint)])
    }

    /// For each cell the value of its pixel.
    pub(crate) fn spread<'a>(&'a self, smooth: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        self.parent_of.iter().map(|parent| smooth[*parent as usize])
    }

    /// The depth of the pixels at which smooth densities are evaluated.
    pub(crate) fn smooth_depth(&self) -> u8 {
        self.parents.depth()
    }

    /// The masses of cells by whole kilometres from a centre: of those near it, and of those far from it, which count together with
    /// their neighbours in a wider pixel.
    pub(crate) fn masses_by_km(&self, masses: &[f64], centre: UnitVec) -> [Vec<f64>; 2] {
        /// The cosine of about 640 km.
        const NEAR: f64 = 0.995;
        /// Pixels whose distances are worked out together.
        const BLOCK: usize = 64;
        let (mut near, mut far) = (vec![0.0; KM_BINS], vec![0.0; KM_BINS]);
        let (table, parents) = (km_table(), self.parents.points().chunks(BLOCK));
        for (points, starts) in parents.zip(self.starts.chunks(BLOCK).zip(self.starts[1..].chunks(BLOCK))) {
            let (mut dots, mut steps) = ([0.0; BLOCK], [0; BLOCK]);
            for ((dot, step), point) in dots.iter_mut().zip(&mut steps).zip(points) {
                *dot = centre.dot(*point);
                *step = km_step(*dot);
            }
            for ((dot, step), (start, end)) in dots.iter().zip(steps).zip(starts.0.iter().zip(starts.1)) {
                let own = *start as usize..*end as usize;
                if *dot < NEAR {
                    far[usize::from(table[usize::from(step)])] += match &masses[own] {
                        [a, b, c, d] => a + b + c + d,
                        few => few.iter().sum(),
                    };
                    continue;
                }
                let own = self.cells.points[own.clone()].iter().zip(&masses[own]);
                own.for_each(|(point, mass)| {
                    near[usize::from(table[usize::from(km_step(centre.dot(*point)))])] += mass;
                });
            }
        }
        [near, far]
    }

    /// The combination of classes at a location. `None` if no photos are taken there.
    pub(crate) fn joint_at(&self, location: LatLon) -> Option<usize> {
        Cells::bundled().at(location).map(|cell| usize::from(self.joint[cell]))
    }
}
