//! A connection that is closed when its client reads nothing for too long.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{io, pin::Pin, task::Context, task::Poll, time::Duration};
use tokio::{io::AsyncRead, io::AsyncWrite, io::ReadBuf, net::TcpStream, time::Sleep, time::sleep};

/// The most bytes of a request's head.
pub(crate) const LONGEST_HEAD: usize = 64 << 10;

/// A stream whose writes may stand still for so long only.
pub(crate) struct Stall {
    stream: TcpStream,
    limit: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
    seen: Seen,
}

impl Stall {
    pub(crate) fn new(stream: TcpStream, limit: Duration) -> Self {
        let seen = Seen(Arc::new(Mutex::new(Some(Vec::new()))));
        Self { stream, limit, waiting: None, seen }
    }

    pub(crate) fn seen(&self) -> Seen {
        self.seen.clone()
    }

    /// What a write came to; one that waits, waits until the limit.
    fn watched<T>(&mut self, context: &mut Context<'_>, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            // What comes from here on is the next request.
            *self.seen.lock() = Some(Vec::new());
            self.waiting = None;
            return result;
        }
        let limit = self.limit;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(limit)));
        match waiting.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// What was read since the last write, as far as a head can reach; nothing from when it is taken until the next write.
#[derive(Clone)]
pub(crate) struct Seen(Arc<Mutex<Option<Vec<u8>>>>);

impl Seen {
    fn lock(&self) -> MutexGuard<'_, Option<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn take(&self) -> Vec<u8> {
        self.lock().take().unwrap_or_default()
    }
}

impl AsyncRead for Stall {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        let before = into.filled().len();
        let result = Pin::new(&mut own.stream).poll_read(context, into);
        if let Some(seen) = &mut *own.seen.lock() {
            let new = &into.filled()[before..];
            seen.extend_from_slice(&new[..new.len().min(LONGEST_HEAD.saturating_sub(seen.len()))]);
        }
        result
    }
}

impl AsyncWrite for Stall {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let own = self.get_mut();
        let result = Pin::new(&mut own.stream).poll_write(context, bytes);
        own.watched(context, result)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let own = self.get_mut();
        let result = Pin::new(&mut own.stream).poll_write_vectored(context, slices);
        own.watched(context, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
