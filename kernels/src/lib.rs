//! The dense kernels of treeqr: tile QR in compact WY form, on column-major tiles with staircases.

pub mod reference;

mod block;
mod copies;
mod flops;
mod front;
mod gemqrt;
mod geqrt;
mod householder;
mod packed;
mod panel;
mod scalar;
mod simd;
mod stair;
mod tpmqrt;
mod tpqrt;
mod view;

pub use block::Op;
pub use copies::{copy_upper, copy_v};
pub use flops::{
    apply_packed_flops, front_qr_flops, gemqrt_flops, geqrt_flops, tpmqrt_flops, tpqrt_flops,
};
pub use front::{front_qr, front_qr_scratch};
pub use gemqrt::{gemqrt, gemqrt_scratch};
pub use geqrt::{geqrt, geqrt_scratch};
pub use packed::{apply_packed, packed_len};
pub use scalar::{Beta, KernelScalar};
pub use stair::Stair;
pub use tpmqrt::{tpmqrt, tpmqrt_scratch};
pub use tpqrt::{tpqrt, tpqrt_scratch};
pub use view::{MatMut, MatRef};
