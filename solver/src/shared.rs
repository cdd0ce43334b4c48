//! For builds without full optimisation, as those of tests: what is generic, compiled here once for the four scalars.
//!
//! Such builds share generic code between crates, but only what the crate that has it has compiled. Without this, every test and
//! every example compiles the solver anew.

use crate::{Factors, factorize};
use std::hint::black_box;
use treeqr_matrices::{c32, c64};

macro_rules! shared {
    ($($t:ty),*) => {
        [$([
            factorize::<$t, ()> as *const (),
            Factors::<$t>::refactorize::<()> as *const (),
            Factors::<$t>::solve as *const (),
            Factors::<$t>::solution as *const (),
            Factors::<$t>::apply_q as *const (),
            Factors::<$t>::apply_q_adjoint as *const (),
            Factors::<$t>::solve_r as *const (),
            Factors::<$t>::solve_r_adjoint as *const (),
            Factors::<$t>::condition_estimate as *const (),
            Factors::<$t>::trapezoid as *const (),
            Factors::<$t>::null_space as *const (),
        ]),*]
    };
}

/// Never called.
#[doc(hidden)]
pub fn shared() {
    black_box(shared!(f64, f32, c64, c32));
}
