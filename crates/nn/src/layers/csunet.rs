//! The network: blocks, wires between them, forward and backward.

use crate::{
    Device, Gradients, Params, ParamsBuilder, Result, Rng, Tensor, View,
    layers::{Accumulate, CSiren, CsUnetConfig, CsUnetWorkspace, Layout, Linear},
    ops::{self, Dropout},
};
use std::ops::Range;

/// Columns of one of the numbered buffers between blocks. A way down writes into the right half of a buffer, the way
/// up into its left half, and the next layer reads both: concatenation without a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Port {
    pub(crate) buffer: usize,
    pub(crate) columns: Range<usize>,
}

impl Port {
    fn new(buffer: usize, columns: Range<usize>) -> Self {
        Self { buffer, columns }
    }

    pub(crate) fn read<'a>(&self, buffers: &'a [Tensor]) -> View<'a> {
        buffers[self.buffer].view().columns(self.columns.clone())
    }
}

/// A block and where it reads and writes.
#[derive(Debug, Clone)]
pub(crate) struct Wired {
    pub(crate) block: CSiren,
    pub(crate) from: Port,
    pub(crate) to: Port,
    /// Whether the gradient at `from` already holds a skip's share when this block's backward pass runs.
    skip_gradient: Accumulate,
    /// The block's columns in the stacked image projection.
    pub(crate) cond: Range<usize>,
    /// The block's columns in the stacked time MLP.
    pub(crate) time: Range<usize>,
}

/// Training or not.
#[derive(Clone, Copy)]
pub enum ForwardMode<'a> {
    /// No dropout.
    Evaluate,
    /// Dropout drawn from `rng`, the blocks using the streams from `first_stream` on.
    Train {
        /// The generator; its counter must differ from step to step.
        rng: &'a Rng,
        /// The first of as many streams as there are blocks.
        first_stream: u32,
    },
}

/// The conditional Siren U-Net; made by [`CsUnetConfig::register`].
///
/// Parameter names are those of the `PyTorch` prototype: `inp`, `dn.k` and `up.k` (or `mid.k`) with `x`, `I`, `t.0`,
/// `t.2` and `o`, and `out`.
#[derive(Debug, Clone)]
pub struct CsUnet {
    config: CsUnetConfig,
    pub(crate) inp: Linear,
    pub(crate) inp_to: Port,
    pub(crate) blocks: Vec<Wired>,
    pub(crate) out: Linear,
    pub(crate) out_from: Port,
    pub(crate) cond: Linear,
    pub(crate) time: Linear,
    pub(crate) buffer_widths: Vec<usize>,
}

/// Sizes and wires of one block before it has parameters.
struct Sketch {
    name: String,
    middle: usize,
    from: Port,
    to: Port,
    skip_gradient: Accumulate,
}

fn sketch_unet(widths: &[usize]) -> (Vec<usize>, Vec<Sketch>) {
    let depth = widths.len() - 1;
    // Buffer k < depth is [way up | skip] at level k, buffer `depth` the bottom.
    let buffers: Vec<_> = (0..=depth).map(|k| if k == depth { widths[k] } else { 2 * widths[k] }).collect();
    let skip = |k: usize| {
        if k == depth { Port::new(k, 0..widths[k]) } else { Port::new(k, widths[k]..2 * widths[k]) }
    };
    let down = (0..depth).map(|k| Sketch {
        name: format!("dn.{k}"),
        middle: widths[k + 1],
        from: skip(k),
        to: skip(k + 1),
        skip_gradient: Accumulate::Yes,
    });
    let up = (0..depth).map(|i| {
        let level = depth - 1 - i;
        Sketch {
            name: format!("up.{i}"),
            middle: widths[level],
            from: Port::new(level + 1, 0..buffers[level + 1]),
            to: Port::new(level, 0..widths[level]),
            skip_gradient: Accumulate::No,
        }
    });
    let sketches = down.chain(up).collect();
    (buffers, sketches)
}

fn sketch_chain(config: &CsUnetConfig) -> (Vec<usize>, Vec<Sketch>) {
    let (count, hidden) = (2 * config.depth, config.hidden_width());
    let sketches = (0..count).map(|k| Sketch {
        name: format!("mid.{k}"),
        middle: config.width,
        from: Port::new(k, 0..hidden),
        to: Port::new(k + 1, 0..hidden),
        skip_gradient: Accumulate::No,
    });
    (vec![hidden; count + 1], sketches.collect())
}

impl CsUnet {
    pub(crate) fn register(config: CsUnetConfig, builder: &mut ParamsBuilder) -> Self {
        let widths = config.widths();
        let (buffer_widths, sketches, inp_to, out_buffer) = if config.layout == Layout::Bottleneck {
            let (buffers, sketches) = sketch_chain(&config);
            let last = buffers.len() - 1;
            (buffers, sketches, Port::new(0, 0..widths[0]), last)
        } else {
            let (buffers, sketches) = sketch_unet(&widths);
            (buffers, sketches, Port::new(0, widths[0]..2 * widths[0]), 0)
        };
        let out_from = Port::new(out_buffer, 0..buffer_widths[out_buffer]);
        let inp = Linear::new(builder, "inp", config.code_dim, widths[0]);
        let (mut blocks, mut cond_at) = (Vec::new(), 0);
        for (k, sketch) in sketches.iter().enumerate() {
            let sizes = (sketch.from.columns.len(), sketch.middle, sketch.to.columns.len());
            blocks.push(Wired {
                block: CSiren::new(builder, &sketch.name, sizes, config.time_dim, config.w0),
                from: sketch.from.clone(),
                to: sketch.to.clone(),
                skip_gradient: sketch.skip_gradient,
                cond: cond_at..cond_at + sketch.middle,
                time: k * config.time_dim..(k + 1) * config.time_dim,
            });
            cond_at += sketch.middle;
        }
        let conds: Vec<_> = sketches.iter().map(|s| (format!("{}.I", s.name), s.middle)).collect();
        let times: Vec<_> = sketches.iter().map(|s| (format!("{}.t.0", s.name), config.time_dim)).collect();
        let cond = Linear::stacked(builder, &conds, config.cond_dim);
        let time = Linear::stacked(builder, &times, config.time_dim);
        let out = Linear::new(builder, "out", out_from.columns.len(), config.code_dim);
        Self { config, inp, inp_to, blocks, out, out_from, cond, time, buffer_widths }
    }

    /// The settings it was made with.
    pub fn config(&self) -> &CsUnetConfig {
        &self.config
    }

    /// Number of blocks, and of dropout streams a training pass uses.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// The network's output for noisy codes `x`, embeddings `cond` and time steps `t`, left in the workspace.
    ///
    /// # Shapes
    /// `x`: batch × `code_dim`, `cond`: batch × `cond_dim`, `t`: batch × 1.
    ///
    /// # Errors
    /// Shapes that do not fit the workspace.
    pub fn forward(
        &self,
        params: &Params,
        work: &mut CsUnetWorkspace,
        x: View<'_>,
        cond: View<'_>,
        t: View<'_>,
        mode: ForwardMode<'_>,
    ) -> Result<()> {
        let device = params.device();
        work.dropout = match mode {
            ForwardMode::Evaluate => 0.0,
            ForwardMode::Train { .. } => self.config.dropout,
        };
        device.on_lane(1, || self.cond.forward(params, work.h_cond.view_mut(), cond))?;
        ops::sinusoidal(work.time_embedding.view_mut(), t)?;
        self.time.forward(params, work.time_pre.view_mut(), work.time_embedding.view())?;
        ops::activate(self.config.time_activation, work.time_hidden.view_mut(), work.time_pre.view())?;
        let modulate = |work: &mut CsUnetWorkspace, k: usize| {
            let time = work.time_hidden.view().columns(self.blocks[k].time.clone());
            self.blocks[k].block.time_modulation(params, work.states[k].ss.view_mut(), time)
        };
        device.on_lane(0, || (1..self.blocks.len()).try_for_each(|k| modulate(work, k)))?;
        modulate(work, 0)?;
        let inp_to = work.buffers[self.inp_to.buffer].view_mut().columns(self.inp_to.columns.clone());
        self.inp.forward(params, inp_to, x)?;
        device.join_lane(1)?;
        for (k, wired) in self.blocks.iter().enumerate() {
            if k == 1 {
                device.join_lane(0)?;
            }
            let dropout = match mode {
                ForwardMode::Evaluate => None,
                ForwardMode::Train { rng, first_stream } => {
                    Some(Dropout { probability: self.config.dropout, rng, stream: first_stream + k as u32 })
                }
            };
            let (from, to) = two(&mut work.buffers, wired.from.buffer, wired.to.buffer);
            wired.block.forward(
                params,
                &mut work.states[k],
                to.view_mut().columns(wired.to.columns.clone()),
                from.view().columns(wired.from.columns.clone()),
                work.h_cond.view().columns(wired.cond.clone()),
                dropout,
            )?;
        }
        if self.blocks.len() == 1 {
            device.join_lane(0)?;
        }
        self.out.forward(params, work.output.view_mut(), self.out_from.read(&work.buffers))
    }

    /// The gradients of all weights for the gradient `d_out` of the output; `x` and `cond` as in the forward pass.
    ///
    /// # Errors
    /// Shapes that do not fit, or a workspace made without a backward part.
    pub fn backward(
        &self,
        params: &Params,
        grads: &mut Gradients,
        work: &mut CsUnetWorkspace,
        x: View<'_>,
        cond: View<'_>,
        d_out: View<'_>,
    ) -> Result<()> {
        let device = params.device();
        let dropout = work.dropout;
        let back = work.backward.as_mut().ok_or_else(CsUnetWorkspace::forward_only)?;
        let out_in = self.out_from.read(&work.buffers);
        let d_out_in = back.buffers[self.out_from.buffer].view_mut().columns(self.out_from.columns.clone());
        device.on_lane(0, || self.out.weight_gradient(grads, out_in, d_out))?;
        self.out.input_gradient(params, d_out_in, d_out, Accumulate::No)?;
        for (k, wired) in self.blocks.iter().enumerate().rev() {
            let (from, to) = two(&mut back.buffers, wired.from.buffer, wired.to.buffer);
            let (state, inner) = (&work.states[k], &mut back.inner[k]);
            wired.block.backward_inputs(
                params,
                state,
                inner,
                back.h_cond.view_mut().columns(wired.cond.clone()),
                Some((from.view_mut().columns(wired.from.columns.clone()), wired.skip_gradient)),
                to.view().columns(wired.to.columns.clone()),
                dropout,
            )?;
            device.on_lane(1 + k % (Device::LANES - 1), || {
                wired.block.backward_weights(
                    params,
                    grads,
                    state,
                    inner,
                    wired.from.read(&work.buffers),
                    work.time_hidden.view().columns(wired.time.clone()),
                    back.time_hidden.view_mut().columns(wired.time.clone()),
                )
            })?;
        }
        device.on_lane(0, || self.cond.weight_gradient(grads, cond, back.h_cond.view()))?;
        self.inp.weight_gradient(grads, x, self.inp_to.read(&back.buffers))?;
        device.join_all_lanes()?;
        let activation = self.config.time_activation;
        ops::activate_backward(
            activation,
            back.time_pre.view_mut(),
            work.time_pre.view(),
            back.time_hidden.view(),
        )?;
        self.time.weight_gradient(grads, work.time_embedding.view(), back.time_pre.view())
    }
}

/// Two different buffers at once, the first to be read or written, the second to be written or read.
pub(crate) fn two(buffers: &mut [Tensor], a: usize, b: usize) -> (&mut Tensor, &mut Tensor) {
    let [a, b] = buffers.get_disjoint_mut([a, b]).expect("a block reads one buffer and writes another");
    (a, b)
}
