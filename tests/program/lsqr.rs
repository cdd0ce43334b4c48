//! The independent answer for larger matrices: LSQR by Paige and Saunders (1982), which needs products only.

use treeqr::Csc;
use treeqr::matrices::norm2;

/// x of least ||b - A x|| (and of least norm), until A^H r is negligible or `limit` steps are done.
pub fn lsqr(a: &Csc<f64>, b: &[f64], limit: usize) -> Vec<f64> {
    let scale = |v: &mut [f64]| {
        let norm = norm2(v);
        if norm > 0.0 {
            v.iter_mut().for_each(|x| *x /= norm);
        }
        norm
    };
    let mut u = b.to_vec();
    let beta = scale(&mut u);
    let mut v = vec![0.0; a.ncols()];
    a.adjoint_mul_add(1.0, &u, &mut v);
    let mut alpha = scale(&mut v);
    let mut w = v.clone();
    let mut x = vec![0.0; a.ncols()];
    let (mut phi_bar, mut rho_bar) = (beta, alpha);
    let first = alpha * beta;
    for _ in 0..limit {
        // Bidiagonalization: beta u = A v - alpha u, alpha v = A^H u - beta v.
        u.iter_mut().for_each(|x| *x *= -alpha);
        a.mul_add(1.0, &v, &mut u);
        let beta = scale(&mut u);
        v.iter_mut().for_each(|x| *x *= -beta);
        a.adjoint_mul_add(1.0, &u, &mut v);
        alpha = scale(&mut v);
        // One rotation makes it upper bidiagonal.
        let rho = rho_bar.hypot(beta);
        let (c, s) = (rho_bar / rho, beta / rho);
        let theta = s * alpha;
        rho_bar = -c * alpha;
        let phi = c * phi_bar;
        phi_bar *= s;
        for ((x, w), v) in x.iter_mut().zip(&mut w).zip(&v) {
            *x += phi / rho * *w;
            *w = v - theta / rho * *w;
        }
        if (phi_bar * alpha * c).abs() <= 1e-14 * first {
            break;
        }
    }
    x
}
