//! The speed that this machine's matrix product reaches here and now: the measure for a factorization's own.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};
use treeqr_kernels::{Beta, KernelScalar, MatMut, MatRef};

/// Order of the matrices: three of them stay in the second cache.
const N: usize = 320;
/// Flops of one product.
const FLOPS: f64 = 2.0 * (N * N * N) as f64;
/// How long every thread multiplies.
const SPAN: Duration = Duration::from_millis(15);

/// GFlop/s of f64 products of order 320 on so many threads at once, in about 20 ms.
pub fn measure(threads: usize) -> f64 {
    let barrier = Barrier::new(threads);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| scope.spawn(|| one_thread(&barrier)))
            .collect();
        let rates = workers.into_iter().map(|w| w.join().unwrap_or(0.0));
        rates.sum()
    })
}

/// GFlop/s of one thread among others.
fn one_thread(barrier: &Barrier) -> f64 {
    let (a, b) = (vec![0.5; N * N], vec![0.25; N * N]);
    let mut c = vec![0.0; N * N];
    let mut product = || {
        let (a, b) = (MatRef::new(&a, N, N, N), MatRef::new(&b, N, N, N));
        f64::gemm(Beta::Zero, MatMut::new(&mut c, N, N, N), 1.0, a, b);
    };
    product();
    barrier.wait();
    let begin = Instant::now();
    let mut products = 0;
    while begin.elapsed() < SPAN {
        product();
        products += 1;
    }
    f64::from(products) * FLOPS / begin.elapsed().as_secs_f64() / 1e9
}
