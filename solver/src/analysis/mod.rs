//! Analysis: from the pattern of A to all that a factorization needs to know beforehand.
//!
//! The steps, in the order in which the data flows; each file is one of them:
//!
//! ```text
//!   work -> dense -> cleanup -> ordering -> etree -> counts -> supernodes -> forest (fronts, amalgamate) -> pivots -> parts -> numbering
//!        -> partition -> groups
//! ```
//!
//! `limits` refuses what no run could count to. It reads the pattern only and is not generic over the scalar. Outside of the ordering the time is close to linear in
//! the entries of A and of the fronts' lists.

mod amalgamate;
pub(crate) mod block_flops;
pub(crate) mod cleanup;
mod counts;
pub(crate) mod dense;
mod etree;
mod forest;
mod fronts;
pub(crate) mod groups;
mod heap;
mod limits;
mod numbering;
#[cfg(test)]
mod oracle;
pub(crate) mod ordering;
mod own_rows;
pub(crate) mod partition;
mod parts;
mod pivots;
pub(crate) mod structure;
mod supernodes;
mod union;
pub(crate) mod work;

use crate::error::AnalyseError;
use crate::options::{DenseRows, Options};
use crate::symbolic::{Front, Symbolic, Tree};
use block_flops::BlockFlops;
use cleanup::Reduced;
use groups::Unit;
use ordering::{Order, OrderingInput};
use partition::Tiling;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use structure::{Outline, Structure};
use treeqr_matrices::Pattern;

/// Analyses the pattern of a matrix, on the threads of the rayon pool that it is called in.
///
/// ```
/// use std::sync::Arc;
/// use treeqr_matrices::Csc;
/// let a = Csc::from_triplets(3, 2, &[0, 1, 2, 2], &[0, 1, 0, 1], &[1.0, 1.0, 1.0, 1.0])?;
/// let symbolic = treeqr_solver::analyse(a.pattern(), &treeqr_solver::Options::default())?;
/// assert_eq!(symbolic.problem().name(), "least_squares");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`AnalyseError`] for an unknown ordering, an ordering that fails, a given order that is no permutation, tile sizes
/// that do not fit, a matrix without rows or columns, and one with more flops, entries or tasks than can be counted.
pub fn analyse(pattern: &Arc<Pattern>, options: &Options) -> Result<Symbolic, AnalyseError> {
    if pattern.nrows() == 0 || pattern.ncols() == 0 {
        return Err(AnalyseError::Empty {
            nrows: pattern.nrows(),
            ncols: pattern.ncols(),
        });
    }
    partition::check(options)?;
    limits::check_shape(pattern)?;
    let (rows, cols) = (pattern.nrows(), pattern.ncols());
    let _span = tracing::info_span!("analyse", rows, cols, entries = pattern.nnz()).entered();
    let mut steps = Steps::default();
    let asked = options.dense_rows;
    let (work, sets, reduced) = steps.run("clean-up", || {
        let work = tracing::debug_span!("rows").in_scope(|| work::Work::new(pattern));
        let mut sets = dense::candidates(&work, asked);
        // A number that is asked for is no question.
        let left_out = match asked {
            DenseRows::Count(_) => sets.pop().unwrap_or_default(),
            _ => Vec::new(),
        };
        let reduced = cleanup::reduce(&work, &left_out);
        (work, sets, (left_out, reduced))
    });
    let (mut dense_rows, mut reduced) = reduced;
    let mut dense_rows_why = match dense_rows.len() {
        0 => String::new(),
        _ => "as asked for".to_owned(),
    };
    let ncols = work.cols.ncols();
    let ordered = steps.run("ordering and fronts", || {
        let Some(split) = best_split(&work, sets, options)? else {
            return order_columns(&reduced, options, ncols);
        };
        let (flops, whole) = whole_beside(&split, &reduced, options, ncols)?;
        let (pays, why) = compare(flops, &split);
        dense_rows_why = why;
        match whole {
            Some(whole) if !pays => Ok(whole),
            _ => {
                (dense_rows, reduced) = (split.rows, split.reduced);
                Ok(split.ordered)
            }
        }
    })?;
    let dense_columns = ordered.dense_columns;
    let Structure { order, fronts } = ordered.structure;
    let tree = steps.run("numbering", || {
        numbering::number(&work, &reduced, &order, fronts)
    });
    let (flops, (tilings, (units, unit_of))) = steps.run("partition", || {
        let flops = block_flops::of(&tree);
        cut(&tree, &flops, options).map(|cut| (flops, cut))
    })?;
    tracing::info!(
        ordering = ordered.name,
        fronts = tree.fronts.len(),
        units = units.len(),
        "analysed"
    );
    let rows = pattern.nrows().max(pattern.ncols());
    let taken_in = reduced.singletons.len() + tree.own.row.len();
    let below = |front: &Front| front.m as usize - front.reflectors();
    Ok(Symbolic {
        rest_rows: rows - taken_in + tree.fronts.iter().map(below).sum::<usize>(),
        pattern: pattern.clone(),
        options: options.clone(),
        transposed: work.transposed,
        singletons: reduced.singletons,
        tree,
        flops: OnceLock::from(flops),
        tilings,
        units,
        unit_of,
        dense_rows,
        dense_rows_why,
        dense_columns,
        ordering: ordered.name,
        ordering_why: ordered.why,
        steps: steps.list,
        predicted: Default::default(),
    })
}

/// The tiles of all fronts, and the tasks' units with the unit of every front.
#[allow(clippy::type_complexity)] // three lists
fn cut(
    tree: &Tree,
    flops: &[BlockFlops],
    options: &Options,
) -> Result<(Vec<Option<Box<Tiling>>>, (Vec<Unit>, Vec<u32>)), AnalyseError> {
    let flops: Vec<u64> = flops.iter().map(|flops| flops.without_rhs).collect();
    limits::check_fronts(&tree.fronts, &flops)?;
    let tilings = partition::partition(tree, &flops, options)?;
    let units = groups::group(tree, &tilings, &flops, options.threads);
    limits::check_units(&tilings, units.0.len())?;
    Ok((tilings, units))
}

impl Symbolic {
    /// The same analysis with its fronts cut as `options` say: tiles and workers. What decides the fronts themselves is not asked again.
    ///
    /// # Errors
    /// As [`analyse`] for tiles.
    pub fn cut_again(&self, options: &Options) -> Result<Self, AnalyseError> {
        partition::check(options)?;
        let (tilings, (units, unit_of)) = cut(&self.tree, self.block_flops(), options)?;
        Ok(Symbolic {
            options: options.clone(),
            tilings,
            units,
            unit_of,
            ..self.clone()
        })
    }
}

/// W without some rows, analysed.
struct Split {
    rows: Vec<u32>,
    reduced: Reduced,
    ordered: Ordered,
    /// Of the parts, together.
    flops: f64,
}

/// The split with the least flops.
fn best_split(
    work: &work::Work,
    sets: Vec<Vec<u32>>,
    options: &Options,
) -> Result<Option<Split>, AnalyseError> {
    let n = work.cols.ncols();
    let mut best: Option<Split> = None;
    for rows in sets {
        let reduced = cleanup::reduce(work, &rows);
        let ordered = order_columns(&reduced, options, n)?;
        let flops = dense::flops(&ordered.structure, n, rows.len());
        if best.as_ref().is_none_or(|best| flops < best.flops) {
            best = Some(Split {
                rows,
                reduced,
                ordered,
                flops,
            });
        }
    }
    Ok(best)
}

/// What the whole matrix takes beside a split, in flops, and the matrix as it is then ordered; that is none where the split pays.
///
/// Rows that are dense tell an ordering nothing, and the order of the split is the best of several for the others: it is that of the whole, too, unless the columns as they come lead to
/// less work.
fn whole_beside(
    split: &Split,
    reduced: &Reduced,
    options: &Options,
    n: usize,
) -> Result<(f64, Option<Ordered>), AnalyseError> {
    if options.given_order.is_none() && options.ordering == ordering::AUTO {
        let singletons = split.reduced.singletons.iter().map(|s| s.col);
        let others = split.ordered.structure.order.iter();
        let others = others.map(|&k| split.reduced.col_ids[k as usize]);
        let as_split: Vec<u32> = singletons.chain(others).collect();
        let as_split = restrict(&as_split, &reduced.col_ids, n)?;
        let as_they_come: Vec<u32> = (0..reduced.col_ids.len() as u32).collect();
        let (as_split, natural) = rayon::join(
            || Outline::new(reduced, &as_split),
            || Outline::new(reduced, &as_they_come),
        );
        if as_split.flops() <= natural.flops() {
            let structure = as_split.build();
            let flops = dense::flops(&structure, n, 0);
            let whole = (!dense::pays(flops, split.flops)).then(|| {
                let told = ordering::flops(structure.flops());
                Ordered {
                    structure,
                    name: split.ordered.name,
                    why: format!("{told} with the order that is the best without the dense rows"),
                    dense_columns: split.ordered.dense_columns.clone(),
                }
            });
            return Ok((flops, whole));
        }
    }
    let whole = order_columns(reduced, options, n)?;
    Ok((dense::flops(&whole.structure, n, 0), Some(whole)))
}

/// Whether the split pays beside a whole of so many flops, and a sentence on that.
fn compare(whole: f64, split: &Split) -> (bool, String) {
    let figures = format!(
        "{} with them split off, {} without",
        ordering::flops(split.flops as u64),
        ordering::flops(whole as u64)
    );
    tracing::info!(rows = split.rows.len(), figures, "dense rows");
    if dense::pays(whole, split.flops) {
        return (true, figures);
    }
    (false, format!("{} stayed: {figures}", split.rows.len()))
}

/// An ordering and the fronts that it leads to.
struct Ordered {
    structure: Structure,
    name: &'static str,
    why: String,
    /// Columns of W that come last since they are dense.
    dense_columns: Vec<u32>,
}

/// The fronts for the column order that is given, or for the ordering asked for.
fn order_columns(
    reduced: &Reduced,
    options: &Options,
    ncols: usize,
) -> Result<Ordered, AnalyseError> {
    if let Some(given) = &options.given_order {
        let order = restrict(given, &reduced.col_ids, ncols)?;
        return Ok(Ordered {
            structure: Structure::new(reduced, &order),
            name: "given",
            why: String::new(),
            dense_columns: Vec::new(),
        });
    }
    let last = match options.ordering.as_str() {
        ordering::NATURAL => Vec::new(),
        _ => dense::columns(&reduced.cols),
    };
    let (sparse, left) = dense::without_columns(reduced, &last);
    let (cols, rows) = match &left {
        Some((cols, rows)) => (cols, rows),
        None => (&*reduced.cols, &*reduced.rows),
    };
    let outline = |order: Order<'_>| match order {
        Order::Tree(tree) if last.is_empty() => Outline::of_tree(reduced, tree),
        _ if last.is_empty() => Outline::new(reduced, order.columns()),
        _ => {
            let first = order.columns().iter().map(|&j| sparse[j as usize]);
            let order: Vec<u32> = first.chain(last.iter().copied()).collect();
            Outline::new(reduced, &order)
        }
    };
    let input = OrderingInput { cols, rows };
    let (structure, name, why) = if options.ordering == ordering::AUTO {
        ordering::choose(&input, outline)?
    } else {
        let entry = ordering::find(&options.ordering)?;
        let order = (entry.compute)(&input)?;
        let outline = outline(Order::Columns(&order));
        let structure = match entry.name {
            ordering::NATURAL => outline.build_in_order(),
            _ => outline.build(),
        };
        (structure, entry.name, String::new())
    };
    let mut dense_columns: Vec<u32> = last.iter().map(|&j| reduced.col_ids[j as usize]).collect();
    dense_columns.sort_unstable();
    Ok(Ordered {
        structure,
        name,
        why,
        dense_columns,
    })
}

/// A column order of W without the columns that are singletons, in the numbering of W22.
fn restrict(given: &[u32], col_ids: &[u32], ncols: usize) -> Result<Vec<u32>, AnalyseError> {
    let bad = |why: String| AnalyseError::BadPermutation { ncols, why };
    if given.len() != ncols {
        return Err(bad(format!("it has {} entries", given.len())));
    }
    let mut new = vec![u32::MAX; ncols];
    for (k, &j) in col_ids.iter().enumerate() {
        new[j as usize] = k as u32;
    }
    let mut seen = vec![false; ncols];
    let mut order = Vec::with_capacity(col_ids.len());
    for (k, &j) in given.iter().enumerate() {
        match seen.get_mut(j as usize) {
            None => return Err(bad(format!("entry {} is {}", k + 1, u64::from(j) + 1))),
            Some(true) => return Err(bad(format!("{} comes twice", j + 1))),
            Some(flag) => *flag = true,
        }
        if new[j as usize] != u32::MAX {
            order.push(new[j as usize]);
        }
    }
    Ok(order)
}

/// Wall times of the steps; a span each for whoever traces the program.
#[derive(Default)]
struct Steps {
    list: Vec<(&'static str, Duration)>,
}

impl Steps {
    fn run<R>(&mut self, name: &'static str, step: impl FnOnce() -> R) -> R {
        let _span = tracing::info_span!("step", name).entered();
        let begin = Instant::now();
        let result = step();
        self.list.push((name, begin.elapsed()));
        result
    }
}
