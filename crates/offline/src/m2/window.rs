//! The end of a trace, put in another order.
//!
//! A window has the events of a set from some number on; those before it are taken to have happened
//! as in the trace. It knows the orders that every reordering keeps and those that were added, finds
//! what they imply ([`Window::known_order`]), and linearises them ([`Window::max_min`]), saying which
//! rules the result breaks.
//!
//! Cost: a clock for each event of the window.

use rustc_hash::FxHashMap;

use super::skeleton::{Link, NOTHING, Skeleton, Step};

/// A rule that a linear order breaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broken {
    /// A read sees another write than the one it observed.
    Read {
        /// Who reads.
        read: Link,
        /// What it observed in the trace; [`NOTHING`] if that was the initial value.
        observed: Link,
        /// What it sees.
        seen: Link,
    },
    /// A lock is taken while another section has it.
    Lock {
        /// Which lock.
        lock: u32,
        /// The event that began the section that has it.
        holder: Link,
        /// The event that takes it.
        taker: Link,
    },
}

/// How many broken rules are looked for in one linear order.
const MAX_BROKEN: usize = 64;

/// The end of a trace.
pub struct Window<'a> {
    skeleton: &'a Skeleton,
    /// Where each chain's part begins and ends.
    from: Vec<u32>,
    upto: &'a [u32],
    /// The number it begins with.
    before: u32,
    /// Added orders: what comes before an event.
    orders: &'a FxHashMap<Link, Vec<Link>>,
}

/// What the known orders imply: for each event of the window how many of every chain come before it.
pub struct KnownOrder {
    from: Vec<u32>,
    /// Where each strand's clocks begin.
    offsets: Vec<usize>,
    clocks: Vec<u32>,
}

/// A linear order of a window, and what is wrong with it.
pub struct Linear {
    /// The events.
    pub events: Vec<Link>,
    /// The first rules it breaks.
    pub broken: Vec<Broken>,
}

impl KnownOrder {
    fn clock(&self, at: Link) -> &[u32] {
        let strands = self.from.len();
        let strand = at.strand as usize;
        let event = self.offsets[strand] + (at.index - self.from[strand]) as usize;
        &self.clocks[event * strands..(event + 1) * strands]
    }

    /// Whether an event is known to come before another, both of the window.
    pub fn before(&self, a: Link, b: Link) -> bool {
        match a.strand == b.strand {
            true => a.index < b.index,
            false => self.clock(b)[a.strand as usize] > a.index,
        }
    }
}

impl<'a> Window<'a> {
    /// The events of a set from a number on, with orders added.
    pub fn new(
        skeleton: &'a Skeleton,
        upto: &'a [u32],
        before: u32,
        orders: &'a FxHashMap<Link, Vec<Link>>,
    ) -> Window<'a> {
        let from = upto.iter().zip(0..).map(|(&upto, strand)| {
            let below = skeleton.below(strand, before);
            below.min(upto)
        });
        Window {
            skeleton,
            from: from.collect(),
            upto,
            before,
            orders,
        }
    }

    /// How many events it has.
    pub fn events(&self) -> u64 {
        let lengths = self.from.iter().zip(self.upto);
        lengths.map(|(from, upto)| u64::from(upto - from)).sum()
    }

    /// How many bytes it takes to know what its orders imply.
    pub fn bytes(&self) -> u64 {
        self.events() * (self.from.len() * size_of::<u32>()) as u64
    }

    /// Calls with each event of other strands, in the window, that an event must come behind.
    fn sources(&self, at: Link, mut each: impl FnMut(Link)) {
        let mut add = |source: Link| {
            if source.strand != at.strand && source.index >= self.from[source.strand as usize] {
                each(source);
            }
        };
        if let Step::Read(_, observed) | Step::Update(_, observed) = self.skeleton.step(at)
            && observed != NOTHING
        {
            add(observed);
        }
        self.skeleton.orders(at).for_each(&mut add);
        if let Some(added) = self.orders.get(&at) {
            added.iter().copied().for_each(add);
        }
    }

    /// What the known orders imply; nothing if they contradict each other.
    pub fn known_order(&self) -> Option<KnownOrder> {
        let strands = self.from.len();
        let mut offsets = Vec::with_capacity(strands);
        let mut events = 0;
        for (from, upto) in self.from.iter().zip(self.upto) {
            offsets.push(events);
            events += (upto - from) as usize;
        }
        let mut known = KnownOrder {
            from: self.from.clone(),
            offsets,
            clocks: vec![0; events * strands],
        };
        let mut done = self.from.clone();
        let mut clock = vec![0; strands];
        loop {
            let mut progress = false;
            for strand in 0..strands {
                while done[strand] < self.upto[strand] {
                    let at = Link {
                        strand: strand as u32,
                        index: done[strand],
                    };
                    match at.index > self.from[strand] {
                        true => clock.copy_from_slice(known.clock(Link {
                            index: at.index - 1,
                            ..at
                        })),
                        false => clock.copy_from_slice(&self.from),
                    }
                    clock[strand] = at.index;
                    let mut ready = true;
                    self.sources(at, |source| {
                        let other = source.strand as usize;
                        if done[other] <= source.index {
                            ready = false;
                        } else if clock[other] <= source.index {
                            let theirs = known.clock(source);
                            for (mine, theirs) in clock.iter_mut().zip(theirs) {
                                *mine = (*mine).max(*theirs);
                            }
                            clock[other] = clock[other].max(source.index + 1);
                        }
                    });
                    // An event that comes before itself, by way of a strand that has got further.
                    if !ready || clock[strand] > at.index {
                        break;
                    }
                    let event = known.offsets[strand] + (at.index - self.from[strand]) as usize;
                    known.clocks[event * strands..(event + 1) * strands].copy_from_slice(&clock);
                    done[strand] += 1;
                    progress = true;
                }
            }
            if done == *self.upto {
                return Some(known);
            }
            if !progress {
                return None;
            }
        }
    }

    /// The events of one strand as early as the known orders allow, all others as late as they allow
    /// and among themselves as in the trace.
    pub fn max_min(&self, order: &KnownOrder, leader: u32) -> Linear {
        let mut run = Run::new(self, order);
        for index in self.from[leader as usize]..self.upto[leader as usize] {
            let next = Link {
                strand: leader,
                index,
            };
            run.all_of(order.clock(next), leader);
            run.one(next);
            if run.broken.len() >= MAX_BROKEN {
                break;
            }
        }
        run.all_of(self.upto, leader);
        Linear {
            events: run.events,
            broken: run.broken,
        }
    }
}

/// A linear order in the making.
struct Run<'a> {
    window: &'a Window<'a>,
    order: &'a KnownOrder,
    done: Vec<u32>,
    /// The last writes since the window began.
    written: FxHashMap<u32, Link>,
    /// Who has a lock.
    holders: FxHashMap<u32, Link>,
    events: Vec<Link>,
    broken: Vec<Broken>,
}

impl<'a> Run<'a> {
    fn new(window: &'a Window<'a>, order: &'a KnownOrder) -> Run<'a> {
        let mut holders = FxHashMap::default();
        for (strand, &from) in window.from.iter().enumerate() {
            let strand = strand as u32;
            let skeleton = window.skeleton;
            let held = skeleton.held(strand, from);
            for &lock in skeleton.locksets.locks(held) {
                let last = Link {
                    strand,
                    index: from - 1,
                };
                let section = skeleton.section_at(lock, skeleton.number(last));
                let index = skeleton.sections(lock)[section].acquire;
                holders.insert(lock, Link { strand, index });
            }
        }
        Run {
            window,
            order,
            done: window.from.clone(),
            written: FxHashMap::default(),
            holders,
            events: Vec::with_capacity(window.events() as usize),
            broken: Vec::new(),
        }
    }

    /// Adds all events of a cut but the leader's, each as soon as it can be, in the order of the trace.
    fn all_of(&mut self, cut: &[u32], leader: u32) {
        loop {
            let mut next: Option<(u32, Link)> = None;
            for (strand, &upto) in cut.iter().enumerate() {
                let at = Link {
                    strand: strand as u32,
                    index: self.done[strand],
                };
                if at.strand == leader || at.index >= upto {
                    continue;
                }
                let number = self.window.skeleton.number(at);
                let earlier = next.is_none_or(|(first, _)| number < first);
                if earlier && self.is_ready(at) {
                    next = Some((number, at));
                }
            }
            match next {
                Some((_, at)) => self.one(at),
                None => return,
            }
        }
    }

    fn is_ready(&self, at: Link) -> bool {
        let clock = self.order.clock(at);
        clock
            .iter()
            .zip(&self.done)
            .all(|(need, done)| need <= done)
    }

    fn one(&mut self, at: Link) {
        self.done[at.strand as usize] += 1;
        self.events.push(at);
        match self.window.skeleton.step(at) {
            Step::Read(x, observed) => self.look(at, x, observed),
            Step::Update(x, observed) => {
                self.look(at, x, observed);
                self.written.insert(x, at);
            }
            Step::Write(x) => {
                self.written.insert(x, at);
            }
            Step::Acquire(lock) => {
                if let Some(holder) = self.holders.insert(lock, at) {
                    self.broken.push(Broken::Lock {
                        lock,
                        holder,
                        taker: at,
                    });
                }
            }
            Step::Release(lock, acquire) => {
                let holder = Link {
                    index: acquire,
                    ..at
                };
                if self.holders.get(&lock) == Some(&holder) {
                    self.holders.remove(&lock);
                }
            }
            Step::Order => {}
        }
    }

    /// Sees what a read sees.
    fn look(&mut self, at: Link, x: u32, observed: Link) {
        let seen = self.written.get(&x).copied();
        // What was written before the window is what no event in it wrote.
        let expected = match observed {
            NOTHING => None,
            write if self.window.skeleton.number(write) < self.window.before => None,
            write => Some(write),
        };
        if let (Some(seen), true) = (seen, seen != expected) {
            self.broken.push(Broken::Read {
                read: at,
                observed,
                seen,
            });
        }
    }
}
