//! What a lack of rank leaves, in a file (`crate::disk`).

use super::null_space::NullSpace;
use super::rework::{NodeQ, Reworked};
use super::run::Deficiency;
use super::trapezoid::Complete;
use crate::disk::{FactorsFileError, Reader, Stored, Writer, stored};
use crate::numeric::FactorScalar;
use std::io;

stored!(NodeQ<T> {
    from, to, ends, v as numbers, tau as numbers,
});
stored!(Reworked<T> {
    cols, npiv, live, r as numbers, rhs as numbers, q, dropped2,
});
stored!(NullSpace<T> {
    rows, v as numbers, tau as numbers,
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
