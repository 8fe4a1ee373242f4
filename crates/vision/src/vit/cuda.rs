//! A vision transformer on CUDA: bf16 weights and products, f32 residual stream, the whole pass as one CUDA graph.

use super::weights::{Dense, LayerWeights, Norm, VitReader};
use super::{config::Pooling, config::VitConfig, names::Names};
use crate::network::{Network, OnHost, Outboxes, RGB, ReadTensor, Running, Started, decode_on_host};
use crate::{Preprocessing, Result, VisionError};
use locdiff_nn::bf16::{self, Bf16Tensor, Bf16View, Bf16ViewMut};
use locdiff_nn::photos::{Call, DevicePhotos, JpegDecoder, MOST_BYTES, Outbox, Picture};
use locdiff_nn::{Device, Recorded, Tensor, ViewMut, ops};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Rows of tokens that keep the device busy; batches have about as many.
const ROWS: usize = 40_000;
/// Batches are multiples of this many pictures.
const BATCH_STEP: usize = 64;
const GRAPHS: usize = 4;

/// A product: with a bias of bf16 its result stays in bf16, with one of f32 it is added to the residual stream.
struct Product<B> {
    weight: Bf16Tensor,
    bias: B,
}

type Inner = Product<Bf16Tensor>;
type Outer = Product<Tensor>;

struct Layer {
    norm1: Tensor,
    query: Inner,
    key_value: Inner,
    out: Outer,
    norm2: Tensor,
    fc1: Inner,
    fc2: Outer,
    /// How much of what came in stays: 1, or 0 where the layer replaces it.
    stays: f32,
}

struct Weights {
    patches: Bf16Tensor,
    positions: Tensor,
    before: Option<Tensor>,
    layers: Vec<Layer>,
    last: Last,
    projection: Option<Bf16Tensor>,
}

enum Last {
    Norm(Tensor),
    Head(Box<Layer>),
}

struct Buffers {
    /// Rounded before they travel: the patches are rounded anyway.
    pixels: Bf16Tensor,
    patches: Bf16Tensor,
    embedded: Bf16Tensor,
    tokens: Tensor,
    normed: Bf16Tensor,
    query: Bf16Tensor,
    key_value: Bf16Tensor,
    attended: Bf16Tensor,
    inner: Bf16Tensor,
    output: Tensor,
}

struct State {
    rounded: Vec<u16>,
    buffers: Buffers,
    graphs: HashMap<usize, Recorded>,
    /// Made for the first batch of [`Network::start`].
    photos: Option<DevicePhotos>,
}

/// A vision tower on a CUDA device. Tensors are named as in [`super::VisionTransformer`].
pub(crate) struct VisionTransformerCuda {
    config: VitConfig,
    device: Device,
    batch: usize,
    weights: Weights,
    state: Mutex<State>,
    decoder: OnceLock<Option<JpegDecoder>>,
    idle: Outboxes,
}

impl VisionTransformerCuda {
    /// A tower whose weights come from `tensor(name, shape)`: f32 values in PyTorch's order, rounded to bf16 here.
    pub(crate) fn new(
        config: &VitConfig,
        names: &'static Names,
        device: &Device,
        tensor: impl ReadTensor,
    ) -> Result<Self> {
        config.check()?;
        let weights = read(VitReader { config, names, tensor }, device)?;
        let batch = (ROWS / config.tokens() / BATCH_STEP).max(1) * BATCH_STEP;
        let buffers = Buffers::new(config, device, batch)?;
        let state = Mutex::new(State { rounded: Vec::new(), buffers, graphs: HashMap::new(), photos: None });
        let (config, device) = (config.clone(), device.clone());
        Ok(Self { config, device, batch, weights, state, decoder: OnceLock::new(), idle: Outboxes::default() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, state: &mut State, count: usize) -> Result<()> {
        let State { buffers, graphs, .. } = state;
        if !graphs.contains_key(&count) && graphs.len() >= GRAPHS {
            graphs.clear();
        }
        let graph = graphs.entry(count).or_insert_with(|| Recorded::new(&self.device));
        Ok(graph.run(|| self.pass(buffers, count))?)
    }

    fn embeddings(&self, state: &mut State, count: usize) -> Result<Vec<Vec<f32>>> {
        self.run(state, count)?;
        let width = self.config.embedding();
        let mut values = vec![0.0; count * width];
        state.buffers.output.download_rows(&mut values)?;
        Ok(values.chunks_exact(width).map(<[f32]>::to_vec).collect())
    }

    fn pass(&self, buffers: &mut Buffers, count: usize) -> locdiff_nn::Result<()> {
        let VitConfig { side, patch, eps, .. } = self.config;
        let (tokens, weights) = (self.config.tokens(), &self.weights);
        let (rows, places) = (count * tokens, count * self.config.patches());
        let Buffers { pixels, patches, embedded, tokens: x, .. } = buffers;
        bf16::patches_bf16(patches.rows_mut(places), pixels.rows(count), side, patch)?;
        bf16::linear(embedded.rows_mut(places), patches.rows(places), weights.patches.view(), None)?;
        let (positions, before) = (weights.positions.view(), weights.before.as_ref().map(Tensor::view));
        bf16::embed_tokens(x.view_mut().row_range(0..rows), embedded.rows(places), positions, before, eps)?;
        for (number, layer) in weights.layers.iter().enumerate() {
            // Where the class token is the embedding, only it is used of the last layer.
            let only_class = number + 1 == weights.layers.len() && self.config.pooling == Pooling::Class;
            self.layer(buffers, layer, count, if only_class { tokens } else { 1 })?;
        }
        if let Last::Head(head) = &weights.last {
            self.layer(buffers, head, count, tokens)?;
        }
        self.pool(buffers, count)
    }

    fn pool(&self, buffers: &mut Buffers, count: usize) -> locdiff_nn::Result<()> {
        let VitConfig { width, eps, pooling, .. } = self.config;
        let tokens = self.config.tokens();
        let Buffers { tokens: x, normed, output, .. } = buffers;
        let all = x.view().row_range(0..count * tokens);
        let first = all.every_row(tokens);
        let mut output = output.view_mut().row_range(0..count);
        let Last::Norm(after) = &self.weights.last else { return ops::copy(output, first) };
        if let Some(projection) = &self.weights.projection {
            bf16::layer_norm_bf16(normed.rows_mut(count), first, after.view(), eps)?;
            return bf16::linear_f32(output, normed.rows(count), projection.view(), 0.0, None);
        }
        let mut at = 0;
        if pooling != Pooling::Mean {
            let after = after.view().broadcast_rows(0, count);
            ops::layer_norm(output.reborrow().columns(0..width), first, after, eps)?;
            at = width;
        }
        if pooling != Pooling::Class {
            bf16::layer_norm_bf16(normed.rows_mut(count * tokens), all, after.view(), eps)?;
            let mean = output.columns(at..at + width);
            bf16::mean_rows(mean, normed.rows(count * tokens), self.config.class_tokens())?;
        }
        Ok(())
    }

    /// One layer, of every `step`-th token.
    fn layer(&self, buffers: &mut Buffers, layer: &Layer, count: usize, step: usize) -> locdiff_nn::Result<()> {
        let eps = self.config.eps;
        let rows = count * self.config.tokens();
        let queries = rows / step;
        let Buffers { tokens: x, normed, query, key_value, attended, inner, .. } = buffers;
        bf16::layer_norm_bf16(normed.rows_mut(rows), x.view().row_range(0..rows), layer.norm1.view(), eps)?;
        layer.key_value.run(key_value.rows_mut(rows), normed.rows(rows))?;
        layer.query.run(query.rows_mut(queries), normed.rows(rows).every_row(step))?;
        let heads = self.config.heads;
        bf16::attention(attended.rows_mut(queries), query.rows(queries), key_value.rows(rows), count, heads)?;
        layer.out.add(x.view_mut().row_range(0..rows).every_row(step), attended.rows(queries), layer.stays)?;
        let stream = x.view().row_range(0..rows).every_row(step);
        bf16::layer_norm_bf16(normed.rows_mut(queries), stream, layer.norm2.view(), eps)?;
        layer.fc1.run(inner.rows_mut(queries), normed.rows(queries))?;
        bf16::activate_bf16(self.config.activation, inner.rows_mut(queries))?;
        layer.fc2.add(x.view_mut().row_range(0..rows).every_row(step), inner.rows(queries), 1.0)
    }
}

impl Inner {
    fn new(device: &Device, inputs: usize, Dense { weight, bias }: &Dense) -> Result<Self> {
        let weight = Bf16Tensor::from_slice(device, bias.len(), inputs, weight)?;
        Ok(Self { weight, bias: Bf16Tensor::from_slice(device, 1, bias.len(), bias)? })
    }

    fn run(&self, y: Bf16ViewMut<'_>, x: Bf16View<'_>) -> locdiff_nn::Result<()> {
        bf16::linear(y, x, self.weight.view(), Some(self.bias.view()))
    }
}

impl Outer {
    fn new(device: &Device, inputs: usize, Dense { weight, bias }: &Dense) -> Result<Self> {
        let weight = Bf16Tensor::from_slice(device, bias.len(), inputs, weight)?;
        Ok(Self { weight, bias: Tensor::from_slice(device, 1, bias.len(), bias)? })
    }

    fn add(&self, stream: ViewMut<'_>, x: Bf16View<'_>, stays: f32) -> locdiff_nn::Result<()> {
        bf16::linear_f32(stream, x, self.weight.view(), stays, Some(self.bias.view()))
    }
}

fn read(mut reader: VitReader<'_, impl ReadTensor>, device: &Device) -> Result<Weights> {
    let config = reader.config;
    let VitConfig { width, inner, patch, layers, .. } = *config;
    let norm = |norm: Norm| -> Result<Tensor> {
        Ok(Tensor::from_slice(device, 1, 2 * width, &[norm.gain, norm.shift].concat())?)
    };
    let patches = Bf16Tensor::from_slice(device, width, RGB * patch * patch, &reader.patch_weights()?)?;
    let positions = Tensor::from_slice(device, config.tokens(), width, &reader.positions()?)?;
    let before = reader.before()?.map(norm).transpose()?;
    let layer = |weights: LayerWeights| -> Result<Layer> {
        Ok(Layer {
            norm1: norm(weights.norm1)?,
            query: Inner::new(device, width, &weights.query)?,
            key_value: Inner::new(device, width, &weights.key_value)?,
            out: Outer::new(device, width, &weights.out)?,
            norm2: norm(weights.norm2)?,
            fc1: Inner::new(device, width, &weights.fc1)?,
            fc2: Outer::new(device, inner, &weights.fc2)?,
            stays: if weights.replaces { 0.0 } else { 1.0 },
        })
    };
    let layers = (0..layers).map(|number| layer(reader.layer(number)?)).collect::<Result<_>>()?;
    let last = match config.pooling {
        Pooling::Attention => Last::Head(Box::new(layer(reader.pooling_head()?)?)),
        _ => Last::Norm(norm(reader.after()?)?),
    };
    let project = |weight: Vec<f32>| Bf16Tensor::from_slice(device, config.embedding(), width, &weight);
    let projection = reader.projection()?.map(project).transpose()?;
    Ok(Weights { patches, positions, before, layers, last, projection })
}

impl Buffers {
    fn new(config: &VitConfig, device: &Device, batch: usize) -> Result<Self> {
        let VitConfig { side, patch, width, inner, .. } = *config;
        let (rows, places) = (batch * config.tokens(), batch * config.patches());
        Ok(Self {
            pixels: Bf16Tensor::zeros(device, batch, side * side * RGB)?,
            patches: Bf16Tensor::zeros(device, places, RGB * patch * patch)?,
            embedded: Bf16Tensor::zeros(device, places, width)?,
            tokens: Tensor::zeros(device, rows, width)?,
            normed: Bf16Tensor::zeros(device, rows, width)?,
            query: Bf16Tensor::zeros(device, rows, width)?,
            key_value: Bf16Tensor::zeros(device, rows, 2 * width)?,
            attended: Bf16Tensor::zeros(device, rows, width)?,
            inner: Bf16Tensor::zeros(device, rows, inner)?,
            output: Tensor::zeros(device, batch, config.embedding())?,
        })
    }
}

impl Network for VisionTransformerCuda {
    fn embedding(&self) -> usize {
        self.config.embedding()
    }

    fn batch(&self) -> usize {
        self.batch
    }

    fn forward(&self, pictures: &[f32], _side: usize) -> Result<Vec<Vec<f32>>> {
        let one = self.config.side * self.config.side * RGB;
        let count = pictures.len() / one;
        if !pictures.len().is_multiple_of(one) || count > self.batch {
            let what = format!("pictures of {0}×{0} RGB pixels (or up to {1} times)", self.config.side, self.batch);
            return Err(VisionError::InputSize { what, wanted: one, got: pictures.len() });
        }
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut state = self.lock();
        let State { rounded, buffers, .. } = &mut *state;
        buffers.pixels.upload_rows(pictures, rounded)?;
        self.embeddings(&mut state, count)
    }

    fn decoder(&self) -> Option<&JpegDecoder> {
        self.decoder.get_or_init(|| JpegDecoder::open(&self.device)).as_ref()
    }

    fn start(&self, pictures: Vec<Picture>, of: &Preprocessing, on_host: OnHost<'_>) -> Result<Started> {
        let (count, side, width) = (pictures.len(), self.config.side, self.config.embedding());
        let reserve = |first: usize, part: Vec<Picture>| -> Result<Call> {
            let photos = &mut self.lock().photos;
            let photos = match photos {
                Some(photos) => photos,
                None => photos.insert(DevicePhotos::new(&self.device, side, &of.normal_bytes(), self.decoder())?),
            };
            Ok(photos.reserve(first, part)?)
        };
        let (mut failures, mut calls) = (Vec::new(), Vec::new());
        let mut first = 0;
        let mut rest = pictures.into_iter().peekable();
        while rest.peek().is_some() {
            let (mut part, mut bytes) = (Vec::new(), 0);
            while let Some(picture) = rest.next_if(|next| part.is_empty() || bytes + next.bytes(side) <= MOST_BYTES) {
                bytes += picture.bytes(side);
                part.push(picture);
            }
            let many = part.len();
            let mut call = reserve(first, part)?;
            if !call.decode()? {
                let mut part = self.lock().photos.as_mut().map_or_else(Vec::new, |photos| photos.give_back(call));
                failures.extend(decode_on_host(&mut part, first, side, on_host));
                call = reserve(first, part)?;
                call.decode()?;
            }
            calls.push(call);
            first += many;
        }
        let mut state = self.lock();
        let State { photos: Some(photos), buffers, .. } = &mut *state else {
            return Ok(Started { embeddings: Vec::new(), running: None, failures });
        };
        for call in calls {
            photos.launch(&mut buffers.pixels, call)?;
        }
        self.run(&mut state, count)?;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut outbox = idle.map_or_else(|| Outbox::new(&self.device, self.batch * width), Ok)?;
        outbox.take(state.buffers.output.view().row_range(0..count))?;
        let running = Running { outbox, idle: Arc::clone(&self.idle), count, width };
        Ok(Started { embeddings: Vec::new(), running: Some(running), failures })
    }

    fn last_pixels(&self) -> Result<Vec<f32>> {
        Ok(self.lock().buffers.pixels.to_vec()?)
    }

    fn run_again(&self, count: usize) -> Result<()> {
        if count > self.batch {
            let what = "pictures of a batch".to_owned();
            return Err(VisionError::InputSize { what, wanted: self.batch, got: count });
        }
        let mut state = self.lock();
        self.run(&mut state, count)?;
        Ok(self.device.synchronize()?)
    }
}
