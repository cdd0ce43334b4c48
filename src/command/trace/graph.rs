//! `treeqr trace graph`: the task graph of a factorization as a trace without times. The same input gives the same bytes.

use super::super::failure::Failure;
use super::super::input::AnyProblem;
use super::super::page::{self, Page, TITLE};
use super::super::units::{count, si};
use super::args::GraphArgs;
use super::{failure, overwrite};
use serde_json::json;
use treeqr::profiling::trace::check_target;

use treeqr::{TraceNotes, analyse, fingerprint, graph_trace};

/// Analyses, and writes the graph.
pub fn run(args: &GraphArgs) -> Result<(), Failure> {
    let overwrite = overwrite(args.force);
    check_target(&args.output, overwrite).map_err(failure)?;
    let options = args.analysis.options()?;
    let problem = AnyProblem::read(&args.matrix)?;
    let about = |e: treeqr::Error| Failure::from(e).about(problem.source());
    let symbolic = analyse(problem.pattern(), &options).map_err(about)?;
    let shape = problem.shape(args.rhs, args.keep_q);
    let tree = &args.analysis.tree;
    let asked = json!({
        "threads": args.analysis.threads,
        "mb": tree.mb,
        "nb": tree.nb,
        "ib": tree.ib,
        "bh": tree.bh,
    });
    let notes = TraceNotes {
        matrix: problem.source().to_string(),
        fingerprint: match &problem {
            AnyProblem::Real(problem) => fingerprint(&problem.loaded.matrix),
            AnyProblem::Complex(problem) => fingerprint(&problem.loaded.matrix),
        },
        options: asked.as_object().expect("an object").clone(),
        ..TraceNotes::default()
    };
    let trace = graph_trace(&symbolic, shape, notes);
    let manifest = trace.write(&args.output, overwrite).map_err(failure)?;
    let mut page = Page::default();
    page.title("Written", &args.output.display().to_string());
    page.gap();
    page.row("Matrix", &problem.source().to_string());
    let (tasks, edges) = (trace.tables.graph.len(), trace.tables.dependencies.len());
    page.row(
        "Graph",
        &format!(
            "{TITLE}{}{TITLE:#} tasks, {} dependencies",
            count(tasks),
            count(edges)
        ),
    );
    let bytes: u64 = manifest.tables.iter().map(|t| t.bytes).sum();
    page.row("Size", &si(bytes as f64, "B"));
    page::print(&page.text())
}
