//! The points on which a density is summed.

use crate::answer::{Globe, density_bins::largest, fine_pixels::FinePixels, fine_pixels::Runs};
use locdiff_map::{cells::Cells, evidence::Evidence};
use locdiff_shdd::sphere::{Field, Pixel, UnitVec, exp_all};
use rayon::prelude::*;
use std::{f64::consts::PI, ops::Range, sync::Arc};

/// Pixels no wider than so many deviations of a kernel sum it to a thousandth;
const FINE_ENOUGH: f64 = 1.6;
/// about one that is narrower they are cut until they are no wider than so many of its deviations…
const WIDEST: f64 = 1.05;
/// …as far as so many deviations.
const AROUND: f64 = 3.5;

/// Centres of pixels: all of a globe's, or finer ones that cover a small region or what a density has there.
#[derive(Debug, Clone)]
pub(crate) enum Support {
    Globe(Arc<Globe>),
    Fine(Arc<FinePixels>),
}

impl Support {
    /// Pixels, at least one.
    pub(crate) fn fine(pixels: Vec<Pixel>) -> Self {
        Self::Fine(Arc::new(FinePixels::new(pixels)))
    }

    /// Cuts pixels of one size in four, repeatedly, around kernels (centre and deviation in radians) that are narrower than a pixel.
    pub(crate) fn cut_about(&self, kernels: impl Iterator<Item = (UnitVec, f64)>) -> Self {
        let (depth, count) = (self.depth(), self.points().len());
        let is_narrow = |(_, deviation): &(UnitVec, f64)| Pixel::width_rad(depth) > FINE_ENOUGH * deviation;
        let narrow: Vec<(UnitVec, f64)> = kernels.filter(is_narrow).collect();
        if narrow.is_empty() {
            return self.clone();
        }
        let (pixels, points) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut cut = Cut { whole: self, depth, pixels, points };
        (0..12).for_each(|index| cut.descend(Pixel { depth: 0, index }, 0..count, &narrow));
        Self::Fine(Arc::new(FinePixels::with_points(cut.pixels, cut.points)))
    }

    /// Values at its pixels for the pixels of `cut`, which are the same or parts of them in the same order.
    pub(crate) fn spread(&self, values: &[f64], cut: &Self) -> Vec<f64> {
        if cut.points().len() == values.len() {
            return values.to_vec();
        }
        let mut own = 0;
        let mut value = |pixel: usize| {
            let parent = cut.parent(pixel, self.depth());
            while self.index(own) < parent {
                own += 1;
            }
            values[own]
        };
        (0..cut.points().len()).map(&mut value).collect()
    }

    pub(crate) fn points(&self) -> &[UnitVec] {
        match self {
            Self::Globe(globe) => globe.pixels().points(),
            Self::Fine(own) => &own.points,
        }
    }

    pub(crate) fn values(&self, field: &Field) -> Vec<f64> {
        match self {
            Self::Globe(globe) => globe.pixels().values(field),
            Self::Fine(own) => field.values(&own.points),
        }
    }

    /// The pixels whose centres may lie within a distance of a point, as ranges in rising order.
    pub(crate) fn ranges_near(&self, point: UnitVec, radius_rad: f64) -> Vec<Range<usize>> {
        match self {
            Self::Globe(_) => std::iter::once(0..self.points().len()).collect(),
            Self::Fine(own) => own.circles.near(point.to_array(), radius_rad).collect(),
        }
    }

    fn depths(&self) -> (u8, u8) {
        match self {
            Self::Globe(globe) => (globe.pixels().depth(), globe.pixels().depth()),
            Self::Fine(own) => own.depths,
        }
    }

    /// The depth of the narrowest pixels.
    pub(crate) fn depth(&self) -> u8 {
        self.depths().1
    }

    pub(crate) fn widest_depth(&self) -> u8 {
        self.depths().0
    }

    pub(crate) fn depth_of(&self, pixel: usize) -> u8 {
        match self {
            Self::Globe(globe) => globe.pixels().depth(),
            Self::Fine(own) => own.pixels[pixel].depth,
        }
    }

    pub(crate) fn is_even(&self) -> bool {
        self.depth() == self.widest_depth()
    }

    /// The number of a pixel among all of its size.
    pub(crate) fn index(&self, pixel: usize) -> u64 {
        match self {
            Self::Globe(_) => pixel as u64,
            Self::Fine(own) => own.pixels[pixel].index,
        }
    }

    /// The number of the pixel at `depth` that a pixel is part of, or that of its first part there.
    pub(crate) fn parent(&self, pixel: usize, depth: u8) -> u64 {
        let (own, index) = (self.depth_of(pixel), self.index(pixel));
        if own >= depth { index >> (2 * (own - depth)) } else { index << (2 * (depth - own)) }
    }

    /// Runs of pixels with one parent at `depth`.
    pub(crate) fn runs(&self, depth: u8) -> Arc<Runs> {
        let make = || {
            let parents = (0..self.points().len()).map(|pixel| (self.parent(pixel, depth), pixel + 1));
            let mut runs = Runs::new();
            parents.for_each(|(parent, end)| match runs.last_mut() {
                Some(last) if last.0 == parent => last.1 = end,
                _ => runs.push((parent, end)),
            });
            Arc::new(runs)
        };
        match self {
            Self::Globe(_) => make(),
            Self::Fine(own) => own.runs[usize::from(depth)].get_or_init(make).clone(),
        }
    }

    /// The numbers of the countries at its points, 255 for none.
    pub(crate) fn country_numbers(&self) -> Arc<[u8]> {
        let cells = Cells::bundled();
        let number = |cell: Option<usize>| cell.map_or(u8::MAX, |cell| cells.country_numbers()[cell]);
        let at_pixel = |pixel: usize| {
            let holds = self.depth_of(pixel) >= Cells::DEPTH;
            let at_point = || cells.at(self.points()[pixel].to_latlon());
            number(if holds { cells.find(self.parent(pixel, Cells::DEPTH)) } else { at_point() })
        };
        let make = || (0..self.points().len()).into_par_iter().map(at_pixel).collect::<Vec<u8>>().into();
        match self {
            Self::Globe(_) => make(),
            Self::Fine(own) => own.countries.get_or_init(make).clone(),
        }
    }

    /// The logs of the likelihood of evidence at its points.
    pub(crate) fn log_likelihoods(&self, evidence: &Evidence) -> Vec<f64> {
        let (points, numbers) = (self.points(), self.country_numbers());
        if evidence.is_of_countries() {
            let Some(any) = points.first() else { return Vec::new() };
            let logs: Vec<f64> = (0..=u8::MAX).map(|country| evidence.likelihood_in(country, *any).ln()).collect();
            return numbers.iter().map(|country| logs[usize::from(*country)]).collect();
        }
        let pairs = points.par_iter().zip(&*numbers);
        pairs.map(|(point, country)| evidence.likelihood_in(*country, *point).ln()).collect()
    }

    /// Area of the widest pixels.
    pub(crate) fn area_sr(&self) -> f64 {
        Pixel::area_sr(self.widest_depth())
    }

    /// A pixel's area over that of the widest ones.
    pub(crate) fn relative_area(&self, pixel: usize) -> f64 {
        0.25_f64.powi(i32::from(self.depth_of(pixel) - self.widest_depth()))
    }

    /// The masses of pixels with these log densities.
    pub(crate) fn masses(&self, values: &[f64]) -> Vec<f64> {
        let area = self.area_sr();
        let mut masses = values.to_vec();
        exp_all(&mut masses);
        masses.iter_mut().for_each(|mass| *mass *= area);
        if !self.is_even() {
            masses.iter_mut().enumerate().for_each(|(pixel, mass)| *mass *= self.relative_area(pixel));
        }
        masses
    }

    /// The log of the integral of a density with these log densities.
    pub(crate) fn log_integral(&self, values: &[f64]) -> f64 {
        if self.is_even() {
            return log_integral(values, self.area_sr());
        }
        let areas = (0..values.len()).map(|pixel| self.relative_area(pixel).ln());
        let weighed: Vec<f64> = values.iter().zip(areas).map(|(value, area)| value + area).collect();
        log_integral(&weighed, self.area_sr())
    }

    /// The radius of a disc of the area of the widest pixels.
    pub(crate) fn reach_rad(&self) -> f64 {
        reach_rad(self.widest_depth())
    }
}

/// The radius of a disc of a pixel's area.
pub(crate) fn reach_rad(depth: u8) -> f64 {
    (Pixel::area_sr(depth) / PI).sqrt()
}

struct Cut<'a> {
    whole: &'a Support,
    depth: u8,
    pixels: Vec<Pixel>,
    points: Vec<UnitVec>,
}

impl Cut<'_> {
    /// Adds what there is of a pixel, of which some of the whole's may be parts.
    fn descend(&mut self, pixel: Pixel, among: Range<usize>, kernels: &[(UnitVec, f64)]) {
        let parts = if pixel.depth <= self.depth { self.parts(pixel, among) } else { among };
        if parts.is_empty() {
            return;
        }
        let (centre, width) = (pixel.centre(), Pixel::width_rad(pixel.depth));
        // Mostly all kernels are of one width.
        let mut last = (f64::NAN, f64::INFINITY);
        let is_near = |(place, deviation): &&(UnitVec, f64)| {
            if *deviation != last.0 {
                let is_wide = pixel.depth < self.depth || width > WIDEST * deviation;
                let least = if is_wide { (AROUND * deviation + width).min(PI).cos() } else { f64::INFINITY };
                last = (*deviation, least);
            }
            place.dot(centre) >= last.1
        };
        let near: Vec<(UnitVec, f64)> = kernels.iter().filter(is_near).copied().collect();
        if !near.is_empty() {
            pixel.children().for_each(|child| self.descend(child, parts.clone(), &near));
        } else if pixel.depth > self.depth {
            self.pixels.push(pixel);
            self.points.push(centre);
        } else {
            let whole = self.whole;
            self.pixels.extend(parts.clone().map(|part| Pixel { depth: self.depth, index: whole.index(part) }));
            self.points.extend_from_slice(&whole.points()[parts]);
        }
    }

    /// Those of the whole's pixels that are parts of one.
    fn parts(&self, pixel: Pixel, among: Range<usize>) -> Range<usize> {
        let shift = 2 * (self.depth - pixel.depth);
        let first = |index: u64| {
            let (mut low, mut high) = (among.start, among.end);
            while low < high {
                let middle = low.midpoint(high);
                if self.whole.index(middle) < index << shift { low = middle + 1 } else { high = middle }
            }
            low
        };
        first(pixel.index)..first(pixel.index + 1)
    }
}

/// log Σ exp(value)·area: the log of an integral over equal-area pixels, given logs of the integrand there.
pub(crate) fn log_integral(values: &[f64], area: f64) -> f64 {
    let top = largest(values);
    if top == f64::NEG_INFINITY { top } else { top + (heights(values, top).iter().sum::<f64>() * area).ln() }
}

/// The densities with these logs over that with the log `top`.
fn heights(values: &[f64], top: f64) -> Vec<f64> {
    let mut heights: Vec<f64> = values.iter().map(|value| value - top).collect();
    exp_all(&mut heights);
    heights
}

/// How much of a pixel at a distance lies within a radius, its mass spread evenly over `reach_rad` towards the centre
/// and away from it: without this, what is smaller than a pixel would be all or nothing.
pub(crate) fn share_within(distance_rad: f64, reach_rad: f64, radius_rad: f64) -> f64 {
    let (from, to) = ((distance_rad - reach_rad).max(0.0), distance_rad + reach_rad);
    ((radius_rad - from) / (to - from)).clamp(0.0, 1.0)
}

/// Each bin's mass spread evenly over `reach` bins on both sides, as far as there are any.
pub(crate) fn smooth(held: &[f64], reach: f64) -> Vec<f64> {
    let reach = reach.round() as usize;
    let mut difference = vec![0.0; held.len() + 1];
    for (bin, mass) in held.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
        let (from, to) = (bin.saturating_sub(reach), (bin + reach + 1).min(held.len()));
        let each = mass / (to - from) as f64;
        difference[from] += each;
        difference[to] -= each;
    }
    let sums = difference[..held.len()].iter().scan(0.0, |sum, step| {
        *sum += step;
        Some(*sum)
    });
    sums.map(|sum: f64| sum.max(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_shdd::sphere::LatLon;

    /// Pixels about narrow kernels are fine, elsewhere as they were, and all together are the whole.
    #[test]
    fn pixels_are_cut_where_a_kernel_is_narrow() {
        let globe = Support::Globe(Arc::new(Globe::new(7).unwrap()));
        let at = |lat: f64, lon: f64| LatLon::new(lat, lon).unwrap().to_unit();
        assert!(matches!(globe.cut_about([(at(3.0, 4.0), 0.1)].into_iter()), Support::Globe(_)));
        let kernels = [(at(48.0, 2.0), 0.002), (at(-89.9, 7.0), 0.01), (at(0.1, 180.0), 0.0009), (at(3.0, 4.0), 0.1)];
        let cut = globe.cut_about(kernels.into_iter());
        let points = cut.points();
        let area: f64 = (0..points.len()).map(|k| cut.relative_area(k)).sum::<f64>() * cut.area_sr();
        assert!((area / (4.0 * PI) - 1.0).abs() < 1e-9 && !cut.is_even());
        for (k, point) in points.iter().enumerate() {
            for (place, deviation) in &kernels[..3] {
                if place.angle_rad(*point) < AROUND * deviation {
                    assert!(Pixel::width_rad(cut.depth_of(k)) <= WIDEST * deviation);
                }
            }
        }
        assert!(points.len() < globe.points().len() + 1500, "{}", points.len());
        // A narrow Gaussian's integral is 1.
        let (place, deviation) = kernels[0];
        let height = -(2.0 * PI * deviation * deviation).ln();
        let values: Vec<f64> = points.iter().map(|p| height + (p.dot(place) - 1.0) / (deviation * deviation)).collect();
        assert!(cut.log_integral(&values).abs() < 1e-3, "{}", cut.log_integral(&values));
        assert!((cut.masses(&values).iter().sum::<f64>() - 1.0).abs() < 1e-3);
        // Of a region's pixels, those of the region alone.
        let few = Support::fine((0..40).map(|index| Pixel { depth: 6, index: 100 + index }).collect());
        let cut = few.cut_about([(few.points()[7], 0.003)].into_iter());
        let area: f64 = (0..cut.points().len()).map(|k| cut.relative_area(k)).sum();
        assert!((area - 40.0).abs() < 1e-9 && cut.points().len() > 50, "{area} {}", cut.points().len());
    }
}
