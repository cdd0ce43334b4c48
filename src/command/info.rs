//! `treeqr info`: what kind of matrix it is.

use super::cli::InfoArgs;
use super::failure::Failure;
use super::input::{AnyProblem, Problem};
use super::page::{self, Page};
use super::units::{count, norm, percent, plural};
use serde_json::{Value, json};
use treeqr::matrices::{RealScalar, norm2};
use treeqr::{Csc, Scalar};

/// Describes the matrix.
pub fn run(args: &InfoArgs) -> Result<(), Failure> {
    match AnyProblem::read(&args.matrix)? {
        AnyProblem::Real(problem) => tell(args, &problem),
        AnyProblem::Complex(problem) => tell(args, &problem),
    }
}

fn tell<T: Scalar>(args: &InfoArgs, problem: &Problem<T>) -> Result<(), Failure> {
    let facts = Facts::of(&problem.loaded.matrix);
    if args.json {
        return page::print(&format!("{:#}\n", facts.json(problem)));
    }
    page::print(&facts.text(problem))
}

/// Smallest, middle and largest of some lengths.
struct Spread {
    min: usize,
    median: usize,
    max: usize,
    empty: usize,
}

impl Spread {
    fn of(mut lengths: Vec<usize>) -> Spread {
        lengths.sort_unstable();
        let at = |k: usize| lengths.get(k).copied().unwrap_or(0);
        Spread {
            min: at(0),
            median: at(lengths.len() / 2),
            max: at(lengths.len().saturating_sub(1)),
            empty: lengths.iter().take_while(|&&n| n == 0).count(),
        }
    }

    fn text(&self) -> String {
        let empty = if self.empty == 0 {
            "none empty".to_owned()
        } else {
            format!("{} empty", count(self.empty))
        };
        format!(
            "{} to {} entries, median {}; {empty}",
            count(self.min),
            count(self.max),
            count(self.median)
        )
    }

    fn json(&self) -> Value {
        json!({"min": self.min, "median": self.median, "max": self.max, "empty": self.empty})
    }
}

struct Facts {
    rows: Spread,
    cols: Spread,
    /// `symmetric`, `pattern_symmetric` or `unsymmetric`; none for a matrix that is not square.
    symmetry: Option<&'static str>,
    /// Smallest and largest magnitude of the values that are not zero.
    range: Option<(f64, f64)>,
    zeros: usize,
    values: &'static str,
    frobenius: f64,
    one: f64,
    infinity: f64,
}

impl Facts {
    fn of<T: Scalar>(a: &Csc<T>) -> Facts {
        let mut row_lengths = vec![0; a.nrows()];
        let mut row_sums = vec![0.0; a.nrows()];
        let mut one: f64 = 0.0;
        for j in 0..a.ncols() {
            let (rows, values) = a.col(j);
            for (&i, v) in rows.iter().zip(values) {
                row_lengths[i as usize] += 1;
                row_sums[i as usize] += v.abs().to_f64();
            }
            one = one.max(values.iter().map(|v| v.abs().to_f64()).sum());
        }
        let col_lengths = (0..a.ncols()).map(|j| a.col(j).0.len()).collect();
        let sizes = || {
            a.values()
                .iter()
                .map(|v| v.abs().to_f64())
                .filter(|&v| v > 0.0)
        };
        Facts {
            rows: Spread::of(row_lengths),
            cols: Spread::of(col_lengths),
            symmetry: (a.nrows() == a.ncols()).then(|| symmetry(a)),
            range: sizes()
                .map(|v| (v, v))
                .reduce(|x, y| (x.0.min(y.0), x.1.max(y.1))),
            zeros: a.values().iter().filter(|&&v| v == T::zero()).count(),
            values: kind_of_values(a.values()),
            frobenius: norm2(a.values()).to_f64(),
            one,
            infinity: row_sums.into_iter().fold(0.0, f64::max),
        }
    }

    fn text<T: Scalar>(&self, problem: &Problem<T>) -> String {
        let a = &problem.loaded.matrix;
        let mut page = Page::default();
        page.title("Matrix", &problem.source.to_string());
        page.gap();
        if let Some(about) = problem.loaded.description {
            page.prose("About", about);
        }
        let shape = shape(a);
        page.row(
            "Shape",
            &format!("{} x {}, {shape}", count(a.nrows()), count(a.ncols())),
        );
        let density = density(a);
        let full = if density < 0.001 {
            format!("{density:.1e} of all")
        } else {
            format!("{} of all", percent(density))
        };
        let zeros = match self.zeros {
            0 => String::new(),
            n => format!("; {} explicitly 0", count(n)),
        };
        page.row(
            "Entries",
            &format!("{}, {full}{zeros}", plural(a.nnz(), "entry", "entries")),
        );
        page.row("Rows", &self.rows.text());
        page.row("Columns", &self.cols.text());
        if let Some(symmetry) = self.symmetry {
            page.row("Symmetry", &symmetry.replace('_', " "));
        }
        let range = match self.range {
            Some((low, high)) if low == high => format!("all of magnitude {}", norm(low)),
            Some((low, high)) => format!("magnitudes from {} to {}", norm(low), norm(high)),
            None => "none but 0".to_owned(),
        };
        page.row("Values", &format!("{}, {range}", self.values));
        page.row(
            "Norms",
            &format!(
                "Frobenius {}, 1-norm {}, ∞-norm {}",
                norm(self.frobenius),
                norm(self.one),
                norm(self.infinity)
            ),
        );
        page.text()
    }

    fn json<T: Scalar>(&self, problem: &Problem<T>) -> Value {
        let a = &problem.loaded.matrix;
        json!({
            "matrix": {"rows": a.nrows(), "cols": a.ncols(), "nnz": a.nnz()},
            "source": problem.source.to_string(),
            "density": density(a),
            "shape": shape(a),
            "symmetry": self.symmetry,
            "explicit_zeros": self.zeros,
            "row_lengths": self.rows.json(),
            "column_lengths": self.cols.json(),
            "values": self.values,
            "smallest_magnitude": self.range.map(|r| r.0),
            "largest_magnitude": self.range.map(|r| r.1),
            "norms": {"frobenius": self.frobenius, "one": self.one, "infinity": self.infinity},
            "version": treeqr::VERSION,
        })
    }
}

fn density<T: Scalar>(a: &Csc<T>) -> f64 {
    let all = a.nrows() as f64 * a.ncols() as f64;
    if all > 0.0 { a.nnz() as f64 / all } else { 0.0 }
}

fn shape<T: Scalar>(a: &Csc<T>) -> &'static str {
    match a.nrows().cmp(&a.ncols()) {
        std::cmp::Ordering::Greater => "tall",
        std::cmp::Ordering::Less => "wide",
        std::cmp::Ordering::Equal => "square",
    }
}

fn symmetry<T: Scalar>(a: &Csc<T>) -> &'static str {
    let adjoint = a.adjoint();
    if adjoint.pattern() != a.pattern() {
        return "unsymmetric";
    }
    let mut pairs = adjoint.values().iter().zip(a.values());
    if T::IS_COMPLEX && adjoint.values() == a.values() {
        "hermitian"
    } else if pairs.all(|(s, &v)| s.conj() == v) {
        "symmetric"
    } else {
        "pattern_symmetric"
    }
}

fn kind_of_values<T: Scalar>(values: &[T]) -> &'static str {
    let all = |test: fn(f64) -> bool| values.iter().all(|v| test(v.re().to_f64()));
    if values.is_empty() {
        "none"
    } else if T::IS_COMPLEX {
        "complex"
    } else if all(|v| v == 1.0) {
        "ones"
    } else if all(|v| v.fract() == 0.0) {
        "integers"
    } else {
        "real"
    }
}
