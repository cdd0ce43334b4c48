//! The numbers that the kernels are written over, with their matrix product and their vectors.

use crate::compiled::Compiled;
use crate::simd::Lanes;
use crate::view::{MatMut, MatRef};
use faer::linalg::matmul::matmul;
use faer::{Accum, Par};
use num_complex::Complex;
use treeqr_matrices::Scalar;

/// Whether a product replaces what was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beta {
    /// C = alpha A B; what C held is not read.
    Zero,
    /// C = C + alpha A B.
    One,
}

/// A scalar with a matrix product: `f32`, `f64`, `c32` and `c64`.
///
/// The products run on the calling thread alone.
pub trait KernelScalar: Scalar + Lanes + Compiled {
    /// C = beta C + alpha A B; A is m x k, B is k x n, C is m x n.
    ///
    /// # Panics
    /// When the shapes don't fit.
    fn gemm(beta: Beta, c: MatMut<Self>, alpha: Self, a: MatRef<Self>, b: MatRef<Self>);

    /// C = beta C + alpha A^H B; A is k x m, B is k x n, C is m x n.
    ///
    /// # Panics
    /// When the shapes don't fit.
    fn gemm_adjoint(beta: Beta, c: MatMut<Self>, alpha: Self, a: MatRef<Self>, b: MatRef<Self>);

    /// C = beta C + alpha A B^T, without conjugates; A is m x k, B is n x k, C is m x n.
    ///
    /// # Panics
    /// When the shapes don't fit.
    fn gemm_transpose(beta: Beta, c: MatMut<Self>, alpha: Self, a: MatRef<Self>, b: MatRef<Self>);
}

fn accum(beta: Beta) -> Accum {
    match beta {
        Beta::Zero => Accum::Replace,
        Beta::One => Accum::Add,
    }
}

macro_rules! kernel_scalar {
    ($t:ty) => {
        impl KernelScalar for $t {
            fn gemm(beta: Beta, c: MatMut<Self>, alpha: Self, a: MatRef<Self>, b: MatRef<Self>) {
                let (a, b) = (a.to_faer(), b.to_faer());
                matmul(c.into_faer(), accum(beta), a, b, alpha, Par::Seq);
            }

            fn gemm_adjoint(
                beta: Beta,
                c: MatMut<Self>,
                alpha: Self,
                a: MatRef<Self>,
                b: MatRef<Self>,
            ) {
                let (a, b) = (a.to_faer().adjoint(), b.to_faer());
                matmul(c.into_faer(), accum(beta), a, b, alpha, Par::Seq);
            }

            fn gemm_transpose(
                beta: Beta,
                c: MatMut<Self>,
                alpha: Self,
                a: MatRef<Self>,
                b: MatRef<Self>,
            ) {
                let (a, b) = (a.to_faer(), b.to_faer().transpose());
                matmul(c.into_faer(), accum(beta), a, b, alpha, Par::Seq);
            }
        }
    };
}

kernel_scalar!(f32);
kernel_scalar!(f64);
kernel_scalar!(Complex<f32>);
kernel_scalar!(Complex<f64>);
