//! Places in the order of HEALPix cells, and the runs of them that lie within caps.

use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};
use rayon::prelude::*;
use std::{ops::Range, sync::LazyLock};

/// Cells of about 800 m: their numbers just fit 32 bits.
const DEPTH: u8 = 13;
/// Degrees are kept as whole numbers of 1e-7 (a centimetre).
const UNITS_PER_DEGREE: f64 = 1e7;
/// Places of a cell that are sooner looked at one by one than split.
const FEW: usize = 48;

/// How far a cell reaches from its centre, for every depth: the largest distance between a pixel's centre and a corner
/// (Górski et al. 2005, as `max_pixrad` of the HEALPix library), and a little for rounding. Caps are followed here because
/// `healpix` 0.3.3's own cover of a cone disagreed with brute force for 2,500 km around 0° N 180° E.
static REACH_RAD: LazyLock<[f64; DEPTH as usize + 1]> = LazyLock::new(|| {
    std::array::from_fn(|depth| {
        let side = f64::from(1_u32 << depth);
        let at = |z: f64, lon: f64| {
            let s = (1.0 - z * z).max(0.0).sqrt();
            UnitVec::new(s * lon.cos(), s * lon.sin(), z).unwrap_or(UnitVec::NORTH)
        };
        let centre = at(2.0 / 3.0, std::f64::consts::FRAC_PI_4 / side);
        let corner = at(1.0 - (1.0 - 1.0 / side).powi(2) / 3.0, 0.0);
        centre.angle_rad(corner) * (1.0 + 1e-9) + 1e-9
    })
});

/// A disc on the Earth's surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cap {
    /// Its centre.
    pub centre: UnitVec,
    /// Its radius along the surface.
    pub radius_km: f64,
}

impl Cap {
    /// Whether a point lies in it.
    pub fn contains(&self, point: UnitVec) -> bool {
        self.centre.angle_rad(point) * EARTH_RADIUS_KM <= self.radius_km
    }
}

/// One row of the index: 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) cell: u32,
    /// The row in the source.
    pub(crate) row: u32,
    lat: i32,
    lon: i32,
}

impl Entry {
    pub(crate) const BYTES: usize = 16;

    pub(crate) fn new(row: u32, place: LatLon) -> Self {
        let units = |degrees: f64| (degrees * UNITS_PER_DEGREE).round() as i32;
        let (lat, lon) = (place.lat_deg().to_radians(), place.lon_deg().to_radians());
        let cell = healpix::get(DEPTH).hash([lon, lat]) as u32;
        Self { cell, row, lat: units(place.lat_deg()), lon: units(place.lon_deg()) }
    }

    pub(crate) fn place(&self) -> Option<LatLon> {
        LatLon::new(f64::from(self.lat) / UNITS_PER_DEGREE, f64::from(self.lon) / UNITS_PER_DEGREE).ok()
    }

    pub(crate) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let words = [self.cell.to_le_bytes(), self.row.to_le_bytes(), self.lat.to_le_bytes(), self.lon.to_le_bytes()];
        bytes.as_chunks_mut().0.copy_from_slice(&words);
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let word = |at: usize| i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let [cell, row, lat, lon] = [0, 4, 8, 12].map(word);
        Self { cell: cell as u32, row: row as u32, lat, lon }
    }
}

/// The places of a gallery, sorted by cell.
#[derive(Debug)]
pub(crate) struct Cells {
    entries: Vec<Entry>,
}

impl Cells {
    /// Sorts places.
    pub(crate) fn new(places: &[LatLon]) -> Self {
        let mut entries: Vec<_> =
            places.par_iter().enumerate().map(|(k, place)| Entry::new(k as u32, *place)).collect();
        entries.par_sort_unstable_by_key(|entry| (entry.cell, entry.row));
        Self { entries }
    }

    /// Takes entries that should be sorted and hold places; `None` where they are not or do not.
    pub(crate) fn from_sorted(entries: Vec<Entry>) -> Option<Self> {
        let sorted = entries.is_sorted_by_key(|entry| entry.cell);
        let sound = sorted && entries.par_iter().all(|entry| entry.place().is_some());
        sound.then_some(Self { entries })
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The place at a position of the sorted order.
    pub(crate) fn place(&self, position: usize) -> LatLon {
        self.entries[position].place().unwrap_or_else(|| UnitVec::NORTH.to_latlon())
    }

    /// The positions within any of the caps, each once, as runs in ascending order.
    pub(crate) fn within(&self, caps: &[Cap]) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = caps.par_iter().flat_map_iter(|cap| self.within_one(cap)).collect();
        runs.sort_unstable_by_key(|run| run.start);
        let mut union: Vec<Range<usize>> = Vec::with_capacity(runs.len());
        for run in runs {
            match union.last_mut() {
                Some(last) if run.start <= last.end => last.end = last.end.max(run.end),
                _ => union.push(run),
            }
        }
        union
    }

    /// Descends from the base cells: cells wholly inside are runs, those astride are split until few places remain.
    fn within_one(&self, cap: &Cap) -> Vec<Range<usize>> {
        let radius_rad = cap.radius_km / EARTH_RADIUS_KM;
        // Chords say the same as angles, without an inverse function for every place.
        let longest_chord = 2.0 * (radius_rad.clamp(0.0, std::f64::consts::PI) / 2.0).sin();
        let inside = |point: UnitVec| {
            let [a, b, c] = point.to_array();
            let [x, y, z] = cap.centre.to_array();
            (a - x).powi(2) + (b - y).powi(2) + (c - z).powi(2) <= longest_chord.powi(2)
        };
        let mut runs: Vec<Range<usize>> = Vec::new();
        let mut add = |run: Range<usize>| match runs.last_mut() {
            Some(last) if last.end == run.start => last.end = run.end,
            _ => runs.push(run),
        };
        // Children are pushed in reverse, so that cells come in ascending order.
        let mut pending: Vec<(u8, _, _)> = (0..12).rev().map(|cell| (0, cell, 0..self.entries.len())).collect();
        while let Some((depth, cell, around)) = pending.pop() {
            let shift = 2 * u32::from(DEPTH - depth);
            let run = self.position(cell << shift, &around)..self.position((cell + 1) << shift, &around);
            if run.is_empty() {
                continue;
            }
            let centre = healpix::get(depth).center(cell);
            let (sin, cos) = centre.lat.sin_cos();
            let Ok(centre) = UnitVec::new(cos * centre.lon.cos(), cos * centre.lon.sin(), sin) else { continue };
            let (distance, reach) = (cap.centre.angle_rad(centre), REACH_RAD[usize::from(depth)]);
            if distance > radius_rad + reach {
                continue;
            }
            if distance + reach <= radius_rad {
                add(run);
            } else if run.len() <= FEW || depth == DEPTH {
                for position in run {
                    if inside(self.place(position).to_unit()) {
                        add(position..position + 1);
                    }
                }
            } else {
                pending.extend((0..4).rev().map(|child| (depth + 1, 4 * cell + child, run.clone())));
            }
        }
        runs
    }

    /// The first position of a range whose cell is at least `cell`; the range's end where there is none.
    fn position(&self, cell: u64, range: &Range<usize>) -> usize {
        range.start + self.entries[range.clone()].partition_point(|entry| u64::from(entry.cell) < cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn caps_hold_what_brute_force_finds() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let mut random = || {
            let lat: f64 = rng.random_range(-1.0..1.0);
            LatLon::new(lat.asin().to_degrees(), rng.random_range(-180.0..180.0)).unwrap()
        };
        let mut places: Vec<LatLon> = (0..20_000).map(|_| random()).collect();
        let special = [(90.0, 0.0), (-90.0, 12.0), (0.0, 180.0), (0.0, -180.0), (89.9999, 5.0)];
        places.extend(special.map(|(lat, lon)| LatLon::new(lat, lon).unwrap()));
        let cells = Cells::new(&places);
        assert!(Cells::from_sorted(cells.entries().to_vec()).is_some());
        let edges =
            [(90.0, 0.0), (-89.99, 170.0), (0.0, 180.0), (41.8, 0.0), (-41.8, -90.0), (89.0, 44.0), (85.0, 1.0)];
        for round in 0..140 {
            let caps: Vec<Cap> = (0..=round % 3)
                .map(|k| {
                    let (lat, lon) = edges[round % edges.len()];
                    let centre = match k {
                        0 => LatLon::new(lat, lon).unwrap(),
                        _ => places[rng.random_range(0..places.len())],
                    };
                    let radii_km = [0.0, 1.0, 200.0, 600.0, 2500.0, 9000.0, 20_020.0];
                    let radius_km = radii_km[rng.random_range(0..radii_km.len())];
                    Cap { centre: centre.to_unit(), radius_km }
                })
                .collect();
            let found = cells.within(&caps).into_iter().flatten();
            let mut found: Vec<usize> = found.map(|at| cells.entries()[at].row as usize).collect();
            found.sort_unstable();
            let inside = |place: &LatLon, slack: f64| {
                caps.iter().any(|cap| cap.centre.angle_rad(place.to_unit()) * EARTH_RADIUS_KM <= cap.radius_km + slack)
            };
            // Places are kept to a centimetre, so the border is as wide.
            let surely: Vec<usize> = (0..places.len()).filter(|&k| inside(&places[k], -1e-4)).collect();
            assert!(surely.iter().all(|k| found.binary_search(k).is_ok()), "{caps:?}");
            assert!(found.iter().all(|k| inside(&places[*k], 1e-4)), "{caps:?}");
            assert!(found.windows(2).all(|pair| pair[0] != pair[1]), "each once");
        }
    }

    #[test]
    fn entries_round_trip_to_a_centimetre() {
        let place = LatLon::new(-33.8567844, 151.2152967).unwrap();
        let entry = Entry::new(7, place);
        assert_eq!(Entry::from_bytes(&entry.to_bytes()), entry);
        assert!(locdiff_shdd::sphere::haversine_km(entry.place().unwrap(), place) < 1e-5);
        let broken = Entry { lat: i32::MAX, ..entry };
        assert!(broken.place().is_none() && Cells::from_sorted(vec![broken]).is_none());
        assert!(Cells::from_sorted(vec![entry, Entry { cell: entry.cell - 1, ..entry }]).is_none());
    }
}
