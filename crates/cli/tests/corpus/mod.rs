//! A corpus: small programs whose first lines say which races they have. Each is built by `deadheat cc` or
//! `deadheat c++` and run by `deadheat run`; verdict, racing lines and variable must be what these lines say. The same can be asked
//! of `deadheat record` and `deadheat run --predict`.
//!
//! `DEADHEAT_CORPUS_RUNS` says how often each is run (once unless given), `DEADHEAT_CORPUS_ONLY` a part of the names of
//! those that are, `DEADHEAT_CORPUS_OPTIONS` further options of the compiler (`-no-pie`), `DEADHEAT_CORPUS_UNDER` a command each
//! is run under (`env LD_PRELOAD=libjemalloc.so.2`). No wrong verdict is forgiven: a program that is
//! right most of the time is run three times more only to say so.

// Each test needs a part of it.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The programs of a directory.
pub struct Corpus {
    /// Options of the compiler that all of them get.
    options: &'static [&'static str],
    pub programs: Vec<Program>,
}

/// What is done with a program, for so many threads of OpenMP if it matters; what is wrong with it, if anything is.
pub type Trial = fn(&Program, &Path, Option<&str>) -> Result<(), String>;

/// A program and what it says of itself.
pub struct Program {
    path: PathBuf,
    pub races: Vec<Expected>,
    options: Vec<String>,
    pub compiler: Option<String>,
    /// For how many threads of OpenMP its verdict holds.
    pub threads: Vec<String>,
    environment: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    variable: String,
    lines: [u64; 2],
}

/// Whether everything is tried in every way, as `make corpus` does: an ordinary test run has no time for that.
pub fn tries_all() -> bool {
    std::env::var_os("DEADHEAT_CORPUS_RUNS").is_some()
}

impl Corpus {
    /// The programs in C and C++ in a directory under `tests/`, by name.
    pub fn read(directory: &str, options: &'static [&'static str]) -> Corpus {
        Corpus::in_languages(directory, &["c", "cpp"], options)
    }

    /// Those whose files have one of these endings.
    pub fn in_languages(
        directory: &str,
        endings: &[&str],
        options: &'static [&'static str],
    ) -> Corpus {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests")
            .join(directory)
            .canonicalize()
            .unwrap();
        let files = std::fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let sources = files.filter(|path| {
            let ending = path.extension().unwrap_or_default();
            endings.iter().any(|known| ending == *known)
        });
        let mut programs: Vec<Program> = sources.map(Program::read).collect();
        programs.sort_by_key(Program::name);
        Corpus { options, programs }
    }

    /// Leaves the programs with races; unless everything is tried, one in so many of them.
    pub fn choose_racy(&mut self, one_in: usize) {
        self.programs.retain(Program::is_racy);
        if !tries_all() {
            let mut index = 0;
            self.programs.retain(|_| {
                index += 1;
                index % one_in == 0
            });
        }
    }

    /// It has so many programs at least, and about as many with races as without.
    pub fn assert_large_and_balanced(&self, least: usize) {
        let count = self.programs.len();
        let racy = self.programs.iter().filter(|program| program.is_racy());
        let racy = racy.count();
        assert!(count >= least, "{count}");
        assert!(
            racy * 5 >= count * 2 && racy * 5 <= count * 3,
            "{racy} of {count}"
        );
    }

    /// Every program, with each of these compilers that it is for, does what it says when tried so.
    pub fn assert_verdicts(&self, compilers: &[&str], trial: Trial) {
        self.assert_verdicts_in_runs(1, compilers, trial);
    }

    /// The same in so many times the usual number of runs.
    pub fn assert_verdicts_in_runs(&self, times: usize, compilers: &[&str], trial: Trial) {
        let runs = std::env::var("DEADHEAT_CORPUS_RUNS");
        let runs = times * runs.map_or(1, |text| text.parse::<usize>().unwrap());
        let only = std::env::var("DEADHEAT_CORPUS_ONLY").unwrap_or_default();
        let chosen = |program: &&Program| program.name().contains(&only);
        let mut work: Vec<(&Program, &str)> = Vec::new();
        for program in self.programs.iter().filter(chosen) {
            let is_for = |compiler: &&&str| {
                let family = compiler.split('-').next();
                program.compiler.is_none() || program.compiler.as_deref() == family
            };
            work.extend(compilers.iter().filter(is_for).map(|name| (program, *name)));
        }
        let directory = tempfile::tempdir().unwrap();
        let next = AtomicUsize::new(0);
        let wrong = Mutex::new(Vec::new());
        let workers = std::thread::available_parallelism().map_or(2, |cores| cores.get());
        let try_some = || {
            while let Some((program, compiler)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                let tried = program.try_it((compiler, self.options), directory.path(), runs, trial);
                let Err(what) = tried else { continue };
                let what = format!("{} ({compiler}): {what}", program.name());
                // Every program races in every run or in none, so one wrong verdict is a bug, of deadheat or of the
                // program. Whether it comes back tells where to look.
                let again = program.try_it((compiler, self.options), directory.path(), 3, trial);
                let again = match again {
                    Ok(()) => "right in three more runs",
                    Err(_) => "wrong in three more runs, too",
                };
                wrong.lock().unwrap().push(format!("{what} ({again})"));
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(try_some);
            }
        });
        let mut wrong = wrong.into_inner().unwrap();
        wrong.sort();
        println!(
            "{} programs and compilers, {runs} runs each, {} wrong",
            work.len(),
            wrong.len()
        );
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

impl Program {
    fn read(path: PathBuf) -> Program {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.display().to_string();
        let mut program = Program {
            path,
            races: Vec::new(),
            options: Vec::new(),
            compiler: None,
            threads: Vec::new(),
            environment: Vec::new(),
        };
        let mut is_clean = false;
        let words = |text: &str| text.split_whitespace().map(str::to_string).collect();
        let comment = if program.is_fortran() { "! " } else { "// " };
        for line in text.lines().map_while(|line| line.strip_prefix(comment)) {
            match line.split_once(": ") {
                Some(("expect", "no race")) => is_clean = true,
                Some(("expect", race)) => program
                    .races
                    .push(Expected::read(race).unwrap_or_else(|| panic!("{name}: {line}"))),
                Some(("options", options)) => program.options = words(options),
                Some(("compiler", compiler)) => program.compiler = Some(compiler.to_string()),
                Some(("threads", threads)) => program.threads = words(threads),
                Some(("environment", variables)) => {
                    let variables = variables.split_whitespace().map(|variable| {
                        let (name, value) = variable.split_once('=').unwrap();
                        (name.to_string(), value.to_string())
                    });
                    program.environment = variables.collect();
                }
                _ => assert!(
                    !is_clean && program.races.is_empty(),
                    "{name}: `{line}` says nothing that is known"
                ),
            }
        }
        assert!(
            is_clean == program.races.is_empty(),
            "{name} says what to expect, and only one thing"
        );
        program
    }

    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap();
        name.to_string_lossy().into_owned()
    }

    pub fn is_racy(&self) -> bool {
        !self.races.is_empty()
    }

    fn is_cxx(&self) -> bool {
        self.path.extension().is_some_and(|ending| ending == "cpp")
    }

    fn is_fortran(&self) -> bool {
        let ending = self.path.extension().unwrap_or_default();
        ending.to_string_lossy().starts_with('f')
    }

    fn driver(&self) -> &'static str {
        match () {
            () if self.is_cxx() => "c++",
            () if self.is_fortran() => "fc",
            () => "cc",
        }
    }

    /// What is wrong with this program when built with a compiler and run some times; nothing, if all is well.
    fn try_it(
        &self,
        (compiler, options): (&str, &[&str]),
        directory: &Path,
        runs: usize,
        trial: Trial,
    ) -> Result<(), String> {
        let executable = directory.join(format!("{}-{compiler}", self.name()));
        let mut build = deadheat();
        build
            .arg(self.driver())
            .arg(format!("--with={compiler}"))
            .arg("-O1");
        match self.is_fortran() {
            true => {
                // Its modules are described in files there.
                let modules = executable.with_extension("modules");
                std::fs::create_dir_all(&modules).unwrap();
                build.arg("-J").arg(modules)
            }
            false => build.args(["-Wall", "-Wextra", "-Wno-unused-parameter"]),
        };
        build
            .args(options)
            .args(words("DEADHEAT_CORPUS_OPTIONS"))
            .args(&self.options);
        build.arg(&self.path).arg("-o").arg(&executable);
        let built = build.output().unwrap();
        let said = String::from_utf8_lossy(&built.stderr).into_owned();
        if !built.status.success() || !said.is_empty() {
            return Err(format!("building it: {} {said}", built.status));
        }
        for run in 1..=runs {
            if self.threads.is_empty() {
                trial(self, &executable, None).map_err(|what| format!("run {run}: {what}"))?;
            }
            for threads in &self.threads {
                trial(self, &executable, Some(threads))
                    .map_err(|what| format!("run {run} with {threads} threads: {what}"))?;
            }
        }
        std::fs::remove_file(&executable).unwrap();
        Ok(())
    }

    /// Checks the program while it runs.
    pub fn check(&self, executable: &Path, threads: Option<&str>) -> Result<(), String> {
        let report = self.report(executable, threads, &[])?;
        self.compare(&self.races_of(&report["races"]))
    }

    /// Checks the program while it runs, and pauses at random where its tasks and threads meet.
    pub fn check_with_pauses(
        &self,
        executable: &Path,
        threads: Option<&str>,
    ) -> Result<(), String> {
        static SEED: AtomicUsize = AtomicUsize::new(0);
        let options = format!("pauses={}", SEED.fetch_add(1, Ordering::Relaxed));
        let variables = [("DEADHEAT_OPTIONS", &*options)];
        let checked = self
            .report_in(executable, threads, &[], &variables)
            .and_then(|report| self.compare(&self.races_of(&report["races"])));
        checked.map_err(|what| format!("{options}: {what}"))
    }

    /// Checks the program while it runs, and its recording: with every compiler if it is to be tried hard, else with one
    /// or the other.
    pub fn check_twice(&self, executable: &Path, threads: Option<&str>) -> Result<(), String> {
        self.check(executable, threads)?;
        let by_gcc = executable.to_string_lossy().ends_with("gcc");
        let chosen = by_gcc == self.name().len().is_multiple_of(2) || self.compiler.is_some();
        if !tries_all() && !chosen {
            return Ok(());
        }
        let recorded = self.record(executable, threads);
        let compared = recorded.and_then(|found| self.compare(&found));
        compared.map_err(|what| format!("recorded: {what}"))
    }

    /// Checks the program while it runs; and that its recording shows nothing that the program does not say, with one
    /// number of threads. Unless every program is to be tried hard, some stand for all.
    pub fn check_and_record(&self, executable: &Path, threads: Option<&str>) -> Result<(), String> {
        self.check(executable, threads)?;
        let chosen = tries_all() || self.name().len().is_multiple_of(7);
        if !chosen || threads != self.threads.last().map(String::as_str) {
            return Ok(());
        }
        let recorded = self.record(executable, threads);
        let found = recorded.map_err(|what| format!("recorded: {what}"))?;
        match found.iter().find(|race| !self.is_right(race)) {
            Some(wrong) => Err(format!("recorded {wrong:?}, which cannot be")),
            None => Ok(()),
        }
    }

    /// The run itself must be without race; what is predicted must be what the program says, with a witness that ends
    /// with the two accesses.
    pub fn predict(&self, executable: &Path, threads: Option<&str>) -> Result<(), String> {
        let report = self.report(executable, threads, &["--predict"])?;
        if report["races"] != serde_json::json!([]) {
            return Err(format!("raced in this run: {}", report["races"]));
        }
        for race in report["predicted"].as_array().unwrap() {
            let witness = race["witness"].as_array().unwrap();
            let place = |step: &Value| (step["thread"].clone(), step["loc"].clone());
            let mut last: Vec<(Value, Value)> = witness.iter().rev().take(2).map(place).collect();
            let mut ends = vec![place(&race["first"]), place(&race["second"])];
            last.sort_by_key(|(thread, _)| thread.to_string());
            ends.sort_by_key(|(thread, _)| thread.to_string());
            if last != ends || race["verified"] != true {
                return Err(format!("its witness shows something else: {race}"));
            }
        }
        self.compare(&self.races_of(&report["predicted"]))
    }

    /// `run`, `run --predict`, and `analyze` and `explain` of a recording say the same of each race that they share: its
    /// variable, what kind of finding it is, and what would help.
    pub fn agree(&self, executable: &Path, threads: Option<&str>) -> Result<(), String> {
        let mut said: BTreeMap<[String; 3], Vec<(&str, [String; 3])>> = BTreeMap::new();
        let mut listen = |command, report: &Value| {
            for race in report["races"].as_array().unwrap() {
                // One line may have races of several kinds.
                let does = |side: &Value| format!("{} {}", side["access"], side["atomic"]);
                let mut does = [&race["first"], &race["second"]].map(does);
                does.sort();
                let [one, other] = does;
                let identity = race["fingerprint"].to_string();
                let known = said.entry([identity, one, other]).or_default();
                // A piece of a loop, a section, a `single`: recordings have only who runs them. A suspect is only that.
                let is_whole = !is_piece(&race["first"]) && !is_piece(&race["second"]);
                if is_whole && race["rule"] != "suspect" {
                    known.push((command, about(race)));
                }
            }
        };
        listen("run", &self.report(executable, threads, &[])?);
        let predicted = self.report(executable, threads, &["--predict"]);
        predicted
            .iter()
            .for_each(|report| listen("run --predict", report));
        let directory = tempfile::tempdir_in(executable.parent().unwrap()).unwrap();
        self.make_recording(executable, threads, directory.path())?;
        for trace in std::fs::read_dir(directory.path()).unwrap() {
            let trace = trace.unwrap().path();
            for (name, arguments) in [
                ("analyze", &["analyze", "--engine", "hb", "--json"][..]),
                ("explain", &["explain", "--json"]),
            ] {
                let output = deadheat().args(arguments).arg(&trace).output().unwrap();
                // One thread that has done nothing of note.
                if let Ok(report) = serde_json::from_slice::<Value>(&output.stdout) {
                    listen(name, &report);
                }
            }
        }
        for (identity, said) in &said {
            let different = said.iter().find(|(_, about)| *about != said[0].1);
            if let Some(different) = different {
                return Err(format!("of {identity:?}, {:?} but {different:?}", said[0]));
            }
        }
        Ok(())
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.path).unwrap()
    }

    /// Whether it creates tasks of OpenMP.
    pub fn has_tasks(&self) -> bool {
        self.text().contains("#pragma omp task")
    }

    /// Whether OpenMP's runtime is known to hang in the program with so many threads, whoever looks.
    pub fn hangs_with(&self, threads: &str) -> bool {
        let text = self.text();
        let hangs = text.contains("// With five threads or more libomp 19 itself hangs");
        hangs && threads.parse::<u32>().unwrap() >= 5
    }

    /// What the program's runs promise, with these numbers of threads, each way of reducing and one team or several, and
    /// what they find: no run finds what another one says is not there.
    pub fn keep_promises(&self, executable: &Path, _: Option<&str>) -> Result<(), String> {
        let text = self.text();
        let ways = |clause: &str, name, ways: &[&'static str]| match text.contains(clause) {
            true => ways.iter().map(|way| vec![(name, *way)]).collect(),
            false => vec![Vec::new()],
        };
        let reductions = ways(
            "reduction(",
            "KMP_FORCE_REDUCTION",
            &["critical", "atomic", "tree"],
        );
        let teams = ways("teams", "OMP_NUM_TEAMS", &["1", "3"]);
        let mut runs = Vec::new();
        for threads in ["1", "2", "3", "5", "8"] {
            if self.hangs_with(threads) {
                continue;
            }
            for team in &teams {
                for reduction in &reductions {
                    let variables = [&team[..], reduction].concat();
                    let report = match self.run(executable, Some(threads), &[], &variables) {
                        Ok((_, report)) => report,
                        // Some programs wait for a second thread.
                        Err(what) if threads == "1" && what.contains("within a minute") => continue,
                        Err(what) => return Err(what),
                    };
                    let place = format!("{threads} threads, {variables:?}");
                    runs.push(Promise::of(&report, place, (threads, team.clone())));
                }
            }
        }
        Promise::assert_kept(&runs)
    }

    /// Runs the program under `deadheat run`; gives its report, if it ends as it should.
    fn report(
        &self,
        executable: &Path,
        threads: Option<&str>,
        options: &[&str],
    ) -> Result<Value, String> {
        self.report_in(executable, threads, options, &[])
    }

    /// The same with these variables in its environment.
    fn report_in(
        &self,
        executable: &Path,
        threads: Option<&str>,
        options: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<Value, String> {
        let (status, report) = self.run(executable, threads, options, variables)?;
        let expected = if self.is_racy() { 66 } else { 0 };
        match status.code() == Some(expected) {
            true => Ok(report),
            false => Err(format!("{status}, expected {expected}: {report}")),
        }
    }

    /// Runs the program under `deadheat run`; gives how that ends, and its report.
    fn run(
        &self,
        executable: &Path,
        threads: Option<&str>,
        options: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<(ExitStatus, Value), String> {
        let json = PathBuf::from(format!("{}.json", executable.display()));
        let mut run = deadheat();
        run.arg("run")
            .arg(format!("--json={}", json.display()))
            .args(options)
            .arg("--")
            .args(words("DEADHEAT_CORPUS_UNDER"))
            .arg(executable)
            .envs(threads.map(|threads| ("OMP_NUM_THREADS", threads)))
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .envs(variables.iter().copied());
        let status = end(run)?;
        let report = std::fs::read_to_string(&json).unwrap_or_default();
        let report: Value = serde_json::from_str(&report)
            .map_err(|error| format!("{status}, no report: {error}"))?;
        Ok((status, report))
    }

    fn races_of(&self, races: &Value) -> Vec<Expected> {
        let races = races.as_array().unwrap().iter();
        races.map(|race| self.found(race)).collect()
    }

    fn is_right(&self, race: &Expected) -> bool {
        self.races.iter().any(|expected| expected.fits(race))
    }

    fn compare(&self, found: &[Expected]) -> Result<(), String> {
        let is_found = |expected: &Expected| found.iter().any(|race| expected.fits(race));
        let right = found.iter().all(|race| self.is_right(race));
        match right && self.races.iter().all(is_found) {
            true => Ok(()),
            false => Err(format!("expected {:?}, found {found:?}", self.races)),
        }
    }

    /// Records the program: the traces of its processes lie in a directory then.
    fn make_recording(
        &self,
        executable: &Path,
        threads: Option<&str>,
        directory: &Path,
    ) -> Result<(), String> {
        let mut record = deadheat();
        record
            .args(["record", "-o"])
            .arg(directory.join("run.dht"))
            .arg("--")
            .args(words("DEADHEAT_CORPUS_UNDER"))
            .arg(executable)
            .envs(threads.map(|threads| ("OMP_NUM_THREADS", threads)))
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        let status = end(record)?;
        match status.code() {
            Some(0) => Ok(()),
            _ => Err(format!("{status}, expected 0")),
        }
    }

    /// Records the program and judges the traces of its processes: gives what races by happens-before.
    fn record(&self, executable: &Path, threads: Option<&str>) -> Result<Vec<Expected>, String> {
        let directory = tempfile::tempdir_in(executable.parent().unwrap()).unwrap();
        self.make_recording(executable, threads, directory.path())?;
        let mut found = Vec::new();
        for trace in std::fs::read_dir(directory.path()).unwrap() {
            let mut analyze = deadheat();
            analyze.args(["analyze", "--engine", "hb,m2", "--json"]);
            let output = analyze.arg(trace.unwrap().path()).output().unwrap();
            let error = String::from_utf8_lossy(&output.stderr);
            if error.contains("no events") {
                continue;
            }
            let reports = String::from_utf8(output.stdout).unwrap();
            let reports: Vec<Value> = reports
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            let [happened, predicted] = &reports[..] else {
                return Err(format!("the trace cannot be judged: {error}"));
            };
            let races = |report: &Value| -> Vec<Expected> {
                let races = report["races"].as_array().unwrap().iter();
                races.map(|race| self.found_in_trace(race)).collect()
            };
            found.extend(races(happened));
            if let Some(wrong) = races(predicted).iter().find(|race| !self.is_right(race)) {
                return Err(format!("predicted {wrong:?}, which cannot be"));
            }
        }
        Ok(found)
    }

    /// What a report on a trace says of one race.
    fn found_in_trace(&self, race: &Value) -> Expected {
        let line = |access: &Value| {
            let place = access["loc"].as_str().unwrap();
            let place = place.strip_prefix("near ").unwrap_or(place);
            let mut parts = place.rsplit('/').next().unwrap().split(':');
            let own = parts.next() == Some(&self.name());
            let line = parts.next().and_then(|line| line.parse().ok());
            line.filter(|_| own).unwrap_or(0)
        };
        let mut lines = [line(&race["first"]), line(&race["second"])];
        lines.sort();
        // What is on a stack has a name while the program runs only.
        let variable = match variable(race) {
            name if name.starts_with("stack of ") => ON_A_STACK.to_string(),
            name => name,
        };
        Expected { variable, lines }
    }

    /// What a report says of one race: the variable, and the line of the innermost frames in this file.
    fn found(&self, race: &Value) -> Expected {
        let line = |access: &Value| {
            let stack = access["stack"].as_array().unwrap();
            let mut own = stack.iter().filter(|frame| {
                let file = frame["file"].as_str().unwrap_or_default();
                file.ends_with(&format!("/{}", self.name())) || file == self.name()
            });
            own.next()
                .and_then(|frame| frame["line"].as_u64())
                .unwrap_or(0)
        };
        let mut lines = [line(&race["first"]), line(&race["second"])];
        lines.sort();
        let variable = match variable(race) {
            // gfortran copies what a region shares to a place that has no name.
            name if self.is_fortran() && name.starts_with("stack of ") => ON_A_STACK.to_string(),
            name => name,
        };
        Expected { variable, lines }
    }
}

/// What a run promises, and whether it found a race.
pub struct Promise<S> {
    /// How the program was run, and on what its iterations' places depend: the numbers of threads and teams.
    place: String,
    setting: S,
    scope: String,
    race: Option<String>,
}

impl<S: PartialEq> Promise<S> {
    pub fn of(report: &Value, place: String, setting: S) -> Promise<S> {
        let races = report["races"].as_array().unwrap();
        Promise {
            place,
            setting,
            scope: report["scope"].as_str().unwrap().to_string(),
            race: races.first().map(Value::to_string),
        }
    }

    /// A run without race says that no run has one, or no run with so many threads and teams: none has.
    pub fn assert_kept(runs: &[Promise<S>]) -> Result<(), String> {
        for clean in runs.iter().filter(|run| run.race.is_none()) {
            let covers = |other: &&Promise<S>| match clean.scope.as_str() {
                "threads" => true,
                "schedules" => clean.setting == other.setting,
                _ => false,
            };
            let racy = runs.iter().filter(covers).find(|run| run.race.is_some());
            if let Some(racy) = racy {
                return Err(format!(
                    "with {}, no race, scope `{}`; but with {}: {:?}",
                    clean.place, clean.scope, racy.place, racy.race
                ));
            }
        }
        Ok(())
    }
}

/// Stands for any variable on a stack.
const ON_A_STACK: &str = "(on a stack)";

impl Expected {
    /// From `race on VARIABLE, lines N and M`.
    fn read(text: &str) -> Option<Expected> {
        let (variable, lines) = text.strip_prefix("race on ")?.rsplit_once(", lines ")?;
        let (first, second) = lines.split_once(" and ")?;
        let mut lines = [first.parse().ok()?, second.parse().ok()?];
        lines.sort();
        Some(Expected {
            variable: variable.to_string(),
            lines,
        })
    }

    /// An expected variable with a member, element or offset must have it; one without may.
    fn fits(&self, found: &Expected) -> bool {
        let mut parts = found.variable.split(['+', '.', '[', '%', '(']);
        let whole = parts.next().unwrap();
        let same = self.variable == "*"
            || self.variable == found.variable
            || self.variable == whole
            || found.variable == ON_A_STACK;
        same && self.lines == found.lines
    }
}

/// The variable of a race. Blocks of the heap have numbers in traces.
fn variable(race: &Value) -> String {
    let variable = race["variable"].as_str().unwrap();
    let rest = variable.strip_prefix("heap block ");
    match rest.and_then(|rest| rest.split_once(' ')) {
        Some((number, of)) if number != "of" => format!("heap block {of}"),
        _ => variable.to_string(),
    }
}

/// What a report says of a race but for what differs from run to run: which threads, which element, which block.
fn about(race: &Value) -> [String; 3] {
    let without_numbers = |text: &Value| -> String {
        let text = text.as_str().unwrap_or_default();
        let digits = text
            .chars()
            .map(|c| if c.is_ascii_digit() { '0' } else { c });
        let mut text: String = digits.collect();
        while text.contains("00") {
            text = text.replace("00", "0");
        }
        for thread in ["main", "T0", "thread 0"] {
            text = text.replace(thread, "T");
        }
        text
    };
    let rule = match race["rule"].as_str() {
        Some("use-after-free") => "use after free",
        _ => "race",
    };
    let [mut variable, remedy] = [&race["variable"], &race["remedy"]].map(without_numbers);
    // What has no name is called by where it lies.
    if variable.starts_with("memory at") || variable.starts_with("mapped memory") {
        variable = "memory".to_string();
    }
    // The creators of tasks, and which lock a `mutexinoutset` is, differ from pair to pair.
    let is_about_creators = remedy.contains("creator");
    let remedy = match is_about_creators {
        true => "let creators wait".to_string(),
        false => remedy.replace("mutexinoutset 0", "mutexinoutset"),
    };
    [variable, rule.to_string(), remedy]
}

/// Whether an access is part of what OpenMP hands to the threads of a team piece by piece.
fn is_piece(access: &Value) -> bool {
    let task = access["task"].as_str().unwrap_or_default();
    ["iteration", "a section", "the single block"]
        .iter()
        .any(|piece| task.starts_with(piece))
}

/// Runs a command to its end, which must come within a minute.
fn end(mut command: Command) -> Result<ExitStatus, String> {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    // With what it starts: a program that spins would go on for ever.
    let mut child = command.process_group(0).spawn().unwrap();
    let group = format!("-{}", child.id());
    let start = Instant::now();
    loop {
        match child.try_wait().unwrap() {
            Some(status) => return Ok(status),
            None if start.elapsed() > Duration::from_secs(60) => {
                let mut kill = Command::new("kill");
                assert!(
                    kill.args(["-KILL", "--", &group])
                        .status()
                        .unwrap()
                        .success()
                );
                child.wait().unwrap();
                return Err("it has not ended within a minute".to_string());
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}

/// Whether `deadheat cc` and `deadheat c++` with this compiler are well with these arguments.
pub fn compiles(compiler: &str, arguments: &[&str]) -> bool {
    ["cc", "c++"].iter().all(|language| {
        let mut command = deadheat();
        command.arg(language).arg(format!("--with={compiler}"));
        let output = command.args(arguments).output();
        output.is_ok_and(|output| output.status.success())
    })
}

/// A compiler with an OpenMP runtime that tells of its tasks, if there is one.
pub fn openmp_compiler() -> Option<&'static str> {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("region.c");
    std::fs::write(&source, "#include <omp.h>\nint main(void) { return 0; }\n").unwrap();
    let executable = directory.path().join("region");
    let arguments = ["-xc", "-fopenmp", "-o"].map(str::to_string).into_iter();
    let paths = [executable, source].map(|path| path.display().to_string());
    let arguments: Vec<String> = arguments.chain(paths).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut names = ["clang-19", "clang"].into_iter();
    names.find(|name| compiles(name, &arguments))
}

/// The Fortran compilers that build OpenMP programs here.
pub fn fortran_compilers() -> Vec<&'static str> {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("region.f90");
    std::fs::write(&source, "program region\nuse omp_lib\nend program\n").unwrap();
    let builds = |name: &&str| {
        let mut command = deadheat();
        command.args(["fc", &format!("--with={name}"), "-fopenmp"]);
        command
            .arg(&source)
            .arg("-o")
            .arg(directory.path().join("region"));
        command.output().is_ok_and(|output| output.status.success())
    };
    let mut names = vec!["flang-new-19", "gfortran"];
    names.retain(builds);
    names
}

/// This command.
pub fn deadheat() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deadheat"));
    for variable in ["DEADHEAT_CC", "DEADHEAT_CXX", "DEADHEAT_FC"] {
        command.env_remove(variable);
    }
    command
}

/// The words in a variable of the environment.
fn words(variable: &str) -> Vec<String> {
    let text = std::env::var(variable).unwrap_or_default();
    text.split_whitespace().map(str::to_string).collect()
}

/// Builds an OpenMP program.
pub fn build_openmp(compiler: &str, optimised: &str, source: &Path, executable: &Path) {
    let built = deadheat()
        .arg("cc")
        .arg(format!("--with={compiler}"))
        .args([optimised, "-fopenmp"])
        .arg(source)
        .arg("-o")
        .arg(executable)
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
}

/// The report of a run with so many threads, whatever it finds.
pub fn run_openmp(executable: &Path, threads: usize) -> Value {
    let json = executable.with_extension("json");
    let run = deadheat()
        .args(["run", "--quiet", "--error-exitcode", "0"])
        .arg(format!("--json={}", json.display()))
        .arg("--")
        .arg(executable)
        .env("OMP_NUM_THREADS", threads.to_string())
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}: {}",
        run.status,
        String::from_utf8_lossy(&run.stderr)
    );
    serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap()
}
