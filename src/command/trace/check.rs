//! `treeqr trace check`: the rules that traces keep.

use super::super::failure::Failure;
use super::super::page::{self, BAD, FAINT, Page, WARN, WORK};
use super::super::units::{count, plural};
use super::args::CheckArgs;
use super::failure;
use serde_json::json;
use treeqr::profiling::inspect::{CHECKS, Finding, Severity, check};
use treeqr::profiling::trace::Trace;

/// Checks, and tells what was found.
pub fn run(args: &CheckArgs) -> Result<(), Failure> {
    let Some(path) = args.trace.as_ref().filter(|_| !args.rules) else {
        return rules(args.json);
    };
    let trace = Trace::open(path).map_err(failure)?;
    let findings = check(&trace);
    let of = |severity| findings.iter().filter(|f| f.severity == severity).count();
    let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
    if args.json {
        let findings: Vec<_> = findings.iter().map(object).collect();
        let object = json!({
            "trace": path.to_string_lossy(),
            "rules": CHECKS.iter().map(|c| c.name).collect::<Vec<_>>(),
            "findings": findings,
            "errors": errors,
            "warnings": warnings,
            "version": treeqr::VERSION,
        });
        page::print(&format!("{object:#}\n"))?;
    } else {
        let mut page = Page::default();
        page.title("Checked", &path.display().to_string());
        page.gap();
        for f in &findings {
            let style = if f.severity == Severity::Error {
                BAD
            } else {
                WARN
            };
            let (severity, text) = (f.severity.name(), f.to_string());
            page.plain(&format!("  {style}{severity}{style:#}  {text}"));
        }
        if !findings.is_empty() {
            page.gap();
        }
        let rows: u64 = trace.manifest.tables.iter().map(|t| t.rows).sum();
        let (style, verdict) = match (errors, warnings) {
            (0, 0) => (WORK, "consistent".to_owned()),
            (0, n) => (
                WARN,
                format!("consistent, with {}", plural(n, "warning", "warnings")),
            ),
            (n, _) => (BAD, plural(n, "error", "errors")),
        };
        let size = format!("{} rules, {} rows", CHECKS.len(), count(rows));
        page.plain(&format!(
            "  {style}{verdict}{style:#} {FAINT}({size}){FAINT:#}"
        ));
        page::print(&page.text())?;
    }
    match errors {
        0 => Ok(()),
        n => Err(
            Failure::input(format!("{} found", plural(n, "error", "errors"))).about(path.display()),
        ),
    }
}

fn object(f: &Finding) -> serde_json::Value {
    json!({
        "rule": f.rule,
        "severity": f.severity.name(),
        "table": f.table,
        "row": f.row,
        "message": f.message,
    })
}

fn rules(json: bool) -> Result<(), Failure> {
    if json {
        let rules: Vec<_> = CHECKS
            .iter()
            .map(|c| json!({"name": c.name, "about": c.about}))
            .collect();
        return page::print(&format!("{:#}\n", json!({"rules": rules})));
    }
    let mut page = Page::default();
    CHECKS.iter().for_each(|c| page.prose(c.name, c.about));
    page::print(&page.text())
}
