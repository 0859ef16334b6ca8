//! What `deadheat explain` says: which races are real, which are echoes of others, which to fix first.

mod picture;

pub use picture::RacePicture;

use deadheat_explain::general::Apart;
use deadheat_explain::{Bound, Explanation};
use deadheat_model::finding::Status;
use deadheat_model::guarantee::Limit;
use deadheat_model::{Finding, StopReason};
use serde::{Serialize, Serializer};

use crate::filter::{Filter, LeftOut};
use crate::json::{self, FindingJson, Room};
use crate::text::style::grouped;
use crate::words::guarantee;

/// How many races of a chain are listed.
const MAX_CHAIN: usize = 20;

/// What is known about the races of an execution.
#[derive(Clone)]
pub struct ExplainReport {
    /// How many pairs of computation events race, each pair of places and each location by itself.
    pub apparent: u64,
    /// One race for each pair of places, first ones first.
    pub races: Vec<RaceReport>,
    /// Conflicting accesses that synchronisation ordered in this run, by chance.
    pub general_races: Vec<GeneralReport>,
    /// How many events the execution has.
    pub events: u64,
    /// How many threads.
    pub threads: u64,
    /// Which dependences were used.
    pub dependences: String,
    /// The limits that were met, and what that means.
    pub bounds: Vec<&'static str>,
    /// What was left out because a baseline or suppressions name it.
    pub left_out: LeftOut,
    /// What else limits what is said.
    pub limits: Vec<Limit>,
    /// What was counted before anything was left out.
    pub(crate) counts: Counts,
    every_read_decides: bool,
}

/// How many races there are of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub races: u64,
    /// Of these, those that happened, as far as can be told.
    pub apparent: u64,
    pub first: u64,
    pub tangled: u64,
    pub predicted: u64,
    /// Pairs of places that were ordered by chance, and may race in another schedule.
    pub undecided: u64,
    /// Those that do not as long as reads see what they saw.
    pub if_reads_differ: u64,
}

/// A race, and why it is where it is.
#[derive(Clone)]
pub struct RaceReport {
    /// From 1.
    pub id: usize,
    /// The race.
    pub finding: Finding,
    /// The first races that it is perhaps an artifact of.
    pub artifact_of: Vec<usize>,
    /// The race that affected it directly, if one did.
    pub after: Option<usize>,
    /// The races from a first one to this one, each of which affected the next; the last [`MAX_CHAIN`] of them.
    pub chain: Vec<usize>,
}

/// A general race.
#[derive(Clone)]
pub struct GeneralReport {
    /// The two accesses.
    pub finding: Finding,
    /// Whether synchronisation is known to allow both orders.
    pub certain: bool,
    /// Why it is no data race, as far as is known.
    pub apart: Apart,
}

impl ExplainReport {
    /// Puts together what is known of an execution of so many events and threads. `apparent` are the explanation's races, in its
    /// order; `others` are predicted only. `knows_reads`: the execution says which reads decide what happens.
    pub fn new(
        explanation: &Explanation,
        (events, threads): (u64, u64),
        knows_reads: bool,
        apparent: Vec<Finding>,
        others: Vec<Finding>,
        general_races: Vec<GeneralReport>,
    ) -> ExplainReport {
        // Nothing that raced in this run can have caused what no other race is there to cause.
        let others_are_first = apparent.is_empty();
        let mut counts = Counts {
            apparent: apparent.len() as u64,
            ..Counts::default()
        };
        let judged = explanation.races.iter().enumerate().zip(apparent);
        let mut races: Vec<RaceReport> = judged
            .map(|((place, race), finding)| RaceReport {
                id: place + 1,
                finding: Finding {
                    is_first: Some(race.is_first),
                    ..finding
                },
                artifact_of: race.artifact_of.iter().map(|place| place + 1).collect(),
                after: race.after.map(|place| place + 1),
                chain: chain(explanation, place),
            })
            .collect();
        for finding in others {
            let id = races.len() + 1;
            races.push(RaceReport {
                id,
                finding: Finding {
                    is_first: Some(others_are_first),
                    ..finding
                },
                artifact_of: Vec::new(),
                after: None,
                chain: vec![id],
            });
        }
        counts.races = races.len() as u64;
        for RaceReport { finding, .. } in &races {
            counts.first += (finding.is_first == Some(true)) as u64;
            counts.tangled += (finding.status == Some(Status::Tangled)) as u64;
            counts.predicted += (finding.status == Some(Status::Predicted)) as u64;
        }
        let apart = |apart| {
            let races = general_races.iter();
            races.filter(|general| general.apart == apart).count() as u64
        };
        counts.undecided = apart(Apart::Undecided);
        counts.if_reads_differ = apart(Apart::WhileReadsAgree);
        let reads = &explanation.reads;
        ExplainReport {
            apparent: explanation.apparent,
            races,
            general_races,
            events,
            threads,
            dependences: dependences(explanation),
            bounds: explanation
                .bounds
                .iter()
                .map(|&bound| meaning(bound))
                .collect(),
            left_out: LeftOut::default(),
            limits: Vec::new(),
            counts,
            every_read_decides: !knows_reads && reads.control == reads.reads,
        }
    }

    /// Leaves out what a baseline knows and what suppressions name. The others keep their numbers.
    pub fn filter(&mut self, filter: &Filter) {
        let mut left_out = filter.start();
        self.races
            .retain(|race| filter.keeps(&race.finding, &mut left_out));
        let mut others = filter.start();
        self.general_races
            .retain(|race| filter.keeps(&race.finding, &mut others));
        self.left_out = left_out;
    }

    /// Whether anything races.
    pub fn has_race(&self) -> bool {
        !self.races.is_empty()
    }

    /// Whether there may be more than was found: a limit was met, or a pair could not be decided.
    pub fn is_incomplete(&self) -> bool {
        !self.bounds.is_empty() || self.counts.undecided > 0
    }

    /// Whether every read is taken to decide what happens, because nobody knows which do.
    pub fn every_read_decides(&self) -> bool {
        self.every_read_decides
    }

    /// Its findings, those to fix first in front.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        let of = |first: bool| {
            let races = self.races.iter().map(|race| &race.finding);
            races.filter(move |finding| (finding.is_first == Some(true)) == first)
        };
        of(true).chain(of(false))
    }

    /// What all this proves.
    pub fn guarantee(&self) -> String {
        guarantee::of_explanation(self)
    }
}

fn chain(explanation: &Explanation, place: usize) -> Vec<usize> {
    let mut chain = Vec::new();
    let mut at = Some(place);
    while let Some(place) = at.filter(|_| chain.len() < MAX_CHAIN) {
        chain.push(place + 1);
        at = explanation.races[place].after;
    }
    chain.reverse();
    chain
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

fn meaning(bound: Bound) -> &'static str {
    match bound {
        Bound::Pairs => {
            "there are more pairs than are compared: counts are lower bounds, and an access was \
             compared with the latest of each other thread"
        }
        Bound::Queries => {
            "there are more dependences between races than are followed: more races may be first"
        }
        Bound::GeneralRaces => {
            "there are more pairs that only chance has ordered than are compared: some of them may race in another \
             schedule"
        }
        Bound::Groups => "there are more pairs of places than are told apart: some are left out",
        Bound::Stopped(StopReason::Asked) => {
            "interrupted before everything was compared: there may be more"
        }
        Bound::Stopped(StopReason::TimeUp) => {
            "the time was up (--timeout) before everything was compared: there may be more"
        }
        Bound::Stopped(StopReason::MemoryFull) => {
            "the memory was full (--max-memory) before everything was compared: there may be more"
        }
    }
}

/// The report as JSON, in the order of its fields.
#[derive(Serialize)]
struct Json<'r> {
    apparent: u64,
    races: Vec<RaceJson<'r>>,
    partitions: Vec<PartitionJson>,
    general_races: Vec<GeneralJson<'r>>,
    guarantee: String,
    events: u64,
    threads: u64,
    dependences: &'r str,
    bounds: &'r [&'static str],
    #[serde(flatten)]
    left_out: LeftOut,
}

#[derive(Serialize)]
struct RaceJson<'r> {
    id: usize,
    #[serde(flatten)]
    finding: FindingJson<'r>,
    partition: usize,
    artifact_of: &'r [usize],
    chain: &'r [usize],
}

/// A race, the races that it may be an artifact of: the set of races that come and go together is the race itself.
#[derive(Serialize)]
struct PartitionJson {
    id: usize,
    first: bool,
    races: [usize; 1],
    after: Vec<usize>,
}

#[derive(Serialize)]
struct GeneralJson<'r> {
    #[serde(flatten)]
    finding: FindingJson<'r>,
    certain: bool,
    concurrent: &'static str,
}

impl Serialize for ExplainReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let room = Room::default();
        let bugs = json::bug_numbers(self.races.iter().map(|race| &race.finding));
        let races = self.races.iter().zip(bugs).map(|(race, bug)| RaceJson {
            id: race.id,
            finding: FindingJson::new(&race.finding, Some(bug), &room),
            partition: race.id,
            artifact_of: &race.artifact_of,
            chain: &race.chain,
        });
        let partitions = self.races.iter().map(|race| PartitionJson {
            id: race.id,
            first: race.finding.is_first == Some(true),
            races: [race.id],
            after: race.after.into_iter().collect(),
        });
        let general_races = self.general_races.iter().map(|race| GeneralJson {
            finding: FindingJson::new(&race.finding, None, &room),
            certain: race.certain,
            concurrent: match race.apart {
                Apart::Always => "never",
                Apart::WhileReadsAgree => "if-reads-differ",
                Apart::Undecided => "undecided",
            },
        });
        let json = Json {
            apparent: self.apparent,
            races: races.collect(),
            partitions: partitions.collect(),
            general_races: general_races.collect(),
            guarantee: self.guarantee(),
            events: self.events,
            threads: self.threads,
            dependences: &self.dependences,
            bounds: &self.bounds,
            left_out: self.left_out,
        };
        json.serialize(serializer)
    }
}
