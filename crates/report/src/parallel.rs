//! How the two strands of a race came to run side by side, and what would have ordered them: a sentence each.
//!
//! What would have ordered them is said only where it is sure: of a strand and one that it started, and of two that
//! one strand started. Cost: a pass over the execution, once.

use deadheat_model::{Execution, Names, Op, Race, Site, Strand};
use rustc_hash::FxHashMap;

/// What helps where the order does not matter.
const APART: &str = "or put both accesses into `isolated` or under one lock";

/// Where each strand was started, and by whom.
pub struct Starts<'e> {
    names: &'e Names,
    starts: FxHashMap<Strand, Start>,
}

#[derive(Clone, Copy)]
struct Start {
    parent: Strand,
    site: Site,
    /// Its place among the events.
    at: usize,
}

impl<'e> Starts<'e> {
    /// Of an execution.
    pub fn new(execution: &'e Execution) -> Starts<'e> {
        let mut starts = FxHashMap::default();
        for (at, event) in execution.events.iter().enumerate() {
            if let Op::Async(child) | Op::Future(child) | Op::Fork(child) = event.op() {
                starts.entry(child).or_insert(Start {
                    parent: event.strand(),
                    site: event.site(),
                    at,
                });
            }
        }
        Starts {
            names: &execution.names,
            starts,
        }
    }

    /// How the two strands of a race came to run side by side; nothing if nobody started them. And what would have ordered
    /// them, where that is sure.
    pub fn story(
        &self,
        race: &Race,
        name: &dyn Fn(Strand) -> String,
    ) -> (Option<String>, Option<String>) {
        let (a, b) = (race.first.strand, race.second.strand);
        let start = |strand| self.starts.get(&strand).copied();
        let place = |start: Start| self.names.site(start.site).into_owned();
        match (start(a), start(b)) {
            (Some(one), Some(other)) if one.parent == other.parent => {
                let ((first, one), (second, other)) = match one.at < other.at {
                    true => ((a, one), (b, other)),
                    false => ((b, other), (a, one)),
                };
                let (parent, first, second) = (name(one.parent), name(first), name(second));
                let story = format!(
                    "{parent} starts {first} at {}, and {second} at {}",
                    place(one),
                    place(other)
                );
                let remedy = format!("let {parent} wait for {first} before it starts {second}");
                (Some(story), Some(format!("{remedy}, {APART}")))
            }
            (Some(one), _) if one.parent == b => self.child(a, one, name),
            (_, Some(other)) if other.parent == a => self.child(b, other, name),
            (None, None) => (None, None),
            (one, other) => {
                let sides = [(a, one), (b, other)].into_iter();
                let sides = sides.filter_map(|(strand, start)| Some((strand, start?)));
                let sides = sides.map(|(strand, start)| {
                    format!(
                        "{} is started by {} at {}",
                        name(strand),
                        name(start.parent),
                        place(start)
                    )
                });
                (Some(sides.collect::<Vec<String>>().join(", ")), None)
            }
        }
    }

    fn child(
        &self,
        child: Strand,
        start: Start,
        name: &dyn Fn(Strand) -> String,
    ) -> (Option<String>, Option<String>) {
        let (parent, child) = (name(start.parent), name(child));
        let place = self.names.site(start.site);
        let story = format!("{parent} starts {child} at {place}, and goes on");
        let remedy = format!("let {parent} wait for {child} before its own access");
        (Some(story), Some(format!("{remedy}, {APART}")))
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::{AccessKind, Event, Location, RacingAccess};

    use super::*;

    /// What is said of the writes of two strands, after these events; strand 0 is `S0`.
    fn story(ops: &[(u32, Op)], first: u32, second: u32) -> (Option<String>, Option<String>) {
        let sites = (0..).map(Site).zip(ops);
        let events = sites.map(|(site, &(strand, op))| Event::new(Strand(strand), op, site));
        let mut execution = Execution {
            events: events.collect(),
            ..Execution::default()
        };
        execution.names.sites = (0..ops.len()).map(|n| format!("a:{n}")).collect();
        let access = |strand| RacingAccess {
            event: 1,
            strand: Strand(strand),
            site: Site(0),
            kind: AccessKind::Write,
        };
        let race = Race {
            location: Location(0),
            first: access(first),
            second: access(second),
            count: 1,
        };
        Starts::new(&execution).story(&race, &|strand| format!("S{}", strand.0))
    }

    #[test]
    fn who_started_whom_is_told() {
        let siblings = [(0, Op::Async(Strand(1))), (0, Op::Future(Strand(2)))];
        let said = |story: &str, remedy: &str| {
            let remedy = format!("{remedy}, {APART}");
            (Some(story.to_string()), Some(remedy))
        };
        let told = said(
            "S0 starts S1 at a:0, and S2 at a:1",
            "let S0 wait for S1 before it starts S2",
        );
        assert_eq!(story(&siblings, 1, 2), told);
        assert_eq!(story(&siblings, 2, 1), told);
        let told = said(
            "S0 starts S2 at a:1, and goes on",
            "let S0 wait for S2 before its own access",
        );
        assert_eq!(story(&siblings, 0, 2), told);
        assert_eq!(story(&siblings, 2, 0), told);
        let cousins = [
            (0, Op::Fork(Strand(1))),
            (0, Op::Fork(Strand(2))),
            (1, Op::Fork(Strand(3))),
        ];
        let said = "S3 is started by S1 at a:2, S2 is started by S0 at a:1";
        assert_eq!(story(&cousins, 3, 2), (Some(said.to_string()), None));
        assert_eq!(story(&[], 1, 2), (None, None));
    }
}
