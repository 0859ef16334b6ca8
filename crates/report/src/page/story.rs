//! The events that lead to a race, in an order that shows it, for a page to play.
//!
//! What is told: the end of a witness; or of the execution as it was, up to the second access. Names are told once.
//! Cost: the events told, and for the locks that are held at their beginning one pass over those before.

use deadheat_model::{EventNumber, Execution, Op, Race, Strand};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::analyze::WitnessReport;

/// The most events of one story.
const MAX_EVENTS: usize = 100_000;

/// How many events all stories of a page have together.
const MAX_TOGETHER: usize = 200_000;

/// How many events before a story are looked at for the locks that are held at its beginning.
const MAX_BEFORE: usize = 1_000_000;

/// Events one after the other.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Story {
    /// Who takes part.
    threads: Vec<String>,
    /// What is done, each once.
    actions: Vec<String>,
    /// Where, each once.
    places: Vec<String>,
    /// How many events come before these.
    before: u64,
    /// Who holds which lock at the beginning, by its name; nothing if that is not known.
    held: Option<Vec<(usize, String)>>,
    /// Whether it is another order than the recorded one.
    reordered: bool,
    /// Thread, action and place of each event, by number, and its own number in the execution.
    events: Vec<(usize, usize, usize, EventNumber)>,
    /// Which two of the events race.
    race: (usize, usize),
}

/// How much there is room for on a page.
#[derive(Debug)]
pub struct Room {
    events: usize,
    graphs: usize,
}

impl Default for Room {
    fn default() -> Room {
        Room {
            events: MAX_TOGETHER,
            graphs: 50_000_000,
        }
    }
}

impl Room {
    /// Whether another graph can be made by a pass over so many events.
    pub fn take_graph(&mut self, events: usize) -> bool {
        let fits = self.graphs >= events;
        self.graphs = self.graphs.saturating_sub(events + 10_000);
        fits
    }

    fn most(&self) -> usize {
        // Later stories get their share.
        MAX_EVENTS.min(self.events.max(400) / 2)
    }
}

impl Story {
    /// A witness's, as far as there is room.
    pub fn of_witness(witness: &WitnessReport, room: &mut Room) -> Option<Story> {
        let spelling = &witness.spelling;
        let all = spelling.length(witness.proof());
        let end = spelling.end(witness.proof(), room.most());
        let before = all - end.len() as u64;
        let race = (end.len().checked_sub(2)?, end.len() - 1);
        let mut story = Story::new(spelling.trace(), &end, race, room)?;
        story.before = before;
        story.reordered = true;
        if before == 0 {
            story.held = Some(Vec::new());
        }
        Some(story)
    }

    /// The execution's as it was, up to the second access of a race.
    pub fn of_execution(execution: &Execution, race: &Race, room: &mut Room) -> Option<Story> {
        let (first, last) = (race.first.event, race.second.event);
        let most = room.most() as u64;
        let from = last.saturating_sub(most - 1).max(1);
        if first < from {
            return None;
        }
        let numbers: Vec<EventNumber> = (from..=last).collect();
        let racing = ((first - from) as usize, (last - from) as usize);
        let mut story = Story::new(execution, &numbers, racing, room)?;
        story.before = from - 1;
        story.held = held_before(execution, from).map(|held| {
            let names = &execution.names;
            let held = held.into_iter().map(|(strand, lock)| {
                (
                    story.thread(&names.strand(strand)),
                    names.lock(lock).into_owned(),
                )
            });
            held.collect()
        });
        Some(story)
    }

    fn new(
        execution: &Execution,
        numbers: &[EventNumber],
        race: (usize, usize),
        room: &mut Room,
    ) -> Option<Story> {
        let mut story = Story {
            race,
            ..Story::default()
        };
        room.events = room.events.saturating_sub(numbers.len());
        let mut known: [FxHashMap<String, usize>; 3] = Default::default();
        for &number in numbers {
            let event = execution.event(number)?;
            let names = &execution.names;
            let texts = [
                names.strand(event.strand()).into_owned(),
                names.action(event.op()).to_string(),
                names.site(event.site()).into_owned(),
            ];
            let lists = [&mut story.threads, &mut story.actions, &mut story.places];
            let mut parts =
                texts
                    .into_iter()
                    .zip(&mut known)
                    .zip(lists)
                    .map(|((text, known), list)| {
                        *known.entry(text).or_insert_with_key(|text| {
                            list.push(text.clone());
                            list.len() - 1
                        })
                    });
            let (thread, action, place) = (parts.next()?, parts.next()?, parts.next()?);
            story.events.push((thread, action, place, number));
        }
        Some(story)
    }

    fn thread(&mut self, name: &str) -> usize {
        let place = self.threads.iter().position(|known| known == name);
        place.unwrap_or_else(|| {
            self.threads.push(name.to_string());
            self.threads.len() - 1
        })
    }

    /// The places that the last events are at.
    pub fn last_places(&self, most: usize) -> impl Iterator<Item = &str> {
        let events = &self.events[self.events.len().saturating_sub(most)..];
        events
            .iter()
            .map(|&(_, _, place, _)| self.places[place].as_str())
    }
}

/// Who holds which lock before an event; nothing if that is too far to look.
fn held_before(
    execution: &Execution,
    number: EventNumber,
) -> Option<Vec<(Strand, deadheat_model::Lock)>> {
    let before = usize::try_from(number - 1).ok()?;
    if before > MAX_BEFORE {
        return None;
    }
    let mut held = Vec::new();
    for event in &execution.events[..before.min(execution.events.len())] {
        match event.op() {
            Op::Acquire(lock) | Op::AcquireShared(lock) => held.push((event.strand(), lock)),
            Op::Release(lock) | Op::ReleaseShared(lock) => {
                let own = (event.strand(), lock);
                if let Some(place) = held.iter().rposition(|known| *known == own) {
                    held.remove(place);
                }
            }
            _ => {}
        }
    }
    Some(held)
}
