//! Whole subtrees slow each other down: small fronts are bound by memory, and the more workers are in them, the less each has.
//!
//! With k the mean number of other subtrees that ran during a task, log D = a + b log flops + c k is fitted over the tasks that do whole
//! subtrees (outliers beyond five deviations apart). The rule speaks where c is four standard errors above 0, tasks with most
//! company (the upper tenth) are slowed by 15 % or more, and 2 % of the workers' time is lost. The throughput of k at a
//! time is k / exp(c (k - 1)), largest at k = 1 / c: that is the number of workers it proposes. The paper found a
//! factor of 12.8 for many workers behind one L3 cache. Where always as many ran, one run cannot tell; the rule is then silent.

use super::statistics::{Observed, partial_slope};
use super::words::{percent, plural, time, times};
use super::{Fact, Findings, Hint, Place, Rule, Severity};
use crate::account::{Steps, duration_ns};
use crate::trace::schema::Role;

pub(super) const RULE: Rule = Rule {
    name: "subtrees_slow_each_other",
    about: "subtrees that run at the same time take longer",
    find,
};

/// Fewer tasks say nothing.
const FEWEST: usize = 20;
/// Standard errors.
const SURE: f64 = 4.0;
/// Factor for the tasks with most company.
const SLOWER: f64 = 1.15;
/// Part of the workers' time.
const LOST: f64 = 0.02;

fn find(f: &Findings<'_>) -> Vec<Hint> {
    let is_subtree = |t: &&crate::trace::schema::Task| {
        f.role(t.codelet) == Some(Role::Subtree) && t.end_ns > t.start_ns
    };
    let tasks: Vec<_> = f.tasks().iter().filter(is_subtree).collect();
    if tasks.iter().filter(|t| t.flops > 0).count() < FEWEST {
        return Vec::new();
    }
    let running = Steps::count(
        tasks.iter().map(|t| t.start_ns).collect(),
        tasks.iter().map(|t| t.end_ns).collect(),
    );
    let company = |t: &crate::trace::schema::Task| {
        running.integral(t.start_ns, t.end_ns) / duration_ns(t) as f64 - 1.0
    };
    let points: Vec<Observed> = (tasks.iter().filter(|t| t.flops > 0))
        .map(|t| {
            (
                (t.flops as f64).ln(),
                company(t),
                (duration_ns(t) as f64).ln(),
            )
        })
        .collect();
    let Some((c, sure)) = partial_slope(&points) else {
        return Vec::new();
    };
    let mut with: Vec<f64> = points.iter().map(|p| p.1).collect();
    with.sort_by(f64::total_cmp);
    let high = with[with.len() * 9 / 10];
    let factor = (c * high).exp();
    let lost: f64 = (points.iter())
        .map(|p| p.2.exp() * (1.0 - (-c * p.1).exp()))
        .sum();
    if sure < SURE || factor < SLOWER || lost < LOST * f.all_ns {
        return Vec::new();
    }
    let best = (1.0 / c).round().max(1.0);
    let workers = f.cpus() as f64;
    let advice = match best < workers {
        true => format!(
            "At this rate {} at a time would do most: --subtree-workers {best:.0} lets the other workers do something else.",
            plural(best as usize, "subtree", "subtrees")
        ),
        false => "Still, all workers in subtrees do more than fewer would; --subtree-workers helps if there is other work to \
                  be done beside them."
            .to_owned(),
    };
    let mut slowest: Vec<_> = tasks
        .iter()
        .map(|t| (company(t) * duration_ns(t) as f64, *t))
        .collect();
    slowest.sort_by(|a, b| b.0.total_cmp(&a.0));
    let from = tasks.iter().map(|t| t.start_ns).min().unwrap_or(0);
    let to = tasks.iter().map(|t| t.end_ns).max().unwrap_or(0);
    vec![Hint {
        rule: RULE.name,
        severity: Severity::Cause,
        title: "Subtrees slowed each other down".to_owned(),
        text: format!(
            "Tasks that do whole subtrees took the longer the more of them ran: small fronts move much memory for few operations, and \
             share what the memory can give. {advice}"
        ),
        evidence: vec![
            Fact::new(
                "Each further subtree",
                format!("{} as long", times(c.exp())),
            )
            .note(format!(
                "{sure:.0} standard errors, {}",
                plural(points.len(), "task", "tasks")
            )),
            Fact::new(
                "With most company",
                format!("{} as long as alone", times(factor)),
            )
            .note(format!("{high:.1} others at the same time")),
            Fact::new("Lost in them", time(lost))
                .note(format!("{} of the workers' time", percent(lost / f.all_ns))),
        ],
        place: Some(
            Place::of("tree")
                .time(f, (from, to))
                .tasks(slowest.iter().map(|s| s.1.task))
                .nodes(slowest.iter().map(|s| s.1.node)),
        ),
        part: lost / f.all_ns,
    }]
}
