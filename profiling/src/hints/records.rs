//! Records that found no room, or were lost with their thread: what a report says is then about a part of the run.

use super::words::plural;
use super::{Fact, Findings, Hint, Rule, Severity};

pub(super) const RULE: Rule = Rule {
    name: "records_missing",
    about: "the recorder could not keep all it was given: figures are of a part of the run",
    find,
};

fn find(f: &Findings<'_>) -> Vec<Hint> {
    let recorder = &f.trace.manifest.recorder;
    let (dropped, threads) = (recorder.dropped_records, recorder.lost_threads);
    if dropped == 0 && threads == 0 {
        return Vec::new();
    }
    let all = recorder.records.saturating_add(dropped).max(1);
    let mut evidence = vec![Fact::new("Records dropped", format!("{dropped} of {all}"))];
    if threads > 0 {
        evidence.push(Fact::new(
            "Threads whose records were lost",
            threads.to_string(),
        ));
    }
    vec![Hint {
        rule: RULE.name,
        severity: Severity::Note,
        title: "The trace is incomplete".to_owned(),
        text: format!(
            "{} found no room. Tasks, memory or states are missing, so idle times and bounds are not those of the run. More \
             memory for records (--trace-memory), or room on the disk beside the trace, keeps them all.",
            plural(
                usize::try_from(dropped).unwrap_or(usize::MAX),
                "record",
                "records"
            )
        ),
        evidence,
        place: None,
        part: dropped as f64 / all as f64,
    }]
}
