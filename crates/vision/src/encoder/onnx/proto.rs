//! As much of ONNX's files (protocol buffers) as it takes to count their weights.

/// `ModelProto.graph`, `GraphProto.initializer`, `TensorProto.dims`.
const GRAPH: u64 = 7;
const INITIALIZER: u64 = 5;
const DIMS: u64 = 1;

/// Values of all initialisers of a model; those that can be read where the file is damaged.
pub(super) fn constants(model: &[u8]) -> usize {
    let is = |wanted: u64| move |field: &(u64, u64, &[u8])| (field.0, field.1) == (wanted, 2);
    let tensors = fields(model).filter(is(GRAPH)).flat_map(|(.., graph)| fields(graph).filter(is(INITIALIZER)));
    tensors.map(|(.., tensor)| values(tensor)).fold(0, usize::saturating_add)
}

/// The product of a tensor's dimensions, which stand one by one or packed.
fn values(tensor: &[u8]) -> usize {
    let dims = fields(tensor).filter(|(field, kind, _)| *field == DIMS && [0, 2].contains(kind));
    let dims = dims.flat_map(|(.., mut packed)| std::iter::from_fn(move || number(&mut packed)));
    let size = |dim: u64| usize::try_from(dim.cast_signed().max(0)).unwrap_or(usize::MAX);
    dims.map(size).fold(1, usize::saturating_mul)
}

/// The fields of a message, up to its end or to what is no field: the number, the kind (0 for a whole number, 2 for a message or
/// packed numbers), the bytes.
fn fields(mut message: &[u8]) -> impl Iterator<Item = (u64, u64, &[u8])> {
    std::iter::from_fn(move || {
        let key = number(&mut message)?;
        let length = match key & 7 {
            0 => message.iter().position(|byte| byte & 0x80 == 0)? + 1,
            1 => 8,
            2 => usize::try_from(number(&mut message)?).ok()?,
            5 => 4,
            _ => return None,
        };
        let (bytes, rest) = message.split_at_checked(length)?;
        message = rest;
        Some((key >> 3, key & 7, bytes))
    })
}

/// Seven bits a byte, the lowest first; the highest bit says that there are more.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::constants;

    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, bytes.len() as u8], bytes].concat()
    }

    #[test]
    fn initialisers_are_counted() {
        let packed = field(1, &[3, 200, 1]); // dims 3 and 200
        let single = [1 << 3, 5, 1 << 3, 2]; // dims 5 and 2
        let graph = [field(5, &packed), field(1, b"node"), field(5, &single)].concat();
        let model = [vec![1 << 3, 8], field(7, &graph)].concat();
        assert_eq!(constants(&model), 610);
        assert_eq!(constants(&field(7, &field(5, &[1 << 3, 0xff, 0xff]))), 1);
    }

    #[test]
    fn damaged_files_are_no_reason_to_panic() {
        let whole = include_bytes!("../../../../../fixtures/onnx/model.onnx");
        assert_eq!(constants(whole), 8 * 27 + 8 + 12 * 8);
        for end in 0..whole.len() {
            let _ = constants(&whole[..end]);
            let mut damaged = whole.to_vec();
            damaged[end] ^= 0xff;
            let _ = constants(&damaged);
        }
    }
}
