//! What a lack of rank leaves, in a file (`crate::disk`).

use super::null_space::{NullSpace, Part};
use super::packed::PackedR;
use super::rework::{NodeQ, Reworked};
use super::run::Deficiency;
use super::trapezoid::Complete;
use crate::disk::{FactorsFileError, Reader, Stored, Writer, stored};
use crate::numeric::FactorScalar;
use std::io;
use std::marker::PhantomData;
use treeqr_runtime::{DataStore, Handle};

stored!(NodeQ<T> {
    from, to, ends, v as numbers, tau as numbers,
});
stored!(Reworked<T> {
    cols, npiv, live, r, rhs as numbers, q, dropped2,
});
stored!(Part {
    rows,
    columns,
    ends,
    buffer,
    offset
});
stored!(Deficiency<T> {
    nodes as list, order, dead, head as numbers, complete,
});

impl<T: FactorScalar> Stored for Complete<T> {
    fn put(&self, out: &mut Writer<'_>) -> io::Result<()> {
        match self {
            Complete::Zero => 0u8.put(out),
            Complete::Projector(space) => {
                1u8.put(out)?;
                space.put(out)
            }
            Complete::Second(factors) => {
                2u8.put(out)?;
                factors.put(out)
            }
        }
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, FactorsFileError> {
        match u8::get(from)? {
            0 => Ok(Complete::Zero),
            1 => Ok(Complete::Projector(Stored::get(from)?)),
            2 => Ok(Complete::Second(Stored::get(from)?)),
            _ => from.damaged("a decomposition of no known kind"),
        }
    }
}

impl<T: FactorScalar> Stored for PackedR<T> {
    fn put(&self, out: &mut Writer<'_>) -> io::Result<()> {
        self.width.put(out)?;
        self.pieces.len().put(out)?;
        self.pieces.iter().try_for_each(|piece| out.numbers(piece))
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, FactorsFileError> {
        let (width, count) = (u32::get(from)?, usize::get(from)?);
        let mut pieces = Vec::new();
        for _ in 0..count {
            pieces.push(from.numbers()?);
        }
        match width {
            0 => from.damaged("columns without a width"),
            _ => Ok(PackedR { width, pieces }),
        }
    }
}

impl<T: FactorScalar> Stored for NullSpace<T> {
    fn put(&self, out: &mut Writer<'_>) -> io::Result<()> {
        self.rows.put(out)?;
        out.list(&self.parts)?;
        (self.store.handles() as u32).put(out)?;
        for handle in 0..self.store.handles() {
            out.numbers(self.store.get(Handle(handle as u32)).unwrap_or_default())?;
        }
        Ok(())
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, FactorsFileError> {
        let (rows, parts) = (Stored::get(from)?, from.list()?);
        let handles = u32::get(from)?;
        let mut store = DataStore::new(handles as usize);
        for handle in (0..handles).map(Handle) {
            let buffer: Vec<u8> = from.numbers()?;
            let bytes = buffer.len();
            let full = |_| FactorsFileError::OutOfMemory { bytes };
            store.allocate(handle, bytes).map_err(full)?;
            store
                .get_mut(handle)
                .expect("allocated")
                .copy_from_slice(&buffer);
        }
        Ok(NullSpace {
            rows,
            parts,
            store,
            scalar: PhantomData,
        })
    }
}
