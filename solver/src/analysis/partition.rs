//! Which fronts are cut into tiles, and how.
//!
//! Takes the fronts with their staircases and flops; gives a [`Tiling`] for the large ones. It depends on shapes and
//! options alone, never on the number of workers: so do the numbers that the factorization computes.
//!
//! ```text
//!            cols: 0     nb    2nb   n        every column bound below min(m, n) is a row bound or lies inside a row
//!   rows: 0  +-----+-----+-----+              tile that is at least as much longer: the diagonal block of a panel
//!            |\    |     |     |              then lies within one tile.
//!        mb  |--\--+-----+-----+
//!            |    \|     |     |              The end of the pivot rows, rounded up to nb, is a row bound too, so
//!       2mb  +-----+\----+-----+              that tiles below hold nothing of R and can be freed.
//!            .     |  \  |     |
//!         m  .     +-----+-----+              Tiles below the staircase ('.') do not exist.
//! ```

use super::limits;
use crate::error::AnalyseError;
use crate::options::Options;
use crate::symbolic::{Front, Tree};

/// How a front is cut into tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiling {
    /// Row bounds: tile row i holds the rows `rows[i]..rows[i + 1]`.
    pub rows: Vec<u32>,
    /// Column bounds: tile column j holds the columns `cols[j]..cols[j + 1]`.
    pub cols: Vec<u32>,
    /// Columns of an inner block of the kernels that were asked for, or 0: see [`Tiling::inner_block`].
    pub ib: u32,
    /// Tiles of a panel reduced flat before the binary tree; 0: all.
    pub bh: u32,
    /// Whether its tasks are the CPU's, beside larger fronts that are cut for devices.
    pub host_only: bool,
    /// Whether it is cut for devices: a front that lives on one whole does not travel.
    pub device_first: bool,
    /// Tile columns with a panel: those that start above min(m, n).
    pub panels: usize,
    /// Per tile column, the number of tile rows that reach above its staircase.
    pub depth: Vec<u32>,
    /// Tiles (row, column) that take in entries of A, sorted.
    pub own_tiles: Vec<(u32, u32)>,
    /// Tile rows that take in rows of A, and so entries of a right-hand side.
    pub own_rows: Vec<u32>,
}

impl Tiling {
    /// Tile rows and tile columns.
    pub fn grid(&self) -> (usize, usize) {
        (self.rows.len() - 1, self.cols.len() - 1)
    }

    /// Tile columns, and one for the right-hand sides behind the last.
    pub fn columns_and_rhs(&self) -> usize {
        self.grid().1 + 1
    }

    /// The tile column of a column.
    pub fn column_of(&self, column: u32) -> usize {
        self.cols.partition_point(|&left| left <= column) - 1
    }

    /// Rows of tile row `i`.
    pub fn height(&self, i: usize) -> usize {
        (self.rows[i + 1] - self.rows[i]) as usize
    }

    /// Columns of tile column `j`.
    pub fn width(&self, j: usize) -> usize {
        (self.cols[j + 1] - self.cols[j]) as usize
    }

    /// Columns of an inner block of the kernels, for scalars of so many bytes: 32 in f32, where a product with fewer is slow, and 24
    /// otherwise, where T costs more than that.
    pub fn inner_block(&self, scalar_bytes: usize) -> usize {
        match self.ib as usize {
            0 => (if scalar_bytes == 4 { 32 } else { 24 }).min(self.width(0)),
            asked => asked,
        }
    }

    /// Whether tile (i, j) exists.
    pub fn exists(&self, i: usize, j: usize) -> bool {
        i < self.depth[j] as usize
    }

    /// Columns of tile (i, j) that lie below the `stair`case, whole: the first ones.
    pub fn untouched_columns(&self, stair: &[u32], i: usize, j: usize) -> usize {
        let columns = &stair[self.cols[j] as usize..self.cols[j + 1] as usize];
        columns.partition_point(|&reach| reach <= self.rows[i])
    }

    /// The tile row that holds the first row of panel `k`, and the place of that row in it.
    pub fn diagonal(&self, k: usize) -> (usize, usize) {
        let row = self.cols[k];
        let i = self.rows.partition_point(|&r| r <= row) - 1;
        (i, (row - self.rows[i]) as usize)
    }
}

/// Fronts below this many flops stay whole whatever else: a task of a few ten microseconds is not worth cutting.
const MIN_TILED_FLOPS: u64 = 20_000_000;
/// Fronts above this many flops are cut whatever else.
const MAX_BLOCK_FLOPS: u64 = 1_000_000_000;
/// In between, a front is cut when it has more than this part of all flops: then it would be a bottleneck. On two workers a 16th is
/// quicker still by some percent, tiles of a small front being slower than the front; more workers than that would wait.
const BLOCK_PART: u64 = 24;

/// Fronts with fewer reflectors than this stay the CPU's: a device would wait for panels. On an H100 beside 16 cores all between 768
/// and 1536 did as well.
const DEVICE_REFLECTORS: u32 = 1024;
/// Tiles and inner blocks of fronts for devices: a task is some tens of launches, whatever its size, and a panel gets slower with its
/// width. Half of it took an H100 twice as long on TF16, twice of it half as long again on TF17.
const DEVICE_NB: u32 = 512;
const DEVICE_IB: u32 = 128;

/// The most flops of a front that stays whole, of `total` flops of all fronts, where no sizes are asked for.
pub(super) fn tiled_flops(total: u64) -> u64 {
    (total / BLOCK_PART).clamp(MIN_TILED_FLOPS, MAX_BLOCK_FLOPS)
}

impl Options {
    /// Whether sizes are asked for: then all fronts have them, and policies decide alone where tasks run.
    fn has_sizes(&self) -> bool {
        self.mb.is_some() || self.nb.is_some() || self.ib.is_some()
    }

    /// The sizes for a front that is cut for a device.
    fn of_device(&self, front: &Front) -> Option<Options> {
        let large = front.m.min(front.n) >= DEVICE_REFLECTORS;
        (self.for_devices && !self.has_sizes() && large).then(|| Options {
            nb: Some(DEVICE_NB),
            ib: Some(DEVICE_IB),
            ..self.clone()
        })
    }
}

/// Checks the sizes that a user asked for.
pub(crate) fn check(options: &Options) -> Result<(), AnalyseError> {
    let bad = |what: String| Err(AnalyseError::BadTiles { what });
    for (name, size) in [("mb", options.mb), ("nb", options.nb), ("ib", options.ib)] {
        if size == Some(0) {
            return bad(format!("of size {name} = 0"));
        }
    }
    if let (Some(mb), Some(nb)) = (options.mb, options.nb)
        && !mb.is_multiple_of(nb)
    {
        return bad(format!("{mb} x {nb}: mb must be a multiple of nb"));
    }
    Ok(())
}

/// A tiling for every front that gets one. `flops` are those of the fronts as whole blocks.
///
/// # Errors
/// [`AnalyseError::TooLarge`]: more tasks than a run can number.
pub(crate) fn partition(
    tree: &Tree,
    flops: &[u64],
    options: &Options,
) -> Result<Vec<Option<Box<Tiling>>>, AnalyseError> {
    let mut tasks = 0;
    let total: u64 = flops.iter().sum();
    let limit = tiled_flops(total);
    (0..tree.fronts.len())
        .map(|f| {
            let front = &tree.fronts[f];
            let asked = options.nb.is_some_and(|nb| front.n > nb)
                || options.mb.is_some_and(|mb| front.m > mb);
            if !asked && (flops[f] <= limit || options.nb.is_some() || options.mb.is_some()) {
                return Ok(None);
            }
            let larger = options.of_device(front);
            let mut tiling = tiling(tree, f, larger.as_ref().unwrap_or(options));
            tiling.device_first = larger.is_some();
            tiling.host_only = options.for_devices && !options.has_sizes() && larger.is_none();
            limits::count_tasks(&mut tasks, &tiling)?;
            (tiling.own_tiles, tiling.own_rows) = own_tiles(tree, f, &tiling);
            Ok(Some(Box::new(tiling)))
        })
        .collect()
}

/// Tile width for a front with k = min(m, n) reflectors: wide enough for the products to run fast, narrow enough for a
/// front to have some tens of tiles.
fn default_nb(k: u32) -> u32 {
    match k {
        0..=767 => 128,
        768..=1535 => 192,
        1536..=3071 => 256,
        _ => 320,
    }
}

/// A front is tall from so many rows a reflector on.
const TALL: u32 = 4;
/// Tile rows that a tall front has at least, while its tiles are higher than others.
const TALL_ROWS: u32 = 10;
/// Most widths of a tile that one is high.
const HIGHEST: u32 = 8;

/// Tile height: two widths, and more where the front is so much taller than wide that tile rows are plenty. Higher tiles are fewer tasks, which
/// waste fewer flops and calls on the triangles between them, and a child's rows meet fewer of them.
fn default_mb(m: u32, k: u32, nb: u32) -> u32 {
    let widths = match m >= TALL.saturating_mul(k) {
        true => m / (TALL_ROWS * nb),
        false => 2,
    };
    nb * widths.clamp(2, HIGHEST)
}

/// The cut, still without the tiles that A has entries in.
fn tiling(tree: &Tree, f: usize, options: &Options) -> Tiling {
    let front = &tree.fronts[f];
    let stair = tree.stair(f);
    let k = front.m.min(front.n);
    let nb = options.nb.unwrap_or_else(|| match options.mb {
        Some(mb) => default_nb(k).min(mb),
        None => default_nb(k),
    });
    let mb = options.mb.unwrap_or_else(|| default_mb(front.m, k, nb));
    // With mb alone given, nb has to divide it.
    let nb = if mb.is_multiple_of(nb) { nb } else { mb };
    let ib = options.ib.map_or(0, |ib| ib.min(nb));

    let cols = bounds(front.n, nb, None);
    // A tile row per mb, and one that ends where the rows of R end.
    let r_end = front.npiv.next_multiple_of(nb);
    let rows = bounds(front.m, mb, Some(r_end));
    let panels = cols
        .iter()
        .take_while(|&&c| c < k)
        .count()
        .min(cols.len() - 1);
    let depth: Vec<u32> = (0..cols.len() - 1)
        .map(|j| {
            let reach = stair[cols[j + 1] as usize - 1];
            rows[..rows.len() - 1].partition_point(|&r| r < reach) as u32
        })
        .collect();
    let bh = options.bh.unwrap_or_else(|| {
        // A panel much taller than the front is wide has no other parallelism than within itself.
        let (p, q) = (rows.len() - 1, cols.len() - 1);
        if p >= 8 && p >= 4 * q {
            (p as u32).div_ceil(4)
        } else {
            0
        }
    });
    Tiling {
        rows,
        cols,
        ib,
        bh,
        host_only: false,
        device_first: false,
        panels,
        depth,
        own_tiles: Vec::new(),
        own_rows: Vec::new(),
    }
}

/// 0, step, 2 step, ... end, with one more bound where given.
fn bounds(end: u32, step: u32, extra: Option<u32>) -> Vec<u32> {
    let mut out: Vec<u32> = (0..end)
        .step_by(step as usize)
        .chain(extra.filter(|&e| e < end))
        .collect();
    out.push(end);
    out.sort_unstable();
    out.dedup();
    out
}

/// Tiles and tile rows that the front's rows of A have entries in.
fn own_tiles(tree: &Tree, f: usize, tiling: &Tiling) -> (Vec<(u32, u32)>, Vec<u32>) {
    let (front, rows, cols) = (&tree.fronts[f], &tiling.rows, &tiling.cols);
    let q = cols.len() - 1;
    let mut hit = vec![false; (rows.len() - 1) * q];
    let mut hit_row = vec![false; rows.len() - 1];
    for k in front.own_start..front.own_end {
        let i = rows.partition_point(|&r| r <= tree.own.local[k]) - 1;
        hit_row[i] = true;
        let mut j = 0;
        for &c in &tree.own.col[tree.own.start[k]..tree.own.start[k + 1]] {
            while cols[j + 1] <= c {
                j += 1;
            }
            hit[i * q + j] = true;
        }
    }
    let pairs = (0..hit.len())
        .filter(|&t| hit[t])
        .map(|t| ((t / q) as u32, (t % q) as u32));
    let lines = (0..hit_row.len() as u32).filter(|&i| hit_row[i as usize]);
    (pairs.collect(), lines.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use std::sync::Arc;
    use treeqr_matrices::{Csc, Pattern};

    /// Two full blocks, one large enough for a device, one not.
    fn pattern() -> Arc<Pattern> {
        let (mut rows, mut columns) = (Vec::new(), Vec::new());
        for (high, wide) in [(0..1100, 0..1030), (1100..1700, 1030..1500)] {
            for j in wide {
                rows.extend(high.clone());
                columns.extend(high.clone().map(|_| j));
            }
        }
        let values = vec![1.0; rows.len()];
        let a = Csc::from_triplets(1700, 1500, &rows, &columns, &values).unwrap();
        a.pattern().clone()
    }

    #[test]
    fn large_fronts_are_for_devices_and_others_for_the_host() {
        let plain = Options::default();
        let wanted = Options {
            for_devices: true,
            ..plain.clone()
        };
        let before = analyse(&pattern(), &plain).unwrap();
        let after = before.cut_again(&wanted).unwrap();
        // The whole analysis would have said the same.
        let whole = analyse(&pattern(), &wanted).unwrap();
        assert_eq!(after.tilings, whole.tilings);
        assert_eq!(before.cut_again(&plain).unwrap().tilings, before.tilings);
        let mut seen = (0, 0);
        for (front, (cut, was)) in after
            .fronts()
            .iter()
            .zip(after.tilings.iter().zip(&before.tilings))
        {
            assert!(was.iter().all(|t| !t.host_only && !t.device_first));
            let Some(cut) = cut else { continue };
            let large = front.m.min(front.n) >= DEVICE_REFLECTORS;
            assert_eq!((cut.host_only, cut.device_first), (!large, large));
            if large {
                assert_eq!((cut.width(0), cut.ib), (DEVICE_NB as usize, DEVICE_IB));
                seen.0 += 1;
            } else {
                assert_eq!(Some(&cut.cols), was.as_ref().map(|t| &t.cols));
                seen.1 += 1;
            }
        }
        assert_eq!(seen, (1, 1));
        // Sizes that are asked for leave all to the policies.
        let asked = Options {
            nb: Some(64),
            ..wanted
        };
        let asked = before.cut_again(&asked).unwrap();
        let all = asked.tilings.iter().flatten();
        assert!(all.clone().count() > 0 && all.clone().all(|t| !t.host_only && !t.device_first));
    }
}
