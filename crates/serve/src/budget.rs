//! Memory that bodies may take, all together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
