//! The description at the end of a file: which columns, and where their pages are.

use super::thrift::{Kind, Thrift, fields};
use super::{codec::Codec, error::Reason, error::damaged};
use locdiff_base::ensure;

/// Rows of one row group, which are counted in memory: pyarrow writes a million at the most.
pub(crate) const MOST_ROWS_OF_A_GROUP: u64 = 1 << 24;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Int32,
    Int64,
    Float,
    Double,
    Bytes,
    Other,
}

impl Type {
    fn of(code: i64) -> Self {
        let known = [(1, Self::Int32), (2, Self::Int64), (4, Self::Float), (5, Self::Double), (6, Self::Bytes)];
        known.into_iter().find(|(number, _)| *number == code).map_or(Self::Other, |(_, kind)| kind)
    }

    /// Bytes of a plain value; 0 where they differ.
    pub(crate) fn width(self) -> usize {
        match self {
            Self::Int32 | Self::Float => 4,
            Self::Int64 | Self::Double => 8,
            Self::Bytes | Self::Other => 0,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Leaf {
    /// Its name with those of the structures that it is in: `image.bytes`.
    pub(crate) name: String,
    pub(crate) kind: Type,
    /// How many of those may be absent: the level at which a value is there.
    pub(crate) levels: u8,
    pub(crate) repeated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Chunk {
    pub(crate) codec: i64,
    pub(crate) begin: u64,
    pub(crate) bytes: u64,
}

impl Chunk {
    pub(crate) fn codec(&self) -> Result<Codec, Reason> {
        Codec::of(self.codec)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    pub(crate) rows: u64,
    pub(crate) chunks: Vec<Chunk>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Footer {
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) groups: Vec<Group>,
}

impl Footer {
    /// Of the bytes between the pages and the length at the end, for a file of so many bytes.
    pub(crate) fn parse(bytes: &[u8], file_bytes: u64) -> Result<Self, Reason> {
        let (mut elements, mut groups) = (Vec::new(), Vec::new());
        fields!(Thrift::new(bytes), this,
            (2, List) => elements.extend(this.structures(element)?),
            (4, List) => groups.extend(this.structures(group)?),
        )?;
        let leaves = leaves(&elements)?;
        for group in &groups {
            if group.chunks.len() != leaves.len() || group.rows > MOST_ROWS_OF_A_GROUP {
                return Err(damaged("a row group lacks columns or rows of the file"));
            }
            let inside = |chunk: &Chunk| chunk.begin.checked_add(chunk.bytes).is_some_and(|end| end <= file_bytes);
            ensure!(group.chunks.iter().all(inside), damaged("its pages lie beyond its end"));
        }
        Ok(Self { leaves, groups })
    }
}

#[derive(Default)]
struct Element {
    name: String,
    kind: Option<i64>,
    repetition: i64,
    children: u64,
}

fn element(thrift: &mut Thrift<'_>) -> Result<Element, Reason> {
    let mut found = Element::default();
    fields!(thrift, this,
        (1, Int) => found.kind = Some(this.int()?),
        (3, Int) => found.repetition = this.int()?,
        (4, Binary) => found.name = String::from_utf8_lossy(this.binary()?).into_owned(),
        (5, Int) => found.children = this.count()?,
    )?;
    Ok(found)
}

/// The leaves of a tree that is written as a list, parents before their children.
fn leaves(elements: &[Element]) -> Result<Vec<Leaf>, Reason> {
    struct Open {
        prefix: String,
        levels: u8,
        repeated: bool,
        left: u64,
    }
    let Some((root, elements)) = elements.split_first() else { return Ok(Vec::new()) };
    let mut open = vec![Open { prefix: String::new(), levels: 0, repeated: false, left: root.children }];
    let mut found = Vec::new();
    for element in elements {
        while open.last().is_some_and(|parent| parent.left == 0) {
            open.pop();
        }
        let depth = open.len();
        let Some(parent) = open.last_mut().filter(|_| depth < 32) else {
            return Err(damaged("its columns are not a tree"));
        };
        parent.left -= 1;
        let name =
            if parent.prefix.is_empty() { element.name.clone() } else { format!("{}.{}", parent.prefix, element.name) };
        let levels = parent.levels + u8::from(element.repetition != 0);
        let repeated = parent.repeated || element.repetition == 2;
        if element.children > 0 {
            open.push(Open { prefix: name, levels, repeated, left: element.children });
        } else {
            let kind = element.kind.map_or(Type::Other, Type::of);
            found.push(Leaf { name, kind, levels, repeated });
        }
    }
    Ok(found)
}

fn group(thrift: &mut Thrift<'_>) -> Result<Group, Reason> {
    let mut found = Group { rows: 0, chunks: Vec::new() };
    fields!(thrift, this,
        (1, List) => found.chunks.extend(this.structures(chunk)?),
        (3, Int) => found.rows = this.count()?,
    )?;
    Ok(found)
}

fn chunk(thrift: &mut Thrift<'_>) -> Result<Chunk, Reason> {
    let mut found = Chunk { codec: 0, begin: 0, bytes: 0 };
    let mut dictionary = None;
    fields!(thrift, this,
        (1, Binary) => return Err(Reason::Unknown("has its pages in other files".to_owned())),
        (3, Struct) => fields!(this, this,
            (4, Int) => found.codec = this.int()?,
            (7, Int) => found.bytes = this.count()?,
            (9, Int) => found.begin = this.count()?,
            (11, Int) => dictionary = Some(this.count()?),
        )?,
    )?;
    // Some writers leave a dictionary at 0 where there is none.
    found.begin = dictionary.filter(|at| *at > 0).map_or(found.begin, |at| found.begin.min(at));
    Ok(found)
}
