//! Pixels of any depth that do not overlap.

use locdiff_shdd::sphere::{Pixel, UnitVec};
use std::{f64::consts::PI, ops::Range, sync::Arc, sync::OnceLock};

/// Pixels that are passed over together if they are far away.
const BLOCK: usize = 256;

/// Pixels that do not overlap, in nested order.
#[derive(Debug)]
pub(crate) struct FinePixels {
    pub(crate) pixels: Vec<Pixel>,
    pub(crate) points: Vec<UnitVec>,
    /// Depths of the widest and of the narrowest.
    pub(crate) depths: (u8, u8),
    blocks: Vec<Block>,
    /// By depth, [`Support::runs`](crate::answer::support::Support::runs) where these were asked for.
    pub(crate) runs: [OnceLock<Arc<Runs>>; Pixel::MAX_DEPTH as usize + 1],
    /// [`Support::country_numbers`](crate::answer::support::Support::country_numbers) if they were asked for.
    pub(crate) countries: OnceLock<Arc<[u8]>>,
}

/// Runs of pixels with one parent: its number, and where its run ends.
pub(crate) type Runs = Vec<(u64, usize)>;

/// Pixels that follow one another, with a circle that holds their centres.
#[derive(Debug)]
struct Block {
    pixels: Range<usize>,
    centre: UnitVec,
    radius_rad: f64,
}

impl FinePixels {
    /// Pixels, at least one.
    pub(crate) fn new(pixels: Vec<Pixel>) -> Self {
        let points = pixels.iter().map(|pixel| pixel.centre()).collect();
        Self::with_points(pixels, points)
    }

    /// Pixels with their centres.
    pub(crate) fn with_points(pixels: Vec<Pixel>, points: Vec<UnitVec>) -> Self {
        let depths = pixels.iter().map(|pixel| pixel.depth);
        let depths = (depths.clone().min().unwrap_or(0), depths.max().unwrap_or(0));
        let block = |start: usize| {
            let own = &points[start..(start + BLOCK).min(points.len())];
            let centre = own[own.len() / 2];
            let radius_rad = own.iter().map(|point| centre.angle_rad(*point)).fold(0.0, f64::max) + 1e-9;
            Block { pixels: start..start + own.len(), centre, radius_rad }
        };
        let blocks = (0..points.len()).step_by(BLOCK).map(block).collect();
        Self { pixels, points, depths, blocks, runs: Default::default(), countries: OnceLock::new() }
    }

    /// The pixels whose centres may lie within a distance of a point, as ranges in rising order.
    pub(crate) fn ranges_near(&self, point: UnitVec, radius_rad: f64) -> Vec<Range<usize>> {
        let is_near = |block: &&Block| {
            let reach = radius_rad + block.radius_rad;
            reach >= PI || block.centre.dot(point) >= reach.cos()
        };
        self.blocks.iter().filter(is_near).map(|block| block.pixels.clone()).collect()
    }
}
