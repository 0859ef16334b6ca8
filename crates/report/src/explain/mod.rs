//! What `deadheat explain` says: which races are real, which are echoes of others, which to fix first.

mod picture;
mod text;

pub use picture::RacePicture;

use deadheat_explain::general::{Certainty, GeneralRaces};
use std::sync::Arc;

use deadheat_explain::{Bound, Explanation, JudgedRace, Status};
use deadheat_model::{Execution, Race, StopReason};
use deadheat_witness::Spelling;
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::analyze::{MAX_SPELT_TOGETHER, WitnessReport};
use crate::filter::{Filter, LeftOut};
use crate::pair::{PairReport, Wording};
use crate::sources::Sources;
use crate::style::{counted, grouped};

/// How many races of a chain are listed.
pub const MAX_CHAIN: usize = 20;

/// What is known about the races of an execution, in the order of its JSON.
#[derive(Clone, Serialize)]
pub struct ExplainReport {
    /// How many pairs of computation events race, each pair of places and each location by itself.
    pub apparent: u64,
    /// One race for each pair of places, first ones first.
    pub races: Vec<ExplainedReport>,
    /// Races that come and go together.
    pub partitions: Vec<PartitionReport>,
    /// Conflicting accesses that synchronisation ordered in this run, by chance.
    pub general_races: Vec<GeneralReport>,
    /// What all this proves.
    pub guarantee: String,
    /// How many events the execution has.
    pub events: u64,
    /// How many threads.
    pub threads: u64,
    /// Which dependences were used.
    pub dependences: String,
    /// The limits that were met, and what that means.
    pub bounds: Vec<&'static str>,
    /// What was left out because a baseline or suppressions name it.
    #[serde(flatten)]
    pub left_out: LeftOut,
    /// How many of the races are apparent.
    #[serde(skip)]
    pub apparent_places: usize,
}

/// A race, and why it is where it is.
#[derive(Clone, Serialize)]
pub struct ExplainedReport {
    /// From 1.
    pub id: usize,
    /// The two accesses.
    #[serde(flatten)]
    pub pair: PairReport,
    /// `actual`, `feasible`, `tangled` or `predicted`.
    pub status: &'static str,
    /// Its partition.
    pub partition: usize,
    /// Whether no other race can have caused it.
    pub is_first: bool,
    /// The first races that it is perhaps an artifact of.
    pub artifact_of: Vec<usize>,
    /// The races from a first one to this one, each of which affected the next; the last
    /// [`MAX_CHAIN`] of them.
    pub chain: Vec<usize>,
    /// A reordering that ends with both accesses, for a race that is predicted.
    #[serde(flatten)]
    pub witness: Option<WitnessReport>,
    /// Whether the checker of witnesses has accepted it.
    #[serde(skip_serializing_if = "is_false")]
    pub verified: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Races that come and go together.
#[derive(Clone, Serialize)]
pub struct PartitionReport {
    /// From 1.
    pub id: usize,
    /// Whether no other partition can have caused it.
    pub first: bool,
    /// Its races.
    pub races: Vec<usize>,
    /// The partitions that affected it directly.
    pub after: Vec<usize>,
}

/// A general race.
#[derive(Clone, Serialize)]
pub struct GeneralReport {
    /// The two accesses.
    #[serde(flatten)]
    pub pair: PairReport,
    /// Whether synchronisation is known to allow both orders.
    pub certain: bool,
}

impl ExplainReport {
    /// Puts together what is known.
    pub fn new(
        execution: &Execution,
        explanation: &Explanation,
        predicted: Vec<JudgedRace>,
        general: &GeneralRaces,
        sources: &Sources,
        spelling: Option<&Arc<Spelling>>,
    ) -> ExplainReport {
        let names = &execution.names;
        let mut wording = Wording::new(names, sources);
        let mut races: Vec<ExplainedReport> = Vec::new();
        let mut partitions = Vec::new();
        // A reordering that was checked settles what dependences leave open.
        let mut shown: FxHashMap<_, JudgedRace> = FxHashMap::default();
        let mut others = Vec::new();
        let apparent: FxHashMap<_, Status> = explanation
            .races
            .iter()
            .map(|race| (race.race.ends(), race.status))
            .collect();
        for finding in predicted {
            match apparent.get(&finding.race.ends()) {
                Some(Status::Tangled) => drop(shown.insert(finding.race.ends(), finding)),
                Some(_) => {}
                None => others.push(finding),
            }
        }
        let mut room = MAX_SPELT_TOGETHER;
        for (place, race) in explanation.races.iter().enumerate() {
            let id = place + 1;
            let settled = shown.remove(&race.race.ends());
            let witness = settled.and_then(|finding| Some((finding.race, finding.witness?)));
            let witness = witness.zip(spelling);
            let accesses = match &witness {
                Some(((found, _), _)) => Race {
                    count: race.race.count,
                    ..*found
                },
                None => race.race,
            };
            let witness = witness.map(|((_, witness), spelling)| {
                WitnessReport::new(witness, spelling.clone(), &mut room)
            });
            let mut chain = Vec::new();
            let mut at = Some(place);
            while let Some(place) = at.filter(|_| chain.len() < MAX_CHAIN) {
                chain.push(place + 1);
                at = explanation.races[place].after;
            }
            chain.reverse();
            races.push(ExplainedReport {
                id,
                pair: wording.pair(&accesses),
                status: match race.status {
                    _ if witness.is_some() => "predicted",
                    Status::Actual => "actual",
                    Status::Feasible => "feasible",
                    Status::Tangled => "tangled",
                },
                partition: id,
                is_first: race.is_first,
                artifact_of: race.artifact_of.iter().map(|place| place + 1).collect(),
                chain,
                verified: witness.is_some(),
                witness,
            });
            partitions.push(PartitionReport {
                id,
                first: race.is_first,
                races: vec![id],
                after: race.after.map(|place| place + 1).into_iter().collect(),
            });
        }
        // Nothing that raced in this run can have caused what no other race is there to cause.
        let is_first = races.is_empty();
        for JudgedRace { race, witness } in others {
            let id = races.len() + 1;
            let witness = witness.zip(spelling);
            let witness = witness.map(|(witness, spelling)| {
                WitnessReport::new(witness, spelling.clone(), &mut room)
            });
            races.push(ExplainedReport {
                id,
                pair: wording.pair(&race),
                status: "predicted",
                partition: id,
                is_first,
                artifact_of: Vec::new(),
                chain: vec![id],
                verified: witness.is_some(),
                witness,
            });
            partitions.push(PartitionReport {
                id,
                first: is_first,
                races: vec![id],
                after: Vec::new(),
            });
        }
        let general_races = general.races.iter().map(|general| GeneralReport {
            pair: wording.pair(&general.race),
            certain: general.certainty == Certainty::Certain,
        });
        let mut report = ExplainReport {
            apparent: explanation.apparent,
            races,
            partitions,
            general_races: general_races.collect(),
            guarantee: String::new(),
            apparent_places: explanation.races.len(),
            left_out: LeftOut::default(),
            events: execution.events.len() as u64,
            threads: names.strands.len() as u64,
            dependences: dependences(explanation),
            bounds: explanation
                .bounds
                .iter()
                .map(|&bound| meaning(bound))
                .collect(),
        };
        report.guarantee = report.sentence();
        report
    }

    /// Leaves out what a baseline knows and what suppressions name. The others keep their numbers.
    pub fn filter(&mut self, filter: &Filter) {
        let mut left_out = filter.start();
        self.races
            .retain(|race| race.pair.is_kept(filter, &mut left_out));
        let mut others = filter.start();
        self.general_races
            .retain(|race| race.pair.is_kept(filter, &mut others));
        self.guarantee += &left_out.sentence();
        self.left_out = left_out;
    }

    /// Whether anything races.
    pub fn has_race(&self) -> bool {
        !self.races.is_empty()
    }

    fn sentence(&self) -> String {
        let of = |status| {
            self.races
                .iter()
                .filter(|race| race.status == status)
                .count()
        };
        let (predicted, tangled) = (of("predicted"), of("tangled"));
        let apparent = self.apparent_places;
        let first = self.races.iter().filter(|race| race.is_first).count() as u64;
        if self.races.is_empty() {
            return match self.bounds[..] {
                [] => "no two conflicting accesses were left unordered in this run, and none was \
                       predicted"
                    .to_string(),
                _ => format!("no race found so far; {}", self.bounds.join("; ")),
            };
        }
        let mut sentence = match apparent {
            0 => "nothing races in this run as it was".to_string(),
            _ => format!(
                "{} at {} of places; {} to fix first: some schedule shows each of them before any other race, so \
                 none is caused by another",
                counted(self.apparent, "apparent race"),
                counted(apparent as u64, "pair"),
                grouped(first),
            ),
        };
        if tangled > 0 {
            let which = if tangled == 1 {
                "1 is"
            } else {
                "the tangled ones are"
            };
            sentence += &format!("; {which} not known to be possible at all");
        }
        if predicted > 0 {
            sentence += &format!(
                "; {} shown by a reordering that was checked",
                counted(predicted as u64, "race")
            );
        }
        for bound in &self.bounds {
            sentence += &format!("; {bound}");
        }
        sentence
    }
}

/// Which dependences were used, as a phrase.
fn dependences(explanation: &Explanation) -> String {
    let reads = &explanation.reads;
    let which = match reads.control == reads.reads {
        true => "every read is taken to decide what happens".to_string(),
        false => format!(
            "{} of {} reads can decide what happens",
            grouped(reads.relevant),
            grouped(reads.reads)
        ),
    };
    format!("from the order of single accesses; {which}")
}

const STOPPED_BY_SIGNAL: &str = "interrupted: not everything was looked at, there may be more";
const STOPPED_BY_TIME: &str =
    "the time was up (--timeout): not everything was looked at, there may be more";
const STOPPED_BY_MEMORY: &str =
    "the memory was full (--max-memory): not everything was looked at, there may be more";

fn meaning(bound: Bound) -> &'static str {
    match bound {
        Bound::Pairs => {
            "there are more pairs than are compared: counts are lower bounds, and an access was \
             compared with the latest of each other thread"
        }
        Bound::Queries => {
            "there are more dependences between races than are followed: more races may be first"
        }
        Bound::Groups => "there are more pairs of places than are told apart: some are left out",
        Bound::Stopped(StopReason::Asked) => STOPPED_BY_SIGNAL,
        Bound::Stopped(StopReason::TimeUp) => STOPPED_BY_TIME,
        Bound::Stopped(StopReason::MemoryFull) => STOPPED_BY_MEMORY,
    }
}
