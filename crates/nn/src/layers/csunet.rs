//! The network: blocks and the wires between them.

use crate::layers::{Accumulate, CSiren, CsUnetConfig, Layout, Linear};
use crate::{ParamsBuilder, Result, Tensor, View, ViewMut, layers::csunet_config::MOST_NUMBERS};
use locdiff_base::setting;
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

    pub(crate) fn write<'a>(&self, buffer: &'a mut Tensor) -> ViewMut<'a> {
        buffer.view_mut().columns(self.columns.clone())
    }
}

/// A block and where it reads and writes.
#[derive(Debug, Clone)]
pub(crate) struct Wired {
    pub(crate) block: CSiren,
    pub(crate) from: Port,
    pub(crate) to: Port,
    /// Whether the gradient at `from` already holds a skip's share when this block's backward pass runs.
    pub(crate) skip_gradient: Accumulate,
    /// The block's columns in the stacked image projection.
    pub(crate) cond: Range<usize>,
    /// The block's columns in the stacked time MLP.
    pub(crate) time: Range<usize>,
}

/// The conditional Siren U-Net; made by [`CsUnetConfig::register`].
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

impl CsUnetConfig {
    /// Adds the network's parameters to `builder`. Fails with [`crate::NnError::Setting`] for a size of 0 or beyond all
    /// bounds, an odd `time_dim` or a dropout outside [0, 1).
    pub fn register(&self, builder: &mut ParamsBuilder) -> Result<CsUnet> {
        self.check()?;
        let before = builder.len;
        let network = CsUnet::register(*self, builder);
        let numbers = builder.len - before;
        if numbers > MOST_NUMBERS {
            let remedy = format!("at most {MOST_NUMBERS}: lower the degree, width, hidden width or depth");
            return Err(setting("numbers of the network", numbers, remedy));
        }
        Ok(network)
    }
}

impl CsUnet {
    fn register(config: CsUnetConfig, builder: &mut ParamsBuilder) -> Self {
        let widths = config.widths();
        let is_chain = config.layout == Layout::Bottleneck;
        let (buffer_widths, sketches) = if is_chain { sketch_chain(&config) } else { sketch_unet(&widths) };
        let first = if is_chain { 0 } else { widths[0] };
        let inp_to = Port::new(0, first..first + widths[0]);
        let out_buffer = if is_chain { buffer_widths.len() - 1 } else { 0 };
        let out_from = Port::new(out_buffer, 0..buffer_widths[out_buffer]);
        let inp = Linear::new(builder, "inp", config.code_dim, widths[0]);
        let (mut blocks, mut cond_at) = (Vec::new(), 0);
        let conds: Vec<_> = sketches.iter().map(|s| (format!("{}.I", s.name), s.middle)).collect();
        let times: Vec<_> = sketches.iter().map(|s| (format!("{}.t.0", s.name), config.time_dim)).collect();
        for (k, Sketch { name, middle, from, to, skip_gradient }) in sketches.into_iter().enumerate() {
            let sizes = (from.columns.len(), middle, to.columns.len());
            let block = CSiren::new(builder, &name, sizes, config.time_dim, config.w0);
            let (cond, time) = (cond_at..cond_at + middle, k * config.time_dim..(k + 1) * config.time_dim);
            blocks.push(Wired { block, from, to, skip_gradient, cond, time });
            cond_at += middle;
        }
        let cond = Linear::stacked(builder, &conds, config.cond_dim);
        let time = Linear::stacked(builder, &times, config.time_dim);
        let out = Linear::new(builder, "out", out_from.columns.len(), config.code_dim);
        Self { config, inp, inp_to, blocks, out, out_from, cond, time, buffer_widths }
    }

    /// The settings it was made with.
    pub fn config(&self) -> &CsUnetConfig {
        &self.config
    }
}

/// Two different buffers at once, the first to be read or written, the second to be written or read.
pub(crate) fn two(buffers: &mut [Tensor], a: usize, b: usize) -> (&mut Tensor, &mut Tensor) {
    let [a, b] = buffers.get_disjoint_mut([a, b]).expect("a block reads one buffer and writes another");
    (a, b)
}
