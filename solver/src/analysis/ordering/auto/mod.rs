//! `auto`: the candidate with the least predicted time, what the ordering costs included.
//!
//! The order in which the columns come costs nothing: it is taken where R then has no more entries than the matrix, and is a candidate everywhere else.
//! Minimum degree is cheap and often enough. COLAMD comes first, beside the making of the graph of W22' W22; AMD after it where the factorization
//! that COLAMD leads to would take longer than AMD by far, and in its place where COLAMD has much to look at. Nested dissection takes longer than both. It begins when they are
//! done and the factorization would take longer still, or when COLAMD has had a head start: then it is given up if it turns out that minimum degree is enough, so that
//! with one thread it does not begin. Where COLAMD's first part, or the columns as they come, leave no doubt that
//! a dissection is best, minimum degree is not waited for. Where the graph lies in space a dissection runs alone, and the others follow if it leads to a long factorization, or more
//! dissections in the place of COLAMD that has hardly begun. Which of them count follows from their results alone, whatever was ready first.
//!
//! ```text
//!   costs.rs: what is worth what   ->   race.rs: who runs, and when   ->   here: the best of them
//! ```
//!
//! Candidates are compared by their outlines (`analysis/structure.rs`); fronts are built for the best, and for those that
//! come so close that only their fronts can tell.

mod costs;
mod race;

use super::{NATURAL, OrderingInput};
use crate::analysis::etree::CountedTree;
use crate::analysis::structure::{Outline, Structure};
use crate::error::AnalyseError;
use race::Field;
use rayon::prelude::*;

/// The ordering of this name.
const DISSECTION: &str = "nd";
/// Estimates that differ by no more than this factor may be in the wrong order.
const CLOSE: f64 = 1.2;

/// Why there is one candidate.
const NO_MORE_ENTRIES: &str = "R has no more entries than the matrix";
const SHORT: &str = "less work than a nested dissection";
const SELDOM: &str = "minimum degree is seldom better on such a graph";

/// An ordering that was tried.
struct Candidate<'a> {
    name: &'static str,
    told: &'static str,
    outline: Outline<'a>,
    /// What the outline leads to, where the race had to know.
    fronts: Option<Structure>,
}

/// What an ordering has found.
#[derive(Clone, Copy)]
pub(crate) enum Order<'o> {
    Columns(&'o [u32]),
    /// With the tree, which it has come across.
    Tree(&'o CountedTree),
}

impl<'o> Order<'o> {
    pub fn columns(self) -> &'o [u32] {
        match self {
            Order::Columns(order) => order,
            Order::Tree(tree) => &tree.order,
        }
    }
}

/// The best of the candidates, and why, in one sentence.
pub(crate) fn choose<'a>(
    input: &'a OrderingInput<'a>,
    outline: impl Fn(Order<'_>) -> Outline<'a> + Sync,
) -> Result<(Structure, &'static str, String), AnalyseError> {
    let field = Field::new(input, outline);
    let mut tried = field.candidates()?;
    let least = least_time(&tried);
    // What costs nothing is not worth a word unless it is among the best.
    tried.retain(|c| c.name != NATURAL || c.outline.time_ns() <= CLOSE * least);
    let stays = tried.len() == 1
        && tried[0].name == NATURAL
        && field.costs.is_without_fill(&tried[0].outline);
    let mut tried: Vec<_> = tried.into_iter().map(|c| field.settled(c)).collect();
    if tried.len() > 1 {
        return Ok(best(tried));
    }
    let why = match tried[0].name {
        DISSECTION => SELDOM,
        _ if stays => NO_MORE_ENTRIES,
        _ => SHORT,
    };
    Ok(tried.remove(0).alone(why))
}

impl<'a> Candidate<'a> {
    fn new(name: &'static str, told: &'static str, outline: Outline<'a>) -> Self {
        Candidate {
            name,
            told,
            outline,
            fronts: None,
        }
    }

    /// With its fronts, and their time one after the other in ns.
    fn built(mut self) -> (Self, f64) {
        let fronts = self.fronts.take().unwrap_or_else(|| self.outline.build());
        let time_ns = fronts.time_ns();
        tracing::debug!(
            name = self.name,
            flops = fronts.flops(),
            factorize_ms = time_ns / costs::WORKERS / 1e6,
            "candidate, built"
        );
        self.fronts = Some(fronts);
        (self, time_ns)
    }

    fn structure(self) -> Structure {
        self.fronts.unwrap_or_else(|| self.outline.build())
    }

    /// Its fronts, and why it is the one.
    fn alone(self, why: &str) -> (Structure, &'static str, String) {
        let (name, told) = (self.name, self.told);
        let structure = self.structure();
        let why = format!("{} with {told}: {why}", flops(structure.flops()));
        (structure, name, why)
    }

    /// Whether it leads to the fronts of the other one, as far as outlines tell.
    fn is_like(&self, other: &Self) -> bool {
        let figures = |c: &Self| [c.outline.flops(), c.outline.time_ns(), c.outline.path_ns()];
        let mut pairs = figures(self).into_iter().zip(figures(other));
        pairs.all(|(a, b)| (a - b).abs() <= 1e-9 * a.max(b))
    }
}

fn least_time(candidates: &[Candidate]) -> f64 {
    let times = candidates.iter().map(|c| c.outline.time_ns());
    times.fold(f64::INFINITY, f64::min)
}

/// The candidate with the least time.
fn best(mut candidates: Vec<Candidate>) -> (Structure, &'static str, String) {
    let least = least_time(&candidates);
    let why: Vec<String> = candidates
        .iter()
        .map(|c| format!("{} with {}", about(c.outline.flops()), c.told))
        .collect();
    candidates.retain(|c| c.outline.time_ns() <= CLOSE * least);
    let mut close: Vec<Candidate> = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        if !close.iter().any(|c| c.is_like(&candidate)) {
            close.push(candidate);
        }
    }
    let built: Vec<_> = close.into_par_iter().map(Candidate::built).collect();
    let best = built.into_iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let (best, _) = best.expect("the one with the least");
    let name = best.name;
    (best.structure(), name, why.join(", "))
}

/// Flops, to be read.
pub(crate) fn flops(x: u64) -> String {
    let (x, prefix) = scaled(x as f64);
    format!("{x:.3} {prefix}flop")
}

/// Flops that are estimated: two digits.
fn about(x: f64) -> String {
    let (x, prefix) = scaled(x);
    let x = match x {
        x if x < 10.0 => format!("{x:.1}"),
        x if x < 100.0 => format!("{x:.0}"),
        x => format!("{:.0}", (x / 10.0).round() * 10.0),
    };
    format!("about {x} {prefix}flop")
}

fn scaled(x: f64) -> (f64, &'static str) {
    let (scale, prefix) = match x {
        x if x >= 1e12 => (1e12, "T"),
        x if x >= 1e9 => (1e9, "G"),
        x if x >= 1e6 => (1e6, "M"),
        x if x >= 1e3 => (1e3, "k"),
        _ => (1.0, ""),
    };
    (x / scale, prefix)
}

#[cfg(test)]
mod tests {
    use super::super::super::cleanup::{self, Reduced};
    use super::super::super::work;
    use super::super::graph::ColumnGraph;
    use super::super::{dissection, metis};
    use super::race::Started;
    use super::*;
    use std::sync::atomic::AtomicBool;
    use treeqr_matrices::{Csc, gallery};

    /// What becomes of COLAMD at first, and the first candidate by minimum degree, or the columns as they come, with the whole reason.
    fn begin(a: &Csc<f64>) -> (&'static str, String) {
        let reduced = cleanup::reduce(&work::Work::new(a.pattern()), &[]);
        let input = input(&reduced);
        let outline = |order: Order<'_>| Outline::new(&reduced, order.columns());
        let field = Field::new(&input, outline);
        let natural = field.natural();
        let is_without_fill = field.costs.is_without_fill(&natural.outline);
        let (became, first) = match field.start(&AtomicBool::new(false)) {
            Started::Done(candidate) => (candidate.name, Some(candidate)),
            Started::Paused(elimination) => ("paused", Some(field.to_the_end(elimination))),
            Started::Replaced if field.costs.is_worth_amd(&natural.outline) => {
                let graph = ColumnGraph::of(&input);
                ("replaced", Some(field.by_amd(&graph).expect("an order")))
            }
            Started::Replaced => ("replaced", None),
        };
        let is_better = |c: &Candidate<'_>| c.outline.time_ns() < natural.outline.time_ns();
        let first = first.filter(|first| !is_without_fill && is_better(first));
        let first = first.unwrap_or_else(|| field.settled(natural));
        let (structure, _, why) = first.alone("the first");
        assert_eq!(structure.order.len(), input.cols.ncols());
        (became, why)
    }

    fn reduced(name: &str) -> Reduced {
        let a = gallery::make(name).expect("gallery").matrix;
        cleanup::reduce(&work::Work::new(a.pattern()), &[])
    }

    fn input(reduced: &Reduced) -> OrderingInput<'_> {
        OrderingInput {
            cols: &reduced.cols,
            rows: &reduced.rows,
        }
    }

    /// Rows one after the other, each with six columns.
    fn by_rows(rows: u32, cols: u32, column: impl Fn(u32, u32) -> u32) -> Csc<f64> {
        let entries = (0..rows).flat_map(|i| (0..6).map(move |k| (i, k)));
        let (i, j): (Vec<u32>, Vec<u32>) = entries.map(|(i, k)| (i, column(i, k))).unzip();
        let ones = vec![1.0; i.len()];
        Csc::from_triplets(rows as usize, cols as usize, &i, &j, &ones).expect("inside")
    }

    #[test]
    fn many_rows_on_few_columns_are_not_for_colamd() {
        // 50 columns meet in far more pairs of entries than there are pairs of columns: R is full in any order.
        let a = by_rows(4000, 50, |i, k| (i * 7 + k * k * 3) % 50);
        let (became, why) = begin(&a);
        assert_eq!(became, "replaced");
        assert!(why.contains("with the columns as they come"), "{why}");
    }

    #[test]
    fn many_rows_whose_graph_is_small_are_for_amd() {
        // All rows have the first column, which as the first pivot makes all others meet.
        let a = by_rows(4000, 400, |i, k| {
            [0, 1 + i / 11, 2 + i / 11][k as usize % 3]
        });
        let (became, why) = begin(&a);
        assert_eq!(became, "replaced");
        assert!(why.contains("with AMD: the first"), "{why}");
    }

    #[test]
    fn a_band_is_begun_at_both_ends() {
        let band = |i: u32, k: u32| i / 5 + k * (k + 1) / 2;
        let (_, why) = begin(&by_rows(4000, 821, band));
        let from_both_ends = "with the columns as they come, from both ends: the first";
        assert!(why.contains(from_both_ends), "{why}");
        // 821 is a prime: the same band in another order, which fills in.
        let (_, why) = begin(&by_rows(4000, 821, |i, k| band(i, k) * 57 % 821));
        assert!(why.contains("with COLAMD: the first"), "{why}");
    }

    #[test]
    fn what_is_sparse_is_for_colamd() {
        let a = gallery::make("conv2d-20").expect("gallery").matrix;
        let (became, why) = begin(&a);
        assert_eq!(became, "colamd");
        assert!(why.contains("with COLAMD: the first"), "{why}");
    }

    #[test]
    fn after_colamd_amd_has_to_be_short() {
        // The factorization would take more than twice as long as AMD, and less than eight times.
        let reduced = reduced("TF12");
        let input = input(&reduced);
        let outline = |order: Order<'_>| Outline::new(&reduced, order.columns());
        let field = Field::new(&input, outline);
        let tried = field.candidates().expect("orders");
        let names: Vec<_> = tried.iter().map(|c| c.name).collect();
        assert_eq!(names, [NATURAL, "colamd"]);
        assert!(field.costs.is_worth_amd(&tried[1].outline));
        assert!(!field.costs.is_worth_amd_too(&tried[1].outline));
    }

    #[test]
    fn fronts_tell_what_outlines_know_nothing_of() {
        // By its outline the factorization takes more than four times as long as the dissection; its fronts are cut by rows.
        let reduced = reduced("ba-80x14000");
        let input = input(&reduced);
        let outline = |order: Order<'_>| Outline::new(&reduced, order.columns());
        let field = Field::new(&input, outline);
        let mut tried = field.candidates().expect("orders");
        let names: Vec<_> = tried.iter().map(|c| c.name).collect();
        assert_eq!(names, [NATURAL, DISSECTION]);
        let dissected = tried.pop().expect("two");
        assert!(!field.costs.is_little(dissected.outline.time_ns()));
        let known = dissected.fronts.is_some();
        let (_, time_ns) = dissected.built();
        assert!(known && field.costs.is_little(time_ns));
    }

    #[test]
    fn orders_with_the_same_fronts_are_alike() {
        // Points before cameras, or after them.
        let reduced = reduced("ba-10x200");
        let n = reduced.cols.ncols() as u32;
        let candidate =
            |order: Vec<u32>| Candidate::new("given", "an order", Outline::new(&reduced, &order));
        let (cameras, points) = (0..90, 90..n);
        let first = candidate(points.clone().chain(cameras.clone()).collect());
        // Points in another order have the same fronts, in another order.
        let same = candidate(points.clone().rev().chain(cameras.clone()).collect());
        let other = candidate(cameras.chain(points).collect());
        assert!(first.is_like(&same) && same.is_like(&first));
        assert!(!first.is_like(&other) && !other.is_like(&first));
        assert_eq!(first.structure().flops(), same.structure().flops());
    }

    #[test]
    fn cameras_are_for_a_dissection() {
        // Points share cameras and nothing else. Where cuts took two points of one camera for one, this was more than METIS's by a fifth.
        let reduced = reduced("ba-300x8000");
        let input = input(&reduced);
        let flops = |order: &[u32]| Outline::new(&reduced, order).flops();
        let graph = ColumnGraph::of(&input);
        let go_on = AtomicBool::new(false);
        let found = dissection::unless(&go_on, &graph, dissection::Manner::default());
        let (order, _) = found.expect("nobody gives it up");
        let metis = metis::of_graph(&graph).expect("an order");
        let (found, metis) = (flops(&order), flops(&metis));
        assert!(found < metis, "{found:e} and {metis:e}");
    }
}
