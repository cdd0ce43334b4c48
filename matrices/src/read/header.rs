//! The banner and the line with the dimensions.
//!
//! ```text
//! %%MatrixMarket matrix coordinate real general     (format, field, symmetry; in any case)
//! % comments and blank lines
//! nrows ncols entries                               (array: nrows ncols)
//! ```

use super::cursor::{Cursor, quote};
use super::error::{Parsed, ReadErrorKind, fault};

/// How entries are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Coordinate,
    Array,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Real,
    Integer,
    Complex,
    Pattern,
}

/// Which entries stand for two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symmetry {
    General,
    Symmetric,
    Skew,
    Hermitian,
}

impl Symmetry {
    pub fn name(self) -> &'static str {
        match self {
            Symmetry::General => "general",
            Symmetry::Symmetric => "symmetric",
            Symmetry::Skew => "skew-symmetric",
            Symmetry::Hermitian => "hermitian",
        }
    }
}

/// All that comes before the entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub format: Format,
    pub field: Field,
    pub symmetry: Symmetry,
    pub nrows: usize,
    pub ncols: usize,
    /// Entries that must follow: the promised number, or as many as an array of the shape has.
    pub entries: u64,
    /// Byte at which the line with the dimensions begins.
    pub size_at: usize,
    /// Byte at which the entries begin.
    pub body: usize,
}

/// True when the text claims to be a Matrix Market file.
pub(super) fn has_banner(text: &[u8]) -> bool {
    let banner = b"%%MatrixMarket";
    text.len() >= banner.len() && text[..banner.len()].eq_ignore_ascii_case(banner)
}

/// Reads up to the first entry. `complex_into` names the scalar type when it can't hold complex numbers.
pub(super) fn parse(text: &[u8], complex_into: Option<&'static str>) -> Parsed<Header> {
    let mut cursor = Cursor::new(text, 0, text.len());
    if !has_banner(text) {
        let found = quote(cursor.word());
        return fault(0, ReadErrorKind::NoBanner { found });
    }
    let banner = cursor.word();
    if banner.len() != "%%MatrixMarket".len() {
        let found = quote(banner);
        return fault(0, ReadErrorKind::NoBanner { found });
    }
    choose(&mut cursor, "matrix", &[("matrix", ())])?;
    let format = choose(
        &mut cursor,
        "coordinate, array",
        &[("coordinate", Format::Coordinate), ("array", Format::Array)],
    )?;
    cursor.skip_blanks();
    let field_at = cursor.at;
    let field = choose(
        &mut cursor,
        "real, integer, complex, pattern",
        &[
            ("real", Field::Real),
            ("double", Field::Real),
            ("integer", Field::Integer),
            ("unsigned-integer", Field::Integer),
            ("complex", Field::Complex),
            ("pattern", Field::Pattern),
        ],
    )?;
    cursor.skip_blanks();
    let symmetry_at = cursor.at;
    let symmetry = choose(
        &mut cursor,
        "general, symmetric, skew-symmetric, hermitian",
        &[
            ("general", Symmetry::General),
            ("symmetric", Symmetry::Symmetric),
            ("skew-symmetric", Symmetry::Skew),
            ("hermitian", Symmetry::Hermitian),
        ],
    )?;
    cursor.end_line()?;
    if let (Field::Complex, Some(scalar)) = (field, complex_into) {
        return fault(field_at, ReadErrorKind::ComplexIntoReal { scalar });
    }
    if field == Field::Pattern {
        let second = match (format, symmetry) {
            (Format::Array, _) => Some("array"),
            (_, Symmetry::Skew) => Some("skew-symmetric"),
            (_, Symmetry::Hermitian) => Some("hermitian"),
            _ => None,
        };
        if let Some(second) = second {
            let first = "pattern";
            return fault(symmetry_at, ReadErrorKind::BannerConflict { first, second });
        }
    }
    size_line(cursor, format, field, symmetry)
}

/// The next word of the banner as one of `choices`, in any case.
fn choose<V: Copy>(
    cursor: &mut Cursor<'_>,
    expected: &'static str,
    choices: &[(&str, V)],
) -> Parsed<V> {
    cursor.skip_blanks();
    let at = cursor.at;
    let word = cursor.word();
    match choices
        .iter()
        .find(|(name, _)| word.eq_ignore_ascii_case(name.as_bytes()))
    {
        Some(&(_, value)) => Ok(value),
        None => fault(
            at,
            ReadErrorKind::BannerWord {
                found: quote(word),
                expected,
            },
        ),
    }
}

fn size_line(
    mut cursor: Cursor<'_>,
    format: Format,
    field: Field,
    symmetry: Symmetry,
) -> Parsed<Header> {
    if !cursor.next_line(|b| b == b'%') {
        return fault(cursor.at, ReadErrorKind::NoSizeLine);
    }
    let at = cursor.at;
    let nrows = cursor.index("number of rows")?;
    let ncols = cursor.index("number of columns")?;
    let largest = nrows.max(ncols);
    if largest >= u64::from(u32::MAX) {
        return fault(at, ReadErrorKind::TooLarge { nrows, ncols });
    }
    if symmetry != Symmetry::General && nrows != ncols {
        let symmetry = symmetry.name();
        return fault(
            at,
            ReadErrorKind::NotSquare {
                symmetry,
                nrows,
                ncols,
            },
        );
    }
    let entries = match (format, symmetry) {
        (Format::Coordinate, _) => cursor.index("number of entries")?,
        // Neither product overflows: both factors are below 2^32.
        (Format::Array, Symmetry::General) => nrows * ncols,
        (Format::Array, Symmetry::Skew) => nrows * ncols.saturating_sub(1) / 2,
        (Format::Array, _) => nrows * (ncols + 1) / 2,
    };
    // Column starts and counts take memory for every column: a short file must not ask for much of it.
    let bytes = cursor.text.len();
    if largest > (1 << 24) + 64 * bytes as u64 {
        return fault(
            at,
            ReadErrorKind::Implausible {
                nrows,
                ncols,
                bytes,
            },
        );
    }
    cursor.end_line()?;
    Ok(Header {
        format,
        field,
        symmetry,
        nrows: nrows as usize,
        ncols: ncols as usize,
        entries,
        size_at: at,
        body: cursor.at,
    })
}
