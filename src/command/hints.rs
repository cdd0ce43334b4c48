//! Why a run took longer than it might have, as rows of a page. The rules are those of `profiling::hints`.

use super::page::{FAINT, Page, TITLE, WARN};
use treeqr::profiling::hints::{Hint, Severity, hints};
use treeqr::profiling::trace::Trace;

/// Adds a title, a text and figures for each hint; nothing where there is none.
pub fn rows(page: &mut Page, trace: &Trace) {
    let found = hints(trace);
    if found.is_empty() {
        return;
    }
    page.gap();
    for hint in &found {
        told(page, hint);
    }
}

fn told(page: &mut Page, hint: &Hint) {
    let style = match hint.severity {
        Severity::Cause => WARN,
        Severity::Note => TITLE,
    };
    let label = match hint.severity {
        Severity::Cause => "Hint",
        Severity::Note => "Note",
    };
    page.styled(label, &hint.title, style);
    page.prose("", &hint.text);
    let figures = hint.evidence.iter().map(|fact| match &fact.note {
        Some(note) => format!("{}: {} ({note})", fact.label, fact.text),
        None => format!("{}: {}", fact.label, fact.text),
    });
    let figures: Vec<_> = figures.collect();
    page.styled("", &figures.join("; "), FAINT);
}
