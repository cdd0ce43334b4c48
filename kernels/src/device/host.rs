//! The device kernels with plain loops, on the host's copy of a device's memory: for tests of all that needs no device.
//!
//! Takes the same launches and products as a device. Nothing here is made to be fast, and nothing is shared with the sources in
//! `kernels/cuda/`: reflectors are those of [`crate::reference`].

use super::{Block, FrontShape};
use crate::reference::{larf, larfg, larft_column};
use crate::scalar::KernelScalar;
use num_complex::Complex;
use treeqr_devices::{Arg, Gemm, Interpreter, Launch, ScalarKind};
use treeqr_matrices::RealScalar;

/// All kernels.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostKernels;

impl Interpreter for HostKernels {
    fn launch(&self, launch: &Launch, memory: &mut [u8], base: u64) {
        match launch.scalar {
            ScalarKind::F32 => run::<f32>(launch, memory, base),
            ScalarKind::F64 => run::<f64>(launch, memory, base),
            ScalarKind::C32 => run::<Complex<f32>>(launch, memory, base),
            ScalarKind::C64 => run::<Complex<f64>>(launch, memory, base),
        }
    }

    fn gemm(&self, gemm: &Gemm, memory: &mut [u8], base: u64) {
        match gemm.scalar {
            ScalarKind::F32 => multiply::<f32>(gemm, memory, base),
            ScalarKind::F64 => multiply::<f64>(gemm, memory, base),
            ScalarKind::C32 => multiply::<Complex<f32>>(gemm, memory, base),
            ScalarKind::C64 => multiply::<Complex<f64>>(gemm, memory, base),
        }
    }
}

/// A device's memory as numbers of type T.
struct Numbers<'m> {
    bytes: &'m mut [u8],
    base: u64,
}

fn real<R: RealScalar>(bytes: &[u8]) -> f64 {
    match size_of::<R>() {
        4 => f32::from_ne_bytes(bytes[..4].try_into().expect("four")).into(),
        _ => f64::from_ne_bytes(bytes[..8].try_into().expect("eight")),
    }
}

fn set_real<R: RealScalar>(bytes: &mut [u8], x: R) {
    match size_of::<R>() {
        4 => bytes[..4].copy_from_slice(&(x.to_f64() as f32).to_ne_bytes()),
        _ => bytes[..8].copy_from_slice(&x.to_f64().to_ne_bytes()),
    }
}

impl Numbers<'_> {
    /// Entry k of a list of indices.
    fn index(&self, list: u64, k: usize) -> usize {
        let place = (list - self.base) as usize + 4 * k;
        let bytes = self.bytes[place..place + 4].try_into().expect("four");
        i32::from_ne_bytes(bytes) as usize
    }

    fn place<T>(&self, block: Block, i: usize, j: usize) -> usize {
        (block.address - self.base) as usize + (i + j * block.ld) * size_of::<T>()
    }

    fn get<T: KernelScalar>(&self, block: Block, i: usize, j: usize) -> T {
        let bytes = &self.bytes[self.place::<T>(block, i, j)..][..size_of::<T>()];
        let part = size_of::<T::Real>();
        let im = if T::IS_COMPLEX {
            real::<T::Real>(&bytes[part..])
        } else {
            0.0
        };
        T::from_f64(real::<T::Real>(bytes), im)
    }

    fn set<T: KernelScalar>(&mut self, block: Block, i: usize, j: usize, x: T) {
        let place = self.place::<T>(block, i, j);
        let bytes = &mut self.bytes[place..][..size_of::<T>()];
        set_real(bytes, x.re());
        if T::IS_COMPLEX {
            set_real(&mut bytes[size_of::<T::Real>()..], x.im());
        }
    }

    fn column<T: KernelScalar>(
        &self,
        block: Block,
        j: usize,
        rows: std::ops::Range<usize>,
    ) -> Vec<T> {
        rows.map(|i| self.get(block, i, j)).collect()
    }

    fn set_column<T: KernelScalar>(&mut self, block: Block, j: usize, from: usize, column: &[T]) {
        for (i, &x) in column.iter().enumerate() {
            self.set(block, from + i, j, x);
        }
    }
}

/// The arguments of a launch, taken one after the other.
struct Args<'a>(std::slice::Iter<'a, Arg>);

impl Args<'_> {
    fn block(&mut self) -> Block {
        match (self.0.next(), self.0.next()) {
            (Some(&Arg::Address(address)), Some(&Arg::Int(ld))) => Block {
                address,
                ld: ld as usize,
            },
            other => panic!("no block: {other:?}"),
        }
    }

    fn address(&mut self) -> u64 {
        match self.0.next() {
            Some(&Arg::Address(address)) => address,
            other => panic!("no address: {other:?}"),
        }
    }

    fn int(&mut self) -> usize {
        match self.0.next() {
            Some(&Arg::Int(x)) => x as usize,
            other => panic!("no number: {other:?}"),
        }
    }

    fn stair(&mut self) -> Vec<usize> {
        match self.0.next() {
            Some(Arg::Ints(rows)) => rows.iter().map(|&r| r as usize).collect(),
            other => panic!("no staircase: {other:?}"),
        }
    }
}

fn run<T: KernelScalar>(launch: &Launch, bytes: &mut [u8], base: u64) {
    let mut memory = Numbers { bytes, base };
    let mut args = Args(launch.args.iter());
    match launch.kernel {
        "extend" => return extend::<T>(&mut memory, args),
        "place" => return place::<T>(&mut memory, args),
        "fronts" => return fronts::<T>(&mut memory, args),
        "strip_256" | "strip_1024" | "strip_2048" => return strip::<T>(&mut memory, args),
        "strip_apply" => return strip_apply::<T>(&mut memory, args),
        "merge_t" => return merge_t::<T>(&mut memory, args),
        _ => {}
    }
    let (a, to) = (args.block(), args.block());
    if launch.kernel == "panel" {
        let (t, width) = (args.block(), args.int());
        let inside = args.int() == 1;
        return panel::<T>(&mut memory, a, to, t, width, inside, &args.stair());
    }
    let (m, n) = (args.int(), args.int());
    let zero = T::zero();
    let shift = if launch.kernel == "copy_v" {
        args.int()
    } else {
        0
    };
    let stair = if launch.kernel == "copy_stair" {
        args.stair()
    } else {
        Vec::new()
    };
    for j in 0..n {
        let height = stair.get(j).copied().unwrap_or(0);
        for i in 0..m {
            // Read only where it counts: the rest may not be there.
            let x = || memory.get::<T>(a, i, j);
            let x = match launch.kernel {
                "copy" => x(),
                "copy_v" if i == j + shift => T::one(),
                "copy_v" => {
                    if i > j + shift {
                        x()
                    } else {
                        zero
                    }
                }
                "copy_upper" => {
                    if i <= j {
                        x()
                    } else {
                        zero
                    }
                }
                "copy_stair" => {
                    if i < height {
                        x()
                    } else {
                        zero
                    }
                }
                "subtract" => memory.get::<T>(to, i, j) - x(),
                other => panic!("there is no kernel `{other}`"),
            };
            memory.set(to, i, j, x);
        }
    }
}

fn panel<T: KernelScalar>(
    memory: &mut Numbers<'_>,
    a: Block,
    r: Block,
    t: Block,
    width: usize,
    inside: bool,
    stair: &[usize],
) {
    let heads = if inside { a } else { r };
    let mut factor: Vec<Vec<T>> = Vec::new();
    // Columns of V as they count for T, from the first row on.
    let mut vs: Vec<Vec<T>> = Vec::new();
    for j in 0..width {
        let top = if inside { j + 1 } else { 0 };
        let rows = top..stair[j].max(top);
        let mut tail: Vec<T> = memory.column(a, j, rows.clone());
        let mut tau = T::zero();
        if !tail.is_empty() {
            let mut head = memory.get(heads, j, j);
            tau = larfg(&mut head, &mut tail);
            memory.set(heads, j, j, head);
            memory.set_column(a, j, top, &tail);
            for c in j + 1..width {
                let (mut head, mut column) =
                    (memory.get(heads, j, c), memory.column(a, c, rows.clone()));
                larf(tau.conj(), &tail, &mut head, &mut column);
                memory.set(heads, j, c, head);
                memory.set_column(a, c, top, &column);
            }
        }
        let mut v = vec![T::zero(); top];
        if inside {
            v[j] = T::one();
        }
        v.extend(tail);
        let products: Vec<T> = vs
            .iter()
            .map(|u| u.iter().zip(&v).map(|(&u, &v)| u.conj() * v).sum())
            .collect();
        larft_column(&mut factor, tau, &products);
        vs.push(v);
    }
    for (j, column) in factor.iter().enumerate() {
        memory.set_column(t, j, 0, column);
        memory.set_column(t, j, column.len(), &vec![T::zero(); width - column.len()]);
    }
}

/// A part of a panel: its own panel, whose rows begin at its first head where the heads are inside.
fn strip<T: KernelScalar>(memory: &mut Numbers<'_>, mut args: Args<'_>) {
    let (a, r, t) = (args.block(), args.block(), args.block());
    let (from, width, inside) = (args.int(), args.int(), args.int() == 1);
    let top = if inside { from } else { 0 };
    let part = |block: Block, i: usize, j: usize| Block {
        address: block.address + ((i + j * block.ld) * size_of::<T>()) as u64,
        ..block
    };
    let stair = &args.stair()[from..from + width];
    let stair: Vec<usize> = stair.iter().map(|r| r.saturating_sub(top)).collect();
    let (a, r, t) = (part(a, top, from), part(r, from, from), part(t, from, from));
    panel::<T>(memory, a, r, t, width, inside, &stair);
}

/// Column k of V as it counts, its unit diagonal and its zeros included.
fn reflector<T: KernelScalar>(
    memory: &Numbers<'_>,
    a: Block,
    k: usize,
    inside: bool,
    stair: &[usize],
) -> Vec<T> {
    let entry = |i: usize| match (inside, i.cmp(&k)) {
        (true, std::cmp::Ordering::Less) => T::zero(),
        (true, std::cmp::Ordering::Equal) => T::one(),
        _ => memory.get(a, i, k),
    };
    (0..stair[k]).map(entry).collect()
}

/// The strip's reflectors act on the columns to its right; to its left are their products with the reflectors there.
fn strip_apply<T: KernelScalar>(memory: &mut Numbers<'_>, mut args: Args<'_>) {
    let (a, r, t) = (args.block(), args.block(), args.block());
    let (g, from, width) = (args.address(), args.int(), args.int());
    let (inside, count) = (args.int() == 1, args.int());
    let g = Block {
        address: g,
        ld: count,
    };
    let stair = args.stair();
    let vs = (from..from + width).map(|k| reflector::<T>(memory, a, k, inside, &stair));
    let vs: Vec<Vec<T>> = vs.collect();
    for l in 0..from {
        let left = reflector::<T>(memory, a, l, inside, &stair);
        for (k, v) in vs.iter().enumerate() {
            let product = left.iter().zip(v).map(|(&x, &v)| x.conj() * v).sum();
            memory.set::<T>(g, l, from + k, product);
        }
    }
    for (c, &rows) in stair.iter().enumerate().take(count).skip(from + width) {
        let mut column: Vec<T> = memory.column(a, c, 0..rows);
        let heads = |memory: &Numbers<'_>, k: usize| match inside {
            true => T::zero(),
            false => memory.get(r, from + k, c),
        };
        let products: Vec<T> = (0..width)
            .map(|k| {
                let product: T = vs[k].iter().zip(&column).map(|(&v, &x)| v.conj() * x).sum();
                heads(memory, k) + product
            })
            .collect();
        for (k, v) in vs.iter().enumerate() {
            let factor = |l| memory.get::<T>(t, from + l, from + k).conj();
            let by: T = (0..=k).map(|l| factor(l) * products[l]).sum();
            if !inside {
                let head = heads(memory, k);
                memory.set(r, from + k, c, head - by);
            }
            for (x, &v) in column.iter_mut().zip(v) {
                *x -= v * by;
            }
        }
        memory.set_column(a, c, 0, &column);
    }
}

/// T of a panel, column by column, from those of its strips and the products beside them.
fn merge_t<T: KernelScalar>(memory: &mut Numbers<'_>, mut args: Args<'_>) {
    let (t, g) = (args.block(), args.address());
    let (count, width) = (args.int(), args.int());
    let g = Block {
        address: g,
        ld: count,
    };
    let mut factor: Vec<Vec<T>> = Vec::new();
    for j in 0..count {
        let from = j - j % width;
        let own: Vec<T> = memory.column(t, j, from..j + 1);
        let product = |l: usize| -> T {
            let along = own.iter().enumerate();
            along
                .map(|(k, &x)| memory.get::<T>(g, l, from + k) * x)
                .sum()
        };
        let products: Vec<T> = (0..from).map(product).collect();
        let above = |i: usize| -> T { (i..from).map(|l| factor[l][i] * products[l]).sum() };
        let mut column: Vec<T> = (0..from).map(|i| T::zero() - above(i)).collect();
        column.extend(own);
        factor.push(column);
    }
    for (j, column) in factor.iter().enumerate() {
        memory.set_column(t, j, 0, column);
        memory.set_column(t, j, column.len(), &vec![T::zero(); count - column.len()]);
    }
}

/// The packed block is walked from its first column on, as it was written.
fn extend<T: KernelScalar>(memory: &mut Numbers<'_>, mut args: Args<'_>) {
    let (from, packed) = (args.block(), args.int());
    let (rows, cols) = (args.address(), args.address());
    let (to, top, left) = (args.block(), args.int(), args.int());
    let (m, n, row, col) = (args.int(), args.int(), args.int(), args.int());
    let trapezoid = args.int() == 1;
    let mut start: usize = (0..col).map(|c| (c + 1).min(packed)).sum();
    for j in 0..n {
        for i in 0..m {
            if trapezoid && row + i > col + j {
                break;
            }
            let x = match packed {
                0 => memory.get::<T>(from, i, j),
                _ => memory.get(Block { ld: 0, ..from }, start + row + i, 0),
            };
            let (i, j) = (memory.index(rows, i) - top, memory.index(cols, j) - left);
            memory.set(to, i, j, x);
        }
        start += (col + j + 1).min(packed);
    }
}

fn place<T: KernelScalar>(memory: &mut Numbers<'_>, mut args: Args<'_>) {
    let (values, places, n) = (args.address(), args.address(), args.int());
    let line = |address| Block { address, ld: 0 };
    let to = args.address();
    for k in 0..n {
        let x = memory.get::<T>(line(values), k, 0);
        let at = memory.index(places, k);
        memory.set(line(to), at, 0, x);
    }
}

fn fronts<T: KernelScalar>(memory: &mut Numbers<'_>, mut args: Args<'_>) {
    let (first, taus, stairs) = (args.address(), args.address(), args.address());
    let (list, count) = (args.address(), args.int());
    for f in 0..count {
        let place = (list - memory.base) as usize + FrontShape::BYTES * f;
        let bytes = memory.bytes[place..place + FrontShape::BYTES].try_into();
        let shape = FrontShape::from_bytes(&bytes.expect("a shape"));
        let behind = |address: u64, numbers: u64| address + numbers * size_of::<T>() as u64;
        let (m, n, cols) = (shape.m as usize, shape.n as usize, shape.cols as usize);
        let a = Block {
            address: behind(first, shape.at),
            ld: m,
        };
        let line = Block {
            address: behind(taus, shape.tau),
            ld: 0,
        };
        for j in 0..m.min(n) {
            let rows = j + 1..memory.index(stairs, shape.stair as usize + j).max(j + 1);
            let mut tau = T::zero();
            if !rows.is_empty() {
                let (mut head, mut tail) =
                    (memory.get::<T>(a, j, j), memory.column(a, j, rows.clone()));
                tau = larfg(&mut head, &mut tail);
                memory.set(a, j, j, head);
                memory.set_column(a, j, j + 1, &tail);
                for c in j + 1..cols {
                    let (mut head, mut column) =
                        (memory.get(a, j, c), memory.column(a, c, rows.clone()));
                    larf(tau.conj(), &tail, &mut head, &mut column);
                    memory.set(a, j, c, head);
                    memory.set_column(a, c, j + 1, &column);
                }
            }
            memory.set(line, j, 0, tau);
        }
    }
}

fn multiply<T: KernelScalar>(gemm: &Gemm, bytes: &mut [u8], base: u64) {
    let mut memory = Numbers { bytes, base };
    let block = |address, ld| Block { address, ld };
    let (a, b, c) = (
        block(gemm.a, gemm.lda),
        block(gemm.b, gemm.ldb),
        block(gemm.c, gemm.ldc),
    );
    // op(A) by rows.
    let rows: Vec<Vec<T>> = (0..gemm.m)
        .map(|i| {
            let entry = |l| match gemm.adjoint {
                true => memory.get::<T>(a, l, i).conj(),
                false => memory.get(a, i, l),
            };
            (0..gemm.k).map(entry).collect()
        })
        .collect();
    for j in 0..gemm.n {
        let column: Vec<T> = memory.column(b, j, 0..gemm.k);
        for (i, row) in rows.iter().enumerate() {
            let sum: T = row.iter().zip(&column).map(|(&x, &y)| x * y).sum();
            let mut x = sum * T::from_f64(gemm.alpha, 0.0);
            if gemm.beta != 0.0 {
                x += memory.get::<T>(c, i, j);
            }
            memory.set(c, i, j, x);
        }
    }
}
