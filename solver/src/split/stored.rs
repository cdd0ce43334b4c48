//! What dense rows leave, in a file (`crate::disk`).
//!
//! A is there only as its values: its pattern is in the analysis.

use super::Split;
use crate::disk::{FactorsFileError, Reader, Stored, Writer};
use crate::numeric::FactorScalar;
use crate::symbolic::Symbolic;
use std::io;
use treeqr_matrices::Csc;

impl<T: FactorScalar> Split<T> {
    pub fn put(&self, out: &mut Writer<'_>) -> io::Result<()> {
        out.numbers(self.a.values())?;
        self.live.put(out)?;
        self.dead.put(out)?;
        out.numbers(&self.v)?;
        self.ends.put(out)?;
        out.numbers(&self.tau)?;
        out.numbers(&self.y)?;
        self.t.put(out)?;
        self.null.put(out)?;
        out.numbers(&self.b)
    }

    /// `symbolic` is the analysis that stands before it.
    pub fn get(from: &mut Reader<'_>, symbolic: &Symbolic) -> Result<Self, FactorsFileError> {
        let Ok(a) = Csc::new(symbolic.pattern.clone(), from.numbers()?) else {
            return from.damaged("not a value for every entry of the pattern");
        };
        // In the order in which they are written.
        let split = Split {
            a,
            live: Stored::get(from)?,
            dead: Stored::get(from)?,
            v: from.numbers()?,
            ends: Stored::get(from)?,
            tau: from.numbers()?,
            y: from.numbers()?,
            t: Stored::get(from)?,
            null: Stored::get(from)?,
            b: from.numbers()?,
        };
        match split.is_consistent(symbolic) {
            true => Ok(split),
            false => from.damaged("the dense rows do not belong to the analysis"),
        }
    }

    /// Whether the lists have the lengths that the analysis and each other ask for.
    fn is_consistent(&self, symbolic: &Symbolic) -> bool {
        let (n, k) = (symbolic.work_cols(), symbolic.dense_rows.len());
        let (nl, d) = (self.live.len(), self.dead.len());
        let end = |(i, &end): (usize, &u32)| end as usize == nl + i + 1;
        let within = |list: &[u32]| list.iter().all(|&p| (p as usize) < n);
        nl + d == n
            && within(&self.live)
            && within(&self.dead)
            && self.tau.len() == k
            && self.ends.len() == k
            && self.ends.iter().enumerate().all(end)
            && self.v.len() == nl * k
            && self.y.len() == nl * d
            && self.t.fits(k, d)
            && self.null.as_ref().is_none_or(|null| null.fits(n))
    }
}
