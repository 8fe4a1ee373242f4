//! Connections: a bounded number, each with times, and an end that loses nothing.

use crate::{ServeOptions, stall::LONGEST_HEAD, stall::Stall};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response, body::Incoming, header::TRANSFER_ENCODING, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::{collections::HashMap, convert::Infallible, pin::pin, sync::Arc, time::Duration};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use tokio::{net::TcpStream, sync::watch, task::AbortHandle, task::JoinSet};

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
    let (end, _) = watch::channel(false);
    let (mut connections, mut known) = (JoinSet::new(), Known { all: Vec::new(), most: options.connections });
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !stop() {
        tokio::select! {
            _ = ticks.tick() => {}
            (stream, address) = accept(&listener), if known.has_room() => {
                let _ = stream.set_nodelay(true);
                let stream = Stall::new(stream, options.body_timeout);
                let has_asked = Arc::new(AtomicBool::new(false));
                let (asked, answer, counted) = (has_asked.clone(), answer.clone(), Counted::new(&open));
                let answer = move |request: Request<Incoming>| {
                    asked.store(true, Ordering::Relaxed);
                    answer(request)
                };
                let connection = connection(stream, options.header_timeout, answer, end.subscribe());
                known.make_room();
                let task = connections.spawn(async move {
                    connection.await;
                    drop(counted);
                });
                known.all.push(Connection { address: address.ip(), has_asked, task });
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

async fn accept(listener: &tokio::net::TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            // Too many open files, or a client that left at once.
            Err(_) => sleep(TICK).await,
        }
    }
}

/// A connection in a gauge, for as long as it is open.
struct Counted(Arc<AtomicU64>);

impl Counted {
    fn new(open: &Arc<AtomicU64>) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Self(open.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whose a connection is, whether it has asked anything yet, and what ends it.
struct Connection {
    address: IpAddr,
    has_asked: Arc<AtomicBool>,
    task: AbortHandle,
}

/// The connections that are open, oldest first. Those that never asked anything give way to new ones.
struct Known {
    all: Vec<Connection>,
    most: usize,
}

impl Known {
    fn has_room(&mut self) -> bool {
        self.all.retain(|one| !one.task.is_finished());
        self.all.len() < self.most || self.all.iter().any(Connection::is_silent)
    }

    /// If all places are taken, the address with the most connections loses its oldest that never asked anything.
    fn make_room(&mut self) {
        if self.all.len() < self.most {
            return;
        }
        let mut counts: HashMap<IpAddr, usize> = HashMap::new();
        self.all.iter().for_each(|one| *counts.entry(one.address).or_default() += 1);
        let silent = self.all.iter().enumerate().rev().filter(|(_, one)| one.is_silent());
        if let Some((at, _)) = silent.max_by_key(|(_, one)| counts[&one.address]) {
            self.all.remove(at).task.abort();
        }
    }
}

impl Connection {
    fn is_silent(&self) -> bool {
        !self.has_asked.load(Ordering::Relaxed)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_most_connections_loses_the_oldest_that_never_asked() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut tasks = JoinSet::new();
        let mut open = |address: [u8; 4], has_asked: bool| {
            let task = tasks.spawn_on(std::future::pending::<()>(), runtime.handle());
            Connection { address: address.into(), has_asked: Arc::new(AtomicBool::new(has_asked)), task }
        };
        let all = [([1; 4], false), ([2; 4], true), ([2; 4], false), ([2; 4], false), ([2; 4], true)];
        let mut known = Known { all: all.map(|(address, has_asked)| open(address, has_asked)).into(), most: 5 };
        let kept = known.all[3].task.id();
        assert!(known.has_room());
        known.make_room();
        assert!(known.all.len() == 4 && known.all[2].task.id() == kept, "the first silent one of 2.2.2.2 is gone");
        known.make_room();
        assert_eq!(known.all.len(), 4, "there is room");
        known.most = 4;
        known.make_room();
        known.most = 3;
        known.make_room();
        known.most = 2;
        assert!(known.all.len() == 2 && !known.has_room(), "those that asked stay");
    }
}
