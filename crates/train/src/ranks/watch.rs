//! Who is alive, and whose fault it is: every rank keeps a connection to rank 0, on which both say once a second that they
//! are still here. Rank 0 passes on the first failure, so that all name the same rank.

use super::wire::{Frame, Kind};
use crate::TrainError;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const BEAT: Duration = Duration::from_secs(1);
/// A rank that says nothing for so long is taken for dead.
const SILENCE: Duration = Duration::from_secs(7);
/// How long a broken connection waits for the words of who knows more.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Verdict {
    rank: usize,
    reason: String,
}

impl From<Verdict> for TrainError {
    fn from(Verdict { rank, reason }: Verdict) -> Self {
        Self::Rank { rank, reason }
    }
}

/// The other end of a connection.
struct Peer {
    rank: usize,
    stream: Mutex<TcpStream>,
    /// It said goodbye.
    gone: AtomicBool,
}

type OnFailure = Box<dyn Fn() + Send>;

struct Shared {
    rank: usize,
    peers: Vec<Peer>,
    verdict: Mutex<Option<Verdict>>,
    pronounced: Condvar,
    /// We are done ourselves.
    ended: AtomicBool,
    /// What wakes those who wait for a rank that will not come.
    on_failure: Mutex<Vec<OnFailure>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn send(peer: &Peer, frame: &Frame) {
        // A connection that is broken is found by who reads it.
        let _ = frame.write(&mut *lock(&peer.stream));
    }

    /// The first verdict holds; rank 0 tells it to all.
    fn pronounce(&self, found: Verdict) {
        {
            let mut verdict = lock(&self.verdict);
            if verdict.is_some() {
                return;
            }
            let words = found.reason.bytes().take(2000).collect();
            let frame = Frame::new(Kind::Verdict, found.rank, words);
            *verdict = Some(found);
            self.peers.iter().for_each(|peer| Self::send(peer, &frame));
        }
        self.pronounced.notify_all();
        lock(&self.on_failure).iter().for_each(|wake| wake());
    }

    /// Listens to a peer until it says goodbye or fails.
    fn listen(&self, peer: &Peer, mut stream: TcpStream) {
        let blame = |reason: String| self.pronounce(Verdict { rank: peer.rank, reason });
        loop {
            match Frame::read(&mut stream) {
                Ok(Frame { kind: Kind::Beat, .. }) => {}
                Ok(Frame { kind: Kind::Verdict, number, bytes }) => {
                    let reason = String::from_utf8_lossy(&bytes).into_owned();
                    return self.pronounce(Verdict { rank: number as usize, reason });
                }
                Ok(Frame { kind: Kind::Bye, .. }) => {
                    // Answered, and nothing more is sent: so that no unread byte resets the connection.
                    if !peer.gone.swap(true, Ordering::AcqRel) && !self.ended.load(Ordering::Acquire) {
                        Self::send(peer, &Frame::new(Kind::Bye, self.rank, Vec::new()));
                    }
                    return;
                }
                Ok(_) => return blame("sends what nobody expects".to_owned()),
                Err(_) if peer.gone.load(Ordering::Acquire) => return,
                Err(error) => {
                    use std::io::ErrorKind::{TimedOut, WouldBlock};
                    let silent = matches!(error.kind(), WouldBlock | TimedOut);
                    return blame(if silent {
                        format!("has been silent for {} seconds", SILENCE.as_secs())
                    } else {
                        "ended before the others".to_owned()
                    });
                }
            }
        }
    }
}

/// One rank's watch.
pub(super) struct Watch {
    shared: Arc<Shared>,
    listeners: Vec<JoinHandle<()>>,
}

impl Watch {
    /// Over the connections to the others: for rank 0 to all, for all others to rank 0.
    pub(super) fn over(rank: usize, connections: Vec<(usize, TcpStream)>) -> std::io::Result<Self> {
        let mut readers = Vec::new();
        for (_, stream) in &connections {
            stream.set_read_timeout(Some(SILENCE))?;
            stream.set_write_timeout(Some(SILENCE))?;
            readers.push(stream.try_clone()?);
        }
        let peer = |(rank, stream)| Peer { rank, stream: Mutex::new(stream), gone: AtomicBool::new(false) };
        let shared = Arc::new(Shared {
            rank,
            peers: connections.into_iter().map(peer).collect(),
            verdict: Mutex::new(None),
            pronounced: Condvar::new(),
            ended: AtomicBool::new(false),
            on_failure: Mutex::new(Vec::new()),
        });
        let listen = |(k, stream)| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || shared.listen(&shared.peers[k], stream))
        };
        let listeners = readers.into_iter().enumerate().map(listen).collect();
        let beating = Arc::clone(&shared);
        std::thread::spawn(move || {
            let beat = Frame::new(Kind::Beat, rank, Vec::new());
            while !beating.ended.load(Ordering::Acquire) {
                let alive = beating.peers.iter().filter(|peer| !peer.gone.load(Ordering::Acquire));
                alive.for_each(|peer| Shared::send(peer, &beat));
                std::thread::sleep(BEAT);
            }
        });
        Ok(Self { shared, listeners })
    }

    /// Whether all are alive, as far as is known.
    pub(super) fn check(&self) -> Result<(), TrainError> {
        lock(&self.shared.verdict).clone().map_or(Ok(()), |verdict| Err(verdict.into()))
    }

    /// `wake` is called when a rank fails: it ends what waits for that rank.
    pub(super) fn on_failure(&self, wake: impl Fn() + Send + 'static) {
        lock(&self.shared.on_failure).push(Box::new(wake));
    }

    /// The connection to a neighbour broke: names the rank that is to blame, which may be another.
    pub(super) fn lost(&self, neighbour: usize, error: &std::io::Error) -> TrainError {
        let until = Instant::now() + PATIENCE;
        let mut verdict = lock(&self.shared.verdict);
        while verdict.is_none() && Instant::now() < until {
            let left = until.saturating_duration_since(Instant::now());
            (verdict, _) =
                self.shared.pronounced.wait_timeout(verdict, left).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(verdict) = verdict.clone() {
            return verdict.into();
        }
        drop(verdict);
        let found = Verdict { rank: neighbour, reason: format!("cannot be reached any more ({error})") };
        self.shared.pronounce(found.clone());
        found.into()
    }

    /// Tells the others that this rank fails.
    pub(super) fn give_up(&self, reason: &str) {
        self.shared.pronounce(Verdict { rank: self.shared.rank, reason: reason.to_owned() });
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let shared = &self.shared;
        let failed = lock(&shared.verdict).is_some();
        if shared.rank != 0 && !failed {
            // The beats stop with this: what is sent after a goodbye might reset the connection before it is read.
            shared.ended.store(true, Ordering::Release);
            let bye = Frame::new(Kind::Bye, shared.rank, Vec::new());
            shared.peers.iter().for_each(|peer| Shared::send(peer, &bye));
        }
        // Rank 0 waits for the others' goodbyes, the others for its answer.
        let until = Instant::now() + PATIENCE;
        while !failed && Instant::now() < until && !self.listeners.iter().all(JoinHandle::is_finished) {
            std::thread::sleep(Duration::from_millis(2));
        }
        shared.ended.store(true, Ordering::Release);
        for peer in &shared.peers {
            peer.gone.store(true, Ordering::Release);
            let _ = lock(&peer.stream).shutdown(if failed { Shutdown::Write } else { Shutdown::Both });
        }
    }
}
