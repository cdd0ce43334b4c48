//! What a lack of rank leaves, in a file (`crate::disk`).

use super::blocks::{BlockColumn, BlockColumns, STRIP, Values};
use super::null_space::{NullSpace, Part};
use super::rework::{NodeQ, Reworked};
use super::run::Deficiency;
use super::trapezoid::Complete;
use crate::disk::{FactorsFileError, Reader, Stored, Writer, stored};
use crate::numeric::FactorScalar;
use std::io;
use std::marker::PhantomData;
use std::sync::OnceLock;
use treeqr_runtime::{DataStore, Handle};

stored!(NodeQ<T> {
    from, to, ends, v as numbers, tau as numbers,
});
stored!(Part {
    rows,
    columns,
    ends,
    buffer,
    offset
});

impl<T: FactorScalar> Stored for Deficiency<T> {
    fn put(&self, out: &mut Writer<'_>) -> io::Result<()> {
        self.nodes.len().put(out)?;
        for node in &self.nodes {
            node.is_some().put(out)?;
            node.iter()
                .try_for_each(|node| node.put(&self.store, out))?;
        }
        self.order.put(out)?;
        self.dead.put(out)?;
        out.numbers(&self.head)?;
        self.norm.put(out)?;
        let complete = self.complete.get();
        complete.is_some().put(out)?;
        complete.map_or(Ok(()), |complete| complete.put(out))
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, FactorsFileError> {
        let count = usize::get(from)?;
        let mut nodes = Vec::new();
        for _ in 0..count {
            let node = bool::get(from)?.then(|| Reworked::get(from)).transpose()?;
            nodes.push(node.map(Box::new));
        }
        Ok(Deficiency {
            nodes,
            store: DataStore::new(0),
            order: Stored::get(from)?,
            dead: Stored::get(from)?,
            head: from.numbers()?,
            norm: Stored::get(from)?,
            tried: OnceLock::new(),
            complete: Option::<Complete<T>>::get(from)?.map_or_else(OnceLock::new, OnceLock::from),
        })
    }
}

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

impl<T: FactorScalar> Reworked<T> {
    fn put(&self, store: &DataStore, out: &mut Writer<'_>) -> io::Result<()> {
        self.cols.put(out)?;
        self.npiv.put(out)?;
        self.live.put(out)?;
        // R by packed columns.
        self.r.width.put(out)?;
        self.r.columns.len().put(out)?;
        let r = self.view(store);
        for columns in r.cut(0..self.cols.len(), 0) {
            let heights = columns.map(|j| (j, self.before(j + 1)));
            let packed: Vec<T> = heights.flat_map(|(j, h)| r.column(j, h)).copied().collect();
            out.numbers(&packed)?;
        }
        out.numbers(&self.rhs)?;
        self.q.put(out)?;
        self.dropped2.put(out)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, FactorsFileError> {
        let (cols, npiv, live) = (Stored::get(from)?, Stored::get(from)?, Stored::get(from)?);
        let (width, count) = (u32::get(from)?, usize::get(from)?);
        let mut packed = Vec::new();
        for _ in 0..count {
            packed.push(from.numbers()?);
        }
        let mut node = Reworked {
            cols,
            npiv,
            live,
            r: BlockColumns {
                width: 1,
                columns: Vec::new(),
            },
            rhs: from.numbers()?,
            q: Stored::get(from)?,
            dropped2: Stored::get(from)?,
        };
        match node.unpacked(width, packed) {
            None => from.damaged("rows of R that do not fit their columns"),
            Some(r) => {
                node.r = r;
                Ok(node)
            }
        }
    }

    /// Block columns from packed ones; `None` where they don't fit.
    fn unpacked(&self, width: u32, packed: Vec<Vec<T>>) -> Option<BlockColumns<T>> {
        let (n, step) = (self.cols.len(), width as usize);
        let increase = self.live.is_sorted_by(|a, b| a < b);
        let fit = self.live.last().is_none_or(|&l| (l as usize) < self.npiv) && self.npiv <= n;
        let cuts = step >= n || step > 0 && step.is_multiple_of(STRIP);
        if !(increase && fit && cuts && step > 0 && packed.len() == n.div_ceil(step)) {
            return None;
        }
        let column = |(k, packed): (usize, Vec<T>)| {
            let columns = k * step..((k + 1) * step).min(n);
            let rows = self.before(columns.end);
            let mut values = Vec::with_capacity(rows * columns.len());
            let mut packed = &packed[..];
            for j in columns {
                let (column, rest) = packed.split_at_checked(self.before(j + 1))?;
                values.extend_from_slice(column);
                values.extend(std::iter::repeat_n(T::zero(), rows - column.len()));
                packed = rest;
            }
            packed.is_empty().then_some(BlockColumn {
                rows,
                values: Values::Own(values),
            })
        };
        let columns = packed.into_iter().enumerate().map(column);
        Some(BlockColumns {
            width,
            columns: columns.collect::<Option<_>>()?,
        })
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
