//! Batches of small fronts on a device, each against the CPU's whole-front kernel.

use super::common::{self, Rng, assert_small, distance, norm, staircase};
use super::{Lab, On, to_bytes};
use treeqr_kernels::device::{self, FRONT_BYTES, FrontShape, scalar_kind};
use treeqr_kernels::{KernelScalar, Stair, front_qr, front_qr_scratch};
use treeqr_matrices::RealScalar;

struct Front<T> {
    a: common::Block<T>,
    stair: Vec<u32>,
    shape: FrontShape,
}

/// `count` fronts of at most `most` rows and columns, with right-hand sides or not, as one batch.
pub fn check_fronts<T: KernelScalar>(count: usize, most: usize, seed: u64, on: &On) {
    let rng = &mut Rng(seed);
    let scalar = scalar_kind::<T>();
    let (mut entries, mut reflectors, mut steps) = (0, 0, 0);
    let mut fronts = Vec::new();
    for _ in 0..count {
        let (m, n) = (1 + rng.below(most), 1 + rng.below(most));
        let cols = n + [0, 0, 3][rng.below(3)];
        let stair = match rng.below(2) {
            0 => vec![m as u32; n],
            _ => staircase(m, n, rng),
        };
        let mut a = common::Block::<T>::random(m, cols, 0, rng);
        for (j, &rows) in stair.iter().enumerate() {
            a.view_mut().col_mut(j)[rows as usize..].fill(T::zero());
        }
        if rng.below(4) == 0 {
            a.view_mut().col_mut(rng.below(n)).fill(T::zero());
        }
        let shape = FrontShape {
            at: entries,
            tau: reflectors,
            m: m as u32,
            n: n as u32,
            cols: cols as u32,
            stair: steps,
        };
        assert!(shape.fits(scalar));
        assert_eq!(FrontShape::from_bytes(&shape.to_bytes()), shape);
        entries += (m * cols) as u64;
        reflectors += m.min(n) as u64;
        steps += n as u32;
        fronts.push(Front { a, stair, shape });
    }
    let all: Vec<T> = fronts
        .iter()
        .flat_map(|f| f.a.data.iter().copied())
        .collect();
    let line = |data: Vec<T>| common::Block {
        data,
        ..common::Block::filled(0, 0, 0, T::zero())
    };
    let numbers = line(all);
    let tau = line(vec![common::nan(); reflectors as usize]);
    let mut lab = Lab::new(on);
    let (on_fronts, on_taus) = (lab.put(&numbers), lab.put(&tau));
    let stairs = fronts.iter().flat_map(|f| &f.stair);
    let stairs: Vec<u8> = stairs.flat_map(|rows| rows.to_ne_bytes()).collect();
    let list: Vec<u8> = fronts.iter().flat_map(|f| f.shape.to_bytes()).collect();
    let (on_stairs, on_list) = (lab.room(stairs.len()), lab.room(list.len()));
    lab.stream.put(&stairs, on_stairs).unwrap();
    lab.stream.put(&list, on_list).unwrap();
    let addresses = (on_fronts.address, on_taus.address, on_stairs);
    device::front_qr_batch(&mut *lab.stream, scalar, count, on_list, addresses).unwrap();
    let (found, taus) = (lab.get(on_fronts, &numbers), lab.get(on_taus, &tau));
    for at in [on_fronts.address, on_taus.address, on_stairs, on_list] {
        lab.check_gap(at);
    }
    for Front { a, stair, shape } in fronts {
        let (m, n, cols) = (a.m, shape.n as usize, a.n);
        let mut twin = a.clone();
        let mut twin_tau = vec![T::zero(); m.min(n)];
        let mut scratch = vec![T::zero(); front_qr_scratch::<T>(m, n, cols - n)];
        let rows = Stair::Rows(&stair);
        front_qr(twin.view_mut(), n, rows, &mut twin_tau, &mut scratch);
        let (at, tau) = (shape.at as usize, shape.tau as usize);
        let mine = common::Block {
            data: found.data[at..at + m * cols].to_vec(),
            ..a.clone()
        };
        let apart = distance(mine.view(), twin.view());
        let told = format!("front of {m} x {n} + {}", cols - n);
        assert_small::<T>(&told, apart, norm(a.view()).max(1.0), 20 * (m + cols));
        for (k, &twin) in twin_tau.iter().enumerate() {
            let off = (taus.data[tau + k] - twin).abs2().to_f64().sqrt();
            assert_small::<T>(&format!("{told}, tau {k}"), off, 1.0, 20 * (m + n));
        }
    }
}

/// Every front larger than what a block of threads holds is refused by who asks.
pub fn check_sizes() {
    use treeqr_devices::ScalarKind::*;
    let shape = |m, cols| FrontShape {
        at: 0,
        tau: 0,
        m,
        n: cols,
        cols,
        stair: 0,
    };
    for scalar in [F32, F64, C32, C64] {
        let entries = (FRONT_BYTES / scalar.bytes()) as u32;
        assert!(shape(entries, 1).fits(scalar) && !shape(entries + 1, 1).fits(scalar));
        assert!(!shape(u32::MAX, u32::MAX).fits(scalar));
    }
    assert_eq!(to_bytes(&[1.0f64]).len(), 8);
}
