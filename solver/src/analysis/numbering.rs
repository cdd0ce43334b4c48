//! The final order: children arranged for little memory, fronts in postorder, columns and rows numbered for good.
//!
//! Takes raw fronts; gives [`Front`]s with the maps by which children are assembled, and the rows of W in the order in
//! which the fronts read them.

use super::cleanup::Reduced;
use super::etree::{NONE, postorder};
use super::fronts::RawFront;
use super::own_rows;
use super::work::Work;
use crate::symbolic::{Front, Tree};
use rayon::prelude::*;

/// Children in Liu's order (On the storage requirement in the out-of-core multifrontal method, ACM TOMS 1986): those
/// whose peak exceeds by most what they leave behind come first. Counted in entries: a front as a dense block, what
/// stays of it as its part of R and its contribution block.
fn arrange_children(raw: &mut [RawFront]) {
    let mut peak = vec![0f64; raw.len()];
    let mut left = vec![0f64; raw.len()];
    for f in 0..raw.len() {
        let mut children = std::mem::take(&mut raw[f].children);
        let excess = |c: &u32| peak[*c as usize] - left[*c as usize];
        children.sort_by(|a, b| excess(b).total_cmp(&excess(a)).then(a.cmp(b)));
        let front = &raw[f];
        let (m, n, npiv) = (
            f64::from(front.m),
            front.cols.len() as f64,
            f64::from(front.npiv),
        );
        let cb = f64::from(front.cb_rows);
        let mut before = 0.0;
        let mut highest: f64 = 0.0;
        for &c in &children {
            highest = highest.max(before + peak[c as usize]);
            before += left[c as usize];
        }
        peak[f] = highest.max(before + m * n);
        let factors_below: f64 = children
            .iter()
            .map(|&c| left[c as usize] - contribution_entries(&raw[c as usize]))
            .sum();
        let r = npiv * n - 0.5 * npiv * npiv;
        left[f] = factors_below + r + cb * (n - npiv) - 0.5 * cb * cb;
        raw[f].children = children;
    }
}

fn contribution_entries(front: &RawFront) -> f64 {
    let cb = f64::from(front.cb_rows);
    cb * (front.cols.len() as f64 - f64::from(front.npiv)) - 0.5 * cb * cb
}

/// Numbers everything for good. `order[k]` is the column of W22 that the postordered tree calls k. O(entries of the
/// fronts' lists + nnz).
pub(crate) fn number(
    work: &Work,
    reduced: &Reduced,
    order: &[u32],
    mut raw: Vec<RawFront>,
) -> Tree {
    arrange_children(&mut raw);
    // Renumber so that a plain postorder (children increasing) visits the children as arranged.
    let post = arranged_postorder(&raw);
    let mut position = vec![0u32; order.len()];
    let mut col_order = Vec::with_capacity(order.len());
    for &f in &post {
        let front = &raw[f as usize];
        for &k in &front.cols[..front.npiv as usize] {
            position[k as usize] = col_order.len() as u32;
            col_order.push(reduced.col_ids[order[k as usize] as usize]);
        }
    }

    // A front that leaves no row may reach into several later trees, which do not come in the order of their columns any more. All its
    // rows, and those of the fronts below it, reach over these columns: the staircase is level there, whatever their order.
    raw.par_iter_mut().for_each(|front| {
        let npiv = front.npiv as usize;
        front.cols[npiv..].sort_by_key(|&k| position[k as usize]);
    });

    // The rows that fronts read have many entries, the fronts long lists: at the same time.
    let ((own, own_ends), mut tree) = rayon::join(
        || own_rows::number(work, reduced, order, &raw, &post),
        || fronts(reduced, order, &raw, &post, &position),
    );
    let mut own_start = 0;
    for (front, own_end) in tree.fronts.iter_mut().zip(own_ends) {
        (front.own_start, front.own_end) = (own_start, own_end);
        own_start = own_end;
    }
    Tree {
        col_order,
        own,
        ..tree
    }
}

/// The fronts in the order of `post`, with their lists and the maps of children into parents; without the order of the columns and without
/// the rows of W.
fn fronts(
    reduced: &Reduced,
    order: &[u32],
    raw: &[RawFront],
    post: &[u32],
    position: &[u32],
) -> Tree {
    let mut id = vec![0u32; raw.len()];
    for (new, &old) in post.iter().enumerate() {
        id[old as usize] = new as u32;
    }
    // Maps of a child into its parent are written when the parent is numbered: their place is reserved first.
    let mut rowmap_at = vec![0usize; raw.len()];
    let mut colmap_at = vec![0usize; raw.len()];
    let (mut rowmap_len, mut colmap_len) = (0, 0);
    for &f in post {
        let front = &raw[f as usize];
        rowmap_at[f as usize] = rowmap_len;
        colmap_at[f as usize] = colmap_len;
        rowmap_len += front.cb_rows as usize;
        colmap_len += front.cols.len() - front.npiv as usize;
    }
    let entries: usize = raw.iter().map(|f| f.cols.len()).sum();
    let mut tree = Tree {
        fronts: Vec::with_capacity(raw.len()),
        cols: Vec::with_capacity(entries),
        stairs: Vec::with_capacity(entries),
        rowmaps: vec![0; rowmap_len],
        colmaps: vec![0; colmap_len],
        ..Tree::default()
    };

    // place[k]: place of column k (of W22) in the front at hand.
    let mut place = vec![0u32; reduced.col_ids.len()];
    let mut next_row: Vec<u32> = Vec::new();
    // Of the children's rows, the place in the row maps and the column that they start in.
    let mut leads: Vec<(usize, u32)> = Vec::new();
    let mut pivots = 0u32;
    for &f in post {
        let front = &raw[f as usize];
        for (j, &k) in front.cols.iter().enumerate() {
            place[order[k as usize] as usize] = j as u32;
        }
        let place_of = |k: u32| place[order[k as usize] as usize];
        leads.clear();
        for &c in &front.children {
            let child = &raw[c as usize];
            let colmap = &mut tree.colmaps[colmap_at[c as usize]..];
            for (to, &k) in colmap.iter_mut().zip(&child.cols[child.npiv as usize..]) {
                *to = place_of(k);
            }
            let at = rowmap_at[c as usize];
            child.for_each_lead(|r, lead| {
                leads.push((at + r as usize, place_of(child.cols[lead as usize])));
            });
        }
        // Of the rows that start in a column, those of the children come last; rows of zeros are put in only where none starts.
        next_row.clear();
        next_row.extend_from_slice(&front.stair);
        for &(_, column) in &leads {
            next_row[column as usize] -= 1;
        }
        for &(at, column) in &leads {
            let slot = &mut next_row[column as usize];
            tree.rowmaps[at] = *slot;
            *slot += 1;
        }
        let at = tree.cols.len();
        tree.cols
            .extend(front.cols.iter().map(|&k| position[k as usize]));
        tree.stairs.extend_from_slice(&front.stair);
        tree.fronts.push(Front {
            parent: front.parent.map(|p| id[p as usize]),
            children: front.children.iter().map(|&c| id[c as usize]).collect(),
            first_pivot: pivots,
            npiv: front.npiv,
            n: front.cols.len() as u32,
            m: front.m,
            cb_rows: front.cb_rows,
            at,
            own_start: 0,
            own_end: 0,
            rowmap_at: rowmap_at[f as usize],
            colmap_at: colmap_at[f as usize],
        });
        pivots += front.npiv;
    }
    tree
}

/// Postorder of the forest with every front's children in their present order.
fn arranged_postorder(raw: &[RawFront]) -> Vec<u32> {
    // Relabel so that increasing labels mean the arranged order: label = place in a preorder.
    let mut label = vec![NONE; raw.len()];
    let mut by_label = Vec::with_capacity(raw.len());
    let mut stack: Vec<u32> = (0..raw.len() as u32)
        .rev()
        .filter(|&f| raw[f as usize].parent.is_none())
        .collect();
    while let Some(f) = stack.pop() {
        label[f as usize] = by_label.len() as u32;
        by_label.push(f);
        stack.extend(raw[f as usize].children.iter().rev());
    }
    let parent: Vec<u32> = by_label
        .iter()
        .map(|&f| raw[f as usize].parent.map_or(NONE, |p| label[p as usize]))
        .collect();
    postorder(&parent)
        .into_iter()
        .map(|l| by_label[l as usize])
        .collect()
}
