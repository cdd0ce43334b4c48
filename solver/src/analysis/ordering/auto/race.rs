//! The candidates: which are run, and at the same time.

use super::super::dissection::{self, Manner};
use super::super::graph::{self, ColumnGraph};
use super::super::groups::Groups;
use super::super::{NATURAL, OrderingInput, TWISTED, amd, colamd, natural};
use super::costs::{self, Beside, Costs};
use super::{Candidate, DISSECTION, Order};
use crate::analysis::etree::CountedTree;
use crate::analysis::structure::Outline;
use crate::error::AnalyseError;
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is to be ordered, and what that costs.
pub(super) struct Field<'a, O> {
    input: &'a OrderingInput<'a>,
    outline: O,
    /// Columns with the same rows.
    groups: Groups,
    pub costs: Costs,
}

/// What became of COLAMD at first.
pub(super) enum Started<'a> {
    Done(Candidate<'a>),
    Paused(colamd::Elimination<'a>),
    /// AMD takes its place.
    Replaced,
}

impl<'a, O: Fn(Order<'_>) -> Outline<'a> + Sync> Field<'a, O> {
    pub fn new(input: &'a OrderingInput<'a>, outline: O) -> Self {
        let groups = Groups::of_columns(input);
        let costs = Costs::new(input, groups.len());
        Field {
            input,
            outline,
            groups,
            costs,
        }
    }

    fn candidate(&self, name: &'static str, told: &'static str, order: Order<'_>) -> Candidate<'a> {
        let outline = tracing::debug_span!("outline", name).in_scope(|| (self.outline)(order));
        tracing::debug!(
            name,
            flops = outline.flops(),
            factorize_ms = outline.time_ns() / costs::WORKERS / 1e6,
            dissection_ms = self.costs.dissection_ms(),
            "candidate, estimated"
        );
        Candidate::new(name, told, outline)
    }

    /// By the columns as they come.
    pub fn natural(&self) -> Candidate<'a> {
        let order = natural::order(self.input);
        self.candidate(NATURAL, "the columns as they come", Order::Columns(&order))
    }

    /// In the place of the columns as they come the same from both ends, where that leads to a much shorter path and hardly more work: fronts of a band are a chain.
    pub fn settled(&self, candidate: Candidate<'a>) -> Candidate<'a> {
        if candidate.name != NATURAL || !costs::is_chain(&candidate.outline) {
            return candidate;
        }
        let told = "the columns as they come, from both ends";
        let order = natural::twisted(self.input);
        let twisted = self.candidate(TWISTED, told, Order::Columns(&order));
        match costs::is_better_from_both_ends(&twisted.outline, &candidate.outline) {
            true => twisted,
            false => candidate,
        }
    }

    pub fn by_amd(&self, graph: &ColumnGraph<'_>) -> Result<Candidate<'a>, AnalyseError> {
        let order = amd::of_graph(graph)?;
        Ok(self.candidate("amd", "AMD", Order::Columns(&order)))
    }

    fn by_colamd(&self, tree: &CountedTree) -> Candidate<'a> {
        self.candidate("colamd", "COLAMD", Order::Tree(tree))
    }

    /// By COLAMD, unless that takes too long. What became of it counts no more when it is given up.
    pub fn start(&self, given_up: &AtomicBool) -> Started<'a> {
        if self.costs.is_tall {
            return Started::Replaced;
        }
        let ((begun, enough), entries) = self.costs.colamd_entries();
        let _span = tracing::debug_span!("colamd").entered();
        let mut elimination = colamd::Elimination::new(self.input);
        if self.costs.is_dense {
            let tree = elimination.until(given_up, begun);
            if tree.is_none() && (elimination.done() as f64) < enough {
                return Started::Replaced;
            }
            if let Some(tree) = tree {
                return Started::Done(self.by_colamd(&tree));
            }
        }
        match elimination.until(given_up, entries) {
            Some(tree) => Started::Done(self.by_colamd(&tree)),
            None if self.costs.is_dense => Started::Replaced,
            None => {
                let (done, reach) = (elimination.done(), elimination.reach());
                tracing::debug!(done, reach, "COLAMD pauses");
                Started::Paused(elimination)
            }
        }
    }

    /// By COLAMD, which was paused.
    pub fn to_the_end(&self, mut elimination: colamd::Elimination<'_>) -> Candidate<'a> {
        let tree = elimination.until(&AtomicBool::new(false), u64::MAX);
        self.by_colamd(&tree.expect("nobody gives it up"))
    }

    /// By nested dissection, unless it is given up; each attempt has other cuts.
    fn by_dissection(
        &self,
        graph: &ColumnGraph<'_>,
        attempt: u64,
        given_up: &AtomicBool,
    ) -> Option<Candidate<'a>> {
        let manner = Manner { aim: None, attempt };
        let told = match attempt {
            0 => "nested dissection",
            1 => "another dissection",
            _ => "a third one",
        };
        let (order, _) = dissection::unless(given_up, graph, manner)?;
        Some(self.candidate(DISSECTION, told, Order::Columns(&order)))
    }

    /// Whether the candidate leads to so little that nothing is tried after it. Outlines know nothing of fronts that are cut by rows, which may take a
    /// fifth of the time: where they say no, the fronts are asked.
    fn is_little(&self, candidate: Candidate<'a>) -> (Candidate<'a>, bool) {
        if self.costs.is_little(candidate.outline.time_ns()) {
            return (candidate, true);
        }
        let (candidate, time_ns) = candidate.built();
        let is_little = self.costs.is_little(time_ns);
        (candidate, is_little)
    }

    /// By nested dissection, which may be known, unless it is given up; by a second one where the factorization takes very much longer. Beside minimum
    /// degree after a dissection that is known there is time for another, too.
    fn by_dissections(
        &self,
        graph: &ColumnGraph<'_>,
        first: Option<Candidate<'a>>,
        given_up: &AtomicBool,
    ) -> Vec<Candidate<'a>> {
        let is_known = first.is_some();
        let first = first.or_else(|| self.by_dissection(graph, 0, given_up));
        let mut all = Vec::from_iter(first);
        let is_worth_another = |c: &Candidate| is_known || self.costs.is_worth_another(&c.outline);
        if all.first().is_some_and(is_worth_another) {
            all.extend(self.by_dissection(graph, 1, given_up));
        }
        all
    }

    /// All that count.
    pub fn candidates(&self) -> Result<Vec<Candidate<'a>>, AnalyseError> {
        let costs = &self.costs;
        // COLAMD is given up when the columns stay as they come, the graph when either is enough.
        let (stays, is_enough) = (AtomicBool::new(false), AtomicBool::new(false));
        let set = |flag: &AtomicBool, is: bool| flag.fetch_or(is, Ordering::Relaxed);
        // With one thread COLAMD would come first, in vain.
        let natural = (rayon::current_num_threads() == 1).then(|| self.natural());
        if natural
            .as_ref()
            .is_some_and(|c| costs.is_without_fill(&c.outline))
        {
            return Ok(natural.into_iter().collect());
        }
        let (started, (natural, graph)) = rayon::join(
            || {
                let started = self.start(&stays);
                if let Started::Done(Candidate { outline, .. }) = &started {
                    let is_worth_amd = costs.is_worth_amd_too(outline);
                    set(&is_enough, costs.is_enough(outline) && !is_worth_amd);
                }
                started
            },
            || {
                let by_itself = || {
                    let natural = natural.unwrap_or_else(|| self.natural());
                    let is_without_fill = costs.is_without_fill(&natural.outline);
                    set(&stays, is_without_fill);
                    let is_worth_amd = costs.is_worth_amd(&natural.outline);
                    let is_short = costs.is_enough(&natural.outline) && !is_worth_amd;
                    set(&is_enough, is_without_fill || is_short);
                    natural
                };
                rayon::join(by_itself, || {
                    graph::unless(&is_enough, self.input, &self.groups)
                })
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
        let graph = ColumnGraph::new(Cow::Borrowed(&self.groups), graph);
        let is_short = known.iter().any(|c| costs.is_enough(&c.outline));
        let beside = match is_short {
            true => Beside::Degree,
            false => costs.beside(&graph, &known[0].outline, paused.as_ref()),
        };
        let mut dissected = None;
        if beside == Beside::Later {
            let first = self.by_dissection(&graph, 0, &AtomicBool::new(false));
            let first = first.expect("nobody gives it up");
            let (first, is_little) = self.is_little(first);
            if is_little {
                known.push(first);
                return Ok(known);
            }
            dissected = Some(first);
        }
        let mut by_colamd = known[1..].iter();
        let wants_amd = costs.is_worth_amd(&known[0].outline)
            && by_colamd.all(|c| costs.is_worth_amd_too(&c.outline));
        let by_degree = || match (beside, paused) {
            (Beside::Nothing, _) => Ok(None),
            (Beside::Later, Some(elimination)) if costs.has_hardly_begun(&elimination) => {
                Ok(self.by_dissection(&graph, 2, &AtomicBool::new(false)))
            }
            (_, Some(elimination)) => Ok(Some(self.to_the_end(elimination))),
            (_, None) if wants_amd => self.by_amd(&graph).map(Some),
            (_, None) => Ok(None),
        };
        if is_short {
            known.extend(by_degree()?);
            return Ok(known);
        }
        self.with_dissections(&graph, known, dissected, by_degree)
    }

    /// The candidates by minimum degree, those that are known and another one; and by dissections, at the same time.
    fn with_dissections(
        &self,
        graph: &ColumnGraph<'_>,
        mut known: Vec<Candidate<'a>>,
        dissected: Option<Candidate<'a>>,
        by_degree: impl FnOnce() -> Result<Option<Candidate<'a>>, AnalyseError> + Send,
    ) -> Result<Vec<Candidate<'a>>, AnalyseError> {
        let given_up = &AtomicBool::new(false);
        let (others, dissections) = rayon::join(
            || {
                known.extend(by_degree()?);
                if known.iter().any(|c| self.costs.is_enough(&c.outline)) {
                    given_up.store(true, Ordering::Relaxed);
                }
                Ok(known)
            },
            || self.by_dissections(graph, dissected, given_up),
        );
        let others = others?;
        if given_up.load(Ordering::Relaxed) {
            return Ok(others);
        }
        let mut all = dissections;
        all.extend(others);
        Ok(all)
    }
}
