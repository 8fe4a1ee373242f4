//! Albums with known places, judged beside what photo managers do. Intervals resample persons where they are known, else albums, not photos.

use crate::{AlbumAnswer, AlbumPhoto, Result, WrongClock, album::Album, earth::is_land, set_clocks};
use locdiff_model::{answer::LEVELS, eval::Bootstrap, eval::Estimate, eval::ReliabilityCurve};
use locdiff_shdd::sphere::{LatLon, haversine_km, interpolate};
use serde::Serialize;
use std::{collections::HashMap, fmt::Write};

/// The radii of the table.
const RADII_KM: [f64; 5] = [1.0, 25.0, 200.0, 750.0, 2500.0];
/// Who is judged.
const SYSTEMS: [&str; 6] =
    ["album", "nearest in time", "interpolated in time", "median of tags", "time alone", "single photos"];

/// An album whose places are known.
#[derive(Debug, Clone)]
pub struct AlbumTrip {
    /// Its name.
    pub name: String,
    /// Whose it is, where that is known: albums of one person are alike.
    pub person: Option<String>,
    /// Its photos; those with a GPS tag count and are not judged.
    pub photos: Vec<AlbumPhoto>,
    /// Where they were taken.
    pub truths: Vec<LatLon>,
    /// Which of them are from elsewhere; empty where that is not known. They count, and not judged with the others.
    pub strays: Vec<bool>,
}

/// How albums are answered to be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Judging {
    /// All photos of an album are of one place.
    pub same_place: bool,
    /// Clocks that contradict each other are set first.
    pub set_clocks: bool,
}

/// One way to answer, judged: shares within 1, 25, 200, 750 and 2500 km, the album's shares less these, and the same of the mean −log
/// density at the truths, nats per steradian, where it has a density.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names say it all")]
pub struct SystemScores {
    pub system: String,
    pub within: Vec<Estimate>,
    pub album_ahead: Vec<Estimate>,
    pub nll_nats: Option<Estimate>,
    pub album_ahead_nats: Option<Estimate>,
}

/// What became of photos without a tag that are from elsewhere, and of the others: how many were named, and how many more hinted at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[allow(missing_docs, reason = "the names say it all")]
pub struct StrayScores {
    pub strays: usize,
    pub named: usize,
    pub hinted: usize,
    pub others: usize,
    pub falsely_named: usize,
    pub falsely_hinted: usize,
}

/// A clock that was set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SetClock {
    /// The album.
    pub album: String,
    /// The clock.
    #[serde(flatten)]
    pub clock: WrongClock,
}

/// How good the answers for albums are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AlbumScores {
    /// Albums.
    pub albums: usize,
    /// Photos that were judged: those without a GPS tag.
    pub photos: usize,
    /// Photos with a tag.
    pub tagged: usize,
    /// The album's answers, and the others.
    pub systems: Vec<SystemScores>,
    /// What shares the radii and regions say they hold.
    pub levels: Vec<f64>,
    /// Shares of truths within the radii that should hold 10 … 90 %.
    pub in_radii: Vec<f64>,
    /// Shares of truths inside the regions that should hold 10 … 90 %.
    pub in_regions: Vec<f64>,
    /// Of the photos that were judged, those for which the answer was "I can't tell", and those that were put into the sea.
    pub cannot_tell: usize,
    /// See `cannot_tell`.
    pub at_sea: usize,
    /// Photos that were named as outliers.
    pub outliers: usize,
    /// Scores for photos from elsewhere, if it is known which are.
    pub strays: Option<StrayScores>,
    /// Clocks that were set.
    pub clocks: Vec<SetClock>,
}

/// Distances of each system's answers for one album's photos without a tag.
#[derive(Default)]
struct Judged {
    errors: [Vec<f64>; 6],
    /// −log densities of the album's answers and of single photos.
    nats: [Vec<f64>; 2],
}

impl Judged {
    fn add(&mut self, other: Self) {
        self.errors.iter_mut().zip(other.errors).for_each(|(own, more)| own.extend(more));
        self.nats.iter_mut().zip(other.nats).for_each(|(own, more)| own.extend(more));
    }
}

impl AlbumScores {
    /// Answers every album and judges it. `done` is called after each album. Fails as [`Album::answers`].
    pub fn of(
        album: &Album,
        trips: &[AlbumTrip],
        judging: Judging,
        bootstrap: &Bootstrap,
        mut done: impl FnMut(),
    ) -> Result<Self> {
        let (mut judged, mut verdicts, mut tagged, mut outliers) = (Vec::new(), Vec::new(), 0, 0);
        let (mut cannot_tell, mut at_sea) = (0, 0);
        let (mut strays, mut clocks) = (StrayScores::default(), Vec::new());
        let mut persons: HashMap<&str, usize> = HashMap::new();
        for trip in trips {
            let mut photos = trip.photos.clone();
            if judging.set_clocks {
                let wrong = album.wrong_clocks(&photos, &[])?;
                set_clocks(&mut photos, &wrong);
                clocks.extend(wrong.into_iter().map(|clock| SetClock { album: trip.name.clone(), clock }));
            }
            let (answers, by_travel): (Vec<_>, Vec<_>) = if judging.same_place {
                let answers = album.same_place(&photos, trip.truths.first().copied())?;
                answers.into_iter().map(|answer| (answer, None)).unzip()
            } else {
                album.answers_in_trips(&photos, &trip.truths)?.into_iter().unzip()
            };
            let singles = if judging.same_place { alone(album, trip)? } else { alone_of(&answers) };
            let by_time = by_time(&trip.photos);
            let mut own = Judged::default();
            for (k, answer) in answers.iter().enumerate() {
                outliers += usize::from(answer.outlier.is_some());
                if trip.photos[k].gps.is_some() {
                    tagged += 1;
                    continue;
                }
                let is_stray = trip.strays.get(k).copied().unwrap_or(false);
                strays.count(is_stray, answer);
                if is_stray {
                    continue;
                }
                let off = |place: Option<LatLon>| place.map_or(f64::INFINITY, |at| haversine_km(at, trip.truths[k]));
                cannot_tell += usize::from(!answer.can_tell);
                at_sea += usize::from(!is_land(answer.best.to_unit()));
                own.errors[0].push(off(Some(answer.best)));
                own.errors[1].push(off(by_time[k].map(|found| found.nearest)));
                own.errors[2].push(off(by_time[k].map(|found| found.interpolated)));
                own.errors[3].push(off(by_time[k].map(|found| found.median)));
                own.errors[4].push(off(by_travel[k]));
                own.errors[5].push(off(singles[k].map(|(place, _)| place)));
                own.nats[0].extend(answer.verdict.as_ref().map(|verdict| -verdict.log_density));
                own.nats[1].extend(singles[k].map(|(_, log_density)| -log_density));
                verdicts.extend(answer.verdict.clone());
            }
            let of_person = *persons.entry(trip.person.as_deref().unwrap_or(&trip.name)).or_insert_with(|| {
                judged.push(Judged::default());
                judged.len() - 1
            });
            judged[of_person].add(own);
            done();
        }
        let of = |pick: fn(&locdiff_model::answer::Verdict) -> f64| -> Vec<f64> { verdicts.iter().map(pick).collect() };
        let shares = of(|verdict| verdict.radius_share);
        Ok(Self {
            albums: trips.len(),
            photos: judged.iter().map(|one| one.errors[0].len()).sum(),
            tagged,
            systems: (0..SYSTEMS.len()).map(|system| scores(&judged, system, bootstrap)).collect(),
            levels: LEVELS.to_vec(),
            in_radii: ReliabilityCurve::of_levels(&shares).observed(),
            in_regions: ReliabilityCurve::of_levels(&of(|verdict| verdict.region_level)).observed(),
            cannot_tell,
            at_sea,
            outliers,
            strays: trips.iter().any(|trip| trip.strays.contains(&true)).then_some(strays),
            clocks,
        })
    }

    /// A table for people.
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "{} albums, {} photos without a tag judged ({} with one used)\n% within               1 km             25 km            200 km            750 km           2500 km        −log density\n",
            self.albums, self.photos, self.tagged
        );
        for one in &self.systems {
            let nats = one.nll_nats.map_or(String::new(), |nats| cell(nats, 1.0, 3, false));
            let _ = writeln!(text, "{:<20}{} {nats:>23}", one.system, cells(&one.within, false));
        }
        for one in &self.systems[1..] {
            let nats = one.album_ahead_nats.map_or(String::new(), |nats| cell(nats, 1.0, 3, true));
            let _ = writeln!(text, "ahead of {:<11.11}{} {nats:>23}", one.system, cells(&one.album_ahead, true));
        }
        let percent = |shares: &[f64]| shares.iter().map(|share| format!("{:>5.1}", 100.0 * share)).collect::<String>();
        let _ = writeln!(text, "said                {} %", percent(&self.levels));
        let _ = writeln!(text, "within radii        {} %", percent(&self.in_radii));
        let _ = writeln!(text, "in regions          {} %", percent(&self.in_regions));
        text.push_str("−log density in nats per steradian (uniform 2.531); ahead: how much lower the album's is\n");
        let _ = writeln!(text, "can't tell          {} photos; at sea {}", self.cannot_tell, self.at_sea);
        let _ = writeln!(text, "do not fit          {} photos", self.outliers);
        if let Some(strays) = &self.strays {
            let _ = writeln!(
                text,
                "from elsewhere      {} of {} named, {} more hinted at; of {} others {} named, {} more hinted at",
                strays.named, strays.strays, strays.hinted, strays.others, strays.falsely_named, strays.falsely_hinted
            );
        }
        let hours: Vec<String> = self.clocks.iter().map(|set| format!("{:+}", set.clock.ahead_h)).collect();
        if !hours.is_empty() {
            let _ = writeln!(text, "clocks set          {} (hours ahead: {})", hours.len(), hours.join(", "));
        }
        text
    }
}

impl StrayScores {
    fn count(&mut self, is_stray: bool, answer: &AlbumAnswer) {
        let is_named = answer.outlier.is_some();
        let is_hinted = !is_named && answer.hint.is_some();
        let (all, named, hinted) = if is_stray {
            (&mut self.strays, &mut self.named, &mut self.hinted)
        } else {
            (&mut self.others, &mut self.falsely_named, &mut self.falsely_hinted)
        };
        *all += 1;
        *named += usize::from(is_named);
        *hinted += usize::from(is_hinted);
    }
}

/// What each photo alone answers, and the log density that it gives the truth.
type Alone = Option<(LatLon, f64)>;

fn alone_of(answers: &[AlbumAnswer]) -> Vec<Alone> {
    answers.iter().map(|answer| answer.alone.zip(answer.alone_log_density)).collect()
}

fn alone(album: &Album, trip: &AlbumTrip) -> Result<Vec<Alone>> {
    let one = |(photo, truth): (&AlbumPhoto, &LatLon)| {
        let photo = [photo.clone().with_gps(None)];
        let answers = album.same_place(&photo, Some(*truth))?;
        Ok(answers.first().and_then(|answer| Some((answer.best, answer.verdict.as_ref()?.log_density))))
    };
    trip.photos.iter().zip(&trip.truths).map(one).collect()
}

fn scores(judged: &[Judged], system: usize, bootstrap: &Bootstrap) -> SystemScores {
    // Hits and photos by album and radius.
    let hits = |system: usize, album: usize, radius: f64| {
        judged[album].errors[system].iter().filter(|km| **km < radius).count() as f64
    };
    let everything = vec![1; judged.len()];
    let share = |counts: &[u32], system: usize, radius: f64| {
        let sum = |of: &dyn Fn(usize) -> f64| -> f64 {
            counts.iter().enumerate().map(|(album, count)| f64::from(*count) * of(album)).sum()
        };
        sum(&|album| hits(system, album, radius)) / sum(&|album| judged[album].errors[system].len() as f64).max(1.0)
    };
    let estimate = |statistic: &(dyn Fn(&[u32]) -> f64 + Sync)| {
        let (low, high) = bootstrap.interval(bootstrap.draws(judged.len(), statistic));
        Estimate { value: statistic(&everything), low, high }
    };
    // Only the album and single photos have a density.
    let density = [Some(0), None, None, None, None, Some(1)][system];
    let nats = |counts: &[u32], which: usize| {
        let sum = |of: &dyn Fn(&[f64]) -> f64| -> f64 {
            counts.iter().zip(judged).map(|(count, one)| f64::from(*count) * of(&one.nats[which])).sum()
        };
        sum(&|list| list.iter().sum()) / sum(&|list| list.len() as f64).max(1.0)
    };
    SystemScores {
        system: SYSTEMS[system].to_owned(),
        within: RADII_KM.iter().map(|radius| estimate(&|counts| share(counts, system, *radius))).collect(),
        album_ahead: RADII_KM
            .iter()
            .map(|radius| estimate(&|counts| share(counts, 0, *radius) - share(counts, system, *radius)))
            .collect(),
        nll_nats: density.map(|which| estimate(&|counts| nats(counts, which))),
        album_ahead_nats: density.map(|which| estimate(&|counts| nats(counts, which) - nats(counts, 0))),
    }
}

/// An estimate with its interval, in these units, with a sign if asked for.
fn cell(share: Estimate, unit: f64, digits: usize, has_sign: bool) -> String {
    let [value, low, high] = [share.value, share.low, share.high].map(|number| {
        if has_sign { format!("{:+.digits$}", number * unit) } else { format!("{:.digits$}", number * unit) }
    });
    format!("{value} [{low}, {high}]")
}

fn cells(shares: &[Estimate], has_sign: bool) -> String {
    shares.iter().map(|share| format!(" {:>17}", cell(*share, 100.0, 1, has_sign))).collect()
}

/// The places that tags of other photos give by time alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByTime {
    /// That of the tag nearest in time.
    pub nearest: LatLon,
    /// That between the tag before and the tag after, by time.
    pub interpolated: LatLon,
    /// The median of the tags within 10 km of the nearest one.
    pub median: LatLon,
}

/// By time alone, for each photo; `None` where no other photo has a tag, and for a photo without a moment. A photo's own tag does not count.
pub fn by_time(photos: &[AlbumPhoto]) -> Vec<Option<ByTime>> {
    let timed = || photos.iter().enumerate().filter(|(_, photo)| photo.time.is_moment());
    let mut tags: Vec<(f64, usize, LatLon)> =
        timed().filter_map(|(k, photo)| Some((photo.time.seconds, k, photo.gps?))).collect();
    tags.sort_by(|a, b| a.0.total_cmp(&b.0));
    let median = |nearest: LatLon, k: usize| {
        let around = tags.iter().filter(|tag| tag.1 != k && haversine_km(tag.2, nearest) < 10.0);
        let (mut lat, mut lon): (Vec<f64>, Vec<f64>) = around
            .map(|tag| (tag.2.lat_deg(), (tag.2.lon_deg() - nearest.lon_deg() + 540.0).rem_euclid(360.0)))
            .unzip();
        let middle = |list: &mut Vec<f64>| {
            list.sort_by(f64::total_cmp);
            f64::midpoint(list[(list.len() - 1) / 2], list[list.len() / 2])
        };
        let (lat, lon) = (middle(&mut lat), middle(&mut lon) - 180.0 + nearest.lon_deg());
        LatLon::new(lat, (lon + 540.0).rem_euclid(360.0) - 180.0).unwrap_or(nearest)
    };
    let one = |k: usize, photo: &AlbumPhoto| {
        let now = photo.time.is_moment().then_some(photo.time.seconds)?;
        let at = tags.partition_point(|tag| tag.0 < now);
        let before = tags[..at].iter().rev().find(|tag| tag.1 != k);
        let after = tags[at..].iter().find(|tag| tag.1 != k);
        let (first, last) = (before.or(after)?, after.or(before)?);
        let share = if last.0 > first.0 { (now - first.0) / (last.0 - first.0) } else { 0.5 };
        let between = || interpolate(first.2.to_unit(), last.2.to_unit(), share).to_latlon();
        let interpolated = if first.1 == last.1 { first.2 } else { between() };
        let nearest = if now - first.0 <= last.0 - now { first.2 } else { last.2 };
        Some(ByTime { nearest, interpolated, median: median(nearest, k) })
    };
    photos.iter().enumerate().map(|(k, photo)| one(k, photo)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_tags_time_decides() {
        let photo = |seconds: f64, lon: Option<f64>| {
            let (time, nothing) = (crate::PhotoTime::at(seconds), locdiff_shdd::Coefficients::new(vec![0.0; 4]));
            AlbumPhoto::new("x", time, nothing.unwrap()).with_gps(lon.map(|lon| LatLon::new(0.0, lon).unwrap()))
        };
        let between = by_time(&[photo(0.0, Some(10.0)), photo(30.0, None), photo(100.0, Some(20.0))])[1].unwrap();
        assert_eq!(between.nearest.lon_deg(), 10.0);
        assert!((between.interpolated.lon_deg() - 13.0).abs() < 1e-6);
    }
}
