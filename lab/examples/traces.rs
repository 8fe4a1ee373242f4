//! Real traces by time and tags alone, beside what photo managers do: what docs/results.md has of them.
//!
//!     cargo run --release -p locdiff-lab --example traces -- ../shared/data/trips/test.csv [blocks|left-out] [> photos.csv]
//!
//! Of each album 10 and 30 % of the points are tagged at random (seeds 1, 2, 3), or with `blocks` one block of 30 %. A table goes to standard
//! error, for albums with one tag and with more apart, too, and a line for each point without a tag to standard output. Intervals resample persons. With `left-out` radii are those of all
//! people, and a line without an error for each tag that is left out is there, too (lab/scripts/fit_radii.py and fit_left_out.py read them).

use locdiff_album::{Album, AlbumPhoto, AlbumSettings, PhotoTime, by_time, cut, parse_time};
use locdiff_model::{answer::Calibration, eval::Bootstrap};
use locdiff_shdd::{Coefficients, sphere::LatLon, sphere::haversine_km};
use std::{collections::BTreeMap, io::Write};

const RADII_KM: [f64; 4] = [1.0, 25.0, 200.0, 750.0];
type Failure = Box<dyn std::error::Error>;

/// Hits of one person's points: album, nearest tag, interpolation and median of tags within the radii, then within the album's own radii.
#[derive(Default, Clone)]
struct Hits {
    points: f64,
    within: [f64; 18],
}

impl Hits {
    fn add(&mut self, more: &Self) {
        self.points += more.points;
        self.within.iter_mut().zip(more.within).for_each(|(sum, one)| *sum += one);
    }
}

/// Even numbers from 0 to 1, as xorshift has them.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        for shift in [13_i32, -7, 17] {
            self.0 ^= if shift > 0 { self.0 << shift } else { self.0 >> -shift };
        }
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn tags(&mut self, count: usize, rate: f64, in_blocks: bool) -> Vec<bool> {
        if in_blocks {
            let size = ((count as f64 * rate) as usize).max(2);
            let begin = (self.next() * (count - size + 1) as f64) as usize;
            return (0..count).map(|k| (begin..begin + size).contains(&k)).collect();
        }
        let mut tags: Vec<bool> = (0..count).map(|_| self.next() < rate).collect();
        if !tags.contains(&true) {
            tags[(self.next() * count as f64) as usize] = true;
        }
        tags
    }
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("a file of traces is wanted")?;
    let word = arguments.next().unwrap_or_default();
    let (in_blocks, leaves_out) = (word == "blocks", word == "left-out");
    let mut albums: BTreeMap<String, Vec<(f64, LatLon)>> = BTreeMap::new();
    for line in std::fs::read_to_string(file)?.lines().skip(1) {
        let [name, time, lat, lon] = line.split(',').collect::<Vec<_>>()[..] else { return Err(line.into()) };
        let place = LatLon::new(lat.parse()?, lon.parse()?)?;
        albums.entry(name.to_owned()).or_default().push((parse_time(time, None)?.0, place));
    }
    let nothing = Coefficients::new(vec![0.0; 16])?;
    let settings = AlbumSettings::from_json(if leaves_out { r#"{"usual_tags": 1e12, "one_tag": 0}"# } else { "{}" })?;
    let album = Album::new(Calibration::none(nothing.clone()), settings)?;
    let mut out = std::io::BufWriter::new(std::io::stdout());
    writeln!(out, "kind,rate,seed,album,trip,hours,e,share")?;
    for rate in if in_blocks { vec![0.3] } else { vec![0.1, 0.3] } {
        let mut kinds: BTreeMap<String, BTreeMap<String, Hits>> = BTreeMap::new();
        for seed in 1..=3_u64 {
            let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1));
            for kind in ["t", "w", "h"] {
                let is_of = |name: &str| name.rsplit('-').next().is_some_and(|last| last.starts_with(kind));
                for (name, points) in albums.iter().filter(|(name, _)| is_of(name)) {
                    let tags = dice.tags(points.len(), rate, in_blocks);
                    let photo = |((seconds, place), is_tagged): (&(f64, LatLon), &bool)| {
                        AlbumPhoto::new("x", PhotoTime::at(*seconds), nothing.clone())
                            .with_gps(is_tagged.then_some(*place))
                    };
                    let photos: Vec<AlbumPhoto> = points.iter().zip(&tags).map(photo).collect();
                    let truths: Vec<LatLon> = points.iter().map(|point| point.1).collect();
                    let answers = album.answers_in_trips(&photos, &truths)?;
                    let mut trip_of = vec![0; photos.len()];
                    for (number, trip) in cut(&photos, false).into_iter().enumerate() {
                        trip.members.iter().for_each(|k| trip_of[*k] = number);
                        let own: Vec<AlbumPhoto> = trip.members.iter().map(|k| photos[*k].clone()).collect();
                        let left = if leaves_out { album.left_out(&own, &trip.known)? } else { Vec::new() };
                        for (hours, share) in left {
                            writeln!(out, "{kind},{rate},{seed},{name},{number},{hours:.5},,{share:.5}")?;
                        }
                    }
                    let person = name.rsplit_once('-').map_or(&**name, |(person, _)| person);
                    let many = if tags.iter().filter(|is| **is).count() == 1 { "one tag" } else { "more tags" };
                    let mut hits = Hits::default();
                    for (k, found) in by_time(&photos).into_iter().enumerate().filter(|(k, _)| !tags[*k]) {
                        let (answer, Some(found)) = (&answers[k].0, found) else { continue };
                        let off = |place: LatLon| haversine_km(place, truths[k]);
                        let error = off(answer.best);
                        let all = [error, off(found.nearest), off(found.interpolated), off(found.median)];
                        let near = all.iter().flat_map(|km| RADII_KM.map(|radius| *km < radius));
                        let own = [error <= answer.radius_50_km, error <= answer.radius_90_km];
                        hits.points += 1.0;
                        let sums = hits.within.iter_mut().zip(near.chain(own));
                        sums.for_each(|(sum, is)| *sum += f64::from(u8::from(is)));
                        let gap = |other: usize| (points[other].0 - points[k].0).abs() / 3600.0;
                        let hours =
                            (0..points.len()).filter(|other| tags[*other]).map(gap).fold(f64::INFINITY, f64::min);
                        let trip = trip_of[k];
                        let share = answer.verdict.as_ref().map_or(0.0, |said| said.radius_share);
                        writeln!(out, "{kind},{rate},{seed},{name},{trip},{hours:.5},{error:.5},{share:.5}")?;
                    }
                    for row in [kind.to_owned(), format!("{kind}, {many},")] {
                        kinds.entry(row).or_default().entry(person.to_owned()).or_default().add(&hits);
                    }
                }
            }
        }
        for (kind, persons) in &kinds {
            show(kind, rate, &persons.values().cloned().collect::<Vec<_>>());
        }
    }
    Ok(())
}

fn show(kind: &str, rate: f64, persons: &[Hits]) {
    let bootstrap = Bootstrap::default();
    let share = |counts: &[u32], which: usize| {
        let sum = |of: &dyn Fn(&Hits) -> f64| -> f64 {
            counts.iter().zip(persons).map(|(count, hits)| f64::from(*count) * of(hits)).sum()
        };
        100.0 * sum(&|hits| hits.within[which]) / sum(&|hits| hits.points).max(1.0)
    };
    let all = vec![1; persons.len()];
    let row = |from: usize| (from..from + 4).map(|k| format!("{:.1}", share(&all, k))).collect::<Vec<_>>().join(" / ");
    let with_interval = |statistic: &(dyn Fn(&[u32]) -> f64 + Sync)| {
        let (low, high) = bootstrap.interval(bootstrap.draws(persons.len(), statistic));
        format!("{:.1} [{low:.1}, {high:.1}]", statistic(&all))
    };
    let ahead = |of: usize| {
        let one = |k: usize| with_interval(&|counts: &[u32]| share(counts, k) - share(counts, k + of));
        (0..4).map(one).collect::<Vec<_>>().join(", ")
    };
    eprintln!(
        "{kind} {rate} n {}: album {} | nearest {} | between {} | median {} | ahead of nearest {} | of median {} | radii {} {}",
        persons.iter().map(|hits| hits.points).sum::<f64>(),
        row(0),
        row(4),
        row(8),
        row(12),
        ahead(4),
        ahead(12),
        with_interval(&|counts| share(counts, 16)),
        with_interval(&|counts| share(counts, 17)),
    );
}
