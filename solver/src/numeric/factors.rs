//! What a factorization leaves: R, the reflectors if they were kept, and Q^H b if there was a b.

use super::FactorScalar;
use super::factorize::check_pattern;
use crate::analysis::groups::Unit;
use crate::error::SolveError;
use crate::plan::{Layout, Plan, RunShape};
use crate::rank::{Deficiency, Rank};
use crate::split::Split;
use crate::symbolic::Symbolic;
use std::sync::{Arc, OnceLock};
use treeqr_matrices::Csc;
use treeqr_runtime::DataStore;
use twox_hash::XxHash64;

/// The factors of one matrix. They can be used from several threads at once.
pub struct Factors<T> {
    pub(crate) symbolic: Arc<Symbolic>,
    pub(crate) shape: RunShape,
    pub(crate) layout: Arc<Layout>,
    pub(crate) store: DataStore,
    /// Rows of W that are rows of R as they stand: per singleton its entries (column of W, value).
    pub(crate) singleton_rows: Vec<Vec<(u32, T)>>,
    /// Q^H b of the singletons: entries of b, a column after the other.
    pub(crate) singleton_rhs: Vec<T>,
    /// xxHash64 of the values of A, in the order of its entries.
    pub(crate) values_hash: u64,
    /// What is kept is R over 2 to this power: zero for matrices of ordinary numbers.
    pub(crate) exponent: i32,
    /// By right-hand side: what is kept is Q^H b over 2 to this power.
    pub(crate) rhs_exponents: Vec<i32>,
    pub(crate) entries: OnceLock<Vec<[u64; 2]>>,
    /// Found before anybody sees the factors; none when a refactorization failed, and then there are no factors.
    pub(crate) rank: Option<Rank>,
    /// What there is besides, where the rank is not full.
    pub(crate) deficiency: Option<Deficiency<T>>,
    /// Where dense rows are split off: how they are brought in. Rank apart, the other fields are those of the rest.
    pub(crate) split: Option<Box<Split<T>>>,
}

impl<T: FactorScalar> Factors<T> {
    /// The analysis that the factors belong to.
    pub fn symbolic(&self) -> &Arc<Symbolic> {
        &self.symbolic
    }

    /// Whether Q was kept.
    pub fn has_q(&self) -> bool {
        self.shape.keep_q
    }

    /// Right-hand sides that were given to the factorization.
    pub fn nrhs(&self) -> usize {
        self.shape.nrhs
    }

    /// Bytes that the factors take.
    pub fn bytes(&self) -> u64 {
        let deficiency = self.deficiency.as_ref().map_or(0, Deficiency::bytes);
        let split = self.split.as_ref().map_or(0, |split| split.bytes());
        self.store.bytes() + deficiency + split
    }

    /// Whether these are the factors of `a`: it has the pattern that was analysed, and the same values to the last bit. O(nnz).
    ///
    /// # Errors
    /// [`SolveError::OtherPattern`] and [`SolveError::OtherValues`].
    pub fn check_matrix(&self, a: &Csc<T>) -> Result<(), SolveError> {
        check_pattern(&self.symbolic, a)?;
        match hash_of_values(a) == self.values_hash {
            true => Ok(()),
            false => Err(SolveError::OtherValues),
        }
    }

    /// The rank, and what it was decided by.
    ///
    /// # Panics
    /// When the last refactorization failed.
    pub fn rank_details(&self) -> &Rank {
        self.rank
            .as_ref()
            .expect("there are no factors: the last refactorization failed")
    }

    /// The rank of A: its live pivots, rows of R.
    pub fn rank(&self) -> usize {
        self.rank_details().rank
    }

    /// Whether solutions are the shortest ones where the rank is not full, and not basic ones. A wide A has no others.
    pub fn gives_shortest(&self) -> bool {
        let of_split = self.split.as_ref().is_some_and(|s| s.is_projected());
        let of_second = self
            .deficiency
            .as_ref()
            .is_some_and(|d| d.complete.get().is_some());
        self.symbolic.transposed || of_split || of_second
    }

    /// See [`Rank::dead`].
    pub fn dead_columns(&self) -> &[u32] {
        &self.rank_details().dead
    }

    /// See [`Rank::dropped_norm`].
    pub fn dropped_norm(&self) -> f64 {
        self.rank_details().dropped_norm
    }

    /// Entries of R and of H, by front.
    pub(crate) fn entries(&self) -> &[[u64; 2]] {
        self.entries.get_or_init(|| {
            let fronts = self.symbolic.tree.fronts.iter().enumerate();
            let of = fronts.map(|(f, front)| [front.r_entries() as u64, self.symbolic.nnz_h_of(f)]);
            of.collect()
        })
    }

    pub(crate) fn plan(&self) -> Plan<'_> {
        Plan::with_layout(&self.symbolic, self.shape, self.layout.clone())
    }

    /// The part of the group's factor buffer that belongs to block front `f`.
    pub(crate) fn block_factors(&self, plan: &Plan<'_>, f: usize) -> &[T] {
        let all = self
            .store
            .get_as::<T>(plan.group_factor(plan.unit_of(f)))
            .expect("factors are kept");
        &all[plan.factor_at(f)..][..plan.block_factor_entries(f)]
    }

    /// R of front f, to be read by columns.
    pub(crate) fn r<'a>(&'a self, plan: &Plan<'a>, f: usize) -> RBlock<'a, T> {
        match plan.unit(plan.unit_of(f)) {
            Unit::Group(_) => RBlock::Packed {
                data: self.block_factors(plan, f),
                npiv: plan.front(f).npiv as usize,
            },
            Unit::Tiled(_) => {
                let t = plan.tiling(f);
                let npiv = plan.front(f).npiv;
                let rows = t.rows.partition_point(|&r| r < npiv);
                let (_, q) = t.grid();
                let tiles = (0..rows)
                    .flat_map(|i| (0..q).map(move |j| (i, j)))
                    .map(|(i, j)| {
                        if t.exists(i, j) {
                            self.store.get_as::<T>(plan.tile(f, i, j)).unwrap_or(&[])
                        } else {
                            &[]
                        }
                    })
                    .collect();
                RBlock::Tiled {
                    tiles,
                    tiling: t,
                    npiv: npiv as usize,
                    is_cut: plan.is_cut(f),
                }
            }
        }
    }

    /// Q^H b of the pivots of front f: calls `visit(first pivot, values)` for the parts of right-hand side `c`, from top to
    /// bottom.
    pub(crate) fn qhb<'a>(
        &'a self,
        plan: &Plan<'_>,
        f: usize,
        c: usize,
        mut visit: impl FnMut(usize, &'a [T]),
    ) {
        let npiv = plan.front(f).npiv as usize;
        match plan.unit(plan.unit_of(f)) {
            Unit::Group(_) => {
                let start = plan.front(f).r_entries() + c * npiv;
                visit(0, &self.block_factors(plan, f)[start..start + npiv]);
            }
            Unit::Tiled(_) => {
                let t = plan.tiling(f);
                for i in (0..t.grid().0).take_while(|&i| (t.rows[i] as usize) < npiv) {
                    let top = t.rows[i] as usize;
                    let tile = self.store.get_as::<T>(plan.rhs(f, i)).expect("kept");
                    let rows = t.height(i).min(npiv - top);
                    visit(top, &tile[c * t.height(i)..][..rows]);
                }
            }
        }
    }
}

/// By what factors know the values of their matrix again. Some milliseconds for ten million of them, beside what factorizes them.
pub(crate) fn hash_of_values<T: FactorScalar>(a: &Csc<T>) -> u64 {
    XxHash64::oneshot(0, bytemuck::cast_slice(a.values()))
}

/// The rows of R that belong to one front.
pub(crate) enum RBlock<'a, T> {
    /// By packed columns.
    Packed { data: &'a [T], npiv: usize },
    /// In tiles, row by row of tiles.
    Tiled {
        tiles: Vec<&'a [T]>,
        tiling: &'a crate::analysis::partition::Tiling,
        npiv: usize,
        /// Whether tiles have lost the rows that are not of R.
        is_cut: bool,
    },
}

impl<'a, T: FactorScalar> RBlock<'a, T> {
    /// Calls `visit(first row, values)` for the parts of column j from top to bottom; the last one ends on the diagonal or
    /// with the last pivot row.
    pub fn column(&self, j: usize, mut visit: impl FnMut(usize, &'a [T])) {
        match self {
            RBlock::Packed { data, npiv } => {
                let triangle = j.min(*npiv);
                let start = triangle * (triangle + 1) / 2 + (j - triangle) * npiv;
                visit(0, &data[start..start + npiv.min(&(j + 1))]);
            }
            RBlock::Tiled {
                tiles,
                tiling,
                npiv,
                is_cut,
            } => {
                let q = tiling.cols.len() - 1;
                let tile_col = tiling.cols.partition_point(|&c| c as usize <= j) - 1;
                let local = j - tiling.cols[tile_col] as usize;
                for i in 0..tiles.len() / q {
                    let top = tiling.rows[i] as usize;
                    let end = (*npiv).min(j + 1);
                    if top >= end {
                        break;
                    }
                    let rows = tiling.height(i).min(end - top);
                    let ld = tiling.rows_of_r(*npiv, *is_cut, i, tile_col);
                    visit(top, &tiles[i * q + tile_col][local * ld..][..rows]);
                }
            }
        }
    }

    /// R(j, j).
    pub fn diagonal(&self, j: usize) -> T {
        // Of what lies above nothing is read: each part would be waited for.
        let mut last: &[T] = &[];
        self.column(j, |_, values| last = values);
        *last.last().expect("a column has rows")
    }
}
