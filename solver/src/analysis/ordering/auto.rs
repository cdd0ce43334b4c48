//! Chooses between COLAMD and nested dissection by predicted time, what the ordering costs included.
//!
//! COLAMD is cheap and often enough. METIS needs the graph of W22' W22 and a time that grows with its edges; it is tried
//! when the factorization that COLAMD predicts is long enough for that to pay.

use super::{Ordered, OrderingInput, colamd, graph, metis};
use crate::analysis::counts::{RowsByFirst, row_counts};
use crate::analysis::etree::{NONE, postordered_etree};
use crate::error::AnalyseError;
use treeqr_matrices::Pattern;

/// Fixed figures, so that the choice does not depend on the machine: time of one flop of a factorization, of one edge in
/// nested dissection and of one vertex in it, in ns. They need only be right within a factor of two.
const NS_PER_FLOP: f64 = 1.0 / 30.0;
const NS_PER_EDGE: f64 = 60.0;
const NS_PER_VERTEX: f64 = 3000.0;

pub(super) fn order(input: &OrderingInput<'_>) -> Result<Ordered, AnalyseError> {
    let n = input.cols.ncols();
    let by_colamd = colamd::permutation(input)?;
    let colamd_flops = estimate_flops(input.cols, input.rows, &by_colamd);
    let edges = graph::work(input) as f64;
    let metis_ns = NS_PER_EDGE * edges.min(n as f64 * n as f64) + NS_PER_VERTEX * n as f64;
    let colamd_ns = NS_PER_FLOP * colamd_flops;
    if colamd_ns < metis_ns {
        let why = format!(
            "COLAMD predicts {}flops, less work than a nested dissection would take",
            si(colamd_flops)
        );
        return Ok(Ordered {
            order: by_colamd,
            name: "colamd",
            why,
        });
    }
    let by_metis = match metis::permutation(input) {
        Ok(order) => order,
        Err(e) => {
            return Ok(Ordered {
                order: by_colamd,
                name: "colamd",
                why: format!("METIS was not possible: {e}"),
            });
        }
    };
    let metis_flops = estimate_flops(input.cols, input.rows, &by_metis);
    let (order, name) = if metis_flops < colamd_flops {
        (by_metis, "metis")
    } else {
        (by_colamd, "colamd")
    };
    let why = format!(
        "about {}flops with METIS, {}flops with COLAMD",
        si(metis_flops),
        si(colamd_flops)
    );
    Ok(Ordered { order, name, why })
}

fn si(x: f64) -> String {
    let (scale, prefix) = match x {
        x if x >= 1e12 => (1e12, "T"),
        x if x >= 1e9 => (1e9, "G"),
        x if x >= 1e6 => (1e6, "M"),
        x if x >= 1e3 => (1e3, "k"),
        _ => (1.0, ""),
    };
    format!("{:.2} {prefix}", x / scale)
}

/// Flops of the factorization with this column order, roughly: column k costs 4 |H(:, k)| |R(k, :)|, where H has the
/// rows that start at k and what the children of k leave of theirs. Good for comparing orderings. O(nnz), nearly.
pub(crate) fn estimate_flops(cols: &Pattern, rows: &Pattern, order: &[u32]) -> f64 {
    let n = order.len();
    let (order, parent) = postordered_etree(cols, order);
    let mut place = vec![0u32; n];
    for (k, &j) in order.iter().enumerate() {
        place[j as usize] = k as u32;
    }
    let first: Vec<u32> = (0..rows.ncols())
        .map(|i| {
            rows.col(i)
                .iter()
                .map(|&j| place[j as usize])
                .min()
                .expect("no empty row")
        })
        .collect();
    let by_first = RowsByFirst::new(n, &first);
    let counts = row_counts(&parent, &by_first, |i| {
        rows.col(i as usize).iter().map(|&j| place[j as usize])
    });
    let mut height: Vec<f64> = (0..n).map(|k| by_first.of(k).len() as f64).collect();
    let mut flops = 0.0;
    for k in 0..n {
        let width = f64::from(counts[k]);
        flops += 4.0 * height[k] * width;
        if parent[k] != NONE {
            height[parent[k] as usize] += (height[k] - 1.0).max(0.0).min(width - 1.0);
        }
    }
    flops
}
