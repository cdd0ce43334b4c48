//! The numerical factorization: from values to [`Factors`], through the task runtime.
//!
//! Takes a [`Symbolic`](crate::Symbolic), the values of A and perhaps right-hand sides; submits the tasks of the plan.
//!
//! | file | subject |
//! | --- | --- |
//! | `factorize` | checks, plan, run |
//! | `app` | what the tasks run on: the codelets' table and a worker's scratch |
//! | `assemble` | entries of A and contribution blocks into fronts and tiles |
//! | `block` | `do_subtree`: fronts as whole blocks, one after the other |
//! | `tiles` | the codelets of a front in tiles |
//! | `factors` | what is left: R, V, T and Q^H b, and where they are |
//! | `refactorize` | other values in the memory of factors that are there |
//! | `magnitude` | very small and very large numbers, brought to about 1 |
//! | `limit` | memory reserved before tasks are submitted |
//! | `priorities` | bottom levels, by fixed rates or by cost models |

mod app;
mod assemble;
mod block;
mod device;
mod device_assembly;
mod factorize;
mod factors;
mod limit;
pub(crate) mod magnitude;
mod priorities;
mod refactorize;
mod share;
mod tiles;

pub(crate) use factorize::factorize_once;
pub use factorize::{FactorOptions, Factored, check_rhs, factorize};
pub use factors::Factors;
pub(crate) use factors::RBlock;
pub use limit::MemoryLimit;
pub use priorities::{Priorities, PriorityReport};
pub use refactorize::Refactored;

use bytemuck::Pod;
use treeqr_kernels::KernelScalar;

/// A scalar that the solver works with: `f64`, `f32`, and their complex counterparts.
pub trait FactorScalar: KernelScalar + Pod {}

impl<T: KernelScalar + Pod> FactorScalar for T {}
