//! What remains of an engine's findings once their proofs are checked.
//!
//! An engine's witness is the engine's word: a race whose witness the checker refuses is undecided, and the refusal is a
//! bug to report.

use std::sync::Arc;

use deadheat_model::finding::{Describer, Finding, Proof, Rule};
use deadheat_model::{Findings, Race, StopToken, Witness, racy};
use deadheat_witness::{Refusal, Spelling, Verified, VerifiedReordering, Witnesses};

/// A race, with its proof if the engine gives proofs.
#[derive(Clone, Debug)]
pub struct JudgedRace {
    /// The race.
    pub race: Race,
    /// What shows it.
    pub witness: Option<Verified<Witness>>,
}

/// What an engine found, after its proofs were checked.
#[derive(Debug)]
pub struct Judgement {
    /// The races. If the engine gives proofs, each has one.
    pub races: Vec<JudgedRace>,
    /// All but the races: what the engine found, and as undecided those whose proof was refused.
    pub rest: Findings,
    /// The refusals. Each is a bug in the engine.
    pub refused: Vec<(Race, Refusal)>,
}

impl JudgedRace {
    /// The race as a finding of this engine, in a trace's names. The spelling is that of the trace against which witnesses
    /// were checked; without one there is no proof.
    pub fn finding(
        self,
        rule: Rule,
        engine: &'static str,
        describer: &mut Describer<'_>,
        spelling: Option<&Arc<Spelling>>,
    ) -> Finding {
        let mut finding = describer.finding(rule, engine, &self.race);
        finding.proof = self.witness.zip(spelling).map(|(witness, spelling)| {
            let proof = VerifiedReordering::new(witness, spelling.clone());
            Arc::new(proof) as Arc<dyn Proof>
        });
        finding
    }
}

impl Judgement {
    /// The findings of an engine that gives no proofs.
    pub fn unproven(mut findings: Findings) -> Judgement {
        let races = std::mem::take(&mut findings.races).into_iter();
        let races = races.map(|finding| JudgedRace {
            race: finding.race,
            witness: None,
        });
        Judgement {
            races: races.collect(),
            rest: findings,
            refused: Vec::new(),
        }
    }

    /// The findings of an engine that gives proofs, each of which is checked; `each` is told how many
    /// have been. A race without a proof that the checker accepts is undecided; so are those that it did not come to
    /// before it was time to stop.
    pub fn proven(
        mut findings: Findings,
        witnesses: &Witnesses,
        stop: StopToken,
        mut each: impl FnMut(u64),
    ) -> Judgement {
        let (mut races, mut refused) = (Vec::new(), Vec::new());
        let mut late = None;
        for (checked, finding) in (1..).zip(std::mem::take(&mut findings.races)) {
            each(checked);
            let race = finding.race;
            late = late.or_else(|| stop.due());
            if late.is_some() {
                findings.undecided.push(race);
                continue;
            }
            let verdict = match finding.witness {
                Some(witness) => witnesses.accept(&race, witness).map(Some),
                None => Ok(None),
            };
            match verdict {
                Ok(Some(witness)) => races.push(JudgedRace {
                    race,
                    witness: Some(witness),
                }),
                Ok(None) => findings.undecided.push(race),
                Err(refusal) => {
                    findings.undecided.push(race);
                    refused.push((race, refusal));
                }
            }
        }
        findings.stopped = findings.stopped.or(late);
        findings.exhaustive &= findings.undecided.is_empty();
        if !refused.is_empty() || late.is_some() {
            let shown = races.iter().map(|shown| shown.race.into());
            findings.racy = racy(&shown.collect::<Vec<_>>());
        }
        findings.undecided.sort_by_key(Race::key);
        Judgement {
            races,
            rest: findings,
            refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use deadheat_model::StopReason;
    use deadheat_offline::m2;
    use deadheat_testing::traces::trace;

    use super::*;

    #[test]
    fn a_race_that_the_checker_did_not_come_to_is_undecided() {
        let trace = trace("T1 w(x); T2 w(x); T3 w(x)");
        let witnesses = Witnesses::new(&trace).unwrap();
        let found = m2::ENGINE.check(&trace).unwrap();
        let proven = |stop| Judgement::proven(found.clone(), &witnesses, stop, |_| {});
        let all = proven(StopToken::default());
        assert_eq!((all.races.len(), all.rest.undecided.len()), (3, 0));
        assert_eq!(all.rest.stopped, None);
        let none = proven(StopToken::default().or_after(Duration::ZERO));
        assert_eq!((none.races.len(), none.rest.undecided.len()), (0, 3));
        assert_eq!(none.rest.stopped, Some(StopReason::TimeUp));
        assert!(!none.rest.exhaustive && none.rest.racy.is_empty());
    }

    /// Of very many threads, a witness names those that come before the race.
    #[test]
    fn a_witness_takes_room_for_what_comes_before_the_race_only() {
        let threads = (1..100).map(|n| format!("T{n} w(x)"));
        let trace = trace(&threads.collect::<Vec<_>>().join(";"));
        let witnesses = Witnesses::new(&trace).unwrap();
        let found = m2::ENGINE.check(&trace).unwrap();
        let all = Judgement::proven(found, &witnesses, StopToken::default(), |_| {});
        assert_eq!(all.races.len(), 99 * 98 / 2);
        for shown in all.races {
            let witness = shown.witness.unwrap();
            assert!(witness.proof().upto.len() <= 2, "{:?}", witness.proof());
        }
    }
}
