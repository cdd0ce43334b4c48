//! What a user can choose.

use std::sync::Arc;

/// Options of an analysis. The defaults suit most problems.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the column ordering, see [`crate::ORDERINGS`].
    pub ordering: String,
    /// A column order to use as it is, instead of an ordering: entry k is the column (from 0) eliminated k-th. For a wide
    /// matrix it orders the rows. Singletons still come first.
    pub given_order: Option<Arc<Vec<u32>>>,
    /// Workers that the tree is cut for. It decides how fronts are grouped into tasks, never a result.
    pub threads: usize,
    /// Rows of a tile; chosen per front when not given.
    pub mb: Option<u32>,
    /// Columns of a tile; chosen per front when not given.
    pub nb: Option<u32>,
    /// Columns of an inner block; chosen per front when not given.
    pub ib: Option<u32>,
    /// Tiles of a panel that are reduced one after the other before their heads are reduced by a binary tree; 0 for one
    /// flat reduction; chosen per front when not given.
    pub bh: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            ordering: "auto".to_owned(),
            given_order: None,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            mb: None,
            nb: None,
            ib: None,
            bh: None,
        }
    }
}
