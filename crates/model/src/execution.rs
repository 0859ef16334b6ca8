//! An execution: events in the order they happened, and the names of what they mention.

use std::fmt;

use crate::{Event, EventNumber, Names, Witness};

/// The events of one execution in the order in which they happened, numbered from 1. Where it comes
/// from makes no difference: a `.tp` program's run, a trace on disk, a native program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Execution {
    /// What happened.
    pub events: Vec<Event>,
    /// What the numbers mean.
    pub names: Names,
}

impl Execution {
    /// The event of a number, if the execution has it.
    pub fn event(&self, number: EventNumber) -> Option<&Event> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        self.events.get(index)
    }

    /// A witness event by event.
    pub fn spell_out<'a>(&'a self, witness: &'a Witness) -> impl Iterator<Item = EventNumber> + 'a {
        let unmoved = self.events.iter().zip(1..);
        let unmoved = unmoved.take_while(|&(_, number)| number < witness.before);
        let unmoved = unmoved.filter(|&(event, number)| number <= witness.last_of(event.strand()));
        let unmoved = unmoved.map(|(_, number)| number);
        unmoved.chain(witness.then.iter().copied())
    }
}

/// One event a line, as in a trace.
impl fmt::Display for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut events = self.events.iter();
        events.try_for_each(|event| writeln!(f, "{}", self.names.line(event)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Location, Names, Op, Parent, Promise, Semaphore, Site, SourcePosition, Strand};

    fn two_events(names: Names) -> Execution {
        let events = vec![
            Event::new(Strand(0), Op::P(Semaphore(0)), Site(0)),
            Event::new(Strand(1), Op::Write(Location(0)), Site(1)),
        ];
        Execution { events, names }
    }

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn an_execution_is_shown_one_event_a_line() {
        let names = Names {
            strands: list(&["T1", "T2"]),
            sites: list(&["a.c:1", "a.c:2"]),
            semaphores: list(&["s"]),
            locations: list(&["x"]),
            ..Names::default()
        };
        assert_eq!(
            two_events(names).to_string(),
            "T1|p(s)|a.c:1\nT2|w(x)|a.c:2\n"
        );
    }

    #[test]
    fn what_has_no_name_is_shown_by_number() {
        assert_eq!(
            two_events(Names::default()).to_string(),
            "T0|p(S0)|0\nT1|w(V0)|1\n"
        );
    }

    #[test]
    fn a_strand_without_a_name_is_called_by_its_path_and_a_place_by_its_position() {
        let child = |strand, ordinal| Some(Parent { strand, ordinal });
        let names = Names {
            parents: vec![None, child(Strand(0), 2), child(Strand(1), 1)],
            positions: vec![SourcePosition {
                line: 3,
                column: 5,
                offset: 0,
                length: 0,
            }],
            promises: list(&["ready"]),
            ..Names::default()
        };
        assert_eq!(names.strand(Strand(0)), "main");
        assert_eq!(names.strand(Strand(2)), "main/2/1");
        assert_eq!(names.site(Site(0)), "3:5");
        assert_eq!(names.action(Op::Set(Promise(0))).to_string(), "set(ready)");
        assert_eq!(
            names.action(Op::Fork(Strand(1))).to_string(),
            "fork(main/2)"
        );
        assert_eq!(names.lock(names.isolation()), "isolated");
    }
}
