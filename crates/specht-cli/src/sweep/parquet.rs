//! Parquet, as little of it as a table of numbers and words needs: plain encoding, no compression, no missing values (a missing number
//! is NaN, a missing text is empty). Format: <https://github.com/apache/parquet-format>, metadata in Thrift's compact protocol.
//! Truths are 1 and 0. See docs/decisions/sweeps.md for why no library is used.

use std::io::{self, Write};

/// Rows of a group.
pub const GROUP: usize = 100_000;

/// A column.
pub struct Field {
    /// Name.
    pub name: String,
    /// Words instead of numbers.
    pub text: bool,
}

/// Values of one column of one group.
#[derive(Default)]
pub struct Page(Vec<u8>);

impl Page {
    /// A number.
    pub fn number(&mut self, x: f64) {
        self.0.extend(x.to_le_bytes());
    }

    /// A text.
    pub fn text(&mut self, text: &str) {
        self.0.extend((text.len() as u32).to_le_bytes());
        self.0.extend(text.as_bytes());
    }
}

/// Where a column of a group lies: offset, length, values.
struct Chunk(u64, u64, u64);

/// A file under way.
pub struct Writer<'a> {
    out: &'a mut dyn Write,
    schema: Vec<Field>,
    place: u64,
    groups: Vec<(u64, Vec<Chunk>)>,
}

const MAGIC: &[u8] = b"PAR1";
// numbers of the format
const DOUBLE: i64 = 5;
const BYTE_ARRAY: i64 = 6;
const REQUIRED: i64 = 0;
const UTF8: i64 = 0;
const PLAIN: i64 = 0;
const RLE: i64 = 3;
const UNCOMPRESSED: i64 = 0;
const DATA_PAGE: i64 = 0;

impl Field {
    fn kind(&self) -> i64 {
        if self.text { BYTE_ARRAY } else { DOUBLE }
    }
}

impl<'a> Writer<'a> {
    /// The beginning of a file.
    pub fn new(out: &'a mut dyn Write, schema: Vec<Field>) -> io::Result<Writer<'a>> {
        out.write_all(MAGIC)?;
        Ok(Writer { out, schema, place: MAGIC.len() as u64, groups: Vec::new() })
    }

    /// A group of rows; `fill` puts the values of column `k` on its page.
    pub fn group(&mut self, rows: usize, mut fill: impl FnMut(usize, &mut Page)) -> io::Result<()> {
        let mut chunks = Vec::new();
        for k in 0..self.schema.len() {
            let mut page = Page::default();
            fill(k, &mut page);
            let mut head = Thrift::default();
            head.int(1, I32, DATA_PAGE);
            head.int(2, I32, page.0.len() as i64);
            head.int(3, I32, page.0.len() as i64);
            head.open(5);
            head.int(1, I32, rows as i64);
            head.int(2, I32, PLAIN);
            head.int(3, I32, RLE);
            head.int(4, I32, RLE);
            head.end();
            head.end();
            self.out.write_all(&head.bytes)?;
            self.out.write_all(&page.0)?;
            let length = (head.bytes.len() + page.0.len()) as u64;
            chunks.push(Chunk(self.place, length, rows as u64));
            self.place += length;
        }
        self.groups.push((rows as u64, chunks));
        Ok(())
    }

    /// The end of the file: what is where.
    pub fn finish(self) -> io::Result<()> {
        let mut meta = Thrift::default();
        meta.int(1, I32, 1);
        meta.list(2, STRUCT, self.schema.len() + 1);
        meta.element();
        meta.binary(4, "schema");
        meta.int(5, I32, self.schema.len() as i64);
        meta.end();
        for field in &self.schema {
            meta.element();
            meta.int(1, I32, field.kind());
            meta.int(3, I32, REQUIRED);
            meta.binary(4, &field.name);
            if field.text {
                meta.int(6, I32, UTF8);
            }
            meta.end();
        }
        meta.int(3, I64, self.groups.iter().map(|g| g.0).sum::<u64>() as i64);
        meta.list(4, STRUCT, self.groups.len());
        for (rows, chunks) in &self.groups {
            meta.element();
            meta.list(1, STRUCT, chunks.len());
            for (field, Chunk(offset, length, values)) in self.schema.iter().zip(chunks) {
                meta.element();
                meta.int(2, I64, *offset as i64);
                meta.open(3);
                meta.int(1, I32, field.kind());
                meta.list(2, I32, 1);
                meta.varint(PLAIN);
                meta.list(3, BINARY, 1);
                meta.text(&field.name);
                meta.int(4, I32, UNCOMPRESSED);
                meta.int(5, I64, *values as i64);
                meta.int(6, I64, *length as i64);
                meta.int(7, I64, *length as i64);
                meta.int(9, I64, *offset as i64);
                meta.end();
                meta.end();
            }
            meta.int(2, I64, chunks.iter().map(|c| c.1).sum::<u64>() as i64);
            meta.int(3, I64, *rows as i64);
            meta.end();
        }
        meta.binary(6, crate::output::MADE_BY);
        meta.end();
        self.out.write_all(&meta.bytes)?;
        self.out.write_all(&(meta.bytes.len() as u32).to_le_bytes())?;
        self.out.write_all(MAGIC)
    }
}

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// Thrift's compact protocol: fields by the difference of their numbers, integers as zigzag varints.
struct Thrift {
    bytes: Vec<u8>,
    /// Number of the last field of every open struct.
    last: Vec<i16>,
}

impl Default for Thrift {
    fn default() -> Self {
        Thrift { bytes: Vec::new(), last: vec![0] }
    }
}

impl Thrift {
    /// Numbers of fields rise by 15 at most here.
    fn field(&mut self, id: i16, kind: u8) {
        if let Some(last) = self.last.last_mut() {
            self.bytes.push(((id - *last) as u8) << 4 | kind);
            *last = id;
        }
    }

    fn int(&mut self, id: i16, kind: u8, value: i64) {
        self.field(id, kind);
        self.varint(value);
    }

    fn varint(&mut self, value: i64) {
        self.unsigned(((value << 1) ^ (value >> 63)) as u64);
    }

    fn unsigned(&mut self, mut rest: u64) {
        while rest >= 0x80 {
            self.bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.bytes.push(rest as u8);
    }

    fn binary(&mut self, id: i16, text: &str) {
        self.field(id, BINARY);
        self.text(text);
    }

    fn text(&mut self, text: &str) {
        self.unsigned(text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }

    fn list(&mut self, id: i16, kind: u8, count: usize) {
        self.field(id, LIST);
        if count < 15 {
            self.bytes.push((count as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            self.unsigned(count as u64);
        }
    }

    /// A struct as a field.
    fn open(&mut self, id: i16) {
        self.field(id, STRUCT);
        self.element();
    }

    /// A struct in a list.
    fn element(&mut self) {
        self.last.push(0);
    }

    fn end(&mut self) {
        self.bytes.push(0);
        self.last.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader by the text of the format: structs as maps from field numbers.
    #[derive(Debug, Clone)]
    enum Read {
        Int(i64),
        Bytes(Vec<u8>),
        List(Vec<Read>),
        Struct(std::collections::BTreeMap<i16, Read>),
    }

    impl Read {
        fn at(&self, id: i16) -> &Read {
            let Read::Struct(map) = self else { panic!("{self:?}") };
            &map[&id]
        }
        fn int(&self) -> i64 {
            let Read::Int(x) = self else { panic!("{self:?}") };
            *x
        }
        fn list(&self) -> &[Read] {
            let Read::List(x) = self else { panic!("{self:?}") };
            x
        }
        fn text(&self) -> String {
            let Read::Bytes(x) = self else { panic!("{self:?}") };
            String::from_utf8(x.clone()).unwrap()
        }
    }

    fn unsigned(at: &mut &[u8]) -> u64 {
        let (mut out, mut shift) = (0, 0);
        loop {
            let byte = at[0];
            *at = &at[1..];
            out |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return out;
            }
        }
    }

    fn value(kind: u8, at: &mut &[u8]) -> Read {
        match kind {
            5 | 6 => {
                let n = unsigned(at);
                Read::Int((n >> 1) as i64 ^ -((n & 1) as i64))
            }
            8 => {
                let n = unsigned(at) as usize;
                let (head, tail) = at.split_at(n);
                *at = tail;
                Read::Bytes(head.to_vec())
            }
            9 => {
                let head = at[0];
                *at = &at[1..];
                let n = if head >> 4 == 15 { unsigned(at) as usize } else { usize::from(head >> 4) };
                Read::List((0..n).map(|_| value(head & 15, at)).collect())
            }
            12 => {
                let (mut map, mut id) = (std::collections::BTreeMap::new(), 0);
                loop {
                    let head = at[0];
                    *at = &at[1..];
                    if head == 0 {
                        return Read::Struct(map);
                    }
                    assert!(head >> 4 > 0, "long form");
                    id += i16::from(head >> 4);
                    let inner = value(head & 15, at);
                    map.insert(id, inner);
                }
            }
            kind => panic!("kind {kind}"),
        }
    }

    #[test]
    fn a_file_reads_back_by_the_text_of_the_format() {
        let mut bytes = Vec::new();
        let schema = (0..20).map(|k| Field { name: format!("c{k}"), text: k == 3 }).collect();
        let mut file = Writer::new(&mut bytes, schema).unwrap();
        for group in 0..2 {
            file.group(3, |k, page| {
                for row in 0..3 {
                    match k {
                        3 => page.text(&format!("wörd {group} {row}")),
                        k => page.number(f64::from(100 * group + 10 * row) + k as f64 / 3.0),
                    }
                }
            })
            .unwrap();
        }
        file.finish().unwrap();
        let n = bytes.len();
        assert_eq!((&bytes[..4], &bytes[n - 4..]), (MAGIC, MAGIC));
        let length = u32::from_le_bytes(bytes[n - 8..n - 4].try_into().unwrap()) as usize;
        let mut at = &bytes[n - 8 - length..n - 8];
        let meta = value(12, &mut at);
        assert!(at.is_empty());
        assert_eq!((meta.at(1).int(), meta.at(3).int(), meta.at(6).text()), (1, 6, "specht".to_string()));
        let schema = meta.at(2).list();
        assert_eq!((schema.len(), schema[0].at(5).int()), (21, 20));
        assert_eq!(
            (schema[4].at(4).text(), schema[4].at(1).int(), schema[4].at(6).int()),
            ("c3".into(), 6, 0)
        );
        for (group, part) in meta.at(4).list().iter().enumerate() {
            for (k, chunk) in part.at(1).list().iter().enumerate() {
                let data = chunk.at(3);
                assert_eq!((data.at(5).int(), data.at(4).int()), (3, 0));
                let begin = data.at(9).int() as usize;
                let mut at = &bytes[begin..begin + data.at(7).int() as usize];
                let head = value(12, &mut at);
                assert_eq!((head.at(1).int(), head.at(2).int() as usize), (0, at.len()));
                assert_eq!(head.at(5).at(1).int(), 3);
                for row in 0..3 {
                    if k == 3 {
                        let length = u32::from_le_bytes(at[..4].try_into().unwrap()) as usize;
                        assert_eq!(
                            std::str::from_utf8(&at[4..4 + length]).unwrap(),
                            format!("wörd {group} {row}")
                        );
                        at = &at[4 + length..];
                    } else {
                        let x = f64::from_le_bytes(at[..8].try_into().unwrap());
                        assert_eq!(x, (100 * group + 10 * row) as f64 + k as f64 / 3.0);
                        at = &at[8..];
                    }
                }
                assert!(at.is_empty());
            }
        }
    }
}
