//! Connections: a bounded number, each with times, and an end that loses nothing.

use crate::ServeOptions;
use crate::stall::{LONGEST_HEAD, Stall};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response, body::Incoming, header::TRANSFER_ENCODING, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{convert::Infallible, net::TcpListener, pin::pin, sync::Arc, time::Duration};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tokio::{net::TcpStream, task::JoinSet};

/// How often it is asked whether to stop.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// Answers requests until `stop` is true; then it accepts no more and finishes those that are under way. `open` counts connections.
pub(crate) async fn listen<A, F>(
    listener: TcpListener,
    options: &ServeOptions,
    open: Arc<AtomicU64>,
    answer: A,
    stop: impl Fn() -> bool,
) -> std::io::Result<()>
where
    A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let slots = Arc::new(Semaphore::new(options.connections));
    let (end, _) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !stop() {
        tokio::select! {
            _ = ticks.tick() => {}
            (stream, slot) = accept(&listener, &slots) => {
                let _ = stream.set_nodelay(true);
                let stream = Stall::new(stream, options.body_timeout);
                let connection = connection(stream, options.header_timeout, answer.clone(), end.subscribe());
                let open = open.clone();
                connections.spawn(async move {
                    open.fetch_add(1, Ordering::Relaxed);
                    connection.await;
                    open.fetch_sub(1, Ordering::Relaxed);
                    drop(slot);
                });
            }
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
    drop(listener);
    end.send_replace(true);
    let all = async { while connections.join_next().await.is_some() {} };
    // What is not done by then is closed.
    let _ = timeout(options.shutdown_timeout, all).await;
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

/// Marks a request whose body's length is said twice, or may be: hyper drops the `Content-Length` beside a `Transfer-Encoding`
/// without a word, while a proxy in front may have gone by it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnclearLength;

/// Whether a request, with its head as it came, has both. Where the head was not seen from its beginning, since it came before the
/// last response went out, it may have.
fn has_unclear_length(request: &Request<Incoming>, head: &[u8]) -> bool {
    let mut lines = head.trim_ascii_start().split(|byte| *byte == b'\n');
    let is_whole = lines.next().is_some_and(|line| line.starts_with(request.method().as_str().as_bytes()));
    let mut names = lines.map(<[u8]>::trim_ascii_end).take_while(|line| !line.is_empty());
    let is_length =
        |line: &[u8]| line.split(|byte| *byte == b':').next().unwrap_or(line).eq_ignore_ascii_case(b"content-length");
    request.headers().contains_key(TRANSFER_ENCODING) && (!is_whole || names.any(is_length))
}

async fn connection<A, F>(stream: Stall, header_timeout: Duration, answer: A, mut end: watch::Receiver<bool>)
where
    A: Fn(Request<Incoming>) -> F + Send + 'static,
    F: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
    let seen = stream.seen();
    let answer = service_fn(move |mut request| {
        if has_unclear_length(&request, &seen.take()) {
            request.extensions_mut().insert(UnclearLength);
        }
        let response = answer(request);
        async move { Ok::<_, Infallible>(response.await) }
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
}
