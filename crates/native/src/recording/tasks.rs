//! OpenMP's tasks as strands of a trace.
//!
//! | program | trace |
//! |---|---|
//! | a task | a future; whoever waits for it by `taskwait` or `depend` joins it |
//! | `taskgroup` | a `finish` |
//! | a region | a `finish` of the strand that meets it, in which each member is an `async` |
//! | a barrier | the end of that `finish`, and the next one, in which each member is a new `async` |
//! | `ordered`, `doacross`, events of detached tasks | promises |
//!
//! Guarantee: whatever the tape says, a strand is created once and ends once, and waits only for what has come before. A
//! `finish` that ends ends all that is inside: libomp 19 may go on after a barrier though a task with `mutexinoutset` has
//! not run yet, and what that does later is left out.

use deadheat_model::{Finish, Op, Promise, Strand, StrandKind};
use deadheat_tape::{Member, THREAD_STRAND, TaskAction};
use rustc_hash::{FxHashMap, FxHashSet};

use super::lowering::Ops;

/// See the [module](self).
#[derive(Default)]
pub struct Tasks {
    /// By their names on the tape.
    strands: FxHashMap<u64, Strand>,
    /// What threads run, if not themselves.
    running: FxHashMap<u32, Strand>,
    /// What can be waited for, by the step that it is called by.
    signals: FxHashMap<u64, Op>,
    /// The `finish` blocks that each strand is in, outermost first.
    finishes: FxHashMap<Strand, Vec<Finish>>,
    regions: FxHashMap<Strand, Vec<Region>>,
    /// The `finish` block that waits for each strand that has not ended, and the strands that each waits for.
    homes: FxHashMap<Strand, Finish>,
    inside: FxHashMap<Finish, FxHashSet<Strand>>,
    /// The strands that are members of teams, for one phase each.
    members: FxHashSet<Strand>,
    ended: FxHashSet<Strand>,
    finish_count: u64,
    promise_count: u64,
    region_count: u64,
    /// How many tasks there were, members of regions not counted.
    pub task_count: u64,
}

struct Region {
    number: u64,
    barriers: u64,
}

impl Tasks {
    /// The strand that a thread runs.
    pub fn running(&self, thread: u32) -> Strand {
        match self.running.get(&thread) {
            Some(strand) => *strand,
            None => Strand(thread),
        }
    }

    /// A thread goes on as a strand. One that nobody has created does nothing that is told.
    pub fn run(&mut self, thread: u32, name: u64) {
        match name & THREAD_STRAND {
            0 => {
                let nobody = Strand(u32::MAX);
                let strand = self.strands.get(&name).copied().unwrap_or(nobody);
                self.running.insert(thread, strand);
            }
            _ if name as u32 == thread => {
                self.running.remove(&thread);
            }
            _ => {
                self.running.insert(thread, Strand(name as u32));
            }
        }
    }

    /// Whether a strand does nothing more that is told.
    pub fn is_over(&self, strand: Strand) -> bool {
        strand == Strand(u32::MAX) || self.ended.contains(&strand)
    }

    /// A strand does nothing more; false: that was so before.
    pub fn close(&mut self, strand: Strand) -> bool {
        self.ended.insert(strand)
    }

    /// What a strand is that is created now, and what it is to be called.
    pub fn name(
        &mut self,
        creator: Strand,
        action: TaskAction,
        number: u64,
        place: &str,
    ) -> (StrandKind, String) {
        if action == TaskAction::Task {
            self.task_count += 1;
            let name = match place {
                "" => format!("task {}", self.task_count),
                place => format!("task {} ({place})", self.task_count),
            };
            return (StrandKind::Task, name);
        }
        let region = self.regions.get(&creator).and_then(|open| open.last());
        let number = Member::from_payload(number).number;
        let (region, barriers) = match region {
            Some(region) => (region.number, region.barriers),
            None => (0, 0),
        };
        let name = match barriers {
            0 => format!("thread {number} of region {region}"),
            _ => format!("thread {number} of region {region} after barrier {barriers}"),
        };
        (StrandKind::Member(number as u32), name)
    }

    /// A strand creates one that has this number in the trace.
    pub fn create(
        &mut self,
        creator: Strand,
        action: TaskAction,
        number: u64,
        created: Strand,
        ops: &mut Ops,
    ) {
        let (name, op) = match action {
            TaskAction::Member => {
                self.members.insert(created);
                (Member::from_payload(number).strand, Op::Async(created))
            }
            _ => (number, Op::Future(created)),
        };
        self.strands.insert(name, created);
        let open = self.finishes.get(&creator).and_then(|open| open.last());
        if let Some(home) = open.or(self.homes.get(&creator)).copied() {
            self.homes.insert(created, home);
            self.inside.entry(home).or_default().insert(created);
        }
        ops.push((creator, op));
    }

    /// A strand does something else.
    pub fn act(&mut self, strand: Strand, action: TaskAction, number: u64, ops: &mut Ops) {
        match action {
            TaskAction::Task | TaskAction::Member => {}
            TaskAction::Set => {
                let promise = self.new_promise();
                self.signals.insert(number, Op::Get(promise));
                ops.extend([Op::NewPromise(promise), Op::Set(promise)].map(|op| (strand, op)));
            }
            TaskAction::Get => {
                let signal = self.signals.get(&number);
                ops.extend(signal.map(|signal| (strand, *signal)));
            }
            TaskAction::BeginGroup => self.begin_finish(strand, ops),
            TaskAction::EndGroup => self.end_finish(strand, ops),
            TaskAction::BeginRegion => {
                self.region_count += 1;
                let number = self.region_count;
                let region = Region {
                    number,
                    barriers: 0,
                };
                self.regions.entry(strand).or_default().push(region);
                self.begin_finish(strand, ops);
            }
            TaskAction::Barrier => {
                if let Some(region) = self.region(strand) {
                    region.barriers += 1;
                }
                self.end_finish(strand, ops);
                self.begin_finish(strand, ops);
            }
            TaskAction::EndRegion => {
                self.regions.get_mut(&strand).and_then(Vec::pop);
                self.end_finish(strand, ops);
            }
            TaskAction::End => {
                self.signals.insert(number, Op::Join(strand));
                self.end(strand, ops);
            }
        }
    }

    /// A promise that nobody has used.
    pub fn new_promise(&mut self) -> Promise {
        let promise = Promise(self.promise_count);
        self.promise_count += 1;
        promise
    }

    /// Whether a strand is what a member of a team does between two barriers.
    pub fn is_member(&self, strand: Strand) -> bool {
        self.members.contains(&strand)
    }

    fn end(&mut self, strand: Strand, ops: &mut Ops) {
        while self.is_in_finish(strand) {
            self.end_finish(strand, ops);
        }
        let home = self.homes.remove(&strand);
        if let Some(inside) = home.and_then(|home| self.inside.get_mut(&home)) {
            inside.remove(&strand);
        }
        ops.push((strand, Op::End));
        self.close(strand);
    }

    fn region(&mut self, strand: Strand) -> Option<&mut Region> {
        self.regions.get_mut(&strand)?.last_mut()
    }

    fn is_in_finish(&self, strand: Strand) -> bool {
        self.finishes
            .get(&strand)
            .is_some_and(|open| !open.is_empty())
    }

    fn begin_finish(&mut self, strand: Strand, ops: &mut Ops) {
        let finish = Finish(self.finish_count);
        self.finish_count += 1;
        self.finishes.entry(strand).or_default().push(finish);
        ops.push((strand, Op::FinishBegin(finish)));
    }

    fn end_finish(&mut self, strand: Strand, ops: &mut Ops) {
        let Some(finish) = self.finishes.get_mut(&strand).and_then(Vec::pop) else {
            return;
        };
        let inside = self.inside.remove(&finish).unwrap_or_default();
        let mut late: Vec<Strand> = inside.into_iter().collect();
        late.sort_unstable();
        late.into_iter().for_each(|strand| self.end(strand, ops));
        ops.push((strand, Op::FinishEnd(finish)));
    }
}
