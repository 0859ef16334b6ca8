//! Proofs that their checker has accepted.
//!
//! An engine's witness is the engine's word. [`Verified`] is a proof that this crate's checker has
//! accepted, and only the checker makes one; reports take nothing else.

use deadheat_model::{Findings, Race, Witness, racy};

use crate::witness::{Refusal, Witnesses};

/// A proof that its checker has accepted.
#[derive(Clone, Debug)]
pub struct Verified<P>(P);

impl<P> Verified<P> {
    /// For checkers of this crate, once they have accepted it.
    pub(crate) fn accepted(proof: P) -> Verified<P> {
        Verified(proof)
    }

    /// The proof.
    pub fn proof(&self) -> &P {
        &self.0
    }
}

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
    /// have been. A race without a proof that the checker accepts is undecided.
    pub fn proven(
        mut findings: Findings,
        witnesses: &Witnesses,
        mut each: impl FnMut(u64),
    ) -> Judgement {
        let (mut races, mut refused) = (Vec::new(), Vec::new());
        for (checked, finding) in (1..).zip(std::mem::take(&mut findings.races)) {
            each(checked);
            let race = finding.race;
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
        findings.exhaustive &= findings.undecided.is_empty();
        if !refused.is_empty() {
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
