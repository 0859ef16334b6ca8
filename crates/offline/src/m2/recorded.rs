//! The races that the recorded order shows, each with its witness.
//!
//! Simple model: two accesses race under [SHB](crate::threads::shb) if neither comes before the other. Do
//! all that comes before either of them, in the order of the trace. Each read among it observes what it
//! observed, because SHB has that write before it; each lock is free, each token there, each flag on, for
//! the same reason. Then the two accesses are next. So their pasts are the witness, and nothing has to be
//! searched for.
//!
//! A past is a [cut](super::skeleton): of each strand, the number of the last event that comes before. SHB's
//! clocks count a strand's times; kept besides is the event that ended each of them.
//!
//! Guarantee: every race of SHB is a finding of M2, whatever M2's own search leaves open, gives up or keeps
//! in order; where there is no room for all witnesses, as undecided. Cost: SHB's two passes and one more, 4 bytes a
//! write, and 8 for each racing access and strand that comes before it.

use std::cmp::Reverse;

use deadheat_model::{
    EventNumber, Findings, FoundRace, Location, Lock, Names, Race, Strand, Witness,
};
use rustc_hash::FxHashSet;

use crate::engine::{EngineError, Listing, Options};
use crate::survey::Survey;
use crate::threads::partial_order::PartialOrder;
use crate::threads::shb::{self, Shb};
use crate::threads::{At, Lowering, Publish, Slot, ThreadEngine};
use deadheat_model::AccessKind;

/// How many ends of strands are kept, of pasts and of witnesses each: half a gigabyte.
const KEPT: usize = 1 << 25;

/// Adds SHB's races to what was found, where they are not among it.
pub fn add_recorded(
    survey: &mut Survey,
    options: &Options,
    found: &mut Findings,
) -> Result<(), EngineError> {
    let listing = match options.all_pairs() {
        true => Listing::Pairs,
        false => Listing::Places,
    };
    let key = |race: &Race| match listing {
        Listing::Pairs => race.key(),
        _ => {
            let (one, other) = race.places();
            (one.0.into(), other.0.into())
        }
    };
    let options = Options {
        listing,
        ..*options
    };
    // What the search has judged it has judged, wherever these passes end.
    let judged = survey.judged;
    // Where the search was stopped, SHB and the witnesses share the time that is left.
    let left = survey.stopped.map(|_| survey.stop);
    if let Some(left) = left {
        survey.stop = left.first_part();
    }
    let recorded = (shb::ENGINE.judge)(survey, &options)?;
    survey.stop = match (left, survey.stopped) {
        (Some(left), _) => left,
        // SHB may have taken all the time that there was to tell what was found.
        (None, Some(_)) => survey.stop.grace(),
        (None, None) => survey.stop,
    };
    let known: FxHashSet<_> = found.races.iter().map(|shown| key(&shown.race)).collect();
    let races = recorded.races.iter().map(|finding| finding.race);
    let new: Vec<Race> = races.filter(|race| !known.contains(&key(race))).collect();
    found.all_listed &= recorded.all_listed;
    if new.is_empty() {
        survey.judged = judged;
        return Ok(());
    }
    found.counted &= options.all_pairs();
    let (shown, left) = shown(survey, &new)?;
    survey.judged = judged;
    let decided: FxHashSet<_> = shown.iter().map(|finding| key(&finding.race)).collect();
    found.undecided.retain(|race| !decided.contains(&key(race)));
    found
        .racy
        .extend(shown.iter().map(|finding| finding.race.location));
    found.racy.sort_unstable();
    found.racy.dedup();
    found.races.extend(shown);
    let undecided: FxHashSet<_> = found.undecided.iter().map(&key).collect();
    found
        .undecided
        .extend(left.iter().filter(|race| !undecided.contains(&key(race))));
    found.sort();
    Ok(())
}

/// Races under SHB, with their witnesses. And those for whose witnesses there was no room or no time.
fn shown(survey: &mut Survey, races: &[Race]) -> Result<(Vec<FoundRace>, Vec<Race>), EngineError> {
    let ends = races
        .iter()
        .flat_map(|race| [race.first.event, race.second.event]);
    let mut wanted: Vec<EventNumber> = ends.collect();
    wanted.sort_unstable();
    wanted.dedup();
    let shared = survey.exposed.shared.clone();
    let mut pasts = Pasts::new(survey.names, wanted);
    survey.feed(Lowering::HappensBefore, &shared, &mut pasts)?;
    let (mut shown, mut left) = (Vec::new(), Vec::new());
    let mut kept = 0;
    for &race in races {
        let has_room = kept < KEPT;
        let witness = has_room.then(|| pasts.witness(&race)).flatten();
        kept += witness.as_ref().map_or(0, |witness| witness.upto.len());
        match witness {
            Some(_) => shown.push(FoundRace { race, witness }),
            None => left.push(race),
        }
    }
    Ok((shown, left))
}

/// The pasts of some accesses.
struct Pasts {
    order: Shb,
    /// By strand: the event that ended each of its times.
    ends: Vec<Vec<u32>>,
    /// The accesses, ascending.
    wanted: Vec<EventNumber>,
    /// Where in `last` the past of each access begins that was told already; and the end.
    rows: Vec<usize>,
    /// Of each strand of which something comes before: the last of that.
    last: Vec<(Strand, u32)>,
}

impl Pasts {
    fn new(names: &Names, wanted: Vec<EventNumber>) -> Pasts {
        Pasts {
            order: Shb::new(names),
            ends: vec![Vec::new(); names.strands.len()],
            wanted,
            rows: vec![0],
            last: Vec::new(),
        }
    }

    /// Takes down the past of an access, if it is wanted.
    fn look(&mut self, at: At) {
        let is_wanted = self.wanted.get(self.rows.len() - 1) == Some(&at.number);
        if !is_wanted || self.last.len() >= KEPT {
            return;
        }
        let clock = self.order.clock(at.strand);
        clock.for_each(|strand, time| {
            let end = self.ends[strand.index()].get(time as usize - 1);
            // A time that has not ended is that of a strand that was joined: all of it comes before.
            let end = end.copied().unwrap_or(at.number as u32 - 1);
            self.last.push((strand, end));
        });
        self.rows.push(self.last.len());
    }

    /// An event has been told: it may have ended a time of its strand.
    fn told(&mut self, at: At) {
        let time = self.order.clock(at.strand).get(at.strand);
        let ends = &mut self.ends[at.strand.index()];
        ends.resize(time as usize - 1, at.number as u32);
    }

    fn access(&mut self, at: At, location: Location, kinds: &[AccessKind]) {
        self.look(at);
        for &kind in kinds {
            self.order.after_access(at, location, kind);
        }
        self.told(at);
    }

    /// Nothing, if there was no room for it, or no time.
    fn past(&self, event: EventNumber) -> Option<&[(Strand, u32)]> {
        let row = self.wanted.partition_point(|wanted| *wanted < event);
        let ends = self.rows.get(row..row + 2)?;
        Some(&self.last[ends[0]..ends[1]])
    }

    /// All that comes before either access, as in the trace, and then both.
    fn witness(&self, race: &Race) -> Option<Witness> {
        let (one, other) = (race.first, race.second);
        let pasts = self.past(one.event)?.iter().chain(self.past(other.event)?);
        let races = |strand| strand == one.strand || strand == other.strand;
        let pasts = pasts.filter(|(strand, _)| !races(*strand));
        let pasts = pasts.map(|&(strand, end)| (strand, EventNumber::from(end)));
        let racing = [one, other].map(|access| (access.strand, access.event - 1));
        let mut upto: Vec<(Strand, EventNumber)> = pasts.chain(racing).collect();
        // Of two ends of one strand, the later.
        upto.sort_unstable_by_key(|&(strand, end)| (strand, Reverse(end)));
        upto.dedup_by_key(|(strand, _)| *strand);
        Some(Witness {
            before: upto.iter().map(|(_, end)| *end).max().unwrap_or(0) + 1,
            upto,
            then: vec![one.event, other.event],
        })
    }
}

impl ThreadEngine for Pasts {
    fn begin(&mut self, strand: Strand) {
        self.order.begin(strand);
    }

    fn read(&mut self, at: At, x: Location) {
        self.access(at, x, &[AccessKind::Read]);
    }

    fn write(&mut self, at: At, x: Location) {
        self.access(at, x, &[AccessKind::Write]);
    }

    fn atomic_read(&mut self, at: At, x: Location) {
        self.access(at, x, &[AccessKind::Read]);
    }

    fn atomic_write(&mut self, at: At, x: Location) {
        self.access(at, x, &[AccessKind::Write]);
    }

    fn atomic_update(&mut self, at: At, x: Location) {
        self.access(at, x, &[AccessKind::Read, AccessKind::Write]);
    }

    fn acquire(&mut self, at: At, lock: Lock) {
        self.order.acquire(at, lock);
        self.told(at);
    }

    fn release(&mut self, at: At, lock: Lock) {
        self.order.release(at, lock);
        self.told(at);
    }

    fn fork(&mut self, at: At, child: Strand) {
        self.order.fork(at, child);
        self.told(at);
    }

    fn join(&mut self, at: At, child: Strand) {
        self.order.join(at, child);
        self.told(at);
    }

    fn publish(&mut self, at: At, slot: Slot, how: Publish) {
        self.order.publish(at, slot, how);
        self.told(at);
    }

    fn awaits(&mut self, at: At, slot: Slot) {
        self.order.awaits(at, slot);
        self.told(at);
    }

    fn acquire_shared(&mut self, at: At, lock: Lock) {
        self.order.acquire_shared(at, lock);
        self.told(at);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use deadheat_model::{Event, Execution, Op, Site, StopToken};

    use super::*;
    use crate::survey::Recording;

    static NOW: AtomicBool = AtomicBool::new(true);

    /// The two writes race; the first passes have told so. A stop while their witness is made takes the witness.
    #[test]
    fn a_stop_while_witnesses_are_made_leaves_races_undecided() {
        let mut trace = Execution::default();
        trace.names.strands = vec![String::new(); 2];
        trace.names.locations = vec![String::new()];
        trace.names.sites = vec![String::new(); 2];
        trace.events = (0..2)
            .map(|strand| Event::new(Strand(strand), Op::Write(Location(0)), Site(strand)))
            .collect();
        let recording = Recording::InMemory(&trace);
        let survey = || Survey::new(recording, &|_, _| {}, StopToken::default()).unwrap();
        let races = (shb::ENGINE.judge)(&mut survey(), &Options::default()).unwrap();
        let races: Vec<Race> = races.races.iter().map(|finding| finding.race).collect();
        assert_eq!(races.len(), 1);
        for (stop, shows) in [(StopToken::default(), 1), (StopToken::when(&NOW), 0)] {
            let mut survey = survey();
            survey.stop = stop;
            let (shown, left) = shown(&mut survey, &races).unwrap();
            assert_eq!((shown.len(), left.len()), (shows, 1 - shows));
            assert_eq!(survey.stopped.is_some(), shows == 0);
        }
    }
}
