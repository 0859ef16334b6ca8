//! A trace as RAPID's own readers accept it: places are numbers, names are plain, and there is no operation that
//! RAPID does not know.
//!
//! Places that are numbers stay as they are if all are; otherwise each gets its own, from 1. A name with a
//! character that means something in STD or CSV is replaced by a letter and its number. `isolated` becomes a
//! lock. What is left is refused.

use deadheat_model::words::{Table, word_of};
use deadheat_model::{Event, Lock, Names, Op, ReadKind};

use crate::error::TraceError;

/// Turns events into such that RAPID reads.
pub struct ForRapid {
    names: Names,
    isolation: Lock,
    /// The number of the next event.
    next: u64,
}

impl ForRapid {
    /// For the events of a trace with these names, all of them.
    pub fn new(names: &Names) -> ForRapid {
        let isolation = Lock(names.locks.len() as u64);
        let mut plain = Names {
            strands: names.strands.clone(),
            sites: names.sites.clone(),
            locations: names.locations.clone(),
            locks: names.locks.clone(),
            ..Names::default()
        };
        plain.locks.push("isolated".to_string());
        for table in [Table::Strands, Table::Locations, Table::Locks] {
            let names = table.of_mut(&mut plain);
            // An empty name is replaced when it is written.
            names
                .iter_mut()
                .filter(|name| !is_plain(name))
                .for_each(String::clear);
        }
        let is_number = |name: &String| name.parse::<u32>().is_ok_and(|n| n.to_string() == *name);
        if !plain.sites.iter().all(is_number) {
            let numbers = 1..=plain.sites.len();
            plain.sites = numbers.map(|number| number.to_string()).collect();
        }
        ForRapid {
            names: plain,
            isolation,
            next: 1,
        }
    }

    /// The names to be written.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The next events, as RAPID knows them.
    pub fn translate(&mut self, events: &[Event]) -> Result<Vec<Event>, TraceError> {
        let translate = |event: &Event| {
            let number = self.next;
            self.next += 1;
            let op = match event.op() {
                Op::Read(x, _) => Op::Read(x, ReadKind::Control),
                Op::IsolatedBegin => Op::Acquire(self.isolation),
                Op::IsolatedEnd => Op::Release(self.isolation),
                op @ (Op::Write(_) | Op::Acquire(_) | Op::Release(_) | Op::Request(_)) => op,
                op @ (Op::Fork(_) | Op::Join(_) | Op::Begin | Op::End | Op::Branch) => op,
                _ => {
                    let (code, detail, _) = event.to_parts();
                    let word = word_of(code, detail).word;
                    return Err(TraceError::NotInRapid { number, word });
                }
            };
            Ok(Event::new(event.strand(), op, event.site()))
        };
        events.iter().map(translate).collect()
    }
}

fn is_plain(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.all(|byte| byte.is_ascii_graphic() && !b"|(),%#\"~".contains(&byte))
}
