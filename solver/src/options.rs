//! What a user can choose.

use std::sync::Arc;

/// Which rows of W, the matrix that is factorized, are split off because they would fill R. (W is A, or A^H when A is wide: then
/// they are columns of A.) The rest is factorized, and the dense rows are brought in by updating. The choice sees the pattern alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DenseRows {
    /// Those with more than max(16, 10 sqrt(n)) entries and ten times the mean, where that halves the predicted flops at least.
    #[default]
    Auto,
    /// None: A = Q R as it stands.
    None,
    /// So many, those with the most entries.
    Count(usize),
}

/// Options of an analysis. The defaults suit most problems.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the column ordering, see [`crate::ORDERINGS`].
    pub ordering: String,
    /// A column order to use as it is, instead of an ordering: entry k is the column (from 0) eliminated k-th. For a wide
    /// matrix it orders the rows. Singletons still come first.
    pub given_order: Option<Arc<Vec<u32>>>,
    /// Rows that are split off and brought in by updating.
    pub dense_rows: DenseRows,
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
    /// Whether large fronts are cut for devices, unless a size is asked for: into larger tiles. All others are cut for CPUs; there panels are
    /// reduced on CPUs, whatever devices a run has.
    pub for_devices: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            ordering: "auto".to_owned(),
            given_order: None,
            dense_rows: DenseRows::Auto,
            threads: treeqr_runtime::available_threads(),
            mb: None,
            nb: None,
            ib: None,
            bh: None,
            for_devices: false,
        }
    }
}
