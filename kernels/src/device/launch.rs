//! The commands that the kernels consist of: their names, grids and arguments. The one place that has to agree with the parameters
//! that `kernels/cuda/` declares.

use super::assembly::{Part, PartLayout, Target};
use super::{Block, MOST_COLUMNS};
use crate::block::Op;
use treeqr_devices::{Arg, DeviceError, Gemm, Launch, ScalarKind, Stream};

/// Threads of the one block that factorizes a panel: a warp a column at a time.
const PANEL_THREADS: u32 = 512;
/// Threads of a block that copies, and the most blocks: each thread then takes several entries.
const COPY_THREADS: u32 = 256;
const COPY_BLOCKS: usize = 1024;

/// Threads of a block that factorizes a small front, and the most blocks: each then takes several fronts.
const FRONT_THREADS: u32 = 128;
const FRONT_BLOCKS: usize = 4096;

/// A stream and the scalar of what is asked of it.
pub(super) struct Commands<'s> {
    stream: &'s mut dyn Stream,
    scalar: ScalarKind,
}

/// Blocks of threads for so many entries.
fn copy_blocks(entries: usize) -> u32 {
    entries.div_ceil(COPY_THREADS as usize).min(COPY_BLOCKS) as u32
}

fn int(x: usize) -> Arg {
    Arg::Int(i32::try_from(x).expect("tiles have sizes of 31 bits"))
}

impl<'s> Commands<'s> {
    pub(super) fn new(stream: &'s mut dyn Stream, scalar: ScalarKind) -> Self {
        Commands { stream, scalar }
    }

    /// The part of a block that begins at entry (i, j).
    pub(super) fn at(&self, block: Block, i: usize, j: usize) -> Block {
        let bytes = (i + j * block.ld) * self.scalar.bytes();
        Block {
            address: block.address + bytes as u64,
            ld: block.ld,
        }
    }

    fn launch(
        &mut self,
        kernel: &'static str,
        blocks: u32,
        threads: u32,
        args: Vec<Arg>,
    ) -> Result<(), DeviceError> {
        self.stream.launch(&Launch {
            kernel,
            scalar: self.scalar,
            blocks,
            threads,
            args,
        })
    }

    /// Factorizes a panel with `rows.len()` columns; with `r` above it, else with its heads inside.
    pub(super) fn panel(
        &mut self,
        a: Block,
        r: Option<Block>,
        t: Block,
        rows: &[usize],
    ) -> Result<(), DeviceError> {
        let inside = r.is_none();
        let r = r.unwrap_or(a);
        let args = vec![
            Arg::Address(a.address),
            int(a.ld),
            Arg::Address(r.address),
            int(r.ld),
            Arg::Address(t.address),
            int(t.ld),
            int(rows.len()),
            Arg::Int(i32::from(inside)),
            stair(rows),
        ];
        self.launch("panel", 1, PANEL_THREADS, args)
    }

    /// Columns of V whose diagonal begins in row `shift`.
    pub(super) fn copy_v(
        &mut self,
        a: Block,
        v: Block,
        size: (usize, usize),
        shift: usize,
    ) -> Result<(), DeviceError> {
        self.copies("copy_v", a, v, size, Some(int(shift)))
    }

    pub(super) fn copy_upper(
        &mut self,
        a: Block,
        to: Block,
        size: (usize, usize),
    ) -> Result<(), DeviceError> {
        self.copies("copy_upper", a, to, size, None)
    }

    /// What lies above the staircase in `h` rows, zeros below it.
    pub(super) fn copy_stair(
        &mut self,
        a: Block,
        to: Block,
        h: usize,
        rows: &[usize],
    ) -> Result<(), DeviceError> {
        self.copies("copy_stair", a, to, (h, rows.len()), Some(stair(rows)))
    }

    pub(super) fn extend(
        &mut self,
        part: &Part,
        (rows, cols): (u64, u64),
        target: &Target,
    ) -> Result<(), DeviceError> {
        let (m, n) = part.size;
        if m == 0 || n == 0 {
            return Ok(());
        }
        let (from, ld, packed) = match part.from {
            PartLayout::Tile(block) => (block.address, block.ld, 0),
            PartLayout::Packed { address, rows } => (address, 0, rows),
        };
        let (top, left) = target.corner;
        let args = vec![
            Arg::Address(from),
            int(ld),
            int(packed),
            Arg::Address(rows),
            Arg::Address(cols),
            Arg::Address(target.tile.address),
            int(target.tile.ld),
            int(top as usize),
            int(left as usize),
            int(m),
            int(n),
            int(part.row),
            int(part.col),
            Arg::Int(i32::from(part.trapezoid)),
        ];
        self.launch("extend", copy_blocks(m * n), COPY_THREADS, args)
    }

    pub(super) fn place(
        &mut self,
        n: usize,
        values: u64,
        places: u64,
        to: u64,
    ) -> Result<(), DeviceError> {
        if n == 0 {
            return Ok(());
        }
        let args = vec![
            Arg::Address(values),
            Arg::Address(places),
            int(n),
            Arg::Address(to),
        ];
        self.launch("place", copy_blocks(n), COPY_THREADS, args)
    }

    pub(super) fn fronts(
        &mut self,
        count: usize,
        list: u64,
        (fronts, taus, stairs): (u64, u64, u64),
    ) -> Result<(), DeviceError> {
        if count == 0 {
            return Ok(());
        }
        let addresses = [fronts, taus, stairs, list].map(Arg::Address);
        let args = addresses.into_iter().chain([int(count)]).collect();
        let blocks = count.min(FRONT_BLOCKS) as u32;
        self.launch("fronts", blocks, FRONT_THREADS, args)
    }

    fn copies(
        &mut self,
        kernel: &'static str,
        a: Block,
        to: Block,
        (m, n): (usize, usize),
        more: Option<Arg>,
    ) -> Result<(), DeviceError> {
        if m == 0 || n == 0 {
            return Ok(());
        }
        let mut args = vec![
            Arg::Address(a.address),
            int(a.ld),
            Arg::Address(to.address),
            int(to.ld),
            int(m),
            int(n),
        ];
        args.extend(more);
        self.launch(kernel, copy_blocks(m * n), COPY_THREADS, args)
    }

    /// Applies kb reflectors of h rows to n columns: `[C1; C2] = op(I - [I; V] T [I; V]^H) [C1; C2]`, or C2 alone.
    #[allow(clippy::too_many_arguments)] // as `crate::block::apply`
    pub(super) fn update(
        &mut self,
        op: Op,
        v: Block,
        (h, kb): (usize, usize),
        t: Block,
        c1: Option<Block>,
        c2: Block,
        n: usize,
        scratch: u64,
    ) -> Result<(), DeviceError> {
        // Without rows the reflectors are the identity.
        if h == 0 || n == 0 {
            return Ok(());
        }
        let scalar = self.scalar;
        let w = Block {
            address: scratch,
            ld: kb,
        };
        let w2 = self.at(w, 0, n);
        if let Some(c1) = c1 {
            self.copies("copy", c1, w, (kb, n), None)?;
        }
        let product = |adjoint: bool, (m, k): (usize, usize), a: Block, b: Block, c: Block| Gemm {
            scalar,
            adjoint,
            m,
            n,
            k,
            alpha: 1.0,
            a: a.address,
            lda: a.ld,
            b: b.address,
            ldb: b.ld,
            beta: 0.0,
            c: c.address,
            ldc: c.ld,
        };
        self.stream.gemm(&Gemm {
            beta: if c1.is_some() { 1.0 } else { 0.0 },
            ..product(true, (kb, h), v, c2, w)
        })?;
        self.stream
            .gemm(&product(op == Op::ConjTrans, (kb, kb), t, w, w2))?;
        if let Some(c1) = c1 {
            self.copies("subtract", w2, c1, (kb, n), None)?;
        }
        self.stream.gemm(&Gemm {
            alpha: -1.0,
            beta: 1.0,
            ..product(false, (h, kb), v, w2, c2)
        })
    }
}

/// The staircase as the kernels take it.
fn stair(rows: &[usize]) -> Arg {
    let mut all = vec![0; MOST_COLUMNS];
    for (to, &rows) in all.iter_mut().zip(rows) {
        *to = i32::try_from(rows).expect("tiles have sizes of 31 bits");
    }
    Arg::Ints(all)
}
