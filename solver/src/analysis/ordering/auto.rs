//! `auto`: the candidate with the least predicted time, what the ordering costs included.
//!
//! Minimum degree is cheap and often enough: COLAMD, or AMD where it is faster, on a dense graph of W22' W22 or a small one of many rows.
//! Nested dissection needs that graph and a time that grows with it; its result is used when the factorization that minimum degree leads to would take
//! longer than that, and METIS's beside it when it would take much longer. All run at the same time: a dissection that is not
//! needed is given up, so that with one thread it does not begin. Which of them count follows from their results alone, whatever was ready
//! first.
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
use std::thread;

/// Nested dissection in ns a vertex, and ns a pair of columns that meet in a row (a pair may meet in many), of the compressed
/// graph; and what each pair takes until the graph is compressed. Fixed, so that the choice does not depend on the machine; they
/// need only be right within a factor of two.
const NS_PER_VERTEX: f64 = 4000.0;
const NS_PER_PAIR: f64 = 25.0;
const NS_TO_COMPRESS: f64 = 3.0;
/// AMD in the place of COLAMD from so many pairs an entry on; and up to so many, where W22 has so many rows a column, which COLAMD has to
/// go through and AMD has not.
const DENSE_GRAPH: f64 = 12.0;
const SMALL_GRAPH: f64 = 2.5;
const TALL: f64 = 3.5;
/// Workers that a factorization is taken to have when its time is compared with that of an ordering.
const WORKERS: f64 = 2.0;
/// A dissection is waited for where the factorization that minimum degree leads to would take so many times as long: less than once,
/// since estimates of small fronts' time are low, and the dissection is under way.
const WORTH_ONE: f64 = 0.6;
/// METIS is tried too where the factorization would take so many times as long as the ordering: neither of the two is always the better
/// one. On meshes, where no vertex has many neighbours, it seldom is (decision 0009), and takes longest.
const WORTH_BOTH: f64 = 4.0;
const WORTH_BOTH_ON_MESHES: f64 = 12.0;
/// METIS does not wait for minimum degree where the first dissection is so much above these.
const SURELY: f64 = 2.0;
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
        let an_entry = pairs as f64 / input.cols.nnz().max(1) as f64;
        let tall = input.cols.nrows() as f64 / input.cols.ncols().max(1) as f64;
        let (columns, pairs_ns) = (input.cols.ncols(), NS_PER_PAIR * pairs as f64);
        Field {
            input,
            outline,
            ordering_ns: NS_PER_VERTEX * vertices as f64 + pair * pairs as f64,
            metis_ns: NS_PER_VERTEX * columns as f64 + pairs_ns,
            by_amd: an_entry > DENSE_GRAPH || (an_entry < SMALL_GRAPH && tall > TALL),
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
    fn by_degree<'g>(&self, graph: impl FnOnce() -> &'g Graph) -> Result<Candidate, AnalyseError> {
        if self.by_amd {
            Ok(self.candidate("amd", "AMD", &amd::of_graph(graph())?))
        } else {
            Ok(self.candidate("colamd", "COLAMD", &colamd::order(self.input)?))
        }
    }

    /// How many times as long as METIS the factorization would take.
    fn times_metis(&self, candidate: &Candidate) -> f64 {
        candidate.outline.time_ns() / WORKERS / self.metis_ns
    }

    /// Whether that is `surely` times what makes it worth it. The graph is asked for when it matters.
    fn is_worth_metis<'g>(
        times: f64,
        surely: f64,
        graph: impl FnOnce() -> Option<&'g Graph>,
    ) -> bool {
        if times <= surely * WORTH_BOTH {
            return false;
        }
        graph().is_some_and(|graph| {
            let is_mesh = graph.start.windows(2).all(|w| w[1] - w[0] <= MESH);
            !is_mesh || times > surely * WORTH_BOTH_ON_MESHES
        })
    }

    /// By METIS. It refuses what does not fit its indices: then there is a candidate less.
    fn by_metis(&self, graph: &Graph) -> Option<Candidate> {
        let order = metis::of_graph(graph).ok()?;
        Some(self.candidate("metis", "METIS", &order))
    }

    /// By nested dissection, the second time with another aim, unless it is given up. `told` hears of the first.
    fn by_dissection(
        &self,
        graph: &Graph,
        given_up: &AtomicBool,
        told: impl FnOnce(&Candidate),
    ) -> Vec<Candidate> {
        let dissected = |aim, told| {
            let order = dissection::unless(given_up, graph, aim)?;
            Some(self.candidate("nd", told, &order))
        };
        let Some(first) = dissected(Aim::Light, "nested dissection") else {
            return Vec::new();
        };
        told(&first);
        let is_worth_another = self.times_as_long(&first) > WORTH_ANOTHER;
        let mut all = vec![first];
        if is_worth_another {
            all.extend(dissected(Aim::Even, "another dissection"));
        }
        all
    }

    fn one_after_the_other(&self) -> Result<Vec<Candidate>, AnalyseError> {
        let made = OnceCell::new();
        let graph = || made.get_or_init(|| graph::column_intersection(self.input));
        let by_degree = self.by_degree(graph)?;
        if self.times_as_long(&by_degree) < WORTH_ONE {
            return Ok(vec![by_degree]);
        }
        let mut all = self.by_dissection(graph(), &AtomicBool::new(false), |_| ());
        if Self::is_worth_metis(self.times_metis(&by_degree), 1.0, || Some(graph())) {
            all.extend(self.by_metis(graph()));
        }
        all.push(by_degree);
        Ok(all)
    }

    /// Minimum degree beside the dissections on rayon's threads, of which none waits for another: one that waits for the graph might be the
    /// one that has to make it. METIS on a thread of its own, since it has to wait until it is known whether it is worth it.
    fn at_the_same_time(&self) -> Result<Vec<Candidate>, AnalyseError> {
        let (given_up, made) = (AtomicBool::new(false), OnceLock::new());
        let make = || made.get_or_init(|| graph::column_intersection(self.input));
        if self.by_amd {
            make();
        }
        thread::scope(|scope| {
            let (given_up, made) = (&given_up, &made);
            let (ready, is_ready) = mpsc::channel::<()>();
            let (say, said) = mpsc::channel::<(f64, f64)>();
            let metis = scope.spawn(move || {
                let graph = || {
                    made.get()
                        .or_else(|| is_ready.recv().ok().and_then(|()| made.get()))
                };
                // None: it is not worth it, or something panicked, and that goes its own way.
                said.iter()
                    .find(|&(times, surely)| Self::is_worth_metis(times, surely, graph))?;
                self.by_metis(made.get()?)
            });
            let say_too = say.clone();
            let (by_degree, mut all) = rayon::join(
                move || {
                    let by_degree = self.by_degree(|| made.get().expect("it was made before"));
                    let is_enough = |c: &Candidate| self.times_as_long(c) < WORTH_ONE;
                    if by_degree.as_ref().map_or(true, is_enough) {
                        given_up.store(true, Ordering::Relaxed);
                    }
                    if let Ok(by_degree) = &by_degree {
                        say.send((self.times_metis(by_degree), 1.0)).ok();
                    }
                    by_degree
                },
                move || {
                    let graph = make();
                    ready.send(()).ok();
                    self.by_dissection(graph, given_up, |first| {
                        say_too.send((self.times_metis(first), SURELY)).ok();
                    })
                },
            );
            let by_metis = metis
                .join()
                .unwrap_or_else(|p| std::panic::resume_unwind(p));
            let by_degree = by_degree?;
            if given_up.load(Ordering::Relaxed) {
                return Ok(vec![by_degree]);
            }
            let times = self.times_metis(&by_degree);
            all.extend(by_metis.filter(|_| Self::is_worth_metis(times, 1.0, || made.get())));
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
