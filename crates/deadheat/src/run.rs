//! `deadheat run`: a C or C++ program, checked while it runs.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use deadheat_native::{
    Findings, FindingsError, Launch, LaunchError, NativeRace, Outcome, Process, Program,
    Suppressions, Survey, findings_files, launch,
};
use deadheat_report::{
    Chapter, Excerpts, Filter, Graph, RunReport, Sources, identity, leave_out_known, native_entries,
};
use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::Verdict;
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
    survey: Survey,
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
        !self.survey.races.is_empty()
    }

    /// Why nothing is known, if there was no room to write races down and none was.
    pub fn loss(&self) -> Option<String> {
        let report = self.report.as_ref();
        let report = report.filter(|_| self.survey.full.is_some() && !self.has_race())?;
        Some(report.guarantee.clone())
    }
}

impl Verdict for ProgramRun {
    type Report = RunReport;

    fn reports(&self) -> &[RunReport] {
        self.report.as_slice()
    }

    /// Without the races that were shown while the program ran.
    fn text(&self, most: usize) -> String {
        let excerpts = Excerpts::new(&self.sources);
        let report = self.report.as_ref();
        report.map_or(String::new(), |report| {
            excerpts.text(&self.survey, report, self.shown, most)
        })
    }

    fn warning(&self) -> Option<String> {
        self.sources.newer_than(Path::new(&self.program))
    }

    fn chapter(&self) -> Chapter<'_> {
        let report = self.report.as_ref();
        let engine = report.map_or("", |report| report.engine);
        let entries = native_entries(&self.survey.races, engine, &self.sources);
        let guarantee = report.map(|report| report.guarantee.clone());
        let guarantees = guarantee.into_iter().collect();
        Chapter::new(self.program.clone(), entries, guarantees, &self.sources)
    }

    fn illustrated(&self) -> Chapter<'_> {
        let mut chapter = self.chapter();
        let races = self.survey.races.iter();
        let races = races.map(|race| (identity(race, &self.sources), race));
        let races: FxHashMap<String, &NativeRace> = races.collect();
        for entry in &mut chapter.entries {
            let race = races.get(&entry.fingerprint);
            entry.graph = race.map(|race| Graph::of_program(race));
        }
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
        survey: Survey::default(),
        program: options.program.path.to_string_lossy().into_owned(),
        sources: live.sources,
        report: None,
        shown: live.shown,
    };
    if !ran.outcome.files.is_empty() {
        let findings = Findings::read(&ran.outcome.files)?;
        ran.survey = Survey::new(&findings, suppressions);
        let no_room = "a full disk below TMPDIR, or a limit on the size of files";
        ran.survey.full = ran.outcome.full.then_some(no_room);
        ran.survey.left_behind = ran.outcome.left_behind;
        leave_out_known(&mut ran.survey, filter, &ran.sources);
        ran.report = Some(RunReport::new(&ran.survey, &ran.sources));
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
                self.survey.add(process, before, suppressions);
            }
        }
        let mut known = filter.start();
        for race in &self.survey.races[self.seen..] {
            if !filter.knows(&identity(race, &self.sources), &mut known) {
                show(&Excerpts::new(&self.sources).race(race));
                self.shown += 1;
            }
        }
        self.seen = self.survey.races.len();
    }
}
