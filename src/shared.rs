//! For builds without full optimisation, as those of tests: what is generic, compiled here once for the four scalars; see the
//! solver's file of that name.

use crate::{Factorization, factorize_watched, solve_analysed, solve_mixed};
use crate::{c32, c64};
use std::hint::black_box;

macro_rules! shared {
    ($($t:ty),*) => {
        [$([
            factorize_watched::<$t> as *const (),
            solve_analysed::<$t> as *const (),
            Factorization::<$t>::solve_many as *const (),
            Factorization::<$t>::solve_recorded as *const (),
        ]),*]
    };
}

/// Never called.
#[doc(hidden)]
pub fn shared() {
    black_box(shared!(f64, f32, c64, c32));
    black_box([
        solve_mixed::<f64> as *const (),
        solve_mixed::<c64> as *const (),
    ]);
}
