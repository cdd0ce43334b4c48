//! Cost models: how long a codelet takes on a kind of worker, learnt from the tasks that were done.
//!
//! Takes durations from the workers, and what an earlier run kept; gives predictions to policies that ask. Knows no
//! policy and no clock. A run whose policy never asks has no models and measures nothing.

mod cell;
mod file;
mod fingerprint;
mod kept;

pub use file::Ignored;
pub use kept::{Estimate, KeptModels};

use crate::schedulers::Arch;
use crate::spec::CodeletId;
use crate::sync::{Mutex, lock};
use cell::Cell;
use std::path::PathBuf;

/// Where cost models are kept between runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ModelStore {
    /// Nowhere: each run learns anew.
    #[default]
    Memory,
    /// In the user's cache folder: `$XDG_CACHE_HOME/treeqr/models`, or `~/.cache/treeqr/models`.
    Cache,
    /// In this file.
    File(PathBuf),
}

impl ModelStore {
    /// The file, if there is one.
    pub fn path(&self) -> Option<PathBuf> {
        match self {
            ModelStore::Memory => None,
            ModelStore::Cache => file::in_cache(),
            ModelStore::File(path) => Some(path.clone()),
        }
    }
}

/// What became of the cost models of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelReport {
    /// Pairs of codelet and kind of worker that a kept file brought.
    pub loaded: usize,
    /// Pairs with enough measurements at the end.
    pub calibrated: usize,
    /// Pairs that this run used.
    pub used: usize,
    /// The file, if models are kept.
    pub path: Option<PathBuf>,
    /// Why a file that is there was not used.
    pub ignored: Option<String>,
    /// Why the file could not be written.
    pub not_kept: Option<String>,
}

/// What the models of a codelet are called: its name, and the application's variant where it has one.
pub(crate) fn name_of(codelet: &str, variant: &str) -> String {
    match variant {
        "" => codelet.to_owned(),
        variant => format!("{codelet}/{variant}"),
    }
}

/// The models of one run.
pub(crate) struct CostModels {
    /// Names of codelets, each with the application's variant; names of kinds of workers.
    codelets: Vec<String>,
    archs: Vec<String>,
    /// By codelet, then kind.
    cells: Vec<Mutex<Measured>>,
    path: Option<PathBuf>,
    loaded: usize,
    ignored: Option<String>,
    /// Models of other codelets and kinds in the same file: kept as they are.
    others: file::Models,
}

#[derive(Default)]
struct Measured {
    cell: Cell,
    used: bool,
}

impl CostModels {
    /// Models of `codelets` on `archs`, with what `store` has of them.
    pub(crate) fn open(codelets: Vec<String>, archs: Vec<String>, store: &ModelStore) -> Self {
        let path = store.path();
        let (mut kept, ignored) = match path.as_deref().map(file::load) {
            None => (file::Models::new(), None),
            Some(Ok(models)) => (models, None),
            Some(Err(reason)) => (file::Models::new(), Some(reason.to_string())),
        };
        let mut loaded = 0;
        let mut cells = Vec::new();
        for codelet in &codelets {
            for arch in &archs {
                let cell = kept.remove(&(codelet.clone(), arch.clone()));
                loaded += usize::from(cell.is_some());
                cells.push(Mutex::new(Measured {
                    cell: cell.unwrap_or_default(),
                    used: false,
                }));
            }
        }
        CostModels {
            codelets,
            archs,
            cells,
            path,
            loaded,
            ignored,
            others: kept,
        }
    }

    fn cell(&self, codelet: CodeletId, arch: Arch) -> &Mutex<Measured> {
        &self.cells[codelet.0 as usize * self.archs.len() + arch.0 as usize]
    }

    /// Predicted nanoseconds; `None` as long as too little was measured.
    pub(crate) fn predict_ns(&self, codelet: CodeletId, arch: Arch, flops: u64) -> Option<f64> {
        lock(self.cell(codelet, arch)).cell.predict(flops)
    }

    /// A task took `ns`.
    pub(crate) fn learn(&self, codelet: CodeletId, arch: Arch, flops: u64, ns: f64) {
        let mut measured = lock(self.cell(codelet, arch));
        measured.used = true;
        measured.cell.add(flops, ns);
    }

    /// Writes the models where they are kept, and says what became of them.
    pub(crate) fn close(&self) -> ModelReport {
        let mut models = self.others.clone();
        let (mut calibrated, mut used) = (0, 0);
        for (at, cell) in self.cells.iter().enumerate() {
            let measured = lock(cell);
            calibrated += usize::from(measured.cell.count() >= cell::CALIBRATED);
            used += usize::from(measured.used);
            if measured.cell.count() > 0 {
                let codelet = self.codelets[at / self.archs.len()].clone();
                let arch = self.archs[at % self.archs.len()].clone();
                models.insert((codelet, arch), measured.cell.clone());
            }
        }
        let written = self.path.as_deref().map(|path| file::save(path, &models));
        ModelReport {
            loaded: self.loaded,
            calibrated,
            used,
            path: self.path.clone(),
            ignored: self.ignored.clone(),
            not_kept: written.and_then(Result::err).map(|e| e.to_string()),
        }
    }
}
