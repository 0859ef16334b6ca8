//! ESP-bags: SP-bags for `async` and `finish` (zipper, section 2.3, and the works it cites).
//!
//! Simple model: walk the program depth first, as one worker would run it, and keep for each location
//! all accesses; a new access races with those that conflict with it and whose task is not known to
//! come before.
//!
//! The idea: bags say whether what a task has done may run in parallel with the point reached (see
//! [`Bags`]); the last writer and one reader of each location are enough, because on a depth-first
//! walk a reader that is parallel now stays the best one to keep until its `finish` has ended.
//!
//! Whatever schedule the execution comes from, its strands are walked depth first: for `async` and
//! `finish`, that is an order its graph allows.
//!
//! Guarantee: a location is reported if and only if it has a race in this execution. With `isolated`
//! sections there is none: they are taken to commute, so that two accesses inside sections never
//! race, and a race is reported wherever a section and something outside of it would race without
//! the order of sections. That reports races that are not there (zipper, Figure 2), so
//! the [`ENGINE`] refuses such programs; [`racy_locations`] does not.
//!
//! Cost: practically constant for each event; 32 bytes a location; one thread.

use std::collections::BTreeSet;

use deadheat_model::{
    AccessKind, Construct, EventNumber, Execution, Location, Op, StopPoll, Strand,
};
use deadheat_online::Shadow;
use deadheat_order::{Bags, Member, ParallelBag};

use crate::by_strand::ByStrand;
use crate::engine::{Engine, Worth};
use crate::replay::{Racy, all_races};

/// Its facts.
pub const ENGINE: Engine = Engine {
    name: "esp-bags",
    summary: "`async` and `finish`: exact, by a depth-first walk",
    orders: &[Construct::Async, Construct::Finish],
    worth: Worth::Exact,
    cost: "practically constant an event, 32 bytes a location, one thread",
    in_memory: true,
    judge: |survey, _| {
        let execution = survey.execution(ENGINE.name)?;
        let mut poll = StopPoll::new(survey.stop);
        let racy = walk(execution, &mut poll);
        all_races(execution, &racy, poll, survey)
    },
};

/// The locations that race, as the engine by itself sees them; `isolated` sections are taken to
/// commute, and other constructs than `async` and `finish` to order nothing.
pub fn racy_locations(execution: &Execution) -> BTreeSet<Location> {
    walk(execution, &mut StopPoll::default())
        .into_keys()
        .collect()
}

/// Whose access is kept.
type Accessor = Option<Member>;

/// What is kept of a location.
pub const BYTES_PER_LOCATION: usize = size_of::<Cell>();

/// What is kept of a location's past, apart for what was done inside `isolated`.
#[derive(Default)]
struct Cell {
    outside: Last,
    isolated: Last,
}

#[derive(Default)]
struct Last {
    writer: Accessor,
    reader: Accessor,
}

impl Cell {
    /// Checks an access and keeps it; says whether it races with an earlier one.
    fn access(&mut self, bags: &mut Bags, task: Member, kind: AccessKind, isolated: bool) -> bool {
        let mut parallel = |kept: Accessor| kept.is_some_and(|task| bags.parallel(task));
        let write = kind == AccessKind::Write;
        // Two accesses that are both inside sections exclude each other.
        let conflicting = [
            (self.outside.writer, true),
            (self.outside.reader, write),
            (self.isolated.writer, !isolated),
            (self.isolated.reader, !isolated && write),
        ];
        let races = conflicting
            .into_iter()
            .any(|(kept, conflicts)| conflicts && parallel(kept));
        let last = match isolated {
            true => &mut self.isolated,
            false => &mut self.outside,
        };
        let kept = match kind {
            AccessKind::Read => &mut last.reader,
            AccessKind::Write => &mut last.writer,
        };
        // One that is parallel now stays parallel to all that this one is parallel to.
        if !parallel(*kept) {
            *kept = Some(task);
        }
        races
    }
}

/// A strand that is being walked.
struct Frame {
    strand: Strand,
    task: Member,
    /// How many of its events are behind.
    position: usize,
    /// How many finishes were open when it was started: the last of them waits for it.
    finishes: usize,
}

/// Walks the strands of an execution depth first, until it is stopped.
fn walk(execution: &Execution, poll: &mut StopPoll) -> Racy {
    let by_strand = ByStrand::new(execution);
    let mut shadow = Shadow::<Cell>::default();
    let mut bags = Bags::default();
    let mut racy = Racy::new();
    let mut finishes = vec![ParallelBag::default()];
    let mut isolated = false;
    let mut path = vec![Frame {
        strand: Strand::MAIN,
        task: bags.begin(),
        position: 0,
        finishes: 1,
    }];
    while let Some(frame) = path.last_mut() {
        if poll.stops() {
            break;
        }
        let Some(&index) = by_strand.of(frame.strand).get(frame.position) else {
            // Finishes are still open if the execution was cut short: nothing follows them, and what
            // is inside stays parallel to all that does.
            finishes.truncate(frame.finishes);
            if let Some(finish) = finishes.last_mut() {
                bags.end(frame.task, finish);
            }
            isolated = false;
            path.pop();
            continue;
        };
        frame.position += 1;
        let event = &execution.events[index as usize];
        if let Some(access) = event.access() {
            let cell = shadow.cell_mut(access.location);
            let races = cell.access(&mut bags, frame.task, access.kind, isolated);
            if races {
                let number = EventNumber::from(index) + 1;
                racy.entry(access.location).or_insert(number);
            }
            continue;
        }
        match event.op() {
            Op::Async(child) | Op::Future(child) => {
                let frame = Frame {
                    strand: child,
                    task: bags.begin(),
                    position: 0,
                    finishes: finishes.len(),
                };
                path.push(frame);
            }
            Op::FinishBegin(_) => finishes.push(ParallelBag::default()),
            Op::FinishEnd(_) if finishes.len() > frame.finishes => {
                if let Some(finish) = finishes.pop() {
                    bags.end_finish(frame.task, finish);
                }
            }
            Op::IsolatedBegin => isolated = true,
            Op::IsolatedEnd => isolated = false,
            _ => {}
        }
    }
    racy
}
