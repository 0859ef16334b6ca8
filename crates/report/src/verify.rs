//! What became of a report that was checked again, as text and JSON.

use deadheat_model::EventNumber;
use deadheat_witness::{Verdict, Verification};
use serde::Serialize;

use crate::text::style::{PLAIN, RED, counted, cut, grouped, listed};

/// What `deadheat verify` says about a report, in the order of its JSON.
#[derive(Clone, Debug, Serialize)]
pub struct VerifyReport {
    /// Whether every race and every deadlock has a witness that is one.
    pub all_verified: bool,
    /// How many have.
    pub verified: u64,
    /// Of how many what the report says is not so.
    pub refused: u64,
    /// How many have no witness.
    pub without_witness: u64,
    /// How many were not checked, because it was stopped before.
    pub not_checked: u64,
    /// One by one, in the report's order.
    pub races: Vec<VerifiedRace>,
    /// The deadlocks one by one, if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deadlocks: Vec<VerifiedDeadlock>,
}

/// What became of one deadlock.
#[derive(Clone, Debug, Serialize)]
pub struct VerifiedDeadlock {
    /// Who reported it, if the report says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The events that wait.
    pub events: Vec<EventNumber>,
    /// `verified`, `refused`, `no witness` or `not checked`.
    pub verdict: &'static str,
    /// Why it is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What became of one race.
#[derive(Clone, Debug, Serialize)]
pub struct VerifiedRace {
    /// Who reported it, if the report says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The first access's event.
    pub first: EventNumber,
    /// The other one's.
    pub second: EventNumber,
    /// `verified`, `refused`, `no witness` or `not checked`.
    pub verdict: &'static str,
    /// Why it is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl VerifyReport {
    /// Puts together what was found.
    pub fn new(verification: &Verification) -> VerifyReport {
        let races = verification.races.iter().map(|race| VerifiedRace {
            engine: race.engine.as_deref().map(str::to_string),
            first: race.first,
            second: race.second,
            verdict: word(&race.verdict),
            reason: reason(&race.verdict),
        });
        let deadlocks = verification.deadlocks.iter();
        let deadlocks = deadlocks.map(|deadlock| VerifiedDeadlock {
            engine: deadlock.engine.as_deref().map(str::to_string),
            events: deadlock.circle.clone(),
            verdict: word(&deadlock.verdict),
            reason: reason(&deadlock.verdict),
        });
        let races: Vec<VerifiedRace> = races.collect();
        let verdicts = || verification.verdicts().map(word);
        let count = |verdict| verdicts().filter(|known| *known == verdict).count() as u64;
        VerifyReport {
            all_verified: verification.all_verified(),
            verified: count("verified"),
            refused: count("refused"),
            without_witness: count("no witness"),
            not_checked: count("not checked"),
            races,
            deadlocks: deadlocks.collect(),
        }
    }

    /// A line a race, and a summary. Styled: whoever prints it strips the colours where they do not
    /// belong.
    pub fn text(&self, path: &str) -> String {
        let mut text = String::new();
        for (number, race) in (1..).zip(&self.races) {
            let (first, second) = (race.first, race.second);
            let verdict = verdict(race.verdict, &race.reason);
            let engine = by(&race.engine);
            text += &format!("race {number}{engine}: events {first} and {second}: {verdict}\n");
        }
        for (number, deadlock) in (1..).zip(&self.deadlocks) {
            let events = deadlock
                .events
                .iter()
                .take(MAX_EVENTS)
                .map(ToString::to_string);
            let events = listed(&events.collect::<Vec<String>>());
            let verdict = verdict(deadlock.verdict, &deadlock.reason);
            let engine = by(&deadlock.engine);
            text += &format!("deadlock {number}{engine}: events {events}: {verdict}\n");
        }
        let (races, deadlocks) = (self.races.len() as u64, self.deadlocks.len() as u64);
        let what = match (races, deadlocks) {
            (_, 0) => counted(races, "race"),
            (0, _) => counted(deadlocks, "deadlock"),
            _ => format!(
                "{} and {}",
                counted(races, "race"),
                counted(deadlocks, "deadlock")
            ),
        };
        text + &match (races + deadlocks, self.all_verified) {
            (0, _) => format!("{path}: the report has no races\n"),
            (1, true) => format!("{path}: {what}, verified\n"),
            (_, true) => format!("{path}: {what}, all verified\n"),
            _ => format!(
                "{path}: {what}: {} verified, {} refused, {} without a witness{}\n",
                grouped(self.verified),
                grouped(self.refused),
                grouped(self.without_witness),
                match self.not_checked {
                    0 => String::new(),
                    n if deadlocks == 0 =>
                        format!("; stopped before {} could be checked", counted(n, "race")),
                    n => format!("; stopped before {} of them could be checked", grouped(n)),
                }
            ),
        }
    }
}

/// How many events of a deadlock are named.
const MAX_EVENTS: usize = 20;

fn by(engine: &Option<String>) -> String {
    match engine {
        Some(engine) => format!(" ({})", cut(engine, 30)),
        None => String::new(),
    }
}

fn verdict(verdict: &str, reason: &Option<String>) -> String {
    match (reason, verdict) {
        (Some(reason), _) => format!("{RED}refused{PLAIN}: {}", cut(reason, 1000)),
        (None, "verified") => "verified".to_string(),
        (None, verdict) => format!("{RED}{verdict}{PLAIN}"),
    }
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Verified => "verified",
        Verdict::Refused(_) => "refused",
        Verdict::NoWitness => "no witness",
        Verdict::NotChecked(_) => "not checked",
    }
}

fn reason(verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Refused(reason) => Some(reason.to_string()),
        _ => None,
    }
}
