//! LSQR and LSMR preconditioned by R in single precision, beside the refinement that decision 0008 took: a comparison of steps and
//! accuracy, and an independent way to the same x.
//!
//! C. Paige, M. Saunders, *LSQR*, ACM TOMS 8, 1982; D. Fong, M. Saunders, *LSMR*, SIAM J. Sci. Comput. 33, 2011.

use super::*;
use treeqr_matrices::{Source, norm2};
use treeqr_solver::{RefineMethod, RefineOptions, Scaled, analyse, quality, refine};

/// An operator and its adjoint.
type Operator<'a> = (
    &'a dyn Fn(&[f64]) -> Vec<f64>,
    &'a dyn Fn(&[f64]) -> Vec<f64>,
);

/// The part of it that is solved for before x is taken and the residual computed anew.
const INNER: f64 = 1e-7;

fn unit(v: &mut [f64]) -> f64 {
    let norm = norm2(v);
    if norm > 0.0 {
        v.iter_mut().for_each(|x| *x /= norm);
    }
    norm
}

/// beta u = B v - alpha u, alpha v = B^H u - beta v.
struct Bidiagonal<'a> {
    b: Operator<'a>,
    u: Vec<f64>,
    v: Vec<f64>,
    alpha: f64,
    beta: f64,
}

impl<'a> Bidiagonal<'a> {
    fn new(b: Operator<'a>, rhs: &[f64]) -> Self {
        let mut u = rhs.to_vec();
        let beta = unit(&mut u);
        let mut v = b.1(&u);
        let alpha = unit(&mut v);
        Bidiagonal {
            b,
            u,
            v,
            alpha,
            beta,
        }
    }

    fn step(&mut self) {
        let mut u = self.b.0(&self.v);
        u.iter_mut()
            .zip(&self.u)
            .for_each(|(x, u)| *x -= self.alpha * u);
        self.beta = unit(&mut u);
        let mut v = self.b.1(&u);
        v.iter_mut()
            .zip(&self.v)
            .for_each(|(x, v)| *x -= self.beta * v);
        self.alpha = unit(&mut v);
        (self.u, self.v) = (u, v);
    }
}

/// y of least ||rhs - B y||, and the steps that it took.
fn lsqr(b: Operator<'_>, rhs: &[f64], limit: usize) -> (Vec<f64>, usize) {
    let mut g = Bidiagonal::new(b, rhs);
    let (mut w, mut y) = (g.v.clone(), vec![0.0; g.v.len()]);
    let (mut phi_bar, mut rho_bar) = (g.beta, g.alpha);
    let first = g.alpha * g.beta;
    for step in 0..limit {
        if first == 0.0 || (phi_bar * g.alpha).abs() <= INNER * first && step > 0 {
            return (y, step);
        }
        g.step();
        let rho = rho_bar.hypot(g.beta);
        let (c, s) = (rho_bar / rho, g.beta / rho);
        let theta = s * g.alpha;
        rho_bar = -c * g.alpha;
        let phi = c * phi_bar;
        phi_bar *= s;
        for ((y, w), v) in y.iter_mut().zip(&mut w).zip(&g.v) {
            *y += phi / rho * *w;
            *w = v - theta / rho * *w;
        }
        if (phi_bar * g.alpha * c).abs() <= INNER * first {
            return (y, step + 1);
        }
    }
    (y, limit)
}

/// The same with ||B^H r|| decreasing in every step.
fn lsmr(b: Operator<'_>, rhs: &[f64], limit: usize) -> (Vec<f64>, usize) {
    let mut g = Bidiagonal::new(b, rhs);
    let (mut h, mut h_bar) = (g.v.clone(), vec![0.0; g.v.len()]);
    let mut y = vec![0.0; g.v.len()];
    let (mut alpha_bar, mut zeta_bar) = (g.alpha, g.alpha * g.beta);
    let (mut rho, mut rho_bar, mut c_bar, mut s_bar) = (1.0, 1.0, 1.0, 0.0);
    let first = zeta_bar;
    for step in 0..limit {
        if zeta_bar.abs() <= INNER * first {
            return (y, step);
        }
        g.step();
        let rho_old = rho;
        rho = f64::hypot(alpha_bar, g.beta);
        let (c, s) = (alpha_bar / rho, g.beta / rho);
        let theta = s * g.alpha;
        alpha_bar = c * g.alpha;
        let rho_bar_old = rho_bar;
        let theta_bar = s_bar * rho;
        let (from, of) = (c_bar * rho, theta);
        rho_bar = from.hypot(of);
        (c_bar, s_bar) = (from / rho_bar, of / rho_bar);
        let zeta = c_bar * zeta_bar;
        zeta_bar *= -s_bar;
        let back = theta_bar * rho / (rho_old * rho_bar_old);
        let along = zeta / (rho * rho_bar);
        for k in 0..y.len() {
            h_bar[k] = h[k] - back * h_bar[k];
            y[k] += along * h_bar[k];
            h[k] = g.v[k] - theta / rho * h[k];
        }
    }
    (y, limit)
}

type Method = fn(Operator<'_>, &[f64], usize) -> (Vec<f64>, usize);

/// x, the steps in all, and how often the residual was computed anew. R is that of `a` in single precision; for a wide A that of A^H.
fn solve(a: &Csc<f64>, r: &Factors<f32>, b: &[f64], method: Method) -> (Vec<f64>, usize, usize) {
    let wide = a.nrows() < a.ncols();
    let through = |v: &[f64], solve: &dyn Fn(&[f32]) -> Vec<f32>| {
        let norm = norm2(v).max(f64::MIN_POSITIVE);
        let low: Vec<f32> = v.iter().map(|x| (x / norm) as f32).collect();
        solve(&low)
            .iter()
            .map(|&x| f64::from(x) * norm)
            .collect::<Vec<f64>>()
    };
    let inverse = |v: &[f64]| through(v, &|v| r.solve_r(v, 1).expect("solve"));
    let adjoint = |v: &[f64]| through(v, &|v| r.solve_r_adjoint(v, 1).expect("solve"));
    let times = |v: &[f64]| {
        let mut out = vec![0.0; a.nrows()];
        a.mul_add(1.0, v, &mut out);
        out
    };
    let times_adjoint = |v: &[f64]| {
        let mut out = vec![0.0; a.ncols()];
        a.adjoint_mul_add(1.0, v, &mut out);
        out
    };
    // Tall: A R^{-1} y = r. Wide, where A = R^H Q^H: R^{-H} A x = R^{-H} r.
    type Product<'a> = &'a dyn Fn(&[f64]) -> Vec<f64>;
    let (forth, back): (Product<'_>, Product<'_>) = if wide {
        (&|x| adjoint(&times(x)), &|u| times_adjoint(&inverse(u)))
    } else {
        (&|y| times(&inverse(y)), &|u| adjoint(&times_adjoint(u)))
    };
    let mut x = vec![0.0; a.ncols()];
    let (mut steps, mut last) = (0, f64::INFINITY);
    for round in 0..8 {
        let mut residual = times(&x);
        residual.iter_mut().zip(b).for_each(|(r, b)| *r = b - *r);
        let rhs = if wide { adjoint(&residual) } else { residual };
        let (y, taken) = method((forth, back), &rhs, 60);
        let dx = if wide { y } else { inverse(&y) };
        let size = norm2(&dx);
        // Another round would move x by rounding alone.
        if size <= 4.0 * f64::EPSILON * norm2(&x) || size > 0.5 * last {
            return (x, steps, round);
        }
        x.iter_mut().zip(&dx).for_each(|(x, d)| *x += d);
        (steps, last) = (steps + taken, size);
    }
    (x, steps, 8)
}

struct Row {
    /// Steps and rounds of LSQR, of LSMR; corrections of gradients, of the semi-normal equations.
    counts: [(usize, usize); 4],
    /// `Quality::normal_residual`, in the same order.
    residuals: [f64; 4],
}

fn row(a: &Csc<f64>) -> Row {
    let scaled = Scaled::by_columns(a);
    let a = scaled.matrix();
    let single = a.to_precision::<f32>();
    let symbolic = std::sync::Arc::new(analyse(a.pattern(), &options(|_| ())).expect("analysis"));
    let keep = FactorOptions {
        tolerance: Some(0.0),
        ..run_options(2, false)
    };
    let factors = factorize(&symbolic, &single, &[], 0, &keep, &()).expect("factors");
    let factors = factors.factors;
    let b: Vec<f64> = (0..a.nrows()).map(|i| (i as f64 * 0.7).sin()).collect();
    let same = Scaled::evenly(a);
    let mut out = Row {
        counts: [(0, 0); 4],
        residuals: [0.0; 4],
    };
    for (k, method) in [lsqr as Method, lsmr].into_iter().enumerate() {
        let (x, steps, rounds) = solve(a, &factors, &b, method);
        out.counts[k] = (steps, rounds);
        out.residuals[k] = quality(a, &x, &b).normal_residual;
    }
    // `evenly` shifts by a power of two that the factors of `a` itself take part in.
    let methods = [RefineMethod::Gradients, RefineMethod::Seminormal];
    for (k, method) in methods.into_iter().enumerate() {
        let options = RefineOptions {
            method,
            ..RefineOptions::default()
        };
        let (x, report) = refine(&same, &factors, &b, 1, None, &options).expect("refined");
        out.counts[2 + k] = (report.corrections(), 0);
        out.residuals[2 + k] = quality(a, &x, &b).normal_residual;
        assert!(report.succeeded(), "{report:?}");
    }
    out
}

#[test]
fn lsqr_and_lsmr_come_to_the_same_accuracy() {
    for name in [
        "survey-8x6",
        "grid3d-5",
        "pose-12",
        "stencil27-3",
        "conv2d-12",
    ] {
        let row = row(&gallery::make(name).expect("gallery").matrix);
        for (k, residual) in row.residuals.into_iter().enumerate() {
            assert!(residual < 1e-13, "{name}, method {k}: {residual:e}");
        }
        assert!(row.counts[0].0 > 0 && row.counts[1].0 > 0);
    }
}

/// The table of decision 0008. Files may be named in `TREEQR_MATRICES`, separated by colons.
#[test]
#[ignore = "a table to look at, a minute: just test-large"]
fn table_of_steps() {
    let gallery =
        ["TF13", "grid3d-20", "conv2d-100", "pose-500"].map(|name| format!("gallery:{name}"));
    let files = std::env::var("TREEQR_MATRICES").unwrap_or_default();
    let files = files
        .split(':')
        .filter(|f| !f.is_empty())
        .map(str::to_owned);
    for name in gallery.into_iter().chain(files) {
        let a = Source::from(name.as_str())
            .matrix()
            .expect("a matrix")
            .matrix;
        let row = row(&a);
        let residuals = row.residuals.map(|r| format!("{r:.1e}"));
        println!("{name}: {:?} {residuals:?}", row.counts);
    }
}
