//! A clock, medians, and numbers without order.

use std::time::Instant;
use treeqr_kernels::{Beta, KernelScalar, MatMut, MatRef};

/// Runs `work` for at least 2 ms after resetting; gives seconds a call.
pub fn time(reset: &mut dyn FnMut(), work: &mut dyn FnMut()) -> f64 {
    let (mut spent, mut calls) = (0.0, 0);
    while spent < 2e-3 {
        reset();
        let start = Instant::now();
        work();
        spent += start.elapsed().as_secs_f64();
        calls += 1;
    }
    spent / f64::from(calls)
}

pub fn median(mut x: Vec<f64>) -> f64 {
    x.sort_by(f64::total_cmp);
    x[x.len() / 2]
}

pub fn random<T: KernelScalar>(len: usize) -> Vec<T> {
    let mut state = 1u64;
    let mut next = move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..len).map(|_| T::from_f64(next(), next())).collect()
}

/// Zeros from the edge of a cache line on, as the blocks of the runtime's store are.
pub struct Aligned<T> {
    data: Vec<T>,
    skip: usize,
}

impl<T: KernelScalar> Aligned<T> {
    pub fn zeros(len: usize) -> Self {
        let data = vec![T::zero(); len + 64 / size_of::<T>()];
        let skip = data.as_ptr().align_offset(64);
        Aligned { data, skip }
    }

    pub fn of(values: &[T]) -> Self {
        let mut out = Self::zeros(values.len());
        out[..values.len()].copy_from_slice(values);
        out
    }
}

impl<T> std::ops::Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.data[self.skip..]
    }
}

impl<T> std::ops::DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.data[self.skip..]
    }
}

pub fn square<T>(nb: usize, data: &mut [T]) -> MatMut<'_, T> {
    MatMut::new(data, nb, nb, nb)
}

/// A product C = A B of so many rows and columns, and its flops.
pub fn product<T: KernelScalar>(s: usize) -> (impl FnMut(), f64) {
    let values = random::<T>(s * s);
    let (a, b) = (Aligned::of(&values), Aligned::of(&values));
    let mut c = Aligned::zeros(s * s);
    let unit = if T::IS_COMPLEX { 4.0 } else { 1.0 };
    let run = move || {
        let (a, b) = (MatRef::new(&a, s, s, s), MatRef::new(&b, s, s, s));
        T::gemm(Beta::Zero, square(s, &mut c), T::one(), a, b);
    };
    (run, unit * 2.0 * (s as f64).powi(3))
}
