//! The text of Matrix Market files.

use crate::dense::Dense;
use crate::scalar::{RealScalar, Scalar};
use crate::sparse::Csc;
use std::io::{self, Write};

/// The words of the banner for what a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Pattern,
    Integer,
    Real,
    Complex,
}

impl Field {
    /// The narrowest field that holds the values without loss.
    fn of<T: Scalar>(values: &[T], pattern: bool) -> Field {
        if T::IS_COMPLEX {
            Field::Complex
        } else if pattern && !values.is_empty() && values.iter().all(|v| *v == T::one()) {
            Field::Pattern
        } else if values.iter().all(|v| is_integer(v.re().to_f64())) {
            Field::Integer
        } else {
            Field::Real
        }
    }

    fn name(self) -> &'static str {
        match self {
            Field::Pattern => "pattern",
            Field::Integer => "integer",
            Field::Real => "real",
            Field::Complex => "complex",
        }
    }
}

/// An integer that other readers hold exactly as well; a negative zero would lose its sign there.
fn is_integer(v: f64) -> bool {
    v.fract() == 0.0 && v.abs() <= (1u64 << 53) as f64 && !(v == 0.0 && v.is_sign_negative())
}

pub(super) fn sparse<T: Scalar>(w: &mut dyn Write, a: &Csc<T>, comment: &str) -> io::Result<()> {
    let field = Field::of(a.values(), true);
    banner(w, "coordinate", field, comment)?;
    writeln!(w, "{} {} {}", a.nrows(), a.ncols(), a.nnz())?;
    let mut lines = Vec::new();
    for j in 0..a.ncols() {
        let (rows, values) = a.col(j);
        for (&i, &v) in rows.iter().zip(values) {
            write!(lines, "{} {}", u64::from(i) + 1, j + 1)?;
            if field != Field::Pattern {
                lines.push(b' ');
            }
            value(&mut lines, v, field)?;
            lines.push(b'\n');
        }
        flush(w, &mut lines, 1 << 16)?;
    }
    flush(w, &mut lines, 0)
}

pub(super) fn dense<T: Scalar>(w: &mut dyn Write, x: &Dense<T>, comment: &str) -> io::Result<()> {
    let field = Field::of(x.values(), false);
    banner(w, "array", field, comment)?;
    writeln!(w, "{} {}", x.nrows(), x.ncols())?;
    let mut lines = Vec::new();
    for &v in x.values() {
        value(&mut lines, v, field)?;
        lines.push(b'\n');
        flush(w, &mut lines, 1 << 16)?;
    }
    flush(w, &mut lines, 0)
}

fn banner(w: &mut dyn Write, format: &str, field: Field, comment: &str) -> io::Result<()> {
    writeln!(w, "%%MatrixMarket matrix {format} {} general", field.name())?;
    for line in comment.lines() {
        writeln!(w, "% {line}")?;
    }
    Ok(())
}

/// The shortest digits that read back as the same value: Rust's `Debug` does that, with an exponent where it is shorter.
fn value<T: Scalar>(lines: &mut Vec<u8>, v: T, field: Field) -> io::Result<()> {
    match field {
        Field::Pattern => Ok(()),
        Field::Integer => write!(lines, "{}", v.re().to_f64() as i64),
        Field::Real => write!(lines, "{:?}", v.re()),
        Field::Complex => write!(lines, "{:?} {:?}", v.re(), v.im()),
    }
}

/// Hands the lines on when they are more than `limit` bytes.
fn flush(w: &mut dyn Write, lines: &mut Vec<u8>, limit: usize) -> io::Result<()> {
    if lines.len() > limit {
        w.write_all(lines)?;
        lines.clear();
    }
    Ok(())
}
