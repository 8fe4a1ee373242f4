//! HEIC and AVIF: EXIF and XMP are items of the `meta` box, whose tables say where each item lies.

use crate::{tags::iso::IsoBox, tags::iso::Numbers, tags::iso::boxes, tags::tiff::Reason};
use locdiff_base::ensure;
use std::{io::Cursor, ops::Range};

/// "HEIC" or "AVIF" where the file-type box of an ISO media file lists a brand of theirs.
///
/// ```
/// assert_eq!(locdiff_io::tags::heif_kind(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"), Some("HEIC"));
/// assert_eq!(locdiff_io::tags::heif_kind(b"\0\0\0\x14ftypqt  \0\0\0\0qt  "), None);
/// ```
pub fn heif_kind(contents: &[u8]) -> Option<&'static str> {
    let (length, rest) = contents.split_first_chunk::<4>()?;
    let brands = rest.strip_prefix(b"ftyp")?;
    let length = (u32::from_be_bytes(*length) as usize).saturating_sub(8).min(brands.len());
    let brands = || brands[..length].as_chunks::<4>().0.iter();
    if brands().any(|brand| matches!(brand, b"avif" | b"avis")) {
        return Some("AVIF");
    }
    let heic = |brand: &[u8; 4]| {
        matches!(brand, b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"hevx" | b"mif1" | b"msf1")
    };
    brands().any(heic).then_some("HEIC")
}

struct Item {
    id: u64,
    kind: [u8; 4],
    /// Of a `mime` item.
    is_xmp: bool,
}

#[derive(Clone)]
struct Location {
    id: u64,
    /// 0: in the file, 1: in the box `idat`, 2: in another item.
    method: u64,
    reference: u64,
    /// Index, offset and length.
    extents: Vec<[u64; 3]>,
}

pub(crate) struct Heif<'a> {
    file: &'a [u8],
    meta: IsoBox,
    children: Vec<IsoBox>,
    items: Vec<Item>,
    /// Version of the table and bytes of an extent's index.
    shape: (u64, usize),
    locations: Vec<Location>,
}

/// Boxes with offsets from the file's beginning that are not mended here.
const WITH_OFFSETS: [&[u8; 4]; 5] = [b"moov", b"moof", b"mfra", b"sidx", b"ssix"];

fn damaged(what: &str) -> Reason {
    format!("its {what} is damaged")
}

impl<'a> Heif<'a> {
    pub(crate) fn parse(file: &'a [u8]) -> Result<Self, Reason> {
        let (outer, _) = boxes(&mut Cursor::new(file), 0..file.len() as u64);
        let meta = outer.into_iter().find(|found| found.kind == *b"meta").ok_or("it has no meta box")?;
        let inside = (meta.body.start + 4).min(meta.body.end)..meta.body.end;
        let (children, is_whole) = boxes(&mut Cursor::new(file), inside);
        let mut heif = Self { file, meta, children, items: Vec::new(), shape: (0, 0), locations: Vec::new() };
        ensure!(is_whole, damaged("meta box"));
        heif.items = heif.read_items().ok_or_else(|| damaged("table of items"))?;
        heif.read_locations().ok_or_else(|| damaged("table of places of items"))?;
        Ok(heif)
    }

    fn child(&self, kind: [u8; 4]) -> Option<&IsoBox> {
        self.children.iter().find(|child| child.kind == kind)
    }

    fn table(&self, kind: [u8; 4]) -> Option<(u64, Numbers<'a>)> {
        let mut numbers = Numbers(self.child(kind)?.of(self.file));
        Some((numbers.next(4)? >> 24, numbers))
    }

    fn read_items(&self) -> Option<Vec<Item>> {
        let (version, mut numbers) = self.table(*b"iinf")?;
        let count = numbers.next(if version == 0 { 2 } else { 4 })?;
        let (entries, is_whole) = boxes(&mut Cursor::new(numbers.0), 0..numbers.0.len() as u64);
        if !is_whole || entries.len() as u64 != count || entries.iter().any(|entry| entry.kind != *b"infe") {
            return None;
        }
        let read = |entry: &IsoBox| {
            let mut fields = Numbers(entry.of(numbers.0));
            let version = fields.next(4)? >> 24;
            let id = fields.next(if version == 3 { 4 } else { 2 })?;
            fields.next(2)?;
            let kind = if version < 2 { [0; 4] } else { (fields.next(4)? as u32).to_be_bytes() };
            let mut texts = fields.0.split(|&byte| byte == 0);
            Some(Item { id, kind, is_xmp: kind == *b"mime" && texts.nth(1) == Some(b"application/rdf+xml") })
        };
        entries.iter().map(read).collect()
    }

    fn read_locations(&mut self) -> Option<()> {
        let (version, mut numbers) = self.table(*b"iloc")?;
        let sizes = numbers.next(2)? as usize;
        let [offset, length, base, mut index] = [12, 8, 4, 0].map(|shift| (sizes >> shift) & 15);
        if version == 0 {
            index = 0;
        }
        if version > 2 || [offset, length, base, index].iter().any(|size| ![0, 4, 8].contains(size)) {
            return None;
        }
        let wide = if version == 2 { 4 } else { 2 };
        for _ in 0..numbers.next(wide)? {
            let id = numbers.next(wide)?;
            let method = if version == 0 { 0 } else { numbers.next(2)? & 15 };
            let (reference, base, count) = (numbers.next(2)?, numbers.next(base)?, numbers.next(2)?);
            if count > 1 && offset + length == 0 {
                return None;
            }
            let mut extents = Vec::new();
            for _ in 0..count {
                let (index, at) = (numbers.next(index)?, base.checked_add(numbers.next(offset)?)?);
                let mut length = numbers.next(length)?;
                if method == 0 && length == 0 {
                    length = (self.file.len() as u64).checked_sub(at)?; // to the end
                }
                extents.push([index, at, length]);
            }
            self.locations.push(Location { id, method, reference, extents });
        }
        self.shape = (version, index);
        Some(())
    }

    /// Where the parts of an item lie in the file; `None` if one lies elsewhere.
    fn parts(&self, id: u64) -> Option<Vec<Range<usize>>> {
        let location = self.locations.iter().find(|location| location.id == id)?;
        let source = match location.method {
            0 if location.reference == 0 => 0..self.file.len() as u64,
            1 => self.child(*b"idat")?.body.clone(),
            _ => return None,
        };
        let range = |[_, at, length]: &[u64; 3]| {
            let at = source.start.checked_add(*at)?;
            let end = at.checked_add(*length).filter(|end| *end <= source.end)?;
            Some(usize::try_from(at).ok()?..usize::try_from(end).ok()?)
        };
        location.extents.iter().map(range).collect()
    }

    fn data(&self, id: u64) -> Option<Vec<u8>> {
        let parts = self.parts(id)?;
        let is_sound = parts.iter().map(Range::len).sum::<usize>() <= self.file.len();
        is_sound.then(|| parts.into_iter().flat_map(|part| &self.file[part]).copied().collect())
    }

    /// Where the bytes of the items with EXIF data (`true`) and XMP lie, in parts. Fails if a part lies elsewhere.
    #[expect(clippy::type_complexity, reason = "whether it is XMP, and where its parts lie")]
    pub(crate) fn metadata(&self) -> Result<Vec<(bool, Vec<Range<usize>>)>, Reason> {
        let items = self.items.iter().filter(|item| item.is_xmp || item.kind == *b"Exif");
        let parts = items.map(|item| Some((!item.is_xmp, self.parts(item.id)?)));
        parts.collect::<Option<_>>().ok_or_else(|| damaged("table of places of items"))
    }

    pub(crate) fn xmp(&self) -> Option<Vec<u8>> {
        self.items.iter().find(|item| item.is_xmp).and_then(|item| self.data(item.id))
    }

    fn exif_item(&self) -> Option<u64> {
        self.items.iter().find(|item| item.kind == *b"Exif").map(|item| item.id)
    }

    /// The EXIF data, a TIFF structure; before it stands how many bytes to skip. Fails if an item of EXIF data is
    /// damaged.
    pub(crate) fn exif(&self) -> Result<Option<Vec<u8>>, Reason> {
        let Some(id) = self.exif_item() else { return Ok(None) };
        let read = || {
            let block = self.data(id)?;
            let (skip, rest) = block.split_first_chunk::<4>()?;
            rest.get(u32::from_be_bytes(*skip) as usize..).map(<[u8]>::to_vec)
        };
        read().map(Some).ok_or_else(|| damaged("EXIF part"))
    }

    /// The file with this EXIF data instead of what it had. They come in a box of their own right behind the tables: all
    /// other bytes stay, those behind them further on.
    pub(crate) fn with_exif(&self, exif: &[u8]) -> Result<Vec<u8>, Reason> {
        let (outer, is_whole) = boxes(&mut Cursor::new(self.file), 0..self.file.len() as u64);
        ensure!(is_whole, "it is cut off, or bytes that are not a box follow".to_owned());
        if outer.iter().any(|found| WITH_OFFSETS.contains(&&found.kind)) {
            return Err("it is a video or a series of pictures".to_owned());
        }
        let payload = [&6_u32.to_be_bytes()[..], b"Exif\0\0", exif].concat();
        let own = self.exif_item();
        let id = own.or_else(|| self.free_id()).ok_or("it has no free number for an item")?;
        // Once to learn how long the tables become, once with that.
        let length = self.meta_with(id, own, (0, payload.len() as u64))?.len() as u64;
        let (start, end) = (self.meta.start as usize, self.meta.body.end as usize);
        let meta = self.meta_with(id, own, (length, payload.len() as u64))?;
        let data = sized(*b"mdat", &payload)?;
        let copy = [&self.file[..start], &meta, &data, &self.file[end..]].concat();
        let is_there = Heif::parse(&copy)?.exif()?.is_some_and(|read| read == exif);
        if is_there { Ok(copy) } else { Err("its tables cannot take another item".to_owned()) }
    }

    /// A number that no item and no group of items has.
    fn free_id(&self) -> Option<u64> {
        let groups = self.child(*b"grpl").map(|groups| groups.of(self.file)).unwrap_or_default();
        let (groups_in, _) = boxes(&mut Cursor::new(groups), 0..groups.len() as u64);
        let groups = groups_in.iter().filter_map(|group| Numbers(group.of(groups).get(4..)?).next(4));
        let items = self.items.iter().map(|item| item.id).chain(self.locations.iter().map(|location| location.id));
        // A group's number may be anything; the tables of most files hold 16 bits.
        let taken: Vec<u64> = items.chain(groups).collect();
        (1..=0xffff).find(|id| !taken.contains(id))
    }

    /// The meta box, `length` long, with the item `id` right behind it.
    fn meta_with(&self, id: u64, own: Option<u64>, (length, payload): (u64, u64)) -> Result<Vec<u8>, Reason> {
        let end = self.meta.body.end;
        let moved = |at: u64| at - end + self.meta.start + length + 8 + payload;
        let mut locations = self.locations.clone();
        locations.retain(|location| Some(location.id) != own);
        for location in locations.iter_mut().filter(|location| location.method == 0 && location.reference == 0) {
            for [_, at, size] in &mut location.extents {
                if at.checked_add(*size).is_none_or(|end| end > self.file.len() as u64) {
                    return Err(damaged("table of places of items"));
                }
                if *at >= end {
                    *at = moved(*at);
                } else if *at + *size > self.meta.start && *size > 0 {
                    return Err("an item lies inside of its tables".to_owned());
                }
            }
        }
        let at = self.meta.start + length + 8;
        locations.push(Location { id, method: 0, reference: 0, extents: vec![[0, at, payload]] });
        let mut body = self.meta.of(self.file)[..4].to_vec();
        let mut has_references = false;
        for child in &self.children {
            match (&child.kind, own) {
                (b"iloc", _) => body.extend(sized(*b"iloc", &self.location_table(&locations)?)?),
                (b"iinf", None) => body.extend(sized(*b"iinf", &self.item_table(id)?)?),
                (b"iref", None) => {
                    has_references = true;
                    let old = child.of(self.file);
                    body.extend(sized(*b"iref", &[old, &self.description(id, old.first() == Some(&1))?].concat())?);
                }
                _ => body.extend(&self.file[child.start as usize..child.body.end as usize]),
            }
        }
        if own.is_none() && !has_references {
            body.extend(sized(*b"iref", &[&[0; 4], &self.description(id, false)?[..]].concat())?);
        }
        sized(*b"meta", &body)
    }

    /// The box that says that an item describes the main picture.
    fn description(&self, id: u64, is_wide: bool) -> Result<Vec<u8>, Reason> {
        let main = || {
            let (version, mut numbers) = self.table(*b"pitm")?;
            numbers.next(if version == 0 { 2 } else { 4 })
        };
        let main = main().ok_or("it names no main picture")?;
        let number = |id: u64| number(id, if is_wide { 4 } else { 2 });
        sized(*b"cdsc", &[number(id)?, vec![0, 1], number(main)?].concat())
    }

    fn item_table(&self, id: u64) -> Result<Vec<u8>, Reason> {
        let old = self.child(*b"iinf").map(|table| table.of(self.file)).unwrap_or_default();
        let wide = if old.first() == Some(&0) { 2 } else { 4 };
        let count = number(self.items.len() as u64 + 1, wide)?;
        let entry = sized(*b"infe", &[&[2, 0, 0, 1], &number(id, 2)?[..], b"\0\0Exif\0"].concat())?;
        Ok([&old[..4], &count, &old[4 + wide..], &entry].concat())
    }

    fn location_table(&self, locations: &[Location]) -> Result<Vec<u8>, Reason> {
        let (version, index_bytes) = self.shape;
        let numbers = || locations.iter().flat_map(|location| location.extents.iter().flatten());
        let bytes = if numbers().all(|&number| u32::try_from(number).is_ok()) { 4 } else { 8 };
        let wide = if version == 2 { 4 } else { 2 };
        let mut table = vec![version as u8, 0, 0, 0, (bytes as u8) * 0x11, index_bytes as u8];
        table.extend(number(locations.len() as u64, wide)?);
        for Location { id, method, reference, extents } in locations {
            let method = if version > 0 { number(*method, 2)? } else { Vec::new() };
            let count = number(extents.len() as u64, 2)?;
            table.extend([number(*id, wide)?, method, number(*reference, 2)?, count].concat());
            for [index, at, length] in extents {
                table.extend([number(*index, index_bytes)?, number(*at, bytes)?, number(*length, bytes)?].concat());
            }
        }
        Ok(table)
    }
}

fn number(value: u64, bytes: usize) -> Result<Vec<u8>, Reason> {
    let all = value.to_be_bytes();
    let (above, number) = all.split_at(8 - bytes);
    let fits = above.iter().all(|&byte| byte == 0);
    fits.then(|| number.to_vec()).ok_or_else(|| "its tables have no room for another item".to_owned())
}

fn sized(kind: [u8; 4], body: &[u8]) -> Result<Vec<u8>, Reason> {
    Ok([&number(body.len() as u64 + 8, 4)?[..], &kind, body].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tags::{GeoTag, Overwrite, PhotoFacts, exif::tests::sample, tagged};
    use locdiff_shdd::sphere::LatLon;

    /// A file with two pictures (one in two parts), an item in `idat` and, where it is asked for, EXIF data; `tables` first or last.
    fn made(version: u8, bytes: usize, base: u64, exif: Option<&[u8]>, first: bool) -> Vec<u8> {
        let n = |value: u64, bytes| number(value, bytes).unwrap();
        let sized = |kind: &[u8; 4], body: &[u8]| sized(*kind, body).unwrap();
        let block = exif.map(|exif| [&[0; 4], exif].concat()).unwrap_or_default();
        let data = [&b"PICTURE-ONE-picture-two"[..], &block].concat();
        let wide = if version == 2 { 4 } else { 2 };
        let meta = |data_at: u64| {
            let mut items = vec![(1, 0, vec![(0, 5), (5, 6)]), (2, 0, vec![(12, 11)])];
            if version > 0 {
                items.push((7, 1, vec![(1, 3)]));
            }
            if exif.is_some() {
                items.push((3, 0, vec![(23, block.len() as u64)]));
            }
            let (index, base_bytes) = (if version > 0 { 4 } else { 0 }, if base > 0 { bytes } else { 0 });
            let sizes = [(bytes * 17) as u8, (base_bytes * 16 + index) as u8];
            let mut iloc = [&[version, 0, 0, 0], &sizes[..], &n(items.len() as u64, wide)].concat();
            let mut iinf = [&[0; 4], &n(items.len() as u64, 2)[..]].concat();
            for (id, method, extents) in items {
                let kind = if id == 3 { b"Exif" } else { b"hvc1" };
                iinf.extend(sized(b"infe", &[&[2, 0, 0, 0], &n(id, 2)[..], &[0, 0], kind, &[0]].concat()));
                iloc.extend(n(id, wide));
                iloc.extend(n(method, if version > 0 { 2 } else { 0 }));
                let (from, base) = if method == 0 { (data_at, base) } else { (0, 0) };
                iloc.extend([n(0, 2), n(base, base_bytes), n(extents.len() as u64, 2)].concat());
                for (at, length) in extents {
                    iloc.extend([n(index as u64, index), n(from + at - base, bytes), n(length, bytes)].concat());
                }
            }
            let cdsc = sized(b"cdsc", &[0, 0, 0, 2, 0, 1, 0, 0, 0, 1]);
            let iref = sized(b"iref", &[&[1, 0, 0, 0], &cdsc[..]].concat());
            let group = if exif.is_some() { 9 } else { 3 };
            let children = [
                sized(b"pitm", &[0, 0, 0, 0, 0, 1]),
                sized(b"iloc", &iloc),
                sized(b"iinf", &iinf),
                if version == 1 { iref } else { Vec::new() },
                sized(b"idat", b"abcdef"),
                sized(b"grpl", &sized(b"altr", &[0, 0, 0, 0, 0, 0, 0, group])),
            ];
            sized(b"meta", &[&[0; 4], &children.concat()[..]].concat())
        };
        let (head, mdat) = (sized(b"ftyp", b"heic\0\0\0\0mif1"), sized(b"mdat", &data));
        let at = head.len() as u64 + 8;
        let (length, tail) = (meta(200).len() as u64, sized(b"free", b"tail"));
        if first { [head, meta(at + length), mdat, tail].concat() } else { [head, mdat, meta(at), tail].concat() }
    }

    #[test]
    fn every_shape_of_the_tables_is_rewritten() {
        for (version, bytes, base) in [(0, 4, 0), (0, 8, 25), (1, 4, 0), (1, 8, 20), (2, 4, 7)] {
            for (exif, first) in [(None, true), (None, false), (Some(&b"old"[..]), true), (Some(b"old"), false)] {
                let file = made(version, bytes, base, exif, first);
                let old = Heif::parse(&file).unwrap();
                assert_eq!(old.exif().unwrap().as_deref(), exif, "{version} {bytes}");
                let copy = old.with_exif(b"new EXIF data").unwrap();
                let new = Heif::parse(&copy).unwrap();
                assert_eq!(new.exif().unwrap().unwrap(), b"new EXIF data");
                assert_eq!(new.items.len(), old.items.len() + usize::from(exif.is_none()));
                for (id, data) in [(1, &b"PICTURE-ONE"[..]), (2, b"picture-two"), (7, b"bcd")] {
                    let is_there = id != 7 || version > 0;
                    assert_eq!(new.data(id), is_there.then(|| data.to_vec()), "{version} {bytes} {id}");
                }
                let end = old.meta.body.end as usize;
                assert!(copy.starts_with(&file[..old.meta.start as usize]) && copy.ends_with(&file[end..]));
                let again = new.with_exif(b"x").unwrap();
                assert_eq!(Heif::parse(&again).unwrap().exif().unwrap().unwrap(), b"x");
                if exif.is_none() {
                    assert_eq!(new.exif_item(), Some(4), "3 is a group's");
                }
            }
        }
    }

    #[test]
    fn other_tags_stay() {
        let file = made(1, 4, 0, Some(&sample(b'N', b'E')), true);
        let tag = GeoTag::new(LatLon::new(-3.0, 4.0).unwrap());
        assert!(tagged(&file, "a.heic", &tag, Overwrite::NEVER).unwrap_err().is_has_location());
        let facts = PhotoFacts::read(&tagged(&file, "a.heic", &tag, Overwrite::FORCE).unwrap());
        let before = PhotoFacts::read(&file);
        assert!(before.taken.time.is_some() && before.orientation.is_some());
        assert_eq!(facts, PhotoFacts { gps: LatLon::new(-3.0, 4.0).ok(), ..before });
    }

    #[test]
    fn bad_boxes_are_errors() {
        let file = made(1, 4, 0, Some(b"old"), true);
        for end in 0..file.len() {
            let written = Heif::parse(&file[..end]).and_then(|heif| heif.with_exif(b"x"));
            assert!(written.is_err() || end == file.len() - 12, "{end}"); // without the last box it is whole
        }
        let mut state = 1_u32;
        for at in (0..file.len()).cycle().take(40_000) {
            let mut damaged = file.clone();
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            damaged[at] = (state >> 24) as u8;
            let Ok(heif) = Heif::parse(&damaged) else { continue };
            let (_, _) = (heif.exif(), heif.xmp());
            if let Ok(copy) = heif.with_exif(b"new") {
                assert_eq!(Heif::parse(&copy).unwrap().exif().unwrap().unwrap(), b"new");
            }
        }
        let film = [file, sized(*b"moov", b"").unwrap()].concat();
        assert!(Heif::parse(&film).unwrap().with_exif(b"x").unwrap_err().contains("video"));
    }
}
