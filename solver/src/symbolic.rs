//! [`Symbolic`]: all that an analysis knows, valid for every matrix with the same pattern and for every scalar.

use crate::analysis::block_flops::{self, BlockFlops};
use crate::analysis::cleanup::Singleton;
use crate::analysis::dense::update_flops;
use crate::analysis::groups::Unit;
use crate::analysis::partition::Tiling;
use crate::options::Options;
use crate::plan::Predicted;
use crate::positions::Positions;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use treeqr_matrices::Pattern;

/// One front: a dense block with a staircase, in which some pivot columns are eliminated; or none, where rows of a larger front are put
/// together before they come into it.
#[derive(Clone, Debug)]
pub struct Front {
    /// The front that this one's contribution block is assembled into.
    pub parent: Option<u32>,
    /// Fronts that are assembled into this one, in the order in which they are visited.
    pub children: Vec<u32>,
    /// Position of its first pivot column in the elimination order (singletons not counted).
    pub first_pivot: u32,
    /// Pivot columns.
    pub npiv: u32,
    /// Columns, pivots first.
    pub n: u32,
    /// Rows.
    pub m: u32,
    /// Rows of the contribution block.
    pub cb_rows: u32,
    pub(crate) at: usize,
    pub(crate) own_start: usize,
    pub(crate) own_end: usize,
    pub(crate) rowmap_at: usize,
    pub(crate) colmap_at: usize,
}

impl Front {
    /// Columns of the contribution block.
    pub fn cb_cols(&self) -> u32 {
        self.n - self.npiv
    }

    /// Householder reflectors, and rows that are left: min(m, n).
    pub fn reflectors(&self) -> usize {
        self.m.min(self.n) as usize
    }

    /// Rows of column `j` of the contribution block, which is upper trapezoidal.
    pub(crate) fn cb_col_rows(&self, j: usize) -> usize {
        (j + 1).min(self.cb_rows as usize)
    }

    /// Entries of the contribution block, packed by columns, with `nrhs` full columns behind.
    pub(crate) fn cb_entries(&self, nrhs: usize) -> usize {
        let rows = self.cb_rows as usize;
        (0..self.cb_cols() as usize)
            .map(|j| self.cb_col_rows(j))
            .sum::<usize>()
            + rows * nrhs
    }

    /// Entries of its rows of R.
    pub fn r_entries(&self) -> usize {
        let (k, n) = (self.npiv as usize, self.n as usize);
        k * n - k * (k.max(1) - 1) / 2
    }
}

/// Rows of W in the order in which the fronts take them in.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnRows {
    /// Row of W.
    pub row: Vec<u32>,
    /// Its row in the front, increasing from [`SORTED_FROM`] of them on.
    pub local: Vec<u32>,
    /// Entries of row k: `start[k]..start[k + 1]` of `col` and `position`.
    pub start: Vec<usize>,
    /// Column in the front, increasing within a row.
    pub col: Vec<u32>,
    /// Position among the values of A.
    pub position: Positions,
}

/// Fronts with so many rows of W or more have them from top to bottom; those of others are looked at one by one. Unit tests have small fronts.
pub(crate) const SORTED_FROM: usize = if cfg!(test) { 16 } else { 1024 };

impl OwnRows {
    /// Those of `front` that are its rows `rows.0..rows.1`. O(rows of W of a front with few of them), else O(log of these).
    pub fn inside(&self, front: &Front, rows: (u32, u32)) -> impl Iterator<Item = usize> {
        let mut range = front.own_start..front.own_end;
        if range.len() >= SORTED_FROM {
            let local = &self.local[range.clone()];
            let below = |bound: u32| front.own_start + local.partition_point(|&row| row < bound);
            range = below(rows.0)..below(rows.1);
        }
        range.filter(move |&k| (rows.0..rows.1).contains(&self.local[k]))
    }
}

/// The assembly tree with all of its lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// Fronts in postorder.
    pub fronts: Vec<Front>,
    /// Column of W at every position of the elimination order (singletons apart).
    pub col_order: Vec<u32>,
    /// Positions of the columns of every front.
    pub cols: Vec<u32>,
    /// Staircases, parallel to `cols`.
    pub stairs: Vec<u32>,
    /// Row of the parent for every row of a contribution block.
    pub rowmaps: Vec<u32>,
    /// Column of the parent for every column of a contribution block.
    pub colmaps: Vec<u32>,
    /// Rows of W by front.
    pub own: OwnRows,
}

impl Tree {
    pub fn cols(&self, f: usize) -> &[u32] {
        let front = &self.fronts[f];
        &self.cols[front.at..front.at + front.n as usize]
    }

    pub fn stair(&self, f: usize) -> &[u32] {
        let front = &self.fronts[f];
        &self.stairs[front.at..front.at + front.n as usize]
    }

    pub fn rowmap(&self, f: usize) -> &[u32] {
        let front = &self.fronts[f];
        &self.rowmaps[front.rowmap_at..front.rowmap_at + front.cb_rows as usize]
    }

    pub fn colmap(&self, f: usize) -> &[u32] {
        let front = &self.fronts[f];
        &self.colmaps[front.colmap_at..front.colmap_at + front.cb_cols() as usize]
    }
}

/// How a front is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrontTiles {
    /// Tile rows.
    pub rows: u32,
    /// Tile columns.
    pub cols: u32,
    /// Columns of an inner block of reflectors.
    pub inner_block: u32,
    /// Tiles of a panel that are reduced one after the other, before the binary tree.
    pub flat_height: u32,
}

/// How a problem with this shape is posed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// More rows than columns: minimise ||b - A x||.
    LeastSquares,
    /// Fewer rows than columns: the shortest x with A x = b.
    MinimumNorm,
    /// As many rows as columns: A x = b.
    Square,
}

impl Problem {
    /// The name used in reports: `least_squares`, `minimum_norm`, `square`.
    pub fn name(self) -> &'static str {
        match self {
            Problem::LeastSquares => "least_squares",
            Problem::MinimumNorm => "minimum_norm",
            Problem::Square => "square",
        }
    }
}

/// The result of an analysis: ordering, tree, fronts, tiles and tasks to come. It depends on the pattern and the options
/// alone and can be used for any number of factorizations, from several threads at once.
#[derive(Clone, Debug)]
pub struct Symbolic {
    pub(crate) pattern: Arc<Pattern>,
    pub(crate) options: Options,
    pub(crate) transposed: bool,
    pub(crate) singletons: Vec<Singleton>,
    pub(crate) tree: Tree,
    /// What [`Symbolic::block_flops`] gives.
    pub(crate) flops: OnceLock<Vec<BlockFlops>>,
    /// Per front: tiles, or none for a front that is factorized as one block, as nearly all of them.
    pub(crate) tilings: Vec<Option<Box<Tiling>>>,
    /// What becomes tasks, in the order of submission.
    pub(crate) units: Vec<Unit>,
    /// Unit of every front.
    pub(crate) unit_of: Vec<u32>,
    /// Rows of the factorized matrix that are no rows of R: see [`Symbolic::rest_rows`].
    pub(crate) rest_rows: usize,
    /// Rows of W that are split off, increasing, and why; the tree knows nothing of them.
    pub(crate) dense_rows: Vec<u32>,
    pub(crate) dense_rows_why: String,
    /// Columns of W that are ordered last because they are dense.
    pub(crate) dense_columns: Vec<u32>,
    pub(crate) ordering: &'static str,
    pub(crate) ordering_why: String,
    pub(crate) steps: Vec<(&'static str, Duration)>,
    pub(crate) predicted: Predicted,
}

impl Symbolic {
    /// By front, as one block each; counted when it is first asked for.
    pub(crate) fn block_flops(&self) -> &[BlockFlops] {
        self.flops.get_or_init(|| block_flops::of(&self.tree))
    }

    /// Rows of A.
    pub fn nrows(&self) -> usize {
        self.pattern.nrows()
    }

    /// Columns of A.
    pub fn ncols(&self) -> usize {
        self.pattern.ncols()
    }

    /// Entries of A.
    pub fn nnz(&self) -> usize {
        self.pattern.nnz()
    }

    /// The pattern that was analysed.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// The options that were used.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// What is solved with a matrix of this shape.
    pub fn problem(&self) -> Problem {
        match self.nrows().cmp(&self.ncols()) {
            std::cmp::Ordering::Greater => Problem::LeastSquares,
            std::cmp::Ordering::Less => Problem::MinimumNorm,
            std::cmp::Ordering::Equal => Problem::Square,
        }
    }

    /// True when A^H is factorized (wide matrices).
    pub fn transposed(&self) -> bool {
        self.transposed
    }

    /// The ordering that was taken.
    pub fn ordering(&self) -> &'static str {
        self.ordering
    }

    /// Why that ordering; empty when it was asked for by name.
    pub fn ordering_why(&self) -> &str {
        &self.ordering_why
    }

    /// Whether Q is needed for a solution of one call: the shortest x of a wide A comes from R alone
    /// ([`Shortest`](crate::Shortest)), that of others from Q^H b, which is computed on the way. Dense rows, split off from a wide A, ask for it.
    pub fn solves_with_q(&self) -> bool {
        self.transposed && !self.dense_rows.is_empty()
    }

    /// Rows of the factorized matrix (columns of A, when A is wide) that are split off because they would fill R, from 0, increasing.
    /// Tree, tasks, predictions and figures of the factors are those of the rest; see [`DenseRows`](crate::DenseRows).
    pub fn dense_rows(&self) -> &[u32] {
        &self.dense_rows
    }

    /// Why these are split off, or why none was although there were candidates; empty where there was nothing to decide.
    pub fn dense_rows_why(&self) -> &str {
        &self.dense_rows_why
    }

    /// Flops of bringing in the dense rows, which come on top of those of the tasks; 0 where there are none. O(nnz).
    pub fn update_flops(&self) -> u64 {
        match self.dense_rows.len() {
            0 => 0,
            k => update_flops(self.nnz_r(), self.work_cols(), k) as u64,
        }
    }

    /// Numbers that are held at once while dense rows are brought in, with those that stay: the rows, the sweep's copies of them, and
    /// R^{-H} of them as it becomes reflectors; and A for residuals.
    pub(crate) fn update_entries(&self) -> usize {
        match self.dense_rows.len() {
            0 => 0,
            k => (4 * self.work_cols() + k).saturating_mul(k) + self.nnz(),
        }
    }

    /// Columns of the factorized matrix (rows of A, when A is wide) with so many entries that they are eliminated last,
    /// from 0, increasing; empty where the order was given or is the natural one.
    pub fn dense_columns(&self) -> &[u32] {
        &self.dense_columns
    }

    /// Rows that the factorized matrix has besides those of R, and so entries of [`Rotated::rest`](crate::Rotated::rest): its rows
    /// less its columns, and one more for every column to which the pattern leaves no row. (These get a row of zeros.)
    pub fn rest_rows(&self) -> usize {
        self.rest_rows
    }

    /// Columns that gave a row of R without any work.
    pub fn singletons(&self) -> usize {
        self.singletons.len()
    }

    /// The fronts in postorder.
    pub fn fronts(&self) -> &[Front] {
        &self.tree.fronts
    }

    /// The staircase of front `f`: of each of its columns, pivots first, the rows from the top on that may be nonzero. It increases.
    pub fn stair(&self, f: usize) -> &[u32] {
        self.tree.stair(f)
    }

    /// Wall time of every step of the analysis, in order.
    pub fn steps(&self) -> &[(&'static str, Duration)] {
        &self.steps
    }

    /// Rows of the matrix that is factorized.
    pub(crate) fn work_rows(&self) -> usize {
        self.nrows().max(self.ncols())
    }

    /// Columns of the matrix that is factorized.
    pub(crate) fn work_cols(&self) -> usize {
        self.nrows().min(self.ncols())
    }

    /// Column of the factorized matrix at every position of the elimination order, singletons first.
    pub fn column_order(&self) -> impl Iterator<Item = u32> + '_ {
        self.singletons
            .iter()
            .map(|s| s.col)
            .chain(self.tree.col_order.iter().copied())
    }
}

/// Figures of the tree and the factors, for reports.
impl Symbolic {
    /// Groups of fronts that become one task each, and fronts in tiles.
    pub fn unit_counts(&self) -> (usize, usize) {
        let tiled = self.tilings.iter().flatten().count();
        (self.units.len() - tiled, tiled)
    }

    /// How front `f` is cut into tiles, for scalars of so many bytes; `None` for one that stays whole.
    pub fn front_tiles(&self, f: usize, scalar_bytes: usize) -> Option<FrontTiles> {
        let tiling = self.tilings[f].as_ref()?;
        let (rows, cols) = tiling.grid();
        Some(FrontTiles {
            rows: rows as u32,
            cols: cols as u32,
            inner_block: tiling.inner_block(scalar_bytes) as u32,
            flat_height: tiling.bh,
        })
    }

    /// The tree node that the tasks for front `f` carry: `f` itself, or the top of its group.
    pub fn task_node(&self, f: usize) -> u32 {
        self.units[self.unit_of[f] as usize].top()
    }

    /// Fronts on the longest way from a root of the tree to a leaf.
    pub fn depth(&self) -> usize {
        let fronts = &self.tree.fronts;
        let mut depth = vec![1usize; fronts.len()];
        // Parents come after their children.
        for f in (0..fronts.len()).rev() {
            if let Some(parent) = fronts[f].parent {
                depth[f] = depth[parent as usize] + 1;
            }
        }
        depth.into_iter().max().unwrap_or(0)
    }

    /// Entries of R: the pivot rows of all fronts, from the diagonal on, and the rows of the singletons. O(nnz).
    pub fn nnz_r(&self) -> u64 {
        let fronts: usize = self.tree.fronts.iter().map(Front::r_entries).sum();
        fronts as u64 + self.singleton_entries()
    }

    /// Entries of H, the Householder vectors with their leading ones: reflector j of a front reaches from row j to the end
    /// of its staircase. Singletons have none.
    pub fn nnz_h(&self) -> u64 {
        (0..self.tree.fronts.len()).map(|f| self.nnz_h_of(f)).sum()
    }

    /// Entries of the Householder vectors of one front.
    pub(crate) fn nnz_h_of(&self, f: usize) -> u64 {
        let stair = &self.tree.stair(f)[..self.tree.fronts[f].reflectors()];
        let lengths = stair
            .iter()
            .enumerate()
            .map(|(j, &s)| u64::from(s).saturating_sub(j as u64));
        lengths.sum()
    }

    /// Entries of the rows on which singletons pivot.
    fn singleton_entries(&self) -> u64 {
        if self.singletons.is_empty() {
            return 0;
        }
        let mut count = vec![0u64; self.work_rows()];
        if self.transposed {
            for (j, count) in count.iter_mut().enumerate() {
                *count = self.pattern.col(j).len() as u64;
            }
        } else {
            for &i in self.pattern.rowidx() {
                count[i as usize] += 1;
            }
        }
        self.singletons.iter().map(|s| count[s.row as usize]).sum()
    }
}
