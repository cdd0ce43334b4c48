//! Many small fronts at once on a device: each by one block of threads, in the memory that its threads share.
//!
//! Takes addresses of fronts that lie one behind the other, and lists of their shapes and staircases on the device; gives one launch.
//! R, V and tau come out as [`crate::front_qr`] leaves them, up to rounding. Knows no tree.

use super::launch::Commands;
use treeqr_devices::{DeviceError, ScalarKind, Stream};

/// Bytes of a front at most, right-hand sides included; `kernels/cuda/fronts.cu` has the same number.
pub const FRONT_BYTES: usize = 40960;

/// A front of a batch, as `kernels/cuda/fronts.cu` reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrontShape {
    /// Its first entry, counted in numbers from the first front's.
    pub at: u64,
    /// Its first tau, likewise.
    pub tau: u64,
    /// Rows; its leading dimension too.
    pub m: u32,
    /// Columns that become R.
    pub n: u32,
    /// These and those beside them.
    pub cols: u32,
    /// Where its staircase begins in the list of staircases, one 32-bit number for each of its n columns.
    pub stair: u32,
}

impl FrontShape {
    /// Bytes of a shape in the list.
    pub const BYTES: usize = 32;

    /// Whether a front of this shape can be part of a batch.
    pub fn fits(&self, scalar: ScalarKind) -> bool {
        let entries = u64::from(self.m) * u64::from(self.cols);
        self.n <= self.cols && entries.saturating_mul(scalar.bytes() as u64) <= FRONT_BYTES as u64
    }

    /// As it lies in the list.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.at.to_ne_bytes());
        bytes[8..16].copy_from_slice(&self.tau.to_ne_bytes());
        let sizes = [self.m, self.n, self.cols, self.stair];
        for (to, size) in bytes[16..].chunks_exact_mut(4).zip(sizes) {
            to.copy_from_slice(&size.to_ne_bytes());
        }
        bytes
    }

    /// The shape that lies so in a list.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let long = |k: usize| u64::from_ne_bytes(bytes[k..k + 8].try_into().expect("eight"));
        let size = |k: usize| u32::from_ne_bytes(bytes[k..k + 4].try_into().expect("four"));
        FrontShape {
            at: long(0),
            tau: long(8),
            m: size(16),
            n: size(20),
            cols: size(24),
            stair: size(28),
        }
    }
}

/// A = Q R on the first n columns of every front, and Q^H applied to its others: [`crate::front_qr`] for `count` fronts.
///
/// | argument | size | on entry | on exit |
/// | --- | --- | --- | --- |
/// | `list` | `count` | [`FrontShape`]s, each of which [`fits`](FrontShape::fits) | |
/// | `fronts` | m x cols each | zero below the staircase | R on and above the diagonal, V below it, Q^H of the other columns |
/// | `taus` | min(m, n) each | anything | the factor of each reflector |
/// | `stairs` | n each | rows of each column that may be nonzero, over the rows of its front | |
///
/// # Errors
/// If the device fails.
pub fn front_qr_batch(
    stream: &mut dyn Stream,
    scalar: ScalarKind,
    count: usize,
    list: u64,
    (fronts, taus, stairs): (u64, u64, u64),
) -> Result<(), DeviceError> {
    Commands::new(stream, scalar).fronts(count, list, (fronts, taus, stairs))
}
