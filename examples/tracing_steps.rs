//! treeqr inside another program that uses `tracing`: its steps are spans and its decisions events, for a subscriber of one's own.
//!
//!     cargo run --example tracing_steps

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tracing::span::{Attributes, Id};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};
use treeqr::matrices::load;
use treeqr::{FactorOptions, Options, analyse, factorize};

/// A step that has ended: how deep it is in others, its name, and how long it took.
pub(crate) type Step = (usize, &'static str, Duration);

/// Notes every span when it ends.
#[derive(Clone, Default)]
struct Steps(Arc<Mutex<Vec<Step>>>);

impl<S: tracing::Subscriber + for<'l> LookupSpan<'l>> Layer<S> for Steps {
    fn on_new_span(&self, _: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(Instant::now());
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else {
            return;
        };
        let begin = span.extensions().get::<Instant>().copied();
        let depth = span.scope().count() - 1;
        if let (Some(begin), Ok(mut steps)) = (begin, self.0.lock()) {
            steps.push((depth, span.name(), begin.elapsed()));
        }
    }
}

pub(crate) fn main() -> Result<(), treeqr::Error> {
    for (depth, name, time) in steps()? {
        println!("{:indent$}{name}: {time:.1?}", "", indent = 2 * depth);
    }
    Ok(())
}

pub(crate) fn steps() -> Result<Vec<Step>, treeqr::Error> {
    let steps = Steps::default();
    // For this thread only; a program would call `set_global_default` once.
    let subscriber = Registry::default().with(steps.clone());
    tracing::subscriber::with_default(subscriber, || -> Result<(), treeqr::Error> {
        let a = load::<f64>("gallery:grid3d-8")?.matrix;
        let _span = tracing::info_span!("my program").entered();
        let symbolic = analyse(a.pattern(), &Options::default())?;
        let qr = factorize(&symbolic, &a, &FactorOptions::default())?;
        qr.solve(&vec![1.0; a.nrows()])?;
        Ok(())
    })?;
    let steps = steps.0.lock().map(|steps| steps.clone());
    Ok(steps.unwrap_or_default())
}
