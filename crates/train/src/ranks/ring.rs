//! Ranks in a ring over TCP: sums on the host, words for all, and what rank 0 tells.

use super::collective::Collective;
use super::rendezvous::{Links, meet};
use super::watch::Watch;
use super::wire::{Frame, Kind, MOST_BYTES};
use super::world::World;
use crate::TrainError;
use locdiff_nn::{Gradients, NnError};
use std::io::{BufReader, BufWriter, Error, ErrorKind, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc;
use std::thread::JoinHandle;

/// Values of a vector that go in one piece.
const PIECE: usize = MOST_BYTES / 4;

/// Several processes that add up in the order of their ranks: run to run the same bits. A vector goes piece by piece from rank 0
/// up, each adding its own, and the sums go round once more; both at the same time, so that every connection carries the vector
/// twice, whatever the number of ranks.
pub struct Ring {
    rank: usize,
    world: usize,
    watch: Watch,
    before: BufReader<TcpStream>,
    /// To the thread that writes to the next rank: who reads and writes at once never waits for itself.
    next: Option<mpsc::Sender<Frame>>,
    writer: Option<JoinHandle<()>>,
}

impl Ring {
    /// Meets the other ranks; waits until all are there.
    ///
    /// # Errors
    /// A rank that does not come or runs another program, named; an address that cannot be used.
    pub fn join(world: &World) -> Result<Self, TrainError> {
        let Links { control, next, before } = meet(world)?;
        let failed = |error: Error| TrainError::World { reason: error.to_string() };
        let watch = Watch::over(world.rank, control).map_err(failed)?;
        // A failure elsewhere ends what waits here.
        let cut = [next.try_clone().map_err(failed)?, before.try_clone().map_err(failed)?];
        watch.on_failure(move || {
            for stream in &cut {
                let _ = stream.shutdown(Shutdown::Both);
            }
        });
        let (sender, frames) = mpsc::channel::<Frame>();
        let writer = std::thread::spawn(move || {
            let mut to = BufWriter::with_capacity(MOST_BYTES, &next);
            while let Ok(frame) = frames.recv() {
                let mut outcome = frame.write(&mut to);
                while let (Ok(()), Ok(frame)) = (&outcome, frames.try_recv()) {
                    outcome = frame.write(&mut to);
                }
                if outcome.and_then(|()| to.flush()).is_err() {
                    return; // whoever reads finds it
                }
            }
        });
        Ok(Self {
            rank: world.rank,
            world: world.size,
            watch,
            before: BufReader::with_capacity(MOST_BYTES, before),
            next: Some(sender),
            writer: Some(writer),
        })
    }

    /// `wake` is called, from another thread, when a rank fails.
    pub(super) fn on_failure(&self, wake: impl Fn() + Send + 'static) {
        self.watch.on_failure(wake);
    }

    fn next_rank(&self) -> usize {
        (self.rank + 1) % self.world
    }

    fn rank_before(&self) -> usize {
        (self.rank + self.world - 1) % self.world
    }

    fn send(&self, kind: Kind, number: usize, bytes: Vec<u8>) -> Result<(), TrainError> {
        let sent = self.next.as_ref().map(|next| next.send(Frame::new(kind, number, bytes)).is_ok());
        if sent == Some(true) {
            return Ok(());
        }
        Err(self.watch.lost(self.next_rank(), &Error::from(ErrorKind::BrokenPipe)))
    }

    fn receive(&mut self) -> Result<Frame, TrainError> {
        let rank = self.rank_before();
        Frame::read(&mut self.before).map_err(|error| self.watch.lost(rank, &error))
    }

    fn out_of_turn(&self) -> TrainError {
        let error = Error::new(ErrorKind::InvalidData, "it is at another step");
        self.watch.lost(self.rank_before(), &error)
    }

    /// Sums `values` over all ranks, in place.
    ///
    /// # Errors
    /// A rank that is gone or at another step, named.
    pub fn sum(&mut self, values: &mut [f32]) -> Result<(), TrainError> {
        let last = self.world - 1;
        if self.rank == 0 {
            for (k, piece) in values.chunks(PIECE).enumerate() {
                self.send(Kind::Partial, k, to_bytes(piece))?;
            }
        }
        let mut open = values.len().div_ceil(PIECE);
        while open > 0 {
            let Frame { kind, number, bytes } = self.receive()?;
            let k = number as usize;
            let range = (k * PIECE).min(values.len())..((k + 1) * PIECE).min(values.len());
            let own = &mut values[range];
            if bytes.len() != 4 * own.len() || own.is_empty() {
                return Err(self.out_of_turn());
            }
            match kind {
                Kind::Partial if self.rank > 0 && self.rank < last => {
                    let sums: Vec<f32> =
                        own.iter().zip(floats(&bytes)).map(|(own, so_far)| so_far + own).collect();
                    self.send(Kind::Partial, k, to_bytes(&sums))?;
                }
                Kind::Partial if self.rank == last => {
                    own.iter_mut().zip(floats(&bytes)).for_each(|(own, so_far)| *own += so_far);
                    let total = to_bytes(own);
                    self.send(Kind::Total, k, total)?;
                    open -= 1;
                }
                Kind::Total if self.rank < last => {
                    own.iter_mut().zip(floats(&bytes)).for_each(|(own, total)| *own = total);
                    if self.next_rank() < last {
                        self.send(Kind::Total, k, bytes)?;
                    }
                    open -= 1;
                }
                _ => return Err(self.out_of_turn()),
            }
        }
        Ok(())
    }
}

fn to_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> + '_ {
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

impl Collective for Ring {
    fn rank(&self) -> usize {
        self.rank
    }

    fn world(&self) -> usize {
        self.world
    }

    fn name(&self) -> String {
        "TCP ring".to_owned()
    }

    fn sums_on_device(&self) -> bool {
        false
    }

    fn sum_on_device(&self, _: &mut Gradients) -> Result<(), NnError> {
        Ok(())
    }

    fn sum_on_host(&mut self, grads: &mut Gradients) -> Result<(), TrainError> {
        grads.change_on_host(|values| self.sum(values))
    }

    fn gather(&mut self, own: &[u8]) -> Result<Vec<Vec<u8>>, TrainError> {
        let mut all = vec![Vec::new(); self.world];
        self.send(Kind::Words, self.rank, own.to_vec())?;
        all[self.rank] = own.to_vec();
        for _ in 1..self.world {
            let Frame { kind, number, bytes } = self.receive()?;
            let from = number as usize;
            if kind != Kind::Words || from >= self.world || from == self.rank {
                return Err(self.out_of_turn());
            }
            if self.next_rank() != from {
                self.send(Kind::Words, from, bytes.clone())?;
            }
            all[from] = bytes;
        }
        Ok(all)
    }

    fn tell(&mut self, words: Vec<u8>) -> Result<Vec<u8>, TrainError> {
        if self.rank == 0 {
            // The number of pieces that are left counts down to 0.
            let pieces = words.len().div_ceil(MOST_BYTES).max(1);
            for k in 0..pieces {
                let end = ((k + 1) * MOST_BYTES).min(words.len());
                self.send(Kind::Told, pieces - 1 - k, words[k * MOST_BYTES..end].to_vec())?;
            }
            return Ok(words);
        }
        let mut all = Vec::new();
        loop {
            let Frame { kind, number, bytes } = self.receive()?;
            if kind != Kind::Told {
                return Err(self.out_of_turn());
            }
            all.extend(&bytes);
            if self.next_rank() != 0 {
                self.send(kind, number as usize, bytes)?;
            }
            if number == 0 {
                return Ok(all);
            }
        }
    }

    fn check(&self) -> Result<(), TrainError> {
        self.watch.check()
    }

    fn give_up(&self, reason: &str) {
        self.watch.give_up(reason);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // What was given to the writer is written before the goodbye.
        self.next = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `work` on `size` ranks of one process.
    fn among<T: Send>(size: usize, port: u16, work: impl Fn(&mut Ring) -> T + Sync) -> Vec<T> {
        std::thread::scope(|scope| {
            let run = |rank| {
                let world = World { rank, size, local_rank: rank, address: "127.0.0.1".into(), port };
                let work = &work;
                scope.spawn(move || work(&mut Ring::join(&world).unwrap()))
            };
            let ranks: Vec<_> = (0..size).map(run).collect();
            ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
        })
    }

    /// A port that is free now.
    fn free_port() -> u16 {
        std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
    }

    #[test]
    fn sums_are_those_in_the_order_of_the_ranks() {
        let value = |rank: usize, k: usize| ((rank * 7919 + k * 104_729) % 1000) as f32 * 0.1 + 1e-3;
        let len = 2 * PIECE + 17;
        for size in [2, 3, 4] {
            let found = among(size, free_port(), |ring| {
                let mut values: Vec<f32> = (0..len).map(|k| value(ring.rank, k)).collect();
                for _ in 0..3 {
                    // Sums of sums: nobody runs ahead of the others.
                    ring.sum(&mut values).unwrap();
                }
                let words = ring.gather(format!("rank {}", ring.rank).as_bytes()).unwrap();
                let told =
                    ring.tell(if ring.rank == 0 { vec![7; MOST_BYTES + 5] } else { Vec::new() }).unwrap();
                (values, words, told.len())
            });
            let mut expected: Vec<Vec<f32>> =
                (0..size).map(|rank| (0..len).map(|k| value(rank, k)).collect()).collect();
            for _ in 0..3 {
                let sums: Vec<f32> = (0..len)
                    .map(|k| expected[1..].iter().fold(expected[0][k], |sum, v| sum + v[k]))
                    .collect();
                expected = vec![sums; size];
            }
            for (values, words, told) in found {
                assert_eq!(values, expected[0]);
                assert_eq!(words[size - 1], format!("rank {}", size - 1).as_bytes());
                assert_eq!((words.len(), told), (size, MOST_BYTES + 5));
            }
        }
    }

    #[test]
    fn who_gives_up_is_named_with_its_reason() {
        let said = among(3, free_port(), |ring| {
            if ring.rank == 1 {
                ring.give_up("the disk is full");
                return "rank 1: the disk is full".to_owned();
            }
            ring.sum(&mut [1.0; 8]).unwrap_err().to_string()
        });
        assert!(said.iter().all(|words| words == "rank 1: the disk is full"), "{said:?}");
    }

    #[test]
    fn ranks_at_different_steps_are_found_out() {
        let said = among(2, free_port(), |ring| {
            let outcome =
                if ring.rank == 0 { ring.gather(b"x").map(|_| ()) } else { ring.sum(&mut [1.0; 4]) };
            outcome.unwrap_err().to_string()
        });
        assert!(said.iter().all(|words| words.contains("rank ")), "{said:?}");
    }
}
