//! Task models on synthetic traces whose truth is known: lines, spreads, clusters and slow tasks are put in, and have to come
//! out.

mod degenerate;
mod lines;
mod mixture;
mod sample;
mod shapes;
mod whole;
