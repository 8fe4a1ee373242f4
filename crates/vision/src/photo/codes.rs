//! The Huffman codes of a JPEG file, and the bits that they are read from.

use std::array::from_fn;

/// Bits that a table is asked for at a time.
const LOOK: u32 = 12;
const TABLE: usize = 1 << LOOK;

/// One table of codes.
pub(super) struct Codes {
    /// Length and symbol of the code that these bits begin with: `symbol << 4 | length`, 0 if it is longer.
    one: Box<[u16; TABLE]>,
    /// What the whole coefficients are that these bits begin with: `places << 5 | is_last << 4 | bits`, 0 if not one is whole.
    many: Box<[u16; TABLE]>,
    /// By length: the first code beyond, as 16 bits, and what leads from a code to its symbol.
    beyond: [(u32, i32); 17],
    symbols: Vec<u8>,
}

impl Codes {
    /// By the numbers of codes of 1 to 16 bits, and the symbols in the codes' order. `None` if they are no such table.
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
        let many = Box::new(from_fn(|bits| many(&one, bits as u32)));
        Some(Self { one, many, beyond, symbols: symbols.to_vec() })
    }
}

/// Follows coefficients as long as they are whole.
fn many(one: &[u16; TABLE], bits: u32) -> u16 {
    let (mut used, mut places) = (0, 0);
    loop {
        let entry = u32::from(one[((bits << used) & ((1 << LOOK) - 1)) as usize]);
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

    /// At least 56 bits in the window; zeros behind the end.
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
    #[inline(never)]
    fn filled_slowly(mut self) -> Self {
        while self.count <= 56 {
            let byte = match self.bytes.get(self.at..) {
                Some([0xFF, 0, ..]) => (0xFF, 2),
                Some([0xFF, ..] | []) | None => (0, 0),
                Some([byte, ..]) => (*byte, 1),
            };
            self.window |= u64::from(byte.0) << (56 - self.count);
            self.at += byte.1;
            self.lent += if byte.1 == 0 { 8 } else { 0 };
            self.count += 8;
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

    /// A symbol, of at most 16 bits.
    #[inline(always)]
    fn symbol(&mut self, codes: &Codes) -> Option<u32> {
        let entry = codes.one[self.look(LOOK) as usize];
        if entry != 0 {
            self.skip(u32::from(entry & 15));
            return Some(u32::from(entry >> 4));
        }
        let (length, symbol) = long(self.look(16), codes)?;
        self.skip(length);
        Some(symbol)
    }

    /// A number of so many bits, at most 15, as JPEG has them: those without their highest bit are negative.
    #[inline(always)]
    fn number(&mut self, size: u32) -> i32 {
        // The highest bit decides whether 1 − 2^size is added.
        let is_negative = !(self.window as i64) >> 63;
        let value = (self.window >> 1 >> (63 - size)) as i32;
        self.skip(size);
        value + (is_negative as i32 & (1 - (1 << size)))
    }

    /// The difference of a block's mean from the one before, and its other coefficients of the two lowest frequencies, across, down and both.
    /// `None` where there is no such code.
    #[inline(always)]
    pub(super) fn block(&mut self, means: &Codes, others: &Codes) -> Option<[i32; 4]> {
        let mut bits = *self;
        let found = bits.read_block(means, others);
        *self = bits;
        found
    }

    #[inline(always)]
    fn read_block(&mut self, means: &Codes, others: &Codes) -> Option<[i32; 4]> {
        self.fill();
        let size = self.symbol(means)?;
        if size > 11 {
            return None;
        }
        // In the file's order, 1 is across, 2 down and 4 both.
        let mut found = [0; 5 + 16];
        found[0] = self.number(size);
        let mut place = 1;
        while place < 5 {
            if self.count < 32 {
                self.fill();
            }
            let symbol = self.symbol(others)?;
            let (run, size) = (symbol >> 4, symbol & 15);
            if symbol & 15 == 0 && run < 15 {
                return Some([found[0], found[1], found[2], found[4]]);
            }
            place += run;
            found[place as usize] = self.number(size);
            place += 1;
        }
        while place < 64 {
            if self.count < 32 {
                self.fill();
            }
            let entry = u32::from(others.many[self.look(LOOK) as usize]);
            let next = place + (entry >> 5);
            if entry != 0 && next < 64 {
                self.skip(entry & 15);
                place = if entry & 16 == 0 { next } else { 64 };
                continue;
            }
            let symbol = self.symbol(others)?;
            let (run, size) = (symbol >> 4, symbol & 15);
            if size == 0 && run < 15 {
                break;
            }
            self.skip(size);
            place += run + 1;
        }
        (place <= 64).then_some([found[0], found[1], found[2], found[4]])
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

/// The length and the symbol of a code that no table has.
#[cold]
#[inline(never)]
fn long(bits: u32, codes: &Codes) -> Option<(u32, u32)> {
    let length = (LOOK + 1..=16).find(|&length| bits < codes.beyond[length as usize].0)?;
    let at = (bits >> (16 - length)) as i32 + codes.beyond[length as usize].1;
    codes.symbols.get(at as usize).map(|&symbol| (length, u32::from(symbol)))
}
