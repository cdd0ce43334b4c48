//! The data store and the buffers of tasks: values, modes, accounting.

use num_complex::Complex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use treeqr_runtime::*;

/// One task that does `body`; a codelet must be a plain function, so the body is in the application.
struct Do<F>(F);

impl<F: Fn(&TaskContext<'_>) -> Result<(), TaskFailure> + Sync> Application for Do<F> {
    type Scratch = ();
    fn scratch(&self, _: usize) {}
    fn codelets(&self) -> &[Codelet<Self>] {
        const {
            &[Codelet {
                name: "do",
                cpu: Some(|app, context, _| (app.0)(context)),
            }]
        }
    }
}

fn one_task(
    store: &mut DataStore,
    accesses: &[(Handle, Access)],
    body: impl Fn(&TaskContext<'_>) -> Result<(), TaskFailure> + Sync,
) -> Result<RunStats, RunError> {
    let mut task = TaskSpec::new(CodeletId(0), 0);
    task.accesses.extend_from_slice(accesses);
    let config = Config::default();
    let app = Do(body);
    run_sequential(&config, &app, store, &(), |s| s.submit(task)).map(|(_, stats)| stats)
}

const A: Handle = Handle(0);
const B: Handle = Handle(1);

#[test]
fn several_buffers_at_once_in_all_element_types() {
    let mut store = DataStore::new(4);
    let h: Vec<_> = (0..4).map(Handle).collect();
    for &handle in &h {
        store.allocate(handle, 64).unwrap();
    }
    let accesses = [
        (h[0], Access::ReadWrite),
        (h[1], Access::Write),
        (h[2], Access::Scatter),
        (h[3], Access::Read),
    ];
    one_task(&mut store, &accesses, |context| {
        let mut x = context.write::<f32>(0);
        let mut y = context.write::<Complex<f64>>(1);
        let z = context.scatter::<Complex<f32>>(2);
        let w = context.read::<f64>(3);
        assert_eq!((x.len(), y.len(), z.len(), w.len()), (16, 4, 8, 8));
        x[15] = 2.0;
        y[3] = Complex::new(1.0, w[0] - 1.0);
        z.write_run(6, &[Complex::new(3.0, 4.0), Complex::new(5.0, 6.0)]);
        Ok(())
    })
    .unwrap();
    assert_eq!(store.get_as::<f32>(h[0]).unwrap()[15], 2.0);
    assert_eq!(store.get_as::<f64>(h[1]).unwrap()[6..], [1.0, -1.0]);
    assert_eq!(
        store.get_as::<f32>(h[2]).unwrap()[10..],
        [0.0, 0.0, 3.0, 4.0, 5.0, 6.0]
    );
    for &handle in &h {
        assert_eq!(
            store.get(handle).unwrap().as_ptr().align_offset(ALIGNMENT),
            0
        );
    }
}

#[test]
fn memory_is_zeroed_and_counted() {
    let mut store = DataStore::new(2);
    store.allocate(B, 50).unwrap();
    let large = if cfg!(miri) { 10_000 } else { 10_000_000 };
    let stats = one_task(
        &mut store,
        &[(A, Access::Write), (B, Access::ReadWrite)],
        |context| {
            for bytes in [1000, large, 0, 24] {
                context.allocate(A, bytes)?;
                let mut buffer = context.write::<u8>(0);
                assert_eq!(buffer.len(), bytes);
                assert!(buffer.iter().all(|&x| x == 0));
                buffer.fill(1);
            }
            context.free(B);
            context.free(B);
            Ok(())
        },
    )
    .unwrap();
    assert_eq!(stats.peak_bytes, large as u64 + 50);
    assert_eq!((store.bytes(), store.peak_bytes()), (24, large as u64 + 50));
    assert_eq!((store.get(A), store.get(B)), (Some(&[1u8; 24][..]), None));
    store.reset_peak();
    assert_eq!(store.peak_bytes(), 24);
    store.grow(5);
    store.free(A);
    assert_eq!((store.bytes(), store.handles()), (0, 5));
}

#[test]
fn freed_memory_serves_again_and_never_makes_the_peak_higher() {
    // A capacity of the pool, so that bounds are met to the byte.
    const SIZE: usize = 10_240;
    let h: Vec<_> = (0..12).map(Handle).collect();
    let accesses: Vec<_> = h.iter().map(|&h| (h, Access::Write)).collect();
    let mut store = DataStore::new(12);
    let small = h[0];
    let stats = one_task(&mut store, &accesses, |context| {
        for round in 0..3 {
            for (i, &handle) in h[..10].iter().enumerate() {
                context.allocate(handle, SIZE)?;
                let mut buffer = context.write::<u8>(i);
                assert!(buffer.iter().all(|&x| x == 0), "round {round}");
                buffer.fill(7);
            }
            h.iter().for_each(|&handle| context.free(handle));
        }
        // Who does not ask for zeros gets what the last one left.
        context.allocate_for_overwrite(small, SIZE)?;
        assert!(context.write::<u8>(0).iter().all(|&x| x == 7));
        Ok(())
    })
    .unwrap();
    assert_eq!(
        (stats.allocations.fresh, stats.allocations.recycled),
        (10, 21)
    );
    assert_eq!(stats.peak_bytes, 10 * SIZE as u64);
    let held = |store: &DataStore| store.bytes() + store.pooled_bytes();
    assert!(store.pooled_bytes() > 8 * SIZE as u64 && held(&store) <= 10 * SIZE as u64);

    // Another size finds nothing, and what waits gives way to it; unless more may be kept.
    for (keep_up_to, all_stay) in [(0, false), (40 * SIZE as u64, true)] {
        let mut store = DataStore::new(12);
        store.keep_up_to(keep_up_to);
        let stats = one_task(&mut store, &accesses, |context| {
            h[..10]
                .iter()
                .try_for_each(|&h| context.allocate(h, SIZE))?;
            h.iter().for_each(|&handle| context.free(handle));
            Ok(context.allocate(h[11], 9 * SIZE)?)
        })
        .unwrap();
        assert_eq!(
            (stats.allocations.fresh, stats.peak_bytes),
            (11, 10 * SIZE as u64)
        );
        assert_eq!(held(&store) <= 10 * SIZE as u64, !all_stay);
        // Fewer bytes may be kept from now on.
        store.keep_up_to(9 * SIZE as u64);
        assert_eq!(held(&store), 9 * SIZE as u64);
    }

    // All buffers freed at once, for another run: it asks the system for nothing.
    store.recycle();
    assert_eq!((store.bytes(), store.get(small)), (0, None));
    let again = one_task(&mut store, &accesses, |context| {
        Ok(h[..8].iter().try_for_each(|&h| context.allocate(h, SIZE))?)
    });
    let again = again.unwrap();
    assert_eq!(
        (again.allocations.fresh, again.allocations.recycled),
        (0, 8)
    );
    assert_eq!(again.peak_bytes, 8 * SIZE as u64);
    store.release_pool();
    assert_eq!(store.pooled_bytes(), 0);
}

#[test]
fn a_store_beside_another_takes_what_that_leaves_unused() {
    const LARGE: usize = 1 << 20;
    let accesses = [(A, Access::Write), (B, Access::Write)];
    let mut store = DataStore::new(2);
    one_task(&mut store, &accesses, |context| {
        context.allocate(A, LARGE)?;
        context.allocate(B, 3 * LARGE)?;
        context.write::<u8>(1).fill(7);
        context.free(B);
        Ok(())
    })
    .unwrap();

    let mut beside = store.beside(1);
    let stats = one_task(&mut beside, &accesses[..1], |context| {
        context.allocate(A, 2 * LARGE)?;
        let mut buffer = context.write::<u8>(0);
        assert!(buffer.iter().all(|&x| x == 0));
        buffer.fill(5);
        Ok(())
    })
    .unwrap();
    let taken = stats.allocations;
    assert_eq!((taken.fresh, taken.recycled), (0, 1));
    let bytes = (store.bytes(), beside.bytes());
    assert_eq!(bytes, (LARGE as u64, 2 * LARGE as u64));

    // What one gives back is nobody's, and either may go first.
    store.release_pool();
    assert_eq!(store.pooled_bytes(), 0);
    let held = |store: &DataStore, value| store.get(A).unwrap().iter().all(|&x| x == value);
    assert!(held(&store, 0) && held(&beside, 5));
    let again = store.beside(0);
    drop(store);
    assert!(held(&beside, 5));
    beside.free(A);
    again.keep_unused(3 * LARGE as u64);
    assert!(again.pooled_bytes() > 0);
    again.keep_unused(0);
    assert_eq!(again.pooled_bytes(), 0);
}

#[test]
fn a_task_that_does_not_write_what_it_promised_is_found_out() {
    let accesses = [(A, Access::Write)];
    let config = Config {
        faults: Faults {
            poison: true,
            ..Faults::default()
        },
        ..Config::default()
    };
    let app = Do(|context: &TaskContext<'_>| {
        for _ in 0..2 {
            context.allocate_for_overwrite(A, 80)?;
            assert!(context.write::<f64>(0).iter().all(|x| x.is_nan()));
            assert!(context.write::<f32>(0).iter().all(|x| x.is_nan()));
            context.allocate(A, 80)?;
            assert!(context.write::<f64>(0).iter().all(|&x| x == 0.0));
        }
        Ok(())
    });
    let mut task = TaskSpec::new(CodeletId(0), 0);
    task.accesses.extend_from_slice(&accesses);
    run_sequential(&config, &app, &mut DataStore::new(1), &(), |s| {
        s.submit(task)
    })
    .unwrap();
}

#[test]
fn working_memory_is_in_no_account_and_its_pages_serve_buffers() {
    const LARGE: usize = 1 << 20;
    let mut store = DataStore::new(2);
    let stats = one_task(&mut store, &[(A, Access::Write), (B, Access::Write)], |c| {
        let mut work = c.working_memory::<u64>(LARGE / 8)?;
        assert_eq!(work.len(), LARGE / 8);
        work.fill(3);
        c.allocate(A, LARGE)?;
        c.write::<u64>(0).fill(4);
        assert!(work.iter().all(|&x| x == 3));
        drop(work);
        // In the pages that it had, cleared.
        c.allocate(B, LARGE)?;
        assert!(c.write::<u64>(1).iter().all(|&x| x == 0));
        let small = c.working_memory::<f32>(5)?;
        assert_eq!(small.len(), 5);
        Ok(())
    });
    let stats = stats.unwrap();
    assert_eq!(stats.peak_bytes, 2 * LARGE as u64);
    let taken = stats.allocations;
    assert_eq!((taken.fresh, taken.recycled), (3, 1));
    assert_eq!(store.bytes(), 2 * LARGE as u64);
    store.free(A);
    store.free(B);
    store.release_pool();
    assert_eq!((store.bytes(), store.pooled_bytes()), (0, 0));

    let config = Config {
        faults: Faults {
            poison: true,
            fail_allocation: Some(1),
            ..Faults::default()
        },
        ..Config::default()
    };
    let app = Do(|context: &TaskContext<'_>| {
        let work = context.working_memory::<f64>(LARGE)?;
        assert!(work.iter().all(|x| x.is_nan()));
        context.working_memory::<f64>(1)?;
        unreachable!("it fails");
    });
    let run = run_sequential(&config, &app, &mut store, &(), |s| {
        s.submit(TaskSpec::new(CodeletId(0), 0))
    });
    let failed = run.map(|_| ()).unwrap_err().to_string();
    assert!(failed.contains("asked for 8 bytes"), "{failed}");
}

#[test]
fn what_was_not_declared_is_refused() {
    type Body = fn(&TaskContext<'_>);
    let cases: [(Access, Body, &str); 11] = [
        (
            Access::Read,
            |c| drop(c.write::<u8>(0)),
            "cannot write access 0 (handle 0): it was declared Read",
        ),
        (
            Access::Write,
            |c| drop(c.read::<u8>(0)),
            "cannot read access 0 (handle 0): it was declared Write",
        ),
        (
            Access::Scatter,
            |c| drop(c.write::<u8>(0)),
            "cannot write access 0 (handle 0): it was declared Scatter",
        ),
        (
            Access::ReadWrite,
            |c| drop(c.scatter::<u32>(0)),
            "cannot scatter to access 0",
        ),
        (
            Access::Read,
            |c| drop(c.read::<u8>(1)),
            "cannot read access 1: the task has 1",
        ),
        (Access::Read, |c| c.free(A), "cannot free handle 0"),
        (Access::ReadWrite, |c| c.free(B), "cannot free handle 1"),
        (
            Access::Read,
            |c| drop(c.read::<u64>(0)),
            "a buffer of 12 bytes is no whole number",
        ),
        (
            Access::Scatter,
            |c| c.scatter::<u32>(0).write_run(2, &[1, 2]),
            "a run of 2 elements from 2 in a buffer of 3",
        ),
        (
            Access::ReadWrite,
            |c| drop((c.write::<u8>(0), c.write::<u8>(0))),
            "handle 0 is held in another mode",
        ),
        (
            Access::ReadWrite,
            |c| {
                let _held = c.read::<u8>(0);
                c.free(A);
            },
            "handle 0 is held in another mode",
        ),
    ];
    for (access, body, expected) in cases {
        let mut store = DataStore::new(2);
        store.allocate(A, 12).unwrap();
        let error = one_task(&mut store, &[(A, access)], |context| {
            body(context);
            Ok(())
        });
        match error.unwrap_err() {
            RunError::TaskPanicked { message, .. } => {
                assert!(message.starts_with(expected), "{message}")
            }
            other => panic!("{other}"),
        }
    }
    let mut store = DataStore::new(1);
    let error = one_task(&mut store, &[(A, Access::Read)], |c| {
        c.read::<u8>(0);
        Ok(())
    });
    assert!(
        error
            .unwrap_err()
            .to_string()
            .ends_with("handle 0 has no buffer")
    );
    assert!(store.allocate(A, usize::MAX).is_err());
}

#[test]
fn scatters_meet_in_one_buffer() {
    let mut store = DataStore::new(1);
    store.allocate(A, 4 * 64).unwrap();
    let together = AtomicU64::new(0);
    let app = Do(|context: &TaskContext<'_>| {
        let buffer = context.scatter::<f32>(0);
        together.fetch_add(1, Relaxed);
        // Two workers: neither goes on before both hold the buffer (or gives up, where they run one by one).
        let begin = std::time::Instant::now();
        while together.load(Relaxed) < 2 && begin.elapsed().as_millis() < 2000 {
            std::thread::yield_now();
        }
        let me = context.task().node;
        buffer.write_run(8 * me as usize, &[me as f32; 8]);
        Ok(())
    });
    let config = Config::with_threads(2);
    run(&config, &app, &mut store, &(), |submitter| {
        for node in 0..8 {
            submitter.submit(TaskSpec::new(CodeletId(0), node).with(A, Access::Scatter))?;
        }
        Ok(())
    })
    .unwrap();
    let expected: Vec<f32> = (0..64).map(|i| (i / 8) as f32).collect();
    assert_eq!(store.get_as::<f32>(A).unwrap(), expected);
}

#[test]
fn frozen_data_is_read_from_another_store_without_handles() {
    let mut frozen = DataStore::new(1);
    frozen.allocate(A, 8).unwrap();
    frozen.get_mut_as::<f64>(A).unwrap()[0] = 3.0;
    let frozen = &frozen;
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(move || {
                let mut store = DataStore::new(1);
                one_task(&mut store, &[(A, Access::Write)], |context| {
                    context.allocate(A, 8)?;
                    context.write::<f64>(0)[0] = 2.0 * frozen.get_as::<f64>(A).unwrap()[0];
                    Ok(())
                })
                .unwrap();
                assert_eq!(store.get_as::<f64>(A).unwrap(), [6.0]);
            });
        }
    });
}
