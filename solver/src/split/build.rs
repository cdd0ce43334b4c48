//! K, Q2, Y and T from the factors of S, and from all that the rank of W.

use super::Split;
use super::pivoted::Pivoted;
use crate::error::SolveError;
use crate::numeric::{FactorOptions, FactorScalar, Factors};
use crate::rank::{
    Deficient, NullSpace, Rank, Runner, default_tolerance, largest_column, rank_deficient,
};
use crate::solve::SolveOptions;
use treeqr_kernels::{MatMut, Stair, front_qr, front_qr_scratch};
use treeqr_matrices::{Csc, RealScalar, norm2};
use treeqr_runtime::Observer;

/// What rounding leaves of a dependent column, in parts of eps times the largest norm of a column.
const ROUNDING: f64 = 100.0;

/// With what options the rank of S is looked at. That S lacks rank says nothing of W yet; but a pivot that is rounding must not
/// live, whatever is asked of W.
pub(crate) fn sparse_options<T: FactorScalar>(
    a: &Csc<T>,
    transposed: bool,
    options: &FactorOptions,
) -> FactorOptions {
    let epsilon = <T::Real as RealScalar>::EPSILON.to_f64();
    let rounding = ROUNDING * epsilon * largest_column(a, transposed);
    FactorOptions {
        tolerance: options.tolerance.map(|t| t.max(rounding)),
        deficient: Deficient::Basic,
        ..options.clone()
    }
}

/// Rows of W as they are in A: entries (column of W, value).
fn rows_of<T: FactorScalar>(a: &Csc<T>, rows: &[u32], transposed: bool) -> Vec<Vec<(u32, T)>> {
    if transposed {
        let row = |&i: &u32| {
            let (columns, values) = a.col(i as usize);
            let each = columns.iter().zip(values);
            each.map(|(&j, v)| (j, v.conj())).collect()
        };
        return rows.iter().map(row).collect();
    }
    let mut number = vec![usize::MAX; a.nrows()];
    rows.iter()
        .enumerate()
        .for_each(|(k, &i)| number[i as usize] = k);
    let mut out = vec![Vec::new(); rows.len()];
    for j in 0..a.ncols() {
        let (idx, values) = a.col(j);
        for (&i, &v) in idx.iter().zip(values) {
            if let Some(row) = out.get_mut(number[i as usize]) {
                row.push((j as u32, v));
            }
        }
    }
    out
}

/// Brings the dense rows of `a` into the factors of the rest: they then are those of W. `b` are the right-hand sides that the
/// factorization was given.
///
/// Without dense rows nothing happens.
///
/// # Errors
/// [`SolveError::RankDeficient`] where the options ask for it, [`SolveError::Overflow`], and whatever ends a run.
pub(crate) fn bring_in<T: FactorScalar, O: Observer>(
    factors: &mut Factors<T>,
    a: &Csc<T>,
    b: &[T],
    options: &FactorOptions,
    observer: &O,
) -> Result<(), SolveError> {
    let symbolic = factors.symbolic.clone();
    if symbolic.dense_rows.is_empty() {
        return Ok(());
    }
    let (n, k) = (symbolic.work_cols(), symbolic.dense_rows.len());
    let _span = tracing::info_span!("dense rows", rows = k).entered();
    let transposed = symbolic.transposed;
    let solve = SolveOptions::from(options);
    let order: Vec<u32> = symbolic.column_order().collect();
    let dead_places = factors.deficiency.as_ref().map_or(&[][..], |d| &d.dead);
    let mut is_dead = vec![false; n];
    dead_places.iter().for_each(|&p| is_dead[p as usize] = true);
    let live: Vec<u32> = (0..n as u32).filter(|&p| !is_dead[p as usize]).collect();
    let dead: Vec<u32> = dead_places.iter().map(|&p| order[p as usize]).collect();
    let (nl, d) = (live.len(), dead.len());

    let rows = rows_of(a, &symbolic.dense_rows, transposed);
    let mut adjoint = vec![T::zero(); n * k];
    for (row, entries) in adjoint.chunks_exact_mut(n).zip(&rows) {
        entries
            .iter()
            .for_each(|&(j, v)| row[j as usize] = v.conj());
    }
    let kh = factors.sparse_solve_r_adjoint(&adjoint, k, &solve, &())?;
    // K^H and I, and beside them F and -D of the dead columns.
    let m = nl + k;
    let mut block = vec![T::zero(); m * (k + d)];
    let (left, fd) = block.split_at_mut(m * k);
    let columns = left.chunks_exact_mut(m).zip(kh.chunks_exact(n));
    for (i, (column, kh)) in columns.enumerate() {
        for (to, &p) in column.iter_mut().zip(&live) {
            *to = kh[p as usize];
        }
        column[nl + i] = T::one();
    }
    factors.put_dead_parts(fd, m);
    for (e, to) in fd.chunks_exact_mut(m).enumerate() {
        let row = adjoint.chunks_exact(n);
        for (to, row) in to[nl..].iter_mut().zip(row) {
            *to = -row[dead[e] as usize].conj();
        }
    }
    drop((adjoint, kh));
    let ends: Vec<u32> = (0..k).map(|i| (nl + i + 1) as u32).collect();
    let mut tau = vec![T::zero(); k];
    let mut scratch = vec![T::zero(); front_qr_scratch::<T>(m, k, d)];
    let view = MatMut::new(&mut block, m, k + d, m);
    front_qr(view, k, Stair::Rows(&ends), &mut tau, &mut scratch);
    // K is as large as W is far from S: it may not be a number any more.
    if let Some(i) = (0..k).find(|&i| !block[i * m..=i * m + i].iter().all(|v| v.is_finite())) {
        return Err(SolveError::Overflow {
            what: if transposed { "column" } else { "row" },
            index: symbolic.dense_rows[i] as usize + 1,
        });
    }
    let (left, fd) = block.split_at(m * k);
    let mut v = Vec::with_capacity(nl * k);
    for (i, column) in left.chunks_exact(m).enumerate() {
        v.extend_from_slice(&column[i + 1..nl + i + 1]);
    }

    let of_sparse = factors.rank_details().clone();
    let default = default_tolerance(a, largest_column(a, transposed));
    let tolerance = options.tolerance.unwrap_or(default).max(0.0);
    let top = fd.chunks_exact(m).flat_map(|c| &c[..k]).copied().collect();
    // T has the rounding errors of solves with R: more than the default tolerance allows for. One of the user's is what it is.
    let doubt = match options.tolerance {
        Some(_) => tolerance,
        None => Rank::DOUBT * tolerance,
    };
    let t = Pivoted::new(top, k, d, tolerance, doubt);
    let mut y = Vec::with_capacity(nl * d);
    for &e in t.order() {
        y.extend_from_slice(&fd[e as usize * m + k..(e as usize + 1) * m]);
    }
    drop(block);
    factors.split = Some(Box::new(Split {
        a: a.clone(),
        live,
        dead,
        v,
        ends,
        tau,
        y,
        t,
        null: None,
        b: b.to_vec(),
    }));
    let rank = rank_of(factors, of_sparse, largest_column(a, transposed), tolerance);
    if let (Some(&column), Deficient::Refuse) = (rank.dead.first(), options.deficient) {
        let split = factors.split.as_ref().expect("just made");
        return Err(rank_deficient(
            transposed,
            column,
            split.t.next_pivot(),
            tolerance,
        ));
    }
    let deficient = !rank.is_full();
    factors.rank = Some(rank);
    if deficient && (transposed || options.deficient == Deficient::MinimumNorm) {
        let vectors = factors.null_vectors()?;
        let runner = Runner::new(options, observer);
        let space = NullSpace::orthonormal(n, &vectors, &runner)?;
        if let Some(split) = &mut factors.split {
            split.null = Some(space);
        }
    }
    Ok(())
}

/// The rank of W, from that of S and from T.
fn rank_of<T: FactorScalar>(
    factors: &Factors<T>,
    sparse: Rank,
    largest: f64,
    tolerance: f64,
) -> Rank {
    let split = factors.split.as_ref().expect("there are dense rows");
    let t = &split.t;
    let mut dead: Vec<u32> = t.order()[t.rank()..]
        .iter()
        .map(|&e| split.dead[e as usize])
        .collect();
    dead.sort_unstable();
    let doubt = Rank::DOUBT * tolerance;
    let raised_from = sparse.raised_from.filter(|_| !dead.is_empty());
    let mut rank = Rank {
        rank: split.live.len() + t.rank(),
        dropped_norm: norm2(&[sparse.dropped_norm, t.dropped_norm()]),
        // Where that of S was raised, it is the one that decided.
        tolerance: match raised_from {
            Some(_) => tolerance.max(sparse.tolerance),
            None => tolerance,
        },
        raised_from,
        dead,
        condition: None,
        smallest_pivot: t.diagonal().fold(sparse.smallest_pivot, f64::min),
        doubtful: t.diagonal().filter(|&p| p < doubt).count(),
    };
    if sparse.doubtful > 0 || !rank.is_full() {
        let condition = largest * factors.inverse_norm(largest);
        rank.condition = Some(condition);
        // A small pivot of S is beyond doubt where D makes up for it.
        if condition.is_nan() || condition * doubt > largest {
            rank.doubtful += sparse.doubtful;
        }
    }
    rank
}
