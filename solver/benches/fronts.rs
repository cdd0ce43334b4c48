//! The whole fronts of real matrices by themselves: what `front_qr` takes on their shapes and staircases, on one core, without assembly, copies and tasks.
//!
//! `cargo bench -p treeqr-solver --bench fronts [-- REPETITIONS] [MATRIX ...]`; matrices are files or `gallery:NAME`. Fronts come in postorder with numbers
//! made on the spot and one right-hand side; by the bytes of a front, medians of the repetitions. The time to beat for `do_subtree`.

use std::time::{Duration, Instant};
use treeqr_kernels::{
    FRONT_ALIGNMENT, MatMut, Stair, front_leading, front_qr, front_qr_flops, front_qr_scratch,
};
use treeqr_matrices::Source;
use treeqr_solver::{Options, Symbolic, analyse};

const MATRICES: [&str; 3] = [
    "gallery:conv2d-200",
    "gallery:stencil27-20",
    "gallery:ba-50x2000",
];
/// Classes of fronts, by the most bytes of each: the caches, about.
const CLASSES: [(&str, usize); 5] = [
    ("48 KiB", 48 << 10),
    ("128 KiB", 128 << 10),
    ("512 KiB", 512 << 10),
    ("2 MiB", 2 << 20),
    ("any", usize::MAX),
];

fn main() {
    let mut repetitions = 5;
    let mut names = Vec::new();
    for argument in std::env::args().skip(1).filter(|a| a != "--bench") {
        match argument.parse() {
            Ok(number) => repetitions = number,
            Err(_) => names.push(argument),
        }
    }
    if names.is_empty() {
        names = MATRICES.map(str::to_owned).to_vec();
    }
    println!("matrix, fronts up to        fronts   mean m x n     Mflop       ms  GFlop/s");
    for name in &names {
        let source = Source::from(name.as_str());
        let a = source.matrix::<f64>().expect("a matrix");
        let symbolic = analyse(a.matrix.pattern(), &Options::default()).expect("analysis");
        table(&a.name, &symbolic, repetitions);
    }
}

/// What a class of fronts took in all.
#[derive(Clone, Default)]
struct Class {
    fronts: u64,
    rows: u64,
    columns: u64,
    flops: u64,
    times: Vec<Duration>,
}

impl Class {
    fn add(&mut self, other: &Class) {
        self.fronts += other.fronts;
        self.rows += other.rows;
        self.columns += other.columns;
        self.flops += other.flops;
        self.times.resize(other.times.len(), Duration::ZERO);
        for (sum, time) in self.times.iter_mut().zip(&other.times) {
            *sum += *time;
        }
    }

    fn print(&self, name: &str, class: &str) {
        if self.fronts == 0 {
            return;
        }
        let mut times = self.times.clone();
        times.sort();
        let ms = times[times.len() / 2].as_secs_f64() * 1e3;
        let label = format!("{name}, {class}");
        let shape = format!(
            "{} x {}",
            self.rows / self.fronts,
            self.columns / self.fronts
        );
        let mflop = self.flops as f64 / 1e6;
        println!(
            "{label:26} {:7} {shape:>12} {mflop:9.1} {ms:8.2} {:8.1}",
            self.fronts,
            mflop / ms
        );
    }
}

fn class_of(m: usize, n: usize) -> usize {
    let bytes = m * n * size_of::<f64>();
    let class = CLASSES.iter().position(|&(_, most)| bytes <= most);
    class.expect("one holds any")
}

fn table(name: &str, symbolic: &Symbolic, repetitions: usize) {
    let mut classes = vec![Class::default(); CLASSES.len()];
    for (f, front) in symbolic.fronts().iter().enumerate() {
        if symbolic.front_tiles(f, size_of::<f64>()).is_some() {
            continue;
        }
        let (m, n) = (front.m as usize, front.n as usize);
        let stair = Stair::Rows(symbolic.stair(f));
        let class = &mut classes[class_of(m, n)];
        class.fronts += 1;
        class.rows += m as u64;
        class.columns += n as u64;
        class.flops += front_qr_flops::<f64>(m, n, 1, stair);
    }
    let mut scratch = Vec::new();
    for _ in 0..repetitions {
        for class in &mut classes {
            class.times.push(Duration::ZERO);
        }
        for (f, front) in symbolic.fronts().iter().enumerate() {
            if symbolic.front_tiles(f, size_of::<f64>()).is_some() {
                continue;
            }
            let (m, n) = (front.m as usize, front.n as usize);
            let time = run(front.reflectors(), (m, n), symbolic.stair(f), &mut scratch);
            let times = &mut classes[class_of(m, n)].times;
            *times.last_mut().expect("of this repetition") += time;
        }
    }
    let mut all = Class::default();
    for ((label, _), class) in CLASSES.iter().zip(&classes) {
        class.print(name, label);
        all.add(class);
    }
    all.print(name, "all");
}

/// Fills a front down to its staircase, and times the kernel on it.
fn run(
    reflectors: usize,
    (m, n): (usize, usize),
    stair: &[u32],
    scratch: &mut Vec<f64>,
) -> Duration {
    let ld = front_leading::<f64>(m);
    let (block, kernel) = (ld * (n + 1), front_qr_scratch::<f64>(ld, n, 1));
    let line = FRONT_ALIGNMENT / size_of::<f64>();
    scratch.resize((block + line + kernel + n).max(scratch.len()), 0.0);
    let skip = scratch.as_ptr().align_offset(FRONT_ALIGNMENT);
    let (block, rest) = scratch[skip..].split_at_mut(block);
    let (tau, kernel) = rest.split_at_mut(reflectors);
    let mut state = m as u64;
    let steps = stair.iter().map(|&s| s as usize).chain([m]);
    for (column, rows) in block.chunks_exact_mut(ld).zip(steps) {
        for x in &mut column[..rows] {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            *x = (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        }
        column[rows..].fill(0.0);
    }
    let begin = Instant::now();
    let front = MatMut::new(block, ld, n + 1, ld);
    front_qr(front, n, Stair::Rows(stair), tau, kernel);
    begin.elapsed()
}
