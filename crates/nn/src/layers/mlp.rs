//! Fully connected layers.

use crate::layers::{Accumulate, ForwardMode, Linear};
use crate::{Device, Gradients, Params, ParamsBuilder, Result, Tensor, View, ViewMut, ops, ops::Activation};

/// Fully connected layers with a GELU and dropout between them.
#[derive(Debug, Clone)]
pub struct Mlp {
    layers: Vec<Linear>,
    dropout: f32,
}

/// Activations of a forward pass, and the gradients of a backward pass.
pub struct MlpWork {
    /// Before and after the GELU and its dropout, for every layer but the last.
    pre: Vec<Tensor>,
    post: Vec<Tensor>,
    d_pre: Vec<Tensor>,
    d_post: Vec<Tensor>,
    /// What the last forward pass gave.
    pub output: Tensor,
    dropped: f32,
}

impl Mlp {
    /// Layers of these widths, the first the input's, the last the output's; parameters `name.k.weight` and `.bias`.
    pub fn new(builder: &mut ParamsBuilder, name: &str, widths: &[usize], dropout: f32) -> Self {
        let pairs = widths.windows(2).enumerate();
        let layer = |(k, pair): (_, &[usize])| Linear::new(builder, &format!("{name}.{k}"), pair[0], pair[1]);
        Self { layers: pairs.map(layer).collect(), dropout }
    }

    fn last_and_hidden(&self) -> (&Linear, &[Linear]) {
        self.layers.split_last().expect("an MLP has layers")
    }

    /// Storage for `rows` rows.
    pub fn work(&self, device: &Device, rows: usize) -> Result<MlpWork> {
        let (last, hidden) = self.last_and_hidden();
        let zeros = || -> Result<Vec<Tensor>> {
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

    /// The output for `x`, left in the workspace.
    pub fn forward(&self, params: &Params, work: &mut MlpWork, x: View<'_>, mode: ForwardMode<'_>) -> Result<()> {
        let MlpWork { pre, post, output, dropped, .. } = work;
        *dropped = mode.dropout(self.dropout, 0).map_or(0.0, |dropout| dropout.probability);
        let (last, hidden) = self.last_and_hidden();
        for (k, layer) in hidden.iter().enumerate() {
            let input = if k == 0 { x } else { post[k - 1].view() };
            layer.forward(params, pre[k].view_mut(), input)?;
            ops::activate(Activation::Gelu, post[k].view_mut(), pre[k].view())?;
            if let Some(dropout) = mode.dropout(self.dropout, k) {
                ops::dropout(post[k].view_mut(), dropout)?;
            }
        }
        last.forward(params, output.view_mut(), post.last().map_or(x, Tensor::view))
    }

    /// The gradients of all layers for the gradient `d_out` of the output, and that of `x` where it is wanted.
    pub fn backward(
        &self,
        params: &Params,
        grads: &mut Gradients,
        work: &mut MlpWork,
        x: View<'_>,
        d_out: View<'_>,
        mut d_x: Option<ViewMut<'_>>,
    ) -> Result<()> {
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
            ops::dropout_backward(d_post[k - 1].view_mut(), post[k - 1].view(), *dropped)?;
            let (d_pre, d_post) = (d_pre[k - 1].view_mut(), d_post[k - 1].view());
            ops::activate_backward(Activation::Gelu, d_pre, pre[k - 1].view(), d_post)?;
        }
        Ok(())
    }

    /// The output for `x` without dropout, into `out`. On the CPU a row of it is the same numbers in any
    /// batch.
    pub fn infer(&self, params: &Params, work: &mut MlpWork, out: ViewMut<'_>, x: View<'_>) -> Result<()> {
        let (last, hidden) = self.last_and_hidden();
        let MlpWork { pre, post, .. } = work;
        for (k, layer) in hidden.iter().enumerate() {
            let input = if k == 0 { x } else { post[k - 1].view() };
            layer.infer(params, pre[k].view_mut(), input)?;
            ops::activate(Activation::Gelu, post[k].view_mut(), pre[k].view())?;
        }
        last.infer(params, out, post.last().map_or(x, Tensor::view))
    }

    /// The output for all rows of `x`, without dropout.
    pub fn run(&self, params: &Params, x: View<'_>) -> Result<Tensor> {
        let mut work = self.work(params.device(), x.rows())?;
        self.forward(params, &mut work, x, ForwardMode::Evaluate)?;
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
        mlp.forward(&params, &mut work, x.view(), ForwardMode::Evaluate).unwrap();
        let d_out = Tensor::from_slice(&device, 2, 2, &work.output.to_vec().unwrap()).unwrap();
        let mut d_x = Tensor::zeros(&device, 2, 3).unwrap();
        mlp.backward(&params, &mut grads, &mut work, x.view(), d_out.view(), Some(d_x.view_mut())).unwrap();
        let loss = |params: &Params, x: &Tensor| -> f64 {
            let output = mlp.run(params, x.view()).unwrap().to_vec().unwrap();
            output.iter().map(|y| f64::from(*y).powi(2) / 2.0).sum()
        };
        let mut inferred = Tensor::zeros(&device, 2, 2).unwrap();
        mlp.infer(&params, &mut mlp.work(&device, 2).unwrap(), inferred.view_mut(), x.view()).unwrap();
        for (a, b) in inferred.to_vec().unwrap().iter().zip(work.output.to_vec().unwrap()) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
        let (found, values) = (grads.to_vec().unwrap(), params.to_vec().unwrap());
        let check = |found: &[f32], start: &[f32], loss: &mut dyn FnMut(&[f32]) -> f64| {
            for k in 0..start.len() {
                let mut at = |step: f32| {
                    let mut moved = start.to_vec();
                    moved[k] += step;
                    loss(&moved)
                };
                let slope = (at(1e-2) - at(-1e-2)) / 2e-2;
                assert!((slope - f64::from(found[k])).abs() < 2e-3, "{k}: {slope} {}", found[k]);
            }
        };
        check(&found, &values, &mut |moved| {
            params.upload(moved).unwrap();
            loss(&params, &x)
        });
        params.upload(&values).unwrap();
        check(&d_x.to_vec().unwrap(), &x.to_vec().unwrap(), &mut |moved| {
            loss(&params, &Tensor::from_slice(&device, 2, 3, moved).unwrap())
        });
    }
}
