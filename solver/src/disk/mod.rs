//! Factors in a file: saved by one process, loaded by another, bitwise the same.
//!
//! Takes [`Factors`] and a stream; gives the other. `docs/factors-format.md` says what lies where. Knows no name of a file.
//!
//! | file | subject |
//! | --- | --- |
//! | `frames` | a stream in blocks, each with a checksum over all before it |
//! | `stored` | values and lists in it; a list of fields written and read by one line |
//! | `symbolic` | the analysis |
//! | `factors` | the numbers |

mod error;
mod factors;
mod frames;
mod stored;
mod symbolic;

pub use error::FactorsFileError;
pub use factors::scalar_of_factors;
pub(crate) use stored::{Reader, Stored, Writer, stored};
