//! The findings of a check: their identities, and which of them are left out.

use std::collections::BTreeSet;

use deadheat_model::SourcePosition;

use crate::check::{AccessReport, CheckReport, DeadlockReport, ErrorReport};
use crate::filter::Filter;
use crate::fingerprint::fingerprint;
use crate::sources::Sources;

impl CheckReport {
    /// Gives every finding its identity.
    pub fn identify(&mut self, sources: &Sources) {
        let program = self.program.clone();
        let loc = |at: &SourcePosition| format!("{program}:{}:{}", at.line, at.column);
        let race = |location: &str, first: &AccessReport, second: &AccessReport| {
            let [first, second] = [loc(&first.position), loc(&second.position)];
            fingerprint(sources, "race", location, &[&first, &second])
        };
        let deadlock = |deadlock: &mut DeadlockReport| {
            let waits = deadlock
                .waiting
                .iter()
                .map(|waiting| loc(&waiting.position));
            let waits: BTreeSet<String> = waits.collect();
            let waits: Vec<&str> = waits.iter().map(String::as_str).collect();
            deadlock.fingerprint = fingerprint(sources, "deadlock", "", &waits);
        };
        let error = |error: &mut ErrorReport| {
            let place = loc(&error.position);
            error.fingerprint = fingerprint(sources, "error", &error.message, &[&place]);
        };
        for found in &mut self.races {
            found.fingerprint = race(&found.location, &found.first, &found.second);
        }
        self.deadlock.iter_mut().for_each(deadlock);
        self.error.iter_mut().for_each(error);
        if let Some(explored) = &mut self.explored {
            for found in &mut explored.races {
                found.fingerprint = race(&found.location, &found.first, &found.second);
            }
            let deadlocks = explored.deadlock.iter_mut();
            deadlocks.for_each(|found| deadlock(&mut found.what));
            let errors = explored.errors.iter_mut();
            errors.for_each(|found| error(&mut found.what));
        }
    }

    /// Leaves out what a baseline knows and what suppressions name. What the run and the search as a whole have
    /// shown stays as it is.
    pub fn filter(&mut self, filter: &Filter) {
        let mut left_out = filter.start();
        let file = self.program.as_str();
        self.races.retain(|race| {
            filter.keeps(&race.fingerprint, &race.location, [file; 2], &mut left_out)
        });
        if let Some(found) = &self.deadlock
            && filter.knows(&found.fingerprint, &mut left_out)
        {
            self.deadlock = None;
        }
        if let Some(found) = &self.error
            && filter.knows(&found.fingerprint, &mut left_out)
        {
            self.error = None;
        }
        if let Some(explanation) = &mut self.explanation {
            explanation.filter(filter);
        }
        // What the run has shown is counted once.
        let mut again = filter.start();
        if let Some(explored) = &mut self.explored {
            explored.races.retain(|race| {
                filter.keeps(&race.fingerprint, &race.location, [file; 2], &mut again)
            });
            if let Some(found) = &explored.deadlock
                && filter.knows(&found.what.fingerprint, &mut again)
            {
                explored.deadlock = None;
            }
            explored
                .errors
                .retain(|found| !filter.knows(&found.what.fingerprint, &mut again));
            left_out.known = left_out.known.max(again.known);
            left_out.suppressed = left_out.suppressed.max(again.suppressed);
        }
        self.guarantee += &left_out.sentence();
        self.left_out = left_out;
    }
}

/// What can go wrong though nothing that is listed shows it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Remainder {
    pub(crate) race: bool,
    pub(crate) deadlock: bool,
    pub(crate) error: bool,
}

impl Remainder {
    pub(crate) fn new(report: &CheckReport) -> Remainder {
        let Some(explored) = &report.explored else {
            return Remainder::default();
        };
        let own = report.races.iter().map(|race| race.location.as_str());
        let others = explored.races.iter().map(|race| race.location.as_str());
        let listed: BTreeSet<&str> = own.chain(others).collect();
        let mut racy = explored.racy_locations.iter();
        Remainder {
            race: racy.any(|location| !listed.contains(location.as_str())),
            deadlock: explored.deadlock_possible
                && explored.deadlock.is_none()
                && report.deadlock.is_none(),
            error: explored.error_possible && explored.errors.is_empty() && report.error.is_none(),
        }
    }
}
