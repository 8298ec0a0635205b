//! Parquet, as little of it as a table of numbers, truths and words needs: plain encoding, no compression, every value may be missing.
//! Format: <https://github.com/apache/parquet-format>, metadata in Thrift's compact protocol. See docs/decisions/sweeps.md for why no
//! library is used.

use std::io::{self, Write};

/// Rows of a group.
pub const GROUP: usize = 100_000;

/// A column.
pub struct Field {
    /// Name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Number,
    Truth,
    Text,
}

/// Values of one column of one group.
#[derive(Default)]
pub struct Page {
    /// By row: whether there is a value.
    there: Bits,
    values: Vec<u8>,
    truths: Bits,
}

impl Page {
    /// A number.
    pub fn number(&mut self, x: f64) {
        self.there.push(true);
        self.values.extend(x.to_le_bytes());
    }

    /// A truth.
    pub fn truth(&mut self, x: bool) {
        self.there.push(true);
        self.truths.push(x);
    }

    /// A text.
    pub fn text(&mut self, text: &str) {
        self.there.push(true);
        self.values.extend((text.len() as u32).to_le_bytes());
        self.values.extend(text.as_bytes());
    }

    /// No value.
    pub fn missing(&mut self) {
        self.there.push(false);
    }

    /// Length of the levels, levels (one bit-packed run of groups of eight), values.
    fn bytes(&self) -> Vec<u8> {
        let mut levels = Thrift::default();
        levels.unsigned((self.there.bytes.len() as u64) << 1 | 1);
        levels.bytes.extend(&self.there.bytes);
        let mut out = (levels.bytes.len() as u32).to_le_bytes().to_vec();
        out.extend(&levels.bytes);
        out.extend(&self.values);
        out.extend(&self.truths.bytes);
        out
    }
}

/// Bits, the lowest of a byte first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    count: usize,
}

impl Bits {
    fn push(&mut self, bit: bool) {
        if self.count.is_multiple_of(8) {
            self.bytes.push(0);
        }
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(bit) << (self.count % 8);
        }
        self.count += 1;
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
const BOOLEAN: i64 = 0;
const DOUBLE: i64 = 5;
const BYTE_ARRAY: i64 = 6;
const OPTIONAL: i64 = 1;
const UTF8: i64 = 0;
const PLAIN: i64 = 0;
const RLE: i64 = 3;
const UNCOMPRESSED: i64 = 0;
const DATA_PAGE: i64 = 0;

impl Field {
    fn number(&self) -> i64 {
        match self.kind {
            Kind::Number => DOUBLE,
            Kind::Truth => BOOLEAN,
            Kind::Text => BYTE_ARRAY,
        }
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
            let page = page.bytes();
            let mut head = Thrift::default();
            head.int(1, I32, DATA_PAGE);
            head.int(2, I32, page.len() as i64);
            head.int(3, I32, page.len() as i64);
            head.open(5);
            head.int(1, I32, rows as i64);
            head.int(2, I32, PLAIN);
            head.int(3, I32, RLE);
            head.int(4, I32, RLE);
            head.end();
            head.end();
            self.out.write_all(&head.bytes)?;
            self.out.write_all(&page)?;
            let length = (head.bytes.len() + page.len()) as u64;
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
            meta.int(1, I32, field.number());
            meta.int(3, I32, OPTIONAL);
            meta.binary(4, &field.name);
            if field.kind == Kind::Text {
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
                meta.int(1, I32, field.number());
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

    /// What the file of the test holds.
    #[derive(Debug, PartialEq)]
    enum Value {
        Missing,
        Number(f64),
        Truth(bool),
        Text(String),
    }

    fn kind(k: usize) -> Kind {
        match k {
            3 => Kind::Text,
            4 => Kind::Truth,
            _ => Kind::Number,
        }
    }

    /// The second group has eleven rows: more than a byte of levels.
    fn content(group: usize, k: usize, row: usize) -> Value {
        match (kind(k), (row + k) % 4) {
            (_, 1) => Value::Missing,
            (Kind::Text, _) => Value::Text(format!("wörd {group} {row}")),
            (Kind::Truth, part) => Value::Truth(part == 2),
            _ => Value::Number((100 * group + 10 * row) as f64 + k as f64 / 3.0),
        }
    }

    /// The values of a page after its levels.
    fn values(at: &[u8], k: usize, rows: usize) -> Vec<Value> {
        let length = u32::from_le_bytes(at[..4].try_into().unwrap()) as usize;
        let (mut levels, mut at) = (&at[4..4 + length], &at[4 + length..]);
        assert_eq!(unsigned(&mut levels), (rows.div_ceil(8) as u64) << 1 | 1);
        let (mut truths, mut out) = (0, Vec::new());
        for row in 0..rows {
            let there = levels[row / 8] >> (row % 8) & 1 == 1;
            out.push(match kind(k) {
                _ if !there => Value::Missing,
                Kind::Text => {
                    let length = u32::from_le_bytes(at[..4].try_into().unwrap()) as usize;
                    let text = String::from_utf8(at[4..4 + length].to_vec()).unwrap();
                    at = &at[4 + length..];
                    Value::Text(text)
                }
                Kind::Truth => {
                    truths += 1;
                    Value::Truth(at[(truths - 1) / 8] >> ((truths - 1) % 8) & 1 == 1)
                }
                Kind::Number => {
                    let x = f64::from_le_bytes(at[..8].try_into().unwrap());
                    at = &at[8..];
                    Value::Number(x)
                }
            });
        }
        assert_eq!(at.len(), truths.div_ceil(8));
        out
    }

    #[test]
    fn a_file_reads_back_by_the_text_of_the_format() {
        const ROWS: [usize; 2] = [3, 11];
        let mut bytes = Vec::new();
        let schema = (0..20).map(|k| Field { name: format!("c{k}"), kind: kind(k) }).collect();
        let mut file = Writer::new(&mut bytes, schema).unwrap();
        for (group, rows) in ROWS.into_iter().enumerate() {
            file.group(rows, |k, page| {
                for row in 0..rows {
                    match content(group, k, row) {
                        Value::Missing => page.missing(),
                        Value::Number(x) => page.number(x),
                        Value::Truth(x) => page.truth(x),
                        Value::Text(x) => page.text(&x),
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
        assert_eq!((meta.at(1).int(), meta.at(3).int(), meta.at(6).text()), (1, 14, "specht".to_string()));
        let schema = meta.at(2).list();
        assert_eq!((schema.len(), schema[0].at(5).int()), (21, 20));
        for (k, number) in [(0, 5), (3, 6), (4, 0)] {
            let field = &schema[k + 1];
            assert_eq!((field.at(4).text(), field.at(1).int()), (format!("c{k}"), number));
            assert_eq!(field.at(3).int(), 1);
        }
        assert_eq!(schema[4].at(6).int(), 0);
        for (group, part) in meta.at(4).list().iter().enumerate() {
            for (k, chunk) in part.at(1).list().iter().enumerate() {
                let data = chunk.at(3);
                let rows = ROWS[group];
                assert_eq!((data.at(5).int() as usize, data.at(4).int()), (rows, 0));
                let begin = data.at(9).int() as usize;
                let mut at = &bytes[begin..begin + data.at(7).int() as usize];
                let head = value(12, &mut at);
                assert_eq!((head.at(1).int(), head.at(2).int() as usize), (0, at.len()));
                assert_eq!(head.at(5).at(1).int() as usize, rows);
                let expected: Vec<Value> = (0..rows).map(|row| content(group, k, row)).collect();
                assert_eq!(values(at, k, rows), expected);
            }
        }
    }
}
