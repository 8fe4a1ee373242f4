//! As much of ONNX's files (protocol buffers) as it takes to count their weights.

/// What a field holds, after its number: the bytes of a message, or a whole number.
#[derive(Clone, Copy)]
enum Field<'a> {
    Bytes(u64, &'a [u8]),
    Number(u64, u64),
}

/// `ModelProto.graph`, `GraphProto.initializer`, `TensorProto.dims`.
const GRAPH: u64 = 7;
const INITIALIZER: u64 = 5;
const DIMS: u64 = 1;

/// Values of all initialisers of a model; those that can be read where the file is damaged.
pub(super) fn constants(model: &[u8]) -> usize {
    let tensors = messages(model, GRAPH).flat_map(|graph| messages(graph, INITIALIZER));
    tensors.map(values).fold(0, usize::saturating_add)
}

/// The messages in the fields of a number.
fn messages(message: &[u8], wanted: u64) -> impl Iterator<Item = &[u8]> {
    Fields(message).filter_map(move |field| match field {
        Field::Bytes(number, bytes) if number == wanted => Some(bytes),
        _ => None,
    })
}

/// The product of a tensor's dimensions, which stand one by one or packed.
fn values(tensor: &[u8]) -> usize {
    let mut product = 1_usize;
    let mut times = |dim: u64| {
        product = product.saturating_mul(usize::try_from(dim.cast_signed().max(0)).unwrap_or(usize::MAX));
    };
    for field in Fields(tensor) {
        match field {
            Field::Number(DIMS, dim) => times(dim),
            Field::Bytes(DIMS, mut packed) => {
                while let Some(dim) = number(&mut packed) {
                    times(dim);
                }
            }
            _ => {}
        }
    }
    product
}

/// The fields of a message, up to its end or to what is no field.
struct Fields<'a>(&'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        loop {
            let key = number(&mut self.0)?;
            let field = key >> 3;
            let length = match key & 7 {
                0 => return Some(Field::Number(field, number(&mut self.0)?)),
                1 => 8,
                2 => usize::try_from(number(&mut self.0)?).ok()?,
                5 => 4,
                _ => return None,
            };
            let bytes = take(&mut self.0, length)?;
            if key & 7 == 2 {
                return Some(Field::Bytes(field, bytes));
            }
        }
    }
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

/// Seven bits a byte, the lowest first; the highest bit says that there are more.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)?[0];
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
