//! The steps of the whole program over time, those inside others below them: before the run, and after it.

use super::axis::time;
use super::spans::{Kind, Lane, RowSpan, Rows, Style};
use super::subject::Subject;
use super::{Drawing, PanelEntry};
use crate::palette;
use std::collections::HashMap;

pub(super) const ENTRY: PanelEntry = PanelEntry {
    name: "phases",
    about: "the steps of the whole program, from reading to the solution",
    drawing: Drawing::Rows(rows),
};

fn rows(subject: &Subject<'_>) -> Rows {
    let mut rows = Rows::new("Steps of the program", Style::Named);
    let phases = &subject.trace.tables.phases;
    let begin = subject.begin_ns as f64;
    let spans = phases.iter().map(|phase| {
        let (from, to) = (phase.start_ns as f64, phase.end_ns as f64);
        (phase, from - begin, to.max(from) - begin)
    });
    let spans: Vec<_> = spans.collect();
    let ends = spans
        .iter()
        .fold((0.0_f64, subject.last_ns as f64), |(a, b), s| {
            (a.min(s.1), b.max(s.2))
        });
    if spans.is_empty() || ends.0 >= ends.1 {
        return rows.without("The trace does not say what steps the program had.");
    }
    rows.axis = Some(ends);
    let parents: HashMap<&str, Option<&str>> = phases
        .iter()
        .map(|phase| (phase.phase.as_str(), phase.part_of.as_deref()))
        .collect();
    for (phase, from, to) in spans {
        let lane = level(&parents, phase.part_of.as_deref());
        let kind = rows.kinds.len();
        rows.kinds.push(Kind {
            name: format!("{} {}", phase.phase, time(to - from)),
            colour: palette::series(kind),
        });
        rows.spans.push(RowSpan {
            lane,
            kind,
            from,
            to,
        });
    }
    let deepest = rows.spans.iter().map(|span| span.lane).max().unwrap_or(0);
    let lane = |k: usize| Lane {
        name: match k {
            0 => "program".to_owned(),
            1 => "steps inside".to_owned(),
            _ => String::new(),
        },
        note: String::new(),
    };
    rows.lanes = (0..=deepest).map(lane).collect();
    rows
}

/// How many steps a step is inside of. Names may be anything: no more than there are steps.
fn level<'p>(parents: &HashMap<&'p str, Option<&'p str>>, mut part_of: Option<&'p str>) -> usize {
    let mut level = 0;
    while let (Some(name), true) = (part_of, level < parents.len()) {
        level += 1;
        part_of = parents.get(name).copied().flatten();
    }
    level
}
