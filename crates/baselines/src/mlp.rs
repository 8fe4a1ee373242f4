//! The small network that the methods share.

use locdiff_nn::{
    Device, Gradients, NnError, Params, ParamsBuilder, Rng, Tensor, View, ViewMut,
    layers::{Accumulate, Linear},
    ops::{self, Dropout},
};

/// Fully connected layers with dropout and a sine between them: the end of a C-Siren block, so that no rival loses by a
/// poorer network.
#[derive(Debug, Clone)]
pub(crate) struct Mlp {
    layers: Vec<Linear>,
    dropout: f32,
}

/// Activations of a forward pass, and the gradients of a backward pass.
pub(crate) struct MlpWork {
    /// Before and after the sine, for every layer but the last.
    pre: Vec<Tensor>,
    post: Vec<Tensor>,
    d_pre: Vec<Tensor>,
    d_post: Vec<Tensor>,
    pub(crate) output: Tensor,
    dropped: f32,
}

/// Where a training pass draws its dropout.
#[derive(Clone, Copy)]
pub(crate) struct Draw<'a> {
    pub(crate) rng: &'a Rng,
    pub(crate) first_stream: u32,
}

impl Mlp {
    /// Layers of these widths, the first the input's, the last the output's; parameters `name.k.weight` and `.bias`.
    pub(crate) fn new(builder: &mut ParamsBuilder, name: &str, widths: &[usize], dropout: f32) -> Self {
        let layers = widths
            .windows(2)
            .enumerate()
            .map(|(k, pair)| Linear::new(builder, &format!("{name}.{k}"), pair[0], pair[1]))
            .collect();
        Self { layers, dropout }
    }

    /// Storage for `rows` rows.
    pub(crate) fn work(&self, device: &Device, rows: usize) -> Result<MlpWork, NnError> {
        let (last, hidden) = self.layers.split_last().expect("an MLP has layers");
        let zeros = || -> Result<Vec<Tensor>, NnError> {
            hidden.iter().map(|layer| Tensor::zeros(device, rows, layer.outputs())).collect()
        };
        Ok(MlpWork {
            pre: zeros()?,
            post: zeros()?,
            d_pre: zeros()?,
            d_post: zeros()?,
            output: Tensor::zeros(device, rows, last.outputs())?,
            dropped: 0.0,
        })
    }

    /// The output for `x`, left in the workspace; with dropout where `draw` is given.
    pub(crate) fn forward(
        &self,
        params: &Params,
        work: &mut MlpWork,
        x: View<'_>,
        draw: Option<Draw<'_>>,
    ) -> Result<(), NnError> {
        let MlpWork { pre, post, output, dropped, .. } = work;
        *dropped = if draw.is_some() { self.dropout } else { 0.0 };
        let (last, hidden) = self.layers.split_last().expect("an MLP has layers");
        for (k, layer) in hidden.iter().enumerate() {
            let input = if k == 0 { x } else { post[k - 1].view() };
            layer.forward(params, pre[k].view_mut(), input)?;
            let dropout = draw.map(|draw| Dropout {
                probability: self.dropout,
                rng: draw.rng,
                stream: draw.first_stream + k as u32,
            });
            ops::dropout_sine(post[k].view_mut(), pre[k].view_mut(), 1.0, dropout)?;
        }
        last.forward(params, output.view_mut(), post.last().map_or(x, Tensor::view))
    }

    /// The gradients of all layers for the gradient `d_out` of the output, and that of `x` where it is wanted.
    pub(crate) fn backward(
        &self,
        params: &Params,
        grads: &mut Gradients,
        work: &mut MlpWork,
        x: View<'_>,
        d_out: View<'_>,
        mut d_x: Option<ViewMut<'_>>,
    ) -> Result<(), NnError> {
        let MlpWork { pre, post, d_pre, d_post, dropped, .. } = work;
        for k in (0..self.layers.len()).rev() {
            let input = if k == 0 { x } else { post[k - 1].view() };
            let dy = if k == pre.len() { d_out } else { d_pre[k].view() };
            if k == 0 {
                let d_x = d_x.take().map(|d_x| (d_x, Accumulate::No));
                return self.layers[0].backward(params, grads, input, dy, d_x);
            }
            let d_input = d_post[k - 1].view_mut();
            self.layers[k].backward(params, grads, input, dy, Some((d_input, Accumulate::No)))?;
            ops::dropout_sine_backward(
                d_pre[k - 1].view_mut(),
                pre[k - 1].view(),
                d_post[k - 1].view(),
                1.0,
                *dropped,
            )?;
        }
        Ok(())
    }

    /// The output for all rows of `x`, without dropout.
    pub(crate) fn run(&self, params: &Params, x: View<'_>) -> Result<Tensor, NnError> {
        let mut work = self.work(params.device(), x.rows())?;
        self.forward(params, &mut work, x, None)?;
        Ok(work.output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gradients of Σ output² / 2 against finite differences.
    #[test]
    fn gradients_are_those_of_finite_differences() {
        let device = Device::cpu();
        let mut builder = ParamsBuilder::new();
        let mlp = Mlp::new(&mut builder, "net", &[3, 5, 4, 2], 0.0);
        let mut params = builder.build(&device, 3).unwrap();
        let x = Tensor::from_slice(&device, 2, 3, &[0.3, -0.8, 1.1, 0.9, 0.2, -0.4]).unwrap();
        let mut grads = Gradients::new(&params).unwrap();
        let mut work = mlp.work(&device, 2).unwrap();
        mlp.forward(&params, &mut work, x.view(), None).unwrap();
        let d_out = Tensor::from_slice(&device, 2, 2, &work.output.to_vec().unwrap()).unwrap();
        let mut d_x = Tensor::zeros(&device, 2, 3).unwrap();
        mlp.backward(&params, &mut grads, &mut work, x.view(), d_out.view(), Some(d_x.view_mut())).unwrap();
        let loss = |params: &Params, x: &Tensor| -> f64 {
            let output = mlp.run(params, x.view()).unwrap().to_vec().unwrap();
            output.iter().map(|y| f64::from(*y).powi(2) / 2.0).sum()
        };
        let (found, values) = (grads.to_vec().unwrap(), params.to_vec().unwrap());
        for k in 0..values.len() {
            let mut at = |step: f32| {
                let mut moved = values.clone();
                moved[k] += step;
                params.upload(&moved).unwrap();
                loss(&params, &x)
            };
            let slope = (at(1e-2) - at(-1e-2)) / 2e-2;
            assert!((slope - f64::from(found[k])).abs() < 2e-3, "{k}: {slope} {}", found[k]);
        }
        params.upload(&values).unwrap();
        let (found, start) = (d_x.to_vec().unwrap(), x.to_vec().unwrap());
        for k in 0..start.len() {
            let at = |step: f32| {
                let mut moved = start.clone();
                moved[k] += step;
                loss(&params, &Tensor::from_slice(&device, 2, 3, &moved).unwrap())
            };
            let slope = (at(1e-2) - at(-1e-2)) / 2e-2;
            assert!((slope - f64::from(found[k])).abs() < 2e-3, "{k}: {slope} {}", found[k]);
        }
    }
}
