//! CLIP's vision transformer on the CPU, in f32.
//!
//! Of the last layer only the class token's row is computed: nothing else of it is used.

use super::{
    config::VitConfig,
    layer::{CHUNK_ROWS, Layer, Pass, Scratch, Workspace},
    weights::{Norm, VitReader},
};
use crate::{
    Result,
    network::Network,
    pixels::{RGB, count_pictures},
    scratch::Pool,
};
use locdiff_nn::inference::{Finish, PackedLinear, layer_norm, padded};
use rayon::prelude::*;

/// Pictures a thread takes at a time.
const GROUP: usize = 8;

/// A CLIP vision tower ready to run on the CPU.
///
/// Its tensors bear their names at Hugging Face, without the prefix `vision_model.`: `embeddings.class_embedding`,
/// `encoder.layers.0.self_attn.q_proj.weight`, …, and `visual_projection.weight`.
pub(crate) struct VisionTransformer {
    config: VitConfig,
    patches: PackedLinear,
    positions: Vec<f32>,
    before: Norm,
    layers: Vec<Layer>,
    after: Norm,
    projection: Option<PackedLinear>,
    workspaces: Pool<Workspace>,
    scratches: Pool<Scratch>,
}

impl VisionTransformer {
    /// A tower whose weights come from `tensor(name, shape)`: f32 values in PyTorch's order.
    ///
    /// # Errors
    /// [`crate::VisionError::Architecture`] for shapes without meaning, and whatever `tensor` fails with.
    pub(crate) fn new(config: &VitConfig, tensor: impl FnMut(&str, &[usize]) -> Result<Vec<f32>>) -> Result<Self> {
        config.check()?;
        let mut reader = VitReader { config, tensor };
        let VitConfig { width, patch, .. } = *config;
        let patches = PackedLinear::new(RGB * patch * patch, &reader.patch_weights()?, &vec![0.0; width]);
        let positions = reader.positions()?;
        let before = reader.norm("pre_layrnorm")?;
        let layers = (0..config.layers).map(|i| Ok(Layer::new(config, reader.layer(i)?))).collect::<Result<_>>()?;
        let after = reader.norm("post_layernorm")?;
        let projection = reader.projection()?;
        Ok(Self {
            config: config.clone(),
            patches,
            positions,
            before,
            layers,
            after,
            projection: projection.map(|weight| PackedLinear::new(width, &weight, &vec![0.0; config.embedding()])),
            workspaces: Pool::default(),
            scratches: Pool::default(),
        })
    }

    fn run(&self, space: &mut Workspace, pictures: &[f32], count: usize, shared: bool) -> Vec<Vec<f32>> {
        let (tokens, stride) = (self.config.tokens(), padded(self.config.width));
        self.embed(space.tokens.window(count * tokens * stride), pictures);
        let pass = Pass { config: &self.config, scratches: &self.scratches, count, shared };
        for (number, layer) in self.layers.iter().enumerate() {
            let queries = if number + 1 == self.layers.len() { 1 } else { tokens };
            pass.run(layer, space, queries);
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
                let patches = scratch.inner.window((tokens - 1) * patch_values);
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
