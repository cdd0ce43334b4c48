//! Values and lists in a stream, and structures as the list of their fields: [`stored!`] makes one list serve for writing and for
//! reading.
//!
//! Takes a value; gives its bytes, or the other way round. A list begins with its length; it grows as it is read, so that no length
//! is believed that the stream does not bear out.

use super::error::FactorsFileError;
use super::frames::{FrameReader, FrameWriter};
use bytemuck::{Pod, Zeroable};
use std::io::{self, Read, Write};
use std::sync::Arc;

/// Bytes that a list grows by.
const STEP_BYTES: usize = 1 << 20;

/// What is written.
pub(crate) struct Writer<'a>(pub(super) FrameWriter<'a>);

/// What is read.
pub(crate) struct Reader<'a>(pub(super) FrameReader<'a>);

/// What can be in a file.
pub(crate) trait Stored: Sized {
    fn put(&self, out: &mut Writer<'_>) -> io::Result<()>;
    fn get(from: &mut Reader<'_>) -> Result<Self, FactorsFileError>;
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Writer(FrameWriter::new(out))
    }

    /// Numbers, as they are in memory.
    pub(crate) fn numbers<P: Pod>(&mut self, values: &[P]) -> io::Result<()> {
        values.len().put(self)?;
        self.0.write(bytemuck::cast_slice(values))
    }

    pub(crate) fn list<S: Stored>(&mut self, values: &[S]) -> io::Result<()> {
        values.len().put(self)?;
        values.iter().try_for_each(|value| value.put(self))
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(input: &'a mut dyn Read) -> Self {
        Reader(FrameReader::new(input))
    }

    pub(crate) fn damaged<R>(&self, what: &'static str) -> Result<R, FactorsFileError> {
        Err(self.0.damaged(what))
    }

    pub(crate) fn numbers<P: Pod>(&mut self) -> Result<Vec<P>, FactorsFileError> {
        let len = usize::get(self)?;
        let step = STEP_BYTES / size_of::<P>();
        let mut values: Vec<P> = Vec::new();
        while values.len() < len {
            let from = values.len();
            let more = step.min(len - from);
            let full = |_| FactorsFileError::OutOfMemory {
                bytes: more * size_of::<P>(),
            };
            values.try_reserve(more).map_err(full)?;
            values.resize(from + more, P::zeroed());
            self.0.read(bytemuck::cast_slice_mut(&mut values[from..]))?;
        }
        Ok(values)
    }

    pub(crate) fn list<S: Stored>(&mut self) -> Result<Vec<S>, FactorsFileError> {
        let len = usize::get(self)?;
        let mut values = Vec::new();
        for _ in 0..len {
            values.push(S::get(self)?);
        }
        Ok(values)
    }

    /// Into a buffer that is there, whose length the stream must bear out.
    pub(crate) fn numbers_into(&mut self, to: &mut [u8]) -> Result<(), FactorsFileError> {
        if usize::get(self)? != to.len() {
            return self.damaged("a buffer has another size than the analysis says");
        }
        self.0.read(to)
    }
}

/// `stored!(Type { field, field as list, ... })`: [`Stored`] for a structure, field by field. Plain fields are [`Stored`]; those
/// `as numbers` are a `Vec` of plain numbers, those `as list` one of [`Stored`].
macro_rules! stored {
    ($type:ident $(<$t:ident>)? { $($field:ident $(as $how:ident)?),* $(,)? }) => {
        impl $(<$t: crate::numeric::FactorScalar>)? crate::disk::Stored for $type $(<$t>)? {
            fn put(&self, out: &mut crate::disk::Writer<'_>) -> std::io::Result<()> {
                $(stored!(@put out, self.$field $(, $how)?);)*
                Ok(())
            }

            fn get(
                from: &mut crate::disk::Reader<'_>,
            ) -> Result<Self, crate::disk::FactorsFileError> {
                // In the order of the fields above, as they are written.
                Ok(Self { $($field: stored!(@get from $(, $how)?)),* })
            }
        }
    };
    (@put $out:ident, $value:expr) => { crate::disk::Stored::put(&$value, $out)? };
    (@put $out:ident, $value:expr, $how:ident) => { $out.$how(&$value)? };
    (@get $from:ident) => { crate::disk::Stored::get($from)? };
    (@get $from:ident, $how:ident) => { $from.$how()? };
}
pub(crate) use stored;

/// Numbers of one machine word or less.
macro_rules! plain {
    ($($type:ty),*) => {$(
        impl Stored for $type {
            fn put(&self, out: &mut Writer<'_>) -> io::Result<()> {
                out.0.write(bytemuck::bytes_of(self))
            }

            fn get(from: &mut Reader<'_>) -> Result<Self, FactorsFileError> {
                let mut value = <$type>::zeroed();
                from.0.read(bytemuck::bytes_of_mut(&mut value))?;
                Ok(value)
            }
        }
    )*};
}
plain!(u8, i32, u32, u64, f64, usize);

impl Stored for bool {
    fn put(&self, out: &mut Writer<'_>) -> io::Result<()> {
        u8::from(*self).put(out)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, FactorsFileError> {
        match u8::get(from)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => from.damaged("neither yes nor no"),
        }
    }
}

impl Stored for String {
    fn put(&self, out: &mut Writer<'_>) -> io::Result<()> {
        out.numbers(self.as_bytes())
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, FactorsFileError> {
        match String::from_utf8(from.numbers()?) {
            Ok(text) => Ok(text),
            Err(_) => from.damaged("a text is not UTF-8"),
        }
    }
}

impl<S: Stored> Stored for Option<S> {
    fn put(&self, out: &mut Writer<'_>) -> io::Result<()> {
        self.is_some().put(out)?;
        self.iter().try_for_each(|value| value.put(out))
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, FactorsFileError> {
        bool::get(from)?.then(|| S::get(from)).transpose()
    }
}

impl<S: Stored> Stored for Box<S> {
    fn put(&self, out: &mut Writer<'_>) -> io::Result<()> {
        (**self).put(out)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, FactorsFileError> {
        Ok(Box::new(S::get(from)?))
    }
}

impl<S: Stored> Stored for Arc<S> {
    fn put(&self, out: &mut Writer<'_>) -> io::Result<()> {
        (**self).put(out)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, FactorsFileError> {
        Ok(Arc::new(S::get(from)?))
    }
}

impl Stored for Vec<u32> {
    fn put(&self, out: &mut Writer<'_>) -> io::Result<()> {
        out.numbers(self)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, FactorsFileError> {
        from.numbers()
    }
}

impl Stored for (u32, u32) {
    fn put(&self, out: &mut Writer<'_>) -> io::Result<()> {
        self.0.put(out)?;
        self.1.put(out)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, FactorsFileError> {
        Ok((u32::get(from)?, u32::get(from)?))
    }
}
