//! What the solver's codelets, tasks and fronts are in a trace.
//!
//! Takes what the solver says of them; gives rows and parts of rows. Knows no recording.

use treeqr_profiling::trace::{TaskMeaning, schema};
use treeqr_solver::{Symbolic, TaskGeometry, TaskGraph};

/// What the codelet of this name does for its front.
pub(super) fn role(name: &str) -> schema::Role {
    match name {
        "init_front" => schema::Role::Activate,
        "init_block" | "block_copy" => schema::Role::Assemble,
        "do_subtree" => schema::Role::Subtree,
        "clean_front" => schema::Role::Clean,
        "geqrt" | "gemqrt" | "tpqrt" | "tpmqrt" => schema::Role::Compute,
        _ => schema::Role::Solve,
    }
}

pub(super) fn meaning(of: TaskGeometry) -> TaskMeaning {
    TaskMeaning {
        panel: of.panel,
        tile_row: of.tile_row,
        tile_col: of.tile_col,
        child: of.child,
        rows: of.rows,
        cols: of.cols,
        inner: of.inner,
        coefficients: of.entries,
    }
}

pub(super) fn fronts(symbolic: &Symbolic, graph: &TaskGraph<'_>) -> Vec<schema::Front> {
    let fronts = symbolic.fronts();
    let flops = graph.front_flops();
    let mut depth = vec![1; fronts.len()];
    // Parents come after their children.
    for f in (0..fronts.len()).rev() {
        if let Some(parent) = fronts[f].parent {
            depth[f] = depth[parent as usize] + 1;
        }
    }
    let row = |(f, front): (usize, &treeqr_solver::Front)| {
        let tiles = graph.front_tiles(f);
        let task_node = symbolic.task_node(f);
        schema::Front {
            node: f as u32,
            parent: front.parent,
            depth: depth[f],
            kind: match (tiles, task_node as usize == f) {
                (Some(_), _) => schema::FrontKind::Tiled,
                (None, true) => schema::FrontKind::GroupTop,
                (None, false) => schema::FrontKind::Grouped,
            },
            task_node,
            rows: front.m,
            cols: front.n,
            pivots: front.npiv,
            cb_rows: front.cb_rows,
            tile_rows: tiles.map(|t| t.rows),
            tile_cols: tiles.map(|t| t.cols),
            inner_block: tiles.map(|t| t.inner_block),
            flat_height: tiles.map(|t| t.flat_height),
            flops: flops[f],
        }
    };
    fronts.iter().enumerate().map(row).collect()
}
