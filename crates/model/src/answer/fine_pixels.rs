//! Pixels of any depth that do not overlap.

use crate::answer::circles::Circles;
use locdiff_shdd::sphere::{Pixel, UnitVec};
use std::{sync::Arc, sync::OnceLock};

/// Pixels that do not overlap, in nested order.
#[derive(Debug)]
pub(crate) struct FinePixels {
    pub(crate) pixels: Vec<Pixel>,
    pub(crate) points: Vec<UnitVec>,
    /// Depths of the widest and of the narrowest.
    pub(crate) depths: (u8, u8),
    pub(crate) circles: Circles,
    /// By depth, [`Support::runs`](crate::answer::support::Support::runs) where these were asked for.
    pub(crate) runs: [OnceLock<Arc<Runs>>; Pixel::MAX_DEPTH as usize + 1],
    /// [`Support::country_numbers`](crate::answer::support::Support::country_numbers) if they were asked for.
    pub(crate) countries: OnceLock<Arc<[u8]>>,
}

/// Runs of pixels with one parent: its number, and where its run ends.
pub(crate) type Runs = Vec<(u64, usize)>;

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
        let circles = Circles::new(points.len(), |k| points[k].to_array());
        Self { pixels, points, depths, circles, runs: Default::default(), countries: OnceLock::new() }
    }
}
