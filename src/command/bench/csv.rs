//! The outcome as CSV: a line per run, units in the names of the columns, nothing where a value does not exist.

use super::measure::{Measured, Purpose, Sample};
use super::variant::{AXES, BOUNDS, NO_BOUND};
use super::{Outcome, Plan};

/// The names of the columns. More may come, at the end.
pub const HEADER: &str = "matrix,rows,cols,entries,position,purpose,repetition,scheduler,threads,workers,\
factorize_s,wall_s,tasks_s,runtime_s,idle_s,work_flop,speed_gflop_per_s,occupancy_ratio,peak_bytes,\
tasks_count,efficiency_ratio,granularity_ratio,task_ratio,pipeline_ratio,runtime_ratio,dropped_records_count,\
memory_limit,subtree_workers_count,window_count,sequential_peak_bytes,devices_count,time_scale_ratio,solve_s,precision,rank,fallback";

/// The header and all runs. Matrices that failed have none.
pub fn lines(plan: &Plan, outcomes: &[Outcome]) -> String {
    let mut text = format!("{HEADER}\n");
    for outcome in outcomes {
        let a = outcome.problem.pattern();
        let matrix = quoted(&outcome.problem.source().to_string());
        let matrix = format!("{matrix},{},{},{}", a.nrows(), a.ncols(), a.nnz());
        if let Ok((measured, _)) = &outcome.done {
            for sample in &measured.samples {
                text.push_str(&line(plan, &matrix, sample, measured));
                text.push('\n');
            }
        }
    }
    text
}

fn line(plan: &Plan, matrix: &str, s: &Sample, measured: &Measured) -> String {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let split = &s.split;
    let efficiency = (s.purpose == Purpose::Measure).then(|| measured.efficiency(split, s.threads));
    let factors = efficiency.map_or([None; 5], |e| {
        [e.product(), e.granularity, e.task, e.pipeline, e.runtime]
    });
    let factors = factors.map(|f| f.map_or(String::new(), |f| f.to_string()));
    let variant = s.variant.map(|number| &plan.variants[number]);
    let told: Vec<&str> = AXES
        .iter()
        .map(|axis| variant.map_or(NO_BOUND, axis.text))
        .map(|text| if text == NO_BOUND { "" } else { text })
        .collect();
    let (bounds, others) = told.split_at(BOUNDS);
    let devices = match s.purpose {
        Purpose::Measure => plan.devices.len() + plan.accelerators.len(),
        _ => 0,
    };
    let cells = [
        matrix.to_owned(),
        s.position.to_string(),
        s.purpose.name().to_owned(),
        s.repetition.to_string(),
        s.scheduler.to_owned(),
        s.threads.to_string(),
        split.workers.to_string(),
        s.time.as_secs_f64().to_string(),
        seconds(split.wall_ns).to_string(),
        seconds(split.tasks_ns).to_string(),
        seconds(split.runtime_ns).to_string(),
        seconds(split.idle_ns).to_string(),
        s.flops.to_string(),
        s.gflops().to_string(),
        s.occupancy.to_string(),
        s.peak_bytes.to_string(),
        s.tasks.to_string(),
        factors.join(","),
        s.dropped.to_string(),
        bounds.join(","),
        s.sequential_peak_bytes.to_string(),
        devices.to_string(),
        s.time_scale.to_string(),
        s.solve.as_secs_f64().to_string(),
        others.join(","),
        s.fallback.unwrap_or_default().to_owned(),
    ];
    cells.join(",")
}

/// A cell that may hold anything (RFC 4180).
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must() {
        assert_eq!(quoted("gallery:lp-10"), "gallery:lp-10");
        assert_eq!(quoted("a,\"b\".mtx"), "\"a,\"\"b\"\".mtx\"");
    }
}
