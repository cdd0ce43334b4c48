//! The area bound.

use crate::common::{Shape, random};
use crate::hand::{edge, empty, random_machine, task};
use treeqr_profiling::account::{AreaBound, area_bound, bounds};

#[track_caller]
fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-6 * b.abs().max(1.0), "{a} and not {b}");
}

/// Equal workers: the work by their number, whatever the classes.
#[test]
fn with_equal_workers_it_is_a_division() {
    for seed in 0..20 {
        let trace = random(Shape {
            devices: 0,
            ..Shape::small(seed)
        });
        let tables = &trace.tables;
        let work: u64 = tables.tasks.iter().map(|t| t.end_ns - t.start_ns).sum();
        let area = area_bound(&trace).unwrap();
        close(area.bound_ns, work as f64 / tables.workers.len() as f64);
        assert_eq!(area.resources.len(), 1);
        let both = bounds(&trace).unwrap();
        assert_eq!(
            both.bound_ns,
            both.area_ns.max(both.critical_path_ns as f64)
        );
        // Holds for every run: durations are what they are.
        assert!(both.bound_ns <= both.makespan_ns as f64 + 1e-6);
    }
}

/// Ten tasks of 4 ns on two CPUs or 1 ns on a device: at the bound (10 - d) 4 / 2 = d.
#[test]
fn a_device_takes_its_part() {
    let mut trace = empty(2, 1, 100);
    for worker in [0, 1, 2, 2, 2, 2, 2, 2, 2, 2] {
        task(&mut trace, 0, worker, 0, if worker < 2 { 4 } else { 1 });
    }
    let area = area_bound(&trace).unwrap();
    close(area.bound_ns, 20.0 / 3.0);
    close(area.classes[0].ideal[1], 20.0 / 3.0);
    assert_eq!(area.classes[0].mean_ns, [Some(4.0), Some(1.0)]);

    // What never ran on the device stays off it: (10 - d) 4 + 8 = 2 d.
    task(&mut trace, 1, 0, 0, 8);
    let area = area_bound(&trace).unwrap();
    close(area.bound_ns, 8.0);
    assert_eq!(area.classes[1].mean_ns[1], None);
    close(area.classes[1].ideal[0], 1.0);
    // So much of it that the device would wait.
    for _ in 0..11 {
        task(&mut trace, 1, 1, 0, 8);
    }
    close(area_bound(&trace).unwrap().bound_ns, 48.0);
}

/// Sizes are classes of their own: what is slow on a device when small is not when large.
#[test]
fn classes_are_codelets_and_powers_of_two() {
    let mut trace = empty(1, 1, 100);
    for flops in [0, 1, 2, 3, 4, 1023, 1024] {
        task(&mut trace, 2, 0, 0, 1).flops = flops;
    }
    let area = area_bound(&trace).unwrap();
    let sizes: Vec<_> = area
        .classes
        .iter()
        .map(|c| (c.log2_flops, c.tasks))
        .collect();
    let expected = [
        (None, 1),
        (Some(0), 1),
        (Some(1), 2),
        (Some(2), 1),
        (Some(9), 1),
        (Some(10), 1),
    ];
    assert_eq!(sizes, expected);
}

#[test]
fn the_path_can_be_the_larger_bound() {
    let mut trace = empty(4, 0, 20);
    task(&mut trace, 0, 0, 0, 5);
    task(&mut trace, 0, 1, 5, 12);
    edge(&mut trace, 0, 1);
    let both = bounds(&trace).unwrap();
    assert_eq!(
        (both.area_ns, both.critical_path_ns, both.bound_ns),
        (3.0, 12, 12.0)
    );
    assert_eq!(both.makespan_ns, 12);
    assert_eq!(area_bound(&empty(2, 1, 10)).unwrap().bound_ns, 0.0);
}

/// A task that took no time somewhere is free there.
#[test]
fn no_time_is_free() {
    let mut trace = empty(1, 1, 20);
    task(&mut trace, 0, 0, 0, 5);
    task(&mut trace, 0, 1, 3, 3);
    assert_eq!(area_bound(&trace).unwrap().bound_ns, 0.0);
}

/// The best of the dual program: prices u of the resources, sum Q_r u_r = 1, that make sum_k N_k min_r t[k,r] u_r largest. It is
/// concave and linear in pieces, so the best is at a corner: a ray where enough of the planes t_r u_r = t_s u_s and u_r = 0
/// meet.
fn dual(area: &AreaBound) -> f64 {
    let resources = area.resources.len();
    let mut planes: Vec<Vec<f64>> = (0..resources)
        .map(|r| {
            (0..resources)
                .map(|s| f64::from(u8::from(r == s)))
                .collect()
        })
        .collect();
    for class in &area.classes {
        for r in 0..resources {
            for s in 0..r {
                if let (Some(a), Some(b)) = (class.mean_ns[r], class.mean_ns[s]) {
                    let mut plane = vec![0.0; resources];
                    (plane[r], plane[s]) = (a, -b);
                    planes.push(plane);
                }
            }
        }
    }
    let rays: Vec<Vec<f64>> = match resources {
        1 => vec![vec![1.0]],
        2 => planes.iter().map(|p| vec![p[1], -p[0]]).collect(),
        3 => (planes.iter().enumerate())
            .flat_map(|(k, p)| planes[..k].iter().map(move |q| cross(p, q)))
            .collect(),
        _ => unreachable!("three are enough"),
    };
    let value = |ray: &Vec<f64>| {
        let sign = if ray.iter().sum::<f64>() < 0.0 {
            -1.0
        } else {
            1.0
        };
        let u: Vec<f64> = ray.iter().map(|x| x * sign).collect();
        let norm: f64 = u
            .iter()
            .zip(&area.resources)
            .map(|(u, r)| u * r.workers as f64)
            .sum();
        // Not all of one sign, or two planes that are the same.
        if u.iter().any(|&u| u < -1e-12 * norm.abs()) || norm <= 1e-9 {
            return 0.0;
        }
        let cheapest = |class: &treeqr_profiling::account::TaskClass| {
            let prices = class
                .mean_ns
                .iter()
                .zip(&u)
                .filter_map(|(t, u)| Some((*t)? * u));
            class.tasks as f64 * prices.fold(f64::INFINITY, f64::min)
        };
        area.classes.iter().map(cheapest).sum::<f64>() / norm
    };
    rays.iter().map(value).fold(0.0, f64::max)
}

fn cross(a: &[f64], b: &[f64]) -> Vec<f64> {
    let part = |i: usize, j: usize| a[i] * b[j] - a[j] * b[i];
    vec![part(1, 2), part(2, 0), part(0, 1)]
}

/// Nothing is lost, nothing is where it never ran, and no resource is overloaded: T can be reached. Weak duality: it
/// cannot be less than any value of the dual program.
#[test]
fn it_can_be_reached_and_not_be_beaten() {
    for seed in 0..60 {
        let (cpus, devices) = (1 + (seed % 5) as u16, (seed % 3) as u16);
        let trace = random_machine(seed, cpus, devices, 4 + 3 * seed as u32);
        let area = area_bound(&trace).unwrap();
        let mut load = vec![0.0; area.resources.len()];
        for class in &area.classes {
            close(class.ideal.iter().sum(), class.tasks as f64);
            for (r, &n) in class.ideal.iter().enumerate() {
                assert!(
                    n >= 0.0 && (n == 0.0 || class.measured[r] > 0),
                    "seed {seed}"
                );
                load[r] += n * class.mean_ns[r].unwrap_or(0.0);
            }
        }
        for (resource, load) in area.resources.iter().zip(load) {
            assert!(
                load <= area.bound_ns * resource.workers as f64 * (1.0 + 1e-12),
                "seed {seed}"
            );
        }
        let least = dual(&area);
        assert!(
            (area.bound_ns - least).abs() <= 1e-6 * least,
            "seed {seed}: {} and {least}",
            area.bound_ns
        );
    }
}
