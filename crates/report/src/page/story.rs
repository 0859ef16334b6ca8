//! The events that lead to a race, in an order that shows it, for a page to play.
//!
//! What is told: the end of a witness; or of the execution as it was, up to the second access. Names are told once.
//! Cost: the events told, and for the locks that are held at their beginning one pass over those before.

use std::hash::Hash;

use deadheat_model::finding::{Reordering, short_name};
use deadheat_model::{EventNumber, Execution, Names, Op, Race, Strand};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::text::style::cut;
use crate::words::MAX_THREAD;

use super::{MAX_NAME, MAX_PLACE};

/// The most events of one story.
const MAX_EVENTS: usize = 100_000;

/// How many events all stories of a page have together.
const MAX_TOGETHER: usize = 200_000;

/// How many events all passes for graphs go over together; at most 300 of them.
const MAX_PASSES: usize = 30_000_000;

/// How many events before a story are looked at for the locks that are held at its beginning.
const MAX_BEFORE: usize = 1_000_000;

/// The most strands of one story.
const MAX_STRANDS: usize = 500;

/// How many bytes of names count as an event.
const TEXT: usize = 64;

/// Events one after the other.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Story {
    /// Who takes part.
    threads: Vec<String>,
    /// Which strands these are: two can have one name.
    #[serde(skip)]
    strands: Vec<Strand>,
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
            graphs: MAX_PASSES,
        }
    }
}

impl Room {
    /// Whether another graph can be made by a pass over so many events.
    pub fn take_graph(&mut self, events: usize) -> bool {
        let fits = self.graphs >= events;
        self.graphs = self.graphs.saturating_sub(events + MAX_PASSES / 300);
        fits
    }

    /// How many events the next story may have: later ones get their share.
    fn most(&self) -> usize {
        match self.events {
            0 => 0,
            left => MAX_EVENTS.min(left / 2).max(200),
        }
    }
}

impl Story {
    /// A witness's, as far as there is room.
    pub fn of_witness(order: &dyn Reordering, room: &mut Room) -> Option<Story> {
        if room.events == 0 {
            return None;
        }
        let end = order.end(room.most());
        let before = order.length() - end.len() as u64;
        let race = (end.len().checked_sub(2)?, end.len() - 1);
        let mut story = Story::new(order.execution(), &end, race, room)?;
        story.before += before;
        story.reordered = true;
        if story.before == 0 {
            story.held = Some(Vec::new());
        }
        Some(story)
    }

    /// The execution's as it was, up to the second access of a race.
    pub fn of_execution(execution: &Execution, race: &Race, room: &mut Room) -> Option<Story> {
        let (first, last) = (race.first.event, race.second.event);
        let most = room.most() as u64;
        let from = (last + 1).saturating_sub(most).max(1);
        if first < from || most == 0 {
            return None;
        }
        let numbers: Vec<EventNumber> = (from..=last).collect();
        let racing = ((first - from) as usize, (last - from) as usize);
        let mut story = Story::new(execution, &numbers, racing, room)?;
        story.before += from - 1;
        story.held = held_before(execution, story.before + 1).map(|held| {
            let names = &execution.names;
            let held = held.into_iter().map(|(strand, lock)| {
                let lock = cut(&names.lock(lock), MAX_NAME);
                (story.thread(strand, names), lock)
            });
            held.collect()
        });
        Some(story)
    }

    /// Of these events, the last of which are told: as many as few enough strands have.
    fn new(
        execution: &Execution,
        numbers: &[EventNumber],
        race: (usize, usize),
        room: &mut Room,
    ) -> Option<Story> {
        let left_out = numbers.len() - few_strands(execution, numbers);
        let numbers = &numbers[left_out..];
        let names = &execution.names;
        let (mut threads, mut strands) = (Table::default(), Vec::new());
        let mut actions = Table::default();
        let mut places = Table::default();
        let mut events = Vec::new();
        for &number in numbers {
            let event = execution.event(number)?;
            let (strand, site) = (event.strand(), event.site());
            events.push((
                threads.number(strand, || {
                    strands.push(strand);
                    cut(&short_name(&names.strand(strand)), MAX_THREAD)
                }),
                actions.number(event.to_parts(), || {
                    cut(&names.action(event.op()).to_string(), MAX_NAME)
                }),
                places.number(site, || cut(&names.site(site), MAX_PLACE)),
                number,
            ));
        }
        let texts = [&threads.texts, &actions.texts, &places.texts];
        let bytes: usize = texts.into_iter().flatten().map(String::len).sum();
        let taken = events.len() + bytes / TEXT;
        room.events = room.events.saturating_sub(taken);
        Some(Story {
            threads: threads.texts,
            strands,
            actions: actions.texts,
            places: places.texts,
            before: left_out as u64,
            race: (race.0.checked_sub(left_out)?, race.1.checked_sub(left_out)?),
            events,
            ..Story::default()
        })
    }

    fn thread(&mut self, strand: Strand, names: &Names) -> usize {
        let place = self.strands.iter().position(|known| *known == strand);
        place.unwrap_or_else(|| {
            self.strands.push(strand);
            self.threads
                .push(cut(&short_name(&names.strand(strand)), MAX_THREAD));
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

/// Texts by number, each once.
struct Table<K> {
    known: FxHashMap<K, usize>,
    texts: Vec<String>,
}

impl<K> Default for Table<K> {
    fn default() -> Table<K> {
        Table {
            known: FxHashMap::default(),
            texts: Vec::new(),
        }
    }
}

impl<K: Eq + Hash> Table<K> {
    fn number(&mut self, key: K, text: impl FnOnce() -> String) -> usize {
        *self.known.entry(key).or_insert_with(|| {
            self.texts.push(text());
            self.texts.len() - 1
        })
    }
}

/// How many of the last events are about at most [`MAX_STRANDS`]: names of tasks are as long as the tasks are deep.
fn few_strands(execution: &Execution, numbers: &[EventNumber]) -> usize {
    let mut strands = FxHashSet::default();
    let fits = |number: &&EventNumber| {
        let Some(event) = execution.event(**number) else {
            return false;
        };
        strands.insert(event.strand());
        if let Op::Async(other) | Op::Future(other) | Op::Fork(other) | Op::Join(other) = event.op()
        {
            strands.insert(other);
        }
        strands.len() <= MAX_STRANDS
    };
    numbers.iter().rev().take_while(fits).count()
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
