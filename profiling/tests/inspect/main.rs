//! What a trace says of itself: rules, balance, parts, differences, and what happens to damaged ones.

#[path = "../common/mod.rs"]
mod common;

mod balance;
mod check;
mod damage;
mod diff;
mod document;
mod filter;
mod sample;
mod shares;
