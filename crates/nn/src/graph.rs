//! Recording a sequence of operations once and running it many times.

use crate::{Device, Result, cuda, device::Backend};

/// A sequence of operations that is run many times: a training step, a whole sampler.
/// On CUDA the first [`Recorded::run`] runs the operations one by one (which prepares everything they need), the second
/// records them into a CUDA graph, and later runs launch that graph with one call. On the CPU every run calls the closure.
/// So the closure must do the same thing each time, with everything that changes (data, counters, rates) in device memory,
/// and it must not read results back.
pub struct Recorded {
    device: Device,
    prepared: bool,
    graph: Option<cuda::Graph>,
}

impl Recorded {
    /// Nothing recorded yet.
    pub fn new(device: &Device) -> Self {
        Self { device: device.clone(), prepared: false, graph: None }
    }

    /// Runs the sequence once.
    pub fn run(&mut self, mut operations: impl FnMut() -> Result<()>) -> Result<()> {
        let Backend::Cuda(context) = &self.device.backend else { return operations() };
        if let Some(graph) = &self.graph {
            return graph.launch();
        }
        if !self.prepared {
            self.prepared = true;
            return operations();
        }
        let graph = context.record(&mut operations)?;
        graph.launch()?;
        self.graph = Some(graph);
        Ok(())
    }

    /// Forgets the recording: the next run prepares again.
    pub fn clear(&mut self) {
        self.prepared = false;
        self.graph = None;
    }
}
