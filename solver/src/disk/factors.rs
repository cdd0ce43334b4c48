//! The numbers in a file, behind a head that says what they are.

use super::FactorsFileError;
use super::stored::{Reader, Stored, Writer, stored};
use crate::numeric::{FactorScalar, Factors};
use crate::plan::{Plan, RunShape};
use crate::rank::Rank;
use crate::split::Split;
use std::io::{self, Read, Write};
use std::sync::{Arc, OnceLock};
use treeqr_runtime::DataStore;

/// How such a file begins.
const MAGIC: &[u8; 8] = b"treeqr F";
/// To be raised with every change of what is in the file, or of how the plan numbers its buffers.
const FORMAT: u32 = 7;
/// Tells the order of bytes.
const MARK: u32 = 0x0102_0304;

stored!(Rank {
    rank,
    dead,
    dropped_norm,
    tolerance,
    raised_from,
    condition,
    smallest_pivot,
    doubtful,
});

impl<T: FactorScalar> Factors<T> {
    /// Writes the factors, with the analysis, block by block; `out` should be buffered no more than any file is.
    ///
    /// # Errors
    /// That of `out`; and [`SolveError::NoFactors`](crate::SolveError::NoFactors) inside of one where there are none.
    pub fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        self.check_whole().map_err(io::Error::other)?;
        let mut out = Writer::new(out);
        out.0.plain(MAGIC)?;
        out.0.plain(&MARK.to_ne_bytes())?;
        out.0.plain(&(size_of::<usize>() as u32).to_ne_bytes())?;
        out.0.plain(&FORMAT.to_ne_bytes())?;
        out.0.plain(&head_text(env!("CARGO_PKG_VERSION")))?;
        out.0.plain(&head_text(T::NAME))?;
        self.put(&mut out)?;
        out.0.finish()
    }

    /// Reads factors that [`Self::save`] has written, to the end of `input`. They solve and apply Q bitwise as the others did. With other
    /// values of A they can be factorized again too ([`Self::refactorize`]).
    ///
    /// # Errors
    /// [`FactorsFileError`]: another file, another format, scalar or machine, one that is damaged or cut off, no memory.
    pub fn load(input: &mut dyn Read) -> Result<Self, FactorsFileError> {
        let mut from = Reader::new(input);
        let head = Head::read(&mut from)?;
        if head.scalar != T::NAME {
            return Err(FactorsFileError::Scalar {
                found: head.scalar,
                asked: T::NAME,
            });
        }
        let factors = Self::get(&mut from)?;
        from.0.finish()?;
        Ok(factors)
    }
}

/// The scalar of the factors that `input` begins with: `f64`, `f32`, `c64` or `c32`. Reads no more than their head.
///
/// # Errors
/// As [`Factors::load`], as far as the head tells.
pub fn scalar_of_factors(input: &mut dyn Read) -> Result<String, FactorsFileError> {
    Ok(Head::read(&mut Reader::new(input))?.scalar)
}

/// What stands before the blocks.
struct Head {
    scalar: String,
}

impl Head {
    fn read(from: &mut Reader<'_>) -> Result<Self, FactorsFileError> {
        let mut magic = [0; MAGIC.len()];
        match from.0.plain(&mut magic) {
            Err(FactorsFileError::Truncated { .. }) => return Err(FactorsFileError::NotFactors),
            other => other?,
        }
        if magic != *MAGIC {
            return Err(FactorsFileError::NotFactors);
        }
        let mut word = || {
            let mut bytes = [0; 4];
            from.0.plain(&mut bytes).map(|()| u32::from_ne_bytes(bytes))
        };
        if word()? != MARK || word()? as usize != size_of::<usize>() {
            return Err(FactorsFileError::OtherMachine);
        }
        let found = word()?;
        let writer = read_head_text(from)?;
        if found != FORMAT {
            return Err(FactorsFileError::Version {
                found,
                known: FORMAT,
                writer,
            });
        }
        let scalar = read_head_text(from)?;
        Ok(Head { scalar })
    }
}

/// A short text in 16 bytes.
fn head_text(text: &str) -> [u8; 16] {
    let mut out = [b' '; 16];
    let len = text.len().min(out.len());
    out[..len].copy_from_slice(&text.as_bytes()[..len]);
    out
}

fn read_head_text(from: &mut Reader<'_>) -> Result<String, FactorsFileError> {
    let mut bytes = [0; 16];
    from.0.plain(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.trim_end().to_owned())
}

/// The buffers that factors keep, in the order of the plan.
fn kept_buffers(plan: &Plan<'_>) -> Vec<(treeqr_runtime::Handle, usize)> {
    use crate::analysis::groups::Unit;
    let mut out = Vec::new();
    for (u, unit) in plan.sym.units.iter().enumerate() {
        match unit {
            Unit::Group(_) => out.push((plan.group_factor(u), plan.group_factor_bytes(u))),
            Unit::Tiled(f) => {
                let f = *f as usize;
                let released = plan.front_releases(f);
                let mut released: Vec<u32> = released.iter().map(|(h, _)| h.0).collect();
                released.sort_unstable();
                let mut buffers = plan.front_buffers(f);
                buffers.retain(|(h, _)| released.binary_search(&h.0).is_err());
                let cut = plan.kept_bytes(f);
                for (handle, bytes) in &mut buffers {
                    *bytes = *cut.get(handle).unwrap_or(bytes);
                }
                out.append(&mut buffers);
            }
        }
    }
    out
}

impl<T: FactorScalar> Stored for Factors<T> {
    fn put(&self, out: &mut Writer<'_>) -> io::Result<()> {
        self.symbolic.put(out)?;
        self.shape.nrhs.put(out)?;
        self.shape.keep_q.put(out)?;
        let plan = self.plan();
        for (handle, bytes) in kept_buffers(&plan) {
            let buffer = self.store.get(handle).unwrap_or_default();
            assert_eq!(buffer.len(), bytes, "what the plan keeps is kept");
            out.numbers(buffer)?;
        }
        self.singleton_rows.len().put(out)?;
        for row in &self.singleton_rows {
            let columns: Vec<u32> = row.iter().map(|e| e.0).collect();
            let values: Vec<T> = row.iter().map(|e| e.1).collect();
            out.numbers(&columns)?;
            out.numbers(&values)?;
        }
        out.numbers(&self.singleton_rhs)?;
        self.values_hash.put(out)?;
        self.exponent.put(out)?;
        out.numbers(&self.rhs_exponents)?;
        self.rank.put(out)?;
        self.deficiency.put(out)?;
        self.split.is_some().put(out)?;
        self.split.iter().try_for_each(|split| split.put(out))
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, FactorsFileError> {
        let symbolic: Arc<crate::symbolic::Symbolic> = Stored::get(from)?;
        let (nrhs, keep_q) = (Stored::get(from)?, Stored::get(from)?);
        let shape = RunShape::of::<T>(nrhs, keep_q);
        let plan = Plan::new(&symbolic, shape);
        let layout = plan.layout().clone();
        let mut store = DataStore::new(plan.handles());
        for (handle, bytes) in kept_buffers(&plan) {
            let full = |_| FactorsFileError::OutOfMemory { bytes };
            store.allocate(handle, bytes).map_err(full)?;
            from.numbers_into(store.get_mut(handle).expect("allocated"))?;
        }
        let mut singleton_rows = Vec::new();
        for _ in 0..usize::get(from)? {
            let (columns, values): (Vec<u32>, Vec<T>) = (from.numbers()?, from.numbers()?);
            singleton_rows.push(columns.into_iter().zip(values).collect());
        }
        let factors = Factors {
            shape,
            layout,
            store,
            singleton_rows,
            singleton_rhs: from.numbers()?,
            values_hash: Stored::get(from)?,
            exponent: Stored::get(from)?,
            rhs_exponents: from.numbers()?,
            entries: OnceLock::new(),
            rank: Stored::get(from)?,
            deficiency: Stored::get(from)?,
            split: match bool::get(from)? {
                true => Some(Box::new(Split::get(from, &symbolic)?)),
                false => None,
            },
            symbolic: symbolic.clone(),
        };
        let singletons = symbolic.singletons.len();
        if factors.singleton_rows.len() != singletons
            || factors.singleton_rhs.len() != singletons * nrhs
            || factors.rhs_exponents.len() != nrhs
            || factors.rank.is_none()
            || factors.split.is_none() != symbolic.dense_rows.is_empty()
        {
            return from.damaged("the numbers do not belong to the analysis");
        }
        Ok(factors)
    }
}
