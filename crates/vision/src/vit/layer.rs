//! One layer of a vision transformer on the CPU.
//!
//! Everything but attention works row by row, so a chunk of rows goes through a whole half of a layer on one thread, and
//! only attention needs the others. Where threads share few pictures, all rows are one chunk, and each product is shared.

use super::{config::VitConfig, weights::Dense, weights::LayerWeights, weights::Norm};
use crate::network::Pool;
use locdiff_nn::inference::{Aligned, Finish, PackedLinear, normalise_row, padded, soften_row};
use rayon::prelude::*;

/// Rows that go through a layer together. Each chunk reads all weights of the layer from memory, so few large chunks are
/// better than many that fit the caches: 400 rows take 8 % less time than 128 for ViT-B/32.
pub(super) const CHUNK_ROWS: usize = 512;

pub(super) struct Layer {
    norm1: Norm,
    /// Scaled, so that scores need no factor.
    query: PackedLinear,
    key_value: PackedLinear,
    out: PackedLinear,
    norm2: Norm,
    fc1: PackedLinear,
    fc2: PackedLinear,
    /// What the first half does to its sums.
    joins: Finish,
}

impl Layer {
    /// `int8` gives its products 8 bits.
    pub(super) fn new(config: &VitConfig, weights: LayerWeights, int8: bool) -> Self {
        let pack = if int8 { PackedLinear::int8 } else { PackedLinear::new };
        let linear = |inputs, dense: Dense| pack(inputs, &dense.weight, &dense.bias);
        let VitConfig { width, inner, .. } = *config;
        let scale = 1.0 / (config.head() as f32).sqrt();
        let mut query = weights.query;
        query.weight.iter_mut().chain(&mut query.bias).for_each(|value| *value *= scale);
        Self {
            norm1: weights.norm1,
            query: linear(width, query),
            key_value: linear(width, weights.key_value),
            out: linear(width, weights.out),
            norm2: weights.norm2,
            fc1: linear(width, weights.fc1),
            fc2: linear(inner, weights.fc2),
            joins: if weights.replaces { Finish::Store } else { Finish::Add },
        }
    }
}

/// The rows of a group of pictures between two halves of a layer.
#[derive(Default)]
pub(super) struct Workspace {
    pub(super) tokens: Aligned,
    query: Aligned,
    key_value: Aligned,
    /// By picture and head, `[queries, padded(head)]`.
    attended: Aligned,
}

/// What one thread needs for a chunk of rows or a head.
#[derive(Default)]
pub(super) struct Scratch {
    normed: Aligned,
    pub(super) inner: Aligned,
    scores: Aligned,
    packed: PackedLinear,
}

/// A group of pictures on its way through the layers.
pub(super) struct Pass<'a> {
    pub(super) config: &'a VitConfig,
    pub(super) scratches: &'a Pool<Scratch>,
    pub(super) count: usize,
    /// Whether threads share the group; else it stays on the one that calls.
    pub(super) shared: bool,
}

impl Pass<'_> {
    /// One layer, in place in `space.tokens`; with `queries` = 1 for the first token alone, whose rows are then the only
    /// ones left there.
    pub(super) fn run(&self, layer: &Layer, space: &mut Workspace, queries: usize) {
        self.attend(layer, space, queries);
        self.finish(layer, space, queries);
    }

    /// The first half of a layer, up to the heads' results.
    fn attend(&self, layer: &Layer, space: &mut Workspace, queries: usize) {
        let Self { config, scratches, count, shared } = *self;
        let VitConfig { width, heads, .. } = *config;
        let (tokens, stride) = (config.tokens(), padded(width));
        let (head, head_stride) = (config.head(), padded(config.head()));
        let kv_stride = layer.key_value.width();
        let rows = count * tokens;
        let query = space.query.window(rows * stride);
        let key_value = space.key_value.window(rows * kv_stride);
        let chunk = chunk_rows(rows, shared);
        let pieces = query.chunks_mut(chunk * stride).zip(key_value.chunks_mut(chunk * kv_stride));
        for ((query, key_value), input) in pieces.zip(space.tokens[..rows * stride].chunks(chunk * stride)) {
            scratches.with(|scratch| {
                let normed = self.normed(&mut scratch.normed, input, &layer.norm1);
                self.product(&layer.key_value, (normed, stride), (key_value, kv_stride), Finish::Store);
                if queries == tokens {
                    self.product(&layer.query, (normed, stride), (query, stride), Finish::Store);
                }
            });
        }
        if queries < tokens {
            for picture in 1..count {
                space.tokens.copy_within(picture * tokens * stride..(picture * tokens + 1) * stride, picture * stride);
            }
            scratches.with(|scratch| {
                let input = &space.tokens[..count * stride];
                let normed = self.normed(&mut scratch.normed, input, &layer.norm1);
                self.product(&layer.query, (normed, stride), (query, stride), Finish::Store);
            });
        }
        let attended = space.attended.window(count * heads * queries * head_stride);
        let work = |(number, out): (usize, &mut [f32])| {
            let (picture, first) = (number / heads, number % heads * head);
            let query = &query[picture * queries * stride + first..];
            let key_value = &key_value[picture * tokens * kv_stride + first..];
            scratches.with(|scratch| {
                let Scratch { scores, packed, .. } = scratch;
                packed.pack_outputs(head, tokens, key_value, kv_stride);
                let score_stride = packed.width();
                let scores = scores.window(queries * score_stride);
                packed.run(queries, query, stride, scores, score_stride, Finish::Store);
                scores.chunks_exact_mut(score_stride).for_each(|row| soften_row(&mut row[..tokens]));
                packed.pack_inputs(tokens, head, &key_value[width..], kv_stride);
                packed.run(queries, scores, score_stride, out, head_stride, Finish::Store);
            });
        };
        self.each(attended, queries * head_stride, work);
    }

    /// From the heads' results to the end of a layer, in place in `space.tokens`.
    fn finish(&self, layer: &Layer, space: &mut Workspace, queries: usize) {
        let Self { config, scratches, count, shared } = *self;
        let VitConfig { width, heads, activation, .. } = *config;
        let (stride, inner_stride) = (padded(width), layer.fc1.width());
        let (head, head_stride) = (config.head(), padded(config.head()));
        let rows = count * queries;
        let chunk = chunk_rows(rows, shared);
        let attended = &space.attended;
        for (number, tokens) in space.tokens[..rows * stride].chunks_mut(chunk * stride).enumerate() {
            scratches.with(|scratch| {
                let rows = tokens.len() / stride;
                let joined = scratch.inner.window(rows * stride);
                let join = |(i, row): (usize, &mut [f32])| {
                    let (picture, query) = ((number * chunk + i) / queries, (number * chunk + i) % queries);
                    for h in 0..heads {
                        let from = &attended[((picture * heads + h) * queries + query) * head_stride..][..head];
                        row[h * head..][..head].copy_from_slice(from);
                    }
                };
                self.each(joined, stride, join);
                self.product(&layer.out, (joined, stride), (tokens, stride), layer.joins);
                let normed = self.normed(&mut scratch.normed, tokens, &layer.norm2);
                let inner = scratch.inner.window(rows * inner_stride);
                self.product(&layer.fc1, (normed, stride), (inner, inner_stride), Finish::Activate(activation));
                self.product(&layer.fc2, (inner, inner_stride), (tokens, stride), Finish::Add);
            });
        }
    }

    fn product(
        &self,
        layer: &PackedLinear,
        (input, stride): (&[f32], usize),
        (out, out_stride): (&mut [f32], usize),
        finish: Finish,
    ) {
        let run = if self.shared { PackedLinear::run_shared } else { PackedLinear::run };
        run(layer, input.len() / stride, input, stride, out, out_stride, finish);
    }

    fn normed<'a>(&self, buffer: &'a mut Aligned, rows: &[f32], norm: &Norm) -> &'a [f32] {
        let (width, stride) = (self.config.width, padded(self.config.width));
        let normed = buffer.window(rows.len());
        self.each(normed, stride, |(i, out)| {
            normalise_row(&mut out[..width], &rows[i * stride..][..width], &norm.gain, &norm.shift, self.config.eps);
        });
        normed
    }

    /// Some work for each piece of so many values, with its number; by all threads where they share.
    fn each(&self, values: &mut [f32], size: usize, work: impl Fn((usize, &mut [f32])) + Send + Sync) {
        if self.shared {
            values.par_chunks_exact_mut(size).enumerate().for_each(work);
        } else {
            values.chunks_exact_mut(size).enumerate().for_each(work);
        }
    }
}

/// Rows of a chunk: even shares of at most [`CHUNK_ROWS`], or all where threads share them.
fn chunk_rows(rows: usize, shared: bool) -> usize {
    if shared { rows } else { rows.div_ceil(rows.div_ceil(CHUNK_ROWS)) }
}
