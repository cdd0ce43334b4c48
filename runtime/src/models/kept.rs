//! What a store has kept of cost models, to be asked before a run.
//!
//! Takes a [`ModelStore`]; gives estimates of durations, and changes nothing. Knows no run and no policy.

use super::cell::Cell;
use super::{Ignored, ModelStore, file, name_of};

/// The models that a store has kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeptModels {
    models: file::Models,
}

/// How long a codelet takes on the kinds of workers that were asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate<'m> {
    /// Those that were measured.
    cells: Vec<&'m Cell>,
}

impl ModelStore {
    /// Reads what is kept now; nothing where nothing is, and for [`ModelStore::Memory`].
    ///
    /// # Errors
    /// If there is a file that can't be used.
    pub fn read(&self) -> Result<KeptModels, Ignored> {
        let models = self
            .path()
            .as_deref()
            .map_or(Ok(file::Models::new()), file::load)?;
        Ok(KeptModels { models })
    }
}

impl KeptModels {
    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// What is known of `codelet` of an application of this [`variant`](crate::Application::variant) on these `kinds` of
    /// workers ([`Config::kinds`](crate::Config::kinds)).
    pub fn of(&self, codelet: &str, variant: &str, kinds: &[String]) -> Estimate<'_> {
        let name = name_of(codelet, variant);
        let cells = kinds.iter();
        let cells = cells.filter_map(|kind| self.models.get(&(name.clone(), kind.clone())));
        Estimate {
            cells: cells.collect(),
        }
    }
}

impl Estimate<'_> {
    /// Nanoseconds of a task of `flops` on the fastest of the kinds; `None` if too little was measured on all of them.
    pub fn fastest_ns(&self, flops: u64) -> Option<f64> {
        let times = self.cells.iter().filter_map(|cell| cell.predict(flops));
        times.min_by(f64::total_cmp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_kind_that_was_measured_answers() {
        let cell = |count: u32, ns: f64| {
            let mut cell = Cell::default();
            (0..count).for_each(|_| cell.add(1000, ns));
            cell
        };
        let key = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let kept = KeptModels {
            models: [
                (key("geqrt/f64", "cpu"), cell(9, 70.0)),
                (key("geqrt/f64", "cuda"), cell(9, 20.0)),
                (key("geqrt/f64", "fpga"), cell(1, 1.0)),
                (key("geqrt", "cpu"), cell(9, 5.0)),
            ]
            .into(),
        };
        let ns = |variant: &str, kinds: &[&str]| {
            let kinds: Vec<_> = kinds.iter().map(|kind| (*kind).to_owned()).collect();
            kept.of("geqrt", variant, &kinds).fastest_ns(1000)
        };
        assert_eq!(ns("f64", &["cpu"]), Some(70.0));
        assert_eq!(ns("f64", &["cpu", "cuda", "gpu"]), Some(20.0));
        assert_eq!(ns("f64", &["cpu", "fpga"]), Some(70.0), "too few");
        assert_eq!(ns("", &["cpu"]), Some(5.0));
        assert_eq!(ns("f32", &["cpu"]), None);
        assert!(ModelStore::Memory.read().unwrap().is_empty());
    }
}
