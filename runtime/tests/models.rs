//! Cost models: learnt, kept in a file, ignored where they are damaged, absent where nobody asks.

mod common;

use common::*;
use std::path::PathBuf;
use treeqr_runtime::*;

fn kept(scheduler: &str, models: ModelStore) -> Option<ModelReport> {
    let program = program(5, 200, 6, Delays::None);
    let config = Config {
        models,
        ..config(schedulers::by_name(scheduler).unwrap(), 2)
    };
    let steps = Steps::new(200);
    let (_, stats) = run(&config, &steps, &mut store(6), &(), |s| submit(&program, s)).unwrap();
    steps.check(&program);
    stats.models
}

#[test]
fn models_are_learnt_kept_and_found_again() {
    let folder = std::env::temp_dir().join(format!("treeqr-runtime-models-{}", std::process::id()));
    let path = folder.join("models");
    let file = || ModelStore::File(path.clone());
    let first = kept("dmda", file()).unwrap();
    assert_eq!((first.loaded, first.calibrated, first.used), (0, 1, 1));
    assert_eq!((&first.ignored, &first.not_kept), (&None, &None));
    let second = kept("heteroprio", file()).unwrap();
    assert_eq!((second.loaded, second.path), (1, Some(path.clone())));
    // Whoever does not ask neither reads nor writes.
    assert_eq!(kept("lws", file()), None);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.len() / 2]).unwrap();
    let third = kept("dm", file()).unwrap();
    assert_eq!(third.loaded, 0);
    assert!(third.ignored.is_some());
    assert_eq!(kept("dm", file()).unwrap().loaded, 1);
    std::fs::remove_dir_all(&folder).unwrap();
    let nowhere = PathBuf::from("/dev/null/models");
    let lost = kept("dm", ModelStore::File(nowhere)).unwrap();
    assert!(lost.not_kept.is_some() && lost.calibrated == 1);
    assert_eq!(kept("dm", ModelStore::Memory).unwrap().path, None);
}
