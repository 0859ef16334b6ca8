//! `deadheat fc` with gfortran: its objects call the hooks of `-fsanitize=thread` as gcc's do, and are linked with LLVM's
//! OpenMP runtime, which has GNU's entry points, too.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::arguments::Arguments;
use crate::driver::{CompileError, wrapper};
use crate::toolchain::CLANG_VERSIONS;

/// What moves accesses out of loops, past branches, or into one: their lines would be lost.
const KEEP_LINES: [&str; 9] = [
    "-fno-tree-loop-im",
    "-fno-tree-sink",
    "-fno-tree-dse",
    "-fno-tree-pre",
    "-fno-code-hoisting",
    "-fno-tree-tail-merge",
    "-fno-crossjumping",
    "-fno-ssa-phiopt",
    "-fno-tree-scev-cprop",
];

/// What gfortran is told when it compiles.
pub fn compile_options(asked: &Arguments, own: &OsStr) -> Vec<OsString> {
    let mut options: Vec<OsString> = match asked.links {
        true => wrapper(own).to_vec(),
        false => vec!["-fsanitize=thread".into()],
    };
    if asked.openmp && asked.optimises {
        options.extend(KEEP_LINES.map(OsString::from));
    }
    if !asked.has_debug_option {
        options.push("-g".into());
    }
    options
}

/// What links LLVM's OpenMP runtime in place of gcc's: where LLVM has it under that one's name.
pub fn openmp_library() -> Result<[OsString; 1], CompileError> {
    let directories =
        CLANG_VERSIONS.map(|version| PathBuf::from(format!("/usr/lib/llvm-{version}/lib")));
    let is_libomp = |directory: &PathBuf| {
        let library = directory.join("libgomp.so").canonicalize();
        library.is_ok_and(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("libomp"))
        })
    };
    let found = directories
        .into_iter()
        .find(is_libomp)
        .ok_or(CompileError::NoLibomp)?;
    let mut option = OsString::from("-L");
    option.push(found);
    Ok([option])
}
