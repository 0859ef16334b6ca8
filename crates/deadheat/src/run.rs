//! `deadheat run`: a C or C++ program, checked while it runs.

use std::path::Path;

use deadheat_explain::remedy;
use deadheat_native::{
    Findings, FindingsError, Launch, LaunchError, Letters, Mailbox, Outcome, Program, Suppressions,
    Survey, launch,
};
use deadheat_report::{Chapter, Filter, RunReport, Sources, finding, leave_out_known};
use rustc_hash::FxHashMap;
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
    /// What was found.
    pub report: RunReport,
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
        !self.report.survey.findings.is_empty()
    }

    /// Whether some of what was found could not be written down.
    pub fn is_full(&self) -> bool {
        self.report.survey.full.is_some()
    }
}

impl Verdict for ProgramRun {
    type Report = RunReport;

    fn reports(&self) -> &[RunReport] {
        std::slice::from_ref(&self.report)
    }

    /// Without the races that were shown while the program ran.
    fn text(&self, most: usize) -> String {
        self.report.text(&self.sources, self.shown, most)
    }

    fn warning(&self) -> Option<String> {
        self.sources.newer_than(Path::new(&self.program))
    }

    fn chapter(&self) -> Chapter<'_> {
        let (program, report) = (self.program.clone(), &self.report);
        Chapter::new(
            program,
            report.findings(),
            vec![report.guarantee()],
            &self.sources,
        )
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
        tapes: None,
    };
    let mut live = Live::default();
    let mut meanwhile = |mailbox: &Mailbox| live.show_new(mailbox, suppressions, filter, show);
    let outcome = match options.live {
        true => launch(&what, Some(&mut meanwhile))?,
        false => launch(&what, None)?,
    };
    let findings = Findings::read(&outcome.mailbox)?;
    let mut survey = Survey::new(&findings, suppressions, &live.sources);
    for finding in &mut survey.findings {
        finding.remedy = remedy(finding);
    }
    let full = outcome.mailbox.is_full();
    survey.full = full.then_some("its findings take more than a gigabyte");
    survey.left_behind = outcome.left_behind;
    survey.waiting = findings.waiting(&outcome.waiters);
    survey.unchecked = findings.unchecked(&options.program.path);
    leave_out_known(&mut survey, filter);
    Ok(ProgramRun {
        outcome,
        program: options.program.path.to_string_lossy().into_owned(),
        sources: live.sources,
        report: RunReport::of_run(survey),
        shown: live.shown,
    })
}

/// Follows the findings while the program delivers them.
#[derive(Default)]
struct Live {
    letters: Letters,
    /// How many races of each process, by its stream, are in the survey.
    taken: FxHashMap<u64, usize>,
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
        mailbox: &Mailbox,
        suppressions: &Suppressions,
        filter: &Filter,
        show: &mut dyn FnMut(&str),
    ) {
        self.letters.take(mailbox);
        for process in self.letters.processes() {
            let taken = self.taken.entry(process.stream).or_default();
            self.survey
                .add(process, *taken, suppressions, &self.sources);
            *taken = process.races.len();
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
