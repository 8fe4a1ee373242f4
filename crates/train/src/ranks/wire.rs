//! What goes over a connection between ranks: a kind, a number, some bytes.

use std::io::{Error, ErrorKind, Read, Result, Write};

/// The largest piece of a frame.
pub(super) const MOST_BYTES: usize = 1 << 18;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// A rank comes to the meeting, or to its neighbour.
    Hello = 1,
    /// Rank 0's answer: where the neighbour is.
    Welcome,
    /// Rank 0's answer to one that cannot take part.
    Refusal,
    /// The sum of the ranks so far of a piece of a vector.
    Partial,
    /// The sum of all ranks of a piece.
    Total,
    /// A rank's words for all.
    Words,
    /// A piece of what rank 0 tells all.
    Told,
    /// Still here.
    Beat,
    /// Which rank is to blame, and why.
    Verdict,
    /// Done.
    Bye,
}

impl Kind {
    const ALL: [Self; 10] = [
        Self::Hello,
        Self::Welcome,
        Self::Refusal,
        Self::Partial,
        Self::Total,
        Self::Words,
        Self::Told,
        Self::Beat,
        Self::Verdict,
        Self::Bye,
    ];
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) kind: Kind,
    /// A rank, or the number of a piece.
    pub(super) number: u32,
    pub(super) bytes: Vec<u8>,
}

impl Frame {
    pub(super) fn new(kind: Kind, number: usize, bytes: Vec<u8>) -> Self {
        assert!(bytes.len() <= MOST_BYTES);
        Self { kind, number: number as u32, bytes }
    }

    pub(super) fn write(&self, to: &mut impl Write) -> Result<()> {
        let mut head = [0; 9];
        head[0] = self.kind as u8;
        head[1..5].copy_from_slice(&self.number.to_le_bytes());
        head[5..].copy_from_slice(&(self.bytes.len() as u32).to_le_bytes());
        to.write_all(&head)?;
        to.write_all(&self.bytes)
    }

    /// Reads the next one; nothing that a stranger sends is believed further than [`MOST_BYTES`].
    pub(super) fn read(from: &mut impl Read) -> Result<Self> {
        let mut head = [0; 9];
        from.read_exact(&mut head)?;
        let word = |k: usize| u32::from_le_bytes([head[k], head[k + 1], head[k + 2], head[k + 3]]);
        let kind = Kind::ALL.into_iter().find(|kind| *kind as u8 == head[0]);
        let length = word(5) as usize;
        let Some(kind) = kind.filter(|_| length <= MOST_BYTES) else {
            return Err(Error::new(ErrorKind::InvalidData, "no message of ours"));
        };
        let mut bytes = vec![0; length];
        from.read_exact(&mut bytes)?;
        Ok(Self { kind, number: word(1), bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_and_strangers_are_refused() {
        let frame = Frame::new(Kind::Words, 3, b"hello".to_vec());
        let mut bytes = Vec::new();
        frame.write(&mut bytes).unwrap();
        assert_eq!(Frame::read(&mut bytes.as_slice()).unwrap(), frame);
        for stranger in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[4, 0, 0, 0, 0, 255, 255, 255, 255], &[], &[4, 0]] {
            assert!(Frame::read(&mut { stranger }).is_err());
        }
    }
}
