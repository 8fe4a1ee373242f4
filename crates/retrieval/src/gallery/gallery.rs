//! A gallery and its search.

use crate::gallery::{Cap, GalleryError, Kind, Result, builder::unit, cells::Cells, scan};
use crate::gallery::{folder::Description, folder::Store, quantised::QuantisedQuery, quantised::RowBound};
use locdiff_io::data::Fingerprint;
use locdiff_shdd::sphere::LatLon;
use rayon::prelude::*;
use std::{cmp::Reverse, ops::Range};
use twox_hash::XxHash3_128;

/// Rows that one task takes.
const BLOCK: usize = 1024;
/// Queries that are searched together.
const BATCH: usize = 64;
/// Rows between two runs that are sooner read than skipped.
const LARGEST_GAP: usize = 32;
/// The same of full vectors, and positions that are read at a time.
const SMALL_GAP: usize = 3;
const TOGETHER: usize = 64;

/// A place of a gallery that is like a query: its row in what the gallery was made from (from 0), and the cosine between query and vector.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the names say it all")]
pub struct Hit {
    pub row: usize,
    pub place: LatLon,
    pub score: f32,
}

/// Photos with locations and vectors, searched by cosine: everywhere, or within caps.
///
/// The search is exact. A first pass over one byte per number keeps the rows that may be among the best, by a strict bound.
/// Their full vectors decide. Memory holds the index (24 bytes per row) and codes up to 512 MiB. Full vectors, and the
/// codes of larger galleries, are read from the file.
pub struct Gallery {
    pub(crate) description: Description,
    pub(crate) cells: Cells,
    pub(crate) bounds: Vec<RowBound>,
    pub(crate) codes: Store,
    pub(crate) vectors: Store,
}

impl Gallery {
    /// Number of places.
    pub fn len(&self) -> usize {
        self.bounds.len()
    }

    /// Whether there is no place; never true for a gallery that was opened.
    pub fn is_empty(&self) -> bool {
        self.bounds.is_empty()
    }

    /// Numbers of a vector.
    pub fn dimension(&self) -> usize {
        self.description.dimension
    }

    /// What the vectors are.
    pub fn kind(&self) -> Kind {
        self.description.kind
    }

    /// The encoder that made the vectors, where the gallery says so.
    pub fn encoder(&self) -> Option<&Fingerprint> {
        self.description.encoder.as_ref()
    }

    /// The hash of what it was made from.
    pub fn key(&self) -> &str {
        &self.description.key
    }

    /// What tells this gallery from others: its size, and a hash of its places and of how long its vectors' remainders are.
    pub fn identity(&self) -> String {
        let mut hash = XxHash3_128::new();
        for (entry, bound) in self.cells.entries().iter().zip(&self.bounds) {
            hash.write(&entry.to_bytes());
            hash.write(&bound.to_bytes());
        }
        format!("{} places x {}, {:032x}", self.len(), self.dimension(), hash.finish_128())
    }

    /// Bytes that it holds in memory.
    pub fn bytes_in_memory(&self) -> usize {
        self.len() * crate::gallery::folder::INDEX_ROW + self.codes.bytes_in_memory() + self.vectors.bytes_in_memory()
    }

    /// The `most` places whose vectors are most like `query`, best first, within the caps' union. Of equal scores the
    /// lower row comes first. Fails for a query of another size or without a direction, or a file that fails.
    pub fn search(&self, query: &[f32], caps: Option<&[Cap]>, most: usize) -> Result<Vec<Hit>> {
        Ok(self.search_many(&[query], caps, most)?.swap_remove(0))
    }

    /// The same for many queries at once, each with the hits that it has alone; codes pass the processor once for all
    /// of them. Fails as [`Gallery::search`] does; one query that cannot be used fails all.
    pub fn search_many(&self, asked: &[impl AsRef<[f32]>], caps: Option<&[Cap]>, most: usize) -> Result<Vec<Vec<Hit>>> {
        let asked: Vec<Vec<f32>> = asked.iter().map(|query| self.unit(query.as_ref())).collect::<Result<_>>()?;
        let runs = caps.map_or_else(|| std::iter::once(0..self.len()).collect(), |caps| self.cells.within(caps));
        if most == 0 || runs.is_empty() {
            return Ok(vec![Vec::new(); asked.len()]);
        }
        let tasks = tasks(runs);
        let mut found = Vec::with_capacity(asked.len());
        for few in asked.chunks(BATCH) {
            let candidates = self.candidates(few, &tasks, most)?;
            let pairs: Vec<_> = few.iter().zip(candidates).collect();
            // One query takes all cores; of many each takes one.
            let hits = pairs.into_par_iter().map(|(query, candidates)| self.best(query, &candidates, most));
            found.extend(hits.collect::<Result<Vec<_>>>()?);
        }
        Ok(found)
    }

    /// A query as rows are kept: less the mean, of length 1.
    pub(crate) fn unit(&self, query: &[f32]) -> Result<Vec<f32>> {
        if query.len() != self.dimension() {
            return Err(GalleryError::Dimension { got: query.len(), wanted: self.dimension() });
        }
        let mut query = query.to_vec();
        unit(&mut query, &self.description.mean).ok_or(GalleryError::NoDirection { row: 1 })?;
        Ok(query)
    }

    /// The best of the rows at some positions, by their full vectors.
    fn best(&self, query: &[f32], candidates: &[usize], most: usize) -> Result<Vec<Hit>> {
        let scores = self.exact_scores(query, candidates)?;
        let hit = |(at, score): (&usize, f32)| Hit { row: self.row(*at), place: self.place(*at), score };
        let mut hits: Vec<Hit> = candidates.iter().zip(scores).map(hit).collect();
        hits.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.row.cmp(&b.row)));
        hits.truncate(most);
        Ok(hits)
    }

    /// The cosines of the rows at some positions, which rise, by their full vectors.
    pub(crate) fn exact_scores(&self, query: &[f32], positions: &[usize]) -> Result<Vec<f32>> {
        let bytes = self.dimension() * self.description.vectors.bytes();
        // Rows that follow one another are read at once.
        let runs = positions.chunks(TOGETHER).flat_map(|few| few.chunk_by(|a, b| b - a <= SMALL_GAP));
        let runs: Vec<&[usize]> = runs.collect();
        let score = |run: &&[usize]| {
            let first = run[0];
            self.vectors.with(first * bytes..(run[run.len() - 1] + 1) * bytes, |rows| {
                let mut vector = vec![0.0; self.dimension()];
                let mut score = |position: &usize| {
                    self.description.vectors.decode(&rows[(position - first) * bytes..][..bytes], &mut vector);
                    scan::dot(query, &vector)
                };
                run.iter().map(&mut score).collect::<Vec<f32>>()
            })
        };
        Ok(runs.par_iter().with_min_len(16).map(score).collect::<Result<Vec<_>>>()?.concat())
    }

    /// The source's row at a position.
    pub(crate) fn row(&self, position: usize) -> usize {
        self.cells.entries()[position].row as usize
    }

    /// The place at a position.
    pub(crate) fn place(&self, position: usize) -> LatLon {
        self.cells.place(position)
    }

    /// For each query the positions that may be among its `most` best.
    fn candidates(&self, queries: &[Vec<f32>], tasks: &[Task], most: usize) -> Result<Vec<Vec<usize>>> {
        let queries: Vec<QuantisedQuery> = queries.iter().map(|query| QuantisedQuery::new(query)).collect();
        let passes = tasks.par_iter().map(|task| self.first_pass(&queries, task, most)).collect::<Result<Vec<_>>>()?;
        let candidates = (0..queries.len()).into_par_iter().map(|query| {
            // The best lower bounds: at least `most` rows are as good as the last of them.
            let mut floor = Floor::new(most);
            for pass in &passes {
                pass[query].floor.iter().for_each(|bound| floor.offer(*bound));
            }
            let floor = floor.value();
            let uppers = passes.iter().flat_map(|pass| &pass[query].uppers);
            uppers.filter(|(_, upper)| *upper >= floor).map(|(position, _)| *position as usize).collect()
        });
        Ok(candidates.collect())
    }

    /// Bounds on the scores of a task's rows, for each query.
    fn first_pass(&self, queries: &[QuantisedQuery], task: &Task, most: usize) -> Result<Vec<FirstPass>> {
        let (dimension, span) = (self.dimension(), &task.span);
        let codes: Vec<&[i16]> = queries.iter().map(|query| query.codes.as_slice()).collect();
        let mut products = vec![0; queries.len() * span.len()];
        self.codes.with(span.start * dimension..span.end * dimension, |bytes| {
            scan::code_products(bytes, &codes, &mut products);
        })?;
        let products = products.chunks_exact(span.len());
        let mut lowers = vec![0.0; span.len()];
        let mut uppers = vec![0.0; span.len()];
        let mut own = |(query, products): (&QuantisedQuery, &[i32])| {
            let mut floor = Floor::new(most);
            for run in &task.runs {
                let at = run.start - span.start..run.end - span.start;
                // First all numbers, without a branch, then the few that matter.
                let bounds = lowers[at.clone()].iter_mut().zip(&mut uppers[at.clone()]);
                let rows = products[at.clone()].iter().zip(&self.bounds[run.clone()]);
                for ((lower, upper), (product, bound)) in bounds.zip(rows) {
                    let (score, slack) = query.score(*product, *bound);
                    *lower = score - slack;
                    *upper = score + slack;
                }
                for lower in &lowers[at] {
                    floor.offer(*lower);
                }
            }
            // What is not among the best of this task is not among the best of all.
            let least = floor.value();
            let positions = task.runs.iter().flat_map(Clone::clone);
            let kept = positions.map(|position| (position as u32, uppers[position - span.start]));
            let kept = kept.filter(|(_, upper)| *upper >= least).collect();
            FirstPass { uppers: kept, floor: floor.into_values() }
        };
        Ok(queries.iter().zip(products).map(&mut own).collect())
    }
}

/// Rows that are searched together: the runs in a span.
struct Task {
    span: Range<usize>,
    runs: Vec<Range<usize>>,
}

/// Cuts long runs and joins those that almost touch, so that many tiny ones cost few reads.
fn tasks(runs: Vec<Range<usize>>) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    for run in runs {
        let end = run.end;
        for start in run.step_by(BLOCK) {
            let piece = start..(start + BLOCK).min(end);
            match tasks.last_mut() {
                Some(task) if piece.start - task.span.end <= LARGEST_GAP && piece.end - task.span.start <= BLOCK => {
                    task.span.end = piece.end;
                    task.runs.push(piece);
                }
                _ => tasks.push(Task { span: piece.clone(), runs: std::iter::once(piece).collect() }),
            }
        }
    }
    tasks
}

/// What a task found for a query: upper bounds of the rows that may be among the best, and the best lower bounds.
struct FirstPass {
    uppers: Vec<(u32, f32)>,
    floor: Vec<f32>,
}

/// The best few of many numbers.
struct Floor {
    most: usize,
    /// The smallest on top.
    heap: std::collections::BinaryHeap<Reverse<i32>>,
    /// What a number must exceed to get in.
    value: f32,
}

impl Floor {
    fn new(most: usize) -> Self {
        Self { most, heap: std::collections::BinaryHeap::new(), value: f32::NEG_INFINITY }
    }

    fn offer(&mut self, bound: f32) {
        if bound > self.value || self.heap.len() < self.most {
            self.heap.push(Reverse(to_key(bound)));
            if self.heap.len() > self.most {
                self.heap.pop();
            }
            if let Some(Reverse(least)) = self.heap.peek().filter(|_| self.heap.len() == self.most) {
                self.value = from_key(*least);
            }
        }
    }

    /// The last of the best; minus infinity while there are too few.
    fn value(&self) -> f32 {
        self.value
    }

    fn into_values(self) -> Vec<f32> {
        self.heap.into_iter().map(|Reverse(key)| from_key(key)).collect()
    }
}

/// A whole number for each number, in the order of [`f32::total_cmp`].
fn to_key(number: f32) -> i32 {
    let bits = number.to_bits() as i32;
    bits ^ (((bits >> 31) as u32) >> 1) as i32
}

fn from_key(key: i32) -> f32 {
    f32::from_bits((key ^ (((key >> 31) as u32) >> 1) as i32) as u32)
}
