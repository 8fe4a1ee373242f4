//! The cells of the map on which a density with map factors is summed, and how smooth densities get their values there.

use crate::answer::density_bins::DensityBins;
use crate::answer::lumps::Lump;
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
    /// The cells of one pixel and one combination have one density: pixel after pixel.
    groups: Vec<Group>,
    /// For each cell its group.
    group_of: Vec<u32>,
}

/// Cells of one density.
#[derive(Debug, Clone, Copy)]
struct Group {
    parent: u32,
    joint: u16,
    cells: f64,
    /// The sum of their centres.
    points: [f64; 3],
}

/// What groups of cells hold.
#[derive(Debug, Clone)]
pub(crate) struct GroupMasses {
    /// The mass of one cell of each group.
    pub(crate) of_cell: Vec<f64>,
    /// The mass of each pixel at which smooth densities are evaluated.
    pub(crate) of_parent: Vec<f64>,
    /// [`CellGrid::lumps`] if they were asked for.
    pub(crate) lumps: OnceLock<Vec<(u64, Lump)>>,
    /// The bins of the cells' densities if they were asked for.
    pub(crate) bins: OnceLock<DensityBins>,
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
        let mut groups = Vec::<Group>::new();
        let mut group_of = Vec::with_capacity(joint.len());
        for (ends, parent) in starts.windows(2).zip(0..) {
            let first = groups.len();
            for cell in ends[0] as usize..ends[1] as usize {
                let known = groups[first..].iter().position(|group| group.joint == joint[cell]);
                let own = first + known.unwrap_or(groups.len() - first);
                if own == groups.len() {
                    groups.push(Group { parent, joint: joint[cell], cells: 0.0, points: [0.0; 3] });
                }
                groups[own].cells += 1.0;
                groups[own].points.iter_mut().zip(cells.points[cell].to_array()).for_each(|(sum, x)| *sum += x);
                group_of.push(own as u32);
            }
        }
        let parents = Pixels::some(depth, &parents)?;
        Ok(Self { cells, parents, parent_of, starts, joint, groups, group_of })
    }

    /// The masses of a density that is the smooth one times a factor for each combination of classes, over a total.
    pub(crate) fn masses(&self, smooth: &[f64], by_joint: &[f64], total: f64) -> GroupMasses {
        let by_joint: Vec<f64> = by_joint.iter().map(|factor| factor / total).collect();
        let mut of_parent = vec![0.0; smooth.len()];
        let mass = |group: &Group| {
            let mass = smooth[group.parent as usize] * by_joint[usize::from(group.joint)];
            of_parent[group.parent as usize] += group.cells * mass;
            mass
        };
        let of_cell = self.groups.iter().map(mass).collect();
        GroupMasses { of_cell, of_parent, lumps: OnceLock::new(), bins: OnceLock::new() }
    }

    /// For each cell the value of its group.
    pub(crate) fn of_cells(&self, of_groups: &[f64]) -> Vec<f64> {
        self.group_of.iter().map(|group| of_groups[*group as usize]).collect()
    }

    /// The number of cells of each group.
    pub(crate) fn cells_of_groups(&self) -> impl Iterator<Item = f64> + Clone {
        self.groups.iter().map(|group| group.cells)
    }

    /// The number of each pixel at which smooth densities are evaluated, and the lump of its cells that hold more than `least`.
    pub(crate) fn lumps(&self, masses: &GroupMasses, least: f64) -> Vec<(u64, Lump)> {
        let shift = 2 * (Cells::DEPTH - self.parents.depth());
        let number = |cell: &u32| self.cells.pixels[*cell as usize].index >> shift;
        let lump = Lump { at: [0.0; 3], mass: 0.0 };
        let mut lumps: Vec<(u64, Lump)> =
            self.starts[..self.parents.len()].iter().map(|cell| (number(cell), lump)).collect();
        for (group, &mass) in self.groups.iter().zip(&masses.of_cell) {
            if mass > least {
                let lump = &mut lumps[group.parent as usize].1;
                lump.mass += group.cells * mass;
                lump.at = std::array::from_fn(|k| lump.at[k] + mass * group.points[k]);
            }
        }
        lumps.retain(|(_, lump)| lump.mass > 0.0);
        lumps
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
        for group in &self.groups {
            sums[usize::from(group.joint)] += group.cells * densities[group.parent as usize];
        }
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

    /// For each cell the value of its pixel.
    pub(crate) fn spread<'a>(&'a self, smooth: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        self.parent_of.iter().map(|parent| smooth[*parent as usize])
    }

    /// The depth of the pixels at which smooth densities are evaluated.
    pub(crate) fn smooth_depth(&self) -> u8 {
        self.parents.depth()
    }

    /// The mass of each pixel at which smooth densities are evaluated, given those of the cells.
    pub(crate) fn parent_masses(&self, masses: &[f64]) -> Vec<f64> {
        self.starts.windows(2).map(|ends| masses[ends[0] as usize..ends[1] as usize].iter().sum()).collect()
    }

    /// The masses of cells by whole kilometres from a centre: of those near it, and of those far from it, which count together with
    /// their neighbours in a wider pixel. Both the cells' masses and the pixels' are given.
    pub(crate) fn masses_by_km(&self, (masses, of_parent): (&[f64], &[f64]), centre: UnitVec) -> [Vec<f64>; 2] {
        /// The cosine of about 640 km.
        const NEAR: f64 = 0.995;
        /// Pixels whose distances are worked out together.
        const BLOCK: usize = 64;
        let (mut near, mut far) = (vec![0.0; KM_BINS], vec![0.0; KM_BINS]);
        let (table, parents) = (km_table(), self.parents.points().chunks(BLOCK));
        for (points, first) in parents.zip((0..).step_by(BLOCK)) {
            let (mut dots, mut steps) = ([0.0; BLOCK], [0; BLOCK]);
            for ((dot, step), point) in dots.iter_mut().zip(&mut steps).zip(points) {
                *dot = centre.dot(*point);
                *step = km_step(*dot);
            }
            for (parent, (dot, step)) in dots.iter().zip(steps).enumerate().take(points.len()) {
                let parent = first + parent;
                if *dot < NEAR {
                    far[usize::from(table[usize::from(step)])] += of_parent[parent];
                    continue;
                }
                let own = self.starts[parent] as usize..self.starts[parent + 1] as usize;
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
