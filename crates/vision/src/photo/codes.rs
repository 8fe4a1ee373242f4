//! The Huffman codes of a JPEG file, and the bits that they are read from.

use std::array::from_fn;

/// Bits that a table is asked for at a time.
const LOOK: u32 = 13;
const TABLE: usize = 1 << LOOK;

pub(super) struct Codes {
    /// What the bits begin with, as `symbol << 4 | length`; 0 if the code is longer.
    one: Box<[u16; TABLE]>,
    /// What the whole coefficients amount to that the bits begin with: `places << 5 | is_last << 4 | length`; 0 if not one is whole.
    many: Box<[u16; TABLE]>,
    /// By length: the first code beyond, as 16 bits, and what leads from a code to its symbol.
    beyond: [(u32, i32); 17],
    symbols: Vec<u8>,
}

impl Codes {
    /// By the numbers of codes of 1 to 16 bits, and the symbols in the codes' order. `None` if there are too many.
    pub(super) fn new(counts: &[u8; 16], symbols: &[u8]) -> Option<Self> {
        let mut one = Box::new([0; TABLE]);
        let (mut code, mut at, mut beyond) = (0_u32, 0_usize, [(0, 0); 17]);
        for (length, &count) in (1_u32..).zip(counts) {
            let first = at as i32 - code as i32;
            for &symbol in symbols.get(at..at + usize::from(count))? {
                if length <= LOOK {
                    let from = (code << (LOOK - length)) as usize;
                    one.get_mut(from..from + (1 << (LOOK - length)))?.fill(u16::from(symbol) << 4 | length as u16);
                }
                code += 1;
            }
            at += usize::from(count);
            beyond[length as usize] = (code << (16 - length), first);
            code <<= 1;
        }
        let many = Box::new(from_fn(|bits| many(&one, bits)));
        Some(Self { one, many, beyond, symbols: symbols.to_vec() })
    }

    /// The length and the symbol of a code of more than [`LOOK`] bits.
    #[cold]
    fn long(&self, bits: u32) -> Option<(u32, u32)> {
        let length = (LOOK + 1..=16).find(|&length| bits < self.beyond[length as usize].0)?;
        let at = (bits >> (16 - length)) as i32 + self.beyond[length as usize].1;
        self.symbols.get(at as usize).map(|&symbol| (length, symbol.into()))
    }
}

/// Follows coefficients as long as they are whole.
fn many(one: &[u16; TABLE], bits: usize) -> u16 {
    let (mut used, mut places) = (0, 0);
    loop {
        let entry = u32::from(one[(bits << used) % TABLE]);
        let (length, run, size) = (entry & 15, entry >> 8, entry >> 4 & 15);
        let (end, is_last) = (used + length + size, size == 0 && run < 15);
        if length == 0 || end > LOOK || places + run >= 63 {
            return (places << 5 | used) as u16;
        }
        if is_last {
            return (places << 5 | 1 << 4 | end) as u16;
        }
        (used, places) = (end, places + run + 1);
    }
}

/// The bits of a scan, most significant first, without the zeros that follow its 0xFF.
#[derive(Clone, Copy)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The next bits, from the highest down.
    window: u64,
    count: u32,
    /// Bits of the window that the file does not have.
    lent: u32,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, window: 0, count: 0, lent: 0 }
    }

    /// Fills the window with at least 56 bits; zeros behind the end.
    #[inline(always)]
    fn fill(&mut self) {
        const ONES: u64 = 0x0101_0101_0101_0101;
        if let Some(next) = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk()) {
            let next = u64::from_be_bytes(*next);
            // No byte is 0xFF.
            if (!next).wrapping_sub(ONES) & next & (ONES << 7) == 0 {
                let bytes = (63 - self.count) / 8;
                self.window |= next >> self.count;
                (self.at, self.count) = (self.at + bytes as usize, self.count + 8 * bytes);
                return;
            }
        }
        *self = self.filled_slowly();
    }

    #[cold]
    fn filled_slowly(mut self) -> Self {
        while self.count <= 56 {
            let (byte, read) = match self.bytes.get(self.at..) {
                Some([0xFF, 0, ..]) => (0xFF, 2),
                Some([0xFF, ..] | []) | None => (0, 0),
                Some([byte, ..]) => (*byte, 1),
            };
            self.window |= u64::from(byte) << (56 - self.count);
            self.lent += if read == 0 { 8 } else { 0 };
            (self.at, self.count) = (self.at + read, self.count + 8);
        }
        self
    }

    #[inline(always)]
    fn look(&self, bits: u32) -> u32 {
        (self.window >> (64 - bits)) as u32
    }

    #[inline(always)]
    fn skip(&mut self, bits: u32) {
        self.window <<= bits;
        self.count -= bits;
    }

    /// A code's symbol, high and low half: the run of zeros before a coefficient, and its bits.
    #[inline(always)]
    fn symbol(&mut self, codes: &Codes) -> Option<(u32, u32)> {
        let entry = u32::from(codes.one[self.look(LOOK) as usize]);
        let (length, symbol) = if entry == 0 { codes.long(self.look(16))? } else { (entry & 15, entry >> 4) };
        self.skip(length);
        Some((symbol >> 4, symbol & 15))
    }

    /// A number of so many bits, at most 15, as JPEG has them: 2^size − 1 is taken from those without their highest bit.
    #[inline(always)]
    fn number(&mut self, size: u32) -> i32 {
        let is_negative = (!(self.window as i64) >> 63) as i32;
        let value = (self.window >> 1 >> (63 - size)) as i32;
        self.skip(size);
        value + (is_negative & (1 - (1 << size)))
    }

    /// The difference of a block's mean from the one before, and its first other coefficients in the file's order. A run may lead 15 places
    /// beyond the last that is wanted, so that there are `PLACES - 15`. `None` where there is no such code.
    #[inline(always)]
    pub(super) fn block<const PLACES: usize>(&mut self, means: &Codes, others: &Codes) -> Option<[i32; PLACES]> {
        // In registers meanwhile.
        let mut bits = *self;
        bits.fill();
        let (mut found, mut place) = ([0; PLACES], 1);
        let (run, size) = bits.symbol(means)?;
        found[0] = (run == 0 && size < 12).then(|| bits.number(size))?;
        while place < 64 {
            if bits.count < 32 {
                bits.fill();
            }
            let entry = u32::from(others.many[bits.look(LOOK) as usize]);
            let next = place + (entry >> 5);
            if place as usize + 15 >= PLACES && entry != 0 && next < 64 {
                bits.skip(entry & 15);
                place = if entry & 16 == 0 { next } else { 64 };
                continue;
            }
            let (run, size) = bits.symbol(others)?;
            if size == 0 && run < 15 {
                break;
            }
            place += run;
            let value = bits.number(size);
            if let Some(coefficient) = found.get_mut(place as usize) {
                *coefficient = value;
            }
            place += 1;
        }
        *self = bits;
        (place <= 64).then_some(found)
    }

    /// Steps over a restart marker. False if there is none.
    pub(super) fn restart(&mut self) -> bool {
        self.fill();
        let is_there = self.is_within() && matches!(self.bytes.get(self.at..), Some([0xFF, 0xD0..=0xD7, ..]));
        *self = Self { at: self.at + 2, window: 0, count: 0, lent: 0, ..*self };
        is_there
    }

    /// Whether all bits that were read are the file's.
    pub(super) fn is_within(&self) -> bool {
        self.lent <= self.count
    }
}
