//! A log against a list of all accesses, and what it compares.

use std::collections::BTreeMap;

use super::*;

/// By strand and place, what is done there and whether atomically: the first event and how many there are.
type Uncovered = BTreeMap<(u32, u32, AccessKind, bool), (u64, u64)>;

/// The simple model: all accesses, with their locations and times.
type Model = Vec<(u64, LoggedAccess, Time)>;

fn expected(model: &Model, x: u64, strand: Strand, clock: &WideClock) -> Uncovered {
    let mut uncovered = Uncovered::new();
    for &(location, access, time) in model {
        let by = access.at.strand;
        if location == x && by != strand && time > clock.get(by) {
            let place = (by.0, access.at.site.0, access.kind, access.atomic);
            let (_, count) = uncovered.entry(place).or_insert((access.at.number, 0));
            *count += 1;
        }
    }
    uncovered
}

/// What conflicts with an access of some kind.
fn conflicting(mut uncovered: Uncovered, with: AccessKind) -> Uncovered {
    let writes = |kind| kind == AccessKind::Write;
    uncovered.retain(|(_, _, kind, _), _| writes(*kind) || writes(with));
    uncovered
}

fn found(
    log: &AccessLog,
    slot: u32,
    strand: Strand,
    clock: &WideClock,
    kind: AccessKind,
) -> (Uncovered, Comparison) {
    let mut uncovered = Uncovered::new();
    let comparison = log.uncovered(slot, strand, clock, kind, |after| {
        let RacingAccess {
            strand, site, kind, ..
        } = after.access;
        let place = (strand.0, site.0, kind, after.atomic);
        let (first, count) = uncovered.entry(place).or_insert((u64::MAX, 0));
        *first = after.access.event.min(*first);
        *count += after.count;
        assert!(!log.apart || after.count == 1 + after.rest.len() as u64);
    });
    (conflicting(uncovered, kind), comparison)
}

/// Very many strands write one after the other, or but the first does; then they read one after the other, or nobody
/// before anybody.
#[test]
fn accesses_that_do_not_race_are_compared_with_one_each_however_many_strands() {
    const STRANDS: u32 = 3000;
    for (writers, orders_reads) in [(STRANDS, true), (STRANDS, false), (1, true), (1, false)] {
        let locations = FixedBitSet::with_capacity_and_blocks(1, [1]);
        let mut log = AccessLog::new(&locations, false);
        let mut lock = WideClock::default();
        let mut compared = 0;
        for number in 0..writers + STRANDS {
            let strand = Strand(number % STRANDS);
            let kind = match number < writers {
                true => AccessKind::Write,
                false => AccessKind::Read,
            };
            let mut clock = lock.clone();
            let now = clock.get(strand) + 1;
            clock.raise(strand, now);
            if orders_reads || kind == AccessKind::Write {
                lock = clock.clone();
            }
            let comparison = log.uncovered(0, strand, &clock, kind, |after| {
                assert_eq!([kind, after.access.kind], [AccessKind::Read; 2]);
            });
            compared += comparison.compared;
            let at = At {
                number: number.into(),
                strand,
                site: Site(0),
            };
            let atomic = false;
            log.add(0, LoggedAccess { at, kind, atomic }, now, &comparison);
        }
        let few = (VERY_WIDE * VERY_WIDE) as u64;
        let most = u64::from(writers + STRANDS) + few;
        assert!(compared <= most, "{writers} write: {compared}");
    }
}

#[test]
fn a_log_has_what_a_list_of_all_accesses_has() {
    const STRANDS: u32 = 20;
    for seed in 0..60 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let locations = FixedBitSet::with_capacity_and_blocks(6, [0b101010]);
        let mut log = AccessLog::new(&locations, rng.bool());
        assert!(log.slot(Location(0)).is_none() && log.slot(Location(9)).is_none());
        let (ticks, forgets, places) = (rng.f64(), rng.f64() * 0.1, rng.u32(1..80));
        let (strands, writes) = (rng.u32(2..STRANDS), rng.f64());
        let mut clocks = vec![WideClock::default(); STRANDS as usize];
        for (clock, strand) in clocks.iter_mut().zip(0..) {
            clock.raise(Strand(strand), 1);
        }
        let mut model = Model::new();
        for number in 1..1500 {
            // They come one after the other: some when others have long lists.
            let come = strands.min(2 + number as u32 / 150);
            let (strand, x) = (Strand(rng.u32(..come)), 1 + 2 * rng.u64(..3));
            // It learns from another, which others may then tell apart from what it does next.
            let other = Strand(rng.u32(..come));
            if other != strand && rng.f64() < ticks {
                let learnt = clocks[other.index()].clone();
                clocks[strand.index()].join(&learnt);
                clocks[other.index()].raise(other, learnt.get(other) + 1);
            }
            let clock = clocks[strand.index()].clone();
            let now = clock.get(strand);
            let slot = log.slot(Location(x)).unwrap();
            let kind = match rng.f64() < writes {
                true => AccessKind::Write,
                false => AccessKind::Read,
            };
            let all = expected(&model, x, strand, &clock);
            let (found, comparison) = found(&log, slot, strand, &clock, kind);
            assert_eq!(found, conflicting(all.clone(), kind));
            let is_last = all.is_empty();
            // A read need not know.
            assert!(comparison.is_last == is_last || kind == AccessKind::Read && is_last);
            let is_after_writes = conflicting(all, AccessKind::Read).is_empty();
            assert_eq!(comparison.is_after_writes, is_after_writes);
            let site = Site(rng.u32(..places));
            let at = At {
                number,
                strand,
                site,
            };
            let atomic = rng.bool();
            let access = LoggedAccess { at, kind, atomic };
            log.add(slot, access, now, &comparison);
            model.push((x, access, now));
            if rng.f64() < forgets {
                let covered = (0..strands).map(Strand).map(|of| {
                    let others = (0..strands).filter(|&other| other != of.0);
                    let known = others.map(|other| clocks[other as usize].get(of));
                    (of, known.min().unwrap_or(0))
                });
                log.forget(&covered.collect::<Vec<_>>());
            }
        }
    }
}
