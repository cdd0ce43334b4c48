//! What orderings cost, and what that makes worth trying: rules on estimates, all of them here.
//!
//! Takes patterns and outlines; runs nothing. Times are of one thread and fixed, so that a choice does not depend on the machine.

use super::super::OrderingInput;
use super::super::colamd::Elimination;
use super::super::graph::{self, ColumnGraph};
use crate::analysis::structure::Outline;

/// Nested dissection in ns a vertex, and ns a pair of columns that meet in a row (a pair may meet in many), of the compressed
/// graph; and what each pair takes until the graph is compressed. Fixed, so that the choice does not depend on the machine; they
/// need only be right within a factor of two.
const NS_PER_VERTEX: f64 = 4000.0;
const NS_PER_PAIR: f64 = 25.0;
const NS_TO_COMPRESS: f64 = 3.0;
/// AMD in ns a column, ns a pair of columns that meet in a row, for the graph, and ns an edge, of which there are no more than pairs, nor
/// than columns beside each other; COLAMD in ns an entry that it looks at.
const AMD_NS_PER_COLUMN: f64 = 400.0;
const AMD_NS_PER_PAIR: f64 = 1.5;
const AMD_NS_PER_EDGE: f64 = 2.5;
const COLAMD_NS_PER_ENTRY: f64 = 6.0;
/// From so many pairs an entry on COLAMD has to be done in this part of the time of AMD, or AMD takes its place; already after this
/// part of that, unless so many of the columns are done, of which the first are the cheapest.
const DENSE_GRAPH: f64 = 12.0;
const IN_TIME: f64 = 0.8;
const BEGUN: f64 = 0.125;
const BEGUN_COLUMNS: f64 = 0.0625;
/// AMD in the place of COLAMD up to so many edges an entry, where W22 has so many rows a column, which COLAMD has to go through and AMD has
/// not.
const SMALL_GRAPH: f64 = 2.5;
const TALL: f64 = 3.5;
/// COLAMD's part of the time of a dissection until that begins beside it; and where the graph can be compressed, so that how far it reaches by then is all that is asked.
const HEAD_START: f64 = 0.125;
const SHORT_START: f64 = 0.0625;
/// R has so many times the entries of W22 at most where the columns stay as they come and nothing else is tried.
const NO_FILL: f64 = 1.0;
/// The fronts of the columns as they come are nearly a chain when those on the longest path take this part of the time of all. They are begun at both ends where the path then takes less
/// than this part of what it took, and all fronts together no more than this much.
const CHAIN: f64 = 0.75;
const SHORTER: f64 = 0.75;
const NO_MORE_WORK: f64 = 1.1;
/// What is shorter is not worth a decision.
const SHORT_NS: f64 = 2e6;
/// AMD is tried where the factorization that the columns as they come lead to would take so many times as long as AMD; and after COLAMD, whose orders are mostly as good, so many
/// times (decision 0013).
const WORTH_AMD: f64 = 2.0;
const WORTH_AMD_TOO: f64 = 8.0;
/// Workers that a factorization is taken to have when its time is compared with that of an ordering.
pub(super) const WORKERS: f64 = 2.0;
/// A dissection is waited for where the factorization that minimum degree leads to would take so many times as long: less than once,
/// since estimates of small fronts' time are low, and the dissection is under way.
const WORTH_ONE: f64 = 0.6;
/// A dissection that takes so long is tried alone, on the graph of many rows on few columns that is no mesh, where the columns as they come lead to a factorization that is so
/// many times as long: what fills in there fills in much, and minimum degree takes long to find it. That is if no compressing brings the graph to this part, and the rows of R
/// that COLAMD has made last, when it pauses, reach more than this part of the columns that are left: on what lies in space they reach a twentieth to a third of that.
const LONG_NS: f64 = 1e7;
const SURELY: f64 = 8.0;
const SURELY_ON_MESHES: f64 = 24.0;
const AS_IT_IS: f64 = 0.5;
const REACH: f64 = 0.01;
/// Up to that reach the graph lies in space where it can be compressed to that part, or COLAMD has done so much of the columns by then. COLAMD, unless it is nearly done, was never
/// the best there in the end: the dissection has all threads for itself, and the others follow only where the factorization that it leads to would take so many times as long.
const BY_NOW: std::ops::Range<f64> = 0.4..0.75;
const WORTH_MORE: f64 = 4.0;
/// A dense mesh whose columns come row by row has no supernode as wide as this part of all columns. Where the factorization then takes so many times as
/// long as a dissection, AMD is not tried: it takes 0.4 to 0.7 of that. On the graph of many rows on few columns a wider one says what COLAMD's reach says.
const NARROW: f64 = 0.125;
const WORTH_NO_AMD: f64 = 2.5;
/// Most neighbours of a vertex of a mesh: the graph of a stencil of 27 points has 124.
const MESH: usize = 128;
/// A second dissection is tried where the factorization would take so many times as long.
const WORTH_ANOTHER: f64 = 150.0;

/// What the candidates would take, and of what kind the matrix is.
pub(super) struct Costs {
    columns: f64,
    entries: f64,
    /// A nested dissection.
    dissection_ns: f64,
    /// One of the graph as it is, not compressed.
    whole_ns: f64,
    amd_ns: f64,
    /// The graph is dense; or small, with many rows a column.
    pub is_dense: bool,
    pub is_tall: bool,
}

/// What is tried beside a dissection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// Minimum degree.
    Degree,
    /// Nothing, unless the factorization that the dissection leads to takes long: then minimum degree.
    Later,
    Nothing,
}

impl Costs {
    /// Of columns of which `vertices` differ in their rows.
    pub fn new(input: &OrderingInput<'_>, vertices: usize) -> Self {
        let pairs = graph::work(input);
        let compression = vertices as f64 / input.cols.ncols().max(1) as f64;
        let pair = NS_PER_PAIR * compression * compression + NS_TO_COMPRESS;
        let entries = input.cols.nnz().max(1) as f64;
        let tall = input.cols.nrows() as f64 / input.cols.ncols().max(1) as f64;
        let (columns, pairs) = (input.cols.ncols() as f64, pairs as f64);
        let edges = pairs.min(columns * (columns - 1.0));
        Costs {
            columns,
            entries,
            dissection_ns: NS_PER_VERTEX * vertices as f64 + pair * pairs,
            whole_ns: NS_PER_VERTEX * columns + NS_PER_PAIR * pairs,
            amd_ns: AMD_NS_PER_COLUMN * columns + AMD_NS_PER_PAIR * pairs + AMD_NS_PER_EDGE * edges,
            is_dense: pairs > DENSE_GRAPH * entries,
            is_tall: edges < SMALL_GRAPH * entries && tall > TALL,
        }
    }

    pub fn dissection_ms(&self) -> f64 {
        self.dissection_ns / 1e6
    }

    /// Entries that COLAMD may look at in its first part, and how many of the columns are then to be done; entries in all, until it pauses or AMD takes
    /// its place.
    pub fn colamd_entries(&self) -> ((u64, f64), u64) {
        let part = match self.is_dense {
            true => IN_TIME * self.amd_ns,
            false if self.compresses() => SHORT_START * self.dissection_ns,
            false => HEAD_START * self.dissection_ns,
        };
        let entries = part.max(SHORT_NS) / COLAMD_NS_PER_ENTRY;
        let begun = ((BEGUN * entries) as u64, BEGUN_COLUMNS * self.columns);
        (begun, entries as u64)
    }

    /// How many times as long as a dissection the factorization would take, and as one of the whole graph.
    fn times_dissection(&self, outline: &Outline) -> f64 {
        factorize_ns(outline) / self.dissection_ns
    }

    fn times_whole(&self, outline: &Outline) -> f64 {
        factorize_ns(outline) / self.whole_ns
    }

    /// Whether a factorization is so short that no dissection is worth it.
    pub fn is_enough(&self, outline: &Outline) -> bool {
        self.times_dissection(outline) < WORTH_ONE
    }

    /// Whether fronts that take so long one after the other, in ns, are so little that nothing is tried after the dissection that led to them.
    pub fn is_little(&self, time_ns: f64) -> bool {
        time_ns / WORKERS < WORTH_MORE * self.dissection_ns
    }

    /// Whether AMD is worth it beside the columns as they come.
    pub fn is_worth_amd(&self, natural: &Outline) -> bool {
        factorize_ns(natural) > WORTH_AMD * self.amd_ns
    }

    /// Whether it is worth it beside COLAMD, too.
    pub fn is_worth_amd_too(&self, colamd: &Outline) -> bool {
        factorize_ns(colamd) > WORTH_AMD_TOO * self.amd_ns
    }

    /// Whether a second dissection is worth it after this one.
    pub fn is_worth_another(&self, outline: &Outline) -> bool {
        self.times_dissection(outline) > WORTH_ANOTHER
    }

    /// Whether nothing is to be gained by another order than that of the columns as they come.
    pub fn is_without_fill(&self, natural: &Outline) -> bool {
        natural.nnz_r() as f64 <= NO_FILL * self.entries && factorize_ns(natural) < self.amd_ns
    }

    /// Whether the graph lies in space, and COLAMD is not nearly done.
    fn is_for_dissection(&self, paused: &Elimination<'_>) -> bool {
        let has_least = !self.has_hardly_begun(paused) || self.compresses();
        paused.reach() <= REACH && has_least && self.done(paused) < BY_NOW.end
    }

    /// Whether COLAMD has most of its way before it. Where a dissection is tried alone, others with other random numbers take its place then.
    pub fn has_hardly_begun(&self, paused: &Elimination<'_>) -> bool {
        self.done(paused) < BY_NOW.start
    }

    fn done(&self, paused: &Elimination<'_>) -> f64 {
        paused.done() as f64 / self.columns
    }

    fn compresses(&self) -> bool {
        self.dissection_ns <= AS_IT_IS * self.whole_ns
    }

    /// What is tried beside a dissection, by what the columns as they come lead to, and by COLAMD as far as it has come.
    pub fn beside(
        &self,
        graph: &ColumnGraph<'_>,
        natural: &Outline,
        paused: Option<&Elimination<'_>>,
    ) -> Beside {
        let width = f64::from(natural.widest()) / self.columns.max(1.0);
        let is_mesh = is_mesh(graph);
        if self.is_dense && is_mesh {
            let is_in_rows = width < NARROW && self.times_dissection(natural) > WORTH_NO_AMD;
            return if is_in_rows {
                Beside::Nothing
            } else {
                Beside::Degree
            };
        }
        if self.whole_ns < LONG_NS {
            return Beside::Degree;
        }
        let times = self.times_whole(natural);
        let least = if is_mesh { SURELY_ON_MESHES } else { SURELY };
        let fills_in = times > least && !self.compresses();
        match paused {
            _ if self.is_tall && !is_mesh && fills_in && width >= NARROW => Beside::Nothing,
            _ if self.is_tall => Beside::Degree,
            Some(paused) if fills_in && paused.reach() > REACH => Beside::Nothing,
            Some(paused) if self.is_for_dissection(paused) => Beside::Later,
            _ => Beside::Degree,
        }
    }
}

fn factorize_ns(outline: &Outline) -> f64 {
    outline.time_ns() / WORKERS
}

/// Whether the fronts of the columns as they come are nearly a chain.
pub(super) fn is_chain(natural: &Outline) -> bool {
    natural.path_ns() >= CHAIN * natural.time_ns()
}

/// Whether the columns from both ends make a much shorter path, and hardly more work.
pub(super) fn is_better_from_both_ends(twisted: &Outline, natural: &Outline) -> bool {
    twisted.path_ns() < SHORTER * natural.path_ns()
        && twisted.time_ns() < NO_MORE_WORK * natural.time_ns()
}

/// Whether no vertex has many neighbours.
fn is_mesh(graph: &ColumnGraph<'_>) -> bool {
    let mut groups = 0..graph.groups.len() as u32;
    groups.all(|k| graph.degree(k) <= MESH)
}
