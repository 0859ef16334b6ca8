# Everything needs Rust (rust-version in Cargo.toml) and the package registries. Checking C, C++ and Fortran programs needs
# clang or gcc, flang or gfortran: `make test` installs them where it may (`make compilers`), and skips their tests where it may not.

CARGO ?= cargo
# How many random programs of each kind `make soak` tries: for the explorer (seven kinds), and for the
# engines that judge programs of tasks (up to nine).
SOAK ?= 21000
SOAK_TASKS ?= 100000
# How many random traces: for M2 against brute force, the orders against their definitions, the checker.
SOAK_TRACES ?= 100000
# How many random OpenMP programs, and traces as programs of threads.
SOAK_SENTENCES ?= 5000
SOAK_OPENMP ?= 4000
SOAK_NATIVE ?= 6000
# How many commands on damaged input, with signals, closed and full outputs, little address space.
SOAK_HOSTILE ?= 4000
# Which of them: drawn anew for each run.
SEED := $(if $(SEED),$(SEED),$(shell od -An -N4 -tu4 /dev/urandom | tr -d ' '))

.PHONY: demo test lint loom miri tsan mutants soak bench curves bench-native bench-programs bench-openmp bench-tasks compilers cmake browser pictures sarif corpus corpus-variants programs rust clean

## Builds (optimised, as the tests are) and shows the main job: a C program, built, run, its race shown in its source.
demo: compilers
	$(CARGO) build --quiet -p deadheat-cli
	@cat examples/native/lost-update.c
	@echo
	@echo '$$ deadheat cc -O1 examples/native/lost-update.c -o target/lost-update'
	@target/debug/deadheat cc -O1 examples/native/lost-update.c -o target/lost-update
	@echo '$$ deadheat run -- target/lost-update'
	@target/debug/deadheat run -- target/lost-update; \
	  status=$$?; test $$status -eq 66 || { echo "expected a race, got status $$status"; exit 1; }

## Installs the compilers that checking C, C++ and Fortran programs needs, or says what to install.
compilers:
	@for tool in clang-19 llvm-config-19 gcc g++ flang-new-19 gfortran; do command -v $$tool >/dev/null || missing="$$missing $$tool"; done; \
	  case "$$(clang-19 -print-file-name=libomp.so 2>/dev/null)" in /*) ;; *) missing="$$missing libomp";; esac; \
	  test -z "$$missing" && exit 0; \
	  if command -v apt-get >/dev/null && test "$$(id -u)" -eq 0 && \
	    apt-get update -qq && apt-get install -y -qq clang-19 llvm-19-dev libomp-19-dev libclang-rt-19-dev gcc g++ flang-19 gfortran >/dev/null; then :; \
	  else echo "install$$missing to check C, C++ and Fortran programs (apt install clang-19 llvm-19-dev libomp-19-dev gcc g++ flang-19 gfortran)"; fi

## Installs CMake, which libuv and LevelDB are built with, where it may; they are skipped without.
cmake:
	@command -v cmake >/dev/null || \
	  { command -v apt-get >/dev/null && test "$$(id -u)" -eq 0 && apt-get update -qq && apt-get install -y -qq cmake >/dev/null; } || \
	  echo "install cmake to build libuv and LevelDB (apt install cmake)"

## Installs Chromium, which the tests of the page need, where it may; they are skipped without.
browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || \
	  { command -v apt-get >/dev/null && test "$$(id -u)" -eq 0 && \
	    apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1; } || \
	  echo "install chromium to test the page of --html (apt install chromium)"

## Pictures of the page, for the documentation.
pictures: browser
	DEADHEAT_SCREENSHOTS=docs/pictures $(CARGO) test -p deadheat-cli --test command page::

## SARIF against the standard's own schema, which a crate carries; needs Python's jsonschema.
sarif: compilers
	$(CARGO) build --quiet -p deadheat-cli
	tests/sarif/check.py target/debug/deadheat

## Every test. The browser is installed while formatting and lints are checked.
test: compilers
	@$(MAKE) --no-print-directory browser & \
	  $(MAKE) --no-print-directory lint; status=$$?; wait; exit $$status
	$(CARGO) test --workspace
	$(MAKE) --no-print-directory loom

## Formatting and lints, where their tools are installed; links in the documentation of the code, also to what is private.
lint:
	@if $(CARGO) fmt --version >/dev/null 2>&1; then $(CARGO) fmt --all --check; \
	  else echo "rustfmt is not installed: formatting not checked"; fi
	@if $(CARGO) clippy --version >/dev/null 2>&1; then \
	  $(CARGO) clippy --workspace --all-targets --quiet -- -D warnings && \
	  $(CARGO) clippy -p deadheat-rt --features interpose --all-targets --quiet -- -D warnings; \
	  else echo "clippy is not installed: lints not checked"; fi
	RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" $(CARGO) doc --workspace --no-deps --quiet

## What threads share, under every interleaving: the same code, built for loom.
loom:
	RUSTFLAGS="$(RUSTFLAGS) --cfg loom" $(CARGO) test --profile loom --target-dir target/loom \
	  -p deadheat-online -p deadheat-task --test loom

## The task library's memory, jobs and protocols under Miri, with several schedules. Not part of `make test`: needs a nightly
## toolchain (rustup component add miri rust-src --toolchain nightly). What switches stacks is assembly, which Miri cannot run.
miri:
	MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-many-seeds=0..8" $(CARGO) +nightly miri test --target-dir target/miri \
	  -p deadheat-task --lib --test soundness

## The task library's tests under ThreadSanitizer, the standard library included. Not part of `make test`: needs a nightly toolchain
## with rust-src. A fiber stays on its thread, so ThreadSanitizer, which knows nothing of fibers, sees the order there is; it
## keeps a thread's call stack of limited size, so what has very many fibers wait is left out.
tsan:
	RUSTFLAGS="-Zsanitizer=thread" $(CARGO) +nightly test -Zbuild-std --target x86_64-unknown-linux-gnu --target-dir target/tsan \
	  -p deadheat-task --lib --tests -- --skip many_tasks_wait_at_once --skip deep --skip overflow --skip stacks --skip does_not_end

## Small mistakes put into what everything rests on, one at a time (hours; needs cargo install cargo-mutants): the tests have to
## notice each. mutants.out/missed.txt lists those that they did not. MUTANTS=--file=PATH tries those of one file.
mutants:
	$(CARGO) mutants --no-shuffle --jobs 2 $(MUTANTS) \
	  -p deadheat-model -p deadheat-witness -p deadheat-order -p deadheat-online \
	  --test-package deadheat-model,deadheat-witness,deadheat-order,deadheat-online,deadheat-testing,deadheat-offline,deadheat-explain
	$(CARGO) mutants --no-shuffle --jobs 2 --output mutants.out/rt -p deadheat-rt --file 'crates/rt/src/check/memo.rs' --test-package deadheat-rt

## Ground truth on very many random programs and traces, in release mode: less than an hour on two cores.
## Each run tries new ones; `make soak SEED=n` tries those of an earlier run again. A failure prints the
## command that repeats it alone.
soak:
	@echo "seed $(SEED): to try the same again, make soak SEED=$(SEED)"
	DEADHEAT_SEED=$(SEED) DEADHEAT_PROGRAMS=$(SOAK) $(CARGO) test --release -p deadheat-explore --test schedules -- --nocapture
	DEADHEAT_SEED=$(SEED) DEADHEAT_PROGRAMS=$(SOAK_TASKS) $(CARGO) test --release -p deadheat-offline --test engines -- --nocapture
	DEADHEAT_SEED=$(SEED) DEADHEAT_PROGRAMS=$(SOAK_TASKS) $(CARGO) test --release -p deadheat-explore --test one_schedule --test sections -- --nocapture
	DEADHEAT_SEED=$(SEED) DEADHEAT_PROGRAMS=$(SOAK_TRACES) $(CARGO) test --release -p deadheat-offline --test thread_orders --test vindication -- --nocapture
	DEADHEAT_SEED=$(SEED) DEADHEAT_PROGRAMS=$(SOAK_TRACES) $(CARGO) test --release -p deadheat-testing --test m2 --test m2_as_printed --test thread_races --test deadlocks -- --nocapture
	DEADHEAT_SEED=$(SEED) DEADHEAT_PROGRAMS=$(SOAK_TRACES) $(CARGO) test --release -p deadheat-witness --test compact -- --nocapture
	DEADHEAT_SEED=$(SEED) DEADHEAT_PROGRAMS=$(SOAK) $(CARGO) test --release -p deadheat-explain --lib --test schedules -- --nocapture
	DEADHEAT_SEED=$(SEED) DEADHEAT_PROGRAMS=$(SOAK_SENTENCES) $(CARGO) test --release -p deadheat --test sentences -- --nocapture
	RUST_BACKTRACE=0 DEADHEAT_SEED=$(SEED) DEADHEAT_PROGRAMS=$(SOAK_TASKS) $(CARGO) test --release -p deadheat-task --test ground_truth -- --nocapture --skip long_arrays
	DEADHEAT_SEED=$(SEED) DEADHEAT_PROGRAMS=2000 $(CARGO) test --release -p deadheat-task --test ground_truth -- --nocapture long_arrays
	DEADHEAT_SEED=$(SEED) DEADHEAT_PROGRAMS=1000000 $(CARGO) test --release -p deadheat-testing --test fasttrack -- --nocapture
	DEADHEAT_SEED=$(SEED) DEADHEAT_PROGRAMS=$(SOAK_OPENMP) $(CARGO) test --release -p deadheat-cli --test openmp_random -- --nocapture
	DEADHEAT_SEED=$(SEED) DEADHEAT_PROGRAMS=$(SOAK_OPENMP) $(CARGO) test --release -p deadheat-cli --test openmp_loops -- --nocapture
	DEADHEAT_SEED=$(SEED) DEADHEAT_PROGRAMS=$(SOAK_NATIVE) $(CARGO) test --release -p deadheat-cli --test native_random -- --nocapture
	DEADHEAT_SEED=$(SEED) DEADHEAT_PROGRAMS=$(SOAK_TRACES) $(CARGO) test --release -p deadheat --test stopping -- --nocapture
	DEADHEAT_SEED=$(SEED) DEADHEAT_PROGRAMS=$(SOAK_HOSTILE) $(CARGO) test --release -p deadheat-cli --test command -- --nocapture hostile_random::

## Measures, writes docs/performance.md, and prints tables; that about traces with 3 million events. With 100 million:
##   cargo run --release -p deadheat-bench -- traces --preset 100m
bench: curves
	$(CARGO) run --release --quiet -p deadheat-bench

## How costs grow, ours and ThreadSanitizer's: writes docs/performance.md and its pictures.
curves: compilers
	$(CARGO) build --release --quiet -p deadheat-cli -p deadheat-bench
	bench/curves.py target/release/deadheat target/release/deadheat-bench docs

## The task library's tables alone: checking off and on for each kernel, beside the papers' ratios; the scheduler beside rayon's;
## shapes that hurt (up to 8 GB of memory). `make bench` prints them as well.
bench-tasks:
	$(CARGO) run --release --quiet -p deadheat-bench -- tasks

## Uninstrumented, empty hooks, deadheat and ThreadSanitizer on the same C kernels, as a table.
bench-native: compilers
	$(CARGO) build --release --quiet -p deadheat-cli
	bench/native/measure.py target/release/deadheat bench/native

## Real programs: zstd, SQLite, libuv, LevelDB, libimagequant, lz4, pigz, pbzip2, x264, memcached, redis, fetched and built below
## target/programs. Uninstrumented, deadheat and ThreadSanitizer, as a table. The first time takes half an hour on two cores.
bench-programs: compilers cmake
	$(CARGO) build --release --quiet -p deadheat-cli
	bench/programs/measure.py target/release/deadheat

## The same for OpenMP kernels, beside ThreadSanitizer with Archer.
bench-openmp: compilers
	$(CARGO) build --release --quiet -p deadheat-cli
	bench/native/measure.py target/release/deadheat bench/openmp

## Every program of tests/native/ and tests/openmp/, ten times, with every compiler there is; those of tasks 300 times,
## with random pauses where tasks meet.
corpus: compilers
	DEADHEAT_CORPUS_RUNS=10 $(CARGO) test --release -p deadheat-cli --test native --test openmp --test openmp_fortran -- --nocapture --skip in_every_run
	DEADHEAT_CORPUS_RUNS=50 $(CARGO) test --release -p deadheat-cli --test openmp -- --nocapture in_every_run

## The same once each in other circumstances: other optimisation, no PIE, other allocators where they are installed
## (apt install libjemalloc2 libtcmalloc-minimal4), a stack of 1 GB.
corpus-variants: compilers
	@set -e; run() { echo "== $$*"; env "$$@" $(CARGO) test --quiet --release -p deadheat-cli --test native -- --nocapture; }; \
	  run DEADHEAT_CORPUS_OPTIONS=-O0; \
	  run DEADHEAT_CORPUS_OPTIONS=-no-pie; \
	  for library in libjemalloc.so.2 libtcmalloc_minimal.so.4; do \
	    if ldconfig -p | grep -q $$library; then run DEADHEAT_CORPUS_UNDER="env LD_PRELOAD=$$library"; \
	    else echo "skipped: $$library is not installed"; fi; \
	  done; \
	  run DEADHEAT_CORPUS_UNDER="prlimit --stack=1073741824"

## zstd, SQLite, libuv, LevelDB and libimagequant (OpenMP): built through `deadheat cc`, run for their real job.
programs: compilers cmake
	$(CARGO) build --release --quiet -p deadheat-cli
	tests/programs/check.sh target/release/deadheat

## Rust programs, checked: needs `rustup toolchain install nightly --component rust-src`.
rust: compilers
	DEADHEAT_RUST=1 $(CARGO) test -p deadheat-cli --test command -- --nocapture rust::

clean:
	$(CARGO) clean
