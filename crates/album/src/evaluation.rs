//! Albums with known places, judged beside what photo managers do. Intervals resample albums, not photos.

use crate::album::Album;
use crate::baselines::by_time;
use crate::{AlbumAnswer, AlbumError, AlbumPhoto};
use locdiff_answer::LEVELS;
use locdiff_eval::{Bootstrap, ReliabilityCurve};
use locdiff_sphere::{LatLon, haversine_km};
use serde::Serialize;
use std::fmt::Write;

/// The radii of the table.
const RADII_KM: [f64; 5] = [1.0, 25.0, 200.0, 750.0, 2500.0];
/// Who is judged.
const SYSTEMS: [&str; 4] = ["album", "nearest in time", "interpolated in time", "single photos"];

/// An album whose places are known.
#[derive(Debug, Clone)]
pub struct AlbumTrip {
    /// Its name.
    pub name: String,
    /// Its photos; those with a GPS tag are heard and not judged.
    pub photos: Vec<AlbumPhoto>,
    /// Where they were taken.
    pub truths: Vec<LatLon>,
}

/// A share with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    /// The share.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// One way to answer, judged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SystemScores {
    /// Its name.
    pub system: String,
    /// Shares within 1, 25, 200, 750 and 2500 km.
    pub within: Vec<Share>,
    /// The difference to the album's shares: album less this one.
    pub album_ahead: Vec<Share>,
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
    /// Mean −log density at the truths, nats per steradian, of the album's answers.
    pub nll_nats: f64,
    /// What shares the radii and regions say they hold.
    pub levels: Vec<f64>,
    /// Shares of truths within the radii that are said to hold 10 … 90 %.
    pub in_radii: Vec<f64>,
    /// Shares of truths inside the regions that are said to hold 10 … 90 %.
    pub in_regions: Vec<f64>,
    /// The levels at which the radii would have held what they say: for fitting.
    pub fitted_levels: Vec<f64>,
    /// Photos that were said not to fit.
    pub outliers: usize,
}

/// Distances of each system's answers for one album's photos without a tag.
struct Judged {
    errors: [Vec<f64>; 4],
}

impl AlbumScores {
    /// Answers every album and judges it. With `same_place`, all photos of an album are of one place. `done` is called after
    /// each album.
    ///
    /// # Errors
    /// As [`Album::answers`].
    pub fn of(
        album: &Album,
        trips: &[AlbumTrip],
        same_place: bool,
        bootstrap: &Bootstrap,
        mut done: impl FnMut(),
    ) -> Result<Self, AlbumError> {
        let (mut judged, mut verdicts, mut tagged, mut outliers) = (Vec::new(), Vec::new(), 0, 0);
        for trip in trips {
            let answers = if same_place {
                album.same_place(&trip.photos, trip.truths.first().copied())?
            } else {
                album.answers(&trip.photos, &trip.truths, |_| ())?
            };
            let singles = if same_place { alone(album, trip)? } else { alone_of(&answers) };
            let by_time = by_time(&trip.photos);
            let mut errors: [Vec<f64>; 4] = Default::default();
            for (k, answer) in answers.iter().enumerate() {
                outliers += usize::from(answer.outlier.is_some());
                if trip.photos[k].gps.is_some() {
                    tagged += 1;
                    continue;
                }
                let off = |place: Option<LatLon>| {
                    place.map_or(f64::INFINITY, |place| haversine_km(place, trip.truths[k]))
                };
                errors[0].push(off(Some(answer.best)));
                errors[1].push(off(by_time[k].map(|found| found.nearest)));
                errors[2].push(off(by_time[k].map(|found| found.interpolated)));
                errors[3].push(off(singles[k]));
                verdicts.extend(answer.verdict.clone());
            }
            judged.push(Judged { errors });
            done();
        }
        let of =
            |pick: fn(&locdiff_answer::Verdict) -> f64| -> Vec<f64> { verdicts.iter().map(pick).collect() };
        let shares = of(|said| said.radius_share);
        let mut sorted = shares.clone();
        sorted.sort_by(f64::total_cmp);
        let quantile =
            |share: &f64| sorted.get((share * sorted.len() as f64) as usize).copied().unwrap_or(1.0);
        let count = verdicts.len().max(1) as f64;
        Ok(Self {
            albums: trips.len(),
            photos: judged.iter().map(|one| one.errors[0].len()).sum(),
            tagged,
            systems: (0..SYSTEMS.len()).map(|system| scores(&judged, system, bootstrap)).collect(),
            nll_nats: -of(|said| said.log_density).iter().sum::<f64>() / count,
            levels: LEVELS.to_vec(),
            in_radii: ReliabilityCurve::of_levels(&shares).observed(),
            in_regions: ReliabilityCurve::of_levels(&of(|said| said.region_level)).observed(),
            fitted_levels: LEVELS.iter().map(quantile).collect(),
            outliers,
        })
    }

    /// A table for people.
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "{} albums, {} photos without a tag judged ({} with one heard)\n% within               1 km             25 km            200 km            750 km           2500 km\n",
            self.albums, self.photos, self.tagged
        );
        for one in &self.systems {
            let _ = write!(text, "{:<20}", one.system);
            for share in &one.within {
                let cell = format!(
                    "{:.1} [{:.1}, {:.1}]",
                    100.0 * share.value,
                    100.0 * share.low,
                    100.0 * share.high
                );
                let _ = write!(text, " {cell:>17}");
            }
            text.push('\n');
        }
        for one in &self.systems[1..] {
            let _ = write!(text, "ahead of {:<11.11}", one.system);
            for share in &one.album_ahead {
                let cell = format!(
                    "{:+.1} [{:+.1}, {:+.1}]",
                    100.0 * share.value,
                    100.0 * share.low,
                    100.0 * share.high
                );
                let _ = write!(text, " {cell:>17}");
            }
            text.push('\n');
        }
        let percent = |shares: &[f64]| {
            let words: Vec<String> = shares.iter().map(|share| format!("{:>5.1}", 100.0 * share)).collect();
            words.concat()
        };
        let _ = writeln!(text, "said                {} %", percent(&self.levels));
        let _ = writeln!(text, "within radii        {} %", percent(&self.in_radii));
        let _ = writeln!(text, "in regions          {} %", percent(&self.in_regions));
        let _ = writeln!(text, "−log density        {:.3} nats per steradian (uniform 2.531)", self.nll_nats);
        let _ = writeln!(text, "said not to fit     {} photos", self.outliers);
        text
    }
}

/// What each photo alone answers.
fn alone_of(answers: &[AlbumAnswer]) -> Vec<Option<LatLon>> {
    answers.iter().map(|answer| answer.alone).collect()
}

fn alone(album: &Album, trip: &AlbumTrip) -> Result<Vec<Option<LatLon>>, AlbumError> {
    let one = |photo: &AlbumPhoto| {
        let photo = [photo.clone().with_gps(None)];
        Ok(album.same_place(&photo, None)?.first().map(|answer| answer.best))
    };
    trip.photos.iter().map(one).collect()
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
        sum(&|album| hits(system, album, radius))
            / sum(&|album| judged[album].errors[system].len() as f64).max(1.0)
    };
    let estimate = |statistic: &(dyn Fn(&[u32]) -> f64 + Sync)| {
        let (low, high) = bootstrap.interval(bootstrap.draws(judged.len(), statistic));
        Share { value: statistic(&everything), low, high }
    };
    SystemScores {
        system: SYSTEMS[system].to_owned(),
        within: RADII_KM.iter().map(|radius| estimate(&|counts| share(counts, system, *radius))).collect(),
        album_ahead: RADII_KM
            .iter()
            .map(|radius| estimate(&|counts| share(counts, 0, *radius) - share(counts, system, *radius)))
            .collect(),
    }
}
