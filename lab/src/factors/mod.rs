//! Map factors for LocDiff and its rivals: what each is worth, and whether others gain as much.

mod choice;
mod table;

pub use table::FactorTable;

use crate::bundled::{Bundled, Shipped};
use crate::reading::{CommonReading, READ_DEGREE, THINNEST};
use crate::{Baseline, Effort, Examples, FitData, Method, Points, Result, knn::NearestNeighbours, locdiff::LocDiff};
use choice::{Seen, Setting};
use locdiff_model::answer::{CellDensity, ClassProbabilities, Globe, Surroundings, fit_surroundings};
use locdiff_model::chance;
use locdiff_nn::Device;
use locdiff_shdd::sphere::UnitVec;
use rayon::prelude::*;
use std::{path::PathBuf, sync::Arc, sync::OnceLock};
use table::{FactorRow, Judged};

/// Photos whose densities are in memory at a time.
const BLOCK: usize = 256;

/// Factors by name, and which of towns, coast and climate take part.
const LAND: (&str, [f64; 3]) = ("land", [0.0; 3]);
const SINGLE: [(&str, [f64; 3]); 3] =
    [("towns", [1.0, 0.0, 0.0]), ("coast", [0.0, 1.0, 0.0]), ("climate", [0.0, 0.0, 1.0])];
const ALL: (&str, [f64; 3]) = ("all factors", [1.0; 3]);

/// A measurement of what map factors are worth.
#[derive(Debug)]
pub struct FactorStudy<'a> {
    pub device: &'a Device,
    pub effort: Effort,
    /// Seeds of the heads: 0 takes all training photos, others a bootstrap sample of them.
    pub seeds: &'a [u64],
    pub training: &'a Examples,
    /// Sets to report on. Every choice is made on the first.
    pub sets: Vec<(String, Examples)>,
    /// Rivals, and folders of trained models.
    pub methods: &'a [Method],
    pub models: &'a [PathBuf],
}

/// Evaluates the densities of photos, given embeddings and truths, before factors.
type See<'a> = dyn Fn(&[f32], &[UnitVec]) -> Result<Vec<Seen>> + 'a;

impl FactorStudy<'_> {
    /// Fits heads and rivals, and judges all with and without factors. `tell` receives what is next.
    pub fn run(&self, tell: &dyn Fn(&str)) -> Result<FactorTable> {
        tell("heads");
        let globe = Globe::new(READ_DEGREE)?;
        let mut judging = Judging { study: self, globe, classes: self.classes()?, rows: Vec::new() };
        let data = FitData { training: self.training, validation: &self.sets[0].1 };
        let fits_bundled = !Method::for_columns(Vec::new(), self.training.columns()).is_empty();
        for method in self.methods {
            tell(method.name());
            if *method == Method::Bundled {
                // Nothing of it is trained: embeddings of other encoders go without it.
                if fits_bundled {
                    judging.add_bundled(data)?;
                }
                continue;
            }
            let fitted = method.build(self.device, self.effort, self.seeds[0])(data, &mut |_| ())?;
            judging.add_rival(method.name(), &*fitted, *method == Method::Constant)?;
        }
        for folder in self.models {
            let name = folder.display().to_string();
            tell(&name);
            judging.add_rival(&name, &LocDiff::open(self.device, &self.effort, folder)?, false)?;
        }
        let sets = self.sets.iter().map(|(name, photos)| (name.clone(), photos.points().to_vec())).collect();
        Ok(FactorTable { sets, rows: judging.rows })
    }

    /// What heads of each seed see in each photo of each set.
    fn classes(&self) -> Result<Vec<Vec<Vec<ClassProbabilities>>>> {
        let heads: Vec<Surroundings> = self.seeds.iter().map(|seed| self.heads(*seed)).collect::<Result<_>>()?;
        let see = |heads: &Surroundings, photos: &Examples| -> Vec<ClassProbabilities> {
            let rows = photos.photos().chunks_exact(photos.columns());
            rows.filter_map(|row| heads.class_probabilities(row)).collect()
        };
        Ok(self.sets.iter().map(|(_, photos)| heads.iter().map(|heads| see(heads, photos)).collect()).collect())
    }

    fn heads(&self, seed: u64) -> Result<Surroundings> {
        let n = self.training.len();
        let draw = |k: usize| if seed == 0 { k } else { chance::below(&[seed, k as u64], n) };
        let drawn = self.training.select(&(0..n).map(draw).collect::<Vec<_>>())?;
        let rows: Vec<Vec<f32>> = drawn.all_copies().chunks_exact(drawn.columns()).map(<[f32]>::to_vec).collect();
        let locations = drawn.points().iter().map(|point| point.to_latlon()).cycle().take(rows.len());
        Ok(fit_surroundings(&rows, &locations.collect::<Vec<_>>())?)
    }
}

/// A study under way.
struct Judging<'a> {
    study: &'a FactorStudy<'a>,
    globe: Globe,
    /// By set, seed and photo.
    classes: Vec<Vec<Vec<ClassProbabilities>>>,
    rows: Vec<FactorRow>,
}

/// Embeddings and true locations, some photos at a time.
fn blocks(photos: &Examples) -> impl Iterator<Item = (&[f32], &[UnitVec])> {
    photos.photos().chunks(BLOCK * photos.columns()).zip(photos.points().chunks(BLOCK))
}

impl Judging<'_> {
    /// The bundled model: plain, as shipped, with each factor and all, and with retrieval.
    fn add_bundled(&mut self, data: FitData<'_>) -> Result<()> {
        let bundled = Bundled::open(self.study.device)?;
        for (factors, is_shipped) in [("plain", false), ("as shipped", true)] {
            let judge = |(own, truth): (Shipped, &UnitVec)| {
                let (density, place) = (&own.density, own.density.peaks(own.window_km, 1)[0].place);
                let (log, level) = (density.log_density(&[*truth])[0], density.mass_denser_than(*truth));
                Judged::new((place, truth.to_latlon()), [log, level, density.region(0.5).area_km2])
            };
            let mut row = FactorRow { name: format!("bundled, {factors}"), chosen: bundled.chosen(), sets: Vec::new() };
            for (_, photos) in &self.study.sets {
                let mut judged = Vec::new();
                for (embeddings, truths) in blocks(photos) {
                    judged.par_extend(bundled.answers(embeddings, is_shipped)?.into_par_iter().zip(truths).map(judge));
                }
                row.sets.push(vec![judged]);
            }
            self.rows.push(row);
        }
        let see = |embeddings: &[f32], truths: &[UnitVec]| {
            let densities = bundled.answers(embeddings, false)?.into_par_iter().zip(truths);
            let seen = densities.map(|(Shipped { density, window_km, ood }, truth)| {
                let at_points = CellDensity::plain_log_density(&density);
                let at_points = at_points.into_iter().map(|value| value.max(THINNEST) as f32).collect();
                let seen = Seen::new(at_points, density.log_density(&[*truth])[0], *truth);
                Seen { window_km: Some(window_km), familiarity: 1.0 - ood, ..seen }
            });
            Ok(seen.collect::<Vec<_>>())
        };
        self.add("bundled", &[&[LAND][..], &SINGLE, &[ALL]].concat(), &see)?;
        let with_all = self.rows.last().into_iter().flat_map(|row| &row.sets[0][0]);
        let logs: Vec<f64> = with_all.map(|own| own.log_density).collect();
        let retrieval = NearestNeighbours::fit(self.study.device, data, Some(&logs), &mut |_| ())?;
        let share = 1.0 - retrieval.share_beside();
        let points = CellDensity::points(&self.globe).to_vec();
        let see_both = |embeddings: &[f32], truths: &[UnitVec]| {
            let densities = retrieval.densities(embeddings)?;
            let found = retrieval.at_all(embeddings, Points::Any(&points))?.into_par_iter().zip(densities);
            let mixed = see(embeddings, truths)?.into_par_iter().zip(found).zip(truths).map(
                |((mut seen, (found, density)), truth)| {
                    let share = share * seen.familiarity;
                    let mix = |own: f64, found: f64| ((1.0 - share) * own.exp() + share * found.exp()).ln();
                    let own = seen.at_points.iter_mut().zip(found);
                    own.for_each(|(own, found)| *own = mix(f64::from(*own), f64::from(found)) as f32);
                    seen.at_truth = mix(seen.at_truth, density(Points::Any(std::slice::from_ref(truth)))[0]);
                    seen
                },
            );
            Ok(mixed.collect::<Vec<_>>())
        };
        self.add(&format!("bundled and {:.0} % kNN", 100.0 * share), &[LAND, ALL], &see_both)
    }

    /// A rival: plain as in `compare`, on land, and with all factors.
    fn add_rival(&mut self, name: &str, method: &dyn Baseline, is_constant: bool) -> Result<()> {
        let (sets, globe) = (&self.study.sets, Arc::new(Globe::new(READ_DEGREE)?));
        let reading = CommonReading::choose(&globe, method, &sets[0].1)?;
        let chosen = format!("{}; {reading}", method.chosen());
        let mut row = FactorRow { name: format!("{name}, plain"), chosen, sets: Vec::new() };
        for (_, photos) in sets {
            let (read, truths) = (reading.read(&globe, method, photos)?, photos.points());
            let numbers = |k: usize| [read.log_densities[k], read.levels[k], read.half_areas_km2[k]];
            let judge = |k: usize| Judged::new((read.places[k], truths[k].to_latlon()), numbers(k));
            row.sets.push(vec![(0..truths.len()).map(judge).collect()]);
        }
        self.rows.push(row);
        let (points, constant) = (CellDensity::points(&self.globe).to_vec(), OnceLock::new());
        let see = |embeddings: &[f32], truths: &[UnitVec]| {
            let densities = method.densities(embeddings)?;
            let all: Vec<Vec<f32>> = if is_constant {
                let same = constant.get_or_init(|| densities[0](Points::Any(&points)));
                let same: Vec<f32> = same.iter().map(|value| value.max(THINNEST) as f32).collect();
                vec![same; densities.len()]
            } else {
                method.at_all(embeddings, Points::Any(&points))?
            };
            let seen = densities.par_iter().zip(truths).zip(all).map(|((density, truth), at_points)| {
                Seen::new(at_points, density(Points::Any(std::slice::from_ref(truth)))[0], *truth)
            });
            Ok(seen.collect::<Vec<_>>())
        };
        self.add(name, &[LAND, ALL], &see)
    }

    /// Adds a row for each choice of factors; `see` evaluates the densities of photos before factors.
    fn add(&mut self, name: &str, factors: &[(&str, [f64; 3])], see: &See<'_>) -> Result<()> {
        let (globe, chosen_by) = (&self.globe, &self.study.sets[0].1);
        let seen = see(chosen_by.photos(), chosen_by.points())?;
        let choose = |&(factors, on): &(&str, [f64; 3])| {
            // Without factors all seeds are the same.
            let seeds = self.classes[0].iter().take(if on == LAND.1 { 1 } else { usize::MAX });
            let settings: Vec<Setting> =
                seeds.map(|classes| Setting::choose(globe, (&seen, classes), on, false)).collect();
            let chosen = settings.iter().map(Setting::words).collect::<Vec<_>>().join("; ");
            (FactorRow { name: format!("{name}, {factors}"), chosen, sets: Vec::new() }, settings)
        };
        let mut rows: Vec<(FactorRow, Vec<Setting>)> = factors.iter().map(choose).collect();
        drop(seen);
        for ((_, photos), classes) in self.study.sets.iter().zip(&self.classes) {
            rows.iter_mut().for_each(|(row, settings)| row.sets.push(vec![Vec::new(); settings.len()]));
            for (k, (embeddings, truths)) in blocks(photos).enumerate() {
                let seen = see(embeddings, truths)?;
                for (row, settings) in &mut rows {
                    let judged = row.sets.last_mut().into_iter().flatten();
                    for ((setting, classes), judged) in settings.iter().zip(classes).zip(judged) {
                        judged.extend(setting.judge(globe, &seen, &classes[k * BLOCK..]));
                    }
                }
            }
        }
        self.rows.extend(rows.into_iter().map(|(row, _)| row));
        Ok(())
    }
}
