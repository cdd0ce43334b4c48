//! Why the gallery has no such matrix.

/// Why the gallery has no such matrix.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GalleryError {
    /// The name has the form of no family.
    #[error("the gallery has no '{name}'; names look like\n{}", super::list())]
    Unknown {
        /// The name asked for.
        name: String,
    },
    /// A parameter that makes no sense in its family.
    #[error("'{name}': {why}")]
    Parameter {
        /// The name asked for.
        name: String,
        /// Which rule the parameter breaks.
        why: &'static str,
    },
    /// A seed for a family in which nothing is random.
    #[error("'{name}': nothing in this family is random, so that it takes no seed")]
    NoSeed {
        /// The name asked for.
        name: String,
    },
    /// More entries than [`super::MAX_ENTRIES`]; found before any work.
    #[error(
        "'{name}' would have about {entries:.1e} rows, columns, entries or steps of work, above the limit of {:.0e}",
        super::MAX_ENTRIES
    )]
    TooLarge {
        /// The name asked for.
        name: String,
        /// What it would take, about.
        entries: f64,
    },
}
