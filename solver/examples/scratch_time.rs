//! Temporary driver.
use std::sync::Arc;
use std::time::Instant;
use treeqr_matrices::Csc;
use treeqr_profiling::*;
use treeqr_runtime::*;
use treeqr_solver::*;

fn read(path: &str) -> Csc<f64> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().filter(|l| !l.starts_with('%'));
    let d: Vec<usize> = lines
        .next()
        .unwrap()
        .split_whitespace()
        .map(|t| t.parse().unwrap())
        .collect();
    let (mut i, mut j, mut v) = (vec![], vec![], vec![]);
    for l in lines {
        let mut t = l.split_whitespace();
        i.push(t.next().unwrap().parse::<u32>().unwrap() - 1);
        j.push(t.next().unwrap().parse::<u32>().unwrap() - 1);
        v.push(t.next().map_or(1.0, |s| s.parse::<f64>().unwrap()));
    }
    Csc::from_triplets(d[0], d[1], &i, &j, &v).unwrap()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let a = read(&args[1]);
    let threads: usize = args.get(2).map_or(2, |s| s.parse().unwrap());
    let sched = args.get(3).map_or("lws", |s| s.as_str());
    let mut o = Options {
        threads,
        ..Options::default()
    };
    if let Some(ord) = args.get(4) {
        o.ordering = ord.clone();
    }
    let t = Instant::now();
    let s = Arc::new(analyse(a.pattern(), &o).unwrap());
    println!(
        "analyse {:?} {} {}",
        t.elapsed(),
        s.ordering(),
        s.ordering_why()
    );
    for (n, d) in s.steps() {
        println!("   {n} {d:?}");
    }
    let tiled = s.fronts().len();
    println!("fronts {} units {:?}", tiled, s.unit_counts());
    let wide = a.nrows() < a.ncols();
    let t = Instant::now();
    let p = s.predict(RunShape::of::<f64>(1, false));
    println!("predict {:?} {:?}", t.elapsed(), p);
    let b = vec![1.0; a.nrows()];
    let mut c = Config::with_threads(threads);
    c.scheduler = schedulers::by_name(sched).unwrap();
    for _ in 0..3 {
        let fo = FactorOptions {
            keep_q: wide,
            run: c.clone(),
            ..Default::default()
        };
        let rec = Recorder::new(RecorderOptions {
            accesses: p.accesses as usize,
            memory_events: (p.buffers.0 + p.buffers.1) as usize,
            ..RecorderOptions::for_tasks(p.task_count() as usize)
        });
        let t = Instant::now();
        let f = factorize(
            &s,
            &a,
            if wide { &[] } else { &b },
            usize::from(!wide),
            &fo,
            &rec,
        );
        let el = t.elapsed();
        let r = rec.finish();
        if !r.runs.is_empty() {
            print!("{}", r.summary(0));
        }
        match f {
            Err(e) => println!("{el:?} {e}"),
            Ok(f) => {
                let t2 = Instant::now();
                let x = if wide {
                    f.factors.solve(&b, 1).unwrap()
                } else {
                    f.factors.solution()
                };
                let q = quality(&a, &x, &b);
                println!(
                    "factor {:?} run {:?} {:.1} GF/s peak {} MB solve {:?} {:?}",
                    el,
                    f.stats.elapsed,
                    p.flops as f64 / f.stats.elapsed.as_secs_f64() / 1e9,
                    f.stats.peak_bytes >> 20,
                    t2.elapsed(),
                    q
                );
            }
        }
    }
}
