//! Bodies, read within limits of bytes, memory and time, and the memory that all of them may take together.

use crate::problem::{Kind, Problem};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use locdiff_base::ensure;
use std::{sync::Arc, sync::atomic::AtomicU64, sync::atomic::Ordering, time::Duration};
use tokio::time::{Instant, timeout, timeout_at};

/// What a body may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyLimits {
    pub(crate) bytes: u64,
    pub(crate) time: Duration,
}

/// The most of a refused body that is read away, so that the client reads the refusal.
const READ_AWAY_BYTES: u64 = 1 << 20;
const READ_AWAY_TIME: Duration = Duration::from_secs(2);

/// A whole body. Nothing is allocated for what it only announces.
pub(crate) async fn read(
    body: &mut Incoming,
    limits: BodyLimits,
    reserved: &mut Reserved,
    wait_s: impl Fn() -> u64,
) -> Result<Bytes, Problem> {
    let too_large =
        || Problem::new(Kind::TooLarge, format!("the body is larger than the limit of {} bytes", limits.bytes));
    ensure!(body.size_hint().lower() <= limits.bytes, too_large());
    let deadline = Instant::now() + limits.time;
    let late = || Problem::new(Kind::BodyTimeout, format!("the body was not here after {} s", limits.time.as_secs()));
    let (mut whole, mut first): (BytesMut, Option<Bytes>) = (BytesMut::new(), None);
    while let Some(frame) = timeout_at(deadline, body.frame()).await.map_err(|_| late())? {
        let frame = frame.map_err(|error| Problem::bad(format!("the body broke off: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        let before = whole.len() + first.as_ref().map_or(0, Bytes::len);
        ensure!((before + data.len()) as u64 <= limits.bytes, too_large());
        if !reserved.take(data.len() as u64) {
            let busy = Problem::new(Kind::Busy, "the memory for photos is used up");
            return Err(busy.retry_after(wait_s()));
        }
        // A body of one piece is not copied.
        match first.take() {
            None if whole.is_empty() => first = Some(data),
            None => whole.extend_from_slice(&data),
            Some(before) => {
                whole.extend_from_slice(&before);
                whole.extend_from_slice(&data);
            }
        }
    }
    Ok(first.unwrap_or_else(|| whole.freeze()))
}

/// Reads away what a client still sends, so that it can read why it was refused; not much, and not for long.
/// False where there is more: the connection has to be closed.
pub(crate) async fn read_away(body: &mut Incoming, most: Option<u64>) -> bool {
    let most = most.unwrap_or(READ_AWAY_BYTES);
    if body.size_hint().lower() > most {
        return false;
    }
    let all = async {
        let mut bytes = 0;
        while let Some(Ok(frame)) = body.frame().await {
            bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
            if bytes > most {
                return false;
            }
        }
        true
    };
    timeout(READ_AWAY_TIME, all).await.unwrap_or(false)
}

/// Bytes that are left to bodies.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    used: Arc<AtomicU64>,
    most: u64,
}

/// Bytes that a body has; given back when it is gone.
#[derive(Debug)]
pub(crate) struct Reserved {
    budget: Budget,
    bytes: u64,
}

impl Budget {
    pub(crate) fn new(most: u64) -> Self {
        Self { used: Arc::default(), most }
    }

    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    pub(crate) fn begin(&self) -> Reserved {
        Reserved { budget: self.clone(), bytes: 0 }
    }
}

impl Reserved {
    /// Takes more; false where there is none left.
    pub(crate) fn take(&mut self, bytes: u64) -> bool {
        let most = self.budget.most;
        let more = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= most);
        let taken = self.budget.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok();
        if taken {
            self.bytes += bytes;
        }
        taken
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_given_back() {
        let budget = Budget::new(10);
        let (mut one, mut other) = (budget.begin(), budget.begin());
        assert!(one.take(6) && !other.take(5) && other.take(4) && !one.take(1));
        drop(one);
        assert!(other.take(6) && !other.take(u64::MAX));
        drop(other);
        assert_eq!(budget.used(), 0);
    }
}
