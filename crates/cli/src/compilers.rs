//! `deadheat cc`, `deadheat c++` and `deadheat cargo`: compilers, with checking built in.

use std::ffi::OsString;

use clap::{Args, Parser};
use deadheat::native::{cargo, cargo_words};

use crate::status::Status;
use crate::usage;

/// Compile and link C or C++ with checking built in: a drop-in for cc and c++
///
/// Takes what clang and gcc take and passes it on, as in `CC="deadheat cc" CXX="deadheat c++" make`. The compiler is
/// clang (19, or any from 14) or gcc; `--with=COMPILER` as the first argument, or DEADHEAT_CC and DEADHEAT_CXX, choose.
#[derive(Args)]
pub struct Compiler {
    /// The compiler's arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    #[allow(
        dead_code,
        reason = "for --help only: they are the compiler's before they are parsed"
    )]
    arguments: Vec<OsString>,
}

/// Build, run or test a Rust program with checking built in: `cargo deadheat test` is the same
///
/// Takes what cargo takes. Programs and tests run under `deadheat run`, whose options come before cargo's word. Needs a
/// nightly toolchain with the sources of the standard library, which is built anew, with checking, the first time. If cargo
/// runs several programs, such as tests, the second writes its report to `report.2.json` where the first has `report.json`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Cargo {
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
  cargo deadheat --html=races.html run --release
  rustup toolchain install nightly --component rust-src";

/// Calls cargo; gives its status. Options that every command has are for `deadheat run`.
pub fn run_cargo(arguments: &Cargo, mut words: Vec<OsString>) -> Result<Status, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    words.extend(arguments.words.iter().cloned());
    if let Some((options, _)) = cargo_words(&words) {
        // Before everything is built.
        check_options(options)?;
    }
    let status = cargo(&own, &words).map_err(|error| error.to_string())?;
    Ok(Status::Program(status.code().map_or(1, |code| code as u8)))
}

const CARGO_S_COME_LATER: &str =
    "put cargo's options after the subcommand, as in `cargo deadheat test --lib`";

/// Whether `deadheat run` takes these options.
fn check_options(options: &[OsString]) -> Result<(), String> {
    let words = ["deadheat", "run"].map(OsString::from).into_iter();
    let words = words.chain(options.iter().cloned());
    let words: Vec<OsString> = words.chain(["--", "program"].map(OsString::from)).collect();
    let parsed = crate::Arguments::try_parse_from(&words);
    let parsed = parsed.map_err(|error| match usage::sentence(&error, &words) {
        Some(sentence) => format!("{sentence}; {CARGO_S_COME_LATER}"),
        None => error.to_string().replacen("error: ", "", 1),
    })?;
    let crate::Command::Run(run) = parsed.command else {
        return Ok(());
    };
    run.check()?;
    // What is not an option is parsed as the program.
    match run.program() {
        program if program == "program" => Ok(()),
        program => Err(format!(
            "`deadheat run` has no option `{}`; {CARGO_S_COME_LATER}",
            program.to_string_lossy()
        )),
    }
}
