//! Every order of `isolated` sections: is a program race-free on this input, whatever order its
//! critical sections take? (zipper, section 2.2, and the framework it is part of.)
//!
//! Simple model: run the program in every order of its sections, and look for races in each graph.
//!
//! The idea: sections that do not conflict commute. Orders that differ only in such sections behave
//! alike and form one *class*. One run for each class is enough, if its graph keeps only the edges
//! between sections that conflict. What that graph leaves unordered, some order of the class leaves
//! unordered: of two accesses, put the sections that happen before the first in front of those that
//! happen after the second, or the other way round. Only an edge between the two accesses could forbid
//! that. (Two accesses inside sections exclude each other in every order, and never race.)
//!
//! Each run leads to others by *reversing*: two sections that conflict, and that nothing else orders,
//! swap places, after all sections that do not depend on the first of them; from there the run takes
//! whatever order comes. That reaches every class, as in optimal partial order reduction.
//!
//! All this holds as long as nothing races. A program that has races can do what no order of its
//! sections makes it do. So each race is shown by a schedule that was run again and has the race. The
//! first race of a program always shows.
//!
//! It also holds only as long as nothing else than the order of sections is left to chance. Which of two
//! sets of one promise comes first, and is no error, is left to chance: a search of a program that can
//! fail and sets promises is never called complete.
//!
//! Guarantee: if the search is complete and found no race, no schedule of the program has one. A race
//! that is reported is real.
//!
//! Cost: a run of the program and a closure of its graph for each class, and for each reversal that
//! leads to a class already visited.

mod class;
mod strands;
mod witness;

use std::collections::{BTreeMap, VecDeque};

use deadheat_lang::digest::digest;
use deadheat_lang::{
    CannotFollow, Ending, Program, RecordedSchedule, Run, RuntimeError, Schedule, WaitsFor,
};
use deadheat_model::{Construct, StopToken, Strand};
use deadheat_offline::EngineError;
use rustc_hash::FxHashSet;

use self::class::Class;
use self::strands::Strands;
use self::witness::Races;
use crate::{Example, Exploration, Gap, News};

/// How many orders are visited, unless told otherwise.
pub const DEFAULT_MAX_ORDERS: u64 = 10_000;

/// How many times as many orders as may be visited are tried, or kept for later: many lead to the same
/// class.
const RUNS_PER_ORDER: u64 = 4;

/// How many sections all orders that are kept for later may have together.
const MAX_PENDING_SECTIONS: usize = 50_000_000;

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct SectionOptions {
    /// How many steps each run may take.
    pub max_steps: u64,
    /// How many orders to visit at most.
    pub max_orders: u64,
    /// Ends the search, not what was found.
    pub stop: StopToken,
}

/// How far a search has come.
#[derive(Clone, Copy, Debug)]
pub struct SectionProgress<'n> {
    /// How many classes of orders have been visited.
    pub visited: u64,
    /// How many orders are still to be tried.
    pub pending: u64,
    /// What was found since it was last told.
    pub news: &'n [News],
}

/// Visits all orders of a program's sections. `progress` is called after each.
pub fn explore_sections(
    program: &Program,
    options: &SectionOptions,
    mut progress: impl FnMut(SectionProgress),
) -> Result<Exploration, EngineError> {
    let mut search = Search::new(program, *options);
    while let Some(next) = search.next() {
        search.try_order(next)?;
        progress(SectionProgress {
            visited: search.classes.len() as u64,
            pending: search.pending.len() as u64,
            news: &search.races.news,
        });
        search.races.news.clear();
    }
    Ok(search.finish())
}

/// An order still to be tried.
#[derive(Default)]
struct NextOrder {
    /// The strands that enter sections.
    strands: Vec<u32>,
    /// Whether the last of them may have something else to do.
    is_a_guess: bool,
}

struct Search<'p> {
    program: &'p Program,
    options: SectionOptions,
    strands: Strands,
    races: Races<'p>,
    /// The classes visited, by their digests.
    classes: FxHashSet<u128>,
    /// The orders that were tried or are pending, by their digests.
    tried: FxHashSet<u128>,
    pending: VecDeque<NextOrder>,
    pending_sections: usize,
    runs: u64,
    /// Whether some run did not take the order it was to take.
    strayed: bool,
    /// Nothing more is visited.
    stopped: bool,
    errors: BTreeMap<RuntimeError, RecordedSchedule>,
    /// The deadlock and the gap, so far.
    exploration: Exploration,
}

impl<'p> Search<'p> {
    fn new(program: &'p Program, options: SectionOptions) -> Search<'p> {
        Search {
            program,
            options,
            strands: Strands::default(),
            races: Races::new(program, options),
            classes: FxHashSet::default(),
            tried: FxHashSet::default(),
            pending: VecDeque::from([NextOrder::default()]),
            pending_sections: 0,
            runs: 0,
            strayed: false,
            stopped: false,
            errors: BTreeMap::new(),
            exploration: Exploration::default(),
        }
    }

    /// The next order to try, as long as there is one and no bound is met.
    fn next(&mut self) -> Option<NextOrder> {
        if self.stopped {
            return None;
        }
        let next = self.pending.pop_front()?;
        if let Some(why) = self.options.stop.due() {
            self.leave_open(Gap::Stopped(why));
            return None;
        }
        self.pending_sections -= next.strands.len();
        let visited = self.classes.len() as u64;
        if visited >= self.options.max_orders || self.runs >= self.most_runs() {
            self.leave_open(Gap::Orders);
            return None;
        }
        Some(next)
    }

    fn most_runs(&self) -> u64 {
        self.options.max_orders.saturating_mul(RUNS_PER_ORDER)
    }

    fn run(&self, schedule: &Schedule) -> Result<Run, CannotFollow> {
        let SectionOptions {
            max_steps, stop, ..
        } = self.options;
        self.program.run_until(schedule, max_steps, stop)
    }

    fn leave_open(&mut self, gap: Gap) {
        self.exploration.gap.get_or_insert(gap);
    }

    /// Runs the program in an order. If its class is new, looks for races in it, and for other orders.
    fn try_order(&mut self, next: NextOrder) -> Result<(), EngineError> {
        self.runs += 1;
        let paths = next.strands.iter();
        let paths: Vec<_> = paths
            .map(|&strand| self.strands.path(strand).clone())
            .collect();
        let schedule = Schedule::Sections(paths.clone());
        let Ok(run) = self.run(&schedule) else {
            self.leave_open(Gap::Steps);
            return Ok(());
        };
        // What goes on for ever, or too long, does so in other orders as well.
        let endless = match run.ending {
            Ending::StillRunning => Some(Gap::Steps),
            Ending::Stopped(why) => Some(Gap::Stopped(why)),
            _ => None,
        };
        if let Some(gap) = endless {
            self.leave_open(gap);
            self.stopped = true;
            return Ok(());
        }
        // Which of two sets of a promise is the first is no matter of sections.
        let sets_promises = self.program.constructs().contains(&Construct::Promise);
        if sets_promises && matches!(run.ending, Ending::Error(_)) {
            self.leave_open(Gap::Promises);
        }
        let class = Class::of(&run)?;
        if !class.is_whole {
            self.leave_open(Gap::RunSize);
            self.stopped = true;
            return Ok(());
        }
        self.strayed |= !next.is_a_guess && !class.paths.starts_with(&paths);
        let all: Vec<usize> = (0..class.sections.len()).collect();
        if self.classes.insert(class.digest(&all)) {
            self.note_end(&run);
            if let Some(why) = self.races.add(&class, &mut self.strands) {
                self.leave_open(Gap::Stopped(why));
                self.stopped = true;
            }
            self.find_others(&class);
        }
        Ok(())
    }

    /// Adds the orders that the class leads to.
    fn find_others(&mut self, class: &Class) {
        for (first, second) in class.reversible() {
            let reversed = class.reversed(first, second);
            let strands = self.strands_of(class, &reversed);
            if !self.add(class.digest(&reversed), strands, false) {
                return;
            }
        }
        for (before, strand) in class.instead_of_failing() {
            let mut strands = self.strands_of(class, &before);
            strands.push(self.strands.number(&strand));
            if !self.add(class.digest(&before) ^ digest(&strand), strands, true) {
                return;
            }
        }
    }

    /// Whose sections these are.
    fn strands_of(&mut self, class: &Class, sections: &[usize]) -> Vec<u32> {
        let paths = sections.iter().map(|&section| &class.paths[section]);
        paths.map(|path| self.strands.number(path)).collect()
    }

    /// Keeps an order for later, unless it was tried. Says whether there is room for more.
    fn add(&mut self, digest: u128, strands: Vec<u32>, is_a_guess: bool) -> bool {
        // More than will ever be visited: there is no end in sight.
        if self.pending.len() as u64 > self.most_runs()
            || self.pending_sections > MAX_PENDING_SECTIONS
        {
            self.leave_open(Gap::Orders);
            return false;
        }
        if self.tried.insert(digest) {
            self.pending_sections += strands.len();
            self.pending.push_back(NextOrder {
                strands,
                is_a_guess,
            });
        }
        true
    }

    /// Notes a deadlock or an error that a run ended with.
    fn note_end(&mut self, run: &Run) {
        let names = &run.execution.names;
        let strands = &mut self.strands;
        let mut number = |strand: &mut Strand| {
            *strand = Strand(strands.number(&names.strand_path(*strand)));
        };
        match &run.ending {
            Ending::Deadlock(waiting) if self.exploration.deadlock.is_none() => {
                let mut what = waiting.clone();
                for waiting in &mut what {
                    number(&mut waiting.strand);
                    waiting.held_by.iter_mut().for_each(&mut number);
                    if let WaitsFor::Strand(other) = &mut waiting.waits_for {
                        number(other);
                    }
                }
                let schedule = run.schedule();
                let news = what.first().map(|waiting| News::Deadlock(waiting.site));
                self.races.news.extend(news);
                self.exploration.deadlock = Some(Example { what, schedule });
            }
            Ending::Error(error) => {
                let mut error = error.clone();
                number(&mut error.strand);
                self.errors.entry(error).or_insert_with_key(|error| {
                    self.races.news.push(News::Error(error.clone()));
                    run.schedule()
                });
            }
            _ => {}
        }
    }

    fn finish(mut self) -> Exploration {
        // Without races, an order that is asked for is one that the program can take, and what is left
        // unordered can be shown to race.
        let is_sure = !self.strayed && !self.races.any_missing();
        if !is_sure && !self.races.any() {
            self.leave_open(Gap::Unexplained);
        }
        let errors = self.errors.into_iter();
        Exploration {
            schedules: self.classes.len() as u64,
            races: self.races.into_shown(),
            errors: errors
                .map(|(what, schedule)| Example { what, schedule })
                .collect(),
            strand_names: self.strands.names(),
            ..self.exploration
        }
    }
}
