//! What each order costs for an event, without any check of accesses:
//! `cargo run --release -p deadheat-offline --example order_speed`.
//!
//! 3 million events of 8 strands, 50,000 locations and 500 locks; every fifth event is one of a lock.
//! Once each lock protects locations of its own, once any lock any location, the worst case for the
//! rules about sections.

use std::time::Instant;

use deadheat_model::{
    AccessKind, Event, Legend, Location, Lock, Op, ReadKind, Site, Strand, Trace,
};
use deadheat_offline::threads::dc::Dc;
use deadheat_offline::threads::hb::Hb;
use deadheat_offline::threads::partial_order::PartialOrder;
use deadheat_offline::threads::shb::Shb;
use deadheat_offline::threads::wcp::Wcp;
use deadheat_offline::threads::{At, Driver, Order, Publish, Slot, ThreadEngine};

const EVENTS: usize = 3_000_000;
const STRANDS: usize = 8;
const LOCATIONS: u64 = 50_000;
const LOCKS: u64 = 500;

fn main() {
    for (name, consistent) in [("lock of its own", true), ("any lock", false)] {
        let trace = stream(consistent);
        println!("{name}:");
        measure::<Nothing>("driver alone", &trace);
        measure::<Hb>("hb", &trace);
        measure::<Shb>("shb", &trace);
        measure::<Wcp>("wcp", &trace);
        measure::<Dc>("dc", &trace);
    }
}

fn measure<P: PartialOrder>(name: &str, trace: &Trace) {
    let times = (0..3).map(|_| {
        let start = Instant::now();
        let mut fed = Fed(P::new(&trace.legend), 0);
        let mut driver = Driver::new(&trace.legend, Order::Synchronising);
        let told = driver.feed(&trace.events, &mut fed);
        told.expect("the stream is well-formed");
        (start.elapsed(), fed.1)
    });
    let (best, sum) = times.min().expect("three of them");
    let per_event = best.as_nanos() as f64 / trace.events.len() as f64;
    println!("  {name:12} {per_event:6.1} ns an event (sum of times {sum})");
}

/// Sections of a few accesses, a tenth of them with another section inside, between accesses outside.
fn stream(consistent: bool) -> Trace {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut events = Vec::with_capacity(EVENTS);
    let mut held: Vec<Vec<u64>> = vec![Vec::new(); STRANDS];
    while events.len() < EVENTS {
        let strand = rng.usize(..STRANDS);
        let mine = &held[strand];
        let (open, dice) = (mine.last().copied(), rng.u32(..100));
        let lock = rng.u64(..LOCKS);
        let free = !held.iter().any(|held| held.contains(&lock));
        let op = match open {
            None if dice < 20 && free => Op::Acquire(Lock(lock)),
            Some(_) if mine.len() < 2 && dice < 2 && free => Op::Acquire(Lock(lock)),
            Some(lock) if dice >= 80 => Op::Release(Lock(lock)),
            _ => {
                let any = rng.u64(..LOCATIONS);
                let location = match open {
                    Some(lock) if consistent => Location(any / LOCKS * LOCKS + lock),
                    _ => Location(any),
                };
                match rng.u32(..3) {
                    0 => Op::Write(location),
                    _ => Op::Read(location, ReadKind::Data),
                }
            }
        };
        match op {
            Op::Acquire(lock) => held[strand].push(lock.0),
            Op::Release(_) => {
                held[strand].pop();
            }
            _ => {}
        }
        events.push(Event::new(Strand(strand as u32), op, Site(0)));
    }
    let names = |n: usize| vec![String::new(); n];
    Trace {
        events,
        legend: Legend {
            strands: names(STRANDS),
            locations: names(LOCATIONS as usize),
            locks: names(LOCKS as usize),
            ..Legend::default()
        },
    }
}

/// An order fed with events; the sum keeps its work from being optimised away.
struct Fed<P>(P, u64);

impl<P: PartialOrder> Fed<P> {
    #[inline]
    fn access(&mut self, at: At, location: Location, kind: AccessKind) {
        self.0.before_access(at, location, kind);
        self.1 += u64::from(self.0.clock(at.strand).get(Strand(at.number as u32 % 8)));
        self.0.after_access(at, location, kind);
    }
}

impl<P: PartialOrder> ThreadEngine for Fed<P> {
    fn read(&mut self, at: At, location: Location) {
        self.access(at, location, AccessKind::Read);
    }
    fn write(&mut self, at: At, location: Location) {
        self.access(at, location, AccessKind::Write);
    }
    fn acquire(&mut self, at: At, lock: Lock) {
        self.0.acquire(at, lock);
    }
    fn release(&mut self, at: At, lock: Lock) {
        self.0.release(at, lock);
    }
    fn fork(&mut self, at: At, child: Strand) {
        self.0.fork(at, child);
    }
    fn join(&mut self, at: At, child: Strand) {
        self.0.join(at, child);
    }
    fn publish(&mut self, at: At, slot: Slot, how: Publish) {
        self.0.publish(at, slot, how);
    }
    fn awaits(&mut self, at: At, slot: Slot) {
        self.0.awaits(at, slot);
    }
    fn acquire_shared(&mut self, at: At, lock: Lock) {
        self.0.acquire_shared(at, lock);
    }
}

/// Orders nothing.
struct Nothing(deadheat_order::Clock);

impl PartialOrder for Nothing {
    fn new(_: &Legend) -> Nothing {
        Nothing(deadheat_order::Clock::default())
    }
    fn clock(&self, _: Strand) -> &deadheat_order::Clock {
        &self.0
    }
    fn acquire(&mut self, _: At, _: Lock) {}
    fn release(&mut self, _: At, _: Lock) {}
    fn fork(&mut self, _: At, _: Strand) {}
    fn join(&mut self, _: At, _: Strand) {}
    fn publish(&mut self, _: At, _: Slot, _: Publish) {}
    fn awaits(&mut self, _: At, _: Slot) {}
    fn acquire_shared(&mut self, _: At, _: Lock) {}
}
