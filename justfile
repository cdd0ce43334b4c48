# `just` lists the recipes; each is one line that also works when typed. CI itself is .ci/run and needs no just.

[private]
default:
    @just --list

# What CI runs: packages, format, lints, documentation, tests
ci:
    .ci/run

# The tests; `just test -p treeqr-solver` for one crate
test *args:
    cargo test --workspace {{args}}

# The tests that take more than a few seconds each
test-large:
    cargo test --release --workspace -- --ignored

# Format and lints
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# The documentation of all crates; a warning is an error
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# Benchmarks of the parts; `just bench-kernels tpmqrt_f64`, `just bench-read 500000` for less
bench: bench-kernels bench-runtime bench-recorder bench-read bench-solve

# Kernels beside the matrix product, GFlop/s on one core; arguments filter by name
bench-kernels *filter:
    cargo bench -p treeqr-kernels --bench kernels -- {{filter}}

# Nanoseconds and bytes per empty task, every scheduler, beside StarPU where it is installed; `just bench-runtime 100000 lws`
bench-runtime *arguments:
    cargo bench -p treeqr-runtime --bench overhead -- {{arguments}}

# What recording a task costs
bench-recorder *tasks:
    cargo bench -p treeqr-profiling --bench recorder -- {{tasks}}

# Run times with the recorder over those without, in pairs; `just bench-always-on 41 gallery:TF15`
bench-always-on *arguments:
    cargo bench -p treeqr --bench always_on -- {{arguments}}

# Matrix Market files, MB/s, beside other readers
bench-read *entries:
    cargo bench -p treeqr-matrices --bench read -- {{entries}}

# treeqr beside SuiteSparseQR and MKL (benches/peers/README.md), a quiet machine wanted; `just bench-peers --matrices TF15,lp-20000 --reps 3`
bench-peers *arguments:
    cargo build --release -p treeqr
    python3 benches/peers/peers.py {{arguments}}

# Time and memory against size on grids, convolutions and cameras, with fitted exponents; `just bench-growth --families grid3d --reps 1`
bench-growth *arguments:
    cargo build --release -p treeqr
    python3 benches/growth/growth.py target/release/treeqr {{arguments}}

# Instructions of the hot paths under callgrind (valgrind), beside the baseline; `just count-instructions --write` makes a new one
count-instructions *arguments:
    cargo test --workspace --no-run
    python3 benches/instructions/count.py target/debug {{arguments}}

# How much of what runs enter lies side by side in the program (benches/layout/README.md); `just layout --write` makes the list anew
layout *arguments:
    cargo build --release -p treeqr
    python3 benches/layout/entered.py target/release/treeqr {{arguments}}

# Kernels and factorizations on a CUDA device, in less than ten minutes; files in target/device
bench-device seconds="540":
    benches/device.sh {{seconds}}

# Compiles the device kernels by NVRTC and writes the PTX that is shipped (kernels/cuda/build.py)
ptx:
    python3 -m venv target/nvrtc-venv
    target/nvrtc-venv/bin/pip install -q nvidia-cuda-nvrtc-cu12==12.0.140
    target/nvrtc-venv/bin/python kernels/cuda/build.py write

# The runs behind docs/schedulers.md, two cores and a quiet machine wanted; `just findings 3` for fewer repetitions
findings reps="11":
    cargo build --release -p treeqr
    target/release/treeqr bench gallery:TF13 gallery:pose-1000 --schedulers lws,prio --threads 2 --reps {{reps}}
    target/release/treeqr bench gallery:TF15 --schedulers dmda,heteroprio,heteroprio25 --threads 4 --emulate-device cuda0:speed=8,bandwidth=12GB/s,memory=1GiB --reps {{reps}}
    target/release/treeqr bench gallery:TF15 gallery:grid3d-30 --schedulers lws --threads 2 --memory-limit none,1.5x,1.0x --reps {{reps}}
    target/release/treeqr bench gallery:grid3d-30 gallery:lp-6000 --schedulers lws --threads 2 --subtree-workers none,1 --reps {{reps}}
    target/release/treeqr bench gallery:lp-20000 gallery:grid3d-44 gallery:ch7-6-b3 --any-rank --schedulers lws --threads 1,2 --reps {{reps}}

# The whole fronts of matrices by themselves, on one core: what of `do_subtree` is the kernel's; `just bench-fronts 5 gallery:conv2d-500 A.mtx`
bench-fronts *arguments:
    cargo bench -p treeqr-solver --bench fronts -- {{arguments}}

# Solves with 1, 32 and 256 right-hand sides, on the calling thread and on workers; `just bench-solve 5 grid3d-20`
bench-solve *arguments:
    cargo bench -p treeqr-solver --bench solve -- {{arguments}}

# Exports of a random trace, opened by pandas, polars, DuckDB, Perfetto and Graphviz; installs them beside the build; `just readers A.trace`
readers trace="2000":
    python3 -m venv target/readers-venv
    target/readers-venv/bin/pip install -q pandas pyarrow polars duckdb perfetto
    cargo run -p treeqr-profiling --example exports -- target/readers {{trace}}
    target/readers-venv/bin/python .ci/readers.py target/readers

# The report's page: types, tests, whether the committed script is what the sources give, and reports of real runs in Chromium
page:
    cargo build --workspace --bins
    cd profiling/web && npm ci && npm run check && npm run browser

# Write the files under matrices/data anew (a test compares them with the gallery)
data:
    cargo run --release -p treeqr-matrices --example write_data

# Random graphs, delays, windows, limits, panics and cancellations under every scheduler, for so many seconds
stress seconds="600":
    cargo run --release -p treeqr-runtime --example stress -- {{seconds}}

# Every interleaving of small models of submission, release, sleep and wake-up
loom:
    RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test --release -p treeqr-runtime --no-default-features --lib loom
