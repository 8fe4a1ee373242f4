//! One block of an EfficientNet-Lite on the CPU, a strip of rows at a time: what it expands to is used while it lies in
//! the caches. A whole picture of it would be megabytes, written to memory and read back.

use locdiff_nn::inference::{Aligned, Depthwise, PixelGrid, Pointwise, padded};

/// Bytes that the expanded rows of a strip may take: they share a core's second cache with the weights.
const STRIP_BYTES: usize = 512 << 10;

/// Borders and size of a convolution with TensorFlow's "SAME" padding along one side.
#[derive(Clone, Copy)]
pub(super) struct Same {
    pub(super) out: usize,
    /// Zeros before the first pixel.
    pub(super) before: usize,
    /// Zeros before the first and after the last pixel.
    total: usize,
}

impl Same {
    pub(super) fn new(size: usize, kernel: usize, stride: usize) -> Self {
        let out = size.div_ceil(stride);
        let total = ((out - 1) * stride + kernel).saturating_sub(size);
        Self { out, before: total / 2, total }
    }
}

/// The buffers of one picture on its way through the network, kept from picture to picture.
#[derive(Default)]
pub(super) struct Workspace {
    pub(super) patches: Aligned,
    pub(super) input: Aligned,
    pub(super) output: Aligned,
    pub(super) bordered: Aligned,
    pub(super) inner: Aligned,
}

pub(super) struct Block {
    pub(super) expand: Option<Pointwise>,
    pub(super) depthwise: Depthwise,
    pub(super) project: Pointwise,
    pub(super) residual: bool,
}

impl Block {
    /// From `space.input` to `space.output`; returns the size of the latter.
    pub(super) fn run(&self, space: &mut Workspace, height: usize, width: usize) -> (usize, usize) {
        let (kernel, stride) = (self.depthwise.kernel, self.depthwise.stride);
        let (down, across) = (Same::new(height, kernel, stride), Same::new(width, kernel, stride));
        let channels = padded(self.depthwise.channels);
        let row = width + across.total;
        let strip = strip_rows(row * channels, kernel, stride).min(down.out);
        let rows = Rows { input: &space.input, height, width, before: down.before, left: across.before, row };
        let bordered = space.bordered.window(((strip - 1) * stride + kernel) * row * channels);
        let inner = space.inner.window(strip * across.out * channels);
        let out_row = across.out * padded(self.project.outputs());
        let output = space.output.window(down.out * out_row);
        // The rows of the bordered picture that the buffer holds.
        let mut held = 0..0;
        for (number, output) in output.chunks_mut(strip * out_row).enumerate() {
            let count = output.len() / out_row;
            let start = number * strip * stride;
            let end = start + (count - 1) * stride + kernel;
            let kept = (start - held.start) * row * channels..held.len() * row * channels;
            bordered.copy_within(kept, 0);
            self.fill(bordered, start, held.end..end, rows);
            held = start..end;
            self.depthwise.run(bordered, row, inner, count, across.out);
            let residual = self.residual.then(|| &space.input[number * strip * out_row..][..output.len()]);
            self.project.run(inner, channels, output, PixelGrid::packed(count * across.out), residual);
        }
        (down.out, across.out)
    }

    /// The rows `which` of the bordered, expanded picture into a buffer whose first row is number `start`.
    fn fill(&self, buffer: &mut [f32], start: usize, which: std::ops::Range<usize>, rows: Rows<'_>) {
        let Rows { input, height, width, before, left, row } = rows;
        let channels = padded(self.depthwise.channels);
        let inside = which.start.max(before)..which.end.min(before + height).max(which.start.max(before));
        for y in which {
            let line = &mut buffer[(y - start) * row * channels..][..row * channels];
            if inside.contains(&y) {
                line[..left * channels].fill(0.0);
                line[(left + width) * channels..].fill(0.0);
            } else {
                line.fill(0.0);
            }
        }
        if inside.is_empty() {
            return;
        }
        let input_channels = padded(self.expand.as_ref().map_or(self.depthwise.channels, Pointwise::inputs));
        let input = &input[(inside.start - before) * width * input_channels..];
        let first = (inside.start - start) * row + left;
        if let Some(expand) = &self.expand {
            let grid = PixelGrid { pixels: inside.len() * width, width, row, first };
            expand.run(input, input_channels, buffer, grid, None);
        } else {
            let lines = buffer[first * channels..].chunks_mut(row * channels).take(inside.len());
            for (to, from) in lines.zip(input.chunks_exact(width * channels)) {
                to[..width * channels].copy_from_slice(from);
            }
        }
    }
}

/// Where a block's input lies, and the border it gets.
#[derive(Clone, Copy)]
struct Rows<'a> {
    input: &'a [f32],
    height: usize,
    width: usize,
    /// Rows of zeros above the picture.
    before: usize,
    /// Zeros left of each row.
    left: usize,
    /// Pixels of a row with its border.
    row: usize,
}

/// Rows of output to make at a time, at least one, where a row of the expanded input has so many values.
fn strip_rows(row_values: usize, kernel: usize, stride: usize) -> usize {
    let rows = STRIP_BYTES / (size_of::<f32>() * row_values);
    rows.saturating_sub(kernel) / stride + 1
}
