//! `auto`: the candidate with the least predicted time, what the ordering costs included.
//!
//! The order in which the columns come costs nothing: it is taken where R then has no more entries than the matrix, and is a candidate everywhere else.
//! Minimum degree is cheap and often enough. COLAMD comes first, beside the making of the graph of W22' W22; AMD after it where the factorization
//! that COLAMD leads to would take longer than AMD by far, and in its place where COLAMD has much to look at. Nested dissection takes longer than both. It begins when they are
//! done and the factorization would take longer still, or when COLAMD has had a head start: then it is given up if it turns out that minimum degree is enough, so that
//! with one thread it does not begin. METIS comes beside it where the factorization would take much longer. Which of them count follows
//! from their results alone, whatever was ready first.
//!
//! Candidates are compared by their outlines (`analysis/structure.rs`); fronts are built for the best, and for those that
//! come so close that only their fronts can tell.

use super::dissection::Aim;
use super::graph::Graph;
use super::{NATURAL, OrderingInput, TWISTED, amd, colamd, dissection, graph, metis, natural};
use crate::analysis::structure::{Outline, Structure};
use crate::error::AnalyseError;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

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
/// COLAMD's part of the time of a dissection until that begins beside it.
const HEAD_START: f64 = 0.125;
/// R has so many times the entries of W22 at most where the columns stay as they come and nothing else is tried.
const NO_FILL: f64 = 1.0;
/// The fronts of the columns as they come are nearly a chain when those on the longest path take this part of the time of all. They are begun at both ends where the path then takes less
/// than this part of what it took, and all fronts together no more than this much.
const CHAIN: f64 = 0.75;
const SHORTER: f64 = 0.75;
const NO_MORE_WORK: f64 = 1.1;
/// The ordering of this name.
const DISSECTION: &str = "nd";
/// What is shorter is not worth a decision.
const SHORT_NS: f64 = 2e6;
/// AMD is tried too where the factorization that COLAMD leads to would take so many times as long as AMD.
const WORTH_AMD: f64 = 2.0;
/// Workers that a factorization is taken to have when its time is compared with that of an ordering.
const WORKERS: f64 = 2.0;
/// A dissection is waited for where the factorization that minimum degree leads to would take so many times as long: less than once,
/// since estimates of small fronts' time are low, and the dissection is under way.
const WORTH_ONE: f64 = 0.6;
/// METIS is tried too where the factorization would take so many times as long as the ordering: neither of the two is always the better
/// one. On meshes, where no vertex has many neighbours, it seldom is (decision 0009), and takes longest.
const WORTH_BOTH: f64 = 4.0;
const WORTH_BOTH_ON_MESHES: f64 = 12.0;
/// Where the factorization would take so many times as long as METIS by minimum degree, METIS chooses each cut from several.
const WORTH_SEVERAL: f64 = 100.0;
/// METIS does not wait for minimum degree where the first dissection is so much above these.
const SURELY: f64 = 2.0;
/// It waits for nobody either, if it takes so long that this matters, where the graph is that of many rows on few columns and no mesh: what fills
/// in there fills in much, and minimum degree takes long to find it. Nor where the columns as they come say twice over that it is worth it, the
/// graph is not compressed to this part, and R then has a front of this part of all columns or more: one that is at home in space has not.
const LONG_METIS_NS: f64 = 1e7;
const AS_IT_IS: f64 = 0.5;
const WIDE: f64 = 0.25;
/// A dense mesh whose columns come row by row has a front of no more than this part of all columns. Where the factorization then takes so many times as
/// long as a dissection, AMD is not tried: it takes 0.4 to 0.7 of that.
const NARROW: f64 = 0.125;
const WORTH_NO_AMD: f64 = 2.5;
/// Most neighbours of a vertex of a mesh: the graph of a stencil of 27 points has 124.
const MESH: usize = 128;
/// A second dissection, with another aim, is tried where it would take so many times as long.
const WORTH_ANOTHER: f64 = 24.0;
/// Estimates that differ by no more than this factor may be in the wrong order.
const CLOSE: f64 = 1.2;

/// Why there is one candidate.
const NO_MORE_ENTRIES: &str = "R has no more entries than the matrix";
const SHORT: &str = "less work than a nested dissection";
const DENSE_MESH: &str = "each column meets many others, and all of them are near";

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
    let mut tried = field.candidates()?;
    let least = least_time(&tried);
    // What costs nothing is not worth a word unless it is among the best.
    tried.retain(|c| c.name != NATURAL || c.outline.time_ns() <= CLOSE * least);
    let stays = tried.len() == 1 && tried[0].name == NATURAL && field.is_without_fill(&tried[0]);
    let mut tried: Vec<_> = tried.into_iter().map(|c| field.settled(c)).collect();
    if tried.len() > 1 {
        return Ok(best(tried));
    }
    let why = match tried[0].name {
        DISSECTION => DENSE_MESH,
        _ if stays => NO_MORE_ENTRIES,
        _ => SHORT,
    };
    Ok(tried.remove(0).alone(why))
}

/// The first candidate, by minimum degree: where it is known that no better one matters.
pub(crate) fn choose_first(
    input: &OrderingInput<'_>,
    outline: impl Fn(&[u32]) -> Outline + Sync,
) -> Result<(Structure, &'static str, String), AnalyseError> {
    let field = Field::new(input, &outline);
    let natural = field.natural();
    if field.is_without_fill(&natural) {
        return Ok(field.settled(natural).alone(NO_MORE_ENTRIES));
    }
    let first = match field.start(&AtomicBool::new(false)) {
        Started::Done(candidate) => Some(candidate),
        Started::Paused(elimination) => Some(field.to_the_end(elimination)),
        Started::Replaced if field.is_worth_amd(&natural) => {
            Some(field.by_amd(&graph::column_intersection(input))?)
        }
        Started::Replaced => None,
    };
    let first = match first {
        Some(first) if first.outline.time_ns() < natural.outline.time_ns() => first,
        _ => field.settled(natural),
    };
    Ok(first.alone("no dissection was tried"))
}

impl Candidate {
    /// Its fronts, and why it is the one.
    fn alone(self, why: &str) -> (Structure, &'static str, String) {
        let structure = self.outline.build();
        let why = format!("{} with {}: {why}", flops(structure.flops()), self.told);
        (structure, self.name, why)
    }
}

/// What is to be ordered, and what that costs.
struct Field<'a, O> {
    input: &'a OrderingInput<'a>,
    outline: &'a O,
    /// A nested dissection.
    ordering_ns: f64,
    /// METIS, on one thread and on the whole graph.
    metis_ns: f64,
    /// AMD, on one thread.
    amd_ns: f64,
    /// The graph is dense; or small, with many rows a column.
    is_dense: bool,
    is_tall: bool,
}

/// What is known of how many times as long as METIS the factorization would take.
struct Said {
    times: f64,
    /// By minimum degree, whose word it is.
    is_final: bool,
}

impl Said {
    /// Whether METIS is worth it; for certain, if there is more to come.
    fn is_worth_metis(&self, graph: &Graph) -> bool {
        let surely = if self.is_final { 1.0 } else { SURELY };
        let least = |worth: f64| self.times > surely * worth;
        least(WORTH_BOTH) && (least(WORTH_BOTH_ON_MESHES) || !is_mesh(graph))
    }
}

/// What became of COLAMD at first.
enum Started<'a> {
    Done(Candidate),
    Paused(colamd::Elimination<'a>),
    /// AMD takes its place.
    Replaced,
}

impl<'a, O: Fn(&[u32]) -> Outline + Sync> Field<'a, O> {
    fn new(input: &'a OrderingInput<'a>, outline: &'a O) -> Self {
        let (pairs, vertices) = (graph::work(input), graph::distinct(input));
        let compression = vertices as f64 / input.cols.ncols().max(1) as f64;
        let pair = NS_PER_PAIR * compression * compression + NS_TO_COMPRESS;
        let entries = input.cols.nnz().max(1) as f64;
        let tall = input.cols.nrows() as f64 / input.cols.ncols().max(1) as f64;
        let (columns, pairs) = (input.cols.ncols() as f64, pairs as f64);
        let edges = pairs.min(columns * (columns - 1.0));
        Field {
            input,
            outline,
            ordering_ns: NS_PER_VERTEX * vertices as f64 + pair * pairs,
            metis_ns: NS_PER_VERTEX * columns + NS_PER_PAIR * pairs,
            amd_ns: AMD_NS_PER_COLUMN * columns + AMD_NS_PER_PAIR * pairs + AMD_NS_PER_EDGE * edges,
            is_dense: pairs > DENSE_GRAPH * entries,
            is_tall: edges < SMALL_GRAPH * entries && tall > TALL,
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

    fn is_enough(&self, candidate: &Candidate) -> bool {
        self.times_as_long(candidate) < WORTH_ONE
    }

    /// Whether AMD is worth it when COLAMD has led to `candidate`.
    fn is_worth_amd(&self, candidate: &Candidate) -> bool {
        candidate.outline.time_ns() / WORKERS > WORTH_AMD * self.amd_ns
    }

    /// By the columns as they come.
    fn natural(&self) -> Candidate {
        self.candidate(
            NATURAL,
            "the columns as they come",
            &natural::order(self.input),
        )
    }

    /// In the place of the columns as they come the same from both ends, where that leads to a much shorter path and hardly more work: fronts of a band are a chain.
    fn settled(&self, candidate: Candidate) -> Candidate {
        let outline = &candidate.outline;
        if candidate.name != NATURAL || outline.path_ns() < CHAIN * outline.time_ns() {
            return candidate;
        }
        let twisted = self.candidate(
            TWISTED,
            "the columns as they come, from both ends",
            &natural::twisted(self.input),
        );
        let is_shorter = twisted.outline.path_ns() < SHORTER * outline.path_ns();
        match is_shorter && twisted.outline.time_ns() < NO_MORE_WORK * outline.time_ns() {
            true => twisted,
            false => candidate,
        }
    }

    /// Whether nothing is to be gained by another order than that.
    fn is_without_fill(&self, natural: &Candidate) -> bool {
        let outline = &natural.outline;
        outline.nnz_r() as f64 <= NO_FILL * self.input.cols.nnz() as f64
            && outline.time_ns() / WORKERS < self.amd_ns
    }

    fn by_amd(&self, graph: &Graph) -> Result<Candidate, AnalyseError> {
        Ok(self.candidate("amd", "AMD", &amd::of_graph(graph)?))
    }

    /// By COLAMD, unless that takes too long. What became of it counts no more when it is given up.
    fn start(&self, given_up: &AtomicBool) -> Started<'a> {
        if self.is_tall {
            return Started::Replaced;
        }
        let part = match self.is_dense {
            true => IN_TIME * self.amd_ns,
            false => HEAD_START * self.ordering_ns,
        };
        let entries = part.max(SHORT_NS) / COLAMD_NS_PER_ENTRY;
        let mut elimination = colamd::Elimination::new(self.input);
        if self.is_dense {
            let order = elimination.until(given_up, (BEGUN * entries) as u64);
            let enough = BEGUN_COLUMNS * self.input.cols.ncols() as f64;
            if order.is_none() && (elimination.done() as f64) < enough {
                return Started::Replaced;
            }
            if let Some(order) = order {
                return Started::Done(self.candidate("colamd", "COLAMD", &order));
            }
        }
        match elimination.until(given_up, entries as u64) {
            Some(order) => Started::Done(self.candidate("colamd", "COLAMD", &order)),
            None if self.is_dense => Started::Replaced,
            None => Started::Paused(elimination),
        }
    }

    /// By COLAMD, which was paused.
    fn to_the_end(&self, mut elimination: colamd::Elimination<'_>) -> Candidate {
        let order = elimination.until(&AtomicBool::new(false), u64::MAX);
        let order = order.expect("nobody gives it up");
        self.candidate("colamd", "COLAMD", &order)
    }

    /// How many times as long as METIS the factorization would take.
    fn times_metis(&self, candidate: &Candidate) -> f64 {
        candidate.outline.time_ns() / WORKERS / self.metis_ns
    }

    /// The widest front where the columns stay as they come, as a part of all columns.
    fn width(&self, natural: &Candidate) -> f64 {
        f64::from(natural.outline.widest()) / self.input.cols.ncols().max(1) as f64
    }

    /// Whether METIS begins before minimum degree has said what it leads to.
    fn begins_metis(&self, graph: &Graph, natural: &Candidate) -> bool {
        if self.metis_ns < LONG_METIS_NS {
            return false;
        }
        if self.is_tall {
            return !is_mesh(graph);
        }
        let says = Said {
            times: self.times_metis(natural),
            is_final: false,
        };
        says.is_worth_metis(graph)
            && !self.takes_several(says.times, graph)
            && self.ordering_ns > AS_IT_IS * self.metis_ns
            && self.width(natural) >= WIDE
    }

    /// Whether a dissection alone counts, as on stencils of many points.
    fn is_for_dissection(&self, graph: &Graph, natural: &Candidate) -> bool {
        self.is_dense
            && self.times_as_long(natural) > WORTH_NO_AMD
            && self.width(natural) < NARROW
            && is_mesh(graph)
    }

    /// Whether METIS is to choose from several separators, when minimum degree has led to a factorization so many times as long. Not on meshes, where all are
    /// alike, nor on the graph of many rows on few columns: what minimum degree leads to there may be 30 times as much as the others do.
    fn takes_several(&self, times: f64, graph: &Graph) -> bool {
        !self.is_tall && times > WORTH_SEVERAL && !is_mesh(graph)
    }

    /// By METIS. It refuses what does not fit its indices: then there is a candidate less.
    fn by_metis(&self, graph: &Graph, several: bool) -> Option<Candidate> {
        if several {
            let order = metis::best_of(graph).ok()?;
            return Some(self.candidate(
                "metis4",
                "METIS, the best of four cuts each time",
                &order,
            ));
        }
        let order = metis::of_graph(graph).ok()?;
        Some(self.candidate("metis", "METIS", &order))
    }

    /// By METIS, as soon as someone who knows says that it is worth it; from several separators, as soon as that is known, which may be after
    /// an order from single ones, that counts no more.
    fn metis_when_told(&self, graph: &Graph, said: &mpsc::Receiver<Said>) -> Option<Candidate> {
        let mut found = None;
        for said in said {
            if said.is_final && self.takes_several(said.times, graph) && said.is_worth_metis(graph)
            {
                return self.by_metis(graph, true);
            }
            if found.is_none() && said.is_worth_metis(graph) {
                found = Some(self.by_metis(graph, false)?);
            }
        }
        found
    }

    /// By nested dissection, unless it is given up; by a second one with the other aim, which seldom is better where the graph itself asks for
    /// [`Aim::Even`]. `told` hears of the first.
    fn by_dissection(
        &self,
        graph: &Graph,
        given_up: &AtomicBool,
        told: impl FnOnce(&Candidate),
    ) -> Vec<Candidate> {
        let dissected = |aim, told| {
            let (order, aim) = dissection::unless(given_up, graph, aim)?;
            Some((self.candidate(DISSECTION, told, &order), aim))
        };
        let Some((first, aim)) = dissected(None, "nested dissection") else {
            return Vec::new();
        };
        told(&first);
        let is_worth_another = aim == Aim::Light && self.times_as_long(&first) > WORTH_ANOTHER;
        let mut all = vec![first];
        if is_worth_another {
            let another = dissected(Some(Aim::Even), "another dissection");
            all.extend(another.map(|(candidate, _)| candidate));
        }
        all
    }

    /// Whether a factorization is so short that neither AMD nor a dissection is worth it.
    fn is_all(&self, candidate: &Candidate) -> bool {
        self.is_enough(candidate) && !self.is_worth_amd(candidate)
    }

    /// All that count.
    fn candidates(&self) -> Result<Vec<Candidate>, AnalyseError> {
        // COLAMD is given up when the columns stay as they come, the graph when either is enough.
        let (stays, is_enough) = (AtomicBool::new(false), AtomicBool::new(false));
        let set = |flag: &AtomicBool, is: bool| flag.fetch_or(is, Ordering::Relaxed);
        // With one thread COLAMD would come first, in vain.
        let natural = (rayon::current_num_threads() == 1).then(|| self.natural());
        if natural.as_ref().is_some_and(|c| self.is_without_fill(c)) {
            return Ok(natural.into_iter().collect());
        }
        let (started, (natural, graph)) = rayon::join(
            || {
                let started = self.start(&stays);
                set(
                    &is_enough,
                    matches!(&started, Started::Done(c) if self.is_all(c)),
                );
                started
            },
            || {
                let natural = natural.unwrap_or_else(|| self.natural());
                set(&stays, self.is_without_fill(&natural));
                set(
                    &is_enough,
                    self.is_without_fill(&natural) || self.is_all(&natural),
                );
                (natural, graph::unless(&is_enough, self.input))
            },
        );
        let (mut known, mut paused) = (vec![natural], None);
        if stays.into_inner() {
            return Ok(known);
        }
        match started {
            Started::Done(candidate) => known.push(candidate),
            Started::Paused(elimination) => paused = Some(elimination),
            Started::Replaced => {}
        }
        if is_enough.into_inner() {
            return Ok(known);
        }
        let graph = graph.expect("it was not given up");
        let natural = &known[0];
        let metis_begins = self.begins_metis(&graph, natural);
        let wants_amd =
            !self.is_for_dissection(&graph, natural) && known.iter().all(|c| self.is_worth_amd(c));
        let by_degree = || match paused {
            Some(elimination) => Ok(Some(self.to_the_end(elimination))),
            None if wants_amd => self.by_amd(&graph).map(Some),
            None => Ok(None),
        };
        if known.iter().any(|c| self.is_enough(c)) {
            known.extend(by_degree()?);
            return Ok(known);
        }
        self.beside_dissections(&graph, known, by_degree, metis_begins)
    }

    /// The candidates by minimum degree, those that are known and another one, and by dissections, at the same time on rayon's threads, of which none waits for another. METIS on a thread
    /// of its own, since it has to wait until it is known whether it is worth it; with a single thread after the others.
    fn beside_dissections(
        &self,
        graph: &Graph,
        mut known: Vec<Candidate>,
        by_degree: impl FnOnce() -> Result<Option<Candidate>, AnalyseError> + Send,
        metis_begins: bool,
    ) -> Result<Vec<Candidate>, AnalyseError> {
        let given_up = &AtomicBool::new(false);
        let is_alone = rayon::current_num_threads() == 1;
        thread::scope(|scope| {
            let (say, said) = mpsc::channel();
            // None: it is not worth it, or something panicked, and that goes its own way.
            let metis = (!is_alone).then(|| {
                scope.spawn(move || match metis_begins {
                    true => self.by_metis(graph, false),
                    false => self.metis_when_told(graph, &said),
                })
            });
            let not_yet = |times| Said {
                times,
                is_final: false,
            };
            say.send(not_yet(self.least_times_metis(&known))).ok();
            let say_too = say.clone();
            let (by_degree, mut all) = rayon::join(
                || {
                    known.extend(by_degree()?);
                    if known.iter().any(|c| self.is_enough(c)) {
                        given_up.store(true, Ordering::Relaxed);
                    }
                    let times = self.least_times_metis(&known);
                    let is_final = true;
                    say.send(Said { times, is_final }).ok();
                    drop(say);
                    Ok((known, Said { times, is_final }))
                },
                || {
                    self.by_dissection(graph, given_up, |first| {
                        say_too.send(not_yet(self.times_metis(first))).ok();
                        drop(say_too);
                    })
                },
            );
            let by_metis = metis.map(|metis| {
                metis
                    .join()
                    .unwrap_or_else(|p| std::panic::resume_unwind(p))
            });
            let (known, said) = by_degree?;
            if given_up.load(Ordering::Relaxed) {
                return Ok(known);
            }
            if said.is_worth_metis(graph) {
                let several = self.takes_several(said.times, graph);
                all.extend(by_metis.unwrap_or_else(|| self.by_metis(graph, several)));
            }
            all.extend(known);
            Ok(all)
        })
    }

    /// By the best of them. That the columns as they come take long says nothing of other orders: none where they are all.
    fn least_times_metis(&self, candidates: &[Candidate]) -> f64 {
        if candidates.iter().all(|c| c.name == NATURAL) {
            return 0.0;
        }
        let times = candidates.iter().map(|c| self.times_metis(c));
        times.fold(f64::INFINITY, f64::min)
    }
}

/// Whether no vertex has many neighbours.
fn is_mesh(graph: &Graph) -> bool {
    graph.start.windows(2).all(|w| w[1] - w[0] <= MESH)
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

#[cfg(test)]
mod tests {
    use super::super::super::{cleanup, work};
    use super::*;
    use treeqr_matrices::{Csc, gallery};

    /// What becomes of COLAMD at first, and the first candidate with the whole reason.
    fn begin(a: &Csc<f64>) -> (&'static str, String) {
        let reduced = cleanup::reduce(&work::Work::new(a.pattern()), &[]);
        let input = OrderingInput {
            cols: &reduced.cols,
            rows: &reduced.rows,
        };
        let outline = |order: &[u32]| Outline::new(&reduced, order);
        let became = match Field::new(&input, &outline).start(&AtomicBool::new(false)) {
            Started::Done(candidate) => candidate.name,
            Started::Paused(_) => "paused",
            Started::Replaced => "replaced",
        };
        let (structure, _, why) = choose_first(&input, outline).expect("an ordering");
        assert_eq!(structure.order.len(), input.cols.ncols());
        (became, why)
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
        assert!(why.contains("with AMD: no dissection was tried"), "{why}");
    }

    #[test]
    fn a_band_is_begun_at_both_ends() {
        let band = |i: u32, k: u32| i / 5 + k * (k + 1) / 2;
        let (_, why) = begin(&by_rows(4000, 821, band));
        let from_both_ends = "with the columns as they come, from both ends: R has no more";
        assert!(why.contains(from_both_ends), "{why}");
        // 821 is a prime: the same band in another order, which fills in.
        let (_, why) = begin(&by_rows(4000, 821, |i, k| band(i, k) * 57 % 821));
        assert!(
            why.contains("with COLAMD: no dissection was tried"),
            "{why}"
        );
    }

    #[test]
    fn what_is_sparse_is_for_colamd() {
        let a = gallery::make("conv2d-20").expect("gallery").matrix;
        let (became, why) = begin(&a);
        assert_eq!(became, "colamd");
        assert!(
            why.contains("with COLAMD: no dissection was tried"),
            "{why}"
        );
    }
}
