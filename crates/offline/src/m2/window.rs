//! The end of a trace, put in another order.
//!
//! A window has the events of a set from some number on; those before it are taken to have happened
//! as in the trace. It knows the orders that every correct reordering preserves and those that were added, finds
//! what they imply ([`Window::known_order`]), and linearises them ([`Window::max_min`]), saying which
//! rules the result breaks.
//!
//! Most events have nothing to do with other strands. Such an event happens after the same events as the last
//! *joint* before it in its strand: an event that does. Only joints have clocks.
//!
//! Cost: some ten nanoseconds for each event of the window, and a clock for each joint.

use super::skeleton::{Link, NOTHING, Skeleton, Step};

/// A rule that a linear order breaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Violation {
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

/// An event, and one of another strand that comes before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Joint {
    index: u32,
    source: Link,
}

/// The end of a trace.
pub struct Window<'a> {
    skeleton: &'a Skeleton,
    /// Where each chain's part begins and ends.
    from: Vec<u32>,
    upto: Vec<u32>,
    /// The number it begins with.
    before: u32,
    /// By strand, in the order of its chain.
    joints: Vec<Vec<Joint>>,
}

/// What the known orders imply: for each joint how many of every chain come before it.
pub struct KnownOrder {
    from: Vec<u32>,
    /// By strand: the events with clocks, and where in `clocks` these are.
    joints: Vec<Vec<(u32, u32)>>,
    clocks: Vec<u32>,
}

/// A linear order of a window, and what is wrong with it.
pub struct Linear {
    /// The events.
    pub events: Vec<Link>,
    /// The first rules it breaks.
    pub broken: Vec<Violation>,
}

impl KnownOrder {
    fn row(&self, row: u32) -> &[u32] {
        let strands = self.from.len();
        &self.clocks[row as usize * strands..][..strands]
    }

    /// What comes before an event, but for its own strand.
    fn clock(&self, at: Link) -> &[u32] {
        let joints = &self.joints[at.strand as usize];
        match joints.partition_point(|(index, _)| *index <= at.index) {
            0 => &self.from,
            joint => self.row(joints[joint - 1].1),
        }
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
    /// The events of a set from a number on, with orders added: pairs of what comes before and after.
    pub fn new(
        skeleton: &'a Skeleton,
        upto: &[u32],
        before: u32,
        orders: &[(Link, Link)],
    ) -> Window<'a> {
        let from = upto.iter().zip(0..).map(|(&upto, strand)| {
            let below = skeleton.below(strand, before);
            below.min(upto)
        });
        let mut window = Window {
            skeleton,
            from: from.collect(),
            upto: upto.to_vec(),
            before,
            joints: Vec::new(),
        };
        window.joints = (0..upto.len() as u32)
            .map(|strand| window.find_joints(strand))
            .collect();
        window.add(orders);
        window
    }

    /// The joints of a strand.
    fn find_joints(&self, strand: u32) -> Vec<Joint> {
        let (from, upto) = (self.from[strand as usize], self.upto[strand as usize]);
        let mut joints = Vec::new();
        for index in from..upto {
            if let Step::Read(_, source) | Step::Update(_, source) =
                self.skeleton.step(Link { strand, index })
                && source != NOTHING
                && source.strand != strand
                && self.contains(source)
            {
                joints.push(Joint { index, source });
            }
        }
        let orders = self.skeleton.orders(strand, from, upto);
        let orders = orders.filter(|(_, source)| self.contains(*source));
        let read = joints.len();
        joints.extend(orders.map(|(index, source)| Joint { index, source }));
        if joints.len() > read {
            joints.sort_unstable();
        }
        joints
    }

    fn contains(&self, at: Link) -> bool {
        at.index >= self.from[at.strand as usize]
    }

    /// Adds orders: pairs of what comes before and what comes after, of different strands.
    pub fn add(&mut self, orders: &[(Link, Link)]) {
        for &(source, after) in orders {
            if !self.contains(source) {
                continue;
            }
            let joint = Joint {
                index: after.index,
                source,
            };
            let joints = &mut self.joints[after.strand as usize];
            let place = joints.partition_point(|other| *other < joint);
            joints.insert(place, joint);
        }
    }

    /// How many events it has.
    pub fn events(&self) -> u64 {
        let lengths = self.from.iter().zip(&self.upto);
        lengths.map(|(from, upto)| u64::from(upto - from)).sum()
    }

    /// How many bytes it and what its orders imply take.
    pub fn bytes(&self) -> u64 {
        let joints: usize = self.joints.iter().map(Vec::len).sum();
        let each = size_of::<Joint>() + (self.from.len() + 2) * size_of::<u32>();
        self.events() * size_of::<Link>() as u64 + (joints * each) as u64
    }

    /// What the known orders imply; nothing if they contradict each other.
    pub fn known_order(&self) -> Option<KnownOrder> {
        let strands = self.from.len();
        let mut known = KnownOrder {
            from: self.from.clone(),
            joints: vec![Vec::new(); strands],
            clocks: Vec::new(),
        };
        // How many joints of each strand are done, and how far that lets the strand go.
        let mut done = vec![0; strands];
        let reach = |strand: usize, done: usize| match self.joints[strand].get(done) {
            Some(joint) => joint.index,
            None => self.upto[strand],
        };
        let mut reached: Vec<u32> = (0..strands).map(|strand| reach(strand, 0)).collect();
        let mut clock = vec![0; strands];
        loop {
            let mut progress = false;
            for strand in 0..strands {
                while let Some(&Joint { index, .. }) = self.joints[strand].get(done[strand]) {
                    // All that the event is behind, together.
                    let sources = self.joints[strand][done[strand]..].iter();
                    let sources = sources.take_while(|joint| joint.index == index);
                    let sources = sources.map(|joint| joint.source);
                    if !sources
                        .clone()
                        .all(|s| s.index < reached[s.strand as usize])
                    {
                        break;
                    }
                    match known.joints[strand].last() {
                        Some(&(_, row)) => clock.copy_from_slice(known.row(row)),
                        None => clock.copy_from_slice(&self.from),
                    }
                    for source in sources.clone() {
                        for (mine, theirs) in clock.iter_mut().zip(known.clock(source)) {
                            *mine = (*mine).max(*theirs);
                        }
                        let other = &mut clock[source.strand as usize];
                        *other = (*other).max(source.index + 1);
                    }
                    // An event that comes before itself.
                    if clock[strand] > index {
                        return None;
                    }
                    let row = (known.clocks.len() / strands) as u32;
                    known.clocks.extend_from_slice(&clock);
                    known.joints[strand].push((index, row));
                    done[strand] += sources.count();
                    reached[strand] = reach(strand, done[strand]);
                    progress = true;
                }
            }
            if reached == self.upto {
                return Some(known);
            }
            if !progress {
                return None;
            }
        }
    }

    /// The events of one strand as early as the known orders allow, all others as late as they allow
    /// and among themselves as in the trace. Without such a leader, all as in the trace.
    pub fn max_min(&self, order: &KnownOrder, leader: Option<u32>, memory: &mut Memory) -> Linear {
        let mut run = Run::new(self, order, leader, memory);
        if let Some(leader) = leader {
            let strand = leader as usize;
            for &(index, row) in &order.joints[strand] {
                run.forward(leader, index);
                run.all_of(order.row(row));
                if run.is_enough() {
                    break;
                }
            }
            if !run.is_enough() {
                run.forward(leader, self.upto[strand]);
            }
        }
        run.all_of(&self.upto);
        Linear {
            events: run.events,
            broken: run.broken,
        }
    }
}

/// The last writes and the holders of locks, while events are put in order: kept from one window to the
/// next, so that starting anew costs nothing.
#[derive(Debug, Default)]
pub struct Memory {
    /// Which window is looked at; what was noted in others does not count.
    now: u32,
    /// By location.
    written: Vec<(u32, Link)>,
    /// By lock.
    holders: Vec<(u32, Link)>,
}

impl Memory {
    /// For the locations and locks of a trace.
    pub fn new(skeleton: &Skeleton) -> Memory {
        Memory {
            now: 0,
            written: vec![(0, NOTHING); skeleton.locations()],
            holders: vec![(0, NOTHING); skeleton.locks()],
        }
    }

    fn begin(&mut self) {
        if self.now == u32::MAX {
            self.written.fill((0, NOTHING));
            self.holders.fill((0, NOTHING));
            self.now = 0;
        }
        self.now += 1;
    }

    #[inline]
    fn written(&self, x: u32) -> Option<Link> {
        let (when, link) = self.written[x as usize];
        (when == self.now).then_some(link)
    }

    #[inline]
    fn holder(&self, lock: u32) -> Option<Link> {
        let (when, link) = self.holders[lock as usize];
        (when == self.now && link != NOTHING).then_some(link)
    }
}

/// A linear order in the making.
struct Run<'a> {
    window: &'a Window<'a>,
    order: &'a KnownOrder,
    leader: Option<u32>,
    memory: &'a mut Memory,
    done: Vec<u32>,
    /// By strand: how many joints are done.
    joints: Vec<usize>,
    /// The strands that wait for others.
    waiting: Vec<usize>,
    events: Vec<Link>,
    broken: Vec<Violation>,
}

impl<'a> Run<'a> {
    fn new(
        window: &'a Window<'a>,
        order: &'a KnownOrder,
        leader: Option<u32>,
        memory: &'a mut Memory,
    ) -> Run<'a> {
        memory.begin();
        let skeleton = window.skeleton;
        for (strand, &from) in window.from.iter().enumerate() {
            let strand = strand as u32;
            let held = skeleton.held(strand, from);
            for &lock in skeleton.locksets.locks(held).iter() {
                let last = Link {
                    strand,
                    index: from - 1,
                };
                let section = skeleton.section_at(lock, skeleton.number(last));
                let index = skeleton.sections(lock)[section].acquire;
                memory.holders[lock as usize] = (memory.now, Link { strand, index });
            }
        }
        Run {
            window,
            order,
            leader,
            memory,
            done: window.from.clone(),
            joints: vec![0; window.from.len()],
            waiting: Vec::new(),
            events: Vec::with_capacity(window.events() as usize),
            broken: Vec::new(),
        }
    }

    /// Whether so many rules are broken that more of them would not help.
    fn is_enough(&self) -> bool {
        self.broken.len() >= MAX_BROKEN
    }

    /// Adds a strand's events up to an index.
    fn forward(&mut self, strand: u32, upto: u32) {
        for index in self.done[strand as usize]..upto {
            self.one(Link { strand, index });
        }
    }

    /// Adds all events of a cut but the leader's, each as soon as it can be, in the order of the trace.
    fn all_of(&mut self, cut: &[u32]) {
        while !self.is_enough() {
            // Of the next events that can be next, the first in the trace; and the number of the second.
            let mut first: Option<(u32, Link, u32)> = None;
            let mut second = u32::MAX;
            self.waiting.clear();
            for (strand, &upto) in cut.iter().enumerate() {
                let at = Link {
                    strand: strand as u32,
                    index: self.done[strand],
                };
                if Some(at.strand) == self.leader || at.index >= upto {
                    continue;
                }
                let until = self.until(strand).min(upto);
                if until == at.index {
                    self.waiting.push(strand);
                    continue;
                }
                let number = self.window.skeleton.number(at);
                match first {
                    Some((least, ..)) if least < number => second = second.min(number),
                    _ => {
                        second = first.map_or(second, |(least, ..)| least);
                        first = Some((number, at, until));
                    }
                }
            }
            let Some((_, mut at, mut until)) = first else {
                return;
            };
            // It goes on until somebody else is first, or can go on because of it.
            for &strand in &self.waiting {
                let (_, row) = self.order.joints[strand][self.joints[strand]];
                let awaited = self.order.row(row)[at.strand as usize];
                if awaited > at.index {
                    until = until.min(awaited);
                }
            }
            loop {
                self.one(at);
                at.index += 1;
                if at.index == until || self.window.skeleton.number(at) > second {
                    break;
                }
            }
        }
    }

    /// How far a strand can go before it waits for another.
    fn until(&mut self, strand: usize) -> u32 {
        let joints = &self.order.joints[strand];
        while let Some(&(index, row)) = joints.get(self.joints[strand]) {
            let clock = self.order.row(row);
            let others = clock.iter().zip(&self.done).enumerate();
            let mut others = others.filter(|(other, _)| *other != strand);
            if index > self.done[strand] || !others.all(|(_, (need, done))| need <= done) {
                return index;
            }
            self.joints[strand] += 1;
        }
        self.window.upto[strand]
    }

    #[inline]
    fn one(&mut self, at: Link) {
        self.done[at.strand as usize] += 1;
        self.events.push(at);
        match self.window.skeleton.step(at) {
            Step::Read(x, observed) => self.look(at, x, observed),
            Step::Update(x, observed) => {
                self.look(at, x, observed);
                self.memory.written[x as usize] = (self.memory.now, at);
            }
            Step::Write(x) => self.memory.written[x as usize] = (self.memory.now, at),
            Step::Acquire(lock) => {
                if let Some(holder) = self.memory.holder(lock) {
                    self.broken.push(Violation::Lock {
                        lock,
                        holder,
                        taker: at,
                    });
                }
                self.memory.holders[lock as usize] = (self.memory.now, at);
            }
            Step::Release(lock, acquire) => {
                let holder = Link {
                    index: acquire,
                    ..at
                };
                if self.memory.holder(lock) == Some(holder) {
                    self.memory.holders[lock as usize] = (self.memory.now, NOTHING);
                }
            }
            Step::Order => {}
        }
    }

    /// Sees what a read sees.
    #[inline]
    fn look(&mut self, at: Link, x: u32, observed: Link) {
        let Some(seen) = self.memory.written(x) else {
            return;
        };
        // What was written before the window is what no event in it wrote.
        let is_before = |write: Link| {
            write == NOTHING || self.window.skeleton.number(write) < self.window.before
        };
        if seen != observed || is_before(observed) {
            self.broken.push(Violation::Read {
                read: at,
                observed,
                seen,
            });
        }
    }
}
