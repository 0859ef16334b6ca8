//! `deadheat cc`, `deadheat c++`, `deadheat fc` and `deadheat cargo`: compilers, with checking built in.

use std::ffi::OsString;
use std::path::Path;

use clap::{Arg, Args, CommandFactory, Parser};
use deadheat::native::{cargo, cargo_words};

use crate::output::print;
use crate::status::Status;
use crate::usage;

/// Compile and link C or C++ with checking built in: a drop-in for cc and c++
///
/// Takes the arguments of clang and gcc and passes them on; warnings and exit status are the compiler's. Adds what checking needs:
/// instrumentation when it compiles, the runtime when it links an executable, and -g unless an option sets the level of debug information.
#[derive(Args)]
#[command(
    override_usage = "deadheat cc [--with=COMPILER] [COMPILER'S ARGUMENTS]…\n       deadheat c++ [--with=COMPILER] [COMPILER'S ARGUMENTS]…"
)]
#[command(disable_help_flag = true, after_help = COMPILER_HELP)]
pub struct Compiler {
    /// The compiler to use, by its name or path, as the first argument; clang (19, or any from 14) unless given, or gcc
    #[arg(long, value_name = "COMPILER", require_equals = true)]
    #[allow(dead_code, reason = "for --help only, as the others")]
    with: Option<OsString>,

    /// The compiler's own arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    #[allow(
        dead_code,
        reason = "for --help only: they are the compiler's before they are parsed"
    )]
    arguments: Vec<OsString>,
}

const COMPILER_HELP: &str = "\
Environment:
  DEADHEAT_CC, DEADHEAT_CXX   the compilers for C and C++; --with comes first
  DEADHEAT_CACHE              where the runtime is unpacked; ~/.cache/deadheat unless given

Examples:
  deadheat cc -O1 -g prog.c -o prog && deadheat run -- ./prog
  deadheat cc --with=gcc -c prog.c
  ./configure CC=\"deadheat cc\" CXX=\"deadheat c++\" && make
  CC=\"deadheat cc\" CXX=\"deadheat c++\" cmake -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo
  ln -s \"$(command -v deadheat)\" ~/bin/deadheat-cc    # for tools that take one word only

The compiler's own help: `deadheat cc -v --help`. With any other argument, --help is the compiler's.";

/// Compile and link Fortran with checking built in: a drop-in for flang and gfortran
///
/// Takes the compiler's arguments and passes them on. flang's code is instrumented by the clang of its version, and linked by it, with
/// flang's libraries. A program with tasks, or with what flang cannot compile yet, is built by gfortran, if it is built by one
/// command and no compiler is chosen. gfortran's OpenMP programs are linked with LLVM's runtime. Neither reads the other's modules:
/// build all of a program with one.
#[derive(Args)]
#[command(override_usage = "deadheat fc [--with=COMPILER] [COMPILER'S ARGUMENTS]…")]
#[command(disable_help_flag = true, after_help = FORTRAN_HELP)]
pub struct Fortran {
    /// The compiler to use, by its name or path, as the first argument; flang (from 19) unless given, or gfortran
    #[arg(long, value_name = "COMPILER", require_equals = true)]
    #[allow(dead_code, reason = "for --help only, as the others")]
    with: Option<OsString>,

    /// The compiler's own arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    #[allow(
        dead_code,
        reason = "for --help only: they are the compiler's before they are parsed"
    )]
    arguments: Vec<OsString>,
}

const FORTRAN_HELP: &str = "\
Environment:
  DEADHEAT_FC                 the compiler for Fortran; --with comes first
  DEADHEAT_CACHE              where the runtime is unpacked; ~/.cache/deadheat unless given

Examples:
  deadheat fc -fopenmp -O1 prog.f90 -o prog && deadheat run -- ./prog
  deadheat fc --with=gfortran -fopenmp -c prog.f90
  make FC=\"deadheat fc\"
  FC=\"deadheat fc\" cmake -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo

The compiler's own help: `deadheat fc -v --help`. With any other argument, --help is the compiler's.";

/// Prints the help of `deadheat cc`, `deadheat c++` or `deadheat fc`, if nothing else is asked of it; says whether it did. With any other
/// argument, `--help` is the compiler's.
pub fn helped(words: &[OsString]) -> bool {
    let called = words.first().map(Path::new).and_then(Path::file_name);
    let called = called.unwrap_or_default().to_string_lossy();
    let words: Vec<_> = words
        .iter()
        .skip(1)
        .map(|word| word.to_string_lossy())
        .collect();
    let words: Vec<&str> = words.iter().map(|word| &**word).collect();
    let (driver, arguments) = match (&*called, &words[..]) {
        ("deadheat-cc" | "deadheat-c++", arguments) => ("cc", arguments),
        ("deadheat-fc", arguments) => ("fc", arguments),
        (_, ["help", "cc" | "c++"]) => ("cc", &["--help"][..]),
        (_, ["help", "fc"]) => ("fc", &["--help"][..]),
        (_, ["cc" | "c++", arguments @ ..]) => ("cc", arguments),
        (_, ["fc", arguments @ ..]) => ("fc", arguments),
        _ => return false,
    };
    let asked = match arguments {
        ["--help"] => true,
        [choice, "--help"] => choice.starts_with("--with="),
        _ => false,
    };
    if asked {
        let mut command = crate::Arguments::command();
        command.build();
        // What other commands take is the compiler's here.
        let is_general = |argument: &Arg| {
            ["color", "ids", "quiet"]
                .iter()
                .any(|id| argument.get_id() == id)
        };
        let driver = command.find_subcommand(driver).cloned().unwrap_or_default();
        let mut driver = driver.mut_args(|argument| match is_general(&argument) {
            true => argument.hide(true),
            false => argument,
        });
        print(&driver.render_long_help().ansi().to_string());
    }
    asked
}

/// Build, run or test a Rust program with checking built in: `cargo deadheat test` is the same
///
/// Takes cargo's arguments. Programs and tests run under `deadheat run`. Put options for `deadheat run` before the cargo subcommand.
/// Needs a nightly toolchain with the sources of the standard library, which is rebuilt with checking the first time. If cargo
/// runs several programs, such as tests, the second one writes its report to `report.2.json` where the first has `report.json`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Cargo {
    /// Options of `deadheat run`, then `run`, `test`, `build` or `bench` with cargo's own arguments
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
