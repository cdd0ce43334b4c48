//! What a trace says about the time a run took: by hand, against other computations, and by what must be conserved.

#[path = "../common/mod.rs"]
mod common;

mod area;
mod compare;
mod curves;
mod damage;
mod hand;
mod hints;
mod idle;
mod outside;
mod parts;
mod path;
mod shares;
mod twin;
