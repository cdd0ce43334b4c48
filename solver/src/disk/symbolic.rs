//! The analysis in a file: all of it but the times that its steps took. It is not made anew from the pattern when it is loaded,
//! since another version or machine may analyse otherwise, and then the numbers would not fit.

use super::FactorsFileError;
use super::stored::{Reader, Stored, Writer, stored};
use crate::analysis::cleanup::Singleton;
use crate::analysis::groups::Unit;
use crate::analysis::ordering::ORDERINGS;
use crate::analysis::partition::Tiling;
use crate::options::{DenseRows, Options};
use crate::positions::Positions;
use crate::symbolic::{Front, OwnRows, Symbolic, Tree};
use std::io;
use std::sync::Arc;
use treeqr_matrices::Pattern;

stored!(Front {
    parent,
    children,
    first_pivot,
    npiv,
    n,
    m,
    cb_rows,
    at,
    own_start,
    own_end,
    rowmap_at,
    colmap_at,
});
stored!(OwnRows {
    row, local, start as numbers, col, position,
});
stored!(Tree {
    fronts as list, col_order, cols, stairs, rowmaps, colmaps, own,
});
stored!(Tiling {
    rows, cols, ib, bh, host_only, device_first, panels, depth, own_tiles as list, own_rows,
});
stored!(Singleton { row, col });
stored!(Options {
    ordering,
    given_order,
    threads,
    mb,
    nb,
    ib,
    bh,
    for_devices,
    dense_rows,
});

/// As numbers of one length, whatever they have in memory.
impl Stored for Positions {
    fn put(&self, out: &mut Writer<'_>) -> io::Result<()> {
        let all: Vec<usize> = self.range(0..self.len()).collect();
        out.numbers(&all)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, FactorsFileError> {
        Ok(Positions::from(from.numbers::<usize>()?))
    }
}

impl Stored for DenseRows {
    fn put(&self, out: &mut Writer<'_>) -> io::Result<()> {
        let count = match *self {
            DenseRows::Auto => None,
            DenseRows::None => Some(0),
            DenseRows::Count(k) => Some(k),
        };
        count.put(out)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, FactorsFileError> {
        Ok(match Stored::get(from)? {
            None => DenseRows::Auto,
            Some(0) => DenseRows::None,
            Some(k) => DenseRows::Count(k),
        })
    }
}

impl Stored for Unit {
    fn put(&self, out: &mut Writer<'_>) -> io::Result<()> {
        match self {
            Unit::Group(fronts) => {
                true.put(out)?;
                fronts.put(out)
            }
            Unit::Tiled(front) => {
                false.put(out)?;
                front.put(out)
            }
        }
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, FactorsFileError> {
        Ok(match bool::get(from)? {
            true => Unit::Group(Stored::get(from)?),
            false => Unit::Tiled(Stored::get(from)?),
        })
    }
}

impl Stored for Pattern {
    fn put(&self, out: &mut Writer<'_>) -> io::Result<()> {
        self.nrows().put(out)?;
        self.ncols().put(out)?;
        out.numbers(self.colptr())?;
        out.numbers(self.rowidx())
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, FactorsFileError> {
        let (nrows, ncols) = (Stored::get(from)?, Stored::get(from)?);
        let (colptr, rowidx) = (from.numbers()?, from.numbers()?);
        match Pattern::new(nrows, ncols, colptr, rowidx) {
            Ok(pattern) => Ok(pattern),
            Err(_) => from.damaged("the pattern is none"),
        }
    }
}

impl Stored for Symbolic {
    fn put(&self, out: &mut Writer<'_>) -> io::Result<()> {
        self.pattern.put(out)?;
        self.options.put(out)?;
        self.transposed.put(out)?;
        out.list(&self.singletons)?;
        self.tree.put(out)?;
        out.list(&self.tilings)?;
        out.list(&self.units)?;
        self.unit_of.put(out)?;
        self.rest_rows.put(out)?;
        self.dense_rows.put(out)?;
        self.dense_rows_why.put(out)?;
        self.dense_columns.put(out)?;
        self.ordering.to_owned().put(out)?;
        self.ordering_why.put(out)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, FactorsFileError> {
        let symbolic = Symbolic {
            pattern: Arc::get(from)?,
            options: Stored::get(from)?,
            transposed: Stored::get(from)?,
            singletons: from.list()?,
            tree: Stored::get(from)?,
            flops: Default::default(),
            tilings: from.list()?,
            units: from.list()?,
            unit_of: Stored::get(from)?,
            rest_rows: Stored::get(from)?,
            dense_rows: Stored::get(from)?,
            dense_rows_why: Stored::get(from)?,
            dense_columns: Stored::get(from)?,
            ordering: ordering(from)?,
            ordering_why: Stored::get(from)?,
            steps: Vec::new(),
            predicted: Default::default(),
        };
        match is_consistent(&symbolic) {
            true => Ok(symbolic),
            false => from.damaged("the lists of the analysis do not belong together"),
        }
    }
}

fn ordering(from: &mut Reader<'_>) -> Result<&'static str, FactorsFileError> {
    let name = String::get(from)?;
    let mut known = ORDERINGS.iter().map(|entry| entry.name).chain(["given"]);
    match known.find(|&known| known == name) {
        Some(name) => Ok(name),
        None => from.damaged("an ordering that is not known"),
    }
}

/// Whether the lists have lengths that belong together and point into each other. What lies within these bounds the checksum
/// answers for.
fn is_consistent(s: &Symbolic) -> bool {
    let (tree, fronts) = (&s.tree, s.tree.fronts.len());
    let within = |at: usize, len: u32, list: &[u32]| {
        at.checked_add(len as usize)
            .is_some_and(|end| end <= list.len())
    };
    let front = |(f, front): (usize, &Front)| {
        front.npiv <= front.n
            && front
                .parent
                .is_none_or(|p| p as usize > f && (p as usize) < fronts)
            && front.children.iter().all(|&c| (c as usize) < f)
            && within(front.at, front.n, &tree.cols)
            && within(front.at, front.n, &tree.stairs)
            && within(front.rowmap_at, front.cb_rows, &tree.rowmaps)
            && within(front.colmap_at, front.n - front.npiv, &tree.colmaps)
            && front.own_start <= front.own_end
            && front.own_end <= tree.own.row.len()
    };
    let tiling = |t: &Tiling| {
        let increase = |bounds: &[u32]| bounds.len() > 1 && bounds.windows(2).all(|w| w[0] < w[1]);
        increase(&t.rows)
            && increase(&t.cols)
            && t.depth.len() == t.cols.len() - 1
            && t.panels <= t.depth.len()
            && t.depth.iter().all(|&d| (d as usize) < t.rows.len())
    };
    let unit = |unit: &Unit| match unit {
        Unit::Group(list) => !list.is_empty() && list.iter().all(|&f| (f as usize) < fronts),
        Unit::Tiled(f) => s.tilings.get(*f as usize).is_some_and(Option::is_some),
    };
    let own = &tree.own;
    s.tilings.len() == fronts
        && s.unit_of.len() == fronts
        && s.unit_of.iter().all(|&u| (u as usize) < s.units.len())
        && s.singletons.len() + tree.col_order.len() == s.work_cols()
        && own.local.len() == own.row.len()
        && own.start.len() == own.row.len() + 1
        && own.col.len() == own.position.len()
        && own.start.last() == Some(&own.col.len())
        && tree.fronts.iter().enumerate().all(front)
        && s.tilings.iter().flatten().all(|t| tiling(t))
        && s.units.iter().all(unit)
}
