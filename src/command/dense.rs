//! What is told of dense rows and columns, in text and in JSON. Lines of A are counted from 1 there; those of the matrix that is
//! factorized are the other way round where A is wide.

use super::page::Page;
use super::units::{count, plural, si};
use serde_json::{Value, json};
use treeqr::Symbolic;

/// "row" and "column" as A has them.
fn lines(symbolic: &Symbolic) -> [&'static str; 2] {
    match symbolic.transposed() {
        false => ["row", "column"],
        true => ["column", "row"],
    }
}

/// The rows of the page; none where nothing is dense.
pub fn describe(page: &mut Page, symbolic: &Symbolic) {
    let [row, column] = lines(symbolic);
    let rows = symbolic.dense_rows();
    match (rows.len(), symbolic.dense_rows_why()) {
        (0, "") => {}
        (0, why) => page.prose("Dense", &format!("of the {row}s {why}")),
        (k, why) => {
            let lengths = entries(symbolic);
            let lengths = || rows.iter().map(|&i| lengths[i as usize]);
            let (least, most) = (lengths().min(), lengths().max());
            let text = format!(
                "{} of {} to {} entries split off, {}; {} to bring them in",
                plural(k, row, &format!("{row}s")),
                count(least.unwrap_or(0)),
                count(most.unwrap_or(0)),
                why,
                si(symbolic.update_flops() as f64, "flop"),
            );
            page.prose("Dense", &text);
        }
    }
    let columns = symbolic.dense_columns().len();
    if columns > 0 {
        let columns = plural(columns, column, &format!("{column}s"));
        let text = format!("{columns} with many entries eliminated last");
        page.row("Dense", &text);
    }
}

/// Entries of each row of the matrix that is factorized.
fn entries(symbolic: &Symbolic) -> Vec<usize> {
    let pattern = symbolic.pattern();
    if symbolic.transposed() {
        return (0..pattern.ncols()).map(|j| pattern.col(j).len()).collect();
    }
    let mut out = vec![0; pattern.nrows()];
    pattern.rowidx().iter().for_each(|&i| out[i as usize] += 1);
    out
}

/// Those that are split off: how many, which, and what they cost.
pub fn rows_json(symbolic: &Symbolic) -> Value {
    let rows = symbolic.dense_rows();
    json!({
        "count": rows.len(),
        "of": lines(symbolic)[0],
        "which": rows.iter().map(|i| i + 1).collect::<Vec<_>>(),
        "update_flops": symbolic.update_flops(),
        "why": symbolic.dense_rows_why(),
    })
}

/// Those that are eliminated last.
pub fn columns_json(symbolic: &Symbolic) -> Value {
    let columns = symbolic.dense_columns();
    json!({
        "count": columns.len(),
        "of": lines(symbolic)[1],
        "which": columns.iter().map(|j| j + 1).collect::<Vec<_>>(),
    })
}
