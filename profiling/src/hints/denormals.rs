//! Denormal numbers: some tasks of a codelet take many times as long as others with as many operations.
//!
//! A trace does not hold operands, so this is inferred. Denormal operands make each operation slow by the processor's microcode, some ten
//! times and more (150 ms instead of 9 ms for a gemqrt of ch8-8-b3 in the paper), and they stay where they are: the tasks of one
//! tile column are slow one after the other, on whatever worker. A task that was interrupted is slow too, but others of
//! its tile column are not. So the rule asks for tasks that take, for their operations, four times as long as the fast ones (the
//! quantile 0.2) or more, at least half of them in tile columns where most tasks are so, and 1 % of the workers' time lost in
//! those. A slow worker is slow in all columns: where one worker did nearly all of them, its tasks in other columns must not be
//! slow. Where cycles and instructions were counted, a slow task must also take twice the cycles for an instruction.
//!
//! A run that flushes denormals to zero (the default) has none. A trace that does not say gets a note at most.

use super::statistics::median;
use super::words::{percent, plural, time, times};
use super::{Fact, Findings, Hint, Place, Rule, Severity};
use crate::account::duration_ns;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

pub(super) const RULE: Rule = Rule {
    name: "denormals",
    about: "operations on denormal numbers are slow",
    find,
};

/// Factor over the expectation.
const SLOWER: f64 = 4.0;
/// The quantile of the tasks that is taken for the fast ones.
const FAST: f64 = 0.2;
/// So many tasks.
const FEWEST: usize = 6;
/// Part of a tile column's tasks that makes it a slow one, and of the slow tasks that lie in such.
const MOST: f64 = 0.5;
/// Part of the slow tasks that may be on one worker, where there are several.
const ON_ONE: f64 = 0.9;
/// Part of the workers' time.
const LOST: f64 = 0.01;
/// Cycles for an instruction, over those of other tasks.
const STALLED: f64 = 2.0;

fn find(f: &Findings<'_>) -> Vec<Hint> {
    let kept = f.option("keep_denormals").and_then(Value::as_bool);
    if kept == Some(false) {
        return Vec::new();
    }
    let mut by_codelet: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    for (row, log) in f.excess.iter().enumerate() {
        if log.is_some() {
            by_codelet
                .entry(f.tasks()[row].codelet)
                .or_default()
                .push(row);
        }
    }
    let found = by_codelet.into_iter();
    found
        .filter_map(|(codelet, rows)| of_codelet(f, codelet, &rows, kept == Some(true)))
        .collect()
}

fn of_codelet(f: &Findings<'_>, codelet: u16, rows: &[usize], kept: bool) -> Option<Hint> {
    // The model's line may lie between the slow tasks and the others: it is moved down to where the fast ones are.
    let mut logs: Vec<f64> = rows.iter().filter_map(|&row| f.excess[row]).collect();
    logs.sort_by(f64::total_cmp);
    let fast = *logs.get((FAST * logs.len() as f64) as usize)?;
    let excess = |row: usize| f.excess[row].map_or(0.0, |log| log - fast);
    let lost_ns = |row: usize| {
        let took = duration_ns(&f.tasks()[row]) as f64;
        (took - took * (-excess(row)).exp()).max(0.0)
    };
    let is_slow = |row: usize| excess(row) > SLOWER.ln();
    let mut slow: Vec<usize> = rows.iter().copied().filter(|&row| is_slow(row)).collect();
    if slow.len() < FEWEST {
        return None;
    }
    let tasks = f.tasks();
    // Of each column: how many tasks, how many slow ones.
    let mut columns: HashMap<(u32, Option<u32>), (usize, usize)> = HashMap::new();
    let mut workers: HashMap<u16, usize> = HashMap::new();
    for &row in rows {
        let t = &tasks[row];
        let column = columns.entry((t.node, t.tile_col)).or_default();
        *column = (column.0 + 1, column.1 + usize::from(is_slow(row)));
        if is_slow(row) {
            *workers.entry(t.worker).or_default() += 1;
        }
    }
    // One task alone is no column.
    columns.retain(|_, c| c.1 > 1 && c.1 as f64 >= MOST * c.0 as f64);
    let together: usize = columns.values().map(|c| c.1).sum();
    if (together as f64) < MOST * slow.len() as f64 {
        return None;
    }
    let (&most, &on_one) = workers.iter().max_by_key(|w| (w.1, w.0))?;
    if f.cpus() > 1 && on_one as f64 > ON_ONE * slow.len() as f64 {
        let elsewhere = |row: &&usize| {
            let t = &tasks[**row];
            t.worker == most && !columns.contains_key(&(t.node, t.tile_col))
        };
        let elsewhere: Vec<usize> = rows.iter().filter(elsewhere).copied().collect();
        let also = elsewhere.iter().filter(|&&row| is_slow(row)).count();
        if elsewhere.len() < FEWEST || also as f64 >= MOST * elsewhere.len() as f64 {
            return None;
        }
    }
    let stalls = cycles(f, rows, &is_slow);
    if stalls.is_some_and(|(slow, others)| slow < STALLED * others) {
        return None;
    }
    let (all, together) = (slow.len() as f64, together as f64);
    // Those in other columns were interrupted, as far as one can tell.
    slow.retain(|&row| columns.contains_key(&(tasks[row].node, tasks[row].tile_col)));
    let lost: f64 = slow.iter().map(|&row| lost_ns(row)).sum();
    if slow.len() < FEWEST || lost < LOST * f.all_ns {
        return None;
    }
    slow.sort_by(|&a, &b| lost_ns(b).total_cmp(&lost_ns(a)));
    let mut factors: Vec<f64> = slow.iter().map(|&row| excess(row)).collect();
    let factor = median(&mut factors)?.exp();
    let (name, worst) = (f.name(codelet), &tasks[slow[0]]);
    let mut evidence = vec![
        Fact::new("Slow tasks", plural(slow.len(), "task", "tasks"))
            .note(format!("of {} of {name}", rows.len())),
        Fact::new(
            "They took",
            format!("{} as long as expected", times(factor)),
        )
        .note(format!("the median; {} lost", time(lost))),
        Fact::new("The worst", time(duration_ns(worst) as f64)).note(format!(
            "instead of {}, task {} of node {}",
            time(duration_ns(worst) as f64 - lost_ns(slow[0])),
            worst.task,
            worst.node
        )),
        Fact::new(
            "In tile columns where most are slow",
            percent(together / all),
        ),
    ];
    if let Some((slow, others)) = stalls {
        let text = format!("{slow:.2} in slow tasks, {others:.2} in others");
        evidence.push(Fact::new("Cycles for an instruction", text));
    }
    let (title, severity) = match kept {
        true => (
            format!("Denormal numbers slow {name} down"),
            Severity::Cause,
        ),
        false => (
            format!("Denormal numbers may slow {name} down"),
            Severity::Note,
        ),
    };
    let seen = match (kept, stalls) {
        (true, Some(_)) => {
            "The run kept denormal numbers (--keep-denormals), and the counters fit."
        }
        (true, None) => {
            "The run kept denormal numbers (--keep-denormals); that they were met follows from the times alone, since no \
             cycles and instructions were counted."
        }
        (false, _) => {
            "The trace does not say whether denormal numbers were flushed to zero: this is a suspicion."
        }
    };
    let from = slow.iter().map(|&row| tasks[row].start_ns).min()?;
    let to = slow.iter().map(|&row| tasks[row].end_ns).max()?;
    Some(Hint {
        rule: RULE.name,
        severity,
        title,
        text: format!(
            "Some tasks of {name} took {} as long as others with as many operations, tile column by tile column. {seen} Flushing them to zero, the default, makes all tasks equally fast.",
            times(factor)
        ),
        evidence,
        place: Some(
            Place::of("durations")
                .time(f, (from, to))
                .tasks(slow.iter().map(|&row| tasks[row].task))
                .nodes(slow.iter().map(|&row| tasks[row].node)),
        ),
        part: lost / f.all_ns,
    })
}

/// Cycles for an instruction, in slow tasks and in the others; none where they were not counted.
fn cycles(f: &Findings<'_>, rows: &[usize], is_slow: &dyn Fn(usize) -> bool) -> Option<(f64, f64)> {
    let wanted: HashMap<u32, bool> = (rows.iter())
        .map(|&row| (f.tasks()[row].task, is_slow(row)))
        .collect();
    let mut sums = [[0.0_f64; 2]; 2];
    for c in &f.trace.tables.counters {
        let which = ["cycles", "instructions"]
            .iter()
            .position(|name| *name == c.counter);
        if let (Some(which), Some(&slow)) = (which, wanted.get(&c.task)) {
            sums[usize::from(slow)][which] += c.value as f64;
        }
    }
    let ratio = |[cycles, instructions]: [f64; 2]| {
        (cycles > 0.0 && instructions > 0.0).then(|| cycles / instructions)
    };
    ratio(sums[1]).zip(ratio(sums[0]))
}
