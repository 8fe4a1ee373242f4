//! A vision transformer on the CPU, in f32, or with the products of its layers in int8.
//!
//! Where the class token is the embedding, only its row of the last layer is computed: nothing else of it is used.

use super::layer::{CHUNK_ROWS, Layer, Pass, Scratch, Workspace};
use super::{config::Pooling, config::VitConfig, names::Names, weights::Norm, weights::VitReader};
use crate::Result;
use crate::network::{Network, Pool, RGB, ReadTensor, count_pictures};
use locdiff_nn::inference::{Finish, PackedLinear, normalise_row, padded};
use rayon::prelude::*;

/// Pictures a thread takes at a time.
const GROUP: usize = 8;

pub(crate) struct VisionTransformer {
    config: VitConfig,
    patches: PackedLinear,
    positions: Vec<f32>,
    before: Option<Norm>,
    layers: Vec<Layer>,
    last: Last,
    projection: Option<PackedLinear>,
    workspaces: Pool<Workspace>,
    scratches: Pool<Scratch>,
}

enum Last {
    Norm(Norm),
    /// The layer that pools; its first norm is the one after the layers.
    Head(Box<Layer>),
}

impl VisionTransformer {
    /// A tower whose weights come from `tensor(name, shape)`: f32 values in PyTorch's order, under these names, and
    /// `visual_projection.weight`. With `int8` the products of its layers have 8 bits.
    pub(crate) fn new(config: &VitConfig, names: &'static Names, int8: bool, tensor: impl ReadTensor) -> Result<Self> {
        config.check()?;
        let mut reader = VitReader { config, names, tensor };
        let VitConfig { width, patch, .. } = *config;
        let patches = PackedLinear::new(RGB * patch * patch, &reader.patch_weights()?, &vec![0.0; width]);
        let positions = reader.positions()?;
        let before = reader.before()?;
        let layers =
            (0..config.layers).map(|i| Ok(Layer::new(config, reader.layer(i)?, int8))).collect::<Result<_>>()?;
        let last = match config.pooling {
            Pooling::Attention => Last::Head(Box::new(Layer::new(config, reader.pooling_head()?, int8))),
            _ => Last::Norm(reader.after()?),
        };
        let project = |weight: Vec<f32>| PackedLinear::new(width, &weight, &vec![0.0; config.embedding()]);
        let (projection, config) = (reader.projection()?.map(project), config.clone());
        let (workspaces, scratches) = Default::default();
        Ok(Self { config, patches, positions, before, layers, last, projection, workspaces, scratches })
    }

    fn run(&self, space: &mut Workspace, pictures: &[f32], count: usize, shared: bool) -> Vec<Vec<f32>> {
        let (tokens, stride) = (self.config.tokens(), padded(self.config.width));
        self.embed(space.tokens.window(count * tokens * stride), pictures, shared);
        let pass = Pass { config: &self.config, scratches: &self.scratches, count, shared };
        for (number, layer) in self.layers.iter().enumerate() {
            let only_class = number + 1 == self.layers.len() && self.config.pooling == Pooling::Class;
            pass.run(layer, space, if only_class { 1 } else { tokens });
        }
        if let Last::Head(head) = &self.last {
            pass.run(head, space, 1);
        }
        let left = match self.config.pooling {
            Pooling::Class | Pooling::Attention => 1,
            Pooling::Mean | Pooling::ClassAndMean => tokens,
        };
        space.tokens[..count * left * stride].chunks_exact(left * stride).map(|rows| self.finish(rows)).collect()
    }

    /// Patches as rows, with their positions and the class token, through the first layer norm where there is one.
    fn embed(&self, rows: &mut [f32], pictures: &[f32], shared: bool) {
        let product = if shared { PackedLinear::run_shared } else { PackedLinear::run };
        let VitConfig { side, patch, width, eps, .. } = self.config;
        let (tokens, stride, across) = (self.config.tokens(), padded(width), side / patch);
        let (classes, places) = (self.config.class_tokens(), self.config.patches());
        let (row_values, patch_values) = (side * RGB, patch * patch * RGB);
        let pictures = pictures.par_chunks_exact(side * row_values);
        rows.par_chunks_exact_mut(tokens * stride).zip(pictures).for_each(|(rows, picture)| {
            self.scratches.with(|scratch| {
                let patches = scratch.inner.window(places * patch_values);
                for (p, values) in patches.chunks_exact_mut(patch_values).enumerate() {
                    let first = p / across * patch * row_values + p % across * patch * RGB;
                    for (y, to) in values.chunks_exact_mut(patch * RGB).enumerate() {
                        to.copy_from_slice(&picture[first + y * row_values..][..patch * RGB]);
                    }
                }
                let (class, rest) = rows.split_at_mut(classes * stride);
                class.fill(0.0);
                for first in (0..places).step_by(CHUNK_ROWS) {
                    let chunk = CHUNK_ROWS.min(places - first);
                    let (from, to) = (&patches[first * patch_values..], &mut rest[first * stride..]);
                    product(&self.patches, chunk, from, patch_values, to, stride, Finish::Store);
                }
            });
            let mut sum = vec![0.0; width];
            for (row, position) in rows.chunks_exact_mut(stride).zip(self.positions.chunks_exact(width)) {
                for ((sum, value), position) in sum.iter_mut().zip(&*row).zip(position) {
                    *sum = value + position;
                }
                match &self.before {
                    Some(norm) => normalise_row(&mut row[..width], &sum, &norm.gain, &norm.shift, eps),
                    None => row[..width].copy_from_slice(&sum),
                }
            }
        });
    }

    fn finish(&self, rows: &[f32]) -> Vec<f32> {
        let VitConfig { width, eps, pooling, .. } = self.config;
        let Last::Norm(after) = &self.last else { return rows[..width].to_vec() };
        let mut rows = rows.chunks_exact(padded(width)).map(|row| {
            let mut normed = vec![0.0; width];
            normalise_row(&mut normed, &row[..width], &after.gain, &after.shift, eps);
            normed
        });
        let mut pooled = if pooling == Pooling::Mean { Vec::new() } else { rows.next().unwrap_or_default() };
        if pooling != Pooling::Class {
            let patches = rows.skip(usize::from(pooling == Pooling::Mean) * self.config.class_tokens());
            let mut sums = vec![0.0; width];
            patches.for_each(|row| sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value));
            let count = self.config.patches() as f32;
            pooled.extend(sums.into_iter().map(|sum| sum / count));
        }
        let Some(projection) = &self.projection else { return pooled };
        let mut embedding = vec![0.0; projection.width()];
        projection.run(1, &pooled, width, &mut embedding, projection.width(), Finish::Store);
        embedding.truncate(self.config.embedding());
        embedding
    }
}

impl Network for VisionTransformer {
    fn embedding(&self) -> usize {
        self.config.embedding()
    }

    fn batch(&self) -> usize {
        GROUP * rayon::current_num_threads()
    }

    fn forward(&self, pictures: &[f32], _side: usize) -> Result<Vec<Vec<f32>>> {
        let (side, threads) = (self.config.side, rayon::current_num_threads());
        let (one, count) = (side * side * RGB, count_pictures(pictures, side, side)?);
        if count == 0 {
            return Ok(Vec::new());
        }
        // Whole groups on threads of their own need no waiting; with fewer pictures than threads, threads share one.
        let alone = count >= threads;
        let group = if alone { count.div_ceil(threads).min(GROUP) } else { count };
        let run =
            |pictures: &[f32]| self.workspaces.with(|space| self.run(space, pictures, pictures.len() / one, !alone));
        let groups: Vec<Vec<Vec<f32>>> = pictures.par_chunks(group * one).map(run).collect();
        Ok(groups.concat())
    }
}
