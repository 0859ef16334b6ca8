//! What can go wrong with a `.tp` program, as findings: of a run, and of a search over schedules, which numbers its strands
//! in its own way.

use std::sync::Arc;

use deadheat_explore::{PossibleAccess, PossibleRace};
use deadheat_lang::{ErrorKind, RuntimeError, WaitingStrand, WaitsFor};
use deadheat_model::finding::{
    Act, Describer, Finding, Proof, Rule, Side, SourceLines, Variable, short_name,
};
use deadheat_model::{Names, Race, Site, Strand};

use crate::{Replay, VerifiedSchedule};

/// How many of those who wait in a deadlock are listed.
pub const MAX_WAITING: usize = 1000;

/// Describes what a run or a search found, by the program's names.
pub struct ProgramFindings<'t> {
    describer: Describer<'t>,
    lines: &'t dyn SourceLines,
    /// The names of a search's strands.
    strands: Option<&'t [String]>,
    engine: &'static str,
}

impl<'t> ProgramFindings<'t> {
    /// Of a run that this engine judged.
    pub fn of_run(
        names: &'t Names,
        lines: &'t dyn SourceLines,
        engine: &'static str,
    ) -> ProgramFindings<'t> {
        ProgramFindings {
            describer: Describer::new(names, lines),
            lines,
            strands: None,
            engine,
        }
    }

    /// Of a search.
    pub fn of_search(
        names: &'t Names,
        lines: &'t dyn SourceLines,
        engine: &'static str,
        search: &Replay<'t>,
    ) -> ProgramFindings<'t> {
        ProgramFindings {
            strands: Some(&search.exploration.strand_names),
            ..ProgramFindings::of_run(names, lines, engine)
        }
    }

    /// A race of the run, or what the engine takes for one.
    pub fn race(&mut self, rule: Rule, race: &Race) -> Finding {
        self.describer.finding(rule, self.engine, race)
    }

    /// Every race of a search; `through_sections`: it was over orders of sections, and each race names them.
    pub fn races(
        &mut self,
        rule: Rule,
        search: &Replay<'_>,
        through_sections: bool,
    ) -> Vec<Finding> {
        let races = search.races.iter();
        let races = races.map(|(race, proof)| {
            let proof = match through_sections {
                true => proof.clone().map(|proof| {
                    let sections = race.sections.iter();
                    let sections = sections.map(|&strand| self.strand(strand).to_string());
                    proof.through(sections.collect())
                }),
                false => proof.clone(),
            };
            self.possible_race(rule, race, proof)
        });
        races.collect()
    }

    fn possible_race(
        &mut self,
        rule: Rule,
        race: &PossibleRace,
        proof: Option<VerifiedSchedule>,
    ) -> Finding {
        let mut side = |access: &PossibleAccess| {
            let place = self.describer.place(access.site);
            Side::new(Act::plain(access.kind), self.strand(access.strand), place)
        };
        let sides = vec![side(&race.first), side(&race.second)];
        let variable = Variable::named(&*race.location);
        self.finished(Finding::new(rule, self.engine, variable, sides), proof)
    }

    /// Who waits for what in a deadlock, of very many the first.
    pub fn deadlock(
        &mut self,
        waiting: &[WaitingStrand],
        proof: Option<VerifiedSchedule>,
    ) -> Finding {
        let sides = waiting.iter().take(MAX_WAITING).map(|waiting| {
            let act = Act::Wait(self.waits_for(waiting).into());
            let place = self.describer.place(waiting.site);
            Side::new(act, self.strand(waiting.strand), place)
        });
        let sides = sides.collect();
        let mut finding = Finding::new(Rule::Deadlock, self.engine, Variable::default(), sides);
        finding.count = waiting.len() as u64;
        self.finished(finding, proof)
    }

    /// An error that the program ends with.
    pub fn failure(&mut self, error: &RuntimeError, proof: Option<VerifiedSchedule>) -> Finding {
        let finding = self.failed(&error.kind.to_string(), error.site, error.strand);
        let mut finding = finding;
        if let ErrorKind::SetTwice { first } = error.kind {
            let place = self.describer.place(first);
            let thread = self.strand(error.strand);
            finding.sides.push(Side::new(Act::SetFirst, thread, place));
        }
        self.finished(finding, proof)
    }

    /// A run that was stopped before its end because it took so many steps.
    pub fn endless(&mut self, message: &str, site: Site, strand: Strand) -> Finding {
        let finding = self.failed(message, site, strand);
        self.finished(finding, None)
    }

    fn failed(&mut self, message: &str, site: Site, strand: Strand) -> Finding {
        let act = Act::Fail(message.into());
        let side = Side::new(act, self.strand(strand), self.describer.place(site));
        Finding::new(Rule::Failure, self.engine, Variable::default(), vec![side])
    }

    fn finished(&self, mut finding: Finding, proof: Option<VerifiedSchedule>) -> Finding {
        finding.proof = proof.map(|proof| Arc::new(proof) as Arc<dyn Proof>);
        finding.identified(self.lines)
    }

    fn strand(&mut self, strand: Strand) -> Arc<str> {
        let name = self.strands.and_then(|names| names.get(strand.index()));
        match name {
            Some(name) => short_name(name).into(),
            None => self.describer.strand(strand),
        }
    }

    fn waits_for(&mut self, waiting: &WaitingStrand) -> String {
        let name = waiting.name.as_deref();
        let named = |what: &str| match name {
            Some(name) => format!("{what} `{name}`"),
            None => format!("a {what}"),
        };
        let mut text = match waiting.waits_for {
            WaitsFor::Promise(_) => format!("{}, which nobody has set", named("promise")),
            WaitsFor::Strand(strand) => format!("{} to end", self.strand(strand)),
            WaitsFor::Finish(_) => "the tasks of its finish to end".to_string(),
            WaitsFor::Lock(_) => named("lock"),
            WaitsFor::Semaphore(_) => format!("a token of {}", named("semaphore")),
            WaitsFor::Event(_) => format!("{} to be posted", named("event")),
            WaitsFor::Isolated => "`isolated`".to_string(),
        };
        if let Some(holder) = waiting.held_by {
            text += &format!(", held by {}", self.strand(holder));
        }
        if waiting.holder_ended {
            text += ", which has ended";
        }
        text
    }
}
