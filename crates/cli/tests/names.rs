//! The programs in `tests/names/`: what a report calls the variables is what people call them, with clang and gcc, whether the
//! compiler optimises or not. Each program names its racing variables in its first lines:
//!
//! ```text
//! // variable: slots[3].count
//! // except: gcc -O2: what that compiler does to the variable
//! // compiler: clang
//! // options: -fopenmp
//! // with: a further source file
//! ```
//!
//! An exception is for builds with one of the compilers and one of the levels that it lists, where it lists any.

mod corpus;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use corpus::{compiles, deadheat};
use serde_json::Value;

const LEVELS: [&str; 3] = ["-O0", "-O1", "-O2"];

struct Program {
    path: PathBuf,
    variables: Vec<String>,
    exceptions: Vec<Vec<String>>,
    compiler: Option<String>,
    options: Vec<String>,
    with: Option<PathBuf>,
}

impl Program {
    fn read(path: PathBuf) -> Program {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut program = Program {
            path,
            variables: Vec::new(),
            exceptions: Vec::new(),
            compiler: None,
            options: Vec::new(),
            with: None,
        };
        let words = |text: &str| text.split_whitespace().map(str::to_string).collect();
        let comments = text.lines().map_while(|line| line.strip_prefix("// "));
        for (key, value) in comments.filter_map(|line| line.split_once(": ")) {
            match key {
                "variable" => program.variables.push(value.to_string()),
                "except" => {
                    let (builds, _) = value.split_once(": ").expect("an exception has a reason");
                    program.exceptions.push(words(builds));
                }
                "compiler" => program.compiler = Some(value.to_string()),
                "options" => program.options = words(value),
                "with" => program.with = Some(program.path.with_file_name(value)),
                _ => {}
            }
        }
        program.variables.sort();
        program
    }

    fn name(&self) -> String {
        self.path
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned()
    }

    fn is_for(&self, compiler: &str, level: &str) -> bool {
        let family = compiler.split('-').next().unwrap();
        let among = |list: &[String], what: &str, is_kind: &dyn Fn(&str) -> bool| {
            let mut kind = list.iter().filter(|word| is_kind(word)).peekable();
            kind.peek().is_none() || kind.any(|word| word == what)
        };
        let is_level = |word: &str| word.starts_with('-');
        let excepted = |list: &Vec<String>| {
            among(list, level, &is_level) && among(list, family, &|word| !is_level(word))
        };
        self.compiler.as_ref().is_none_or(|only| only == family)
            && !self.exceptions.iter().any(excepted)
    }

    /// What is wrong with the names of one build.
    fn check(&self, compiler: &str, level: &str, directory: &Path) -> Result<(), String> {
        let executable = directory.join(format!("{}-{compiler}{level}", self.name()));
        let is_cxx = self.path.extension().is_some_and(|ending| ending == "cpp");
        let mut build = deadheat();
        build
            .arg(if is_cxx { "c++" } else { "cc" })
            .args([&format!("--with={compiler}"), level, "-Wall", "-pthread"])
            .args(&self.options)
            .arg(&self.path)
            .args(&self.with)
            .arg("-o")
            .arg(&executable);
        end(build)?;
        let mut run = deadheat();
        let json = PathBuf::from(format!("{}.json", executable.display()));
        run.args(["run", "--quiet"])
            .arg(format!("--json={}", json.display()))
            .arg("--")
            .arg(&executable);
        end(run)?;
        let report = std::fs::read_to_string(&json).map_err(|error| error.to_string())?;
        let report: Value = serde_json::from_str(&report).map_err(|error| error.to_string())?;
        let races = report["races"].as_array().ok_or("no races")?.iter();
        let mut found: Vec<&str> = races.filter_map(|race| race["variable"].as_str()).collect();
        found.sort_unstable();
        found.dedup();
        match found == self.variables {
            true => Ok(()),
            false => Err(format!("expected {:?}, found {found:?}", self.variables)),
        }
    }
}

/// Runs a command, which ends well or with the status of a program in which something was found.
fn end(mut command: Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.code() {
        Some(0 | 66) => Ok(()),
        _ => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

#[test]
fn variables_are_called_as_in_the_source() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/names");
    let files = std::fs::read_dir(directory).unwrap();
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| {
        path.extension()
            .is_some_and(|ending| ending == "c" || ending == "cpp")
    });
    paths.sort();
    let programs: Vec<Program> = paths.into_iter().map(Program::read).collect();
    let compilers = ["clang-19", "gcc"].into_iter();
    let compilers: Vec<&str> = compilers
        .filter(|name| compiles(name, &["--version"]))
        .collect();
    let mut work: Vec<(&Program, &str, &str)> = Vec::new();
    for program in &programs {
        for compiler in &compilers {
            let levels = LEVELS
                .into_iter()
                .filter(|level| program.is_for(compiler, level));
            work.extend(levels.map(|level| (program, *compiler, level)));
        }
    }
    let scratch = tempfile::tempdir().unwrap();
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let check_some = || {
        while let Some((program, compiler, level)) = work.get(next.fetch_add(1, Ordering::Relaxed))
        {
            // Which of several races is seen may be up to the schedule: once more, then.
            let check = || program.check(compiler, level, scratch.path());
            if let Err(what) = check().or_else(|_| check()) {
                let what = format!("{} ({compiler} {level}): {what}", program.name());
                wrong.lock().unwrap().push(what);
            }
        }
    };
    std::thread::scope(|scope| {
        let workers = std::thread::available_parallelism().map_or(2, |cores| cores.get());
        for _ in 0..workers {
            scope.spawn(check_some);
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    println!("{} builds, {} wrong", work.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
