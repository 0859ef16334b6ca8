//! `deadheat cargo`, and `cargo deadheat`: Rust programs and their tests, checked.

use std::ffi::OsString;

use clap::Args;
use deadheat::native::cargo;

/// Build, run or test a Rust program with checking built in: `cargo deadheat test` is the same
///
/// Takes what cargo takes. Programs and tests run under `deadheat run`, whose options come before cargo's word. Needs a
/// nightly toolchain with the sources of the standard library, which is built anew, with checking, the first time.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Options of `deadheat run`, then `run`, `test`, `build` or `bench` and what else cargo is to know
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "WORDS"
    )]
    words: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  cargo deadheat run -- --size 10
  cargo deadheat test --lib
  cargo deadheat --html races.html run --release
  rustup toolchain install nightly --component rust-src";

/// The words by which cargo runs or builds something.
const SUBCOMMANDS: [&str; 8] = ["run", "r", "test", "t", "build", "b", "bench", "nextest"];

/// Calls cargo; gives its status.
pub fn run(arguments: &Arguments) -> Result<u8, String> {
    let words = &arguments.words;
    let Some(place) = words
        .iter()
        .position(|word| SUBCOMMANDS.iter().any(|known| word == known))
    else {
        return Err(
            "cargo has to be told what to do: `cargo deadheat run`, `test` or `build`".into(),
        );
    };
    let (options, call) = words.split_at(place);
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let status = cargo(&own, options, call).map_err(|error| error.to_string())?;
    Ok(status.code().map_or(1, |code| code as u8))
}
