# Everything needs Rust (rust-version in Cargo.toml) and the package registries, nothing else.

CARGO ?= cargo
# How many random programs of each kind `make soak` tries: for the explorer (seven kinds), and for the
# engines that judge programs of tasks (up to nine).
SOAK ?= 21000
SOAK_TASKS ?= 100000
# How many random traces: for M2 against brute force, the orders against their definitions, the checker.
SOAK_TRACES ?= 100000

.PHONY: demo test loom soak bench clean

## Builds in release mode and shows the main job: a program, every schedule of it, what can race.
demo:
	$(CARGO) build --release --quiet -p deadheat-cli
	@cat examples/lost-update.tp
	@echo
	@echo '$$ deadheat check --explore examples/lost-update.tp'
	@target/release/deadheat check --explore examples/lost-update.tp; \
	  status=$$?; test $$status -eq 1 || { echo "expected a race, got status $$status"; exit 1; }

## Every test. Formatting and lints are checked where their tools are installed.
test:
	@if $(CARGO) fmt --version >/dev/null 2>&1; then $(CARGO) fmt --all --check; \
	  else echo "rustfmt is not installed: formatting not checked"; fi
	@if $(CARGO) clippy --version >/dev/null 2>&1; then \
	  $(CARGO) clippy --workspace --all-targets --quiet -- -D warnings; \
	  else echo "clippy is not installed: lints not checked"; fi
	$(CARGO) test --workspace
	$(MAKE) --no-print-directory loom

## What threads share, under every interleaving: the same code, built for loom.
loom:
	RUSTFLAGS="$(RUSTFLAGS) --cfg loom" $(CARGO) test --release --target-dir target/loom \
	  -p deadheat-online --test loom

## Ground truth on very many random programs and traces, in release mode: less than an hour on two cores.
soak:
	DEADHEAT_PROGRAMS=$(SOAK) $(CARGO) test --release -p deadheat-offline --test ground_truth -- --nocapture
	DEADHEAT_PROGRAMS=$(SOAK_TASKS) $(CARGO) test --release -p deadheat-offline --test engines --test orders -- --nocapture
	DEADHEAT_PROGRAMS=$(SOAK_TRACES) $(CARGO) test --release -p deadheat-offline --test m2 --test m2_as_printed --test thread_orders --test thread_races --test vindication -- --nocapture
	DEADHEAT_PROGRAMS=$(SOAK_TRACES) $(CARGO) test --release -p deadheat-explain --test compact -- --nocapture
	DEADHEAT_PROGRAMS=1000000 $(CARGO) test --release -p deadheat-online --test fasttrack -- --nocapture

## Measures, and prints tables; that about traces with 3 million events. With 100 million:
##   cargo run --release -p deadheat-bench -- traces --preset 100m
bench:
	$(CARGO) run --release --quiet -p deadheat-bench

clean:
	$(CARGO) clean
