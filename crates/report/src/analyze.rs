//! What is known about a recorded run after `deadheat analyze`: one report an engine.

use std::sync::Arc;

use deadheat_explain::Judgement;
use deadheat_model::{Names, Witness};
use deadheat_offline::{Engine, Worth};
use deadheat_witness::{Spelling, Verified};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::analyze_guarantee;
use crate::filter::{Filter, LeftOut};
use crate::pair::{PairReport, Wording};
use crate::sources::Sources;

/// Up to how many events a witness is spelt out in full.
pub const MAX_SPELT: u64 = 100_000;

/// How many events of witnesses are spelt out in one report: some 30 MB.
pub const MAX_SPELT_TOGETHER: u64 = 4_000_000;

/// How many racy variables are listed.
const MAX_VARIABLES: usize = 10_000;

/// What `deadheat analyze` says about one trace by one engine, in the order of its JSON.
#[derive(Clone, Serialize)]
pub struct AnalyzeReport {
    /// The engine.
    pub engine: &'static str,
    /// How many events the trace has.
    pub events: u64,
    /// How many threads.
    pub threads: u64,
    /// What races, in the order of the second accesses.
    pub races: Vec<PredictedReport>,
    /// What may race or not.
    pub undecided: Vec<PairReport>,
    /// Whether `races` are all that any correct reordering of the trace shows.
    pub complete: bool,
    /// What all this proves.
    pub guarantee: String,
    /// How many variables race.
    pub variables: u64,
    /// Their names, of very many the first.
    pub racy_variables: Vec<String>,
    /// Whether all pairs were counted; otherwise counts are lower bounds.
    pub counts_exact: bool,
    /// How long it took.
    pub seconds: f64,
    /// What was left out because a baseline or suppressions name it.
    #[serde(flatten)]
    pub left_out: LeftOut,
    /// What of the recording is lost, if something is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
    /// Why the engine was stopped before its end, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// What the races are worth.
    #[serde(skip)]
    pub worth: Worth,
    /// Whether `races` are all that the engine's order or search can show.
    #[serde(skip)]
    pub all_listed: bool,
}

/// A race, and what shows it.
#[derive(Clone, Serialize)]
pub struct PredictedReport {
    /// The two accesses.
    #[serde(flatten)]
    pub pair: PairReport,
    /// A reordering that ends with both.
    #[serde(flatten)]
    pub witness: Option<WitnessReport>,
    /// Whether the checker of witnesses has accepted it.
    pub verified: bool,
}

/// A reordering that ends with two accesses; serialises to the fields `witness` and, if it is long,
/// `witness_prefix`.
#[derive(Clone)]
pub struct WitnessReport {
    /// In short.
    pub witness: Verified<Witness>,
    /// How to spell it.
    pub spelling: Arc<Spelling>,
    /// Whether it is given event by event.
    spelt_out: bool,
}

/// What a trace is called by, and how long it is.
#[derive(Clone, Copy)]
pub struct AboutTrace<'t> {
    /// What its numbers mean.
    pub names: &'t Names,
    /// How many events it has.
    pub events: u64,
    /// The files that its places are in.
    pub sources: &'t Sources,
    /// Spells its witnesses; without it they are left out.
    pub spelling: Option<&'t Arc<Spelling>>,
}

impl AnalyzeReport {
    /// Part of the recording is lost: nothing is known about the whole of it.
    pub fn leave_out(&mut self, damage: String) {
        self.complete = false;
        self.guarantee += &format!("; this is about what is left of the recording: {damage}");
        self.damage = Some(damage);
    }

    /// Leaves out what a baseline knows and what suppressions name.
    pub fn filter(&mut self, filter: &Filter) {
        let mut left_out = filter.start();
        self.races
            .retain(|race| race.pair.is_kept(filter, &mut left_out));
        let mut others = filter.start();
        self.undecided
            .retain(|pair| pair.is_kept(filter, &mut others));
        self.guarantee += &left_out.sentence();
        self.left_out = left_out;
    }

    /// Whether what it lists are races, not mere suspicions.
    pub fn is_race(&self) -> bool {
        !matches!(self.worth, Worth::Suspects(_))
    }

    /// Puts together what an engine says; `searched` tells whether what is undecided was searched for
    /// exactly.
    pub fn new(
        engine: &Engine,
        trace: AboutTrace<'_>,
        judgement: Judgement,
        searched: bool,
        seconds: f64,
    ) -> AnalyzeReport {
        let Judgement { races, rest, .. } = judgement;
        let mut room = MAX_SPELT_TOGETHER;
        let mut wording = Wording::new(trace.names, trace.sources);
        let races = races.into_iter().map(|shown| {
            let witness = shown.witness.zip(trace.spelling);
            PredictedReport {
                pair: wording.pair(&shown.race),
                verified: witness.is_some(),
                witness: witness.map(|(witness, spelling)| {
                    WitnessReport::new(witness, spelling.clone(), &mut room)
                }),
            }
        });
        let races = races.collect();
        let undecided = rest.undecided.iter();
        let undecided = undecided.map(|race| wording.pair(race)).collect();
        let racy = rest.racy.iter().take(MAX_VARIABLES);
        let racy_variables = racy.map(|&x| trace.names.location(x).into_owned());
        let mut report = AnalyzeReport {
            engine: engine.name,
            events: trace.events,
            threads: trace.names.strands.len() as u64,
            races,
            undecided,
            complete: rest.exhaustive,
            guarantee: String::new(),
            variables: rest.racy.len() as u64,
            racy_variables: racy_variables.collect(),
            counts_exact: rest.counted,
            seconds,
            left_out: LeftOut::default(),
            damage: None,
            stopped: rest.stopped.map(|why| why.to_string()),
            worth: engine.worth,
            all_listed: rest.all_listed,
        };
        report.guarantee = analyze_guarantee::sentence(&report, &rest, searched);
        report
    }
}

impl WitnessReport {
    /// A witness that is spelt out if it is short, and as long as all that are have room together.
    pub fn new(
        witness: Verified<Witness>,
        spelling: Arc<Spelling>,
        room: &mut u64,
    ) -> WitnessReport {
        let length = spelling.length(witness.proof());
        let is_short = length <= MAX_SPELT.min(*room);
        if is_short {
            *room -= length;
        }
        WitnessReport {
            // A thread whose name another has too could not be named.
            spelt_out: is_short || !spelling.names_tell(),
            witness,
            spelling,
        }
    }

    /// The witness, in short.
    pub fn proof(&self) -> &Witness {
        self.witness.proof()
    }
}

impl Serialize for WitnessReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (witness, spelling) = (self.proof(), &self.spelling);
        let mut map = serializer.serialize_map(None)?;
        if self.spelt_out {
            let most = usize::try_from(spelling.length(witness)).unwrap_or(usize::MAX);
            map.serialize_entry("witness", &spelling.end(witness, most))?;
        } else {
            map.serialize_entry("witness_prefix", &Prefix(self))?;
            map.serialize_entry("witness", &witness.then)?;
        }
        map.end()
    }
}

/// The beginning of a long witness: as in the trace, of each thread up to some event.
struct Prefix<'w>(&'w WitnessReport);

impl Serialize for Prefix<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("before", &self.0.proof().before)?;
        map.serialize_entry("upto", &Upto(self.0))?;
        map.end()
    }
}

struct Upto<'w>(&'w WitnessReport);

impl Serialize for Upto<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (witness, spelling) = (self.0.proof(), &self.0.spelling);
        let names = &spelling.trace().names;
        let upto = spelling.upto(witness);
        serializer.collect_map(upto.map(|(strand, number)| (names.strand(strand), number)))
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::{
        AccessKind, Event, Execution, Findings, Location, Op, Race, RacingAccess, Site, Strand,
    };
    use deadheat_offline::threads::{dc, hb, wcp};
    use deadheat_offline::{ENGINES, m2};

    use super::*;

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
        let about = AboutTrace {
            names: &trace.names,
            events: trace.events.len() as u64,
            sources: &Sources::default(),
            spelling: None,
        };
        AnalyzeReport::new(engine, about, Judgement::unproven(found), searched, 0.5)
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
            report.guarantee.contains("raise --budget-time"),
            "{}",
            report.guarantee
        );
        let kept = Findings {
            kept_orders: true,
            ..undecided.clone()
        };
        let report = of(&m2::ENGINE, &trace, kept, false);
        assert!(report.guarantee.contains("could not be decided"));
        assert!(report.guarantee.contains("orders of semaphores"));
        let cut = Findings {
            all_listed: false,
            ..undecided.clone()
        };
        let report = of(&m2::ENGINE, &trace, cut, false);
        assert!(report.guarantee.contains("could not be decided"));
        assert!(report.guarantee.contains("not all pairs were tried"));
        let report = of(&dc::ENGINE, &trace, undecided, false);
        assert!(
            report
                .guarantee
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
            let guarantee = of(&m2::ENGINE, &trace(), found, false).guarantee;
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
            of(&wcp::ENGINE, &trace, found, false).guarantee,
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
            assert!(!clean.guarantee.is_empty() && !racy.guarantee.is_empty());
            assert_ne!(clean.guarantee, racy.guarantee, "{}", engine.name);
        }
    }
}
