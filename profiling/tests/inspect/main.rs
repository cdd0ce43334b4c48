//! What a trace says of itself: rules, balance, parts, differences, and what happens to damaged ones.

mod balance;
mod check;
mod damage;
mod diff;
mod document;
mod filter;
mod sample;
