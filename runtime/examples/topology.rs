//! Prints the hardware as the runtime sees it. `taskset -c 1 cargo run -p treeqr-runtime --example topology`
fn main() {
    println!("{}", treeqr_runtime::Topology::read());
}
