//! The engines there are, what each can order, and which one fits.
//!
//! Each engine's file has a constant with its facts and the function that judges; the table here has a
//! line for each. The choice of a default, `--help`, the comparison, the sentence that says what a verdict
//! proves and the table in the docs are derived from it.

use std::fmt;

use deadheat_model::finding::Rule;
use deadheat_model::{Construct, EventNumber, Execution, Findings, StopToken};
use deadheat_order::Full;
use deadheat_trace::TraceError;
use thiserror::Error;

use crate::m2::decide::Budget;
use crate::survey::{Recording, Survey};
use crate::threads::{self, ImpossibleEvent, hb};
use crate::{esp_bags, graph, m2, replay, zipper};

/// Every engine: the one to be preferred first, among those that can order what a program uses.
pub static ENGINES: &[&Engine] = &[
    &replay::spd3::ENGINE,
    &esp_bags::ENGINE,
    &replay::drdp::ENGINE,
    &zipper::ENGINE,
    &threads::hb::ENGINE,
    &threads::fasttrack::ENGINE,
    &threads::shb::ENGINE,
    &threads::wcp::ENGINE,
    &threads::dc::ENGINE,
    &m2::ENGINE,
    &threads::eraser::ENGINE,
    &graph::ENGINE,
];

/// What can judge an execution.
pub struct Engine {
    /// What users call it.
    pub name: &'static str,
    /// What it does and what that is worth, in a line.
    pub summary: &'static str,
    /// The constructs whose order it knows.
    pub orders: &'static [Construct],
    /// What its races are worth.
    pub worth: Worth,
    /// What it costs, in a line.
    pub cost: &'static str,
    /// Whether it needs the whole execution in memory.
    pub in_memory: bool,
    /// Judges an execution that has been surveyed and that it can order.
    pub judge: fn(&mut Survey, &Options) -> Result<Findings, EngineError>,
}

/// What an engine's races are worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Worth {
    /// A location is reported if and only if the execution's own order leaves two conflicting accesses
    /// to it unordered. Where no schedule can change that order, it holds for every schedule.
    Exact,
    /// The first of them can happen; a later one may be there only because of what the first did.
    FirstIsReal,
    /// The first of them can happen, or else a deadlock can.
    FirstIsRealOrDeadlock,
    /// Every one of them can happen.
    AllAreReal,
    /// Every one of them comes with a witness.
    AllAreShown,
    /// Every one of them comes with a witness, and what is neither shown nor undecided is no race.
    AllAreDecided,
    /// None of them need be possible: their variables lack this.
    Suspects(&'static str),
}

impl Worth {
    /// Whether each race comes with a witness.
    pub fn is_shown(self) -> bool {
        matches!(self, Worth::AllAreShown | Worth::AllAreDecided)
    }

    /// What a finding of it is called.
    pub fn rule(self) -> Rule {
        match self {
            Worth::Suspects(_) => Rule::Suspect,
            worth if worth.is_shown() => Rule::PredictedRace,
            _ => Rule::Race,
        }
    }

    /// Whether each race can happen.
    pub fn is_real(self) -> bool {
        self == Worth::AllAreReal || self.is_shown()
    }
}

/// How races are listed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Listing {
    /// One for each pair of places in the source.
    #[default]
    Places,
    /// One for each location and pair of places.
    Locations,
    /// Every pair of events. Engines that are exact list locations and pairs of places.
    Pairs,
}

/// What is asked of an engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// How races are listed.
    pub listing: Listing,
    /// What a prediction leaves open is decided by exact search, within these bounds.
    pub complete: Option<Budget>,
}

/// How far the work has got: done and all.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);

impl Options {
    /// Whether every pair of events is listed.
    pub fn all_pairs(&self) -> bool {
        self.listing == Listing::Pairs
    }

    /// How many pairs of events are kept for each that is listed.
    pub(crate) fn kept(&self) -> usize {
        if self.all_pairs() { usize::MAX } else { 1 }
    }
}

impl Engine {
    /// The engine of a name.
    pub fn named(name: &str) -> Option<&'static Engine> {
        ENGINES.iter().copied().find(|engine| engine.name == name)
    }

    /// Whether it knows what a construct orders.
    pub fn orders(&self, construct: Construct) -> bool {
        self.orders.contains(&construct)
    }

    /// Whether it knows what every construct orders.
    pub fn orders_everything(&self) -> bool {
        Construct::ALL
            .iter()
            .all(|&construct| self.orders(construct))
    }

    /// The engine that judges a run with these constructs exactly, as it was.
    pub fn fitting(constructs: &[Construct]) -> &'static Engine {
        let fits = |engine: &&&Engine| constructs.iter().all(|&c| engine.orders(c));
        ENGINES.iter().find(fits).copied().unwrap_or(&hb::ENGINE)
    }

    /// The engine that says most about an execution with these constructs: one that speaks for every
    /// schedule, if a program of tasks leaves nothing to the schedule; otherwise the one that predicts.
    pub fn strongest(constructs: &[Construct]) -> &'static Engine {
        use Construct::{Async, Finish, Future, Promise};
        let tasks = |c: &Construct| matches!(c, Async | Finish | Future | Promise);
        let fitting = Engine::fitting(constructs);
        let for_every_schedule = fitting.worth == Worth::Exact && speak_for_all(constructs);
        match constructs.iter().any(tasks) && for_every_schedule {
            true => fitting,
            false => &m2::ENGINE,
        }
    }

    /// Judges an execution that has been surveyed.
    pub fn judge(&self, survey: &mut Survey, options: &Options) -> Result<Findings, EngineError> {
        let constructs = survey.constructs();
        if let Some(&construct) = constructs.iter().find(|&&c| !self.orders(c)) {
            return Err(EngineError::CannotOrder {
                engine: self.name,
                number: survey.first_use(construct),
                construct,
                instead: Engine::fitting(&constructs).name,
            });
        }
        if let Some(why) = survey.stop.due() {
            survey.cut_short(why);
            let mut findings = Findings::default();
            findings.cut_short(why, 0);
            return Ok(findings);
        }
        let mut findings = (self.judge)(survey, options)?;
        if let Some(why) = survey.stopped {
            findings.cut_short(why, survey.judged);
        }
        if self.worth == Worth::Exact {
            findings.exhaustive = findings.all_listed && speak_for_all(&constructs);
            if options.listing == Listing::Places {
                findings.by_places();
            }
        }
        Ok(findings)
    }

    /// Surveys and judges an execution.
    pub fn ask(&self, recording: Recording, options: &Options) -> Result<Findings, EngineError> {
        self.ask_until(recording, options, StopToken::default())
    }

    fn ask_until(
        &self,
        recording: Recording,
        options: &Options,
        stop: StopToken,
    ) -> Result<Findings, EngineError> {
        let mut survey = Survey::new(recording, &|_, _| {}, stop)?;
        self.judge(&mut survey, options)
    }

    /// Judges an execution in memory, one race for each location and pair of places.
    pub fn check(&self, execution: &Execution) -> Result<Findings, EngineError> {
        self.check_until(execution, StopToken::default())
    }

    /// The same, until it is stopped.
    pub fn check_until(
        &self,
        execution: &Execution,
        stop: StopToken,
    ) -> Result<Findings, EngineError> {
        let options = Options {
            listing: Listing::Locations,
            ..Options::default()
        };
        self.ask_until(Recording::InMemory(execution), &options, stop)
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Engine {
    fn eq(&self, other: &Engine) -> bool {
        self.name == other.name
    }
}

/// Whether what these constructs order in one schedule, they order in every schedule.
pub fn speak_for_all(constructs: &[Construct]) -> bool {
    let mut constructs = constructs.iter();
    constructs.all(|construct| construct.orders_alike_in_every_schedule())
}

/// Why an engine cannot judge an execution.
#[derive(Debug, Error)]
pub enum EngineError {
    /// It does not know what a construct orders.
    #[error("event {number}: the engine {engine} cannot order `{}`; {instead} can", construct.word())]
    CannotOrder {
        /// The engine.
        engine: &'static str,
        /// Which event, from 1.
        number: EventNumber,
        /// What it belongs to.
        construct: Construct,
        /// An engine that can.
        instead: &'static str,
    },
    /// No program could have produced the execution.
    #[error(transparent)]
    ImpossibleEvent(#[from] ImpossibleEvent),
    /// It could not be read.
    #[error(transparent)]
    Unreadable(#[from] TraceError),
    /// It has more events, or names, than there are numbers for.
    #[error("the execution has more {what} than the engine {engine} has numbers for")]
    TooLong {
        /// The engine.
        engine: &'static str,
        /// Events, variables or locks.
        what: &'static str,
    },
    /// There are more tasks than numbers for them.
    #[error(transparent)]
    Full(#[from] Full),
}

impl EngineError {
    /// Whether another engine may be able to judge the execution.
    pub fn is_of_this_engine(&self) -> bool {
        !matches!(
            self,
            EngineError::ImpossibleEvent(_) | EngineError::Unreadable(_)
        )
    }
}
