//! One hot path a run, for those who count its instructions: `hot_paths tpmqrt`. `hot_paths` lists the paths.
//!
//! The work is the same every time and takes some milliseconds; `nothing` is what the program itself takes. See benches/instructions.

use treeqr_kernels::*;

/// Name, and the work.
type Path = (&'static str, fn());

const PATHS: &[Path] = &[
    ("nothing", || ()),
    ("geqrt", || tile(true, false)),
    ("gemqrt", || tile(true, true)),
    ("tpqrt", || tile(false, false)),
    ("tpmqrt", || tile(false, true)),
    ("front_qr_12x8", || front(12, 8, 400)),
    ("front_qr_60x30", || front(60, 30, 40)),
    ("front_qr_300x150", || front(300, 150, 1)),
];

const NB: usize = 128;
const IB: usize = 32;

fn numbers(len: usize) -> Vec<f64> {
    let mut state = 1u64;
    let mut next = move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..len).map(|_| next()).collect()
}

fn square(data: &mut [f64]) -> MatMut<'_, f64> {
    MatMut::new(data, NB, NB, NB)
}

/// A tile is factorized by `geqrt` or, below a triangle, `tpqrt`, with a staircase; and eight are updated with it, or none.
fn tile(alone: bool, update: bool) {
    let steps: Vec<u32> = (0..NB).map(|j| (NB / 2 + j / 2 + 1) as u32).collect();
    let stair = Stair::Rows(&steps);
    let (mut r, mut b) = (numbers(NB * NB), numbers(NB * NB));
    for (column, &rows) in b.chunks_exact_mut(NB).zip(&steps) {
        column[rows as usize..].fill(0.0);
    }
    let mut t = vec![0.0; IB * NB];
    let scratch = [
        geqrt_scratch::<f64>(NB, NB, IB),
        gemqrt_scratch::<f64>(NB, NB, NB, IB),
        tpqrt_scratch::<f64>(NB, NB, IB),
        tpmqrt_scratch::<f64>(NB, NB, NB, IB),
    ];
    let mut scratch = vec![0.0; scratch.into_iter().max().unwrap_or(0)];
    let tf = MatMut::new(&mut t, IB, NB, IB);
    if alone {
        geqrt(square(&mut b), stair, IB, tf, &mut scratch);
    } else {
        tpqrt(square(&mut r), square(&mut b), stair, IB, tf, &mut scratch);
    }
    if !update {
        return;
    }
    let mut v = vec![0.0; NB * NB];
    copy_v(MatRef::new(&b, NB, NB, NB), stair, square(&mut v));
    let (mut c1, mut c2) = (numbers(NB * NB), numbers(NB * NB));
    for _ in 0..8 {
        let t = MatRef::new(&t, IB, NB, IB);
        let (c1, c2) = (square(&mut c1), square(&mut c2));
        if alone {
            let v = MatRef::new(&v, NB, NB, NB);
            gemqrt(Op::ConjTrans, v, stair, IB, t, c2, &mut scratch);
        } else {
            let v = MatRef::new(&b, NB, NB, NB);
            tpmqrt(Op::ConjTrans, v, stair, IB, t, c1, c2, &mut scratch);
        }
    }
}

fn front(m: usize, n: usize, times: usize) {
    let data = numbers(m * n);
    let mut tau = vec![0.0; m.min(n)];
    let mut scratch = vec![0.0; front_qr_scratch::<f64>(m, n, 0)];
    for _ in 0..times {
        let mut a = data.clone();
        let a = MatMut::new(&mut a, m, n, m);
        front_qr(a, n, Stair::Full, &mut tau, &mut scratch);
    }
}

fn main() -> std::process::ExitCode {
    let asked = std::env::args().nth(1);
    match PATHS.iter().find(|path| Some(path.0) == asked.as_deref()) {
        Some(path) => path.1(),
        None => {
            PATHS.iter().for_each(|path| println!("{}", path.0));
            if asked.is_some() {
                return std::process::ExitCode::FAILURE;
            }
        }
    }
    std::process::ExitCode::SUCCESS
}
