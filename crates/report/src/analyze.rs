//! What is known about a recorded run after `deadheat analyze`: one report an engine.

use deadheat_model::guarantee::Limit;
use deadheat_model::{Finding, Findings};
use deadheat_offline::{Engine, Worth};
use serde::{Serialize, Serializer};

use crate::filter::{Filter, LeftOut};
use crate::json::{DeadlocksJson, FindingsJson};
use crate::words::guarantee;

/// What `deadheat analyze` says about one trace by one engine.
#[derive(Clone)]
pub struct AnalyzeReport {
    /// The engine.
    pub engine: &'static str,
    /// How many events the trace has.
    pub events: u64,
    /// How many threads.
    pub threads: u64,
    /// What races, in the order of the second accesses.
    pub races: Vec<Finding>,
    /// What may race or not.
    pub undecided: Vec<Finding>,
    /// Whether `races` are all that any correct reordering of the trace shows.
    pub complete: bool,
    /// The deadlocks that can happen, if they were asked for.
    pub deadlocks: Option<PredictedDeadlocks>,
    /// How many variables race.
    pub variables: u64,
    /// Their names, of very many the first.
    pub racy_variables: Vec<String>,
    /// Whether all pairs were counted; otherwise counts are lower bounds.
    pub counts_exact: bool,
    /// How long it took.
    pub seconds: f64,
    /// What was left out because a baseline or suppressions name it.
    pub left_out: LeftOut,
    /// What limits what is said.
    pub limits: Vec<Limit>,
    /// Why the engine was stopped before its end, if it was.
    pub stopped: Option<String>,
    /// What the races are worth.
    pub worth: Worth,
    /// Whether `races` are all that the engine's order or search can show.
    pub all_listed: bool,
    /// What the engine said besides races.
    pub(crate) rest: Findings,
    /// Whether what is undecided was searched for exactly.
    pub(crate) searched: bool,
    /// How many races and undecided pairs there were before any was left out.
    pub(crate) found: (u64, u64),
}

/// The deadlocks that reorderings of a trace end in.
#[derive(Clone, Default)]
pub struct PredictedDeadlocks {
    /// Those that can happen, each with the order that shows it.
    pub found: Vec<Finding>,
    /// Those that may happen or not.
    pub undecided: Vec<Finding>,
    /// Whether all circles of locks were looked at.
    pub all_listed: bool,
    /// Why the search was stopped before its end, if it was.
    pub stopped: Option<String>,
}

impl PredictedDeadlocks {
    /// Whether `found` are all that any correct reordering of the trace ends in.
    pub fn are_all(&self) -> bool {
        self.all_listed && self.undecided.is_empty() && self.stopped.is_none()
    }
}

/// What an engine said about a trace, described in the trace's names.
pub struct Described {
    /// The races.
    pub races: Vec<Finding>,
    /// What may race or not.
    pub undecided: Vec<Finding>,
    /// The names of the variables that race, of very many the first.
    pub racy_variables: Vec<String>,
    /// All else that it said.
    pub rest: Findings,
}

impl AnalyzeReport {
    /// Puts together what an engine says of a trace of so many events and threads; `searched` tells whether what is undecided
    /// was searched for exactly.
    pub fn new(
        engine: &Engine,
        (events, threads): (u64, u64),
        described: Described,
        searched: bool,
        seconds: f64,
    ) -> AnalyzeReport {
        let Described {
            races,
            undecided,
            racy_variables,
            rest,
        } = described;
        AnalyzeReport {
            engine: engine.name,
            events,
            threads,
            found: (races.len() as u64, undecided.len() as u64),
            races,
            undecided,
            complete: rest.exhaustive,
            deadlocks: None,
            variables: rest.racy.len() as u64,
            racy_variables,
            counts_exact: rest.counted,
            seconds,
            left_out: LeftOut::default(),
            limits: Vec::new(),
            stopped: rest.stopped.map(|why| why.to_string()),
            worth: engine.worth,
            all_listed: rest.all_listed,
            rest,
            searched,
        }
    }

    /// Part of the recording is lost: nothing is known about the whole of it.
    pub fn leave_out(&mut self, damage: String) {
        self.complete = false;
        if let Some(deadlocks) = &mut self.deadlocks {
            deadlocks.all_listed = false;
        }
        self.limits.push(Limit::Remains(damage));
    }

    /// Leaves out what a baseline knows and what suppressions name.
    pub fn filter(&mut self, filter: &Filter) {
        let mut left_out = filter.start();
        self.races.retain(|race| filter.keeps(race, &mut left_out));
        let mut others = filter.start();
        self.undecided
            .retain(|pair| filter.keeps(pair, &mut others));
        if let Some(deadlocks) = &mut self.deadlocks {
            let found = &mut deadlocks.found;
            found.retain(|finding| filter.keeps(finding, &mut left_out));
            let undecided = &mut deadlocks.undecided;
            undecided.retain(|finding| filter.keeps(finding, &mut others));
        }
        self.left_out = left_out;
    }

    /// All that can go wrong: races, then deadlocks.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        let deadlocks = self.deadlocks.iter().flat_map(|deadlocks| &deadlocks.found);
        self.races.iter().chain(deadlocks)
    }

    /// Whether what it lists are races, not mere suspicions.
    pub fn is_race(&self) -> bool {
        !matches!(self.worth, Worth::Suspects(_))
    }

    /// What all this proves.
    pub fn guarantee(&self) -> String {
        guarantee::of_trace(self)
    }
}

/// The report as JSON, in the order of its fields.
#[derive(Serialize)]
struct Json<'r> {
    engine: &'static str,
    events: u64,
    threads: u64,
    races: FindingsJson<'r>,
    undecided: FindingsJson<'r>,
    complete: bool,
    #[serde(flatten)]
    deadlocks: Option<PredictedDeadlocksJson<'r>>,
    guarantee: String,
    variables: u64,
    racy_variables: &'r [String],
    counts_exact: bool,
    seconds: f64,
    #[serde(flatten)]
    left_out: LeftOut,
    #[serde(skip_serializing_if = "Option::is_none")]
    damage: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'r str>,
}

#[derive(Serialize)]
struct PredictedDeadlocksJson<'r> {
    deadlocks: DeadlocksJson<'r>,
    undecided_deadlocks: DeadlocksJson<'r>,
    deadlocks_complete: bool,
}

impl Serialize for AnalyzeReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let damage = self.limits.iter().rev().find_map(|limit| match limit {
            Limit::Remains(damage) => Some(damage.as_str()),
            _ => None,
        });
        let json = Json {
            engine: self.engine,
            events: self.events,
            threads: self.threads,
            races: FindingsJson(&self.races),
            undecided: FindingsJson(&self.undecided),
            complete: self.complete,
            deadlocks: self
                .deadlocks
                .as_ref()
                .map(|deadlocks| PredictedDeadlocksJson {
                    deadlocks: DeadlocksJson(&deadlocks.found),
                    undecided_deadlocks: DeadlocksJson(&deadlocks.undecided),
                    deadlocks_complete: deadlocks.are_all(),
                }),
            guarantee: self.guarantee(),
            variables: self.variables,
            racy_variables: &self.racy_variables,
            counts_exact: self.counts_exact,
            seconds: self.seconds,
            left_out: self.left_out,
            damage,
            stopped: self.stopped.as_deref(),
        };
        json.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::finding::{Describer, Rule};
    use deadheat_model::{
        AccessKind, Event, Execution, Location, Names, Op, Race, RacingAccess, Site, Strand,
    };
    use deadheat_offline::threads::{dc, hb, wcp};
    use deadheat_offline::{ENGINES, m2};

    use super::*;
    use crate::sources::Sources;

    /// Two threads that write at places 7 and 9.
    fn trace() -> Execution {
        let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        let write = |strand, site| Event::new(Strand(strand), Op::Write(Location(0)), Site(site));
        Execution {
            events: vec![write(0, 0), write(1, 1)],
            names: Names {
                strands: names(&["T1", "T2"]),
                sites: names(&["7", "9"]),
                locations: names(&["x"]),
                ..Names::default()
            },
        }
    }

    fn race(count: u64) -> Race {
        let access = |event: u64| RacingAccess {
            event,
            strand: Strand(event as u32 - 1),
            site: Site(event as u32 - 1),
            kind: AccessKind::Write,
        };
        Race {
            location: Location(0),
            first: access(1),
            second: access(2),
            count,
        }
    }

    fn of(engine: &Engine, trace: &Execution, found: Findings, searched: bool) -> AnalyzeReport {
        let mut describer = Describer::new(&trace.names, &());
        let mut describe = |race: &Race| describer.finding(Rule::Race, engine.name, race);
        let described = Described {
            races: found
                .races
                .iter()
                .map(|found| describe(&found.race))
                .collect(),
            undecided: found.undecided.iter().map(describe).collect(),
            racy_variables: Vec::new(),
            rest: found,
        };
        AnalyzeReport::new(engine, (2, 2), described, searched, 0.5)
    }

    #[test]
    fn what_is_undecided_is_no_race_and_said() {
        let trace = trace();
        let undecided = Findings {
            undecided: vec![race(3)],
            counted: true,
            all_listed: true,
            ..Findings::default()
        };
        let report = of(&m2::ENGINE, &trace, undecided.clone(), false);
        assert!(report.races.is_empty() && !report.complete);
        assert_eq!(
            report.text("run.std", &Sources::default(), 20),
            "\x1b[1;33mundecided\x1b[0m: write-write on x: T1 writes at 7 (event 1), T2 writes at 9 \
             (event 2)\n\n\
             m2: no race, 1 undecided; 2 events, 2 threads, 500.0 ms\n\
             run.std: no race found; 1 pair of places could not be decided (--complete decides them \
             by exact search)\n"
        );
        let report = of(&m2::ENGINE, &trace, undecided.clone(), true);
        assert!(
            report.guarantee().contains("raise --budget-time"),
            "{}",
            report.guarantee()
        );
        let kept = Findings {
            kept_orders: true,
            ..undecided.clone()
        };
        let report = of(&m2::ENGINE, &trace, kept, false);
        assert!(report.guarantee().contains("could not be decided"));
        assert!(report.guarantee().contains("orders of semaphores"));
        let cut = Findings {
            all_listed: false,
            ..undecided.clone()
        };
        let report = of(&m2::ENGINE, &trace, cut, false);
        assert!(report.guarantee().contains("could not be decided"));
        assert!(report.guarantee().contains("not all pairs were tried"));
        let report = of(&dc::ENGINE, &trace, undecided, false);
        assert!(
            report
                .guarantee()
                .contains("1 pair of places that it suspects")
        );
    }

    #[test]
    fn a_prediction_that_finds_nothing_says_that_it_trusts_atomic_operations() {
        let said = |kept_atomics, races: Vec<Race>| {
            let found = Findings {
                kept_atomics,
                ..Findings::listed(races, true, 2)
            };
            let guarantee = of(&m2::ENGINE, &trace(), found, false).guarantee();
            guarantee.ends_with("whatever their memory orders are: `--engine hb` goes by these")
        };
        assert!(said(true, vec![]));
        assert!(!said(false, vec![]) && !said(true, vec![race(1)]));
    }

    #[test]
    fn an_engine_that_promises_nothing_says_why() {
        let trace = trace();
        let found = Findings {
            without_promise: Some("this trace stops inside a critical section"),
            ..Findings::listed(vec![race(1)], true, 2)
        };
        assert_eq!(
            of(&wcp::ENGINE, &trace, found, false).guarantee(),
            "these accesses are unordered by wcp, but this trace stops inside a critical section: none \
             of these races need be possible; `--engine m2` tells which can happen"
        );
    }

    #[test]
    fn a_list_that_was_cut_is_not_called_all() {
        let trace = trace();
        let text = |all_listed| {
            let races = Findings::listed(vec![race(1), race(2)], all_listed, 2);
            of(&hb::ENGINE, &trace, races, false).text("run.std", &Sources::default(), 1)
        };
        let all = text(true);
        assert!(all.contains("--json lists all\n"), "{all}");
        assert!(!all.contains("there are more"), "{all}");
        let cut = text(false);
        assert!(!cut.contains("lists all"), "{cut}");
        assert!(
            cut.contains("--json lists these, and there are more that were not kept"),
            "{cut}"
        );
        assert!(
            cut.contains("; there are more pairs than were compared and kept\n"),
            "{cut}"
        );
    }

    #[test]
    fn counts_that_are_not_exact_are_lower_bounds() {
        let trace = trace();
        let found = |counted| Findings {
            counted,
            ..Findings::listed(vec![race(3)], true, 2)
        };
        let report = of(&hb::ENGINE, &trace, found(true), false);
        let text = report.text("run.std", &Sources::default(), 20);
        assert!(text.contains("\n  3 pairs of events at these places\n"));
        let report = of(&hb::ENGINE, &trace, found(false), false);
        let text = report.text("run.std", &Sources::default(), 20);
        assert!(text.contains("\n  at least 3 pairs of events at these places\n"));
    }

    #[test]
    fn every_engine_has_a_sentence_for_races_and_for_none() {
        let trace = trace();
        for engine in ENGINES {
            let clean = of(engine, &trace, Findings::listed(vec![], true, 2), false);
            let racy = of(
                engine,
                &trace,
                Findings::listed(vec![race(1)], true, 2),
                false,
            );
            assert!(!clean.guarantee().is_empty() && !racy.guarantee().is_empty());
            assert_ne!(clean.guarantee(), racy.guarantee(), "{}", engine.name);
        }
    }
}
