//! `deadheat cc`, `deadheat c++` and `deadheat fc`: a compiler as everyone knows it, with checking built in.
//!
//! Both compilers instrument every access when given `-fsanitize=thread` and would link their own runtime for
//! it; ours goes there instead. Everything the user wrote is passed on untouched and in order; warnings and
//! exit status are the compiler's, because in the end this process *becomes* the compiler.
//!
//! | step | clang | gcc |
//! |---|---|---|
//! | compile | `-fsanitize=thread -fno-sanitize-link-runtime`, reads that a write follows, vectors of 16 bytes | `-fsanitize=thread`, no warning about fences, calls of `strcpy` and its like as they are written |
//! | compile and link in one | the same | `-wrapper`: only the compiler proper sees the option |
//! | | no `_FORTIFY_SOURCE`, headers before those of the C library and of GNU's C++ library | the same |
//! | link an executable | our archive, its exported symbols, calls of the C++ library that it wants to see | the same |
//! | link a shared object | nothing: the hooks come from the executable | the same |

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use thiserror::Error;

use crate::arguments::Arguments;
use crate::flang::Built;
use crate::gfortran;
use crate::runtime::{Runtime, RuntimeError};
use crate::toolchain::{Compiler, Family, NoCompiler};

/// Which of a compiler's drivers: it decides what is linked by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `cc`.
    C,
    /// `c++`.
    Cxx,
    /// `fc`.
    Fortran,
}

impl Language {
    fn named(driver: &str) -> Option<Language> {
        match driver {
            "cc" => Some(Language::C),
            "c++" => Some(Language::Cxx),
            "fc" => Some(Language::Fortran),
            _ => None,
        }
    }
}

/// Why the compiler was not run.
#[derive(Debug, Error)]
pub enum CompileError {
    /// No compiler.
    #[error(transparent)]
    NoCompiler(#[from] NoCompiler),
    /// No runtime to link.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// A program that cannot be checked.
    #[error(
        "a program linked with {0} cannot be checked: nothing can stand between it and the C library; leave {0} out \
         (-static-libgcc and -static-libstdc++ may stay)"
    )]
    Static(&'static str),
    /// Another sanitizer.
    #[error("-fsanitize={0} and deadheat cannot be in one program: build twice, once with each")]
    OtherSanitizer(&'static str),
    /// flang cannot do it.
    #[error(
        "{0}; build the whole program with gfortran (--with=gfortran as the first argument, or DEADHEAT_FC=gfortran)"
    )]
    NotByFlang(String),
    /// gfortran's code needs LLVM's OpenMP runtime.
    #[error(
        "gfortran's OpenMP programs are linked with LLVM's runtime, which tells of its tasks: install libomp (apt install libomp-19-dev)"
    )]
    NoLibomp,
    /// OpenMP by gcc.
    #[error(
        "gcc's OpenMP runtime does not tell of its tasks: build OpenMP programs with clang (apt install clang-19 \
         libomp-19-dev, and --with=clang-19 as the first argument, or DEADHEAT_CC=clang-19)"
    )]
    OpenMpOfGcc,
    /// Not a 64-bit program.
    #[error("only 64-bit programs can be checked: leave -m32 out")]
    NotSixtyFourBits,
    /// The compiler could not be started.
    #[error("`{}` could not be started: {error}", path.display())]
    Start {
        /// What was to be run.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

/// The first argument by which gcc's `-wrapper` comes back to this command; see [`wrap`].
const WRAP: &str = "--deadheat-wrap";

/// Becomes the compiler if the command, which was called by these words, is `deadheat cc`, `deadheat c++` or `deadheat fc`, or
/// a link to it that is called `deadheat-cc` and so on. Returns an error only if that failed.
pub fn compile_if_called(words: &[OsString]) -> Option<CompileError> {
    let (name, arguments) = words.split_first()?;
    let called = Path::new(name).file_name().and_then(OsStr::to_str);
    let link = called.and_then(|name| name.strip_prefix("deadheat-"));
    let result = match wrap(arguments) {
        Some(result) => result,
        None => {
            let (language, arguments) = match link.and_then(Language::named) {
                Some(language) => (language, arguments),
                None => {
                    let (first, rest) = arguments.split_first()?;
                    (Language::named(first.to_str()?)?, rest)
                }
            };
            let own = std::env::current_exe().map_or(name.clone(), OsString::from);
            compile(language, arguments, &own)
        }
    };
    let Err(error) = result;
    Some(error)
}

/// Becomes the compiler for `arguments`, of which a leading `--with=COMPILER` chooses it. `own` is this command's
/// path, for gcc to call back. Returns only if that failed.
fn compile(
    language: Language,
    arguments: &[OsString],
    own: &OsStr,
) -> Result<Infallible, CompileError> {
    let with = arguments
        .first()
        .and_then(|first| first.to_str()?.strip_prefix("--with="));
    let arguments = match with {
        Some(_) => &arguments[1..],
        None => arguments,
    };
    let compiler = Compiler::find(language, with)?;
    if compiler.family == Family::Flang {
        let is_chosen =
            with.is_some() || std::env::var_os("DEADHEAT_FC").is_some_and(|name| !name.is_empty());
        return by_flang(&compiler, is_chosen, arguments, own);
    }
    let all = with_checking(&compiler, arguments, own)?;
    become_process(compiler.path, &all)
}

/// Builds with flang; with gfortran what that cannot, if nobody has chosen flang and this one command builds the whole program:
/// neither reads the other's modules.
fn by_flang(
    compiler: &Compiler,
    is_chosen: bool,
    arguments: &[OsString],
    own: &OsStr,
) -> Result<Infallible, CompileError> {
    let reason = match compiler.flang()?.build(arguments, own, is_chosen)? {
        Built::Status(status) => std::process::exit(status),
        Built::NotByFlang(reason) => reason,
    };
    let builds_all = Arguments::of(arguments).links;
    match Compiler::gfortran().filter(|_| builds_all && !is_chosen) {
        Some(gfortran) => {
            eprintln!("deadheat: built by gfortran: {reason}");
            let all = with_checking(&gfortran, arguments, own)?;
            become_process(gfortran.path, &all)
        }
        None => Err(CompileError::NotByFlang(reason)),
    }
}

/// Becomes the program gcc wanted to run, with `-fsanitize=thread` if that compiles C, C++ or Fortran. `arguments` are those
/// of this command if it was called by gcc's `-wrapper`; else `None` comes back.
fn wrap(arguments: &[OsString]) -> Option<Result<Infallible, CompileError>> {
    let [first, program, rest @ ..] = arguments else {
        return None;
    };
    if first != WRAP {
        return None;
    }
    let mut rest = rest.to_vec();
    let path = PathBuf::from(program);
    let name = path.file_name().unwrap_or_default();
    if ["cc1", "cc1plus", "cc1obj", "cc1objplus", "f951"]
        .iter()
        .any(|compiler| *compiler == name)
    {
        rest.push("-fsanitize=thread".into());
    }
    Some(become_process(path, &rest))
}

pub fn become_process(path: PathBuf, arguments: &[OsString]) -> Result<Infallible, CompileError> {
    let error = Command::new(&path).args(arguments).exec();
    Err(CompileError::Start { path, error })
}

/// The whole command line: what the user wrote, and what checking needs.
pub fn with_checking(
    compiler: &Compiler,
    arguments: &[OsString],
    own: &OsStr,
) -> Result<Vec<OsString>, CompileError> {
    let asked = Arguments::of(arguments);
    let mut all: Vec<OsString> = Vec::new();
    let is_gfortran = compiler.family == Family::Gfortran;
    let compiles = asked.compiles || is_gfortran && asked.compiles_fortran;
    if compiles || asked.links {
        if let Some(other) = asked.other_sanitizer {
            return Err(CompileError::OtherSanitizer(other));
        }
        if asked.openmp && compiler.family == Family::Gcc {
            return Err(CompileError::OpenMpOfGcc);
        }
        if asked.is_32_bit {
            return Err(CompileError::NotSixtyFourBits);
        }
    }
    if compiles && asked.refuses_checking {
        return Ok(arguments.to_vec());
    }
    match compiles || asked.links {
        true => all.extend(arguments.iter().filter_map(adapted)),
        false => all.extend(arguments.iter().cloned()),
    }
    if is_gfortran {
        if compiles {
            all.extend(gfortran::compile_options(&asked, own));
        }
        if asked.links && asked.openmp {
            all.extend(gfortran::openmp_library()?);
        }
    } else if asked.compiles {
        let runtime = Runtime::unpack_to_compile()?;
        all.extend(compile_options(compiler, &asked, &runtime, own));
        all.extend([
            "-U_FORTIFY_SOURCE".into(),
            "-isystem".into(),
            runtime.headers.into(),
        ]);
    }
    if asked.links && asked.without_runtime {
        if asked.forbids_undefined {
            // The hooks are found in the executable, later.
            all.push("-Wl,-z,undefs".into());
        }
    } else if asked.links {
        if let Some(option) = asked.is_static {
            return Err(CompileError::Static(option));
        }
        all.extend(link_options(&Runtime::unpack()?, &asked));
    }
    Ok(all)
}

/// An argument of the user's as the compiler gets it. Who asks for ThreadSanitizer gets this instead. What
/// `_FORTIFY_SOURCE` calls instead of `memcpy` and its like, nobody would see.
fn adapted(argument: &OsString) -> Option<OsString> {
    let text = argument.to_string_lossy();
    if text.starts_with("-Wp,-D_FORTIFY_SOURCE") {
        return None;
    }
    let Some(names) = text.strip_prefix("-fsanitize=") else {
        return Some(argument.clone());
    };
    let others: Vec<&str> = names.split(',').filter(|name| *name != "thread").collect();
    (!others.is_empty()).then(|| format!("-fsanitize={}", others.join(",")).into())
}

/// What gcc would do itself instead of calling the C library, after it has instrumented, and tell nobody. Our `string.h`
/// sees to `memcpy` and those that often are about a number, which gcc does tell of.
const CALLS_THAT_GCC_REPLACES: [&str; 8] = [
    "-fno-builtin-strcpy",
    "-fno-builtin-stpcpy",
    "-fno-builtin-strncpy",
    "-fno-builtin-strcat",
    "-fno-builtin-strncat",
    "-fno-builtin-mempcpy",
    "-fno-builtin-bcmp",
    "-fno-builtin-bzero",
];

/// Whether a source has loops that say how wide their vectors are to be.
fn asks_for_vectors(source: &PathBuf) -> bool {
    let text = std::fs::read(source).unwrap_or_default();
    let words = ["simdlen", "safelen", "vectorize_width"].map(str::as_bytes);
    words
        .iter()
        .any(|word| text.windows(word.len()).any(|part| part == *word))
}

/// Has gcc call this command for each of its steps.
pub fn wrapper(own: &OsStr) -> [OsString; 2] {
    let mut wrapper = own.to_os_string();
    wrapper.push(",");
    wrapper.push(WRAP);
    ["-wrapper".into(), wrapper]
}

/// The plug-in, if this compiler can load it. `DEADHEAT_INSTRUMENT=clang` asks for clang's own pass instead, to compare the two.
fn plugin_for<'r>(compiler: &Compiler, runtime: &'r Runtime) -> Option<&'r Path> {
    let plugin = runtime.plugin.as_deref()?;
    let others = std::env::var_os("DEADHEAT_INSTRUMENT").is_some_and(|name| name == "clang");
    let fits = || compiler.clang_version() == Some(deadheat_instrument::CLANG);
    (!others && fits()).then_some(plugin)
}

/// Accesses are marked by the plug-in; atomic operations, and where functions begin and end, are left to clang's own pass.
fn plugin_options(plugin: &Path) -> Vec<OsString> {
    let mut load = OsString::from("-fpass-plugin=");
    load.push(plugin);
    // A loop with a mark in it becomes no vectors, whoever asked for some.
    let mut options = vec![load, "-Wno-pass-failed".into()];
    for option in [
        "-tsan-instrument-memory-accesses=false",
        "-tsan-instrument-memintrinsics=false",
    ] {
        options.extend(["-mllvm", option].map(OsString::from));
    }
    options
}

/// What makes clang's own pass, which comes last, see what the source says.
fn options_for_clangs_pass(compiler: &Compiler, asked: &Arguments) -> Vec<OsString> {
    let mut options: Vec<OsString> = Vec::new();
    // A read says which write it saw, which a recording must have, also when a write follows.
    options.extend(["-mllvm", "-tsan-instrument-read-before-write"].map(OsString::from));
    // clang tells of no access wider than 16 bytes: there must be no vectors of more.
    options.extend(["-mprefer-vector-width=128", "-fno-slp-vectorize"].map(OsString::from));
    let option = "-enable-interleaved-mem-accesses=false";
    options.extend(["-mllvm", option].map(OsString::from));
    // Loops that ask for wider ones become such whatever is preferred. One that is instrumented before becomes no
    // vector at all, and takes up to twice as long; clang would warn about it. Versions from 17 have the option.
    if asked.sources.iter().any(asks_for_vectors)
        && compiler
            .clang_version()
            .is_some_and(|version| version >= 17)
    {
        let early = ["-mllvm", "-sanitizer-early-opt-ep", "-Wno-pass-failed"];
        options.extend(early.map(OsString::from));
    }
    if asked.optimises {
        // clang (19, at least) looks at the address of a variable's part to tell whether other threads can have that
        // of the variable, and leaves its accesses out. Now it takes them to have every address. Without
        // optimisation that would be all local variables, and a program several times slower.
        let option = "-capture-tracking-max-uses-to-explore=0";
        options.extend(["-mllvm", option].map(OsString::from));
    }
    if asked.openmp {
        // Accesses that are moved out of loops or merged with others lose their lines. Loops are what
        // OpenMP is about; elsewhere the price, a fifth of the time, would be too high.
        for option in [
            "-disable-licm-promotion",
            "-sink-common-insts=false",
            "-hoist-common-insts=false",
            "-enable-tail-merge=false",
        ] {
            options.extend(["-mllvm", option].map(OsString::from));
        }
    }
    options
}

fn compile_options(
    compiler: &Compiler,
    asked: &Arguments,
    runtime: &Runtime,
    own: &OsStr,
) -> Vec<OsString> {
    let family = compiler.family;
    let mut options: Vec<OsString> = Vec::new();
    match (family, asked.links) {
        (Family::Clang, _) => {
            options.extend(match asked.links && asked.has_companion {
                // The other sanitizer's runtime is linked if clang's driver does not know of this one.
                true => ["-Xclang", "-fsanitize=thread"].map(OsString::from),
                false => ["-fsanitize=thread", "-fno-sanitize-link-runtime"].map(OsString::from),
            });
            options.extend(match plugin_for(compiler, runtime) {
                Some(plugin) => plugin_options(plugin),
                None => options_for_clangs_pass(compiler, asked),
            });
        }
        (_, true) => options.extend(wrapper(own)),
        (_, false) => options.push("-fsanitize=thread".into()),
    }
    if family == Family::Gcc {
        // gcc warns that ThreadSanitizer does not know fences; our runtime does.
        options.push("-Wno-tsan".into());
        options.extend(CALLS_THAT_GCC_REPLACES.map(OsString::from));
        if asked.optimises_when_linking {
            // gcc would instrument when it links, where its own library is expected.
            options.push("-fno-lto".into());
        }
    }
    if !asked.has_debug_option {
        options.push("-g".into());
    }
    options
}

fn link_options(runtime: &Runtime, asked: &Arguments) -> Vec<OsString> {
    let mut options: Vec<OsString> = Vec::new();
    if asked.language_is_forced {
        options.extend(["-x", "none"].map(OsString::from));
    }
    // One object of the archive holds all hooks; the rest of it serves that one.
    options.push("-Wl,--push-state,-Bdynamic,--no-as-needed,-u,__tsan_init".into());
    options.push(runtime.archive.clone().into());
    let mut exports = OsString::from("--dynamic-list=");
    exports.push(&runtime.exports);
    options.extend(["-Xlinker".into(), exports]);
    if !asked.optimises_when_linking && !asked.holds_cxx_library {
        let mut wraps = OsString::from("-Wl,@");
        wraps.push(&runtime.wraps);
        options.push(wraps);
    }
    options.extend(["-lpthread", "-ldl", "-lm", "-Wl,--pop-state"].map(OsString::from));
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(family: Family, line: &str) -> Result<String, CompileError> {
        let compiler = Compiler {
            path: "/compiler".into(),
            family,
        };
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let all = with_checking(&compiler, &arguments, "/deadheat".as_ref())?;
        let all: Vec<_> = all.iter().map(|word| word.to_string_lossy()).collect();
        Ok(all.join(" "))
    }

    fn headers() -> String {
        let headers = Runtime::unpack_to_compile().unwrap().headers;
        format!("-U_FORTIFY_SOURCE -isystem {}", headers.display())
    }

    #[test]
    fn compiling_gets_hooks_and_lines_but_no_library() {
        assert_eq!(
            line(Family::Gcc, "-O2 -c a.c").unwrap(),
            format!(
                "-O2 -c a.c -fsanitize=thread -Wno-tsan {} -g {}",
                CALLS_THAT_GCC_REPLACES.join(" "),
                headers()
            )
        );
        let fortified = line(Family::Gcc, "-Wp,-D_FORTIFY_SOURCE=2 -c a.c").unwrap();
        assert!(fortified.starts_with("-c a.c") && fortified.contains("-U_FORTIFY_SOURCE"));
        let clang = line(Family::Clang, "-g1 -c a.c").unwrap();
        assert!(clang.starts_with("-g1 -c a.c -fsanitize=thread"), "{clang}");
        assert!(
            !clang.contains("libdeadheat_rt") && !clang.contains(" -g "),
            "{clang}"
        );
        assert!(clang.contains("-mprefer-vector-width=128"), "{clang}");
    }

    #[test]
    fn loops_that_ask_for_wide_vectors_are_instrumented_before_they_become_such() {
        let folder = tempfile::tempdir().unwrap();
        let source = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let line = |path: &str, source: &str| {
            let (path, family) = (path.into(), Family::Clang);
            let arguments = ["-O2", "-c", source].map(OsString::from);
            let all = with_checking(&Compiler { path, family }, &arguments, "/deadheat".as_ref());
            all.unwrap().contains(&"-sanitizer-early-opt-ep".into())
        };
        let wide = source("wide.c", "#pragma omp simd simdlen(8)");
        let other = source("other.c", "#pragma omp simd");
        assert!(line("/usr/bin/clang-18", &wide));
        assert!(!line("/usr/bin/clang-18", &other));
        // With the plug-in, what the vectors are no longer matters.
        let has_plugin = deadheat_instrument::PLUGIN.is_some();
        assert_eq!(line("/usr/bin/clang-19", &wide), !has_plugin);
        assert!(!line("/usr/bin/clang-16", &wide));
        assert!(!line("/not/there/clang", &wide));
    }

    #[test]
    fn linking_gets_the_runtime_but_no_sanitizer() {
        let gcc = line(Family::Gcc, "-fsanitize=thread a.o -o a").unwrap();
        assert!(
            !gcc.contains("-fsanitize") && gcc.contains("libdeadheat_rt.a"),
            "{gcc}"
        );
        let both = line(Family::Gcc, "a.c -o a").unwrap();
        assert!(
            both.contains("-wrapper /deadheat,--deadheat-wrap") && !both.contains("-fsanitize"),
            "{both}"
        );
        assert!(gcc.contains("wraps.list"), "{gcc}");
        let compiled = line(Family::Gcc, "-flto -c a.c").unwrap();
        assert!(compiled.contains(" -fno-lto "), "{compiled}");
        for option in ["-flto", "-static-libstdc++"] {
            let hidden = line(Family::Gcc, &format!("{option} a.o -o a")).unwrap();
            assert!(!hidden.contains("wraps.list"), "{hidden}");
        }
        let forced = line(Family::Clang, "-x c a.txt").unwrap();
        assert!(forced.contains("-x none -Wl,--push-state"), "{forced}");
    }

    #[test]
    fn a_file_that_is_not_to_be_checked_is_compiled_as_it_is() {
        for plain in [
            "-O2 -fno-sanitize=thread -c a.c",
            "-fsanitize=thread -fno-sanitize=all -c a.c",
            "-fno-sanitize=thread a.c -o a",
        ] {
            assert_eq!(line(Family::Clang, plain).unwrap(), plain);
            assert_eq!(line(Family::Gcc, plain).unwrap(), plain);
        }
        // Its object may be linked to others that are checked.
        let linked = line(Family::Clang, "-fno-sanitize=thread a.o -o a").unwrap();
        assert!(linked.contains("libdeadheat_rt.a"), "{linked}");
    }

    #[test]
    fn undefined_behaviour_is_looked_for_at_the_same_time() {
        let both = line(Family::Clang, "-fsanitize=thread,undefined a.c").unwrap();
        assert!(
            both.contains("-fsanitize=undefined a.c -Xclang -fsanitize=thread")
                && !both.contains("-fno-sanitize-link-runtime"),
            "{both}"
        );
        let compiled = line(Family::Clang, "-fsanitize=undefined -c a.c").unwrap();
        assert!(
            compiled.contains("-fno-sanitize-link-runtime"),
            "{compiled}"
        );
    }

    #[test]
    fn what_is_not_an_executable_gets_no_runtime() {
        assert_eq!(
            line(Family::Gcc, "-shared a.o -o a.so").unwrap(),
            "-shared a.o -o a.so"
        );
        let strict = line(Family::Gcc, "-shared a.o -Wl,--no-undefined").unwrap();
        assert!(strict.ends_with("-Wl,-z,undefs"), "{strict}");
        for untouched in [
            "--version",
            "-v",
            "-print-file-name=libc.so",
            "-fsanitize=thread --version",
        ] {
            assert_eq!(line(Family::Clang, untouched).unwrap(), untouched);
        }
    }

    #[test]
    fn what_cannot_be_checked_is_refused_with_the_reason() {
        let error = |text| line(Family::Clang, text).unwrap_err().to_string();
        assert!(error("-static a.o").contains("leave -static out"));
        assert!(error("-fsanitize=address a.c").contains("build twice"));
        assert!(error("-m32 -c a.c").contains("64-bit"));
        let openmp = line(Family::Gcc, "-fopenmp a.c").unwrap_err().to_string();
        assert!(openmp.contains("clang"), "{openmp}");
        assert!(line(Family::Gcc, "-fopenmp -fno-openmp a.c").is_ok());
        assert!(line(Family::Gcc, "-fopenmp --version").is_ok());
    }
}
