//! The partial orders straight from their definitions (m2, appendix B), as sets of pairs of events.
//!
//! Only for small traces; right by inspection, not fast.

use std::collections::BTreeSet;

use deadheat_model::{Event, Execution, Lock, Op};

use super::synchronisation::synchronisation;

/// Pairs of events, numbered from 0 here: bit b of row a is set if a comes before b.
#[derive(Clone, PartialEq, Eq)]
pub struct Relation {
    rows: Vec<u128>,
}

impl Relation {
    /// No pair of so many events.
    pub fn new(events: usize) -> Relation {
        assert!(events <= 128, "for small traces");
        Relation {
            rows: vec![0; events],
        }
    }

    /// Whether a pair is in it.
    pub fn has(&self, a: usize, b: usize) -> bool {
        self.rows[a] >> b & 1 == 1
    }

    /// Says whether it is new.
    pub fn add(&mut self, a: usize, b: usize) -> bool {
        let new = !self.has(a, b);
        self.rows[a] |= 1 << b;
        new
    }

    /// Whether every pair is in the other one too.
    pub fn is_within(&self, other: &Relation) -> bool {
        let rows = self.rows.iter().zip(&other.rows);
        rows.fold(true, |within, (mine, theirs)| {
            within & (mine & !theirs == 0)
        })
    }

    fn union(&self, other: &Relation) -> Relation {
        let rows = self.rows.iter().zip(&other.rows);
        Relation {
            rows: rows.map(|(a, b)| a | b).collect(),
        }
    }

    /// First this, then that.
    fn then(&self, other: &Relation) -> Relation {
        let row = |row: &u128| {
            let middle = (0..self.rows.len()).filter(|b| row >> b & 1 == 1);
            middle.fold(0, |row, b| row | other.rows[b])
        };
        Relation {
            rows: self.rows.iter().map(row).collect(),
        }
    }

    fn closed(&self) -> Relation {
        let mut closed = self.clone();
        for middle in 0..closed.rows.len() {
            let after = closed.rows[middle];
            for row in &mut closed.rows {
                if *row >> middle & 1 == 1 {
                    *row |= after;
                }
            }
        }
        closed
    }
}

/// A critical section: from its acquire to its release, if there is one.
#[derive(Clone, Debug)]
pub struct Section {
    /// The lock that is held.
    pub lock: Lock,
    /// The event that begins it.
    pub acquire: usize,
    /// The event that ends it, if any does.
    pub release: Option<usize>,
    /// Everything its strand does from the acquire to the release.
    pub events: Vec<usize>,
}

/// The partial orders of a trace.
pub struct PartialOrders<'a> {
    events: &'a [Event],
    /// Every section of the trace.
    pub sections: Vec<Section>,
    /// Program order, forks, joins and all other synchronisation but that of locks.
    pub hard: Relation,
    /// What waits for another strand, and perhaps for its own as well: the pairs of which this consists.
    pub awaited: Vec<(usize, usize)>,
}

impl<'a> PartialOrders<'a> {
    /// Of a trace that could have happened.
    pub fn new(execution: &'a Execution) -> PartialOrders<'a> {
        let events = &execution.events;
        let n = events.len();
        let mut hard = Relation::new(n);
        for a in 0..n {
            for b in a + 1..n {
                if events[a].strand() == events[b].strand() {
                    hard.add(a, b);
                }
            }
        }
        let mut awaited = synchronisation(execution);
        for &(a, b) in &awaited {
            hard.add(a, b);
        }
        // Who joins a strand that did nothing has waited for it all the same.
        let other = |(a, b): &&(usize, usize)| {
            let joins = matches!(events[*b].op(), Op::Join(_));
            joins || events[*a].strand() != events[*b].strand()
        };
        let waiting: BTreeSet<usize> = awaited.iter().filter(other).map(|(_, b)| *b).collect();
        awaited.retain(|(_, b)| waiting.contains(b));
        PartialOrders {
            events,
            sections: sections(events),
            hard: hard.closed(),
            awaited,
        }
    }

    /// HB: a release comes before every later acquire of the same lock.
    pub fn happens_before(&self) -> Relation {
        let mut order = self.hard.clone();
        for one in &self.sections {
            for other in &self.sections {
                match one.release {
                    Some(release) if one.lock == other.lock && release < other.acquire => {
                        order.add(release, other.acquire);
                    }
                    _ => {}
                }
            }
        }
        order.closed()
    }

    /// SHB: happens-before, and each read after the write it observes, except for one read.
    pub fn schedulable(&self, except: Option<usize>) -> Relation {
        let mut order = self.happens_before();
        for read in (0..self.events.len()).filter(|read| Some(*read) != except) {
            if let Some(write) = observed(self.events, read) {
                order.add(write, read);
            }
        }
        order.closed()
    }

    /// The pairs of rule (a): a release, and a later access protected by the same lock that conflicts
    /// with one in the release's section.
    fn conflicting_sections(&self) -> Relation {
        let mut pairs = Relation::new(self.events.len());
        for one in &self.sections {
            let Some(release) = one.release else { continue };
            for other in self.sections.iter().filter(|other| one.lock == other.lock) {
                for &later in other.events.iter().filter(|later| release < **later) {
                    let conflict = |event: &usize| {
                        let accesses = [*event, later].map(|at| self.events[at].any_access());
                        matches!(accesses, [Some((a, _)), Some((b, _))] if a.conflicts_with(&b))
                    };
                    if one.events.iter().any(conflict) {
                        pairs.add(release, later);
                    }
                }
            }
        }
        pairs
    }

    /// The pairs of rule (b): two releases of the same lock whose sections have anything ordered.
    fn ordered_sections(&self, order: &Relation) -> Relation {
        let mut pairs = Relation::new(self.events.len());
        for one in &self.sections {
            for other in &self.sections {
                let (Some(a), Some(b)) = (one.release, other.release) else {
                    continue;
                };
                let ordered = |x: &usize| other.events.iter().any(|y| order.has(*x, *y));
                if one.lock == other.lock && a < b && one.events.iter().any(ordered) {
                    pairs.add(a, b);
                }
            }
        }
        pairs
    }

    fn is_one_strand(&self, a: usize, b: usize) -> bool {
        self.events[a].strand() == self.events[b].strand()
    }

    /// DC: rules (a) and (b), and composition with itself.
    pub fn doesnt_commute(&self) -> Relation {
        let mut order = self.hard.union(&self.conflicting_sections()).closed();
        loop {
            let more = order.union(&self.ordered_sections(&order)).closed();
            if more == order {
                return order;
            }
            order = more;
        }
    }

    /// WCP: what is waited for, if that is not the strand's own work alone, rules (a) and (b), and
    /// composition with happens-before on both sides; besides, program order.
    pub fn weakly_causally_precedes(&self) -> Relation {
        let n = self.events.len();
        let happens_before = self.happens_before();
        // Composition includes the event itself.
        let mut before_or_same = happens_before.clone();
        (0..n).for_each(|event| {
            before_or_same.add(event, event);
        });
        let mut program_order = Relation::new(n);
        let asked = self.conflicting_sections();
        for a in 0..n {
            for b in a + 1..n {
                if self.is_one_strand(a, b) {
                    program_order.add(a, b);
                }
            }
        }
        let mut weak = Relation::new(n);
        loop {
            let order = weak.union(&program_order);
            let asked = asked.union(&self.ordered_sections(&order));
            let mut more = weak.clone();
            for &(a, b) in &self.awaited {
                more.add(a, b);
            }
            for a in 0..n {
                for b in 0..n {
                    if asked.has(a, b) && !self.is_one_strand(a, b) {
                        more.add(a, b);
                    }
                }
            }
            let more = before_or_same.then(&more).then(&before_or_same);
            if more == weak {
                return order;
            }
            weak = more;
        }
    }
}

/// The write whose value a read sees, if the event is a read and there is one.
pub fn observed(events: &[Event], read: usize) -> Option<usize> {
    let (Op::Read(x, _) | Op::AtomicLoad(x, _) | Op::AtomicUpdate(x, _)) = events[read].op() else {
        return None;
    };
    let writes = |op| match op {
        Op::Write(y) | Op::AtomicStore(y, _) | Op::AtomicUpdate(y, _) => x == y,
        _ => false,
    };
    (0..read).rfind(|write| writes(events[*write].op()))
}

/// A lock that is taken again while it is held goes on being held until the last release.
pub fn sections(events: &[Event]) -> Vec<Section> {
    let mut sections: Vec<(Section, u32)> = Vec::new();
    for (now, event) in events.iter().enumerate() {
        let mine = |section: &Section| {
            section.release.is_none() && events[section.acquire].strand() == event.strand()
        };
        for (section, depth) in sections.iter_mut().filter(|(section, _)| mine(section)) {
            section.events.push(now);
            match event.op() {
                Op::Acquire(lock) if lock == section.lock => *depth += 1,
                Op::Release(lock) if lock == section.lock => *depth -= 1,
                _ => {}
            }
            if *depth == 0 {
                section.release = Some(now);
            }
        }
        if let Op::Acquire(lock) = event.op()
            && !sections
                .iter()
                .any(|(section, _)| mine(section) && section.lock == lock)
        {
            let section = Section {
                lock,
                acquire: now,
                release: None,
                events: vec![now],
            };
            sections.push((section, 1));
        }
    }
    sections.into_iter().map(|(section, _)| section).collect()
}
