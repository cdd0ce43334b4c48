//! The progress bar of long work: flops done of flops predicted, on a terminal, after the first second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use treeqr::Progress;

use super::units;

/// Work that ends before this needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two looks at the counters.
const TICK: Duration = Duration::from_millis(100);
/// Flops are units of this, so that the bar's own arithmetic stays in range.
const FLOPS: u64 = 1000;

/// Shows what goes on until it is dropped. Nothing where the standard error is no terminal.
pub struct Bar {
    phases: Option<Sender<Phase>>,
    thread: Option<JoinHandle<()>>,
}

enum Phase {
    /// Without a measure.
    Named(&'static str),
    /// A factorization.
    Flops(Progress),
    /// Runs of a benchmark.
    Runs {
        name: String,
        done: usize,
        all: usize,
    },
}

impl Bar {
    /// Begins to wait for the first second to pass.
    pub fn new() -> Self {
        if !io::stderr().is_terminal() {
            return Bar {
                phases: None,
                thread: None,
            };
        }
        let (phases, received) = mpsc::channel();
        Bar {
            phases: Some(phases),
            thread: Some(thread::spawn(move || watch(&received))),
        }
    }

    /// A part of the work whose length nobody knows.
    pub fn phase(&self, name: &'static str) {
        self.send(Phase::Named(name));
    }

    /// The factorization.
    pub fn factorize(&self, progress: &Progress) {
        self.send(Phase::Flops(progress.clone()));
    }

    /// So many of all runs are done, and `name` comes next.
    pub fn runs(&self, name: String, done: usize, all: usize) {
        self.send(Phase::Runs { name, done, all });
    }

    fn send(&self, phase: Phase) {
        if let Some(phases) = &self.phases {
            // Without a watcher there is nothing to show.
            let _ = phases.send(phase);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.phases = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Draws until the other end is gone.
fn watch(phases: &Receiver<Phase>) {
    let begin = Instant::now();
    let mut phase_begin = begin;
    let mut last_drawn = begin;
    let mut phase = Phase::Named("");
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    loop {
        match phases.recv_timeout(TICK) {
            Ok(next) => {
                // The time left follows from all runs.
                if !matches!(next, Phase::Runs { done, .. } if done > 0) {
                    phase_begin = Instant::now();
                }
                phase = next;
                // Short phases must not keep it from being drawn.
                if begin.elapsed() < PATIENCE || last_drawn.elapsed() < TICK {
                    continue;
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if begin.elapsed() < PATIENCE => continue,
            Err(RecvTimeoutError::Timeout) => {}
        }
        last_drawn = Instant::now();
        if bar.is_hidden() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        match &phase {
            Phase::Named(name) => {
                bar.set_style(style("{spinner:.cyan} {msg}"));
                bar.set_message(*name);
            }
            Phase::Flops(progress) => {
                bar.set_style(style("factorize {bar:40.green/dim} {percent:>3} %  {msg}"));
                bar.set_length((progress.predicted_flops() / FLOPS).max(1));
                bar.set_position(progress.flops() / FLOPS);
                bar.set_message(outlook(progress, phase_begin.elapsed()));
            }
            Phase::Runs { name, done, all } => {
                bar.set_style(style(
                    "bench {bar:20.green/dim} {pos:>3} of {len} runs  {wide_msg}",
                ));
                bar.set_length(*all as u64);
                bar.set_position(*done as u64);
                let per_run = phase_begin.elapsed().div_f64((*done).max(1) as f64);
                let left = match done {
                    0 => String::new(),
                    done => format!(", {} left", whole_seconds(per_run * (all - done) as u32)),
                };
                bar.set_message(format!("{name}{left}"));
            }
        }
        bar.tick();
    }
    bar.finish_and_clear();
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .expect("the template is well formed")
        .progress_chars("█▉▊▋▌▍▎▏ ")
}

/// The speed so far, and when it will be over at this speed.
fn outlook(progress: &Progress, elapsed: Duration) -> String {
    let (done, all) = (progress.flops() as f64, progress.predicted_flops() as f64);
    let speed = units::si(done / elapsed.as_secs_f64(), "Flop/s");
    if done < 0.01 * all {
        return speed;
    }
    let left = elapsed.mul_f64(((all - done) / done).max(0.0));
    format!("{speed}, {} left", whole_seconds(left))
}

fn whole_seconds(t: Duration) -> String {
    match t.as_secs_f64().ceil() as u64 {
        s if s < 120 => format!("{s} s"),
        s if s < 7200 => format!("{} min", s / 60 + 1),
        s => format!("{} h", s / 3600 + 1),
    }
}
