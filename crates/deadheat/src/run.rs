//! `deadheat run`: a C or C++ program, checked while it runs.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use deadheat_explain::remedy;
use deadheat_native::{
    Findings, FindingsError, Launch, LaunchError, Outcome, Process, Program, Suppressions, Survey,
    findings_files, launch,
};
use deadheat_report::{Chapter, Filter, RunReport, Sources, finding, leave_out_known};
use thiserror::Error;

use crate::Verdict;
use crate::illustration::illustrate;
use crate::mistaken::advice;

/// What is to be run, and how.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The program.
    pub program: Program,
    /// Whether races are shown as soon as they are found.
    pub live: bool,
}

/// Why a program could not be run or its findings not be read.
#[derive(Debug, Error)]
pub enum RunError {
    /// The program could not be started.
    #[error("{0}{advice}", advice = advice(.0))]
    Launch(#[from] LaunchError),
    /// What it found cannot be read.
    #[error(transparent)]
    Findings(#[from] FindingsError),
}

/// A program that has run.
pub struct ProgramRun {
    /// How it ended.
    outcome: Outcome,
    program: String,
    /// The files that it is about.
    pub sources: Sources,
    /// What was found; nothing if the program was not built to be checked.
    pub report: Option<RunReport>,
    /// How many races were shown while it ran.
    shown: usize,
}

impl ProgramRun {
    /// The program's own exit status.
    pub fn status(&self) -> u8 {
        self.outcome.code()
    }

    /// Whether there was a race.
    pub fn has_race(&self) -> bool {
        let report = self.report.as_ref();
        report.is_some_and(|report| !report.survey.findings.is_empty())
    }

    /// Why nothing is known, if there was no room to write races down and none was.
    pub fn loss(&self) -> Option<String> {
        let report = self.report.as_ref()?;
        (report.survey.full.is_some() && !self.has_race()).then(|| report.guarantee())
    }
}

impl Verdict for ProgramRun {
    type Report = RunReport;

    fn reports(&self) -> &[RunReport] {
        self.report.as_slice()
    }

    /// Without the races that were shown while the program ran.
    fn text(&self, most: usize) -> String {
        let report = self.report.as_ref();
        report.map_or(String::new(), |report| {
            report.text(&self.sources, self.shown, most)
        })
    }

    fn warning(&self) -> Option<String> {
        self.sources.newer_than(Path::new(&self.program))
    }

    fn chapter(&self) -> Chapter<'_> {
        let report = self.report.as_ref();
        let guarantees = report.map(RunReport::guarantee).into_iter().collect();
        let findings = report.into_iter().flat_map(RunReport::findings);
        Chapter::new(self.program.clone(), findings, guarantees, &self.sources)
    }

    fn illustrated(&self) -> Chapter<'_> {
        let mut chapter = self.chapter();
        illustrate(&mut chapter, |_| None);
        chapter
    }
}

/// Runs a program built by `deadheat cc` or `deadheat c++`; `show` gets races as they are found, if that
/// is asked for.
pub fn run(
    options: &RunOptions,
    filter: &Filter,
    show: &mut dyn FnMut(&str),
) -> Result<ProgramRun, RunError> {
    let nothing = Suppressions::default();
    let suppressions = filter.suppressions.as_ref().unwrap_or(&nothing);
    let what = Launch {
        program: options.program.clone(),
        environment: Vec::new(),
        room: None,
    };
    let mut live = Live::default();
    let mut meanwhile = |path: &Path| live.show_new(path, suppressions, filter, show);
    let outcome = match options.live {
        true => launch(&what, Some(&mut meanwhile))?,
        false => launch(&what, None)?,
    };
    let mut ran = ProgramRun {
        outcome,
        program: options.program.path.to_string_lossy().into_owned(),
        sources: live.sources,
        report: None,
        shown: live.shown,
    };
    if !ran.outcome.files.is_empty() {
        let findings = Findings::read(&ran.outcome.files)?;
        let mut survey = Survey::new(&findings, suppressions, &ran.sources);
        for finding in &mut survey.findings {
            finding.remedy = remedy(finding);
        }
        let no_room = "a full disk below TMPDIR, or a limit on the size of files";
        survey.full = ran.outcome.full.then_some(no_room);
        survey.left_behind = ran.outcome.left_behind;
        leave_out_known(&mut survey, filter);
        ran.report = Some(RunReport::of_run(survey));
    }
    Ok(ran)
}

/// Follows the files of findings while the program writes them.
#[derive(Default)]
struct Live {
    files: Vec<(PathBuf, u64, Process)>,
    survey: Survey,
    sources: Sources,
    /// How many races of the survey were looked at.
    seen: usize,
    /// How many of them were shown.
    shown: usize,
}

impl Live {
    fn show_new(
        &mut self,
        path: &Path,
        suppressions: &Suppressions,
        filter: &Filter,
        show: &mut dyn FnMut(&str),
    ) {
        for file in findings_files(path) {
            if !self.files.iter().any(|(known, ..)| *known == file) {
                self.files.push((file, 0, Process::default()));
            }
        }
        for (path, taken, process) in &mut self.files {
            let mut content = Vec::new();
            let read = File::open(path).and_then(|mut file| {
                file.seek(SeekFrom::Start(*taken))?;
                file.read_to_end(&mut content)
            });
            if read.is_ok() {
                let before = process.races.len();
                *taken += process.take(&content) as u64;
                self.survey
                    .add(process, before, suppressions, &self.sources);
            }
        }
        let mut known = filter.start();
        for found in &mut self.survey.findings[self.seen..] {
            found.remedy = remedy(found);
            if !filter.knows(found, &mut known) {
                show(&finding(found, &self.sources));
                self.shown += 1;
            }
        }
        self.seen = self.survey.findings.len();
    }
}
