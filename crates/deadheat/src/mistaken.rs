//! A file that was given to the wrong command: what it is by its name and first bytes, and which command takes it.
//! Asked only when a command could not use the file.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use deadheat_native::LaunchError;

/// What a file is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    /// C or C++.
    Source { compiler: &'static str },
    /// A program of the `.tp` language.
    Tp,
    /// A recorded run.
    Trace,
    /// What a compiler has made.
    Program,
}

impl Nature {
    fn of(path: &Path) -> Option<Nature> {
        match path.extension().and_then(|name| name.to_str()) {
            Some("c") => return Some(Nature::Source { compiler: "cc" }),
            Some("cc" | "cpp" | "cxx" | "C") => return Some(Nature::Source { compiler: "c++" }),
            Some("tp") => return Some(Nature::Tp),
            Some("dht" | "std" | "csv") => return Some(Nature::Trace),
            _ => {}
        }
        let mut first = [0; 4];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
        (read.is_ok() && first == *b"\x7fELF").then_some(Nature::Program)
    }
}

/// What to say of a file that a command, which takes `wanted`, could not use; nothing if it may be such a file all the same.
pub fn hint(path: &Path, wanted: Nature) -> Option<String> {
    if !path.is_file() {
        return None;
    }
    let nature = Nature::of(path).filter(|nature| *nature != wanted)?;
    let file = path.display();
    let here = if file.to_string().contains('/') {
        ""
    } else {
        "./"
    };
    Some(match nature {
        Nature::Source { compiler } => format!(
            "`{file}` is source code of C or C++: build it by `deadheat {compiler} {file} -o program`, then `deadheat run -- \
             ./program` checks it"
        ),
        Nature::Tp => format!("`{file}` is a .tp program: `deadheat check {file}` checks it"),
        Nature::Trace => format!("`{file}` is a trace: `deadheat analyze {file}` finds its races"),
        Nature::Program if wanted == Nature::Trace => format!(
            "`{file}` is a program: `deadheat record -o run.dht -- {here}{file}` makes a trace of what it does"
        ),
        Nature::Program => {
            format!("`{file}` is a program: `deadheat run -- {here}{file}` checks it")
        }
    })
}

/// What to add to what is said of a program that was not launched.
pub fn advice(error: &LaunchError) -> String {
    let LaunchError::Start { program, .. } = error else {
        return String::new();
    };
    let path = Path::new(program);
    let bare = path.components().count() == 1 && path.is_relative();
    match Nature::of(path) {
        Some(Nature::Program) if bare => {
            format!("; it is in this directory: call it `./{program}`")
        }
        _ => hint(path, Nature::Program).map_or(String::new(), |hint| format!("; {hint}")),
    }
}
