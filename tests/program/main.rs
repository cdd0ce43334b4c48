//! The program as a whole: the command as users run it, and the library on real matrices.

mod bad_input;
mod bench;
mod command;
mod dense;
mod dense_rows;
mod devices;
mod examples;
mod factors;
mod gallery;
mod help;
mod hints;
mod json;
mod library;
mod lsqr;
mod mixed;
mod numbers;
mod pictures;
mod pipes;
mod posed;
mod real;
mod sentences;
mod solutions;
mod solve_trace;
mod stop;
mod threads;
mod trace;
