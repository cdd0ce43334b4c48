//! The dense kernels of treeqr: tile QR in compact WY form, with staircases, in `f32`, `f64`, `c32` and `c64`.
//!
//! ```text
//!   geqrt    A = Q R                    on a tile                      gemqrt   Q or Q^H of it on a tile
//!   tpqrt    [R; B] = Q [R'; 0]         on a triangle over a tile      tpmqrt   Q or Q^H of it on a pair of tiles
//!   front_qr A = Q R                    on a whole front               apply_packed   Q or Q^H of it, V packed
//!   deflate  A = Q R, columns that depend on others passed over       apply_packed   Q or Q^H of it, V packed
//!   trsv     R x = c and R^H y = c for a few vectors, in tiles or packed; gemv, products beside it
//! ```
//!
//! All blocks are column-major with a leading dimension ([`MatRef`], [`MatMut`]). Each kernel takes its scratch from the
//! caller (`*_scratch` says how many elements), has an exact flop count (`*_flops`) and a slow twin in [`mod@reference`]. None
//! allocates, none uses more than the calling thread; but faer's products keep packing buffers a thread.
//!
//! What a kernel gives depends on the shapes, the staircase, `ib` and the values, not on leading dimensions, alignment or
//! threads; it may depend on the machine's instruction set.
//!
//! # How it is made
//! * `block` applies a block of reflectors: three matrix products, which hold nearly all flops. Two are faer's.
//! * `panel` factorizes ib columns in aligned scratch: recursion down to eight columns, T on the way back.
//! * `products` and `simd` are the products of few columns and the vectors they are written in. pulp compiles them for each
//!   instruction set and chooses at run time; its dispatch is the reason why this crate has no unsafe code of its own but in
//!   `view`, where blocks are cut by rows.
//! * `front` runs a whole front: small ones without blocks, the others with panels of 16 or 32 columns.
//!
//! # Conventions
//! H = I - tau v v^H with v = \[1; x\] and beta = -sign(re alpha) norm, as in LAPACK; Q = H_0 H_1 ... = I - V T V^H for
//! each block. Where a column is zero below its head, H is the identity and tau = 0, for complex numbers too (LAPACK's
//! `zlarfg` would make the head real). Norms neither overflow nor underflow on the way. NaN in gives NaN out.
//!
//! # Example
//! ```
//! use treeqr_kernels::{MatMut, Stair, geqrt, geqrt_scratch};
//!
//! let mut a: Vec<f64> = vec![3.0, 4.0, 1.0, 2.0]; // 2 x 2, column by column
//! let mut t = vec![0.0; 4];
//! let mut scratch = vec![0.0; geqrt_scratch::<f64>(2, 2, 2)];
//! geqrt(MatMut::new(&mut a, 2, 2, 2), Stair::Full, 2, MatMut::new(&mut t, 2, 2, 2), &mut scratch);
//! assert!((a[0] + 5.0).abs() < 1e-14); // R(0, 0) = -norm of the first column
//! ```

pub mod device;
pub mod reference;

mod block;
mod compiled;
mod copies;
mod deflate;
mod flops;
mod front;
mod gemqrt;
mod geqrt;
mod householder;
#[cfg(test)]
mod numbers;
mod packed;
mod panel;
mod products;
mod scalar;
mod simd;
mod stair;
mod strips;
mod tpmqrt;
mod tpqrt;
mod trapezoid;
mod update;
mod view;

pub use block::Op;
pub use copies::{copy_upper, copy_v};
pub use deflate::{
    Deflated, deflate, deflate_apply, deflate_apply_scratch, deflate_factors, deflate_factors_len,
    deflate_scratch,
};
pub use flops::{
    apply_packed_flops, deflate_apply_flops, deflate_flops, front_qr_flops, gemqrt_flops,
    geqrt_flops, tpmqrt_flops, tpqrt_flops,
};
pub use front::{
    FRONT_ALIGNMENT, front_leading, front_qr, front_qr_scratch, front_qr_with, front_update_scratch,
};
pub use gemqrt::{gemqrt, gemqrt_scratch};
pub use geqrt::{geqrt, geqrt_scratch, geqrt_with};
pub use packed::{apply_packed, packed_len};
pub use scalar::{Beta, KernelScalar};
pub use stair::Stair;
pub use tpmqrt::{tpmqrt, tpmqrt_scratch};
pub use tpqrt::{tpqrt, tpqrt_scratch, tpqrt_with};
pub use trapezoid::{
    add_abs_sums, gemv, gemv_adjoint, trsv, trsv_adjoint, trsv_packed, trsv_packed_adjoint,
};
pub use update::{Update, column_parts};
pub use view::{MatMut, MatRef};
