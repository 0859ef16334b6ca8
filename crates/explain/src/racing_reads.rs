//! Which reads race with a write, or see one of two writes that race: what such a read saw is known only as well as the order of the two.
//!
//! A trace says of each read which write came last before it. Where synchronisation orders the two that is what it saw. Where
//! it does not, a recording of a running program may have the two in another order than the hardware had them; a prediction in
//! whose order such a read stands then rests on that race. What the order has in common with the beginning of the run happened
//! like that, whatever was read: only a read behind it, or whose race reaches behind it, is doubtful.
//!
//! Cost: one pass with a clock for each strand, and a list of the reads of each location that several strands use.

use deadheat_model::finding::{Describer, Finding, RacingRead, SourceLines};
use deadheat_model::{Access, AccessKind, EventNumber, Execution, Location, Op, Strand};
use deadheat_offline::threads::{At, ImpossibleEvent};
use deadheat_order::{PersistentClock, Time};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::explanation::edges::{Listener, Slot, tell};

/// How many events of witnesses are looked at.
const MAX_EVENTS: usize = 100_000_000;

/// Says of each prediction about an execution whether a read in its order raced: the first that did.
pub fn add_racing_reads(
    execution: &Execution,
    lines: &dyn SourceLines,
    predictions: &mut [Finding],
) -> Result<(), ImpossibleEvent> {
    let racing = racing_reads(execution)?;
    if racing.is_empty() {
        return Ok(());
    }
    let mut describer = Describer::new(&execution.names, lines);
    let mut left = MAX_EVENTS;
    for finding in predictions {
        let Some(order) = finding.proof.as_ref().and_then(|proof| proof.reordering()) else {
            continue;
        };
        // Nobody asks what the two that race read.
        let before = (order.length() as usize).saturating_sub(2);
        let length = before.min(left);
        left -= length;
        let events = || execution.spell_out(order.witness()).take(length);
        let mut own = events().zip(1..);
        let unmoved = own.find(|(number, position)| number != position);
        let unmoved = unmoved.map_or(length as EventNumber + 1, |(_, position)| position);
        let is_doubtful =
            |number: &EventNumber| racing.get(number).is_some_and(|upto| *upto >= unmoved);
        let found = events().find(is_doubtful);
        let Some(event) = found.and_then(|number| execution.event(number)) else {
            continue;
        };
        if let Op::Read(x, _) = event.op() {
            finding.rests_on = Some(RacingRead {
                variable: execution.names.location(x).into_owned().into(),
                place: describer.place(event.site()),
            });
        }
    }
    Ok(())
}

/// The numbers of the plain reads that no synchronisation orders with some write to their location, or of which none orders
/// the writes that they may have seen.
/// With each, the last event of its race: itself, or the first write behind it that races with it.
fn racing_reads(
    execution: &Execution,
) -> Result<FxHashMap<EventNumber, EventNumber>, ImpossibleEvent> {
    let mut users: FxHashMap<Location, Strand> = FxHashMap::default();
    let mut shared: FxHashSet<u64> = FxHashSet::default();
    for event in &execution.events {
        if let Some((access, _)) = event.any_access()
            && *users.entry(access.location).or_insert(event.strand()) != event.strand()
        {
            shared.insert(access.location.0);
        }
    }
    drop(users);
    let mut pass = Pass {
        shared,
        strands: Vec::new(),
        slots: Vec::new(),
        histories: FxHashMap::default(),
        racing: FxHashMap::default(),
    };
    tell(execution, &mut pass)?;
    Ok(pass.racing)
}

/// What strands have done to a location.
#[derive(Default)]
struct History {
    /// Each strand's last write.
    writes: Vec<(Strand, Time)>,
    /// Whether the last write races with another one: either may be what is seen.
    is_contested: bool,
    /// Each strand's reads that race with no later write so far.
    reads: Vec<(Strand, Vec<Time>)>,
}

impl History {
    /// Whether a strand that knows this much does not know of some other one's last write.
    fn is_unordered(&self, strand: Strand, clock: &PersistentClock) -> bool {
        let mut writes = self.writes.iter();
        writes.any(|(other, last)| *other != strand && *last > clock.get(*other))
    }
}

struct Pass {
    shared: FxHashSet<u64>,
    strands: Vec<PersistentClock>,
    slots: Vec<PersistentClock>,
    histories: FxHashMap<u64, History>,
    racing: FxHashMap<EventNumber, EventNumber>,
}

impl Pass {
    fn of(&mut self, strand: Strand) -> &mut PersistentClock {
        if self.strands.len() <= strand.index() {
            self.strands
                .resize(strand.index() + 1, PersistentClock::default());
        }
        &mut self.strands[strand.index()]
    }

    /// What comes before whatever comes after a strand's events up to now.
    fn known(&mut self, strand: Strand, at: At) -> PersistentClock {
        let clock = self.of(strand);
        clock.raise(strand, at.number as Time);
        clock.clone()
    }

    fn write(&mut self, at: At, location: Location) {
        let clock = self.of(at.strand).clone();
        let history = self.histories.entry(location.0).or_default();
        let others = history.reads.iter_mut();
        for (strand, reads) in others.filter(|(strand, _)| *strand != at.strand) {
            let ordered = clock.get(*strand);
            while let Some(read) = reads.pop_if(|read| *read > ordered) {
                self.racing.insert(read.into(), at.number);
            }
        }
        history.is_contested = history.is_unordered(at.strand, &clock);
        let now = at.number as Time;
        match history
            .writes
            .iter_mut()
            .find(|(strand, _)| *strand == at.strand)
        {
            Some((_, last)) => *last = now,
            None => history.writes.push((at.strand, now)),
        }
    }

    fn read(&mut self, at: At, location: Location) {
        let clock = self.of(at.strand).clone();
        let history = self.histories.entry(location.0).or_default();
        let now = at.number as Time;
        if history.is_contested || history.is_unordered(at.strand, &clock) {
            self.racing.insert(at.number, at.number);
        }
        match history
            .reads
            .iter_mut()
            .find(|(strand, _)| *strand == at.strand)
        {
            Some((_, reads)) => reads.push(now),
            None => history.reads.push((at.strand, vec![now])),
        }
    }
}

impl Listener for Pass {
    fn access(&mut self, at: At, Access { location, kind }: Access) {
        if self.shared.contains(&location.0) {
            match kind {
                AccessKind::Read => self.read(at, location),
                AccessKind::Write => self.write(at, location),
            }
        }
    }

    fn synchronises(&mut self, _: At) {}

    fn publish(&mut self, at: At, slot: Slot, add: bool) {
        let known = self.known(at.strand, at);
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, PersistentClock::default());
        }
        match add {
            true => self.slots[slot].join(&known),
            false => self.slots[slot] = known,
        }
    }

    fn awaits(&mut self, at: At, slot: Slot) {
        if let Some(known) = self.slots.get(slot).cloned() {
            self.of(at.strand).join(&known);
        }
    }

    fn fork(&mut self, at: At, child: Strand) {
        let known = self.known(at.strand, at);
        self.of(child).join(&known);
    }

    fn join(&mut self, at: At, child: Strand) {
        let known = self.known(child, at);
        self.of(at.strand).join(&known);
    }

    fn atomic_write(&mut self, at: At, location: Location) {
        if self.shared.contains(&location.0) {
            self.write(at, location);
        }
    }
}

#[cfg(test)]
mod tests {
    use deadheat_testing::traces::trace;

    use super::*;

    fn racing(text: &str) -> Vec<EventNumber> {
        let racing = racing_reads(&trace(text)).unwrap();
        let mut racing: Vec<EventNumber> = racing.into_keys().collect();
        racing.sort_unstable();
        racing
    }

    #[test]
    fn a_read_races_with_a_write_that_nothing_orders_with_it() {
        assert_eq!(racing("T1 w(x); T2 r(x)"), [2]);
        assert_eq!(racing("T2 r(x); T1 w(x)"), [1]);
        assert!(racing("T1 w(x); T1 fork(T2); T2 r(x); T1 r(x)").is_empty());
        let locked = "T1 acq(l); T1 w(x); T1 rel(l); T2 acq(l); T2 r(x); T2 rel(l)";
        assert!(racing(locked).is_empty());
        // Behind a write that is ordered, one that is not.
        let later = "T1 w(x); T1 fork(T2); T2 r(x); T3 w(x); T2 r(x); T1 join(T2); T1 r(x)";
        assert_eq!(racing(later), [3, 5, 7]);
        // Nobody can tell which of two writes is seen.
        let both = "T1 w(x); T2 w(x); T3 join(T1); T3 join(T2); T3 r(x); T3 w(x); T3 r(x)";
        assert_eq!(racing(both), [5]);
        assert_eq!(racing("T1 astore.relaxed(x); T2 r(x)"), [2]);
    }
}
