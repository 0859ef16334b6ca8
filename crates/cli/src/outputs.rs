//! Where reports go, in which form, and which findings they leave out: the same options for every command.
//!
//! The text goes where people read it, standard output or, for a program that runs, standard error. Every other form has one
//! grammar, `--json[=FILE]`: without a file it takes standard output, and the text's place there.

use std::ffi::{OsStr, OsString};
use std::io::{BufWriter, Result as WriteResult, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use deadheat::Verdict;
use deadheat::report::{Chapter, Filter, page, sarif};
use serde::Serialize;

use crate::output::{print, print_with, warn_of, written};

/// Where a report goes.
#[derive(Clone, PartialEq, Eq)]
enum Destination {
    StandardOutput,
    File(PathBuf),
}

impl From<OsString> for Destination {
    fn from(name: OsString) -> Destination {
        match name == "-" {
            true => Destination::StandardOutput,
            false => Destination::File(name.into()),
        }
    }
}

impl Destination {
    /// Writes a report, piece by piece; says whether that worked.
    fn write(&self, pieces: impl FnOnce(&mut dyn Write) -> WriteResult<()>) -> bool {
        match self {
            Destination::StandardOutput => {
                print_with(BufWriter::new(std::io::stdout().lock()), pieces)
            }
            Destination::File(path) => written(path, pieces),
        }
    }
}

/// The result of a command as JSON.
#[derive(Args)]
pub struct JsonOutput {
    /// Write the result as JSON, one object per line, to FILE, or to standard output if no FILE is given
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    json: Option<Destination>,
}

impl JsonOutput {
    /// Writes the JSON, if it is wanted; says whether that worked.
    pub fn write<'r, T: Serialize + 'r>(
        &self,
        command: &str,
        reports: impl IntoIterator<Item = &'r T>,
    ) -> bool {
        self.json
            .as_ref()
            .is_none_or(|to| to.write(|file| deadheat::report::json(command, reports, file)))
    }

    /// Prints the text and writes the JSON; says whether that worked.
    #[must_use]
    pub fn deliver<'r, T: Serialize + 'r>(
        &self,
        quiet: bool,
        command: &str,
        reports: impl IntoIterator<Item = &'r T>,
        text: impl FnOnce() -> String,
    ) -> bool {
        let is_taken = self.json == Some(Destination::StandardOutput);
        let printed = quiet || is_taken || print(&text());
        self.write(command, reports) && printed
    }
}

/// Where findings go besides the terminal, and which of them count.
#[derive(Args)]
#[command(next_help_heading = "Reports")]
pub struct Outputs {
    #[command(flatten)]
    json: JsonOutput,

    /// Write the findings as SARIF 2.1.0, for code scanning services and editors, to FILE, or to standard output if no FILE is
    /// given
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    sarif: Option<Destination>,

    /// Write a self-contained HTML report to FILE, or to standard output if no FILE is given
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    html: Option<Destination>,

    /// Leave out the findings in FILE, which an earlier run wrote with --json or --sarif; the others decide the exit status
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// Leave out the races that the rules in FILE match; ThreadSanitizer's format works, too
    #[arg(long, value_name = "FILE")]
    suppress: Vec<PathBuf>,
}

impl Outputs {
    fn destinations(&self) -> [(&'static str, Option<&Destination>); 3] {
        [
            ("--json", self.json.json.as_ref()),
            ("--sarif", self.sarif.as_ref()),
            ("--html", self.html.as_ref()),
        ]
    }

    /// The options whose reports go to standard output.
    fn to_standard_output(&self) -> impl Iterator<Item = &'static str> {
        let all = self.destinations().into_iter();
        let there = all.filter(|(_, to)| *to == Some(&Destination::StandardOutput));
        there.map(|(option, _)| option)
    }

    /// Whether the options contradict each other, or leave the name of a report among the command's `inputs`: `--html page.html`.
    pub fn check<'i>(&self, inputs: impl IntoIterator<Item = &'i Path>) -> Result<(), String> {
        let mut printed = self.to_standard_output();
        let Some(option) = printed.next() else {
            return Ok(());
        };
        if let Some(other) = printed.next() {
            return Err(format!(
                "{option} and {other} cannot both go to standard output: give one of them a file, as in `{other}=FILE`"
            ));
        }
        match inputs.into_iter().find(|path| is_report(path)) {
            Some(file) => Err(misplaced(option, file)),
            None => Ok(()),
        }
    }

    /// The same for a program and its arguments. Words before `--` are no program.
    pub fn check_program(&self, command: &[OsString]) -> Result<(), String> {
        let program = command.first().map(Path::new);
        self.check(program)?;
        let is_before_dashes = command.get(1).is_some_and(|word| word == "--");
        match (self.to_standard_output().next(), program) {
            (Some(option), Some(file)) if is_before_dashes => Err(misplaced(option, file)),
            _ => Ok(()),
        }
    }

    /// The option that would write over the baseline.
    fn replaces_baseline(&self) -> Option<&'static str> {
        let baseline = self.baseline.as_ref()?.canonicalize().ok()?;
        let same = |to: &Destination| match to {
            Destination::StandardOutput => false,
            Destination::File(path) => path.canonicalize().is_ok_and(|path| path == baseline),
        };
        let mut all = self.destinations().into_iter();
        let same = all.find(|(_, to)| to.is_some_and(same));
        same.map(|(option, _)| option)
    }

    /// Which findings are left out.
    pub fn filter(&self) -> Result<Filter, String> {
        if let Some(option) = self.replaces_baseline() {
            return Err(format!(
                "`{option}` would replace the baseline with what is new, so that the next run finds the rest again: give it another file"
            ));
        }
        deadheat::read_filter(self.baseline.as_deref(), &self.suppress)
    }

    /// Prints verdicts and writes them in every form that was asked for; says whether that worked. What the filter left out
    /// is left out already; rules of it that matched nothing are worth a warning.
    #[must_use]
    pub fn deliver(
        &self,
        quiet: bool,
        command: &str,
        verdicts: &[impl Verdict],
        max_shown: usize,
        filter: &Filter,
    ) -> bool {
        warn_of_unused(filter, quiet);
        let is_taken = self.to_standard_output().next().is_some();
        let text = || -> String {
            let texts = verdicts.iter().map(|verdict| verdict.text(max_shown));
            texts.collect()
        };
        let printed = quiet || is_taken || print(&text());
        self.write(command, verdicts) && printed
    }

    /// Writes every form that was asked for, the page last; says whether that worked.
    pub fn write(&self, command: &str, verdicts: &[impl Verdict]) -> bool {
        let reports = verdicts.iter().flat_map(Verdict::reports);
        let json_written = self.json.write(command, reports);
        let warnings = verdicts.iter().filter_map(Verdict::warning);
        warnings.for_each(warn_of);
        let sarif_written = self.sarif.as_ref().is_none_or(|to| {
            let chapters: Vec<Chapter> = verdicts.iter().map(Verdict::chapter).collect();
            to.write(|file| sarif(&chapters, file))
        });
        let page_written = self.html.as_ref().is_none_or(|to| {
            let chapters: Vec<Chapter> = verdicts.iter().map(Verdict::illustrated).collect();
            to.write(|file| page(&chapters, file))
        });
        json_written && sarif_written && page_written
    }
}

/// Warns of rules that matched nothing: what they were written for may have another name now.
pub fn warn_of_unused(filter: &Filter, quiet: bool) {
    filter.unused().filter(|_| !quiet).iter().for_each(warn_of);
}

/// Whether a file is called as reports are, and as no input of a command that writes them.
pub fn is_report(path: &Path) -> bool {
    let kind = path.extension().and_then(OsStr::to_str);
    kind.is_some_and(|kind| ["json", "sarif", "html"].contains(&kind))
}

/// What to say of a report's name that stands behind `option` and a space.
pub fn misplaced(option: &str, file: &Path) -> String {
    let file = file.display();
    format!("`{option}` takes its file after an equals sign: write `{option}={file}`")
}
