//! The kernels for devices, without one: as plain loops, and as their own sources compiled for the host, both behind a device that is
//! the host. By residuals, against the twins, and beside the CPU's kernels, which must be able to go on with what they leave.

mod assembly;
#[path = "../common/mod.rs"]
mod common;
mod fronts;
mod sources;

use assembly::{check_extend, check_place};
use common::{Rng, *};
use fronts::{check_fronts, check_sizes};
use proptest::prelude::*;
use sources::Sources;
use std::sync::Arc;
use treeqr_devices::{Device, HostDevice, HostFaults, Interpreter, Stream};
use treeqr_kernels::device::{self, HostKernels, scalar_kind};
use treeqr_kernels::*;
use treeqr_matrices::RealScalar;

/// A device with blocks on it, between stretches that must stay NaN.
struct Lab {
    device: Arc<dyn Device>,
    stream: Box<dyn Stream>,
    start: u64,
    next: u64,
}

const GAP: u64 = 64;
const LAB_BYTES: u64 = 4 << 20;
/// On a device there are larger tiles.
const DEVICE_LAB_BYTES: u64 = 64 << 20;

/// Where a test runs: on the host with an interpreter, or on a device.
#[derive(Clone)]
enum On {
    Host(Arc<dyn Interpreter>),
    Device(Arc<dyn Device>),
}

impl Lab {
    fn new(on: &On) -> Self {
        let (device, bytes): (Arc<dyn Device>, u64) = match on {
            On::Device(device) => (device.clone(), DEVICE_LAB_BYTES),
            On::Host(interpreter) => {
                let (interpreter, faults) = (interpreter.clone(), HostFaults::default());
                let host = HostDevice::new("host0", LAB_BYTES, interpreter, faults);
                (Arc::new(host), LAB_BYTES)
            }
        };
        let start = device.reserve(bytes).unwrap();
        let mut stream = device.stream().unwrap();
        stream.upload(&vec![0xff; bytes as usize], start).unwrap();
        stream.begin().unwrap();
        Lab {
            device,
            stream,
            start,
            next: start + GAP,
        }
    }

    fn room(&mut self, bytes: usize) -> u64 {
        let at = self.next;
        self.next += (bytes as u64).next_multiple_of(16) + GAP;
        at
    }

    fn put<T: KernelScalar>(&mut self, block: &common::Block<T>) -> device::Block {
        let bytes = to_bytes(&block.data);
        let address = self.room(bytes.len());
        self.stream.upload(&bytes, address).unwrap();
        device::Block {
            address,
            ld: block.ld,
        }
    }

    /// What lies where `like` was put.
    fn get<T: KernelScalar>(
        &mut self,
        at: device::Block,
        like: &common::Block<T>,
    ) -> common::Block<T> {
        self.stream.finish().unwrap();
        let mut bytes = vec![0; like.data.len() * size_of::<T>()];
        self.stream.download(at.address, &mut bytes).unwrap();
        common::Block {
            data: from_bytes(&bytes),
            ..like.clone()
        }
    }

    /// Nothing was written between the blocks: the stretch before each `at` is as the device began.
    fn check_gap(&mut self, at: u64) {
        let mut bytes = [0; GAP as usize];
        self.stream.download(at - GAP, &mut bytes).unwrap();
        assert!(
            bytes[16..].iter().all(|&b| b == 0xff),
            "written before {at:#x}"
        );
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.device.give_back(self.start);
    }
}

fn to_bytes<T: KernelScalar>(data: &[T]) -> Vec<u8> {
    let part = |x: T::Real| match size_of::<T::Real>() {
        4 => (x.to_f64() as f32).to_ne_bytes().to_vec(),
        _ => x.to_f64().to_ne_bytes().to_vec(),
    };
    let parts = |&x: &T| {
        [
            part(x.re()),
            if T::IS_COMPLEX {
                part(x.im())
            } else {
                Vec::new()
            },
        ]
        .concat()
    };
    data.iter().flat_map(parts).collect()
}

fn from_bytes<T: KernelScalar>(bytes: &[u8]) -> Vec<T> {
    let part = |bytes: &[u8]| match size_of::<T::Real>() {
        4 => f64::from(f32::from_ne_bytes(bytes.try_into().unwrap())),
        _ => f64::from_ne_bytes(bytes.try_into().unwrap()),
    };
    let number = |bytes: &[u8]| {
        let (re, im) = bytes.split_at(size_of::<T::Real>());
        T::from_f64(part(re), if T::IS_COMPLEX { part(im) } else { 0.0 })
    };
    bytes.chunks_exact(size_of::<T>()).map(number).collect()
}

/// Both sides that need no device.
fn interpreters(threads: u32) -> Vec<On> {
    let mut all = vec![On::Host(Arc::new(HostKernels))];
    if let Some(sources) = Sources::new(Some(threads)) {
        all.push(On::Host(Arc::new(sources)));
    }
    all
}

#[derive(Clone, Copy, Debug)]
struct Case {
    m: usize,
    n: usize,
    ib: usize,
    pad: usize,
    /// 0 full, 1 a staircase, 2 a triangle.
    below: usize,
    cols: usize,
    zeros: usize,
    seed: u64,
    threads: u32,
}

fn cases(most: usize) -> impl Strategy<Value = Case> {
    let shape = (1..most, 1..most, 1usize..40, 0usize..5);
    let rest = (0usize..3, 1usize..12, 0usize..3, any::<u64>(), 1u32..4);
    (shape, rest).prop_map(
        |((m, n, ib, pad), (below, cols, zeros, seed, warps))| Case {
            m,
            n,
            ib,
            pad,
            below,
            cols,
            zeros,
            seed,
            threads: 32 * warps,
        },
    )
}

fn steps(case: Case, rng: &mut Rng) -> Option<Vec<u32>> {
    match case.below {
        0 => None,
        1 => Some(staircase(case.m, case.n, rng)),
        _ => Some((0..case.n).map(|j| (j + 1).min(case.m) as u32).collect()),
    }
}

/// geqrt and gemqrt.
fn check_ge<T: KernelScalar>(case: Case, on: &On) {
    let Case { m, n, ib, pad, .. } = case;
    let rng = &mut Rng(case.seed);
    let (k, scalar) = (m.min(n), scalar_kind::<T>());
    let steps = steps(case, rng);
    let stair = stair_of(&steps);
    let mut a = common::Block::<T>::random(m, n, pad, rng);
    for _ in 0..case.zeros {
        a.view_mut().col_mut(rng.below(n)).fill(T::zero());
    }
    if let Some(s) = &steps {
        a = a.below(s, T::zero());
    }
    let mut lab = Lab::new(on);
    let (v, t) = (
        common::Block::filled(m, k, pad, nan::<T>()),
        common::Block::filled(ib, k, 0, T::zero()),
    );
    let (on_a, on_v, on_t) = (lab.put(&a), lab.put(&v), lab.put(&t));
    let bytes = device::ge_scratch_bytes(scalar, n.max(case.cols), ib);
    let scratch = lab.room(bytes);
    let stream = &mut *lab.stream;
    device::geqrt(stream, scalar, (m, n), on_a, stair, ib, on_v, on_t, scratch).unwrap();
    let (f, v, t) = (lab.get(on_a, &a), lab.get(on_v, &v), lab.get(on_t, &t));
    assert!(f.padding_is_untouched() && v.padding_is_untouched());
    for at in [on_a.address, on_v.address, on_t.address, scratch, lab.next] {
        lab.check_gap(at);
    }
    // V is what the CPU would have copied.
    let mut copied = common::Block::filled(m, k, pad, nan());
    copy_v(f.view(), stair, copied.view_mut());
    assert_eq!(v.bits(), copied.bits());
    // The CPU applies what the device has left.
    let apply = |op, c: &mut common::Block<T>| {
        let mut scratch = vec![nan(); gemqrt_scratch::<T>(m, c.n, k, ib)];
        gemqrt(
            op,
            v.view(),
            stair,
            ib,
            t.view(),
            c.view_mut(),
            &mut scratch,
        );
    };
    let mut q = common::Block::identity(m, pad);
    apply(Op::NoTrans, &mut q);
    assert_small::<T>("Q^H Q", orthogonality(&q), 1.0, m);
    let mut qr = f.clone().upper();
    apply(Op::NoTrans, &mut qr);
    let most = m.max(n);
    assert_small::<T>(
        "A - QR",
        distance(a.view(), qr.view()),
        norm(a.view()),
        most,
    );
    for op in [Op::NoTrans, Op::ConjTrans] {
        let c = common::Block::<T>::random(m, case.cols, pad, rng);
        let mut twin = c.clone();
        reference::gemqrt(op, v.view(), stair, ib, t.view(), twin.view_mut());
        let on_c = lab.put(&c);
        let stream = &mut *lab.stream;
        let size = (m, case.cols, k);
        device::gemqrt(
            stream, scalar, op, size, on_v, stair, ib, on_t, on_c, scratch,
        )
        .unwrap();
        let c = lab.get(on_c, &c);
        assert!(c.padding_is_untouched());
        lab.check_gap(on_c.address);
        let apart = distance(c.view(), twin.view());
        assert_small::<T>("gemqrt twin", apart, norm(twin.view()), m);
    }
}

/// tpqrt and tpmqrt, and copy_upper where the tile is a triangle.
fn check_tp<T: KernelScalar>(case: Case, on: &On) {
    let Case { m, n, ib, pad, .. } = case;
    let rng = &mut Rng(case.seed);
    let scalar = scalar_kind::<T>();
    let steps = steps(case, rng);
    let stair = stair_of(&steps);
    let height = |j| stair.rows(j, m);
    let r = common::Block::<T>::random(n, n, pad, rng).map(|i, j, x| if i > j { nan() } else { x });
    let b = common::Block::<T>::random(m, n, pad, rng)
        .map(|i, j, x| if i >= height(j) { nan() } else { x });
    let t = common::Block::filled(ib, n, 0, T::zero());
    let mut lab = Lab::new(on);
    let (on_r, on_b, on_t) = (lab.put(&r), lab.put(&b), lab.put(&t));
    let bytes = device::tp_scratch_bytes(scalar, m, n.max(case.cols), ib);
    let scratch = lab.room(bytes);
    let stream = &mut *lab.stream;
    device::tpqrt(stream, scalar, (m, n), on_r, on_b, stair, ib, on_t, scratch).unwrap();
    let (r2, b2, t) = (lab.get(on_r, &r), lab.get(on_b, &b), lab.get(on_t, &t));
    for at in [on_r.address, on_b.address, on_t.address, scratch, lab.next] {
        lab.check_gap(at);
    }
    common::below_is_untouched(&r2, &b2, stair);
    let v = b2
        .clone()
        .map(|i, j, x| if i >= height(j) { T::zero() } else { x });
    let on_v = lab.put(&common::Block::filled(m, n, pad, nan::<T>()));
    if case.below == 2 {
        device::copy_upper(&mut *lab.stream, scalar, (m, n), on_b, on_v).unwrap();
        assert_eq!(lab.get(on_v, &v).bits(), v.bits());
    } else {
        lab.stream.upload(&to_bytes(&v.data), on_v.address).unwrap();
    }
    let apply = |op, c1: &mut common::Block<T>, c2: &mut common::Block<T>| {
        let mut scratch = vec![nan(); tpmqrt_scratch::<T>(m, c1.n, n, ib)];
        let (c1, c2) = (c1.view_mut(), c2.view_mut());
        tpmqrt(op, v.view(), stair, ib, t.view(), c1, c2, &mut scratch);
    };
    let above = b.map(|i, j, x| if i >= height(j) { T::zero() } else { x });
    let before = r.upper().stack(&above);
    let zeros = |n| common::Block::filled(m, n, pad, T::zero());
    let (mut q1, mut q2) = (common::Block::identity(n, pad), zeros(n));
    apply(Op::NoTrans, &mut q1, &mut q2);
    assert_small::<T>("Q^H Q", orthogonality(&q1.stack(&q2)), 1.0, m + n);
    let (mut qr1, mut qr2) = (r2.upper(), zeros(n));
    apply(Op::NoTrans, &mut qr1, &mut qr2);
    let apart = distance(before.view(), qr1.stack(&qr2).view());
    assert_small::<T>("A - QR", apart, norm(before.view()), m + n);
    for op in [Op::NoTrans, Op::ConjTrans] {
        let c1 = common::Block::<T>::random(n, case.cols, pad, rng);
        let c2 = common::Block::<T>::random(m, case.cols, pad, rng);
        let (mut twin1, mut twin2) = (c1.clone(), c2.clone());
        let (t1, t2) = (twin1.view_mut(), twin2.view_mut());
        reference::tpmqrt(op, v.view(), stair, ib, t.view(), t1, t2);
        let (on_1, on_2) = (lab.put(&c1), lab.put(&c2));
        let size = (m, case.cols, n);
        let stream = &mut *lab.stream;
        device::tpmqrt(
            stream, scalar, op, size, on_v, stair, ib, on_t, on_1, on_2, scratch,
        )
        .unwrap();
        let c = lab.get(on_1, &c1).stack(&lab.get(on_2, &c2));
        let twin = twin1.stack(&twin2);
        let apart = distance(c.view(), twin.view());
        assert_small::<T>("tpmqrt twin", apart, norm(twin.view()), m + n);
    }
}

fn check(case: Case) {
    for interpreter in interpreters(case.threads) {
        four_scalars!(check_ge(case, &interpreter));
        four_scalars!(check_tp(case, &interpreter));
        check_copies(case, &interpreter);
    }
}

/// Assembly.
fn check_copies(case: Case, on: &On) {
    let size = (case.m, case.n);
    four_scalars!(check_extend(size, true, case.seed, on));
    four_scalars!(check_extend(size, false, case.seed, on));
    four_scalars!(check_place(case.m * case.n, case.seed, on));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn kernels_agree_with_their_twins(case in cases(40)) {
        check(case);
    }
}

#[test]
fn edges_and_tall_tiles() {
    let shapes = [
        (1, 1, 1),
        (1, 5, 3),
        (5, 1, 9),
        (8, 8, 8),
        (2, 2, 1),
        (150, 40, 32),
        (40, 90, 128),
    ];
    for (m, n, ib) in shapes {
        for below in 0..3 {
            check(Case {
                m,
                n,
                ib,
                pad: 3,
                below,
                cols: 5,
                zeros: 1,
                seed: 7,
                threads: 32,
            });
        }
    }
}

#[test]
fn batches_of_fronts() {
    check_sizes();
    for threads in [32, 96] {
        for on in interpreters(threads) {
            for (count, most, seed) in [(1, 1, 1), (7, 5, 2), (3, 40, 3), (20, 12, 4)] {
                four_scalars!(check_fronts(count, most, seed, &on));
            }
        }
    }
}

#[test]
fn blocks_of_as_many_threads_as_on_a_device() {
    let Some(sources) = Sources::new(None) else {
        return;
    };
    let interpreter = On::Host(Arc::new(sources));
    let case = Case {
        m: 90,
        n: 48,
        ib: 32,
        pad: 1,
        below: 1,
        cols: 20,
        zeros: 1,
        seed: 11,
        threads: 0,
    };
    check_ge::<f64>(case, &interpreter);
    check_tp::<f64>(case, &interpreter);
}

/// Heights for which strips are made by other kernels, and one that no strip has.
fn tall(on: &On, sizes: [(usize, usize, usize); 3]) {
    for (below, (m, n, ib)) in sizes.into_iter().enumerate() {
        let case = Case {
            m,
            n,
            ib,
            pad: 1,
            below: below % 2,
            cols: 3,
            zeros: 1,
            seed: 17,
            threads: 32,
        };
        four_scalars!(check_tp(case, on));
        if m < 1500 {
            check_ge::<f64>(case, on);
            check_ge::<treeqr_matrices::c64>(case, on);
        }
    }
}

#[test]
fn tall_strips() {
    for on in interpreters(32) {
        tall(&on, [(280, 34, 34), (1030, 10, 10), (2060, 3, 3)]);
    }
}

/// Every kernel that a front needs, once; on zeros, which stay.
#[test]
fn warming_up() {
    let (interpreter, faults) = (Arc::new(HostKernels), HostFaults::default());
    let device = HostDevice::new("host0", 32 << 20, interpreter, faults);
    for scalar in treeqr_devices::ScalarKind::ALL {
        device::warm_up(&device, scalar).unwrap();
    }
    // It has given back what it took.
    device.give_back(device.reserve(32 << 20).unwrap());
}

/// The same on a device, where there is one.
#[test]
fn on_a_cuda_device_if_there_is_one() {
    let device = match treeqr_devices::open(0, device::MODULES) {
        Ok(device) => device,
        Err(error) => return eprintln!("SKIPPED: no kernel ran on a device: {error}"),
    };
    let on = On::Device(device);
    four_scalars!(check_fronts(2000, 12, 5, &on));
    four_scalars!(check_fronts(50, 45, 6, &on));
    tall(&on, [(600, 140, 128), (1100, 90, 64), (2060, 40, 32)]);
    let shapes = [
        (1, 1, 1),
        (1, 5, 3),
        (5, 1, 9),
        (8, 8, 8),
        (33, 33, 100),
        (150, 40, 32),
        (40, 90, 128),
        (257, 130, 48),
    ];
    for (m, n, ib) in shapes {
        for below in 0..3 {
            let case = Case {
                m,
                n,
                ib,
                pad: 3,
                below,
                cols: 5,
                zeros: 1,
                seed: 7,
                threads: 0,
            };
            four_scalars!(check_ge(case, &on));
            four_scalars!(check_tp(case, &on));
            check_copies(case, &on);
        }
    }
}

/// Columns whose squares overflow or vanish, and NaN, as in `extremes.rs`.
#[test]
fn extremes_and_nan() {
    fn column<T: KernelScalar>(on: &On, size: f64) -> (T, T, T) {
        let mut lab = Lab::new(on);
        let mut a = common::Block::<T>::filled(3, 1, 0, T::zero());
        for (i, x) in [3.0, 0.0, 4.0].into_iter().enumerate() {
            a.view_mut().set(i, 0, T::from_f64(x * size, 0.0));
        }
        let (v, t) = (a.clone(), common::Block::filled(1, 1, 0, T::zero()));
        let (on_a, on_v, on_t) = (lab.put(&a), lab.put(&v), lab.put(&t));
        let scratch = lab.room(1024);
        let stream = &mut *lab.stream;
        let scalar = scalar_kind::<T>();
        device::geqrt(
            stream,
            scalar,
            (3, 1),
            on_a,
            Stair::Full,
            1,
            on_v,
            on_t,
            scratch,
        )
        .unwrap();
        let f = lab.get(on_a, &a);
        (
            f.view().at(0, 0),
            f.view().at(2, 0),
            lab.get(on_t, &t).view().at(0, 0),
        )
    }
    for (k, interpreter) in interpreters(32).into_iter().enumerate() {
        for size in [1e-300, 1e-160, 1.0, 1e160, 1e300] {
            let (beta, v, tau) = column::<f64>(&interpreter, size);
            let close = |x: f64, y: f64| (x - y).abs() <= 1e-15 * y.abs();
            assert!(
                close(beta / size, -5.0) && close(v, 0.5) && close(tau, 1.6),
                "{size}: {beta} {v} {tau}"
            );
            // The twin divides by complex numbers, whose squares vanish at 1e-160.
            if k == 1 {
                let (beta, v, tau) = column::<num_complex::Complex<f64>>(&interpreter, size);
                let told = format!("{size}: {beta} {v} {tau}");
                assert!(
                    close(beta.re / size, -5.0) && close(v.re, 0.5) && close(tau.re, 1.6),
                    "{told}"
                );
            }
        }
        for size in [1e-36, 1e-20, 1e20, 1e36] {
            let (beta, v, tau) = column::<f32>(&interpreter, size);
            let close = |x: f32, y: f32| (x - y).abs() <= 1e-6 * y.abs();
            assert!(
                close((f64::from(beta) / size) as f32, -5.0) && close(v, 0.5) && close(tau, 1.6)
            );
        }
        let (beta, v, _) = column::<f64>(&interpreter, f64::NAN);
        assert!(beta.is_nan() && v.is_nan());
        assert_eq!(column::<f64>(&interpreter, 0.0), (0.0, 0.0, 0.0));
    }
}
