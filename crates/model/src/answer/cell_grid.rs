//! The cells of the map on which a density with map factors is summed, and how smooth densities get their values there.

use crate::answer::density_bins::DensityBins;
use crate::answer::lumps::Lump;
use crate::answer::{Result, fine_pixels::FinePixels};
use locdiff_map::cells::{Cells, MapAttribute};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, Field, LatLon, Pixel, Pixels, UnitVec};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// Smooth densities are evaluated on pixels of this depth, 51 km wide, and taken as constant within each:
/// −log density is off by 0.0005 nats at degree 31.
const SMOOTH_DEPTH: u8 = 7;

/// The depth of the pixels in which cells are lumped together, 102 km wide.
pub(crate) const LUMP_DEPTH: u8 = 6;

/// The most cells of a pixel of [`SMOOTH_DEPTH`].
const MOST_CELLS: usize = 1 << (2 * (Cells::DEPTH - SMOOTH_DEPTH));

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
    groups: Groups,
    /// For each cell its group.
    group_of: Vec<u32>,
}

/// Groups of cells that have one density: those of one pixel and one combination of classes, pixel after pixel.
#[derive(Debug, Default)]
struct Groups {
    /// The pixel of each.
    parent: Vec<u32>,
    joint: Vec<u16>,
    /// The number of cells of each.
    cells: Vec<u8>,
    /// For each pixel its first group, and the numbers of cells of the groups from there on: zero for those of the next pixel.
    of_parent: Vec<(u32, [f32; MOST_CELLS])>,
    /// The sum of the cells' centres, and their number.
    moments: Vec<[f64; 4]>,
    /// The pixels at [`LUMP_DEPTH`], and where the groups of each end.
    lumps: Vec<(u64, usize)>,
}

/// The masses of cells: one for each, or one for each group of cells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CellMasses<'a> {
    pub(crate) values: &'a [f64],
    /// For each cell the number of its value, if it is not the cell's own.
    pub(crate) number_of: Option<&'a [u32]>,
}

impl<'a> From<&'a [f64]> for CellMasses<'a> {
    fn from(values: &'a [f64]) -> Self {
        Self { values, number_of: None }
    }
}

impl CellMasses<'_> {
    /// The mass of one cell.
    pub(crate) fn at(&self, cell: usize) -> f64 {
        self.values[self.number_of.map_or(cell, |number_of| number_of[cell] as usize)]
    }
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
    /// The bins of the cells' densities, as far as [`MOST_BINNED`] needs them, if they were asked for.
    bins: OnceLock<DensityBins>,
}

/// Regions that hold more than this are seldom asked for.
const MOST_BINNED: f64 = 0.9;

impl GroupMasses {
    /// The bins of the cells' densities, at least as far as a region that holds a probability needs them.
    pub(crate) fn bins(&self, grid: &CellGrid, p: f64) -> Cow<'_, DensityBins> {
        let bins = |least: f64| DensityBins::new(&self.of_cell, grid.cells_of_groups(), least);
        if p > MOST_BINNED {
            return Cow::Owned(bins(0.0));
        }
        // All lighter cells together hold less than what such a region leaves.
        let least = 0.99 * (1.0 - MOST_BINNED) / grid.joint.len() as f64;
        Cow::Borrowed(self.bins.get_or_init(|| bins(least)))
    }
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
        let mut groups = Groups::default();
        let mut group_of = Vec::with_capacity(joint.len());
        for ((ends, parent), number) in starts.windows(2).zip(&parents).zip(0..) {
            let first = groups.joint.len();
            for cell in ends[0] as usize..ends[1] as usize {
                let known = groups.joint[first..].iter().position(|own| *own == joint[cell]);
                let own = first + known.unwrap_or(groups.joint.len() - first);
                if own == groups.joint.len() {
                    groups.parent.push(number);
                    groups.joint.push(joint[cell]);
                    groups.cells.push(0);
                    groups.moments.push([0.0; 4]);
                }
                let [x, y, z] = cells.points[cell].to_array();
                groups.cells[own] += 1;
                groups.moments[own].iter_mut().zip([x, y, z, 1.0]).for_each(|(sum, x)| *sum += x);
                group_of.push(own as u32);
            }
            let cells = |k: usize| groups.cells.get(first + k).map_or(0.0, |cells| f32::from(*cells));
            groups.of_parent.push((first as u32, std::array::from_fn(cells)));
            let lump = u64::from(*parent) >> (2 * (depth - LUMP_DEPTH));
            groups.lumps.pop_if(|(last, _)| *last == lump);
            groups.lumps.push((lump, groups.joint.len()));
        }
        let parents = Pixels::some(depth, &parents)?;
        Ok(Self { cells, parents, parent_of, starts, joint, groups, group_of })
    }

    /// The masses of a density that is the smooth one times a factor for each combination of classes, over a total.
    pub(crate) fn masses(&self, smooth: &[f64], by_joint: &[f64], total: f64) -> GroupMasses {
        let by_joint: Vec<f64> = by_joint.iter().map(|factor| factor / total).collect();
        let groups = self.groups.parent.iter().zip(&self.groups.joint);
        let mass = |(parent, joint): (&u32, &u16)| smooth[*parent as usize] * by_joint[usize::from(*joint)];
        let mut of_cell: Vec<f64> = groups.map(mass).collect();
        // Some more, so that no pixel's groups end before the list does.
        let count = of_cell.len();
        of_cell.resize(count + MOST_CELLS, 0.0);
        let sum = |(first, cells): &(u32, [f32; MOST_CELLS])| {
            let own = of_cell[*first as usize..].first_chunk::<MOST_CELLS>().expect("some more masses");
            own.iter().zip(cells).map(|(mass, cells)| f64::from(*cells) * mass).sum()
        };
        let of_parent = self.groups.of_parent.iter().map(sum).collect();
        of_cell.truncate(count);
        GroupMasses { of_cell, of_parent, lumps: OnceLock::new(), bins: OnceLock::new() }
    }

    /// The masses of the cells, given those of their groups.
    pub(crate) fn of_cells<'a>(&'a self, groups: &'a GroupMasses) -> CellMasses<'a> {
        CellMasses { values: &groups.of_cell, number_of: Some(&self.group_of) }
    }

    /// The number of cells of each group.
    pub(crate) fn cells_of_groups(&self) -> impl Iterator<Item = f64> + Clone {
        self.groups.cells.iter().map(|cells| f64::from(*cells))
    }

    /// The number of each pixel at [`LUMP_DEPTH`], and the lump of its cells that hold more than `least`.
    pub(crate) fn lumps(&self, masses: &GroupMasses, least: f64) -> Vec<(u64, Lump)> {
        let (mut start, groups) = (0, &self.groups);
        let lump = |&(number, end): &(u64, usize)| {
            let own = std::mem::replace(&mut start, end)..end;
            let mut sum = [0.0; 4];
            for (mass, moments) in masses.of_cell[own.clone()].iter().zip(&groups.moments[own]) {
                let mass = if *mass > least { *mass } else { 0.0 };
                sum = std::array::from_fn(|k| sum[k] + mass * moments[k]);
            }
            let [x, y, z, mass] = sum;
            (mass > 0.0).then_some((number, Lump { at: [x, y, z], mass }))
        };
        groups.lumps.iter().filter_map(lump).collect()
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
        // Neighbours are mostly of one class: two sums for each, which do not wait for one another.
        let mut sums = vec![[0.0; 2]; joint_count()];
        let Groups { parent, joint, cells, .. } = &self.groups;
        for (group, ((parent, joint), cells)) in parent.iter().zip(joint).zip(cells).enumerate() {
            sums[usize::from(*joint)][group % 2] += f64::from(*cells) * densities[*parent as usize];
        }
        sums.into_iter().map(|[even, odd]| (even + odd) * Pixel::area_sr(Cells::DEPTH)).collect()
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
    pub(crate) fn masses_by_km(&self, (masses, of_parent): (CellMasses<'_>, &[f64]), centre: UnitVec) -> [Vec<f64>; 2] {
        /// The cosine of about 637 km, to which a pixel's half diagonal is added.
        const NEAR: f64 = 0.995;
        const NEAR_BINS: usize = 800;
        /// Pixels whose distances are worked out together.
        const BLOCK: usize = 64;
        let (mut near, mut far) = (vec![0.0; NEAR_BINS], vec![0.0; KM_BINS]);
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
                for cell in self.starts[parent] as usize..self.starts[parent + 1] as usize {
                    let step = km_step(centre.dot(self.cells.points[cell]));
                    near[usize::from(table[usize::from(step)])] += masses.at(cell);
                }
            }
        }
        [near, far]
    }

    /// The combination of classes at a location. `None` if no photos are taken there.
    pub(crate) fn joint_at(&self, location: LatLon) -> Option<usize> {
        Cells::bundled().at(location).map(|cell| usize::from(self.joint[cell]))
    }
}
