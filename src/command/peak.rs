//! The speed that this machine's matrix product reaches here and now: the measure for a factorization's own.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};
use treeqr::{Scalar, c32, c64};
use treeqr_kernels::{Beta, KernelScalar, MatMut, MatRef};

/// Order of the matrices: products of 160 to 192 are as fast as larger ones, and their pages, which are new, come in a part of the time.
const N: usize = 192;
/// Flops of one real product.
const FLOPS: f64 = 2.0 * (N * N * N) as f64;
/// How long every thread multiplies, at least and at most: what is measured of a short run is not to take longer than the run.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(10);
/// What part of the run it is.
const PART: u32 = 8;

/// GFlop/s of products of order 192 on so many threads at once: in the precision of T, or in single. Takes an eighth of `run`, the time that the
/// speed is held against, but 1 to 10 ms, and a millisecond more.
pub fn measure<T: Scalar>(threads: usize, single: bool, run: Duration) -> f64 {
    let span = (run / PART).clamp(SHORTEST, LONGEST);
    // A product takes some MB for copies of its factors; they are not to come on top of what was freed.
    treeqr::runtime::give_freed_memory_back();
    match (T::IS_COMPLEX, single || T::NAME.ends_with("32")) {
        (false, false) => measured::<f64>(threads, span),
        (false, true) => measured::<f32>(threads, span),
        (true, false) => measured::<c64>(threads, span),
        (true, true) => measured::<c32>(threads, span),
    }
}

fn measured<T: KernelScalar>(threads: usize, span: Duration) -> f64 {
    let barrier = Barrier::new(threads);
    let a = vec![T::from_f64(0.5, 0.0); N * N];
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| scope.spawn(|| one_thread(&a, &barrier, span)))
            .collect();
        let rates = workers.into_iter().map(|w| w.join().unwrap_or(0.0));
        rates.sum()
    })
}

/// GFlop/s of one thread among others.
fn one_thread<T: KernelScalar>(a: &[T], barrier: &Barrier, span: Duration) -> f64 {
    let mut c = vec![T::zero(); N * N];
    let mut product = || {
        let a = MatRef::new(a, N, N, N);
        T::gemm(Beta::Zero, MatMut::new(&mut c, N, N, N), T::one(), a, a);
    };
    product();
    barrier.wait();
    let begin = Instant::now();
    let mut products = 0;
    while begin.elapsed() < span {
        product();
        products += 1;
    }
    let flops = if T::IS_COMPLEX { 4.0 * FLOPS } else { FLOPS };
    f64::from(products) * flops / begin.elapsed().as_secs_f64() / 1e9
}
