//! Marks and the records that they stand for.

use deadheat_online::fasttrack::{self, Record};
use deadheat_online::mark::Mark;

use crate::check::origin::Origin;
use crate::platform::world::world;

/// The history that marks stand for, which are no link.
pub fn expand(marks: [Mark; 2], room: &mut [Record; 2]) -> &[Record] {
    let mut length = 0;
    for mark in marks.into_iter().filter(|mark| !mark.is_none()) {
        room[length] = record(mark);
        length += 1;
    }
    let history = &mut room[..length];
    fasttrack::end(history);
    history
}

/// The record that a mark stands for.
pub fn record(mark: Mark) -> Record {
    let (slot, time) = world().aliases.of(mark);
    let origin = Origin::of_number(mark.origin());
    Record::new(slot, time, mark.kind(), mark.mask(), origin.0)
}

/// The marks that stand for a history made of `before`. None: they cannot, or do not fit.
pub fn compress<const N: usize>(history: &[Record], before: [Mark; 2]) -> Option<[Mark; N]> {
    let mut marks = [Mark::NONE; N];
    for (at, record) in history.iter().enumerate() {
        *marks.get_mut(at)? = mark_of(record, before)?;
    }
    Some(marks)
}

fn mark_of(record: &Record, before: [Mark; 2]) -> Option<Mark> {
    let (slot, time) = (record.slot(), record.time());
    let had = |mark: &Mark| mark.mask() != 0 && world().aliases.of(*mark) == (slot, time);
    let epoch = match before.iter().find(|mark| had(mark)) {
        Some(mark) => Mark::epoch(mark.alias(), mark.time()),
        None => world().aliases.find(slot, time)?.epoch(time),
    };
    let number = Origin(record.origin).number();
    (number != 0).then(|| Mark::new(epoch, record.kind(), record.mask(), number))
}
