//! Nothing was ready: all tasks had been submitted, and those that were left waited for the few that ran.
//!
//! Told from 10 % of the workers' time on: the top of every tree leaves some workers without a task. Why follows from what ran at these
//! times, each moment shared among the tasks that ran, and weighted by the workers without one:
//!
//! | | |
//! | --- | --- |
//! | half of it is the excess of anomalous tasks over their model | these tasks: a perturbation, not the graph |
//! | else the longest chain is less than 70 % of the run | the order: another one could have kept more tasks ready |
//! | else at most three tree nodes have half of the starved time, and the first is in tiles | its tiles are too large, unless they are smaller than 64 columns already |
//! | the same, and the first stays whole | a subtree is too large: it is one task |
//! | else | the tree is too thin: one small front after the other, and no tile can change that |
//!
//! The 70 %: any schedule that never leaves a ready task takes at most the area bound and the longest chain together (Graham 1969),
//! so a chain that is short beside the run does not explain it by itself.

use super::words::{percent, plural, time};
use super::{Fact, Findings, Hint, Place, Rule, Severity};
use crate::account::{Span, cut, duration_ns, submitting, union};
use crate::trace::schema::{Front, FrontKind, ThreadState};
use std::collections::HashMap;

pub(super) const RULE: Rule = Rule {
    name: "few_tasks",
    about: "too few tasks are ready: tiles too large, a tree too thin, or an order that runs into a dead end",
    find,
};

/// Part of the workers' time.
const STARVED: f64 = 0.10;
/// The longest chain, as a part of the run, below which the order is to blame.
const CHAIN: f64 = 0.7;
/// Part of the starved time that anomalous tasks are to blame for.
const BESIDE_SLOW: f64 = 0.5;
/// So few nodes have half of the starved time where it is not the tree.
const FEW_NODES: usize = 3;
/// Tiles of fewer columns cost more than they bring.
const SMALL_TILE: f64 = 64.0;

/// What was found of the starved time.
struct Starved {
    sum_ns: f64,
    /// Mean number of nodes at work.
    nodes_at_work: f64,
    /// By node, the largest share first.
    nodes: Vec<(u32, f64)>,
    /// Of it, beside anomalous tasks and in the time that they took longer than their model: by task, the largest share first.
    slow: Vec<(usize, f64)>,
    longest: Span,
}

fn find(f: &Findings<'_>) -> Vec<Hint> {
    let starved = starved(f);
    let part = starved.sum_ns / f.all_ns;
    if part < STARVED {
        return Vec::new();
    }
    let slow: f64 = starved.slow.iter().map(|s| s.1).sum();
    if slow >= BESIDE_SLOW * starved.sum_ns {
        return vec![beside_slow(f, &starved, slow)];
    }
    let chain = f.path.length_ns as f64 / f.makespan_ns();
    let blamed: f64 = starved.nodes.iter().map(|n| n.1).sum();
    let mut half = 0.0;
    let few = starved.nodes.iter().position(|n| {
        half += n.1;
        half >= 0.5 * blamed
    });
    let few = few.map_or(0, |k| k + 1);
    let first = starved.nodes.first().map(|n| n.0);
    let front = first.and_then(|node| {
        f.trace
            .tables
            .fronts
            .iter()
            .find(|front| front.node == node)
    });
    let (title, text) = verdict(chain, few, front);
    let mut evidence = vec![
        Fact::new("Workers starved", time(starved.sum_ns))
            .note(format!("{} of their time", percent(part))),
        Fact::new("Longest chain", time(f.path.length_ns as f64))
            .note(format!("{} of the run", percent(chain))),
        Fact::new(
            "Tree nodes at work meanwhile",
            format!("{:.1}", starved.nodes_at_work),
        )
        .note("on average"),
        Fact::new("Half of it beside", plural(few, "tree node", "tree nodes")),
    ];
    if let Some(front) = front {
        let size = format!("{} x {}", front.rows, front.cols);
        let fact = Fact::new(format!("Front {}", front.node), size);
        let tiles = front.tile_rows.zip(front.tile_cols);
        evidence.push(match tiles {
            Some((rows, cols)) => fact.note(format!("{rows} x {cols} tiles")),
            None => fact.note("one task with its subtree"),
        });
    }
    let nodes = starved.nodes.iter().take(few.max(1)).map(|n| n.0);
    vec![Hint {
        rule: RULE.name,
        severity: Severity::Cause,
        title,
        text,
        evidence,
        place: Some(Place::of("ready").time(f, starved.longest).nodes(nodes)),
        part,
    }]
}

/// Had these tasks taken what others like them took, most of it would not have been.
fn beside_slow(f: &Findings<'_>, starved: &Starved, slow: f64) -> Hint {
    let rows = || starved.slow.iter().map(|s| &f.tasks()[s.0]);
    let mut evidence = vec![
        Fact::new("Workers starved", time(starved.sum_ns)).note(format!(
            "{} of their time",
            percent(starved.sum_ns / f.all_ns)
        )),
        Fact::new("Beside slow tasks", time(slow)).note(percent(slow / starved.sum_ns)),
    ];
    if let Some(&(row, _)) = starved.slow.first() {
        let t = &f.tasks()[row];
        let took = duration_ns(t) as f64;
        let text = format!("{} instead of {}", time(took), time(took - f.lost_ns(row)));
        let note = format!(
            "task {} of node {} on {}",
            t.task,
            t.node,
            f.worker_name(t.worker)
        );
        evidence.push(Fact::new(format!("{} took", f.name(t.codelet)), text).note(note));
    }
    Hint {
        rule: RULE.name,
        severity: Severity::Cause,
        title: "Workers waited for tasks that took longer than their kind".to_owned(),
        text: "Nothing was ready, since what was left waited for tasks that took much longer than others with as many operations. What \
               slowed them down is to be looked for, not the tiles or the tree: --record kernel says whether other programs ran \
               instead."
            .to_owned(),
        evidence,
        place: Some(
            Place::of("gantt")
                .time(f, starved.longest)
                .tasks(rows().map(|t| t.task))
                .nodes(rows().map(|t| t.node)),
        ),
        part: starved.sum_ns / f.all_ns,
    }
}

fn verdict(chain: f64, few: usize, front: Option<&Front>) -> (String, String) {
    let told = |title: &str, text: &str| (title.to_owned(), text.to_owned());
    if chain < CHAIN {
        return told(
            "The order of the tasks left workers without any",
            "All was submitted and nothing was ready, although the longest chain of tasks is much shorter than the run: tasks on it were \
             begun late. Priorities (--scheduler prio, --priorities models) take them first.",
        );
    }
    let columns =
        |front: &Front| f64::from(front.cols) / f64::from(front.tile_cols.unwrap_or(1).max(1));
    match front {
        Some(front) if few <= FEW_NODES && front.kind != FrontKind::Tiled => told(
            "One subtree kept the others waiting",
            "A subtree, and a front that is not cut, is one task, and this one ran while the others had nothing to do. Smaller tiles (--nb, --mb) cut \
             large fronts; more workers at the analysis (--threads) make smaller subtrees.",
        ),
        Some(front) if few <= FEW_NODES && columns(front) >= SMALL_TILE => told(
            "Tiles are too large for so many workers",
            "The run waited for few long tasks of a front that has not enough tiles for all workers. Smaller tiles (--nb, --mb) make \
             more and shorter tasks.",
        ),
        Some(_) if few <= FEW_NODES => told(
            "A front has no more parallelism",
            "The run waited for a chain of tasks in one front, whose tiles are small already. A lower flat height (--bh) reduces \
             a panel in fewer steps; fewer workers would lose little.",
        ),
        _ => told(
            "The tree is too thin for so many workers",
            "One small front followed the other, and each has to wait for the one before. Another --ordering (metis makes broad \
             trees) may help; fewer workers would lose little.",
        ),
    }
}

/// Ends and begins at a time: tasks that run, tasks that are ready, times that do not count.
enum Event {
    Begin(u32),
    End(u32),
    Ready(i64),
    Apart(i64),
}

fn starved(f: &Findings<'_>) -> Starved {
    let tasks = f.tasks();
    let workers = f.trace.tables.workers.len() as i64;
    let mut events = Vec::with_capacity(4 * tasks.len());
    for (row, t) in tasks.iter().enumerate() {
        let end = t.end_ns.max(t.start_ns);
        events.push((t.start_ns, Event::Begin(row as u32)));
        events.push((end, Event::End(row as u32)));
        if t.ready_ns < t.start_ns {
            events.push((t.ready_ns, Event::Ready(1)));
            events.push((t.start_ns, Event::Ready(-1)));
        }
    }
    for (from, to) in apart(f) {
        events.push((from, Event::Apart(1)));
        events.push((to, Event::Apart(-1)));
    }
    events.sort_by_key(|e| e.0);

    let (mut running, mut ready, mut held) = (0_i64, 0_i64, 0_i64);
    let mut at_work: HashMap<u32, i64> = HashMap::new();
    // Starved worker-nanoseconds so far for one task that runs; what it was when a task began.
    let mut share = 0.0;
    let mut begun = vec![0.0; tasks.len()];
    let mut by_node: HashMap<u32, f64> = HashMap::new();
    let mut slow: Vec<(usize, f64)> = Vec::new();
    let (mut sum_ns, mut nodes_ns) = (0.0, 0.0);
    let mut spans: Vec<Span> = Vec::new();
    let mut last = 0;
    for (time, event) in events {
        if time > last && running > 0 && ready == 0 && held == 0 && running < workers {
            let ns = (time - last) as f64 * (workers - running) as f64;
            sum_ns += ns;
            nodes_ns += ns * at_work.len() as f64;
            share += ns / running as f64;
            match spans.last_mut() {
                Some(span) if span.1 == last => span.1 = time,
                _ => spans.push((last, time)),
            }
        }
        last = time;
        match event {
            Event::Ready(n) => ready += n,
            Event::Apart(n) => held += n,
            Event::Begin(row) => {
                running += 1;
                *at_work.entry(tasks[row as usize].node).or_default() += 1;
                begun[row as usize] = share;
            }
            Event::End(row) => {
                running -= 1;
                let node = tasks[row as usize].node;
                let own = share - begun[row as usize];
                *by_node.entry(node).or_default() += own;
                if own > 0.0 && f.anomalous[row as usize] {
                    let took = duration_ns(&tasks[row as usize]).max(1) as f64;
                    slow.push((row as usize, own * f.lost_ns(row as usize) / took));
                }
                if let Some(n) = at_work.get_mut(&node) {
                    *n -= 1;
                    if *n == 0 {
                        at_work.remove(&node);
                    }
                }
            }
        }
    }
    let mut nodes: Vec<_> = by_node.into_iter().filter(|n| n.1 > 0.0).collect();
    nodes.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    slow.sort_by(|a, b| b.1.total_cmp(&a.1));
    Starved {
        slow,
        sum_ns,
        nodes_at_work: if sum_ns > 0.0 { nodes_ns / sum_ns } else { 0.0 },
        nodes,
        longest: (spans.into_iter().max_by_key(|s| s.1 - s.0)).unwrap_or(f.tasks_ns),
    }
}

/// When the submission was at work or held back, and before the first task: not the graph's fault.
fn apart(f: &Findings<'_>) -> Vec<Span> {
    let waits = |s: ThreadState| matches!(s, ThreadState::WindowFull | ThreadState::MemoryFull);
    let states = f.trace.tables.states.iter().filter(|s| waits(s.state));
    let mut spans: Vec<Span> = states.map(|s| (s.start_ns, s.end_ns)).collect();
    spans.extend(submitting(f.trace));
    let mut out = vec![f.tasks_ns];
    cut(&mut out, &union(spans))
}
