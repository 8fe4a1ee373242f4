//! A server: the backend's thread, and connections.

use crate::{ServeError, ServeOptions, access::Access, backend::Backend, body::Budget, connections::listen};
use crate::{engine::about, hosts::Hosts, log::RequestIds, metrics::Metrics, queue::Queue, service::Service};
use locdiff::{Locator, PhotoLimits};
use locdiff_base::ensure;
use serde_json::{Value, json};
use std::{net::SocketAddr, net::TcpListener, sync::Arc, sync::atomic::AtomicBool, sync::atomic::Ordering};

/// A server that listens already; [`Server::run`] answers.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    locator: Arc<Locator>,
    options: ServeOptions,
}

impl Server {
    /// Listens. Connections wait until [`Server::run`]. Fails if the options make no server, the address cannot be had, or the locator
    /// has no encoder.
    pub fn bind(locator: Locator, options: ServeOptions) -> Result<Self, ServeError> {
        options.check()?;
        ensure!(locator.encoder().is_some(), ServeError::NoEncoder);
        let bind = |source| ServeError::Bind { address: options.address, source };
        let listener = TcpListener::bind(options.address).map_err(bind)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, locator: Arc::new(locator), options })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` is true; then it takes no more connections, finishes the requests that are under way, for as long
    /// as the options allow, and returns. Fails if the system gives no thread or socket.
    pub fn run(self, stop: impl Fn() -> bool) -> Result<(), ServeError> {
        let Self { listener, locator, options, .. } = self;
        let queue = Arc::new(Queue::new(options.queue));
        let metrics = Arc::new(Metrics::new());
        let max_megapixels = options.max_megapixels;
        let service = Arc::new(Service {
            access: Access { keys: options.keys.clone(), origins: options.cors_origins.clone() },
            hosts: Hosts::new(options.address.ip(), &options.allowed_hosts),
            limits: PhotoLimits::of_megapixels(max_megapixels),
            queue: queue.clone(),
            metrics: metrics.clone(),
            budget: Budget::new(options.max_memory_bytes),
            ids: RequestIds::new(),
            is_stopping: AtomicBool::new(false),
            columns: locator.model().config().embedding_dim,
            info: info(&locator, &options),
            options,
        });
        let backend = Backend::new(locator, max_megapixels, queue.clone(), metrics.clone());
        let backend = std::thread::Builder::new().name("backend".to_owned()).spawn(move || backend.run())?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let asked = service.clone();
        let answer = move |request| {
            let service = asked.clone();
            async move { service.respond(request).await }
        };
        let stop = || {
            let stops = stop();
            service.is_stopping.fetch_or(stops, Ordering::SeqCst);
            stops
        };
        let ended = runtime.block_on(listen(listener, &service.options, metrics.connections.clone(), answer, stop));
        queue.close();
        // It catches its own faults.
        let _ = backend.join();
        Ok(ended?)
    }
}

fn info(locator: &Locator, options: &ServeOptions) -> Value {
    let mut info = about(locator);
    info["device"] = json!(locator.model().params().device().to_string());
    info["limits"] = json!({
        "body_bytes": options.max_body_bytes, "megapixels": options.max_megapixels, "photos": options.max_photos,
        "queue": options.queue, "request_seconds": options.request_timeout.as_secs_f64(),
    });
    info
}
