//! The head of a baseline JPEG file: its size, its tables, and where its pixels begin.

const START_OF_FRAME: u8 = 0xC0;
const START_OF_SCAN: u8 = 0xDA;

/// A baseline file of greys, or of luma with chroma that is whole or halved, in one scan.
pub(crate) struct Baseline<'a> {
    pub(crate) size: (u32, u32),
    /// Columns and rows of blocks that luma has for one of chroma; `None` for greys.
    pub(crate) blocks: Option<[usize; 2]>,
    /// By component: the numbers of its quantisation table and of its two tables of codes.
    pub(super) tables: Vec<[usize; 3]>,
    /// What coefficients are multiplied with, in the file's order.
    pub(super) quanta: [Option<&'a [u8; 64]>; 4],
    /// Numbers of codes by length, and symbols: four tables of means, four of all others.
    pub(super) codes: [Option<(&'a [u8; 16], &'a [u8])>; 8],
    /// Blocks of chroma between restarts, or 0.
    pub(super) restart: usize,
    pub(super) scan: &'a [u8],
}

impl<'a> Baseline<'a> {
    /// `None` for any other file.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut head = Self {
            size: (0, 0),
            blocks: None,
            tables: Vec::new(),
            quanta: [None; 4],
            codes: [None; 8],
            restart: 0,
            scan: &[],
        };
        let (mut at, mut ids) = (2, Vec::new());
        loop {
            let &[marker, code, high, low] = bytes.get(at..)?.first_chunk()?;
            let end = at + 2 + usize::from(u16::from_be_bytes([high, low]));
            let body = bytes.get(at + 4..end)?;
            match code {
                _ if marker != 0xFF => return None,
                START_OF_FRAME => ids = head.frame(body)?,
                0xDB => head.quanta(body)?,
                0xC4 => head.codes(body)?,
                0xDD => head.restart = u16::from_be_bytes(*body.first_chunk()?).into(),
                START_OF_SCAN => {
                    let (&count, rest) = body.split_first()?;
                    let (parts, rest) = rest.split_at_checked(2 * ids.len())?;
                    if ids.is_empty() || usize::from(count) != ids.len() || rest != [0, 63, 0] {
                        return None;
                    }
                    for ((part, id), tables) in parts.as_chunks::<2>().0.iter().zip(ids).zip(&mut head.tables) {
                        let (means, others) = (part[1] >> 4, part[1] & 15);
                        if part[0] != id || means > 3 || others > 3 || tables[0] > 3 {
                            return None;
                        }
                        (tables[1], tables[2]) = (means.into(), usize::from(others) + 4);
                    }
                    head.scan = &bytes[end..];
                    return Some(head);
                }
                // Comments and what applications add.
                0xE0..=0xEF | 0xFE => {}
                _ => return None,
            }
            at = end;
        }
    }

    /// Reads the size, and the names of the components.
    fn frame(&mut self, body: &[u8]) -> Option<Vec<u8>> {
        let (&[bits, y1, y0, x1, x0, _], components) = body.split_first_chunk()?;
        let components = components.as_chunks::<3>().0;
        self.size = (u16::from_be_bytes([x1, x0]).into(), u16::from_be_bytes([y1, y0]).into());
        self.blocks = match components.iter().map(|component| component[1]).collect::<Vec<_>>()[..] {
            [_] => None,
            [luma @ (0x11 | 0x12 | 0x21 | 0x22), 0x11, 0x11] => Some([luma >> 4, luma & 15].map(usize::from)),
            _ => return None,
        };
        self.tables = components.iter().map(|component| [component[2].into(), 0, 0]).collect();
        let is_whole = bits == 8 && self.size.0 > 0 && self.size.1 > 0;
        is_whole.then(|| components.iter().map(|component| component[0]).collect())
    }

    fn quanta(&mut self, mut body: &'a [u8]) -> Option<()> {
        while let Some((&kind, rest)) = body.split_first() {
            let (table, rest) = rest.split_first_chunk::<64>()?;
            // A number above 3 is a table of 16 bits, which baseline files do not have.
            *self.quanta.get_mut(usize::from(kind))? = Some(table);
            body = rest;
        }
        Some(())
    }

    fn codes(&mut self, mut body: &'a [u8]) -> Option<()> {
        while let Some((&kind, rest)) = body.split_first() {
            let (counts, rest) = rest.split_first_chunk()?;
            let (symbols, rest) = rest.split_at_checked(counts.iter().map(|&count| usize::from(count)).sum())?;
            *self.codes.get_mut(usize::from(kind >> 4 & 1) * 4 + usize::from(kind & 3))? = Some((counts, symbols));
            body = rest;
        }
        Some(())
    }
}
