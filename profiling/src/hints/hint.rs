//! What a hint consists of, as a report's page takes it (`report/README.md`).

use super::findings::Findings;
use serde::Serialize;

/// One sentence or two about a run, with what they rest on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hint {
    /// Name of the rule.
    pub rule: &'static str,
    /// How sure it is, and how much it matters.
    pub severity: Severity,
    /// The hint in a few words.
    pub title: String,
    /// What was seen, why it costs time, and what to try.
    pub text: String,
    /// The figures.
    pub evidence: Vec<Fact>,
    /// Where to look.
    pub place: Option<Place>,
    /// Part of the workers' time that it explains, as far as that can be told, 0 to 1: hints are sorted by it.
    #[serde(skip)]
    pub part: f64,
}

/// How much a hint says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It cost time.
    Cause,
    /// It is to be known, or can only be suspected.
    Note,
}

/// A figure in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// What it is.
    pub label: String,
    /// How much.
    pub text: String,
    /// What to know of it.
    pub note: Option<String>,
}

impl Fact {
    /// A figure without a note.
    pub fn new(label: impl Into<String>, text: impl Into<String>) -> Self {
        Fact {
            label: label.into(),
            text: text.into(),
            note: None,
        }
    }

    /// The same with a note.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

/// Where a panel shows it. Times are nanoseconds since the beginning of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Name of the panel in [`PANELS`](crate::panels::PANELS).
    pub panel: Option<&'static str>,
    /// From when.
    pub from_ns: Option<u64>,
    /// To when.
    pub to_ns: Option<u64>,
    /// Tasks that show it best, the best first; at most [`Place::MOST`].
    pub tasks: Vec<u32>,
    /// Tree nodes in the same way.
    pub nodes: Vec<u32>,
}

impl Place {
    /// Of a list no more than so many are named.
    pub const MOST: usize = 20;

    /// A panel, all of its time.
    pub fn of(panel: &'static str) -> Self {
        Place {
            panel: Some(panel),
            ..Place::default()
        }
    }

    /// From one time of the trace to another.
    pub fn time(mut self, findings: &Findings<'_>, span: (u64, u64)) -> Self {
        let since = |t: u64| t.saturating_sub(findings.span_ns.0);
        (self.from_ns, self.to_ns) = (Some(since(span.0)), Some(since(span.1)));
        self
    }

    /// With these tasks.
    pub fn tasks(mut self, tasks: impl IntoIterator<Item = u32>) -> Self {
        self.tasks = tasks.into_iter().take(Self::MOST).collect();
        self
    }

    /// With these tree nodes, each once.
    pub fn nodes(mut self, nodes: impl IntoIterator<Item = u32>) -> Self {
        for node in nodes {
            if self.nodes.len() < Self::MOST && !self.nodes.contains(&node) {
                self.nodes.push(node);
            }
        }
        self
    }
}
