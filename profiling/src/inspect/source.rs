//! Where tables come from: a trace in memory, or a folder from which only what is asked for is read.
//!
//! Knows every table by its type, and nothing of what stands in it.

use crate::trace::schema::{self, for_each_table};
use crate::trace::{Manifest, Table, Tables, Trace, TraceError, TraceFolder};
use std::borrow::Cow;

/// A trace whose tables can be had one by one.
pub trait Source {
    /// What the trace says about itself.
    fn manifest(&self) -> &Manifest;

    /// The rows of one table.
    ///
    /// # Errors
    /// [`TraceError`] where they cannot be read.
    fn rows<T: Known>(&self) -> Result<Cow<'_, [T]>, TraceError>;
}

impl Source for Trace {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn rows<T: Known>(&self) -> Result<Cow<'_, [T]>, TraceError> {
        Ok(Cow::Borrowed(T::of(&self.tables)))
    }
}

impl Source for TraceFolder {
    fn manifest(&self) -> &Manifest {
        TraceFolder::manifest(self)
    }

    fn rows<T: Known>(&self) -> Result<Cow<'_, [T]>, TraceError> {
        Ok(Cow::Owned(self.table()?))
    }
}

/// A table that is a field of [`Tables`].
pub trait Known: Table {
    /// Its rows.
    fn of(tables: &Tables) -> &Vec<Self>;
    /// Its rows, to be changed.
    fn of_mut(tables: &mut Tables) -> &mut Vec<Self>;
}

/// Goes through the tables by type.
pub trait KnownVisitor {
    /// What can go wrong.
    type Error;

    /// The next table, in the order of [`Tables`].
    ///
    /// # Errors
    /// Ends the visit.
    fn table<T: Known + super::facets::Facets>(&mut self) -> Result<(), Self::Error>;
}

macro_rules! known {
    ($($field:ident: $row:ident,)+) => {
        $(impl Known for schema::$row {
            fn of(tables: &Tables) -> &Vec<Self> {
                &tables.$field
            }

            fn of_mut(tables: &mut Tables) -> &mut Vec<Self> {
                &mut tables.$field
            }
        })+

        /// Names of all tables, in the order of [`Tables`].
        pub const TABLES: &[&str] = &[$(<schema::$row as Table>::NAME),+];

        /// Shows every table to `visitor`.
        ///
        /// # Errors
        /// The visitor's first.
        pub(crate) fn visit<V: KnownVisitor>(visitor: &mut V) -> Result<(), V::Error> {
            $(visitor.table::<schema::$row>()?;)+
            Ok(())
        }
    };
}
for_each_table!(known);
