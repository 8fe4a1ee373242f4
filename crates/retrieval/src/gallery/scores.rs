//! The scores of all places of a gallery.

use crate::gallery::{Gallery, GalleryError, Hit, Result, quantised::QuantisedQuery, scan};
use locdiff_shdd::sphere::LatLon;
use rayon::prelude::*;

/// Rows that one task takes.
const BLOCK: usize = 2048;
/// Queries that are scored together.
const BATCH: usize = 16;
/// So many of the best places are scored by their full vectors.
const EXACT: usize = 256;

/// How like a query every place is.
#[derive(Debug, Clone)]
pub struct Scores {
    /// The cosine of every place, in the order of [`Gallery::places`]; right to about 1e-3, of the best ones exactly.
    pub all: Vec<f32>,
    /// The best by their full vectors, best first; of equal scores the lower row comes first.
    pub best: Vec<Hit>,
}

impl Gallery {
    /// The places, in the gallery's own order: those near each other mostly follow one another.
    pub fn places(&self) -> impl Iterator<Item = LatLon> {
        (0..self.len()).map(|position| self.place(position))
    }

    /// How like each query every place is. A query's scores are the same among any others. Fails for a query of another
    /// size or without a direction, a file that fails, vectors that do not go with their codes.
    pub fn score_all(&self, queries: &[impl AsRef<[f32]>]) -> Result<Vec<Scores>> {
        let queries: Vec<Vec<f32>> = queries.iter().map(|query| self.unit(query.as_ref())).collect::<Result<_>>()?;
        let mut found = Vec::with_capacity(queries.len());
        for few in queries.chunks(BATCH) {
            let coarse: Vec<QuantisedQuery> = few.iter().map(|query| QuantisedQuery::new(query)).collect();
            let all = self.by_codes(&coarse)?;
            let pairs: Vec<_> = few.iter().zip(&coarse).zip(all).collect();
            let scores = pairs.into_par_iter().map(|((query, coarse), all)| self.with_best(query, coarse, all));
            found.extend(scores.collect::<Result<Vec<_>>>()?);
        }
        Ok(found)
    }

    /// Scores by codes alone.
    fn by_codes(&self, queries: &[QuantisedQuery]) -> Result<Vec<Vec<f32>>> {
        let (rows, dimension) = (self.len(), self.dimension());
        let codes: Vec<&[i16]> = queries.iter().map(|query| query.codes.as_slice()).collect();
        let starts: Vec<usize> = (0..rows).step_by(BLOCK).collect();
        let blocks = starts.into_par_iter().map(|start| {
            let span = start..(start + BLOCK).min(rows);
            let mut products = vec![0; queries.len() * span.len()];
            self.codes.with(span.start * dimension..span.end * dimension, |bytes| {
                scan::code_products(bytes, &codes, &mut products);
            })?;
            Ok((span, products))
        });
        let blocks: Vec<_> = blocks.collect::<Result<_>>()?;
        let scores = queries.par_iter().enumerate().map(|(number, query)| {
            let mut scores = vec![0.0; rows];
            for (span, products) in &blocks {
                let own = &products[number * span.len()..][..span.len()];
                let bounds = &self.bounds[span.clone()];
                for (score, (product, bound)) in scores[span.clone()].iter_mut().zip(own.iter().zip(bounds)) {
                    *score = query.score(*product, *bound).0;
                }
            }
            scores
        });
        Ok(scores.collect())
    }

    /// The same with those of the best by their full vectors: a few hundred, and all others that may be the first.
    fn with_best(&self, query: &[f32], coarse: &QuantisedQuery, mut all: Vec<f32>) -> Result<Scores> {
        let slack = |position: usize| coarse.score(0, self.bounds[position]).1;
        let mut ordered = all.clone();
        let last = EXACT.min(ordered.len()) - 1;
        let least = *ordered.select_nth_unstable_by(last, |a, b| b.total_cmp(a)).1;
        let mut candidates: Vec<usize> = (0..all.len()).filter(|position| all[*position] >= least).collect();
        let mut exact = self.exact_scores(query, &candidates)?;
        let first = exact.iter().copied().fold(f32::MIN, f32::max);
        let may_be_first = |position: &usize| all[*position] < least && all[*position] + slack(*position) >= first;
        let others: Vec<usize> = (0..all.len()).filter(may_be_first).collect();
        exact.extend(self.exact_scores(query, &others)?);
        candidates.extend(others);
        for (&position, score) in candidates.iter().zip(&exact) {
            // The bound always holds, unless one of the two files was changed.
            if (score - all[position]).abs() > slack(position) + 1e-5 {
                return Err(GalleryError::Damaged { row: self.row(position) + 1 });
            }
            all[position] = *score;
        }
        let hit = |(&at, &score): (&usize, &f32)| Hit { row: self.row(at), place: self.place(at), score };
        let mut best: Vec<Hit> = candidates.iter().zip(&exact).map(hit).collect();
        best.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.row.cmp(&b.row)));
        Ok(Scores { all, best })
    }
}
