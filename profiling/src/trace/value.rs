//! What can stand in a cell of a table, and how a column of it lies in a Parquet file.
//!
//! Takes values; gives Parquet's physical values and back. Knows no table.
//!
//! Integers are stored with their width and sign as logical types, so that readers see `uint32` and not a plain integer.
//! Words from a fixed list are text, which Parquet keeps as a dictionary.

use parquet::basic::{IntType, LogicalType};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use std::fmt;
use std::sync::Arc;

/// One cell, for those who go through tables without knowing them: comparison, CSV, printing.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing is known.
    Null,
    /// Counts, numbers and times.
    Unsigned(u64),
    /// Differences and priorities.
    Signed(i64),
    /// Everything measured in fractions.
    Float(f64),
    /// Yes or no.
    Bool(bool),
    /// Names.
    Text(String),
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Null => Ok(()),
            Cell::Unsigned(value) => value.fmt(f),
            Cell::Signed(value) => value.fmt(f),
            Cell::Float(value) => value.fmt(f),
            Cell::Bool(value) => value.fmt(f),
            Cell::Text(value) => f.pad(value),
        }
    }
}

/// A value that is always there.
pub(crate) trait Scalar: Sized + Clone {
    /// Parquet's physical type.
    type Data: DataType;
    /// What the documentation calls it.
    const TYPE: &'static str;
    /// The words it is one of, each with what it means; none where it is not from a list.
    const WORDS: &'static [(&'static str, &'static str)] = &[];

    fn logical() -> Option<LogicalType>;
    fn pack(&self) -> <Self::Data as DataType>::T;
    /// `None` for what is no such value.
    fn unpack(stored: &<Self::Data as DataType>::T) -> Option<Self>;
    fn cell(&self) -> Cell;
}

/// A cell's type: a [`Scalar`], or an `Option` of one.
pub(crate) trait Value: Sized {
    type Scalar: Scalar;
    const NULLABLE: bool;

    fn get(&self) -> Option<&Self::Scalar>;
    /// `None` for a missing value where there must be one.
    fn from_scalar(value: Option<Self::Scalar>) -> Option<Self>;
}

impl<S: Scalar> Value for S {
    type Scalar = S;
    const NULLABLE: bool = false;

    fn get(&self) -> Option<&S> {
        Some(self)
    }

    fn from_scalar(value: Option<S>) -> Option<S> {
        value
    }
}

impl<S: Scalar> Value for Option<S> {
    type Scalar = S;
    const NULLABLE: bool = true;

    fn get(&self) -> Option<&S> {
        self.as_ref()
    }

    fn from_scalar(value: Option<S>) -> Option<Self> {
        Some(value)
    }
}

/// The cell of a value.
pub(crate) fn cell<V: Value>(value: &V) -> Cell {
    value.get().map_or(Cell::Null, Scalar::cell)
}

macro_rules! integers {
    ($($type:ty, $name:literal, $data:ty, $stored:ty, $bits:literal, $signed:literal, $cell:ident;)+) => {$(
        impl Scalar for $type {
            type Data = $data;
            const TYPE: &'static str = $name;

            fn logical() -> Option<LogicalType> {
                Some(LogicalType::Integer(IntType { bit_width: $bits, is_signed: $signed }))
            }

            fn pack(&self) -> $stored {
                *self as $stored
            }

            fn unpack(stored: &$stored) -> Option<Self> {
                let value = *stored as $type;
                (value as $stored == *stored).then_some(value)
            }

            fn cell(&self) -> Cell {
                Cell::$cell((*self).into())
            }
        }
    )+};
}

integers! {
    u16, "uint16", Int32Type, i32, 16, false, Unsigned;
    u32, "uint32", Int32Type, i32, 32, false, Unsigned;
    u64, "uint64", Int64Type, i64, 64, false, Unsigned;
    i32, "int32", Int32Type, i32, 32, true, Signed;
    i64, "int64", Int64Type, i64, 64, true, Signed;
}

impl Scalar for f64 {
    type Data = DoubleType;
    const TYPE: &'static str = "double";

    fn logical() -> Option<LogicalType> {
        None
    }

    fn pack(&self) -> f64 {
        *self
    }

    fn unpack(stored: &f64) -> Option<f64> {
        Some(*stored)
    }

    fn cell(&self) -> Cell {
        Cell::Float(*self)
    }
}

impl Scalar for bool {
    type Data = BoolType;
    const TYPE: &'static str = "bool";

    fn logical() -> Option<LogicalType> {
        None
    }

    fn pack(&self) -> bool {
        *self
    }

    fn unpack(stored: &bool) -> Option<bool> {
        Some(*stored)
    }

    fn cell(&self) -> Cell {
        Cell::Bool(*self)
    }
}

/// Text that many rows share.
impl Scalar for Arc<str> {
    type Data = ByteArrayType;
    const TYPE: &'static str = "text";

    fn logical() -> Option<LogicalType> {
        Some(LogicalType::String)
    }

    fn pack(&self) -> ByteArray {
        (&**self).into()
    }

    fn unpack(stored: &ByteArray) -> Option<Arc<str>> {
        stored.as_utf8().ok().map(Arc::from)
    }

    fn cell(&self) -> Cell {
        Cell::Text(self.to_string())
    }
}

impl Scalar for String {
    type Data = ByteArrayType;
    const TYPE: &'static str = "text";

    fn logical() -> Option<LogicalType> {
        Some(LogicalType::String)
    }

    fn pack(&self) -> ByteArray {
        self.as_str().into()
    }

    fn unpack(stored: &ByteArray) -> Option<String> {
        stored.as_utf8().ok().map(str::to_owned)
    }

    fn cell(&self) -> Cell {
        Cell::Text(self.clone())
    }
}

/// A list of words: an enum in the program, text in the file.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[doc = $doc:literal])+ $word:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[doc = $doc])+ $word,)+ }

        impl $name {
            /// All of them.
            pub const ALL: &'static [$name] = &[$($name::$word),+];

            /// As files and tables write it.
            pub fn name(self) -> &'static str {
                match self { $($name::$word => $text,)+ }
            }

            /// The word of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some($name::$word),)+ _ => None }
            }

            /// What it means, in a sentence.
            pub fn about(self) -> &'static str {
                match self { $($name::$word => concat!($($doc),+).trim_ascii(),)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl $crate::trace::value::Scalar for $name {
            type Data = parquet::data_type::ByteArrayType;
            const TYPE: &'static str = "text";
            const WORDS: &'static [(&'static str, &'static str)] =
                &[$(($text, concat!($($doc),+))),+];

            fn logical() -> Option<parquet::basic::LogicalType> {
                Some(parquet::basic::LogicalType::String)
            }

            fn pack(&self) -> parquet::data_type::ByteArray {
                self.name().into()
            }

            fn unpack(stored: &parquet::data_type::ByteArray) -> Option<Self> {
                Self::from_name(stored.as_utf8().ok()?)
            }

            fn cell(&self) -> $crate::trace::value::Cell {
                $crate::trace::value::Cell::Text(self.name().to_owned())
            }
        }
    };
}
pub(crate) use words;
