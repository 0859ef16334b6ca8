//! Which reads can decide what happens: event-control dependence (definition 3.12) on single accesses.
//!
//! A control read decides. So does a data read whose value may reach a control read: its strand writes
//! something later that a deciding read sees. What flows inside a strand from its reads to its writes
//! is not recorded; any read may flow into any later write of the strand. Such reads are *relevant*: as
//! long as every relevant read sees the write it saw, every event happens as it did.
//!
//! One pass from the last event to the first finds them: a strand that is to do a relevant write has
//! only relevant reads before it. Cost: linear, one bit an event.

use deadheat_model::{Event, Op, ReadKind};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;

/// What the events say about which reads decide.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReadCounts {
    /// Plain reads.
    pub reads: u64,
    /// Those whose value reaches a condition, a bound or an index, or that the recorder cannot tell
    /// from such.
    pub control: u64,
    /// Those that can decide what happens, directly or through memory.
    pub relevant: u64,
}

/// The relevant reads, by index. Every event that reads atomically is one.
pub(crate) fn relevant_reads(events: &[Event]) -> (FixedBitSet, ReadCounts) {
    let mut relevant = FixedBitSet::with_capacity(events.len());
    let mut counts = ReadCounts::default();
    // The strands that are yet to do a relevant write, and the locations whose last write is relevant.
    let mut strands: FxHashSet<u32> = FxHashSet::default();
    let mut locations: FxHashSet<u64> = FxHashSet::default();
    for (index, event) in events.iter().enumerate().rev() {
        let strand = event.strand().0;
        match event.op() {
            Op::Read(x, kind) => {
                counts.reads += 1;
                counts.control += u64::from(kind == ReadKind::Control);
                if kind == ReadKind::Control || strands.contains(&strand) {
                    counts.relevant += 1;
                    relevant.insert(index);
                    locations.insert(x.0);
                }
            }
            Op::AtomicLoad(x, _) => {
                relevant.insert(index);
                locations.insert(x.0);
            }
            Op::Write(x) | Op::AtomicStore(x, _) if locations.remove(&x.0) => {
                strands.insert(strand);
            }
            Op::AtomicUpdate(x, _) => {
                relevant.insert(index);
                strands.insert(strand);
                locations.insert(x.0);
            }
            _ => {}
        }
    }
    (relevant, counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::{Location, Site, Strand};

    #[test]
    fn a_read_is_relevant_if_its_value_can_reach_a_condition() {
        let (data, control) = (ReadKind::Data, ReadKind::Control);
        let events = [
            (0, Op::Read(Location(0), data), true), // flows into the write of 1
            (0, Op::Write(Location(1)), false),
            (0, Op::Read(Location(0), data), false), // into the write of 2, which nobody tests
            (0, Op::Write(Location(2)), false),
            (1, Op::Read(Location(1), data), true), // into the write of 3
            (1, Op::Write(Location(3)), false),
            (2, Op::Read(Location(3), control), true),
            (2, Op::Read(Location(2), data), false),
        ];
        let made: Vec<Event> = events
            .iter()
            .map(|&(strand, op, _)| Event::new(Strand(strand), op, Site(0)))
            .collect();
        let (relevant, counts) = relevant_reads(&made);
        for (index, &(_, _, expected)) in events.iter().enumerate() {
            assert_eq!(relevant.contains(index), expected, "event {}", index + 1);
        }
        assert_eq!((counts.reads, counts.control, counts.relevant), (5, 1, 3));
    }
}
