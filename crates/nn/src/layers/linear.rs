//! A fully connected layer.

use crate::ops::Transpose;
use crate::{Gradients, Init, ParamId, Params, ParamsBuilder, Result, View, ViewMut, cpu::simd::Start, ops};

/// What happens to the values an output holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accumulate {
    /// They are replaced.
    No,
    /// The result is added to them.
    Yes,
}

/// `y = x·wᵀ + b`: `x` is batch × inputs, `y` batch × outputs, the weight outputs × inputs, the bias 1 × outputs.
#[derive(Debug, Clone, Copy)]
pub struct Linear {
    weight: ParamId,
    bias: ParamId,
}

impl Linear {
    /// A layer named `name` (parameters `name.weight` and `name.bias`) that starts like `PyTorch`'s: uniform in
    /// ±1/√inputs.
    pub fn new(builder: &mut ParamsBuilder, name: &str, inputs: usize, outputs: usize) -> Self {
        Self::stacked(builder, &[(name.to_owned(), outputs)], inputs)
    }

    /// Several layers with the same input as one: `names` with their outputs, side by side in the result.
    pub(crate) fn stacked(builder: &mut ParamsBuilder, parts: &[(String, usize)], inputs: usize) -> Self {
        let init = Init::linear_default(inputs);
        let named = |suffix: &str| -> Vec<_> {
            parts.iter().map(|(name, outputs)| (format!("{name}.{suffix}"), *outputs)).collect()
        };
        let weight = builder.add_stacked(&named("weight"), inputs, init);
        Self { weight, bias: builder.add_joined(&named("bias"), init) }
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.weight.cols()
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.weight.rows()
    }

    /// `y = x·wᵀ + b`.
    pub fn forward(&self, params: &Params, y: ViewMut<'_>, x: View<'_>) -> Result<()> {
        let (weight, bias) = (params.get(self.weight), params.get(self.bias));
        ops::gemm(y, x, Transpose::No, weight, Transpose::Yes, 0.0, Some(bias))
    }

    /// [`Linear::forward`] for weights that stay as they are: on the CPU they are laid out once, and a row of `y` is the
    /// same numbers whatever rows stand beside it.
    pub fn infer(&self, params: &Params, y: ViewMut<'_>, x: View<'_>) -> Result<()> {
        if params.device().is_cuda() {
            return self.forward(params, y, x);
        }
        let bias = params.get(self.bias).cpu("Linear::infer")?;
        ops::gemm_packed(y, x, &*params.packed(self.weight)?, Start::Row(bias.row(0)))
    }

    /// Writes the gradients of weight and bias, and that of `x` where it is wanted.
    pub fn backward(
        &self,
        params: &Params,
        grads: &mut Gradients,
        x: View<'_>,
        dy: View<'_>,
        dx: Option<(ViewMut<'_>, Accumulate)>,
    ) -> Result<()> {
        self.weight_gradient(grads, x, dy)?;
        dx.map_or(Ok(()), |(dx, accumulate)| self.input_gradient(params, dx, dy, accumulate))
    }

    /// Writes the gradients of weight and bias.
    pub fn weight_gradient(&self, grads: &mut Gradients, x: View<'_>, dy: View<'_>) -> Result<()> {
        let [dw, db] = grads.two_mut(self.weight, self.bias);
        ops::weight_gradient(dw, db, dy, x)
    }

    /// `dx = dy·w`.
    pub fn input_gradient(&self, params: &Params, dx: ViewMut<'_>, dy: View<'_>, accumulate: Accumulate) -> Result<()> {
        let beta = if accumulate == Accumulate::Yes { 1.0 } else { 0.0 };
        ops::gemm(dx, dy, Transpose::No, params.get(self.weight), Transpose::No, beta, None)
    }
}
