//! The thesis's theorems about computation events, against every schedule.
//!
//! Brute force: two computation events run at the same time in a schedule if each becomes the next of
//! its strand before the other is done, both are done as in the execution, and every strand does what
//! it did there until then.

use std::collections::BTreeSet;

use deadheat_model::Event;
use deadheat_testing::programs::ScheduleRun;
use deadheat_testing::thesis::{Analysis, Detail, View};

use crate::truth::conflicting_overlap;

/// What is true of the pairs of a view, by index.
pub struct ViewTruth {
    pub feasible: BTreeSet<usize>,
    pub unaffected: BTreeSet<usize>,
}

impl ViewTruth {
    pub fn new(base: &[Event], view: &View, all: &[ScheduleRun]) -> ViewTruth {
        let mut sequences: Vec<Vec<(Event, usize)>> = Vec::new();
        for (index, event) in base.iter().enumerate() {
            let strand = event.strand().index();
            sequences.resize(sequences.len().max(strand + 1), Vec::new());
            sequences[strand].push((*event, index));
        }
        let mut truth = ViewTruth {
            feasible: BTreeSet::new(),
            unaffected: BTreeSet::new(),
        };
        for one in all {
            truth.visit(&sequences, view, &one.events);
        }
        truth
    }

    fn visit(&mut self, sequences: &[Vec<(Event, usize)>], view: &View, schedule: &[Event]) {
        // When each of the execution's events is done, and when it is the next of its strand.
        let events = sequences.iter().map(Vec::len).sum();
        let (mut done_at, mut next_at) = (vec![usize::MAX; events], vec![0; events]);
        let mut done = vec![0; sequences.len()];
        for (position, event) in schedule.iter().enumerate() {
            let strand = event.strand().index();
            let same = sequences.get(strand).and_then(|all| all.get(done[strand]));
            let Some(&(_, index)) = same.filter(|(same, _)| same == event) else {
                break;
            };
            done_at[index] = position;
            done[strand] += 1;
            if let Some(&(_, next)) = sequences[strand].get(done[strand]) {
                next_at[next] = position + 1;
            }
        }
        for (number, pair) in view.pairs.iter().enumerate() {
            let [a, b] = [pair.a, pair.b].map(|event| view.events[event as usize].span);
            if [a.1, b.1].iter().any(|&last| done_at[last] == usize::MAX) {
                continue;
            }
            // A computation event lasts until its strand does something else.
            let ends = [a.1, b.1].map(|last| {
                let of_strand = sequences.iter().find(|all| all.iter().any(|e| e.1 == last));
                let mut of_strand = of_strand.into_iter().flatten();
                let after = of_strand.find(|event| event.1 > last);
                after.map_or(usize::MAX, |event| done_at[event.1])
            });
            let begins = [a.0, b.0].map(|first| next_at[first]);
            if begins[0] < ends[1] && begins[1] < ends[0] {
                self.feasible.insert(number);
                let both = done_at[a.1].max(done_at[b.1]) + 1;
                let strands = [a.0, b.0].map(|first| {
                    let strand = sequences
                        .iter()
                        .position(|all| all.iter().any(|e| e.1 == first));
                    strand.unwrap_or_default()
                });
                if !conflicting_overlap(&schedule[..both], strands) {
                    self.unaffected.insert(number);
                }
            }
        }
    }
}

/// A theorem that an execution contradicts.
pub fn fault(base: &ScheduleRun, all: &[ScheduleRun], detail: Detail) -> Option<String> {
    let view = View::between_synchronisation(&base.execution).ok()?;
    let truth = ViewTruth::new(&base.events, &view, all);
    let Analysis {
        races,
        first_partitions,
        ..
    } = view.analyse(detail);
    let spell = |number: usize| {
        let [a, b] = [view.pairs[number].a, view.pairs[number].b];
        let [a, b] = [a, b].map(|event| &view.events[event as usize]);
        format!("{a:?} and {b:?}")
    };
    for (number, race) in races.iter().enumerate() {
        let theorem = match (race.by_data, race.by_control) {
            (true, _) => "7.1",
            (_, true) => "7.3",
            _ => continue,
        };
        if !truth.feasible.contains(&number) {
            return Some(format!(
                "theorem {theorem}: no schedule shows {}",
                spell(number)
            ));
        }
    }
    let tangles = races
        .iter()
        .filter_map(|race| race.tangle)
        .max()
        .map_or(0, |last| last + 1);
    for tangle in 0..tangles {
        let mut members = races
            .iter()
            .enumerate()
            .filter(|(_, race)| race.tangle == Some(tangle));
        if !members.any(|(number, _)| truth.feasible.contains(&number)) {
            return Some("theorem 7.2: a tangle without a feasible race".to_string());
        }
    }
    for partition in 0..first_partitions {
        let mut members = races
            .iter()
            .enumerate()
            .filter(|(_, race)| race.first == Some(partition));
        if !members.any(|(number, _)| truth.unaffected.contains(&number)) {
            return Some("theorem 8.2: a first partition of artifacts".to_string());
        }
    }
    None
}
