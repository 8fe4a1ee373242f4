//! The few pickle instructions that PyTorch writes for tensors, interpreted as data. Nothing is ever called: the only
//! "functions" a pickle may name are the handful below, and they build descriptions. Everything else is refused by name.

use locdiff_base::{Element, ensure, excerpt};
use std::rc::Rc;

/// A tensor as the pickle describes it: a window on a storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TensorInfo {
    pub(crate) storage: Rc<StorageInfo>,
    pub(crate) offset: u64,
    pub(crate) shape: Vec<u64>,
    pub(crate) stride: Vec<u64>,
}

/// A storage: a member of the archive that holds numbers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StorageInfo {
    pub(crate) element: Element,
    pub(crate) key: String,
    pub(crate) count: u64,
}

/// What a name in a pickle may mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Global {
    RebuildTensor,
    RebuildParameter,
    OrderedDict,
    Storage(Element),
}

impl Global {
    fn named(module: &str, name: &str) -> Option<Self> {
        Some(match (module, name) {
            ("torch._utils", "_rebuild_tensor_v2") => Self::RebuildTensor,
            ("torch._utils", "_rebuild_parameter") => Self::RebuildParameter,
            ("collections", "OrderedDict") => Self::OrderedDict,
            ("torch", "FloatStorage") => Self::Storage(Element::F32),
            ("torch", "HalfStorage") => Self::Storage(Element::F16),
            ("torch", "BFloat16Storage") => Self::Storage(Element::Bf16),
            ("torch", "DoubleStorage") => Self::Storage(Element::F64),
            _ => return None,
        })
    }
}

/// A value on the machine's stack. Compound values are shared, so that a copy costs nothing, and carry their depth.
#[derive(Debug, Clone)]
enum Value {
    Mark,
    None,
    Bool,
    Int(i64),
    Text(Rc<str>),
    Tuple(Rc<[Value]>, u8),
    Dict(Vec<(Rc<str>, Value)>, u8),
    /// A dictionary that was put aside: PyTorch does so with each and never fetches it.
    DictPutAside,
    Global(Global),
    Storage(Rc<StorageInfo>),
    Tensor(Rc<TensorInfo>),
}

impl Value {
    fn kind(&self) -> &'static str {
        match self {
            Self::Mark => "a mark",
            Self::None => "None",
            Self::Bool => "a truth value",
            Self::Int(_) => "a whole number",
            Self::Text(_) => "text",
            Self::Tuple(..) => "a tuple",
            Self::Dict(..) | Self::DictPutAside => "a dictionary",
            Self::Global(_) => "a name",
            Self::Storage(_) => "a storage",
            Self::Tensor(_) => "a tensor",
        }
    }

    fn depth(&self) -> u8 {
        match self {
            Self::Tuple(_, depth) | Self::Dict(_, depth) => *depth,
            _ => 0,
        }
    }

    fn count(&self, what: &str) -> Result<u64, String> {
        match self {
            Self::Int(value) if *value >= 0 => Ok(*value as u64),
            other => Err(format!("{what} is {}, not a count", other.kind())),
        }
    }

    fn counts(&self, what: &str) -> Result<Vec<u64>, String> {
        match self {
            Self::Tuple(items, _) => items.iter().map(|item| item.count(what)).collect(),
            other => Err(format!("{what} is {}, not a tuple", other.kind())),
        }
    }
}

/// Tuples in tuples: a tensor needs two levels, its metadata three.
const DEEPEST: u8 = 8;
/// Larger pickles hold more than names and shapes.
pub(crate) const LONGEST_PICKLE: u64 = 16 << 20;

/// The tensors of a pickle by name; a lone tensor has the empty name.
pub(crate) fn tensors(pickle: &[u8]) -> Result<Vec<(String, Rc<TensorInfo>)>, String> {
    let own = |(name, value): (Rc<str>, Value)| match value {
        Value::Tensor(tensor) => Ok((name.to_string(), tensor)),
        other => Err(format!("'{}' is {}: a state_dict holds tensors only", excerpt(&name), other.kind())),
    };
    match (Machine { input: pickle, stack: Vec::new(), memo: Vec::new() }).run()? {
        Value::Tensor(tensor) => Ok(vec![(String::new(), tensor)]),
        Value::Dict(items, _) => items.into_iter().map(own).collect(),
        other => Err(format!("it holds {}, not a state_dict of tensors", other.kind())),
    }
}

struct Machine<'a> {
    input: &'a [u8],
    stack: Vec<Value>,
    memo: Vec<Option<Value>>,
}

impl<'a> Machine<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (head, tail) = self.input.split_at_checked(count).ok_or("its pickle is cut off")?;
        self.input = tail;
        Ok(head)
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N], String> {
        Ok(self.take(N)?.try_into().unwrap_or([0; N]))
    }

    fn line(&mut self) -> Result<String, String> {
        let end = self.input.iter().position(|byte| *byte == b'\n').ok_or("its pickle is cut off")?;
        let text = String::from_utf8_lossy(self.take(end)?).into_owned();
        self.take(1)?;
        Ok(text)
    }

    fn pop(&mut self) -> Result<Value, String> {
        match self.stack.pop() {
            Some(Value::Mark) | None => Err("its pickle takes more from the stack than it put there".to_owned()),
            Some(value) => Ok(value),
        }
    }

    /// Everything above the last mark.
    fn above_mark(&mut self) -> Result<Vec<Value>, String> {
        let mark = self.stack.iter().rposition(|value| matches!(value, Value::Mark));
        let mark = mark.ok_or("its pickle lacks a mark")?;
        let items = self.stack.split_off(mark + 1);
        self.stack.pop();
        Ok(items)
    }

    fn put(&mut self, index: usize) -> Result<(), String> {
        let value = match self.stack.last() {
            Some(Value::Dict(..)) => Value::DictPutAside,
            Some(value) => value.clone(),
            None => return Err("its pickle remembers a value that is not there".to_owned()),
        };
        // PyTorch numbers its memo without gaps.
        ensure!(index <= self.memo.len(), format!("its pickle skips to number {index} of its memo"));
        if index == self.memo.len() {
            self.memo.push(Some(value));
        } else {
            self.memo[index] = Some(value);
        }
        Ok(())
    }

    fn get(&self, index: usize) -> Result<Value, String> {
        let value = self.memo.get(index).cloned().flatten();
        value.ok_or_else(|| format!("its pickle recalls number {index}, never remembered"))
    }

    fn byte(&mut self) -> Result<usize, String> {
        Ok(usize::from(self.take(1)?[0]))
    }

    fn long_index(&mut self) -> Result<usize, String> {
        Ok(u32::from_le_bytes(self.number()?) as usize)
    }

    fn run(mut self) -> Result<Value, String> {
        ensure!(self.take(2)? == [0x80, 2], "its pickle is not of protocol 2, which torch.save writes".to_owned());
        loop {
            let built = match self.take(1)?[0] {
                b'(' => Value::Mark,
                b'}' => Value::Dict(Vec::new(), 1),
                b')' => tuple(Vec::new())?,
                b'N' => Value::None,
                0x88 | 0x89 => Value::Bool,
                b'K' => Value::Int(self.byte()? as i64),
                b'M' => Value::Int(i64::from(u16::from_le_bytes(self.number()?))),
                b'J' => Value::Int(i64::from(i32::from_le_bytes(self.number()?))),
                0x8a => {
                    let length = self.byte()?;
                    Value::Int(long(self.take(length)?)?)
                }
                b'X' => {
                    let length = self.long_index()?;
                    let text = std::str::from_utf8(self.take(length)?);
                    Value::Text(text.map_err(|_| "its pickle holds text that is not UTF-8")?.into())
                }
                b't' => tuple(self.above_mark()?)?,
                count @ 0x85..=0x87 => {
                    let mut items = (0x85..=count).map(|_| self.pop()).collect::<Result<Vec<_>, _>>()?;
                    items.reverse();
                    tuple(items)?
                }
                put @ (b'q' | b'r') => {
                    let index = if put == b'q' { self.byte()? } else { self.long_index()? };
                    self.put(index)?;
                    continue;
                }
                get @ (b'h' | b'j') => {
                    let index = if get == b'h' { self.byte()? } else { self.long_index()? };
                    self.get(index)?
                }
                b'c' => {
                    let (module, name) = (self.line()?, self.line()?);
                    let named = || excerpt(&format!("{module}.{name}"));
                    Value::Global(Global::named(&module, &name).ok_or_else(|| {
                        format!("it asks for {}, and weights need no such thing; it was not run", named())
                    })?)
                }
                b'Q' => Value::Storage(Rc::new(storage(&self.pop()?)?)),
                b'R' => self.reduce()?,
                set @ (b's' | b'u') => {
                    let mut items = if set == b's' { vec![self.pop()?, self.pop()?] } else { self.above_mark()? };
                    if set == b's' {
                        items.reverse();
                    }
                    self.set_items(items)?;
                    continue;
                }
                b'b' => {
                    self.set_state()?;
                    continue;
                }
                b'.' => {
                    let root = self.pop()?;
                    let is_end = self.stack.is_empty() && self.input.is_empty();
                    return if is_end { Ok(root) } else { Err("its pickle goes on after its end".to_owned()) };
                }
                other => {
                    let letter = char::from(other).escape_default();
                    return Err(format!(
                        "its pickle has the instruction 0x{other:02x} ('{letter}'), which no tensor needs"
                    ));
                }
            };
            self.stack.push(built);
        }
    }

    /// A state_dict carries its version numbers as attributes: looked at by type and dropped.
    fn set_state(&mut self) -> Result<(), String> {
        match (self.pop()?, self.stack.last()) {
            (Value::Dict(..), Some(Value::Dict(..))) => Ok(()),
            (state, _) => Err(format!("its pickle sets the state of an object to {}", state.kind())),
        }
    }

    fn set_items(&mut self, items: Vec<Value>) -> Result<(), String> {
        let Some(Value::Dict(entries, depth)) = self.stack.last_mut() else {
            return Err("its pickle puts items into something that is not a dictionary".to_owned());
        };
        ensure!(items.len().is_multiple_of(2), "its pickle has a key without a value".to_owned());
        *depth = items.iter().map(|item| item.depth() + 1).max().unwrap_or(1).max(*depth);
        ensure!(*depth <= DEEPEST, format!("its pickle nests more than {DEEPEST} deep"));
        let mut items = items.into_iter();
        while let (Some(key), Some(value)) = (items.next(), items.next()) {
            let Value::Text(key) = key else {
                return Err(format!("its pickle has {} as a key instead of a name", key.kind()));
            };
            entries.push((key, value));
        }
        Ok(())
    }

    fn reduce(&mut self) -> Result<Value, String> {
        let (arguments, function) = (self.pop()?, self.pop()?);
        let Value::Tuple(arguments, _) = arguments else {
            return Err(format!("its pickle calls with {}", arguments.kind()));
        };
        Ok(match (function, &arguments[..]) {
            (Value::Global(Global::OrderedDict), []) => Value::Dict(Vec::new(), 1),
            (
                Value::Global(Global::RebuildTensor),
                [Value::Storage(storage), offset, shape, stride, Value::Bool, Value::Dict(hooks, _)],
            ) if hooks.is_empty() => Value::Tensor(Rc::new(TensorInfo {
                storage: Rc::clone(storage),
                offset: offset.count("a tensor's offset")?,
                shape: shape.counts("a tensor's shape")?,
                stride: stride.counts("a tensor's stride")?,
            })),
            (Value::Global(Global::RebuildParameter), [Value::Tensor(tensor), Value::Bool, Value::Dict(hooks, _)])
                if hooks.is_empty() =>
            {
                Value::Tensor(Rc::clone(tensor))
            }
            (function, _) => {
                return Err(format!("its pickle calls {} in a way torch.save never does", function.kind()));
            }
        })
    }
}

fn tuple(items: Vec<Value>) -> Result<Value, String> {
    let depth = 1 + items.iter().map(Value::depth).max().unwrap_or(0);
    ensure!(depth <= DEEPEST, format!("its pickle nests more than {DEEPEST} deep"));
    Ok(Value::Tuple(items.into(), depth))
}

/// The storage of a persistent id: ('storage', type, key, device, count).
fn storage(id: &Value) -> Result<StorageInfo, String> {
    let Value::Tuple(items, _) = id else { return Err(format!("its pickle refers to {} outside itself", id.kind())) };
    match &items[..] {
        [Value::Text(tag), Value::Global(Global::Storage(element)), Value::Text(key), Value::Text(_), count]
            if &**tag == "storage" =>
        {
            if key.is_empty() || key.len() > 20 || !key.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(format!("a storage is called '{}', not by a number", excerpt(key)));
            }
            Ok(StorageInfo { element: *element, key: key.to_string(), count: count.count("a storage's size")? })
        }
        _ => Err("its pickle refers to something that is not a storage of numbers".to_owned()),
    }
}

/// A little-endian two's complement number of up to eight bytes.
fn long(bytes: &[u8]) -> Result<i64, String> {
    ensure!(bytes.len() <= 8, format!("its pickle has a number of {} bytes", bytes.len()));
    let negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    let mut full = [if negative { 0xff } else { 0 }; 8];
    full[..bytes.len()].copy_from_slice(bytes);
    Ok(i64::from_le_bytes(full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_sign() {
        assert_eq!(long(&[]), Ok(0));
        assert_eq!(long(&[0xff]), Ok(-1));
        assert_eq!(long(&[0xff, 0x00]), Ok(255));
        assert!(long(&[1; 9]).is_err());
    }

    #[test]
    fn tuples_shared_a_billion_times_cost_nothing_and_end() {
        // t = (t, t, t), again and again: 3^60 leaves if anyone looked at them all.
        let mut pickle = b"\x80\x02)q\x00".to_vec();
        for k in 0..60_u8 {
            pickle.extend([b'h', k, b'h', k, b'h', k, 0x87, b'q', k + 1]);
        }
        pickle.push(b'.');
        assert!(tensors(&pickle).unwrap_err().contains("deep"));
    }

    #[test]
    fn nested_dictionaries_end_too() {
        let mut pickle = b"\x80\x02".to_vec();
        for _ in 0..100 {
            pickle.extend(b"}X\x01\x00\x00\x00a");
        }
        pickle.extend(b"N");
        pickle.extend([b's'; 100]);
        pickle.push(b'.');
        assert!(tensors(&pickle).unwrap_err().contains("deep"));
    }
}
