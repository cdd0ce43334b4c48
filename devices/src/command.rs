//! What a stream is asked to do, as data: the same list of commands runs on CUDA and on the host.
//!
//! Takes addresses and sizes; knows neither what a kernel computes nor where the addresses lie.

/// The number format of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarKind {
    /// `f32`
    F32,
    /// `f64`
    F64,
    /// Complex numbers of two `f32`.
    C32,
    /// Complex numbers of two `f64`.
    C64,
}

impl ScalarKind {
    /// All of them.
    pub const ALL: [ScalarKind; 4] = [
        ScalarKind::F32,
        ScalarKind::F64,
        ScalarKind::C32,
        ScalarKind::C64,
    ];

    /// The end of a kernel's name.
    pub fn name(self) -> &'static str {
        match self {
            ScalarKind::F32 => "f32",
            ScalarKind::F64 => "f64",
            ScalarKind::C32 => "c32",
            ScalarKind::C64 => "c64",
        }
    }

    /// Bytes of a number.
    pub fn bytes(self) -> usize {
        match self {
            ScalarKind::F32 => 4,
            ScalarKind::F64 | ScalarKind::C32 => 8,
            ScalarKind::C64 => 16,
        }
    }

    /// Whether its parts are doubles.
    pub fn is_double(self) -> bool {
        matches!(self, ScalarKind::F64 | ScalarKind::C64)
    }
}

/// One argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// Somewhere in the device's memory.
    Address(u64),
    /// A size.
    Int(i32),
    /// A structure of integers, by value.
    Ints(Vec<i32>),
}

/// A kernel on a grid of one dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Its name without that of the scalar.
    pub kernel: &'static str,
    /// For which numbers.
    pub scalar: ScalarKind,
    /// Blocks of threads.
    pub blocks: u32,
    /// Threads of a block, a multiple of 32.
    pub threads: u32,
    /// In the order of the kernel's parameters.
    pub args: Vec<Arg>,
}

/// C = beta C + alpha op(A) B, column-major. op(A) is m x k, B is k x n, C is m x n; none overlaps C.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gemm {
    /// For which numbers.
    pub scalar: ScalarKind,
    /// Whether op(A) = A^H, so that A is k x m.
    pub adjoint: bool,
    /// Rows of C.
    pub m: usize,
    /// Columns of C.
    pub n: usize,
    /// The inner size.
    pub k: usize,
    /// A real factor.
    pub alpha: f64,
    /// Address of A.
    pub a: u64,
    /// Its leading dimension.
    pub lda: usize,
    /// Address of B.
    pub b: u64,
    /// Its leading dimension.
    pub ldb: usize,
    /// 0, and C is not read, or 1.
    pub beta: f64,
    /// Address of C.
    pub c: u64,
    /// Its leading dimension.
    pub ldc: usize,
}
