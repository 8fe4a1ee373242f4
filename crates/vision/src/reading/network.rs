//! Runs the networks of a reading model: each is a list of steps that the model file holds as JSON.

use super::kernels::{Activation, ChannelFilter, MOST_ROWS, Window, attend};
use crate::{Result, VisionError};
use locdiff_base::{TensorFile, TensorFileError};
use locdiff_nn::inference::{Aligned, PixelGrid, Pointwise, normalise_row, padded};
use serde::Deserialize;
use std::io::Cursor;

/// Values that a strip of pixels may have in a product: input, output and weights share a core's second cache.
const STRIP_VALUES: usize = 32 << 10;

/// A step as the file describes it. Step `k` makes value `k + 1`; value 0 is the picture.
#[derive(Debug, Deserialize)]
struct Step {
    op: Operation,
    from: Vec<usize>,
    #[serde(default)]
    inputs: usize,
    #[serde(default)]
    outputs: usize,
    #[serde(default)]
    activation: Activation,
    #[serde(flatten)]
    window: Window,
    #[serde(default)]
    plus: bool,
    #[serde(default)]
    epsilon: f32,
    #[serde(default)]
    heads: usize,
    #[serde(default)]
    scale: f32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Operation {
    Convolve,
    Depthwise,
    /// A transposed convolution of 2×2 with stride 2.
    Grow,
    /// Over all pixels.
    Mean,
    /// By a factor for each channel.
    Scale,
    /// A smaller second map is enlarged.
    Add,
    /// Channels one after another; smaller maps are enlarged.
    Join,
    /// Over 2×2 pixels, stride 1.
    Max,
    /// Over windows that do not overlap.
    Average,
    Normalise,
    Attend,
}

/// What a step needs of the file.
#[derive(Debug)]
enum Weights {
    None,
    /// The step after it has taken it over.
    Gone,
    /// A product, and one before it whose outputs nobody else uses.
    Products(Pointwise, Option<Box<(Pointwise, Activation)>>),
    Filter(ChannelFilter),
    /// Gain and bias.
    Norm([Vec<f32>; 2]),
}

#[derive(Debug)]
struct Node {
    step: Step,
    weights: Weights,
    /// Values that no later step uses.
    ends: Vec<usize>,
}

/// A map of `size` (height and width) with so many channels; pixels are `stride` values apart.
#[derive(Debug, Default)]
pub(super) struct Map {
    data: Aligned,
    pub(super) size: [usize; 2],
    pub(super) channels: usize,
    pub(super) stride: usize,
}

impl Map {
    /// A picture of three colours.
    pub(super) fn picture(size: [usize; 2]) -> Self {
        Self { data: Aligned::zeros(3 * size[0] * size[1]), size, channels: 3, stride: 3 }
    }

    pub(super) fn values(&self) -> &[f32] {
        &self.data[..self.pixels() * self.stride]
    }

    pub(super) fn values_mut(&mut self) -> &mut [f32] {
        let len = self.pixels() * self.stride;
        &mut self.data[..len]
    }

    fn pixels(&self) -> usize {
        self.size[0] * self.size[1]
    }

    fn row(&self, y: usize) -> &[f32] {
        &self.values()[y * self.size[1] * self.stride..][..self.size[1] * self.stride]
    }

    /// Calls `each` for the pixels of a row of a map of `size` and those of this one, enlarged to that size.
    fn enlarged_row(&self, y: usize, size: [usize; 2], row: &mut [f32], mut each: impl FnMut(&mut [f32], &[f32])) {
        let [down, across] = [0, 1].map(|k| size[k] / self.size[k]);
        let stride = row.len() / size[1];
        let pixels = self.row(y / down).chunks_exact(self.stride);
        for (row, from) in row.chunks_exact_mut(across * stride).zip(pixels) {
            row.chunks_exact_mut(stride).for_each(|to| each(to, from));
        }
    }
}

/// Buffers that are kept from run to run.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    idle: Vec<Aligned>,
    scratch: Aligned,
}

impl Buffers {
    fn map(&mut self, size: [usize; 2], channels: usize) -> Map {
        let stride = if channels == 1 { 1 } else { padded(channels) };
        let len = size[0] * size[1] * stride;
        let fits = |(_, buffer): &(usize, &Aligned)| buffer.len() >= len && buffer.len() <= 4 * len;
        let best = self.idle.iter().enumerate().filter(fits).min_by_key(|(_, buffer)| buffer.len());
        let data = best.map(|(k, _)| k).map_or_else(|| Aligned::zeros(len), |k| self.idle.swap_remove(k));
        Map { data, size, channels, stride }
    }

    /// Takes back the memory of a map that is no longer needed. The number of buffers is bounded.
    pub(super) fn give_back(&mut self, map: Map) {
        const MOST: usize = 12;
        self.idle.push(map.data);
        if self.idle.len() > MOST {
            self.idle.remove(0);
        }
    }
}

pub(super) fn unsound(detail: impl Into<String>) -> VisionError {
    VisionError::Encoder { path: "the reading model".into(), detail: detail.into() }
}

/// A network with its weights.
#[derive(Debug)]
pub(super) struct Network {
    nodes: Vec<Node>,
    outputs: usize,
}

impl Network {
    /// Reads the network of this name. Fails if the file does not hold it, or its steps and tensors do not fit each other.
    pub(super) fn read(file: &mut TensorFile<Cursor<&[u8]>>, name: &str) -> Result<Self> {
        let text = file.header().texts().remove(name).ok_or_else(|| unsound(format!("no network `{name}`")))?;
        let steps: Vec<Step> = serde_json::from_str(&text).map_err(|error| unsound(format!("`{name}`: {error}")))?;
        let mut uses = vec![0; steps.len() + 1];
        steps.iter().flat_map(|step| &step.from).for_each(|&from| uses[from.min(steps.len())] += 1);
        let mut channels = vec![3];
        let mut nodes: Vec<Node> = Vec::new();
        for (k, mut step) in steps.into_iter().enumerate() {
            let outputs = step.check(&channels);
            let outputs = outputs.ok_or_else(|| unsound(format!("step {k} of `{name}` cannot follow those before")))?;
            let mut weights =
                step.weights(|part, count| tensor(file, &format!("{name}.{k}.{part}"), count), outputs)?;
            if let (true, Weights::Products(_, before)) = (step.is_single(), &mut weights)
                && step.from[0] == k
                && uses[k] == 1
                && let Some(last) = nodes.last_mut().filter(|last| last.step.is_single() && last.step.from.len() == 1)
                && matches!(last.weights, Weights::Products(_, None))
                && let Weights::Products(product, _) = std::mem::replace(&mut last.weights, Weights::Gone)
            {
                *before = Some(Box::new((product, last.step.activation)));
                step.from[0] = last.step.from[0];
            }
            channels.push(outputs);
            nodes.push(Node { step, weights, ends: Vec::new() });
        }
        for value in 0..nodes.len() {
            let is_used = |node: &&mut Node| !matches!(node.weights, Weights::Gone) && node.step.from.contains(&value);
            nodes.iter_mut().rfind(is_used).into_iter().for_each(|last| last.ends.push(value));
        }
        Ok(Self { nodes, outputs: channels.pop().unwrap_or_default() })
    }

    /// Channels of the last step.
    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// The last step's map. The sides of `picture` must be multiples of 32 for a network that joins maps of several sizes.
    pub(super) fn run(&self, picture: Map, buffers: &mut Buffers) -> Map {
        let mut values: Vec<Option<Map>> = (0..=self.nodes.len()).map(|_| None).collect();
        values[0] = Some(picture);
        for (k, node) in self.nodes.iter().enumerate() {
            let Step { op, from, .. } = &node.step;
            if matches!(node.weights, Weights::Gone) {
                continue;
            }
            // A map that ends here may be changed in place.
            let is_last = node.ends.contains(&from[0]) && matches!(op, Operation::Scale | Operation::Add);
            let own = if is_last { values[from[0]].take() } else { None };
            let from: Vec<&Map> = from.iter().filter_map(|&from| values[from].as_ref()).collect();
            values[k + 1] = Some(node.run(own, &from, buffers));
            for &end in &node.ends {
                values[end].take().into_iter().for_each(|map| buffers.give_back(map));
            }
        }
        values.pop().flatten().unwrap_or_default()
    }
}

/// So many values of a tensor of f16, f32 or bytes; the latter with a factor for each output.
fn tensor(file: &mut TensorFile<Cursor<&[u8]>>, name: &str, count: usize) -> Result<Vec<f32>> {
    let place = file.header().find(name).ok_or_else(|| unsound(format!("no tensor `{name}`")))?;
    if place.shape.iter().product::<usize>() != count {
        return Err(unsound(format!("`{name}` has the shape {:?}, not {count} values", place.shape)));
    }
    let failed = |error: TensorFileError| unsound(error.to_string());
    if place.element().is_ok() {
        return file.values(&place).map_err(failed);
    }
    let bytes = file.bytes(&place).map_err(failed)?;
    let outputs = place.shape.first().copied().unwrap_or_default();
    let factors = tensor(file, &name.replace(".weight", ".scale"), outputs)?;
    let rows = bytes.chunks_exact((count / outputs.max(1)).max(1)).zip(factors);
    Ok(rows.flat_map(|(row, factor)| row.iter().map(move |&byte| f32::from(byte.cast_signed()) * factor)).collect())
}

impl Step {
    /// Whether it is a product of single pixels.
    fn is_single(&self) -> bool {
        self.op == Operation::Convolve && self.window.is_one_pixel()
    }

    /// Channels that come out, or nothing if the step cannot work on values of so many channels each.
    fn check(&self, channels: &[usize]) -> Option<usize> {
        let channels: Vec<usize> = self.from.iter().map(|&from| channels.get(from).copied()).collect::<Option<_>>()?;
        let (&first, rest) = channels.split_first()?;
        let Window { kernel, stride, pads } = self.window;
        let is_window = kernel.iter().all(|side| (1..=MOST_ROWS).contains(side))
            && stride.iter().all(|&step| step > 0)
            && (0..2).all(|k| pads[k] < kernel[k] && pads[k + 2] < kernel[k] - pads[k]);
        let (fits, outputs) = match self.op {
            Operation::Convolve if self.is_single() && rest == [self.outputs] => (first == self.inputs, self.outputs),
            Operation::Convolve | Operation::Grow => (first == self.inputs && rest.is_empty(), self.outputs),
            Operation::Depthwise => (first == self.outputs && rest.is_empty(), self.outputs),
            Operation::Scale | Operation::Add => (rest == [first], first),
            Operation::Join => (true, channels.iter().sum()),
            Operation::Attend => (rest.is_empty() && self.heads > 0 && first % (3 * self.heads) == 0, first / 3),
            Operation::Mean | Operation::Max | Operation::Average | Operation::Normalise => (rest.is_empty(), first),
        };
        (fits && is_window && outputs > 0).then_some(outputs)
    }

    fn weights(&self, mut part: impl FnMut(&str, usize) -> Result<Vec<f32>>, outputs: usize) -> Result<Weights> {
        let area = self.window.kernel[0] * self.window.kernel[1];
        let [inputs, outputs] = match self.op {
            Operation::Convolve => [self.inputs * area, outputs],
            Operation::Grow => [self.inputs, 4 * outputs],
            Operation::Depthwise => [area, outputs],
            Operation::Normalise => return Ok(Weights::Norm([part("gain", outputs)?, part("bias", outputs)?])),
            _ => return Ok(Weights::None),
        };
        let (weights, bias) = (part("weight", inputs * outputs)?, part("bias", outputs)?);
        Ok(match self.op {
            Operation::Depthwise => Weights::Filter(ChannelFilter::new(self.window, &weights, &bias)),
            _ => Weights::Products(Pointwise::new(inputs, &weights, &bias, false), None),
        })
    }
}

impl Node {
    /// `own` is the first map if it may be changed; then `from` has the others only.
    fn run(&self, own: Option<Map>, from: &[&Map], buffers: &mut Buffers) -> Map {
        let Step { op, activation, window, outputs, .. } = &self.step;
        if let Operation::Scale | Operation::Add = op {
            return self.run_in_place(own, from, buffers);
        }
        let input = from[0];
        let (size, channels) = match op {
            Operation::Convolve | Operation::Depthwise => (window.output(input.size), *outputs),
            Operation::Grow => (input.size.map(|side| 2 * side), *outputs),
            Operation::Mean => ([1, 1], input.channels),
            Operation::Average => ([0, 1].map(|k| input.size[k] / window.kernel[k]), input.channels),
            Operation::Join => (input.size.max(from[from.len() - 1].size), from.iter().map(|map| map.channels).sum()),
            Operation::Attend => (input.size, input.channels / 3),
            _ => (input.size, input.channels),
        };
        let mut map = buffers.map(size, channels);
        let (stride, row) = (map.stride, size[1] * map.stride);
        let values = map.values_mut();
        match (&self.weights, op) {
            (Weights::Products(product, before), _) => {
                self.multiply(product, before.as_deref(), from, &mut map, &mut buffers.scratch);
            }
            (Weights::Filter(filter), _) => {
                filter.run(input.values(), input.size, values);
                activation.apply(values);
            }
            (Weights::Norm([gain, bias]), _) => {
                for (to, from) in values.chunks_exact_mut(stride).zip(input.values().chunks_exact(stride)) {
                    normalise_row(&mut to[..channels], &from[..channels], gain, bias, self.step.epsilon);
                }
            }
            (_, Operation::Join) => {
                for (y, to) in values.chunks_exact_mut(row).enumerate() {
                    let mut first = 0;
                    for part in from {
                        part.enlarged_row(y, size, to, |to, from| {
                            to[first..][..part.channels].copy_from_slice(&from[..part.channels]);
                        });
                        first += part.channels;
                    }
                }
            }
            (_, Operation::Max) => {
                for (at, to) in values.chunks_exact_mut(stride).enumerate() {
                    let (y, x) = (at / size[1], at % size[1]);
                    let [upper, lower] = [y, (y + 1).min(size[0] - 1)].map(|y| input.row(y));
                    let [left, right] = [x, (x + 1).min(size[1] - 1)].map(|x| x * stride);
                    let most = |a: &f32, b: &f32| if a > b { *a } else { *b };
                    let columns = [upper, lower].map(|row| row[left..][..stride].iter().zip(&row[right..][..stride]));
                    let [above, below] = columns.map(|pairs| pairs.map(|(a, b)| most(a, b)));
                    to.iter_mut().zip(above.zip(below)).for_each(|(to, (a, b))| *to = most(&a, &b));
                }
            }
            (_, Operation::Attend) => {
                attend(input.values(), input.stride, self.step.heads, self.step.scale, values, channels);
            }
            _ => {
                // Row by row, so that sums of many pixels stay exact.
                let [down, across] = if *op == Operation::Mean { input.size } else { window.kernel };
                let mut sums = vec![0.0; stride];
                for (at, to) in values.chunks_exact_mut(stride).enumerate() {
                    let (y, x) = (at / size[1] * down, at % size[1] * across);
                    to.fill(0.0);
                    for y in y..y + down {
                        sums.fill(0.0);
                        for pixel in input.row(y)[x * stride..][..across * stride].chunks_exact(stride) {
                            sums.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += value);
                        }
                        to.iter_mut().zip(&sums).for_each(|(to, sum)| *to += sum / (down * across) as f32);
                    }
                }
            }
        }
        map
    }

    fn multiply(
        &self,
        product: &Pointwise,
        before: Option<&(Pointwise, Activation)>,
        from: &[&Map],
        map: &mut Map,
        scratch: &mut Aligned,
    ) {
        let Step { op, activation, window, outputs, .. } = &self.step;
        let (input, width, stride) = (from[0], map.size[1], map.stride);
        let row = width * stride;
        let values = map.values_mut();
        if *op == Operation::Grow {
            let wide = padded(4 * outputs);
            for (y, rows) in values.chunks_exact_mut(2 * row).enumerate() {
                let sums = scratch.window(input.size[1] * wide);
                product.run(input.row(y), input.stride, sums, PixelGrid::packed(input.size[1]), None);
                for (x, sums) in sums.chunks_exact(wide).enumerate() {
                    for (k, sums) in sums.chunks_exact(*outputs).take(4).enumerate() {
                        let to = &mut rows[k / 2 * row + (2 * x + k % 2) * stride..][..*outputs];
                        to.iter_mut().zip(sums).for_each(|(to, sum)| *to = *sum);
                    }
                }
                activation.apply(rows);
            }
        } else if window.is_one_pixel() {
            // Strip by strip: what is between two products never leaves the caches.
            let inner = before.map_or(0, |before| padded(before.0.outputs()));
            let strip = (STRIP_VALUES / (input.stride + inner + stride)).max(16);
            let inputs = input.values().chunks(strip * input.stride);
            for (k, (output, input_strip)) in values.chunks_mut(strip * stride).zip(inputs).enumerate() {
                let grid = PixelGrid::packed(output.len() / stride);
                let residual = from.get(1).map(|map| &map.values()[k * strip * stride..][..output.len()]);
                if let Some((first, activation)) = before {
                    let middle = scratch.window(grid.pixels * inner);
                    first.run(input_strip, input.stride, middle, grid, None);
                    activation.apply(middle);
                    product.run(middle, inner, output, grid, residual);
                } else {
                    product.run(input_strip, input.stride, output, grid, residual);
                }
                activation.apply(output);
            }
        } else {
            for (y, output) in values.chunks_exact_mut(row).enumerate() {
                let patches = scratch.window(width * product.inputs());
                fill_patches(patches, input, window, y);
                product.run(patches, product.inputs(), output, PixelGrid::packed(width), None);
                activation.apply(output);
            }
        }
    }

    fn run_in_place(&self, own: Option<Map>, from: &[&Map], buffers: &mut Buffers) -> Map {
        let other = from[from.len() - 1];
        let mut map = own.unwrap_or_else(|| {
            let mut copy = buffers.map(from[0].size, from[0].channels);
            copy.values_mut().copy_from_slice(from[0].values());
            copy
        });
        let (size, row) = (map.size, map.size[1] * map.stride);
        let plus = if self.step.plus { 1.0 } else { 0.0 };
        let is_sum = self.step.op == Operation::Add;
        for (y, to) in map.values_mut().chunks_exact_mut(row).enumerate() {
            other.enlarged_row(y, size, to, |to, from| {
                let pairs = to.iter_mut().zip(from);
                pairs.for_each(|(to, from)| *to = if is_sum { *to + from } else { *to * (from + plus) });
            });
        }
        map
    }
}

/// What row `y` of a convolution's outputs is made of: for each output the values under the kernel, row by row.
fn fill_patches(patches: &mut [f32], map: &Map, window: &Window, y: usize) {
    let Window { kernel, stride, pads } = *window;
    let ([height, width], channels) = (map.size, map.channels);
    for (x, patch) in patches.chunks_exact_mut(kernel[0] * kernel[1] * channels).enumerate() {
        for (ky, part) in patch.chunks_exact_mut(kernel[1] * channels).enumerate() {
            let inside = (y * stride[0] + ky).checked_sub(pads[0]).filter(|&row| row < height);
            let Some(row) = inside.map(|row| map.row(row)) else {
                part.fill(0.0);
                continue;
            };
            let left = (x * stride[1]).checked_sub(pads[1]).filter(|left| left + kernel[1] <= width);
            if let Some(left) = left.filter(|_| map.stride == channels) {
                part.copy_from_slice(&row[left * channels..][..kernel[1] * channels]);
                continue;
            }
            for (kx, part) in part.chunks_exact_mut(channels).enumerate() {
                match (x * stride[1] + kx).checked_sub(pads[1]).filter(|&column| column < width) {
                    Some(column) => part.copy_from_slice(&row[column * map.stride..][..channels]),
                    None => part.fill(0.0),
                }
            }
        }
    }
}
