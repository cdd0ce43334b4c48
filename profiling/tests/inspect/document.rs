//! The reference in docs/ is the one that the schema gives. After a change of the schema:
//! `UPDATE_DOCS=1 cargo test -p treeqr-profiling --test inspect document`.

use std::fs;
use std::path::{Path, PathBuf};
use treeqr_profiling::inspect::{sql_document, tables_document};

/// The case studies, in the order of the page.
const QUERIES: [&str; 7] = [
    "submission_thread",
    "buffer_flush",
    "denormals",
    "cache_misses",
    "memory_limit",
    "priorities",
    "cpu_gpu_split",
];

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

/// The page's part between two marks is `expected`, or becomes it where that is asked for.
fn compare(file: &Path, part: Option<&str>, expected: &str) {
    let text = fs::read_to_string(file).unwrap_or_default();
    let (before, found, after) = match part {
        None => ("", &*text, ""),
        Some(part) => {
            let (begin, end) = (
                format!("<!-- {part}: begin -->\n"),
                format!("<!-- {part}: end -->"),
            );
            let begin = text.find(&begin).expect("the page has the mark") + begin.len();
            let end = text.find(&end).expect("the page has the mark");
            (&text[..begin], &text[begin..end], &text[end..])
        }
    };
    if found == expected {
        return;
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        return fs::write(file, format!("{before}{expected}{after}")).unwrap();
    }
    panic!(
        "{} is not what it is made from; UPDATE_DOCS=1 cargo test -p treeqr-profiling --test inspect document",
        file.display()
    );
}

#[test]
fn the_empty_tables_are_those_of_the_schema() {
    compare(&docs().join("queries/tables.sql"), None, &sql_document());
}

/// One test for the page, since it may write it.
#[test]
fn the_page_has_the_schema_and_the_queries_that_are_run() {
    compare(
        &docs().join("trace-schema.md"),
        Some("tables"),
        &format!("{}\n", tables_document()),
    );
    let mut text = String::new();
    for name in QUERIES {
        let sql = fs::read_to_string(docs().join(format!("queries/{name}.sql"))).unwrap();
        // The first lines are a comment: a title, and what to look at.
        let comment: Vec<_> = sql.lines().take_while(|l| l.starts_with("--")).collect();
        let title = comment[0].trim_start_matches("--").trim();
        let about: Vec<_> = comment[1..]
            .iter()
            .map(|l| l.trim_start_matches("--").trim())
            .collect();
        let query: Vec<_> = sql.lines().skip(comment.len()).collect();
        let query = query.join("\n");
        text += &format!(
            "\n### {title}\n\n{}\n\n```sql\n{}\n```\n",
            about.join("\n"),
            query.trim()
        );
    }
    compare(
        &docs().join("trace-schema.md"),
        Some("queries"),
        &format!("{text}\n"),
    );
}

#[test]
fn every_column_and_word_is_explained() {
    let text = tables_document();
    for expected in [
        "### tasks",
        "| `start_ns` | uint64 | ns | When its codelet began; after `pop_ns` where it had to wait for data. |",
        "| `child` | uint32, or nothing |  | The front whose contribution block it copies or cleans. |",
        "`state` is one of",
        "* `memory_full`: The submission waited: a front's bytes were not free.",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    assert!(!text.contains("|  |\n"), "a column without a text");
}
