//! The tile kernels in all scalars and sizes, with and without a staircase, as parts of the matrix product's speed on the same core:
//! Markdown, some minutes. `cargo bench -p treeqr-kernels --bench table -- f64 128,256` for less.
//!
//! The product is C = A B of 512^3 in the same precision, measured in turns with each kernel. The staircase rises from half of the tile
//! to all of it, as those of fronts do; its flops are counted exactly.

mod common;

use common::{Aligned, median, product, random, square, time};
use treeqr_kernels::*;
use treeqr_matrices::{c32, c64};

const SIZES: [usize; 6] = [64, 128, 192, 256, 320, 512];
const BLOCKS: [usize; 3] = [16, 32, 64];
const KERNELS: [&str; 4] = ["geqrt", "gemqrt", "tpqrt", "tpmqrt"];
const TURNS: usize = 5;

/// Operands of one size.
struct Tiles<T> {
    nb: usize,
    ib: usize,
    data: Vec<T>,
    other: Vec<T>,
    /// V of `geqrt` and of `tpqrt`, and T.
    v: [Aligned<T>; 2],
    t: [Aligned<T>; 2],
    work: [Aligned<T>; 2],
    tf: Aligned<T>,
    scratch: Aligned<T>,
}

impl<T: KernelScalar> Tiles<T> {
    fn new(nb: usize, ib: usize, stair: Stair) -> Self {
        let scratch = [
            geqrt_scratch::<T>(nb, nb, ib),
            gemqrt_scratch::<T>(nb, nb, nb, ib),
            tpqrt_scratch::<T>(nb, nb, ib),
            tpmqrt_scratch::<T>(nb, nb, nb, ib),
        ];
        let zeros = Aligned::<T>::zeros;
        let data = random::<T>(nb * nb);
        let mut other = random::<T>(nb * nb);
        for (j, column) in other.chunks_exact_mut(nb).enumerate() {
            column[stair.rows(j, nb)..].fill(T::zero());
        }
        let mut tiles = Tiles {
            nb,
            ib,
            work: [zeros(nb * nb), zeros(nb * nb)],
            v: [zeros(nb * nb), zeros(nb * nb)],
            t: [zeros(ib * nb), zeros(ib * nb)],
            tf: zeros(ib * nb),
            scratch: zeros(scratch.into_iter().max().unwrap_or(0)),
            data,
            other,
        };
        tiles.reset(1);
        tiles.run("geqrt", stair);
        copy_v(
            MatRef::new(&tiles.work[1], nb, nb, nb),
            stair,
            square(nb, &mut tiles.v[0]),
        );
        tiles.t[0] = Aligned::of(&tiles.tf);
        tiles.reset(2);
        tiles.run("tpqrt", stair);
        tiles.v[1] = Aligned::of(&tiles.work[1]);
        tiles.t[1] = Aligned::of(&tiles.tf);
        tiles
    }

    /// What a factorization overwrites, one tile or two, as it was.
    fn reset(&mut self, tiles: usize) {
        if tiles == 2 {
            self.work[0][..self.data.len()].copy_from_slice(&self.data);
        }
        self.work[1][..self.other.len()].copy_from_slice(&self.other);
    }

    fn run(&mut self, kernel: &str, stair: Stair) {
        let (nb, ib) = (self.nb, self.ib);
        let [upper, lower] = &mut self.work;
        let (upper, lower) = (square(nb, upper), square(nb, lower));
        let scratch = &mut self.scratch;
        let tf = MatMut::new(&mut self.tf, ib, nb, ib);
        let v = |k: usize| MatRef::new(&self.v[k], nb, nb, nb);
        let t = |k: usize| MatRef::new(&self.t[k], ib, nb, ib);
        match kernel {
            "geqrt" => geqrt(lower, stair, ib, tf, scratch),
            "tpqrt" => tpqrt(upper, lower, stair, ib, tf, scratch),
            "gemqrt" => gemqrt(Op::ConjTrans, v(0), stair, ib, t(0), lower, scratch),
            _ => tpmqrt(Op::ConjTrans, v(1), stair, ib, t(1), upper, lower, scratch),
        }
    }
}

fn flops<T: KernelScalar>(kernel: &str, nb: usize, stair: Stair) -> f64 {
    let flops = match kernel {
        "geqrt" => geqrt_flops::<T>(nb, nb, stair),
        "tpqrt" => tpqrt_flops::<T>(nb, nb, stair),
        "gemqrt" => gemqrt_flops::<T>(nb, nb, nb, stair),
        _ => tpmqrt_flops::<T>(nb, nb, nb, stair),
    };
    flops as f64
}

/// GFlop/s of a kernel and of the product.
fn measure<T: KernelScalar>(kernel: &str, nb: usize, ib: usize, stair: Stair) -> (f64, f64) {
    let tiles = std::cell::RefCell::new(Tiles::<T>::new(nb, ib, stair));
    let (mut gemm, gemm_flops) = product::<T>(512);
    let factorizes = kernel == "geqrt" || kernel == "tpqrt";
    let mut reset = || {
        if factorizes {
            tiles.borrow_mut().reset(2);
        }
    };
    let mut work = || tiles.borrow_mut().run(kernel, stair);
    let (mut theirs, mut ours) = (vec![], vec![]);
    for _ in 0..TURNS {
        theirs.push(gemm_flops / time(&mut || (), &mut gemm));
        ours.push(flops::<T>(kernel, nb, stair) / time(&mut reset, &mut work));
    }
    (median(ours) / 1e9, median(theirs) / 1e9)
}

fn table<T: KernelScalar>(sizes: &[usize]) {
    let mut products = vec![];
    let mut lines = vec![];
    for &nb in sizes {
        let steps: Vec<u32> = (0..nb).map(|j| (nb / 2 + j / 2 + 1) as u32).collect();
        for ib in BLOCKS {
            let mut line = format!("| {nb} | {ib} |");
            for kernel in KERNELS {
                for stair in [Stair::Full, Stair::Rows(&steps)] {
                    let (rate, product) = measure::<T>(kernel, nb, ib, stair);
                    products.push(product);
                    line += &format!(" {rate:.0} ({:.0} %) |", 100.0 * rate / product);
                }
            }
            lines.push(line);
        }
    }
    println!("\n{}: product {:.0} GFlop/s\n", T::NAME, median(products));
    let heads = KERNELS.map(|k| format!(" {k} | with stairs |")).concat();
    println!("| nb | ib |{heads}\n| ---: | ---: |{}", " ---: |".repeat(8));
    println!("{}", lines.join("\n"));
}

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|x| !x.starts_with("--"))
        .collect();
    let sizes = arguments.iter().find_map(|a| {
        let sizes: Result<Vec<usize>, _> = a.split(',').map(str::parse).collect();
        sizes.ok()
    });
    let sizes = sizes.unwrap_or(SIZES.to_vec());
    let names = ["f64", "f32", "c64", "c32"];
    let all = !arguments.iter().any(|a| names.contains(&a.as_str()));
    let want = |name: &str| all || arguments.iter().any(|a| a == name);
    let tables: [fn(&[usize]); 4] = [table::<f64>, table::<f32>, table::<c64>, table::<c32>];
    for (name, table) in names.iter().zip(tables) {
        if want(name) {
            table(&sizes);
        }
    }
}
