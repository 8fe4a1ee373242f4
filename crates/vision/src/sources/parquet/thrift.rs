//! Thrift's compact protocol, as much of it as Parquet's footers and page headers are written in.

use super::error::{Reason, cut_off, damaged};
use locdiff_base::ensure;

/// Reads a structure: the fields of these numbers and kinds as told, the others not at all.
macro_rules! fields {
    ($thrift:expr, $this:ident, $(($number:pat, $kind:ident) => $read:expr,)*) => {
        $thrift.structure(|$this, number, kind| {
            match (number, kind) {
                $(($number, Kind::$kind) => $read,)*
                _ => {}
            }
            Ok(())
        })
    };
}
pub(super) use fields;

/// Structures inside structures: Parquet has five, an attacker any number.
const DEEPEST: u8 = 16;

pub(crate) struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    True,
    False,
    Byte,
    Int,
    Double,
    Binary,
    List,
    Map,
    Struct,
}

impl Kind {
    fn of(code: u8) -> Result<Self, Reason> {
        Ok(match code {
            1 => Self::True,
            2 => Self::False,
            3 => Self::Byte,
            4..=6 => Self::Int,
            7 => Self::Double,
            8 => Self::Binary,
            9 | 10 => Self::List,
            11 => Self::Map,
            12 => Self::Struct,
            _ => return Err(damaged("its description has a field of no kind")),
        })
    }
}

impl<'a> Thrift<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn read(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Result<u8, Reason> {
        let byte = *self.bytes.get(self.at).ok_or_else(cut_off)?;
        self.at += 1;
        Ok(byte)
    }

    fn unsigned(&mut self) -> Result<u64, Reason> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(damaged("its description has a number without end"))
    }

    pub(crate) fn int(&mut self) -> Result<i64, Reason> {
        let value = self.unsigned()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A number that cannot be less than nothing.
    pub(crate) fn count(&mut self) -> Result<u64, Reason> {
        u64::try_from(self.int()?).map_err(|_| damaged("its description has a number below nothing"))
    }

    pub(crate) fn binary(&mut self) -> Result<&'a [u8], Reason> {
        let length = usize::try_from(self.unsigned()?).map_err(|_| cut_off())?;
        let end = self.at.checked_add(length).ok_or_else(cut_off)?;
        let found = self.bytes.get(self.at..end).ok_or_else(cut_off)?;
        self.at = end;
        Ok(found)
    }

    fn list(&mut self, mut item: impl FnMut(&mut Self, Kind) -> Result<(), Reason>) -> Result<(), Reason> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.unsigned()? } else { u64::from(head >> 4) };
        // Every item takes a byte at least.
        ensure!(count <= (self.bytes.len() - self.at) as u64, cut_off());
        let kind = Kind::of(head & 15)?;
        for _ in 0..count {
            item(self, kind)?;
        }
        Ok(())
    }

    /// A list of structures, each as `item` reads it.
    pub(crate) fn structures<T>(&mut self, item: impl Fn(&mut Self) -> Result<T, Reason>) -> Result<Vec<T>, Reason> {
        let mut found = Vec::new();
        self.list(|this, kind| match kind {
            Kind::Struct => item(this).map(|item| found.push(item)),
            _ => Err(damaged("its description lists the wrong things")),
        })?;
        Ok(found)
    }

    /// A structure: calls `field` with each one's number and kind. Fields that it does not read are passed over.
    pub(crate) fn structure(
        &mut self,
        mut field: impl FnMut(&mut Self, i64, Kind) -> Result<(), Reason>,
    ) -> Result<(), Reason> {
        self.fields(|this, number, kind| {
            let begin = this.at;
            field(this, number, kind)?;
            // Every value takes a byte at least, except truth values, which take none.
            if this.at == begin { this.pass(kind, 0) } else { Ok(()) }
        })
    }

    /// A structure, all of whose fields `field` reads.
    fn fields(&mut self, mut field: impl FnMut(&mut Self, i64, Kind) -> Result<(), Reason>) -> Result<(), Reason> {
        let mut number = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            number = if head >> 4 == 0 { self.int()? } else { number.saturating_add(i64::from(head >> 4)) };
            field(self, number, Kind::of(head & 15)?)?;
        }
    }

    fn pass(&mut self, kind: Kind, depth: u8) -> Result<(), Reason> {
        ensure!(depth <= DEEPEST, damaged("its description is too deep"));
        match kind {
            Kind::True | Kind::False => {}
            Kind::Byte => drop(self.byte()?),
            Kind::Int => drop(self.unsigned()?),
            Kind::Double => {
                self.at = self.at.checked_add(8).filter(|at| *at <= self.bytes.len()).ok_or_else(cut_off)?;
            }
            Kind::Binary => drop(self.binary()?),
            Kind::List => self.list(|this, kind| this.pass_item(kind, depth + 1))?,
            Kind::Map => match self.unsigned()? {
                0 => {}
                count if count > (self.bytes.len() - self.at) as u64 => return Err(cut_off()),
                count => {
                    let kinds = self.byte()?;
                    let (key, value) = (Kind::of(kinds >> 4)?, Kind::of(kinds & 15)?);
                    for _ in 0..count {
                        self.pass_item(key, depth + 1)?;
                        self.pass_item(value, depth + 1)?;
                    }
                }
            },
            Kind::Struct => self.fields(|this, _, kind| this.pass(kind, depth + 1))?,
        }
        Ok(())
    }

    /// An item of a list: there a truth value takes a byte.
    fn pass_item(&mut self, kind: Kind, depth: u8) -> Result<(), Reason> {
        let kind = if matches!(kind, Kind::True | Kind::False) { Kind::Byte } else { kind };
        self.pass(kind, depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_or_passed_over() {
        // 1: i32 = -3, 3: list of two i32, 4: struct { 1: text "ab" }, 20: true
        let bytes = [0x15, 5, 0x29, 0x25, 2, 4, 0x1c, 0x18, 2, b'a', b'b', 0, 0x01, 40, 0];
        let (mut first, mut truth) = (0, false);
        let mut thrift = Thrift::new(&bytes);
        fields!(thrift, this, (1, Int) => first = this.int()?, (20, True) => truth = true,).unwrap();
        assert_eq!((first, truth, thrift.read()), (-3, true, bytes.len()));
        for cut in 0..bytes.len() {
            assert!(Thrift::new(&bytes[..cut]).structure(|_, _, _| Ok(())).is_err(), "{cut}");
        }
        let deep = [0x1c; 100];
        assert!(Thrift::new(&deep).structure(|_, _, _| Ok(())).is_err());
    }
}
