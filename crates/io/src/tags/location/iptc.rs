//! IPTC's records of a place, alone or among Photoshop's resources.

use super::{finding::LocationScrub, xmp};

/// Datasets of record 2 that name a place, with their rank among names.
const PLACES: [(u8, u8); 7] = [(26, 4), (27, 0), (90, 1), (92, 0), (95, 2), (100, 4), (101, 3)];
/// Times, which end in an offset from UTC.
const TIMES: [u8; 4] = [35, 38, 60, 63];

/// Records without those of a place, of the same length: what follows moves up, zeros fill the end.
pub(super) fn records(block: &[u8], scrub: &mut LocationScrub) -> Vec<u8> {
    let (mut new, mut names, mut rest) = (Vec::with_capacity(block.len()), Vec::new(), block);
    while let [0x1c, record, set, high, low, after @ ..] = rest {
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let Some((value, next)) = after.split_at_checked(length) else { break };
        match PLACES.iter().find(|(known, _)| known == set) {
            Some((_, rank)) if *record == 2 => names.push((*rank, String::from_utf8_lossy(value).into_owned())),
            None if *record == 2 && TIMES.contains(set) => {
                // Programs that know no offset write 0.
                if let Some(zone) = value.get(6..).filter(|zone| !zone.is_empty() && *zone != b"+0000") {
                    scrub.note("time-zone", "IPTC", &String::from_utf8_lossy(zone));
                }
            }
            _ => new.extend(&rest[..5 + length]),
        }
        rest = next;
    }
    if rest.iter().any(|byte| *byte != 0) {
        scrub.note_hidden("IPTC");
    }
    scrub.note_names("IPTC", names);
    new.resize(block.len(), 0);
    new
}

/// Photoshop's resources without location, of the same length.
pub(super) fn resources(block: &[u8], scrub: &mut LocationScrub) -> Vec<u8> {
    let (mut new, mut at) = (block.to_vec(), 0);
    while let Some([b'8', b'B', b'I', b'M', high, low, name]) = block.get(at..).and_then(<[u8]>::first_chunk::<7>) {
        // The name and the contents each have an even number of bytes.
        let start = at + 10 + usize::midpoint(usize::from(*name), 2) * 2;
        let Some(size) = block.get(start - 4..start).and_then(<[u8]>::first_chunk) else { break };
        let Some(contents) = block.get(start..start.saturating_add(u32::from_be_bytes(*size) as usize)) else { break };
        let changed = match u16::from_be_bytes([*high, *low]) {
            0x0404 => records(contents, scrub),
            0x0424 => xmp::scrubbed(contents, scrub),
            0x0422 | 0x0423 => {
                scrub.note_hidden("Photoshop"); // EXIF data, which programs write elsewhere
                vec![0; contents.len()]
            }
            0x0425 => vec![0; contents.len()], // a checksum of the records
            _ => contents.to_vec(),
        };
        new[start..start + contents.len()].copy_from_slice(&changed);
        at = start + contents.len() + contents.len() % 2;
    }
    let rest = new.get_mut(at..).unwrap_or_default();
    if rest.iter().any(|byte| *byte != 0) {
        scrub.note_hidden("Photoshop");
        rest.fill(0);
    }
    new
}
