//! What became of a report that was checked again, as text and JSON.

use deadheat_model::EventNumber;
use deadheat_witness::{Verdict, Verification};
use serde::Serialize;

use crate::text::style::{PLAIN, RED, counted, cut, grouped};

/// What `deadheat verify` says about a report, in the order of its JSON.
#[derive(Clone, Debug, Serialize)]
pub struct VerifyReport {
    /// Whether every race has a witness that is one.
    pub all_verified: bool,
    /// How many races have.
    pub verified: u64,
    /// Of how many what the report says is not so.
    pub refused: u64,
    /// How many have no witness.
    pub without_witness: u64,
    /// How many were not checked, because it was stopped before.
    pub not_checked: u64,
    /// One by one, in the report's order.
    pub races: Vec<VerifiedRace>,
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
            verdict: match race.verdict {
                Verdict::Verified => "verified",
                Verdict::Refused(_) => "refused",
                Verdict::NoWitness => "no witness",
                Verdict::NotChecked(_) => "not checked",
            },
            reason: match &race.verdict {
                Verdict::Refused(reason) => Some(reason.to_string()),
                _ => None,
            },
        });
        let races: Vec<VerifiedRace> = races.collect();
        let count = |verdict| races.iter().filter(|r| r.verdict == verdict).count() as u64;
        VerifyReport {
            all_verified: verification.all_verified(),
            verified: count("verified"),
            refused: count("refused"),
            without_witness: count("no witness"),
            not_checked: count("not checked"),
            races,
        }
    }

    /// A line a race, and a summary. Styled: whoever prints it strips the colours where they do not
    /// belong.
    pub fn text(&self, path: &str) -> String {
        let mut text = String::new();
        for (number, race) in (1..).zip(&self.races) {
            let engine = match &race.engine {
                Some(engine) => format!(" ({})", cut(engine, 30)),
                None => String::new(),
            };
            let verdict = match (&race.reason, race.verdict) {
                (Some(reason), _) => format!("{RED}refused{PLAIN}: {}", cut(reason, 1000)),
                (None, "verified") => "verified".to_string(),
                (None, verdict) => format!("{RED}{verdict}{PLAIN}"),
            };
            text += &format!(
                "race {number}{engine}: events {} and {}: {verdict}\n",
                race.first, race.second
            );
        }
        let all = self.races.len() as u64;
        text + &match (all, self.all_verified) {
            (0, _) => format!("{path}: the report has no races\n"),
            (1, true) => format!("{path}: 1 race, verified\n"),
            (_, true) => format!("{path}: {}, all verified\n", counted(all, "race")),
            _ => format!(
                "{path}: {}: {} verified, {} refused, {} without a witness{}\n",
                counted(all, "race"),
                grouped(self.verified),
                grouped(self.refused),
                grouped(self.without_witness),
                match self.not_checked {
                    0 => String::new(),
                    n => format!("; stopped before {} could be checked", counted(n, "race")),
                }
            ),
        }
    }
}
