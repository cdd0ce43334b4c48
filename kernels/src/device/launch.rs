//! The commands that the kernels consist of: their names, grids and arguments. The one place that has to agree with the parameters
//! that `kernels/cuda/` declares.

use super::assembly::{Part, PartLayout, Target};
use super::{Block, MOST_COLUMNS};
use crate::block::Op;
use treeqr_devices::{Arg, DeviceError, Gemm, Launch, ScalarKind, Stream};

/// Threads of the one block that factorizes a panel whatever its height: a warp a column at a time.
const PANEL_THREADS: u32 = 512;
/// Threads of a block of `kernels/cuda/strip.cu`, which hold a strip in their registers.
const STRIP_THREADS: u32 = 256;
/// Rows of T that a block of threads of `merge_t` makes, for scalars of 8 bytes at most and for larger ones.
const MERGE_ROWS: (usize, usize) = (8, 4);
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

    /// Factorizes a panel with `rows.len()` columns; with `r` above it, else with its heads inside. At `scratch` there is room for a
    /// square of them.
    pub(super) fn panel(
        &mut self,
        a: Block,
        r: Option<Block>,
        t: Block,
        rows: &[usize],
        scratch: u64,
    ) -> Result<(), DeviceError> {
        let inside = r.is_none();
        let blocks = (a, r.unwrap_or(a), t);
        let height = rows.last().copied().unwrap_or(0);
        let Some((kernel, width)) = strip_for(self.scalar, height) else {
            let mut args = addresses(blocks);
            args.extend([int(rows.len()), Arg::Int(i32::from(inside)), stair(rows)]);
            return self.launch("panel", 1, PANEL_THREADS, args);
        };
        let count = rows.len();
        for from in (0..count).step_by(width) {
            let width = width.min(count - from);
            let mut args = addresses(blocks);
            args.extend([int(from), int(width), Arg::Int(i32::from(inside))]);
            args.push(stair(rows));
            self.launch(kernel, 1, STRIP_THREADS, args)?;
            let beside = (count - width) as u32;
            if beside > 0 {
                let mut args = addresses(blocks);
                args.extend([Arg::Address(scratch), int(from), int(width)]);
                args.extend([Arg::Int(i32::from(inside)), int(count), stair(rows)]);
                self.launch("strip_apply", beside, STRIP_THREADS, args)?;
            }
        }
        if count > width {
            let rows = match self.scalar.bytes() {
                0..=8 => MERGE_ROWS.0,
                _ => MERGE_ROWS.1,
            };
            let args = vec![
                Arg::Address(t.address),
                int(t.ld),
                Arg::Address(scratch),
                int(count),
                int(width),
            ];
            self.launch("merge_t", count.div_ceil(rows) as u32, STRIP_THREADS, args)?;
        }
        Ok(())
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

/// Three blocks as kernels take them.
fn addresses((a, b, c): (Block, Block, Block)) -> Vec<Arg> {
    let pair = |block: Block| [Arg::Address(block.address), int(block.ld)];
    [a, b, c].into_iter().flat_map(pair).collect()
}

/// The kernel for strips of so many rows and their columns, if there is one: as many as the registers hold.
fn strip_for(scalar: ScalarKind, height: usize) -> Option<(&'static str, usize)> {
    let width = match scalar {
        ScalarKind::F32 | ScalarKind::F64 => 16,
        ScalarKind::C32 | ScalarKind::C64 => 8,
    };
    match height {
        0..=256 => Some(("strip_256", width)),
        257..=1024 => Some(("strip_1024", width)),
        1025..=2048 => Some(("strip_2048", width / 2)),
        _ => None,
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
