//! How fast the kernels are on a CUDA device, beside cuBLAS's matrix product there: `benches/device.sh` runs it.
//!
//! Takes the number of a device, 0 by default; prints a line of JSON for each kernel, scalar and tile size. Says so where there is no
//! device. Times are the device's own, from its events; each is the best of some repetitions after a warm-up.

use treeqr_devices::{Device, DeviceError, Gemm, ScalarKind, Stream, open};
use treeqr_kernels::device::{self, Block, MODULES, ge_scratch_bytes, tp_scratch_bytes};
use treeqr_kernels::{Op, Stair, gemqrt_flops, geqrt_flops, tpmqrt_flops, tpqrt_flops};

const REPETITIONS: usize = 5;

fn main() {
    let ordinal = std::env::args().nth(1).and_then(|n| n.parse().ok());
    let device = match open(ordinal.unwrap_or(0), MODULES) {
        Ok(device) => device,
        Err(error) => return println!("SKIPPED: {error}"),
    };
    for scalar in [
        ScalarKind::F64,
        ScalarKind::F32,
        ScalarKind::C64,
        ScalarKind::C32,
    ] {
        for (nb, ib) in [
            (128, 32),
            (256, 32),
            (256, 64),
            (512, 64),
            (512, 128),
            (1024, 128),
        ] {
            if let Err(error) = table(&*device, scalar, nb, ib) {
                println!("FAILED: {error}");
                return;
            }
        }
    }
}

/// Tiles of nb x nb, all of them next to each other in one reservation.
fn table(device: &dyn Device, scalar: ScalarKind, nb: usize, ib: usize) -> Result<(), DeviceError> {
    let tile = (nb * nb * scalar.bytes()) as u64;
    let scratch = tp_scratch_bytes(scalar, nb, nb, ib).max(ge_scratch_bytes(scalar, nb, ib)) as u64;
    let start = device.reserve(6 * tile + scratch.next_multiple_of(256))?;
    let done = rows(device, scalar, (nb, ib), start, tile);
    device.give_back(start);
    done
}

fn rows(
    device: &dyn Device,
    scalar: ScalarKind,
    (nb, ib): (usize, usize),
    start: u64,
    tile: u64,
) -> Result<(), DeviceError> {
    let mut stream = device.stream()?;
    let stream = &mut *stream;
    let at = |k: u64| Block {
        address: start + k * tile,
        ld: nb,
    };
    let (a, v, t, c1, c2) = (at(0), at(1), Block { ld: ib, ..at(2) }, at(3), at(4));
    let scratch = start + 6 * tile;
    let numbers = numbers(scalar, nb);
    let fill = |stream: &mut dyn Stream, block: Block| stream.upload(&numbers, block.address);
    for block in [a, v, c1, c2] {
        fill(stream, block)?;
    }
    let (stair, op) = (Stair::Full, Op::ConjTrans);
    let real = if matches!(scalar, ScalarKind::C32 | ScalarKind::C64) {
        4
    } else {
        1
    };
    let row = |stream: &mut dyn Stream,
               name: &str,
               refill: bool,
               flops: u64,
               run: &mut dyn FnMut(&mut dyn Stream) -> Result<(), DeviceError>|
     -> Result<(), DeviceError> {
        let mut best = f64::INFINITY;
        for _ in 0..=REPETITIONS {
            if refill {
                fill(stream, a)?;
            }
            stream.begin()?;
            run(stream)?;
            best = best.min(stream.finish()?.duration().as_secs_f64());
        }
        let gflops = (real * flops) as f64 / best / 1e9;
        println!(
            "{{\"kernel\": \"{name}\", \"scalar\": \"{}\", \"nb\": {nb}, \"ib\": {ib}, \"time_s\": {best:e}, \"gflops\": {gflops:.1}}}",
            scalar.name()
        );
        Ok(())
    };
    row(stream, "gemm", true, 2 * (nb * nb * nb) as u64, &mut |s| {
        s.gemm(&Gemm {
            scalar,
            adjoint: true,
            m: nb,
            n: nb,
            k: nb,
            alpha: 1.0,
            a: a.address,
            lda: nb,
            b: c1.address,
            ldb: nb,
            beta: 0.0,
            c: c2.address,
            ldc: nb,
        })
    })?;
    row(
        stream,
        "geqrt",
        true,
        geqrt_flops::<f64>(nb, nb, stair),
        &mut |s| device::geqrt(s, scalar, (nb, nb), a, stair, ib, v, t, scratch),
    )?;
    row(
        stream,
        "gemqrt",
        false,
        gemqrt_flops::<f64>(nb, nb, nb, stair),
        &mut |s| device::gemqrt(s, scalar, op, (nb, nb, nb), v, stair, ib, t, c2, scratch),
    )?;
    row(
        stream,
        "tpqrt",
        true,
        tpqrt_flops::<f64>(nb, nb, stair),
        &mut |s| device::tpqrt(s, scalar, (nb, nb), c1, a, stair, ib, t, scratch),
    )?;
    row(
        stream,
        "tpmqrt",
        false,
        tpmqrt_flops::<f64>(nb, nb, nb, stair),
        &mut |s| {
            device::tpmqrt(
                s,
                scalar,
                op,
                (nb, nb, nb),
                a,
                stair,
                ib,
                t,
                c1,
                c2,
                scratch,
            )
        },
    )
}

/// A tile of numbers between -1 and 1.
fn numbers(scalar: ScalarKind, nb: usize) -> Vec<u8> {
    let mut seed = 1u64;
    let mut unit = || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let double = matches!(scalar, ScalarKind::F64 | ScalarKind::C64);
    let parts = nb * nb * scalar.bytes() / if double { 8 } else { 4 };
    let bytes = (0..parts).flat_map(|_| match double {
        true => unit().to_ne_bytes().to_vec(),
        false => (unit() as f32).to_ne_bytes().to_vec(),
    });
    bytes.collect()
}
