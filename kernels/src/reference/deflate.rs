//! Twin of `deflate`.

use super::{larf, larfg};
use crate::{Deflated, KernelScalar, MatMut, Stair};
use treeqr_matrices::RealScalar;

/// Twin of [`crate::deflate`]; gives the columns that are live and the factors of their reflectors.
pub fn deflate<T: KernelScalar>(
    mut a: MatMut<T>,
    n: usize,
    npiv: usize,
    tolerance: f64,
    stair: Stair,
) -> (Deflated, Vec<u32>, Vec<T>) {
    let (m, cols) = (a.nrows(), a.ncols());
    let (mut live, mut taus) = (Vec::new(), Vec::new());
    let mut out = Deflated::default();
    for j in 0..n {
        let r = live.len();
        let h = stair.rows(j, m);
        let (mut left, mut right) = a.rb_mut().split_at_col_mut(j + 1);
        let column = left.col_mut(j);
        let part = column.get_mut(r..h).unwrap_or_default();
        let largest = part.iter().map(|x| x.abs().to_f64()).fold(0.0, f64::max);
        let scaled = |x: &T| (x.abs().to_f64() / largest).powi(2);
        let norm = if largest == 0.0 {
            0.0
        } else {
            largest * part.iter().map(scaled).sum::<f64>().sqrt()
        };
        if norm <= if j < npiv { tolerance } else { 0.0 } {
            part.fill(T::zero());
            out.dropped2 += norm * norm;
            continue;
        }
        let (head, v) = part.split_first_mut().expect("not of norm zero");
        let tau = larfg(head, v);
        for c in 0..cols - j - 1 {
            let (head, c) = right.col_mut(c)[r..h].split_first_mut().expect("h > r");
            larf(tau.conj(), v, head, c);
        }
        live.push(j as u32);
        taus.push(tau);
        out.pivots += usize::from(j < npiv);
    }
    out.rows = live.len();
    (out, live, taus)
}
