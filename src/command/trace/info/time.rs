//! The run as a whole, and where the time of its workers went.

use super::super::super::bars::{bar, split};
use super::super::super::page::{FAINT, Page, TITLE, WARN, WORK};
use super::super::super::units::{percent, plural, si, three, time};
use super::super::parts::{per_mille, tenths};
use std::time::Duration;
use treeqr::profiling::inspect::{Balance, PartBalance, WorkerBalance};
use treeqr::profiling::trace::Manifest;

/// Columns of a bar.
const BAR: usize = 24;
/// More workers than this are shown together only.
const WORKERS: usize = 32;
/// Where a worker's time goes, the codelets apart.
const PARTS: [&str; 6] = ["tasks", "asking", "idle", "asleep", "data", "runtime"];

pub fn whole(page: &mut Page, manifest: &Manifest, balance: &Balance) {
    let run = &manifest.run;
    let speed = balance.flops as f64 / (balance.makespan_ns.max(1)) as f64;
    let plain = |t: u64| time(ns(t)).trim_end().to_owned();
    let sum =
        |of: fn(&WorkerBalance) -> u64| balance.workers.iter().map(of).fold(0, u64::saturating_add);
    let (helping, of_all) = (sum(|w| w.helping_ns), sum(|w| w.time_ns).max(1));
    let helping = match helping {
        0 => String::new(),
        ns => format!(" ({} in others')", percent(ns as f64 / of_all as f64)),
    };
    page.row(
        "Run",
        &format!(
            "{TITLE}{}{TITLE:#} from {} on: {} by {}, scheduler {}",
            plain(balance.makespan_ns),
            plain(run.begin_ns),
            plural(balance.tasks as usize, "task", "tasks"),
            plural(balance.workers.len(), "worker", "workers"),
            run.scheduler,
        ),
    );
    page.row(
        "",
        &format!(
            "{}, {}; {} of the workers' time in tasks{helping}",
            si(balance.flops as f64, "flop"),
            si(1e9 * speed, "Flop/s"),
            percent(balance.occupancy),
        ),
    );
    if let [_, _, ..] = balance.parts[..] {
        for part in &balance.parts {
            page.row("", &told(part));
        }
    }
    if !run.devices.is_empty() {
        let devices = run.devices.join(", ");
        let text = match run.time_scale > 1.0 {
            true => format!(
                "emulated: {devices}; times are {} times those of the emulated machine",
                three(run.time_scale)
            ),
            false => format!("devices: {devices}"),
        };
        page.prose("", &text);
    }
    if let Some(limit) = run.memory_limit_bytes {
        page.row("", &format!("memory limit {}", si(limit as f64, "B")));
    }
    for (waited, what) in [
        (balance.window_full_ns, "tasks to become fewer"),
        (balance.memory_full_ns, "memory"),
    ] {
        if waited > 0 {
            page.row(
                "",
                &format!(
                    "the submission waited {} for {what}",
                    time(ns(waited)).trim_end()
                ),
            );
        }
    }
}

/// A run of the runtime.
pub fn told(part: &PartBalance) -> String {
    let speed = part.flops as f64 / part.makespan_ns.max(1) as f64;
    format!(
        "{} {}: {}, {}, scheduler {}",
        part.name,
        time(ns(part.makespan_ns)).trim_end(),
        plural(part.tasks as usize, "task", "tasks"),
        si(1e9 * speed, "Flop/s"),
        part.scheduler,
    )
}

/// The time of all workers: codelets first, then what was no task. The percentages add up to 100.
pub fn sums(page: &mut Page, manifest: &Manifest, balance: &Balance) {
    let sum = |of: &dyn Fn(&WorkerBalance) -> u64| {
        balance.workers.iter().map(of).fold(0, u64::saturating_add)
    };
    let mut parts: Vec<(&str, u64)> = Vec::new();
    for (k, name) in balance.codelets.iter().enumerate() {
        parts.push((name, sum(&|w| w.by_codelet_ns[k])));
    }
    parts.sort_by_key(|part| std::cmp::Reverse(part.1));
    let in_tasks = parts.len();
    for (k, name) in PARTS.iter().enumerate().skip(1) {
        let part = sum(&|w| split_of(w)[k]);
        if part > 0 {
            parts.push((rest(manifest, name), part));
        }
    }
    let shares = per_mille(&parts.iter().map(|p| p.1).collect::<Vec<_>>());
    let mut label = "Time";
    for (k, ((name, part), share)) in parts.iter().zip(shares).enumerate() {
        let style = if k < in_tasks { WORK } else { FAINT };
        let bar = bar(f64::from(share) / 1000.0, BAR);
        let line = format!(
            "{name:<14} {:>9} {:>7} %  {style}{}{style:#}",
            time(ns(*part)),
            tenths(share),
            bar.trim_end()
        );
        page.row(label, &line);
        label = "";
    }
}

/// What is in a part of a trace and is none of the others may be anything that was left out.
fn rest<'a>(manifest: &Manifest, name: &'a str) -> &'a str {
    match name {
        "runtime" if manifest.filtered.is_some() => "other",
        name => name,
    }
}

/// In the order of [`PARTS`].
fn split_of(w: &WorkerBalance) -> [u64; 6] {
    [
        w.executing_ns(),
        w.scheduling_ns,
        w.idle_ns,
        w.sleeping_ns,
        w.transferring_ns,
        w.runtime_ns,
    ]
}

pub fn workers(page: &mut Page, manifest: &Manifest, balance: &Balance) {
    let heads: String = PARTS
        .iter()
        .map(|part| format!(" {:>7}", rest(manifest, part)))
        .collect();
    page.row(
        "Workers",
        &format!("{FAINT}{:<8} {:<BAR$}{heads}{FAINT:#}", "%", ""),
    );
    let line = |name: &str, parts: [u64; 6]| {
        let shares = per_mille(&parts);
        let numbers: String = shares
            .iter()
            .map(|&share| format!(" {:>7}", tenths(share)))
            .collect();
        let waiting = shares[1..5].iter().sum::<u32>();
        let [t, r, i] = split([shares[0], shares[5], waiting].map(f64::from), BAR);
        let (t, r, i) = ("█".repeat(t), "▒".repeat(r), "░".repeat(i));
        format!("{name:<8} {WORK}{t}{WORK:#}{WARN}{r}{WARN:#}{FAINT}{i}{FAINT:#}{numbers}")
    };
    if balance.workers.len() <= WORKERS {
        for w in &balance.workers {
            page.row("", &line(&w.name, split_of(w)));
        }
    }
    if balance.workers.len() > 1 {
        let mut all = [0_u64; 6];
        for w in &balance.workers {
            all.iter_mut()
                .zip(split_of(w))
                .for_each(|(sum, part)| *sum = sum.saturating_add(part));
        }
        page.row("", &line("all", all));
    }
}

fn ns(t: u64) -> Duration {
    Duration::from_nanos(t)
}
