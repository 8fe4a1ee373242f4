//! A small Parquet file of images, as Hugging Face writes them but for packing: enough to be read back.

use std::{fs, path::Path};

/// Thrift's compact protocol, the few things that are written here.
#[derive(Default)]
struct Thrift {
    bytes: Vec<u8>,
    last: Vec<u8>,
}

impl Thrift {
    fn unsigned(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn field(&mut self, number: u8, kind: u8) {
        let last = self.last.last_mut().expect("inside a structure");
        let step = number - *last;
        *last = number;
        self.bytes.push(step << 4 | kind);
    }

    fn int(&mut self, number: u8, value: i64) {
        self.field(number, 6);
        self.unsigned((value << 1 ^ value >> 63) as u64);
    }

    fn text(&mut self, number: u8, text: &str) {
        self.field(number, 8);
        self.plain_text(text);
    }

    fn plain_text(&mut self, text: &str) {
        self.unsigned(text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }

    fn list(&mut self, number: u8, kind: u8, count: usize) {
        self.field(number, 9);
        self.bytes.push((count as u8) << 4 | kind);
    }

    fn structure(&mut self, inside: impl FnOnce(&mut Self)) {
        self.last.push(0);
        inside(self);
        self.last.pop();
        self.bytes.push(0);
    }
}

/// A photo: its path, its bytes, latitude and longitude.
pub(crate) type Row = (String, Vec<u8>, (f64, f64));

/// A column: its name as a path, its type, and its values one after another.
struct Column {
    path: Vec<&'static str>,
    kind: i64,
    values: Vec<u8>,
}

/// Writes `image` {bytes, path}, `latitude` and `longitude`, all required, one row group, no packing.
pub(crate) fn write(path: &Path, rows: &[Row]) {
    const BYTES: i64 = 6;
    const DOUBLE: i64 = 5;
    let sized = |bytes: &[u8]| [&(bytes.len() as u32).to_le_bytes()[..], bytes].concat();
    let column = |path: Vec<&'static str>, kind, value: &dyn Fn(&Row) -> Vec<u8>| Column {
        path,
        kind,
        values: rows.iter().flat_map(value).collect(),
    };
    let columns = [
        column(vec!["image", "bytes"], BYTES, &|row| sized(&row.1)),
        column(vec!["image", "path"], BYTES, &|row| sized(row.0.as_bytes())),
        column(vec!["latitude"], DOUBLE, &|row| row.2.0.to_le_bytes().to_vec()),
        column(vec!["longitude"], DOUBLE, &|row| row.2.1.to_le_bytes().to_vec()),
    ];
    let mut file = b"PAR1".to_vec();
    let mut places = Vec::new();
    for column in &columns {
        let begin = file.len();
        let mut head = Thrift::default();
        head.structure(|this| {
            this.int(1, 0);
            this.int(2, column.values.len() as i64);
            this.int(3, column.values.len() as i64);
            this.field(5, 12);
            this.structure(|this| {
                this.int(1, rows.len() as i64);
                this.int(2, 0);
                this.int(3, 3);
                this.int(4, 3);
            });
        });
        file.extend(head.bytes);
        file.extend(&column.values);
        places.push((begin, file.len() - begin));
    }
    let mut footer = Thrift::default();
    let element = |this: &mut Thrift, name: &str, kind: Option<i64>, children: i64| {
        this.structure(|this| {
            if let Some(kind) = kind {
                this.int(1, kind);
            }
            this.int(3, 0);
            this.text(4, name);
            if children > 0 {
                this.int(5, children);
            }
        });
    };
    footer.structure(|this| {
        this.int(1, 1);
        this.list(2, 12, 6);
        element(this, "schema", None, 3);
        element(this, "image", None, 2);
        element(this, "bytes", Some(BYTES), 0);
        element(this, "path", Some(BYTES), 0);
        element(this, "latitude", Some(DOUBLE), 0);
        element(this, "longitude", Some(DOUBLE), 0);
        this.int(3, rows.len() as i64);
        this.list(4, 12, 1);
        this.structure(|this| {
            this.list(1, 12, columns.len());
            for (column, (begin, bytes)) in columns.iter().zip(&places) {
                this.structure(|this| {
                    this.int(2, *begin as i64);
                    this.field(3, 12);
                    this.structure(|this| {
                        this.int(1, column.kind);
                        this.list(2, 5, 1);
                        this.unsigned(0);
                        this.list(3, 8, column.path.len());
                        column.path.iter().for_each(|part| this.plain_text(part));
                        this.int(4, 0);
                        this.int(5, rows.len() as i64);
                        this.int(6, *bytes as i64);
                        this.int(7, *bytes as i64);
                        this.int(9, *begin as i64);
                    });
                });
            }
            this.int(2, 0);
            this.int(3, rows.len() as i64);
        });
    });
    file.extend(&footer.bytes);
    file.extend((footer.bytes.len() as u32).to_le_bytes());
    file.extend(b"PAR1");
    fs::write(path, file).unwrap();
}
