//! One training step on the device, recorded as one graph on CUDA.

use crate::train::{Result, TrainSettings, batches::Batch, batches::DeviceFeed};
use crate::{CodeWriter, Model, Objective, diffusion::TrainingTables, network::Network, network::NetworkBuffers};
use locdiff_nn::{Adam, Device, Gradients, Indices, NnError, Params, Recorded, Rng, Snapshot, Tensor, TrainingState};
use locdiff_nn::{feed::Inbox, layers::ForwardMode, ops};
use std::ops::Range;

/// The streams of random numbers inside a step.
const NOISE: u32 = 0;
const TIME: u32 = 1;
const DROP_CONDITION: u32 = 2;
const EMBEDDING_NOISE: u32 = 3;
const DROPOUT: u32 = 10;

/// The host runs no further ahead of the device, so that it soon sees a wish to stop; one wait in so many steps costs nothing.
const MOST_AHEAD: u32 = 32;

/// Weights, optimiser and storage of a run.
pub(crate) struct TrainStep {
    net: Network,
    params: Params,
    grads: Gradients,
    /// The sum over the passes, where there are several.
    total: Option<Gradients>,
    adam: Adam,
    pub(crate) objective: Objective,
    work: NetworkBuffers,
    tables: TrainingTables,
    rng: Rng,
    seed: u64,
    batch: usize,
    /// Rows that go in one pass.
    pass: usize,
    condition_dropout: f32,
    embedding_noise: f32,
    /// Losses that compare value by value want the mixed target instead of the code.
    pointwise: bool,
    code: Tensor,
    cond: Tensor,
    cond_noise: Tensor,
    cond_kept: Tensor,
    noise: Tensor,
    noisy: Tensor,
    target: Tensor,
    d_out: Tensor,
    t: Indices,
    t_value: Tensor,
    loss: Tensor,
    loss_sum: Tensor,
    /// On CUDA: makes the batches on the device.
    feed: Option<DeviceFeed>,
    /// Brings embeddings from the host, where they are there.
    inbox: Option<Inbox>,
    /// Steps given to the device since it was last waited for.
    ahead: u32,
    device: Device,
    recorded: Recorded,
}

impl TrainStep {
    pub(crate) fn new(device: &Device, model: &Model, codes: &CodeWriter, settings: &TrainSettings) -> Result<Self> {
        let (config, pass) = (model.config(), settings.batch / settings.accumulate);
        let params = model.params().to_device(device)?;
        let zeros = |cols: usize| Tensor::zeros(device, pass, cols);
        let inputs = |cols: usize| Tensor::zeros(device, settings.batch, cols);
        let (dim, cond) = (config.code_dim(), config.embedding_dim);
        let schedule = config.schedule()?;
        let repeats = settings.pure_noise_repeats(schedule.steps());
        Ok(Self {
            net: model.net().clone(),
            grads: Gradients::new(&params)?,
            total: if settings.accumulate > 1 { Some(Gradients::new(&params)?) } else { None },
            adam: Adam::new(settings.adam(), &params)?,
            objective: Objective::new(device, config, codes, model.quadrature(), pass)?,
            work: model.net().work(device, pass)?,
            tables: TrainingTables::new(device, &schedule, config.prediction, config.code_scale.factor(), repeats)?,
            rng: Rng::new(device, config.seed)?,
            seed: config.seed,
            batch: settings.batch,
            pass,
            condition_dropout: settings.condition_dropout,
            embedding_noise: settings.embedding_noise,
            pointwise: config.loss.is_pointwise(),
            code: inputs(dim)?,
            cond: inputs(cond)?,
            cond_noise: zeros(cond)?,
            cond_kept: zeros(cond)?,
            noise: zeros(dim)?,
            noisy: zeros(dim)?,
            target: zeros(dim)?,
            d_out: zeros(dim)?,
            t: Indices::from_slice(device, &vec![0; pass])?,
            t_value: zeros(1)?,
            loss: zeros(1)?,
            loss_sum: Tensor::zeros(device, 1, 1)?,
            feed: None,
            inbox: None,
            ahead: 0,
            device: device.clone(),
            recorded: Recorded::new(device),
            params,
        })
    }

    /// From here on batches are made on the device.
    pub(crate) fn set_feed(&mut self, feed: DeviceFeed) -> Result<()> {
        if !feed.holds_embeddings() {
            self.inbox = Some(Inbox::new(&self.device, self.cond.rows() * self.cond.cols())?);
        }
        self.feed = Some(feed);
        Ok(())
    }

    /// On CUDA: computes gradients once and forgets them, so that libraries and kernels are loaded before the first step.
    pub(crate) fn warm_up(&mut self) -> Result<()> {
        if self.device.is_cuda() {
            self.passes()?;
            self.loss_sum.upload(&[0.0])?;
            self.wait()?;
        }
        Ok(())
    }

    /// One step, with a batch unless the device has all it needs.
    pub(crate) fn run(&mut self, batch: Option<&Batch>) -> Result<()> {
        if let Some(batch) = batch {
            match &mut self.inbox {
                Some(inbox) => inbox.send(&mut self.cond, &batch.cond)?,
                None => self.cond.upload(&batch.cond)?,
            }
            if self.feed.is_none() {
                self.code.upload(&batch.codes)?;
            }
            if self.feed.is_none() && self.objective.wants_fresh_anchors() {
                self.objective.set_anchors(&batch.anchors)?;
            }
        }
        let mut recorded = std::mem::replace(&mut self.recorded, Recorded::new(&Device::cpu()));
        let outcome = recorded.run(|| {
            self.passes()?;
            self.update()
        });
        self.recorded = recorded;
        outcome?;
        self.ahead += 1;
        if self.ahead == MOST_AHEAD { self.wait() } else { Ok(()) }
    }

    pub(crate) fn wait(&mut self) -> Result<()> {
        self.ahead = 0;
        Ok(self.device.synchronize()?)
    }

    /// The gradients of the batch, in as many passes as were asked for.
    fn passes(&mut self) -> Result<(), NnError> {
        if let Some(feed) = &mut self.feed {
            self.rng.set_first_row(0);
            feed.fill(self.cond.view_mut(), self.code.view_mut(), &self.rng)?;
            // Anchors are wanted by the loss only: they are made beside the forward pass.
            if let Some(codes) = self.objective.anchors_mut() {
                self.device.aside(|| feed.fill_anchors(codes, &self.rng))?;
            }
        }
        for start in (0..self.batch).step_by(self.pass) {
            self.rng.set_first_row(start);
            self.one_pass(start..start + self.pass)?;
            if let Some(total) = &mut self.total {
                total.gather(&self.grads, start == 0)?;
            }
        }
        Ok(())
    }

    fn one_pass(&mut self, rows: Range<usize>) -> Result<(), NnError> {
        let mut cond = self.cond.view().row_range(rows.clone());
        if self.embedding_noise > 0.0 {
            ops::fill_normal(self.cond_noise.view_mut(), &self.rng, EMBEDDING_NOISE)?;
            ops::axpby(self.cond_noise.view_mut(), 1.0, cond, self.embedding_noise)?;
            cond = self.cond_noise.view();
        }
        let (p, kept) = (self.condition_dropout, self.cond_kept.view_mut());
        ops::drop_rows(kept, cond, p, &self.rng, DROP_CONDITION)?;
        let (code, cond) = (self.code.view().row_range(rows), self.cond_kept.view());
        if self.net.reads_noise() {
            let (noisy, noise) = (self.noisy.view_mut(), self.noise.view_mut());
            let out = ops::NoiseCodes { noisy, noise, t: &mut self.t, t_value: self.t_value.view_mut() };
            let tables = (self.tables.noisy.view(), self.tables.times.view());
            ops::noise_codes(out, code, tables, &self.rng, (NOISE, TIME))?;
        }
        self.objective.begin(code)?;
        let mode = ForwardMode::Train { rng: &self.rng, first_stream: DROPOUT };
        let noisy = self.noisy.view();
        self.net.forward(&self.params, &mut self.work, noisy, cond, self.t_value.view(), mode)?;
        let target = if self.pointwise {
            ops::mix_rows(self.target.view_mut(), code, self.noise.view(), self.tables.target.view(), &self.t)?;
            self.target.view()
        } else {
            code
        };
        let scale = 1.0 / self.batch as f32;
        if self.feed.is_some() && self.objective.wants_fresh_anchors() {
            self.device.join_aside()?;
        }
        let (de, loss) = (self.d_out.view_mut(), self.loss.view_mut());
        self.objective.apply((de, loss), (self.work.output(), target), scale)?;
        ops::column_sums(self.loss_sum.view_mut(), self.loss.view(), true)?;
        self.net.backward(&self.params, &mut self.grads, &mut self.work, noisy, cond, self.d_out.view())
    }

    fn update(&mut self) -> Result<(), NnError> {
        self.adam.step(&mut self.params, self.total.as_ref().unwrap_or(&self.grads))?;
        self.rng.advance()
    }

    /// The sum of the losses since the last call; waits for the device.
    pub(crate) fn take_loss(&mut self) -> Result<f64> {
        let sum = f64::from(self.loss_sum.to_vec()?[0]);
        self.loss_sum.upload(&[0.0])?;
        Ok(sum)
    }

    /// Learning rate and norm of the gradient of the last step.
    pub(crate) fn last_step(&self) -> Result<(f32, f32)> {
        Ok(self.adam.last_step()?)
    }

    pub(crate) fn averaged(&self) -> Result<Vec<f32>> {
        Ok(self.adam.ema().unwrap_or(&self.params).to_vec()?)
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot::new(&self.adam, &self.params)
    }

    /// Everything that a checkpoint needs, after so many steps; on CUDA without waiting for them.
    pub(crate) fn take(&self, snapshot: &mut Snapshot, step: u32) -> Result<()> {
        Ok(snapshot.take(&self.adam, &self.params, step)?)
    }

    pub(crate) fn import(&mut self, state: &TrainingState) -> Result<()> {
        self.adam.import_state(&mut self.params, state)?;
        Ok(self.rng.set(self.seed, u64::from(state.step))?)
    }
}
