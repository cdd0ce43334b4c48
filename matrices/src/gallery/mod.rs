//! The gallery: matrices that are made from a name, such as `ch7-8-b3`, `flower_7_4` or `survey-60x50@7`.
//!
//! Takes a name; gives the matrix, and a right-hand side where the family has a natural one. Every family is one file and
//! one line of [`FAMILIES`]; nothing else in the program knows a family. Names are those of the SuiteSparse collection where
//! the matrix stands there (up to the order of rows and columns, and signs for ch and mk). Random families draw from a
//! generator of their own, and `@` with a number chooses another draw.

mod bibd;
mod build;
mod bundle;
mod complex;
mod conv2d;
mod dense_rows;
mod error;
mod forest;
mod grid3d;
mod lp;
mod margulies;
mod name;
mod pose;
mod random;
mod space;
mod stencil27;
mod survey;

pub use error::GalleryError;

use crate::sparse::Csc;
use build::Built;

/// The largest number of rows, columns, entries or steps that a matrix of the gallery may need, about: some gigabytes.
pub const MAX_ENTRIES: f64 = 1e8;

/// A family of matrices: one line of the table [`FAMILIES`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Family {
    /// What names look like, with `<parameter>` for numbers.
    pub form: &'static str,
    /// What the matrix is, in one sentence.
    pub about: &'static str,
    /// What the parameters mean.
    pub parameters: &'static str,
    /// A member of moderate size.
    pub example: &'static str,
    /// True when the values or the pattern depend on the seed.
    pub random: bool,
    rule: fn(&[usize]) -> Option<&'static str>,
    work: fn(&[usize]) -> f64,
    build: fn(&[usize], u64) -> Built,
}

/// Every family that there is.
pub const FAMILIES: &[Family] = &[
    Family {
        form: "ch<p>-<q>-b<k>",
        about: "Boundary map of the p x q chessboard complex: placements of k + 1 rooks by placements of k.",
        parameters: "p, q: the board; k: from 0 to min(p, q) - 1",
        example: "ch6-6-b3",
        random: false,
        rule: complex::chessboard_rule,
        work: complex::chessboard_work,
        build: complex::chessboard,
    },
    Family {
        form: "mk<n>-b<k>",
        about: "Boundary map of the matching complex of the complete graph: matchings of k + 1 edges by matchings of k.",
        parameters: "n: nodes; k: from 0 to n/2 - 1",
        example: "mk9-b3",
        random: false,
        rule: complex::matching_rule,
        work: complex::matching_work,
        build: complex::matching,
    },
    Family {
        form: "flower_<n>_<D>",
        about: "Nullstellensatz matrix of 3-colourings of the n-antiprism: monomials by multiples of its polynomials.",
        parameters: "n: at least 3; D: degree, one of 1, 4, 7, ...",
        example: "flower_5_4",
        random: false,
        rule: margulies::flower_rule,
        work: margulies::flower_work,
        build: margulies::flower,
    },
    Family {
        form: "cat_ears_<k>_<D>",
        about: "Nullstellensatz matrix of 3-colourings of a strip of triangles: monomials by multiples of its polynomials.",
        parameters: "k: at least 1; D: degree, one of 1, 4, 7, ...",
        example: "cat_ears_3_4",
        random: false,
        rule: margulies::cat_ears_rule,
        work: margulies::cat_ears_work,
        build: margulies::cat_ears,
    },
    Family {
        form: "TF<n>",
        about: "Forests of two trees by trees, up to isomorphism: in how many ways an edge's removal leads there.",
        parameters: "n: nodes, at least 2",
        example: "TF13",
        random: false,
        rule: forest::rule,
        work: forest::work,
        build: forest::forest,
    },
    Family {
        form: "bibd_<v>_<k>",
        about: "Pairs of points by subsets of k points, 1 where the pair lies in the subset.",
        parameters: "v: points; k: from 2 to v",
        example: "bibd_13_6",
        random: false,
        rule: bibd::rule,
        work: bibd::work,
        build: bibd::bibd,
    },
    Family {
        form: "grid3d-<k>",
        about: "Weighted gradients on a cube of k^3 unknowns, and a weak observation of each.",
        parameters: "k: cells along an edge",
        example: "grid3d-20",
        random: true,
        rule: positive,
        work: grid3d::work,
        build: grid3d::grid3d,
    },
    Family {
        form: "stencil27-<k>",
        about: "27-point stencil of k^3 inner cells over all (k + 2)^3: underdetermined, full row rank.",
        parameters: "k: inner cells along an edge",
        example: "stencil27-12",
        random: false,
        rule: positive,
        work: stencil27::work,
        build: stencil27::stencil27,
    },
    Family {
        form: "ba-<cameras>x<points>",
        about: "Jacobian of a bundle adjustment, damped, with the noise of the views as right-hand side.",
        parameters: "cameras (9 unknowns each) and points (3 each)",
        example: "ba-200x8000",
        random: true,
        rule: positive,
        work: bundle::work,
        build: bundle::bundle,
    },
    Family {
        form: "pose-<k>",
        about: "Jacobian of a pose graph in space on a spiral around a sphere, with right-hand side.",
        parameters: "k: poses (6 unknowns each, the first fixed), at least 2",
        example: "pose-500",
        random: true,
        rule: pose::rule,
        work: pose::work,
        build: pose::pose,
    },
    Family {
        form: "survey-<w>x<h>",
        about: "Levelling network of w x h benchmarks, weighted, with right-hand side and weights.",
        parameters: "w, h: benchmarks along the sides",
        example: "survey-60x50",
        random: true,
        rule: positive,
        work: survey::work,
        build: survey::survey,
    },
    Family {
        form: "lp-<n>",
        about: "Like the transposed constraints of a linear program: blocks and popular linking columns.",
        parameters: "n: columns, at least 10 (6n rows)",
        example: "lp-6000",
        random: true,
        rule: lp::rule,
        work: lp::work,
        build: lp::lp,
    },
    Family {
        form: "conv2d-<k>",
        about: "Convection and diffusion on a square of k x k cells: square, unsymmetric, regular.",
        parameters: "k: cells along an edge",
        example: "conv2d-200",
        random: false,
        rule: positive,
        work: conv2d::work,
        build: conv2d::conv2d,
    },
    Family {
        form: "dense-rows-<n>x<k>",
        about: "Weighted differences on a square grid and k rows that see most unknowns: dense rows fix the rank.",
        parameters: "n: unknowns; k: dense rows",
        example: "dense-rows-2000x10",
        random: true,
        rule: positive,
        work: dense_rows::work,
        build: dense_rows::dense_rows,
    },
];

/// A matrix of the gallery.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GalleryMatrix {
    /// The name that it was made from.
    pub name: String,
    /// What it is, in one sentence.
    pub description: &'static str,
    /// The matrix, rows and columns in the family's natural order.
    pub matrix: Csc<f64>,
    /// A right-hand side with one value a row, where the family has a natural one; weighted like the matrix.
    pub rhs: Option<Vec<f64>>,
    /// What rows and right-hand side were multiplied with (1/sigma), where the family weights them.
    pub weights: Option<Vec<f64>>,
}

/// Makes the matrix of a name. The same name gives the same matrix, always.
///
/// ```
/// let a = treeqr_matrices::gallery::make("ch4-4-b2")?.matrix;
/// assert_eq!((a.nrows(), a.ncols(), a.nnz()), (96, 72, 288));
/// # Ok::<(), treeqr_matrices::gallery::GalleryError>(())
/// ```
///
/// # Errors
/// [`GalleryError`] for a name of no family, for parameters that make no sense, and for a matrix that would be too large,
/// which is estimated before anything is built.
pub fn make(name: &str) -> Result<GalleryMatrix, GalleryError> {
    let (family, args, seed) = name::parse(name)?;
    let name = name.to_owned();
    if let Some(why) = (family.rule)(&args) {
        return Err(GalleryError::Parameter { name, why });
    }
    let entries = (family.work)(&args);
    if entries > MAX_ENTRIES {
        return Err(GalleryError::TooLarge { name, entries });
    }
    let Built {
        matrix,
        rhs,
        weights,
    } = (family.build)(&args, seed);
    Ok(GalleryMatrix {
        name,
        description: family.about,
        matrix,
        rhs,
        weights,
    })
}

/// All families with their forms, one a line, for help texts.
pub fn list() -> String {
    let line = |f: &Family| format!("  {:<22} {} ({})", f.form, f.about, f.parameters);
    FAMILIES.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn positive(args: &[usize]) -> Option<&'static str> {
    args.contains(&0)
        .then_some("every parameter must be at least 1")
}
