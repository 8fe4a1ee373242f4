//! The weights of vision transformers, layer by layer, by one form whatever their files call and join.

use super::{config::VitConfig, names::Attention, names::Names, positions::interpolated};
use crate::{Result, network::RGB, network::ReadTensor, network::colours_last};

/// Weights and bias of a product, PyTorch's order: `weight[o * inputs + i]`.
pub(crate) struct Dense {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

impl Dense {
    /// A factor for each output.
    fn scaled(mut self, factors: &[f32]) -> Self {
        let inputs = self.weight.len() / factors.len();
        for ((row, bias), factor) in self.weight.chunks_exact_mut(inputs).zip(&mut self.bias).zip(factors) {
            row.iter_mut().chain([bias]).for_each(|value| *value *= factor);
        }
        self
    }
}

pub(crate) struct Norm {
    pub(crate) gain: Vec<f32>,
    pub(crate) shift: Vec<f32>,
}

/// The weights of one layer. Keys and values are one product; factors after a half are in its last product.
pub(crate) struct LayerWeights {
    pub(crate) norm1: Norm,
    pub(crate) query: Dense,
    pub(crate) key_value: Dense,
    pub(crate) out: Dense,
    pub(crate) norm2: Norm,
    pub(crate) fc1: Dense,
    pub(crate) fc2: Dense,
    /// Whether the layer's result is not added to what came in.
    pub(crate) replaces: bool,
}

pub(crate) struct VitReader<'a, T> {
    pub(crate) config: &'a VitConfig,
    pub(crate) names: &'static Names,
    pub(crate) tensor: T,
}

impl<T: ReadTensor> VitReader<'_, T> {
    /// The patches' weights, each output's in the order of an NHWC picture: (row, column, colour).
    pub(crate) fn patch_weights(&mut self) -> Result<Vec<f32>> {
        let VitConfig { width, patch, .. } = *self.config;
        let planes = (self.tensor)(&format!("{}.weight", self.names.patches), &[width, RGB, patch, patch])?;
        Ok(colours_last(&planes, patch * patch))
    }

    /// The rows that patches are added to, `[tokens, width]`: class token and positions, and the bias of the patches.
    pub(crate) fn positions(&mut self) -> Result<Vec<f32>> {
        let VitConfig { width, side, patch, grid, .. } = *self.config;
        let classes = self.config.class_tokens();
        let Names { class, positions, ones: [class_ones, position_ones], patches, .. } = self.names;
        let shape = |ones: usize, shape: &[usize]| [&[1].repeat(ones), shape].concat();
        let mut learned = (self.tensor)(positions, &shape(*position_ones, &[grid * grid + classes, width]))?;
        let mut rows = interpolated(&learned.split_off(classes * width), grid, side / patch, width);
        if self.names.patches_have_bias {
            let bias = (self.tensor)(&format!("{patches}.bias"), &[width])?;
            rows.iter_mut().zip(bias.iter().cycle()).for_each(|(value, bias)| *value += bias);
        }
        if classes > 0 {
            let class = (self.tensor)(class, &shape(*class_ones, &[width]))?;
            learned.iter_mut().zip(class).for_each(|(position, class)| *position += class);
        }
        learned.extend(rows);
        Ok(learned)
    }

    pub(crate) fn before(&mut self) -> Result<Option<Norm>> {
        let name = self.names.before;
        self.config.norm_before.then(|| self.norm(name)).transpose()
    }

    pub(crate) fn after(&mut self) -> Result<Norm> {
        self.norm(self.names.after)
    }

    fn norm(&mut self, name: &str) -> Result<Norm> {
        let shape = [self.config.width];
        let gain = (self.tensor)(&format!("{name}.weight"), &shape)?;
        Ok(Norm { gain, shift: (self.tensor)(&format!("{name}.bias"), &shape)? })
    }

    fn dense(&mut self, name: &str, inputs: usize, outputs: usize) -> Result<Dense> {
        let weight = (self.tensor)(&format!("{name}.weight"), &[outputs, inputs])?;
        Ok(Dense { weight, bias: (self.tensor)(&format!("{name}.bias"), &[outputs])? })
    }

    fn attention(&mut self, before: &str, attention: Attention) -> Result<(Dense, Dense)> {
        let width = self.config.width;
        match attention {
            Attention::Three([query, key, value]) => {
                let mut key_value = self.dense(&format!("{before}.{key}"), width, width)?;
                let value = self.dense(&format!("{before}.{value}"), width, width)?;
                key_value.weight.extend(value.weight);
                key_value.bias.extend(value.bias);
                Ok((self.dense(&format!("{before}.{query}"), width, width)?, key_value))
            }
            Attention::One(name) => {
                let mut weight = (self.tensor)(&format!("{before}.{name}.in_proj_weight"), &[3 * width, width])?;
                let mut bias = (self.tensor)(&format!("{before}.{name}.in_proj_bias"), &[3 * width])?;
                let key_value = Dense { weight: weight.split_off(width * width), bias: bias.split_off(width) };
                Ok((Dense { weight, bias }, key_value))
            }
        }
    }

    pub(crate) fn layer(&mut self, number: usize) -> Result<LayerWeights> {
        let VitConfig { width, inner, layer_scale, .. } = *self.config;
        let Names { layers, norm1, attention, out, norm2, fc1, fc2, scales, .. } = self.names;
        let name = format!("{layers}.{number}");
        let (query, key_value) = self.attention(&name, *attention)?;
        let norm1 = self.norm(&format!("{name}.{norm1}"))?;
        let mut out = self.dense(&format!("{name}.{out}"), width, width)?;
        let norm2 = self.norm(&format!("{name}.{norm2}"))?;
        let fc1 = self.dense(&format!("{name}.{fc1}"), width, inner)?;
        let mut fc2 = self.dense(&format!("{name}.{fc2}"), inner, width)?;
        if layer_scale {
            out = out.scaled(&(self.tensor)(&format!("{name}.{}", scales[0]), &[width])?);
            fc2 = fc2.scaled(&(self.tensor)(&format!("{name}.{}", scales[1]), &[width])?);
        }
        Ok(LayerWeights { norm1, query, key_value, out, norm2, fc1, fc2, replaces: false })
    }

    /// SigLIP's pooling, as a layer of one token: its query is the same for all pictures, and nothing comes in but keys and
    /// values, through the norm after the layers.
    pub(crate) fn pooling_head(&mut self) -> Result<LayerWeights> {
        let VitConfig { width, inner, .. } = *self.config;
        let probe = (self.tensor)("head.probe", &[1, 1, width])?;
        let (mut query, key_value) = self.attention("head", Attention::One("attention"))?;
        for (row, bias) in query.weight.chunks_exact_mut(width).zip(&mut query.bias) {
            let sum: f64 = row.iter().zip(&probe).map(|(weight, value)| f64::from(*weight) * f64::from(*value)).sum();
            *bias = (f64::from(*bias) + sum) as f32;
            row.fill(0.0);
        }
        let (norm1, out) = (self.after()?, self.dense("head.attention.out_proj", width, width)?);
        let (norm2, fc1) = (self.norm("head.layernorm")?, self.dense("head.mlp.fc1", width, inner)?);
        let fc2 = self.dense("head.mlp.fc2", inner, width)?;
        Ok(LayerWeights { norm1, query, key_value, out, norm2, fc1, fc2, replaces: true })
    }

    /// `[projection, width]`, or nothing.
    pub(crate) fn projection(&mut self) -> Result<Option<Vec<f32>>> {
        let width = self.config.width;
        let read = |projection| (self.tensor)("visual_projection.weight", &[projection, width]);
        self.config.projection.map(read).transpose()
    }
}
