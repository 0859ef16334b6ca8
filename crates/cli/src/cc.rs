//! `deadheat cc` and `deadheat c++`: the compiler, with checking built in.
//!
//! Every argument belongs to the compiler, `--version` and `--help` too, so this is decided before the command's own
//! arguments are parsed. A link to the command that is called `deadheat-cc` or `deadheat-c++` does the same, for
//! build systems that want one word.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use deadheat::native::{Language, compile, wrap};

use crate::output::complain_of;

/// Compile and link C or C++ with checking built in: a drop-in for cc and c++
///
/// Takes what clang and gcc take and passes it on, as in `CC="deadheat cc" CXX="deadheat c++" make`. The compiler is
/// clang (19, or any from 14) or gcc; `--with=COMPILER` as the first argument, or DEADHEAT_CC and DEADHEAT_CXX, choose.
#[derive(Args)]
pub struct Arguments {
    /// The compiler's arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    #[allow(dead_code, reason = "for --help only")]
    arguments: Vec<OsString>,
}

/// Becomes the compiler, if that is what was asked for; comes back with a status only if that failed.
pub fn run() -> Option<ExitCode> {
    let all: Vec<OsString> = std::env::args_os().collect();
    let (name, arguments) = all.split_first()?;
    let called = Path::new(name).file_name().unwrap_or_default();
    let own = std::env::current_exe().map_or(name.clone(), OsString::from);
    let language = |word: &str| match word {
        "cc" | "deadheat-cc" => Some(Language::C),
        "c++" | "deadheat-c++" => Some(Language::Cxx),
        _ => None,
    };
    let result = if let Some(result) = wrap(arguments) {
        result
    } else if let Some(language) = called
        .to_str()
        .filter(|name| name.starts_with("deadheat-"))
        .and_then(language)
    {
        compile(language, arguments, &own)
    } else {
        let (first, rest) = arguments.split_first()?;
        let language = first
            .to_str()
            .filter(|word| !word.starts_with("deadheat-"))
            .and_then(language)?;
        compile(language, rest, &own)
    };
    let Err(error) = result;
    complain_of(error);
    Some(ExitCode::FAILURE)
}
