//! `auto`: the candidate with the least predicted time, what the ordering costs included.
//!
//! Minimum degree is cheap and often enough: COLAMD, or AMD where the graph of W22' W22 is dense, on which it is faster. Nested dissection
//! needs that graph and a time that grows with it; its result is used when the factorization that minimum degree leads to would take
//! longer than that, and METIS's beside it when it would take much longer. All run at the same time: a dissection that is not
//! needed is given up, so that with one thread it does not begin.
//!
//! Candidates are compared by their outlines (`analysis/structure.rs`); fronts are built for the best, and for those that
//! come so close that only their fronts can tell.

use super::dissection::Aim;
use super::graph::Graph;
use super::{OrderingInput, amd, colamd, dissection, graph, metis};
use crate::analysis::structure::{Outline, Structure};
use crate::error::AnalyseError;
use rayon::prelude::*;
use std::cell::OnceCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{OnceLock, mpsc};

/// Nested dissection in ns a vertex, and ns a pair of columns that meet in a row (a pair may meet in many), of the compressed
/// graph; and what each pair takes until the graph is compressed. Fixed, so that the choice does not depend on the machine; they
/// need only be right within a factor of two.
const NS_PER_VERTEX: f64 = 4000.0;
const NS_PER_PAIR: f64 = 25.0;
const NS_TO_COMPRESS: f64 = 3.0;
/// AMD in the place of COLAMD from so many pairs an entry on.
const DENSE_GRAPH: usize = 12;
/// Workers that a factorization is taken to have when its time is compared with that of an ordering.
const WORKERS: f64 = 2.0;
/// A dissection is waited for where the factorization that minimum degree leads to would take so many times as long: less than once,
/// since estimates of small fronts' time are low, and the dissection is under way.
const WORTH_ONE: f64 = 0.6;
/// METIS is tried too where the factorization would take so many times as long as the ordering: neither of the two is always the better
/// one. On meshes, where no vertex has many neighbours, it seldom is (decision 0009), and takes longest.
const WORTH_BOTH: f64 = 4.0;
const WORTH_BOTH_ON_MESHES: f64 = 12.0;
/// Most neighbours of a vertex of a mesh.
const MESH: usize = 64;
/// A second dissection, with another aim, is tried where it would take so many times as long.
const WORTH_ANOTHER: f64 = 24.0;
/// Estimates that differ by no more than this factor may be in the wrong order.
const CLOSE: f64 = 1.2;

/// An ordering that was tried.
struct Candidate {
    name: &'static str,
    told: &'static str,
    outline: Outline,
}

/// The best of the candidates, and why, in one sentence.
pub(crate) fn choose(
    input: &OrderingInput<'_>,
    outline: impl Fn(&[u32]) -> Outline + Sync,
) -> Result<(Structure, &'static str, String), AnalyseError> {
    let field = Field::new(input, &outline);
    let mut tried = if rayon::current_num_threads() == 1 {
        field.one_after_the_other()?
    } else {
        field.at_the_same_time()?
    };
    if tried.len() > 1 {
        return Ok(best(tried));
    }
    let Candidate {
        name,
        told,
        outline,
    } = tried.remove(0);
    let structure = outline.build();
    let why = format!(
        "{} with {told}: less work than a nested dissection",
        flops(structure.flops())
    );
    Ok((structure, name, why))
}

/// What is to be ordered, and what that costs.
struct Field<'a, O> {
    input: &'a OrderingInput<'a>,
    outline: &'a O,
    /// A nested dissection.
    ordering_ns: f64,
    /// METIS, on one thread and on the whole graph.
    metis_ns: f64,
    by_amd: bool,
}

impl<'a, O: Fn(&[u32]) -> Outline + Sync> Field<'a, O> {
    fn new(input: &'a OrderingInput<'a>, outline: &'a O) -> Self {
        let (pairs, vertices) = (graph::work(input), graph::distinct(input));
        let compression = vertices as f64 / input.cols.ncols().max(1) as f64;
        let pair = NS_PER_PAIR * compression * compression + NS_TO_COMPRESS;
        let (columns, pairs_ns) = (input.cols.ncols(), NS_PER_PAIR * pairs as f64);
        Field {
            input,
            outline,
            ordering_ns: NS_PER_VERTEX * vertices as f64 + pair * pairs as f64,
            metis_ns: NS_PER_VERTEX * columns as f64 + pairs_ns,
            by_amd: pairs > DENSE_GRAPH * input.cols.nnz(),
        }
    }

    fn candidate(&self, name: &'static str, told: &'static str, order: &[u32]) -> Candidate {
        let outline = (self.outline)(order);
        tracing::debug!(
            name,
            flops = outline.flops(),
            factorize_ms = outline.time_ns() / WORKERS / 1e6,
            dissection_ms = self.ordering_ns / 1e6,
            "candidate, estimated"
        );
        Candidate {
            name,
            told,
            outline,
        }
    }

    /// How many times as long as a dissection the factorization would take.
    fn times_as_long(&self, candidate: &Candidate) -> f64 {
        candidate.outline.time_ns() / WORKERS / self.ordering_ns
    }

    /// By minimum degree; `graph` is asked for where that works on it.
    fn by_degree<'g>(
        &self,
        graph: impl FnOnce() -> Option<&'g Graph>,
    ) -> Result<Candidate, AnalyseError> {
        match self.by_amd.then(graph).flatten() {
            Some(graph) => Ok(self.candidate("amd", "AMD", &amd::of_graph(graph)?)),
            None => Ok(self.candidate("colamd", "COLAMD", &colamd::order(self.input)?)),
        }
    }

    /// By METIS, where it is worth it. It refuses what does not fit its indices: then there is a candidate less.
    fn by_metis<'g>(
        &self,
        by_degree: &Candidate,
        graph: impl FnOnce() -> Option<&'g Graph>,
    ) -> Option<Candidate> {
        let times = by_degree.outline.time_ns() / WORKERS / self.metis_ns;
        if times <= WORTH_BOTH {
            return None;
        }
        let graph = graph()?;
        let is_mesh = graph.start.windows(2).all(|w| w[1] - w[0] <= MESH);
        if is_mesh && times <= WORTH_BOTH_ON_MESHES {
            return None;
        }
        let order = metis::of_graph(graph).ok()?;
        Some(self.candidate("metis", "METIS", &order))
    }

    /// By nested dissection, the second time with another aim, unless it is given up.
    fn by_dissection(&self, graph: &Graph, given_up: &AtomicBool) -> Vec<Candidate> {
        let told = [
            (Aim::Light, "nested dissection"),
            (Aim::Even, "another dissection"),
        ];
        let mut all: Vec<Candidate> = Vec::new();
        for (aim, told) in told {
            let is_worth_it = |first: &Candidate| self.times_as_long(first) > WORTH_ANOTHER;
            if all.first().is_none_or(is_worth_it)
                && let Some(order) = dissection::unless(given_up, graph, aim)
            {
                all.push(self.candidate("nd", told, &order));
            }
        }
        all
    }

    fn one_after_the_other(&self) -> Result<Vec<Candidate>, AnalyseError> {
        let made = OnceCell::new();
        let graph = || made.get_or_init(|| graph::column_intersection(self.input));
        let by_degree = self.by_degree(|| Some(graph()))?;
        if self.times_as_long(&by_degree) < WORTH_ONE {
            return Ok(vec![by_degree]);
        }
        let mut all = self.by_dissection(graph(), &AtomicBool::new(false));
        all.extend(self.by_metis(&by_degree, || Some(graph())));
        all.push(by_degree);
        Ok(all)
    }

    /// Minimum degree and METIS on a thread of their own: one of rayon's that waits for the graph might be the one that has to make
    /// it.
    fn at_the_same_time(&self) -> Result<Vec<Candidate>, AnalyseError> {
        let (given_up, made) = (AtomicBool::new(false), OnceLock::new());
        std::thread::scope(|scope| {
            let (given_up, made) = (&given_up, &made);
            let (send, receive) = mpsc::sync_channel::<()>(2);
            let aside = scope.spawn(move || {
                // None: the graph could not be made, and that panic goes its own way.
                let graph = || receive.recv().ok().and_then(|()| made.get());
                let by_degree = self.by_degree(graph);
                let is_enough = |c: &Candidate| self.times_as_long(c) < WORTH_ONE;
                if by_degree.as_ref().map_or(true, is_enough) {
                    given_up.store(true, Ordering::Relaxed);
                }
                let by_degree = by_degree?;
                let by_metis = self.by_metis(&by_degree, graph);
                Ok((by_degree, by_metis))
            });
            let graph = made.get_or_init(|| graph::column_intersection(self.input));
            // It may be asked for twice.
            send.send(()).ok();
            send.send(()).ok();
            let mut all = self.by_dissection(graph, given_up);
            let (by_degree, by_metis) = match aside.join() {
                Ok(done) => done?,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            if given_up.load(Ordering::Relaxed) {
                return Ok(vec![by_degree]);
            }
            all.extend(by_metis);
            all.push(by_degree);
            Ok(all)
        })
    }
}

/// The candidate with the least time.
fn best(mut candidates: Vec<Candidate>) -> (Structure, &'static str, String) {
    let least = candidates
        .iter()
        .map(|c| c.outline.time_ns())
        .fold(f64::INFINITY, f64::min);
    let why: Vec<String> = candidates
        .iter()
        .map(|c| format!("{} with {}", about(c.outline.flops()), c.told))
        .collect();
    candidates.retain(|c| c.outline.time_ns() <= CLOSE * least);
    let built: Vec<_> = candidates
        .into_par_iter()
        .map(|c| (c.name, c.outline.build()))
        .collect();
    let best = built
        .into_iter()
        .min_by(|a, b| a.1.time_ns().total_cmp(&b.1.time_ns()));
    let (name, structure) = best.expect("the one with the least");
    (structure, name, why.join(", "))
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
