//! Runs into figures: medians, spreads and efficiencies of each combination, and which one is the fastest.

use super::Plan;
use super::measure::{Measured, Purpose, Sample};
use super::statistics::{quantile, rank_sum_p};
use treeqr::profiling::{Efficiency, TimeSplit};

/// A difference that chance would make more often than this is none.
const CHANCE: f64 = 0.05;

/// How a combination stands beside the others with its number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The smallest median.
    Fastest,
    /// Slower in the median, but so many repetitions can't tell.
    NotTold,
    /// Slower.
    Slower,
    /// There is no other.
    Alone,
}

/// A scheduler with a number of threads and bounds.
#[derive(Clone, Debug)]
pub struct Compared {
    pub scheduler: &'static str,
    pub threads: usize,
    /// Which of the plan's.
    pub variant: usize,
    /// Wall times of the factorization (with the solve, where the plan says so), sorted, in seconds.
    pub times_s: Vec<f64>,
    /// The run in the middle; of an even number the faster of the two.
    pub median_run: Sample,
    /// Of the run in the middle.
    pub efficiency: Efficiency,
    /// The largest of all runs.
    pub peak_bytes: u64,
    /// Median time on one thread over that on all, where both were measured.
    pub speedup: Option<f64>,
    pub standing: Standing,
}

impl Compared {
    /// Seconds.
    pub fn median_s(&self) -> f64 {
        quantile(&self.times_s, 0.5)
    }

    /// From the first to the third quartile, in seconds.
    pub fn quartiles_s(&self) -> (f64, f64) {
        (quantile(&self.times_s, 0.25), quantile(&self.times_s, 0.75))
    }

    /// The fastest and the slowest run, in seconds.
    pub fn range_s(&self) -> (f64, f64) {
        (quantile(&self.times_s, 0.0), quantile(&self.times_s, 1.0))
    }

    /// 10^9 floating-point operations per second at the median.
    pub fn gflops(&self) -> f64 {
        self.median_run.flops as f64 / self.median_s().max(1e-9) / 1e9
    }
}

/// All combinations, by number of threads and then in the order of the plan.
pub fn compare(plan: &Plan, measured: &Measured) -> Vec<Compared> {
    let mut all = Vec::new();
    for &threads in &plan.threads {
        let mut group = Vec::new();
        for entry in &plan.schedulers {
            let variants = 0..plan.variants.len();
            group.extend(variants.map(|v| combination(measured, entry.name, threads, v)));
        }
        judge(&mut group);
        all.extend(group);
    }
    speedups(&mut all);
    all
}

/// Compares each with the same on one thread.
fn speedups(all: &mut [Compared]) {
    let alone = all.iter().filter(|one| one.threads == 1);
    let alone: Vec<_> = alone
        .map(|one| (one.scheduler, one.variant, one.median_s()))
        .collect();
    for one in all.iter_mut().filter(|one| one.threads > 1) {
        let same = |other: &&(&str, usize, f64)| (other.0, other.1) == (one.scheduler, one.variant);
        let on_one = alone.iter().find(same);
        one.speedup = on_one.map(|(_, _, s)| s / one.median_s().max(1e-9));
    }
}

fn combination(
    measured: &Measured,
    scheduler: &'static str,
    threads: usize,
    variant: usize,
) -> Compared {
    let samples = measured.samples.iter();
    let mut mine: Vec<_> = samples
        .filter(|s| s.purpose == Purpose::Measure)
        .filter(|s| s.scheduler == scheduler && s.threads == threads && s.variant == Some(variant))
        .collect();
    mine.sort_by_key(|s| s.counted);
    let median_run = mine[(mine.len() - 1) / 2].clone();
    Compared {
        scheduler,
        threads,
        variant,
        speedup: None,
        times_s: mine.iter().map(|s| s.counted.as_secs_f64()).collect(),
        efficiency: measured.efficiency(&median_run.split, threads),
        peak_bytes: mine.iter().map(|s| s.peak_bytes).max().unwrap_or(0),
        median_run,
        standing: Standing::Alone,
    }
}

impl Measured {
    /// Median time in tasks of the runs on one worker, with the tasks for so many threads (t_t(1)).
    pub fn one_worker_ns(&self, threads: usize) -> Option<u64> {
        let runs = self
            .samples
            .iter()
            .filter(|s| s.purpose == Purpose::OneWorker);
        median_tasks_ns(runs.filter(|s| s.threads == threads))
    }

    /// Median time in tasks of the runs with all fronts whole (t_t(ref)).
    pub fn coarsest_ns(&self) -> Option<u64> {
        let runs = self.samples.iter();
        median_tasks_ns(runs.filter(|s| s.purpose == Purpose::Coarsest))
    }

    /// The efficiency split of a run with so many threads.
    pub fn efficiency(&self, split: &TimeSplit, threads: usize) -> Efficiency {
        Efficiency::of(split, self.one_worker_ns(threads), self.coarsest_ns())
    }
}

fn median_tasks_ns<'a>(samples: impl Iterator<Item = &'a Sample>) -> Option<u64> {
    let mut times: Vec<f64> = samples.map(|s| s.split.tasks_ns as f64).collect();
    times.sort_by(f64::total_cmp);
    (!times.is_empty()).then(|| quantile(&times, 0.5).round() as u64)
}

/// Finds the fastest of a group, and who can't be told from it.
fn judge(group: &mut [Compared]) {
    if group.len() < 2 {
        return;
    }
    let by_median = |a: &&Compared, b: &&Compared| a.median_s().total_cmp(&b.median_s());
    let best = group.iter().min_by(by_median).expect("two at least");
    let (name, variant, best_s) = (best.scheduler, best.variant, best.times_s.clone());
    // Many comparisons find a difference by chance in one of them.
    let chance = CHANCE / (group.len() - 1) as f64;
    for one in group {
        one.standing = if (one.scheduler, one.variant) == (name, variant) {
            Standing::Fastest
        } else if rank_sum_p(&best_s, &one.times_s) > chance {
            Standing::NotTold
        } else {
            Standing::Slower
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Runs of `ms` milliseconds on two threads, 60 % of both workers' time in tasks, 20 % in the runtime.
    fn samples(purpose: Purpose, scheduler: &'static str, ms: &[u64]) -> Vec<Sample> {
        let sample = |(repetition, &ms): (usize, &u64)| Sample {
            purpose,
            repetition: repetition as u32,
            position: 0,
            scheduler,
            threads: 2,
            variant: (purpose == Purpose::Measure).then_some(0),
            time_scale: 1.0,
            time: Duration::from_millis(ms),
            solve: Duration::from_millis(1),
            counted: Duration::from_millis(ms),
            fallback: None,
            split: TimeSplit {
                workers: 2,
                wall_ns: ms * 1_000_000,
                tasks_ns: ms * 1_200_000,
                runtime_ns: ms * 400_000,
                idle_ns: ms * 400_000,
            },
            occupancy: 0.6,
            flops: 1_000_000_000,
            tasks: 7,
            peak_bytes: 100 + ms,
            sequential_peak_bytes: 100,
            dropped: 0,
        };
        ms.iter().enumerate().map(sample).collect()
    }

    fn times(scheduler: &'static str, ms: &[u64]) -> Compared {
        let samples = samples(Purpose::Measure, scheduler, ms);
        combination(&measured(samples), scheduler, 2, 0)
    }

    fn measured(samples: Vec<Sample>) -> Measured {
        let triplets = treeqr::Csc::from_triplets(1, 1, &[0], &[0], &[1.0_f64]).expect("valid");
        let options = treeqr::Options::default();
        let symbolic = treeqr::analyse(triplets.pattern(), &options).expect("valid");
        Measured { symbolic, samples }
    }

    #[test]
    fn a_combination_has_the_figures_of_its_runs() {
        let mut all = samples(Purpose::Measure, "ws", &[50, 20, 40, 30, 10]);
        all.extend(samples(Purpose::Measure, "lws", &[1]));
        all.extend(samples(Purpose::OneWorker, "sequential", &[15, 10, 900]));
        all.extend(samples(Purpose::Coarsest, "sequential", &[9, 12, 10]));
        let ws = combination(&measured(all), "ws", 2, 0);
        assert_eq!(ws.range_s(), (0.010, 0.050));
        assert_eq!(ws.quartiles_s(), (0.020, 0.040));
        assert_eq!((ws.median_s(), ws.median_run.repetition), (0.030, 3));
        assert_eq!(ws.peak_bytes, 150);
        assert!((ws.gflops() - 1.0 / 0.030).abs() < 1e-9);
        let close = |a: Option<f64>, b: f64| assert!((a.expect("a value") - b).abs() < 1e-12);
        close(ws.efficiency.granularity, 10.0 / 15.0);
        close(ws.efficiency.task, 15.0 / 30.0);
        close(ws.efficiency.pipeline, 0.8);
        close(ws.efficiency.runtime, 0.75);
    }

    #[test]
    fn speedup_is_over_the_same_on_one_thread() {
        let of = |scheduler, threads, variant, ms| Compared {
            threads,
            variant,
            ..times(scheduler, &[ms])
        };
        let mut all = [
            of("ws", 1, 0, 100),
            of("ws", 1, 1, 256),
            of("ws", 2, 1, 128),
            of("lws", 2, 0, 10),
        ];
        speedups(&mut all);
        assert_eq!(all.map(|one| one.speedup), [None, None, Some(2.0), None]);
    }

    #[test]
    fn of_an_even_number_the_faster_middle_run_stands_for_all() {
        let one = times("ws", &[40, 10, 20, 30]);
        assert_eq!((one.median_s(), one.median_run.repetition), (0.025, 2));
        assert_eq!(one.efficiency.product(), None);
    }

    #[test]
    fn who_is_slower_by_chance_is_not_told_from_the_fastest() {
        let mut group = [
            times("eager", &[20, 21, 22, 23, 24]),
            times("prio", &[10, 13, 14, 15, 16]),
            times("ws", &[11, 12, 13, 14, 15]),
        ];
        judge(&mut group);
        let standings = group.map(|one| one.standing);
        assert_eq!(
            standings,
            [Standing::Slower, Standing::NotTold, Standing::Fastest]
        );
    }

    #[test]
    fn three_repetitions_never_tell() {
        let mut group = [times("eager", &[100, 101, 102]), times("ws", &[1, 2, 3])];
        judge(&mut group);
        assert_eq!(group[0].standing, Standing::NotTold);
        let mut alone = [times("ws", &[1, 2, 3])];
        judge(&mut alone);
        assert_eq!(alone[0].standing, Standing::Alone);
    }
}
