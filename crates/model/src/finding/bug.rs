//! Bugs: findings that one change mends.
//!
//! A variable written at one line and read at twenty is one bug with twenty races. A bug is a set of races of one variable
//! that share a line which writes. Each race belongs to one bug: the one of its writes that most races share. What is no
//! race is a bug of its own. Cost: linear in the findings.

use rustc_hash::FxHashMap;

use super::{Finding, Side, stable_name};

/// Findings that one change mends, by their places in a list; the first of them speaks for all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bug {
    /// The finding that is shown in full.
    pub lead: usize,
    /// The others, in their order.
    pub others: Vec<usize>,
}

/// A variable and a line that writes it.
type Write<'f> = (&'f str, String);

/// The bugs behind findings, in the order of their first findings.
pub fn bugs<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Vec<Bug> {
    let findings: Vec<&Finding> = findings.into_iter().collect();
    let mut variables: FxHashMap<&str, String> = FxHashMap::default();
    for finding in &findings {
        let name = &*finding.variable.name;
        variables.entry(name).or_insert_with(|| stable_name(name));
    }
    let writes = |finding: &Finding| -> Vec<Write<'_>> {
        if finding.pair().is_none() {
            return Vec::new();
        }
        let variable = variables[&*finding.variable.name].as_str();
        let write = |side: &Side| (variable, side.place.short());
        let sides = finding.sides.iter().filter(|side| side.act.writes());
        let mut writes: Vec<Write<'_>> = sides.map(write).collect();
        writes.dedup();
        writes
    };
    let mut shared: FxHashMap<Write<'_>, usize> = FxHashMap::default();
    for write in findings.iter().flat_map(|finding| writes(finding)) {
        *shared.entry(write).or_default() += 1;
    }
    let mut bugs: Vec<Bug> = Vec::new();
    let mut known: FxHashMap<Write<'_>, usize> = FxHashMap::default();
    for (index, finding) in findings.iter().enumerate() {
        // Of writes that as many share, the one whose place comes first: which side is first is a matter of chance.
        let own = writes(finding).into_iter();
        let most = own.max_by(|a, b| shared[a].cmp(&shared[b]).then_with(|| b.cmp(a)));
        let next = bugs.len();
        let bug = most.map_or(next, |write| *known.entry(write).or_insert(next));
        match bugs.get_mut(bug) {
            Some(bug) => bug.others.push(index),
            None => bugs.push(Bug {
                lead: index,
                others: Vec::new(),
            }),
        }
    }
    bugs
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{Act, Place, Rule, Variable};
    use super::*;
    use crate::AccessKind::{self, Read, Write};

    fn race(variable: &str, sides: [(AccessKind, &str); 2]) -> Finding {
        let side = |(kind, place): (AccessKind, &str)| {
            Side::new(Act::plain(kind), "T1".into(), Arc::new(Place::parse(place)))
        };
        let sides = sides.map(side).to_vec();
        Finding::new(Rule::Race, "hb", Variable::named(variable), sides)
    }

    #[test]
    fn a_write_and_all_its_readers_are_one_bug() {
        let findings = [
            race("clock", [(Write, "a.c:1:3"), (Read, "a.c:7:1")]),
            race("hits", [(Write, "a.c:1:9"), (Read, "a.c:7:1")]),
            race("clock", [(Read, "b.c:2:1"), (Write, "a.c:1:3")]),
            race("clock", [(Write, "c.c:4:1"), (Write, "a.c:1:3")]),
            race("clock", [(Write, "c.c:4:1"), (Read, "c.c:5:1")]),
        ];
        let bug = |lead, others: &[usize]| Bug {
            lead,
            others: others.to_vec(),
        };
        let expected = [bug(0, &[2, 3]), bug(1, &[]), bug(4, &[])];
        assert_eq!(bugs(&findings), expected);
        assert!(bugs(&[]).is_empty());
    }

    #[test]
    fn elements_of_one_array_are_one_bug() {
        let findings = [
            race("a[1]", [(Write, "a.c:1"), (Read, "a.c:2")]),
            race("a[2]", [(Write, "a.c:1"), (Read, "a.c:3")]),
        ];
        assert_eq!(bugs(&findings).len(), 1);
    }
}
