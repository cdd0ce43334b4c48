//! Columns of numbers as bytes: what the page reads instead of a million JSON numbers.
//!
//! Takes iterators of numbers; gives one block of bytes and the head that tells how to read it. Knows no table.

use serde::Serialize;

/// Numbers of more than 53 bits are not whole in the page: they become this.
const LARGEST: u64 = (1 << 53) - 1;

/// What the page makes of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Type {
    U8,
    U32,
    F32,
    F64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Coding {
    Plain,
    Varint,
    Zigzag,
    Delta,
}

/// How to read a column.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ColumnHead {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: Type,
    pub coding: Coding,
    pub length: usize,
    pub bytes: usize,
}

/// Name of a column in a panel.
pub(super) type Column = String;

/// The columns of a run, one behind the other.
#[derive(Default)]
pub(super) struct Columns {
    pub heads: Vec<ColumnHead>,
    pub bytes: Vec<u8>,
}

impl Columns {
    /// Bytes as they are.
    pub fn u8(&mut self, name: impl Into<String>, values: impl IntoIterator<Item = u8>) -> Column {
        self.put(name, Type::U8, Coding::Plain, values, |value, out| {
            out.push(value);
        })
    }

    /// Numbers with a fraction, to seven digits.
    pub fn f32(
        &mut self,
        name: impl Into<String>,
        values: impl IntoIterator<Item = f64>,
    ) -> Column {
        self.put(name, Type::F32, Coding::Plain, values, |value, out| {
            out.extend((value as f32).to_le_bytes());
        })
    }

    /// Small numbers, and large ones where they must.
    pub fn varint(
        &mut self,
        name: impl Into<String>,
        kind: Type,
        values: impl IntoIterator<Item = u64>,
    ) -> Column {
        self.put(name, kind, Coding::Varint, values, |value, out| {
            leb128(value.min(LARGEST), out);
        })
    }

    /// Numbers around 0.
    pub fn zigzag(
        &mut self,
        name: impl Into<String>,
        kind: Type,
        values: impl IntoIterator<Item = i64>,
    ) -> Column {
        self.put(name, kind, Coding::Zigzag, values, |value, out| {
            leb128(folded(value), out);
        })
    }

    /// Numbers that are near their predecessors.
    pub fn delta(
        &mut self,
        name: impl Into<String>,
        kind: Type,
        values: impl IntoIterator<Item = u64>,
    ) -> Column {
        let mut last = 0_i64;
        self.put(name, kind, Coding::Delta, values, |value, out| {
            let value = value.min(LARGEST) as i64;
            leb128(folded(value - last), out);
            last = value;
        })
    }

    fn put<T>(
        &mut self,
        name: impl Into<String>,
        kind: Type,
        coding: Coding,
        values: impl IntoIterator<Item = T>,
        mut write: impl FnMut(T, &mut Vec<u8>),
    ) -> Column {
        let (name, before) = (name.into(), self.bytes.len());
        let mut length = 0;
        for value in values {
            write(value, &mut self.bytes);
            length += 1;
        }
        self.heads.push(ColumnHead {
            name: name.clone(),
            kind,
            coding,
            length,
            bytes: self.bytes.len() - before,
        });
        name
    }
}

/// 0, -1, 1, -2 as 0, 1, 2, 3.
fn folded(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Seven bits a byte, the lowest first; the high bit says that more follow.
fn leb128(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_laid_out_as_the_format_says() {
        let mut columns = Columns::default();
        columns.u8("a", [1, 255]);
        columns.f32("b", [0.5]);
        columns.varint("c", Type::F64, [0, 127, 128, u64::MAX]);
        columns.delta("d", Type::U32, [5, 4, 4 + 64]);
        columns.zigzag("e", Type::F64, [-1, 64]);
        let expected: &[&[u8]] = &[
            &[1, 255],
            &[0, 0, 0, 0x3f],
            &[0, 127, 0x80, 1],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f],
            &[10, 1, 0x80, 1],
            &[1, 0x80, 1],
        ];
        assert_eq!(columns.bytes, expected.concat());
        let heads: Vec<_> = columns.heads.iter().map(|h| (h.length, h.bytes)).collect();
        assert_eq!(heads, [(2, 2), (1, 4), (4, 12), (3, 4), (2, 3)]);
    }
}
