//! Working memory: of a worker, enough for nearly every task of the plan and taken once; and what the others take while they run.

use super::{Plan, codelet};
use crate::analysis::groups::Unit;
use crate::plan::panel::{Step, steps};
use treeqr_kernels::{
    FRONT_ALIGNMENT, KernelScalar, front_leading, front_qr_scratch, front_update_scratch,
    gemqrt_scratch, geqrt_scratch, tpmqrt_scratch, tpqrt_scratch,
};
use treeqr_matrices::{c32, c64};

/// What a group works in is the worker's own up to so many bytes, and taken for it beyond: below it, that is too much for each of many small
/// groups; what is the worker's own stays while fronts in tiles need the memory.
const OWN: usize = 1 << 18;

/// Whether so many scalars for a group are the worker's own.
pub(crate) fn is_own<T>(scalars: usize) -> bool {
    scalars * size_of::<T>() <= OWN
}

/// Sizes in scalars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScratchSize {
    /// A group's stack and its largest front, where they are the worker's own.
    pub own: usize,
    /// The most that is taken for them.
    pub taken: usize,
    /// The factors of a front's reflectors.
    pub tau: usize,
    /// What the kernels ask for.
    pub kernel: usize,
    /// For a part of a kernel's update, with which another worker helps.
    pub parts: usize,
}

impl ScratchSize {
    pub fn bytes(&self, scalar_bytes: usize) -> usize {
        (self.own + self.taken + self.tau + self.kernel + self.parts) * scalar_bytes
    }
}

impl Plan<'_> {
    /// As [`Self::scratch_for`], for the scalar that the run's shape tells of.
    pub fn scratch(&self) -> ScratchSize {
        match (self.shape.scalar_bytes, self.shape.complex) {
            (4, _) => self.scratch_for::<f32>(),
            (8, false) => self.scratch_for::<f64>(),
            (8, true) => self.scratch_for::<c32>(),
            _ => self.scratch_for::<c64>(),
        }
    }

    /// The largest needs of any task.
    pub fn scratch_for<T: KernelScalar>(&self) -> ScratchSize {
        let mut out = ScratchSize::default();
        for u in 0..self.sym.units.len() {
            match self.unit(u) {
                Unit::Group(fronts) => self.group_scratch::<T>(u, fronts, &mut out),
                Unit::Tiled(f) => {
                    let f = *f as usize;
                    out.kernel = out.kernel.max(self.tile_kernels::<T>(f));
                    out.parts = out.parts.max(self.tile_parts::<T>(f));
                }
            }
        }
        out
    }

    fn group_scratch<T: KernelScalar>(&self, u: usize, fronts: &[u32], out: &mut ScratchSize) {
        let nrhs = self.shape.nrhs;
        for &f in fronts {
            let front = self.front(f as usize);
            let (ld, n) = (front_leading::<T>(front.m as usize), front.n as usize);
            out.tau = out.tau.max(front.reflectors());
            out.kernel = out.kernel.max(front_qr_scratch::<T>(ld, n, nrhs));
            out.parts = out.parts.max(front_update_scratch::<T>(ld, n, nrhs));
        }
        let (stack, front) = self.work_of_group::<T>(u, fronts);
        let size = match is_own::<T>(stack + front) {
            true => &mut out.own,
            false => &mut out.taken,
        };
        *size = (*size).max(stack + front);
    }

    /// What group u works in, in scalars: the most that waits on its stack for the parents within it, and its largest front as a block
    /// with its right-hand sides, wherever the first aligned place for it is.
    pub fn work_of_group<T: KernelScalar>(&self, u: usize, fronts: &[u32]) -> (usize, usize) {
        let nrhs = self.shape.nrhs;
        let (mut stack, mut most, mut block) = (0, 0, 0);
        for &f in fronts {
            let front = self.front(f as usize);
            block = block.max(front_leading::<T>(front.m as usize) * (front.n as usize + nrhs));
            for &c in &front.children {
                if self.unit_of(c as usize) == u {
                    stack -= self.front(c as usize).cb_entries(nrhs);
                }
            }
            if f != self.unit(u).top() {
                stack += front.cb_entries(nrhs);
                most = most.max(stack);
            }
        }
        (most, block + FRONT_ALIGNMENT / size_of::<T>())
    }

    /// For the updates within `geqrt` and `tpqrt`, which are those of `gemqrt` and `tpmqrt` by one inner block.
    fn tile_parts<T: KernelScalar>(&self, f: usize) -> usize {
        let t = self.tiling(f);
        let ib = t.inner_block(size_of::<T>());
        let highest = (0..t.grid().0).map(|i| t.height(i)).max().unwrap_or(0);
        let widest = (0..t.panels).map(|k| t.width(k)).max().unwrap_or(0);
        tpmqrt_scratch::<T>(highest.max(widest), widest, widest, ib)
    }

    fn tile_kernels<T: KernelScalar>(&self, f: usize) -> usize {
        let t = self.tiling(f);
        let ib = t.inner_block(size_of::<T>());
        let widest = (0..t.grid().1)
            .map(|j| t.width(j))
            .max()
            .unwrap_or(0)
            .max(self.shape.nrhs);
        let mut most = 0;
        for k in 0..t.panels {
            let w = t.width(k);
            for step in steps(t, k) {
                most = most.max(match step {
                    Step::Head { i } => {
                        let rows = t.height(i) - t.offset(i, k);
                        let apply = gemqrt_scratch::<T>(rows, widest, rows.min(w), ib);
                        geqrt_scratch::<T>(rows, w, ib).max(apply)
                    }
                    Step::Flat { i, .. } => {
                        let rows = t.height(i);
                        tpqrt_scratch::<T>(rows, w, ib)
                            .max(tpmqrt_scratch::<T>(rows, widest, w, ib))
                    }
                    Step::Tree { .. } => {
                        tpqrt_scratch::<T>(w, w, ib).max(tpmqrt_scratch::<T>(w, widest, w, ib))
                    }
                });
            }
        }
        most
    }
}

/// Names of the codelets, in the order in which predictions and records count them.
pub const CODELETS: [&str; 9] = codelet::NAMES;
