//! profiling
