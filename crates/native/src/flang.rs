//! `deadheat fc` with flang, which does not know `-fsanitize=thread`: clang's pass does the work.
//!
//! | step | who |
//! |---|---|
//! | each Fortran source becomes code of LLVM's, as it is lowered: arrays in place, nothing optimised | flang |
//! | that code is made fit to be instrumented: see [`adapt`] | this |
//! | it is optimised and instrumented, as C is | `deadheat cc`, with the clang of flang's version |
//! | all is linked with flang's libraries | `deadheat cc` |
//!
//! flang's own optimiser would come before the pass, and delete, merge and move accesses.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::arguments::{Arguments, is_fortran};
use crate::driver::{CompileError, become_process, with_checking};
use crate::toolchain::{Compiler, Family};

/// A flang, with the clang whose code is of the same version.
#[derive(Debug)]
pub struct Flang {
    pub path: PathBuf,
    pub clang: PathBuf,
    pub version: u32,
}

/// What flang 19 makes of a program is not what it says: this.
const TASKS_SHARE: &str = "flang 19 gives tasks no copies of firstprivate variables, not even of those that are so by default: \
     such tasks race";

/// How building ended.
#[derive(Debug)]
pub enum Built {
    /// With this status of the compiler's.
    Status(i32),
    /// flang cannot do it (yet), for this reason. Nothing was written.
    NotByFlang(String),
}

/// A command line, taken apart: what flang is told, what clang is told, and what is linked.
#[derive(Debug, Default)]
struct Line {
    /// For flang.
    lower: Vec<OsString>,
    /// For clang, whatever it does.
    generate: Vec<OsString>,
    /// For linking, in order; the sources' places are theirs.
    link: Vec<Input>,
    output: Option<OsString>,
    only_compiles: bool,
    /// Makes no object: flang alone does what is asked.
    is_flang_s: bool,
}

#[derive(Debug)]
enum Input {
    Source(PathBuf),
    Word(OsString),
}

/// Options of the linker whose value is the next argument.
const LINK_WITH_VALUE: [&str; 9] = [
    "-L", "-l", "-Xlinker", "-B", "-T", "-u", "-z", "-e", "-rpath",
];
/// Options of flang's whose value is the next argument.
const WITH_VALUE: [&str; 11] = [
    "-I",
    "-D",
    "-U",
    "-J",
    "-module-dir",
    "-Xflang",
    "-mmlir",
    "-mllvm",
    "-x",
    "-target",
    "-fintrinsic-modules-path",
];
/// How options begin that are for the linker alone.
const LINK: [&str; 10] = [
    "-l",
    "-L",
    "-Wl,",
    "-shared",
    "-static",
    "-rdynamic",
    "-pie",
    "-no-pie",
    "-fuse-ld=",
    "-nostd",
];
/// How options begin that both compilers want.
const BOTH: [&str; 9] = [
    "-g",
    "-m",
    "-fopenmp",
    "-fno-openmp",
    "-fPI",
    "-fpi",
    "-fno-PI",
    "-fno-pi",
    "-pthread",
];
/// What makes no object.
const NO_OBJECT: [&str; 4] = ["-S", "-E", "-fsyntax-only", "-emit-llvm"];

impl Line {
    fn of(arguments: &[OsString]) -> Line {
        let mut line = Line::default();
        let mut optimisation = None;
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy();
            let begins = |with: &[&str]| with.iter().any(|start| text.starts_with(start));
            match &*text {
                "-c" => line.only_compiles = true,
                "-o" => line.output = rest.next().cloned(),
                text if NO_OBJECT.contains(&text) => line.is_flang_s = true,
                text if LINK_WITH_VALUE.contains(&text) => {
                    let words = [Some(argument), rest.next()].into_iter().flatten();
                    line.link.extend(words.cloned().map(Input::Word));
                }
                text if WITH_VALUE.contains(&text) => {
                    line.lower.push(argument.clone());
                    line.lower.extend(rest.next().cloned());
                }
                "-Ofast" => {
                    line.lower.push("-ffast-math".into());
                    optimisation = Some("-O3".into());
                }
                _ if begins(&["-O"]) => optimisation = Some(argument.clone()),
                _ if begins(&LINK) => line.link.push(Input::Word(argument.clone())),
                text if text == "-v" || begins(&BOTH) => {
                    line.lower.push(argument.clone());
                    line.generate.push(argument.clone());
                }
                _ if begins(&["-"]) => line.lower.push(argument.clone()),
                _ if is_fortran(Path::new(argument)) => {
                    line.link.push(Input::Source(argument.into()))
                }
                _ => line.link.push(Input::Word(argument.clone())),
            }
        }
        line.generate.extend(optimisation);
        line
    }

    fn sources(&self) -> impl Iterator<Item = &Path> {
        self.link.iter().filter_map(|input| match input {
            Input::Source(source) => Some(&**source),
            Input::Word(_) => None,
        })
    }
}

impl Flang {
    /// Does what `arguments` ask for. `own` is this command's path. If flang was chosen, it does what it can.
    pub fn build(
        &self,
        arguments: &[OsString],
        own: &OsStr,
        is_chosen: bool,
    ) -> Result<Built, CompileError> {
        let asked = Arguments::of(arguments);
        let line = Line::of(arguments);
        let makes_something = asked.compiles_fortran || asked.compiles || asked.links;
        if line.is_flang_s || !makes_something {
            let Err(error) = become_process(self.path.clone(), arguments);
            return Err(error);
        }
        let start = |error| CompileError::Start {
            path: self.path.clone(),
            error,
        };
        let directory = tempfile::tempdir().map_err(start)?;
        let mut objects = Vec::new();
        for (number, source) in line.sources().enumerate() {
            let object = match (&line.output, line.only_compiles) {
                (Some(output), true) => PathBuf::from(output),
                (None, true) => {
                    Path::new(source.file_name().unwrap_or_default()).with_extension("o")
                }
                (_, false) => directory.path().join(format!("{number}.o")),
            };
            let code = directory.path().join(format!("{number}.ll"));
            let refused = match self.lower(source, &line.lower, &code).map_err(start)? {
                (0, _) => None,
                (_, Some(reason)) => Some(reason),
                (status, None) => return Ok(Built::Status(status)),
            };
            let text = match refused {
                Some(reason) => return Ok(Built::NotByFlang(reason)),
                None => std::fs::read_to_string(&code).map_err(start)?,
            };
            if self.version == 19 && text.contains("call ptr @__kmpc_omp_task_alloc(") {
                if !is_chosen {
                    return Ok(Built::NotByFlang(TASKS_SHARE.to_string()));
                }
                eprintln!("deadheat: {TASKS_SHARE}");
            }
            std::fs::write(&code, adapt(&text)).map_err(start)?;
            let mut words = line.generate.clone();
            words.extend(["-c", "-x", "ir"].map(OsString::from));
            words.extend([code.into(), "-o".into(), object.clone().into()]);
            let status = self.clang(&words, own)?;
            if status != 0 {
                return Ok(Built::Status(status));
            }
            objects.push(object);
        }
        if line.only_compiles {
            return Ok(Built::Status(0));
        }
        let mut objects = objects.into_iter();
        let mut words = line.generate.clone();
        words.extend(line.link.iter().filter_map(|input| match input {
            Input::Source(_) => objects.next().map(OsString::from),
            Input::Word(word) => Some(word.clone()),
        }));
        words.extend(self.libraries());
        if let Some(output) = line.output {
            words.extend(["-o".into(), output]);
        }
        Ok(Built::Status(self.clang(&words, own)?))
    }

    /// Makes code of LLVM's from a source. Gives flang's status, and the reason if it says that it cannot do this.
    fn lower(
        &self,
        source: &Path,
        options: &[OsString],
        code: &Path,
    ) -> io::Result<(i32, Option<String>)> {
        let mut flang = Command::new(&self.path);
        flang.args(options);
        // Arrays are then assigned in place, not by calls of the library, which nobody would see. The second option
        // leaves out all that LLVM's own optimiser would do, and tells of every part that it leaves out.
        flang.args([
            "-g",
            "-O1",
            "-mllvm",
            "-opt-bisect-limit=0",
            "-S",
            "-emit-llvm",
        ]);
        flang.arg(source).arg("-o").arg(code);
        let mut child = flang.stderr(Stdio::piped()).spawn()?;
        let said = BufReader::new(child.stderr.take().expect("piped"));
        let mut reason = None;
        for said in said.split(b'\n') {
            let said = String::from_utf8_lossy(&said?).into_owned();
            if said.starts_with("BISECT: ") {
                continue;
            }
            let missing = ["not yet implemented: ", "unsupported OpenMP operation: "];
            let missing = missing.iter().find_map(|what| said.split_once(what));
            match missing {
                Some((_, what)) => {
                    let _ = reason
                        .get_or_insert_with(|| format!("flang does not know this yet: {what}"));
                }
                None if reason.is_none() => eprintln!("{said}"),
                None => {}
            }
        }
        let status = child.wait()?.code().unwrap_or(1);
        Ok((status, reason))
    }

    fn clang(&self, words: &[OsString], own: &OsStr) -> Result<i32, CompileError> {
        let compiler = Compiler {
            path: self.clang.clone(),
            family: Family::Clang,
        };
        let mut all = with_checking(&compiler, words, own)?;
        // There is no preprocessor, and nothing to include.
        all.push("-Wno-unused-command-line-argument".into());
        let status = Command::new(&self.clang).args(all).status();
        let status = status.map_err(|error| CompileError::Start {
            path: self.clang.clone(),
            error,
        })?;
        Ok(status.code().unwrap_or(1))
    }

    /// What the library of flang's is called: its name has changed with version 21.
    fn libraries(&self) -> Vec<OsString> {
        let beside = self.path.canonicalize().unwrap_or_default();
        let beside = beside.ancestors().nth(2).map(|root| root.join("lib"));
        let mut words: Vec<OsString> =
            match beside.filter(|lib| lib.join("libFortranRuntime.a").exists()) {
                Some(lib) => {
                    let mut option = OsString::from("-L");
                    option.push(lib);
                    vec![option, "-lFortranRuntime".into(), "-lFortranDecimal".into()]
                }
                None => {
                    let asked = Command::new(&self.path)
                        .arg("-print-file-name=libflang_rt.runtime.a")
                        .output();
                    let found = asked
                        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
                    vec![found.unwrap_or_default().into()]
                }
            };
        words.push("-lm".into());
        words
    }
}

/// Makes flang's code fit to be instrumented:
///
/// - Its functions say that they are to be.
/// - A program's and a module's variables are known outside of the file. Of those that are not, the optimiser makes others,
///   of a bit perhaps, and deletes what is written and never read. Their names are one program's own.
/// - A static loop says that it is one, and sections that they are sections. OpenMP's runtime would warn that it cannot tell.
/// - `copyin` copies a thread's own variable to itself, too. That is not looked at.
fn adapt(code: &str) -> String {
    let mut adapted = String::with_capacity(code.len() + code.len() / 8);
    let mut in_sections = false;
    let mut kinds = [("loop", 0x202, false), ("sections", 0x402, false)];
    let mut copies = Copies::default();
    for line in code.lines() {
        let begin = adapted.len();
        if let Some((group, rest)) = line
            .split_once(" = {")
            .filter(|_| line.starts_with("attributes #"))
        {
            let _ = write!(adapted, "{group} = {{ sanitize_thread{rest}");
        } else if line.starts_with("@_Q") && line.contains(" = internal global ") {
            adapted += &line.replacen(" = internal global ", " = global ", 1);
        } else if let Some((before, after)) = line.split_once("@__kmpc_for_static_init_")
            && let Some((width, after)) = after.split_once("(ptr @")
            && let Some((_, after)) = after.split_once(',')
            && before.contains("call void")
        {
            let kind = &mut kinds[in_sections as usize];
            kind.2 = true;
            let _ = write!(
                adapted,
                "{before}@__kmpc_for_static_init_{width}(ptr @deadheat.{},{after}",
                kind.0
            );
        } else {
            adapted += line;
        }
        if let Some(label) = line
            .split(':')
            .next()
            .filter(|_| !line.starts_with([' ', '@', '!', ';']))
        {
            in_sections = label.starts_with("omp_section_loop");
            copies = Copies::default();
        }
        copies.note(line, begin, &mut adapted);
        adapted.push('\n');
    }
    for (kind, flags, _) in kinds.iter().filter(|kind| kind.2) {
        let _ = writeln!(
            adapted,
            "@deadheat.{kind} = private constant {{ i32, i32, i32, i32, ptr }} {{ i32 0, i32 {flags}, i32 0, i32 22, ptr @deadheat.where }}"
        );
    }
    if kinds.iter().any(|kind| kind.2) {
        adapted += "@deadheat.where = private constant [23 x i8] c\";unknown;unknown;0;0;;\\00\"\n";
    }
    adapted
}

/// The copies of `copyin`: what is loaded and stored to a thread's own variable, in a block that ends with a barrier.
#[derive(Default)]
struct Copies {
    own: Vec<String>,
    loaded: Option<String>,
    stores: Vec<usize>,
}

impl Copies {
    /// Notes a line that was written at a place of the adapted code.
    fn note(&mut self, line: &str, begin: usize, adapted: &mut String) {
        const NOT_LOOKED_AT: &str = ", !nosanitize !{}";
        let loaded = self.loaded.take();
        let assigned = line.trim_start().split_once(" = ");
        if let Some((name, what)) = assigned {
            if what.starts_with("call ptr @__kmpc_threadprivate_cached(") {
                self.own.push(name.to_string());
            } else if what.starts_with("load ") {
                self.loaded = Some(name.to_string());
            }
        } else if let Some(loaded) = loaded
            && let Some((value, to)) = line
                .trim_start()
                .strip_prefix("store ")
                .and_then(|store| store.split_once(", ptr "))
            && value.ends_with(&loaded)
            && self.own.iter().any(|own| to.split(',').next() == Some(own))
        {
            self.stores.push(begin + line.len());
        } else if line.contains("call void @__kmpc_barrier(") && !line.contains("!dbg") {
            for end in self.stores.drain(..).rev() {
                adapted.insert_str(end, NOT_LOOKED_AT);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        let words: Vec<OsString> = text.split_whitespace().map(OsString::from).collect();
        Line::of(&words)
    }

    #[test]
    fn each_compiler_gets_what_it_understands() {
        let line =
            line("-cpp -J mods -O2 -g a.f90 b.o -fopenmp -ffree-form -Lx -l y -Wl,-z,now -o prog");
        assert_eq!(
            line.lower.join(OsStr::new(" ")),
            "-cpp -J mods -g -fopenmp -ffree-form"
        );
        assert_eq!(line.generate.join(OsStr::new(" ")), "-g -fopenmp -O2");
        assert_eq!(line.sources().collect::<Vec<_>>(), [Path::new("a.f90")]);
        assert_eq!(line.link.len(), 6);
        assert_eq!(line.output, Some("prog".into()));
        assert!(!line.only_compiles && !line.is_flang_s);
    }

    #[test]
    fn code_is_made_fit_to_be_instrumented() {
        let code = "\
@_QFEx = internal global i32 0, !dbg !0
@other = internal global i32 0
define void @f() #0 {
omp_section_loop.preheader:                       ; preds = %a
  call void @__kmpc_for_static_init_4u(ptr @1, i32 %t, i32 34)
omp_loop.preheader:
  call void @__kmpc_for_static_init_4u(ptr @1, i32 %t, i32 34)
  ret void
}
attributes #0 = { nounwind }
";
        let adapted = adapt(code);
        for expected in [
            "@_QFEx = global i32 0, !dbg !0",
            "@other = internal global i32 0",
            "@__kmpc_for_static_init_4u(ptr @deadheat.sections, i32 %t, i32 34)",
            "@__kmpc_for_static_init_4u(ptr @deadheat.loop, i32 %t, i32 34)",
            "attributes #0 = { sanitize_thread nounwind }",
            "@deadheat.loop = private constant",
        ] {
            assert!(adapted.contains(expected), "{expected}: {adapted}");
        }
    }

    #[test]
    fn copies_of_copyin_are_not_looked_at() {
        let code = "\
  %3 = call ptr @__kmpc_threadprivate_cached(ptr @7, i32 %t, ptr @x, i64 4, ptr @c)
  %4 = load i32, ptr %first, align 4
  store i32 %4, ptr %3, align 4
  store i32 1, ptr %3, align 4
  call void @__kmpc_barrier(ptr @9, i32 %t)
";
        let adapted = adapt(code);
        assert!(
            adapted.contains("store i32 %4, ptr %3, align 4, !nosanitize !{}\n"),
            "{adapted}"
        );
        assert_eq!(adapted.matches("nosanitize").count(), 1);
        let without = code.replace("%t)", "%t), !dbg !1");
        assert!(!adapt(&without).contains("nosanitize"));
    }
}
