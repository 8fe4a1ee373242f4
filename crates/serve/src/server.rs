//! Listening, connections, and an end that loses nothing.

use crate::access::Access;
use crate::backend::Backend;
use crate::budget::Budget;
use crate::log::RequestIds;
use crate::metrics::Metrics;
use crate::queue::Queue;
use crate::service::Service;
use crate::stall::Stall;
use crate::{ServeError, ServeOptions};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use locdiff::{Locator, PhotoLimits};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

/// How often it is asked whether to stop.
const TICK: Duration = Duration::from_millis(50);
/// The most bytes of a request's head.
const LONGEST_HEAD: usize = 64 << 10;

/// A server that listens already; [`Server::run`] answers.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    locator: Arc<Locator>,
    options: ServeOptions,
}

impl Server {
    /// Listens. Connections wait until [`Server::run`].
    ///
    /// # Errors
    /// Options that make no server, an address that cannot be had, a locator without an encoder.
    pub fn bind(locator: Locator, options: ServeOptions) -> Result<Self, ServeError> {
        options.check()?;
        if locator.encoder().is_none() {
            return Err(ServeError::NoEncoder);
        }
        let bind = |source| ServeError::Bind { address: options.address, source };
        let listener = TcpListener::bind(options.address).map_err(bind)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, locator: Arc::new(locator), options })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` says so; then it takes no more connections, finishes the requests that are under way, for as long
    /// as the options allow, and returns.
    ///
    /// # Errors
    /// No thread or socket from the system.
    pub fn run(self, stop: impl Fn() -> bool) -> Result<(), ServeError> {
        let Self { listener, locator, options, .. } = self;
        let queue = Arc::new(Queue::new(options.queue));
        let metrics = Arc::new(Metrics::new());
        let max_megapixels = options.max_megapixels;
        let service = Service {
            access: Access { keys: options.keys.clone(), origins: options.cors_origins.clone() },
            limits: PhotoLimits::of_megapixels(max_megapixels),
            queue: queue.clone(),
            metrics: metrics.clone(),
            budget: Budget::new(options.max_memory_bytes),
            ids: RequestIds::new(),
            is_stopping: AtomicBool::new(false),
            columns: locator.model().config().embedding_dim,
            info: info(&locator, &options),
            options,
        };
        let backend = Backend::new(locator, max_megapixels, queue.clone(), metrics);
        let backend = std::thread::Builder::new().name("backend".to_owned()).spawn(move || backend.run())?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let ended = runtime.block_on(listen(listener, Arc::new(service), stop));
        queue.close();
        // It catches its own faults.
        let _ = backend.join();
        Ok(ended?)
    }
}

async fn listen(
    listener: TcpListener,
    service: Arc<Service>,
    stop: impl Fn() -> bool,
) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let slots = Arc::new(Semaphore::new(service.options.connections));
    let (end, _) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !stop() {
        tokio::select! {
            _ = ticks.tick() => {}
            (stream, slot) = accept(&listener, &slots) => {
                connections.spawn(connection(stream, slot, service.clone(), end.subscribe()));
            }
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
    drop(listener);
    service.is_stopping.store(true, Ordering::SeqCst);
    end.send_replace(true);
    let all = async { while connections.join_next().await.is_some() {} };
    // What is not done by then is closed.
    let _ = timeout(service.options.shutdown_timeout, all).await;
    Ok(())
}

/// The next connection, once there is room for it.
async fn accept(
    listener: &tokio::net::TcpListener,
    slots: &Arc<Semaphore>,
) -> (TcpStream, Option<OwnedSemaphorePermit>) {
    let slot = slots.clone().acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, slot),
            // Too many open files, or a client that left at once.
            Err(_) => sleep(TICK).await,
        }
    }
}

async fn connection(
    stream: TcpStream,
    slot: Option<OwnedSemaphorePermit>,
    service: Arc<Service>,
    mut end: watch::Receiver<bool>,
) {
    let metrics = service.metrics.clone();
    metrics.connections.fetch_add(1, Ordering::Relaxed);
    let _ = stream.set_nodelay(true);
    let stream = Stall::new(stream, service.options.body_timeout);
    let header_timeout = service.options.header_timeout;
    let answer = service_fn(move |request| {
        let service = service.clone();
        async move { Ok::<_, Infallible>(service.respond(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(header_timeout)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(stream), answer);
    let mut connection = pin!(connection);
    // A broken connection is its client's to see.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = async { drop(end.wait_for(|ends| *ends).await) } => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
    metrics.connections.fetch_sub(1, Ordering::Relaxed);
    drop(slot);
}

fn info(locator: &Locator, options: &ServeOptions) -> Value {
    let config = locator.model().config();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "model": { "degree": config.degree, "embedding_dim": config.embedding_dim },
        "encoder": locator.encoder().map(|encoder| encoder.fingerprint().to_string()),
        "device": locator.model().params().device().to_string(),
        "limits": {
            "body_bytes": options.max_body_bytes,
            "megapixels": options.max_megapixels,
            "photos": options.max_photos,
            "queue": options.queue,
            "request_seconds": options.request_timeout.as_secs_f64(),
        },
    })
}
