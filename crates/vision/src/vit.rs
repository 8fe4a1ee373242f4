//! CLIP's vision transformer on the CPU, in f32.
//!
//! Everything but attention works row by row, so a chunk of rows goes through a whole half of a layer on one thread, and
//! only attention needs the others. Of the last layer only the class token's row is computed: nothing else of it is used.

use crate::{
    Result, VisionError, VitConfig,
    linear::{Finish, Linear},
    network::Network,
    pointwise::padded,
    rows::{layer_norm, softmax},
    vit_config::{Dense, LayerWeights, Norm, VitReader},
};
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

const RGB: usize = 3;
/// Rows that go through a layer together. Each chunk reads all weights of the layer from memory, so few large chunks are
/// better than many that fit the caches: 400 rows take 8 % less time than 128 for ViT-B/32.
const CHUNK_ROWS: usize = 512;
/// Rows of a tile; chunks are multiples of it.
const TILE_ROWS: usize = 8;
/// Pictures a thread takes at a time.
const GROUP: usize = 8;

struct Layer {
    norm1: Norm,
    /// Scaled, so that scores need no factor.
    query: Linear,
    key_value: Linear,
    out: Linear,
    norm2: Norm,
    fc1: Linear,
    fc2: Linear,
}

/// A CLIP vision tower ready to run on the CPU.
///
/// Its tensors bear their names at Hugging Face, without the prefix `vision_model.`: `embeddings.class_embedding`,
/// `encoder.layers.0.self_attn.q_proj.weight`, …, and `visual_projection.weight`.
pub struct VisionTransformer {
    config: VitConfig,
    patches: Linear,
    positions: Vec<f32>,
    before: Norm,
    layers: Vec<Layer>,
    after: Norm,
    projection: Option<Linear>,
    workspaces: Pool<Workspace>,
    scratches: Pool<Scratch>,
}

/// Buffers not in use: touching fresh memory takes time.
struct Pool<T>(Mutex<Vec<T>>);

impl<T: Default> Pool<T> {
    fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let idle = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut one = idle().pop().unwrap_or_default();
        let result = work(&mut one);
        idle().push(one);
        result
    }
}

/// The rows of a group of pictures between two halves of a layer.
#[derive(Default)]
struct Workspace {
    tokens: Vec<f32>,
    query: Vec<f32>,
    key_value: Vec<f32>,
    /// By picture and head, `[queries, padded(head)]`.
    attended: Vec<f32>,
}

/// What one thread needs for a chunk of rows or a head.
#[derive(Default)]
struct Scratch {
    normed: Vec<f32>,
    inner: Vec<f32>,
    scores: Vec<f32>,
    packed: Linear,
}

/// The first `len` values of a buffer that grows as needed.
fn window(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
    &mut buffer[..len]
}

impl VisionTransformer {
    /// A tower whose weights come from `tensor(name, shape)`: f32 values in PyTorch's order.
    ///
    /// # Errors
    /// [`VisionError::Architecture`] for shapes without meaning, and whatever `tensor` fails with.
    pub fn new(config: &VitConfig, tensor: impl FnMut(&str, &[usize]) -> Result<Vec<f32>>) -> Result<Self> {
        config.check()?;
        let mut reader = VitReader { config, tensor };
        let linear = |inputs, dense: Dense| Linear::new(inputs, &dense.weight, &dense.bias);
        let VitConfig { width, inner, patch, .. } = *config;
        let layer = |weights: LayerWeights| {
            let scale = 1.0 / (config.head() as f32).sqrt();
            let mut query = weights.query;
            query.weight.iter_mut().chain(&mut query.bias).for_each(|value| *value *= scale);
            Layer {
                norm1: weights.norm1,
                query: linear(width, query),
                key_value: linear(width, weights.key_value),
                out: linear(width, weights.out),
                norm2: weights.norm2,
                fc1: linear(width, weights.fc1),
                fc2: linear(inner, weights.fc2),
            }
        };
        let patches = Linear::new(RGB * patch * patch, &reader.patch_weights()?, &vec![0.0; width]);
        let positions = reader.positions()?;
        let before = reader.norm("pre_layrnorm")?;
        let layers = (0..config.layers).map(|i| Ok(layer(reader.layer(i)?))).collect::<Result<_>>()?;
        let after = reader.norm("post_layernorm")?;
        let projection = reader.projection()?;
        Ok(Self {
            config: config.clone(),
            patches,
            positions,
            before,
            layers,
            after,
            projection: projection.map(|weight| Linear::new(width, &weight, &vec![0.0; config.embedding()])),
            workspaces: Pool(Mutex::default()),
            scratches: Pool(Mutex::default()),
        })
    }

    /// The tower's shape.
    pub fn config(&self) -> &VitConfig {
        &self.config
    }

    /// The embeddings of pictures of normalised RGB values, one after another, on all threads.
    ///
    /// # Shapes
    /// `[n, side, side, 3]` to `n` vectors of [`VitConfig::embedding`] values.
    ///
    /// # Errors
    /// [`VisionError::InputSize`] unless `pictures` holds a whole number of pictures.
    pub fn forward(&self, pictures: &[f32]) -> Result<Vec<Vec<f32>>> {
        let one = self.config.side * self.config.side * RGB;
        if !pictures.len().is_multiple_of(one) {
            let what = format!("pictures of {0}×{0} RGB pixels (or a multiple)", self.config.side);
            return Err(VisionError::InputSize { what, wanted: one, got: pictures.len() });
        }
        let (count, threads) = (pictures.len() / one, rayon::current_num_threads());
        if count == 0 {
            return Ok(Vec::new());
        }
        // Whole groups on threads of their own need no waiting; with fewer pictures than threads, threads share one.
        let alone = count >= threads;
        let group = if alone { count.div_ceil(threads).min(GROUP) } else { count };
        let run = |pictures: &[f32]| {
            self.workspaces.with(|space| self.run(space, pictures, pictures.len() / one, !alone))
        };
        let groups: Vec<Vec<Vec<f32>>> = pictures.par_chunks(group * one).map(run).collect();
        Ok(groups.concat())
    }

    fn run(&self, space: &mut Workspace, pictures: &[f32], count: usize, shared: bool) -> Vec<Vec<f32>> {
        let (tokens, stride) = (self.config.tokens(), padded(self.config.width));
        self.embed(window(&mut space.tokens, count * tokens * stride), pictures);
        for (number, layer) in self.layers.iter().enumerate() {
            let queries = if number + 1 == self.layers.len() { 1 } else { tokens };
            self.attend(space, layer, count, queries, shared);
            self.finish_layer(space, layer, count, queries, shared);
        }
        space.tokens[..count * stride].chunks_exact(stride).map(|row| self.finish(row)).collect()
    }

    /// Patches as rows, with their positions and the class token, through the first layer norm.
    fn embed(&self, rows: &mut [f32], pictures: &[f32]) {
        let VitConfig { side, patch, width, eps, .. } = self.config;
        let (tokens, stride, across) = (self.config.tokens(), padded(width), side / patch);
        let (row_values, patch_values) = (side * RGB, patch * patch * RGB);
        let pictures = pictures.par_chunks_exact(side * row_values);
        rows.par_chunks_exact_mut(tokens * stride).zip(pictures).for_each(|(rows, picture)| {
            self.scratches.with(|scratch| {
                let patches = window(&mut scratch.inner, (tokens - 1) * patch_values);
                for (p, values) in patches.chunks_exact_mut(patch_values).enumerate() {
                    let first = p / across * patch * row_values + p % across * patch * RGB;
                    for (y, to) in values.chunks_exact_mut(patch * RGB).enumerate() {
                        to.copy_from_slice(&picture[first + y * row_values..][..patch * RGB]);
                    }
                }
                let (class, rest) = rows.split_at_mut(stride);
                class.fill(0.0);
                for first in (0..tokens - 1).step_by(CHUNK_ROWS) {
                    let chunk = CHUNK_ROWS.min(tokens - 1 - first);
                    let (from, to) = (&patches[first * patch_values..], &mut rest[first * stride..]);
                    self.patches.run(chunk, from, patch_values, to, stride, Finish::Store);
                }
            });
            let mut sum = vec![0.0; width];
            for (row, position) in rows.chunks_exact_mut(stride).zip(self.positions.chunks_exact(width)) {
                for ((sum, value), position) in sum.iter_mut().zip(&*row).zip(position) {
                    *sum = value + position;
                }
                layer_norm(&mut row[..width], &sum, &self.before.gain, &self.before.shift, eps);
            }
        });
    }

    /// The first half of a layer up to the heads' results; with `queries` = 1 for the class token alone, whose rows are
    /// then the only ones left in `space.tokens`.
    fn attend(&self, space: &mut Workspace, layer: &Layer, count: usize, queries: usize, shared: bool) {
        let VitConfig { width, heads, .. } = self.config;
        let (tokens, stride) = (self.config.tokens(), padded(width));
        let (head, head_stride) = (self.config.head(), padded(self.config.head()));
        let kv_stride = layer.key_value.width();
        let rows = count * tokens;
        let query = window(&mut space.query, rows * stride);
        let key_value = window(&mut space.key_value, rows * kv_stride);
        let chunk = chunk_rows(rows, shared);
        let work = |((query, key_value), input): ((&mut [f32], &mut [f32]), &[f32])| {
            self.scratches.with(|scratch| {
                let rows = input.len() / stride;
                let normed = self.normed(&mut scratch.normed, input, &layer.norm1);
                layer.key_value.run(rows, normed, stride, key_value, kv_stride, Finish::Store);
                if queries == tokens {
                    layer.query.run(rows, normed, stride, query, stride, Finish::Store);
                }
            });
        };
        let input = &space.tokens[..rows * stride];
        if shared {
            let pieces =
                query.par_chunks_mut(chunk * stride).zip(key_value.par_chunks_mut(chunk * kv_stride));
            pieces.zip(input.par_chunks(chunk * stride)).for_each(work);
        } else {
            let pieces = query.chunks_mut(chunk * stride).zip(key_value.chunks_mut(chunk * kv_stride));
            pieces.zip(input.chunks(chunk * stride)).for_each(work);
        }
        if queries < tokens {
            for picture in 1..count {
                space.tokens.copy_within(
                    picture * tokens * stride..(picture * tokens + 1) * stride,
                    picture * stride,
                );
            }
            self.scratches.with(|scratch| {
                let input = &space.tokens[..count * stride];
                let normed = self.normed(&mut scratch.normed, input, &layer.norm1);
                layer.query.run(count, normed, stride, query, stride, Finish::Store);
            });
        }
        let attended = window(&mut space.attended, count * heads * queries * head_stride);
        let work = |(number, out): (usize, &mut [f32])| {
            let (picture, first) = (number / heads, number % heads * head);
            let query = &query[picture * queries * stride + first..];
            let key_value = &key_value[picture * tokens * kv_stride + first..];
            self.scratches.with(|scratch| {
                let Scratch { scores, packed, .. } = scratch;
                packed.pack_outputs(head, tokens, |token| &key_value[token * kv_stride..]);
                let score_stride = packed.width();
                let scores = window(scores, queries * score_stride);
                packed.run(queries, query, stride, scores, score_stride, Finish::Store);
                scores.chunks_exact_mut(score_stride).for_each(|row| softmax(&mut row[..tokens]));
                packed.pack_inputs(tokens, head, |token| &key_value[token * kv_stride + width..]);
                packed.run(queries, scores, score_stride, out, head_stride, Finish::Store);
            });
        };
        if shared {
            attended.par_chunks_exact_mut(queries * head_stride).enumerate().for_each(work);
        } else {
            attended.chunks_exact_mut(queries * head_stride).enumerate().for_each(work);
        }
    }

    /// From the heads' results to the end of a layer, in place in `space.tokens`.
    fn finish_layer(&self, space: &mut Workspace, layer: &Layer, count: usize, queries: usize, shared: bool) {
        let VitConfig { width, heads, activation, .. } = self.config;
        let (stride, inner_stride) = (padded(width), layer.fc1.width());
        let (head, head_stride) = (self.config.head(), padded(self.config.head()));
        let rows = count * queries;
        let chunk = chunk_rows(rows, shared);
        let attended = &space.attended;
        let work = |(number, tokens): (usize, &mut [f32])| {
            self.scratches.with(|scratch| {
                let rows = tokens.len() / stride;
                let joined = window(&mut scratch.inner, rows * stride);
                for (i, row) in joined.chunks_exact_mut(stride).enumerate() {
                    let (picture, query) = ((number * chunk + i) / queries, (number * chunk + i) % queries);
                    for h in 0..heads {
                        let from =
                            &attended[((picture * heads + h) * queries + query) * head_stride..][..head];
                        row[h * head..][..head].copy_from_slice(from);
                    }
                }
                layer.out.run(rows, joined, stride, tokens, stride, Finish::Add);
                let normed = self.normed(&mut scratch.normed, tokens, &layer.norm2);
                let inner = window(&mut scratch.inner, rows * inner_stride);
                layer.fc1.run(rows, normed, stride, inner, inner_stride, Finish::Activate(activation));
                layer.fc2.run(rows, inner, inner_stride, tokens, stride, Finish::Add);
            });
        };
        let tokens = &mut space.tokens[..rows * stride];
        if shared {
            tokens.par_chunks_mut(chunk * stride).enumerate().for_each(work);
        } else {
            tokens.chunks_mut(chunk * stride).enumerate().for_each(work);
        }
    }

    /// Layer norm of rows into `buffer`.
    fn normed<'a>(&self, buffer: &'a mut Vec<f32>, rows: &[f32], norm: &Norm) -> &'a [f32] {
        let (width, stride) = (self.config.width, padded(self.config.width));
        let normed = window(buffer, rows.len());
        for (out, row) in normed.chunks_exact_mut(stride).zip(rows.chunks_exact(stride)) {
            layer_norm(&mut out[..width], &row[..width], &norm.gain, &norm.shift, self.config.eps);
        }
        normed
    }

    /// The embedding from the class token's last row.
    fn finish(&self, row: &[f32]) -> Vec<f32> {
        let VitConfig { width, eps, .. } = self.config;
        let mut class = vec![0.0; width];
        layer_norm(&mut class, &row[..width], &self.after.gain, &self.after.shift, eps);
        let Some(projection) = &self.projection else { return class };
        let mut embedding = vec![0.0; projection.width()];
        projection.run(1, &class, width, &mut embedding, projection.width(), Finish::Store);
        embedding.truncate(self.config.embedding());
        embedding
    }
}

/// Rows of a chunk: even shares of at most [`CHUNK_ROWS`], one for each thread where they share the work.
fn chunk_rows(rows: usize, shared: bool) -> usize {
    let least = if shared { rayon::current_num_threads() } else { 1 };
    rows.div_ceil(rows.div_ceil(CHUNK_ROWS).max(least)).next_multiple_of(TILE_ROWS)
}

impl Network for VisionTransformer {
    fn embedding(&self) -> usize {
        self.config.embedding()
    }

    fn batch(&self) -> usize {
        GROUP * rayon::current_num_threads()
    }

    fn forward(&self, pictures: &[f32], _side: usize) -> Result<Vec<Vec<f32>>> {
        VisionTransformer::forward(self, pictures)
    }
}
