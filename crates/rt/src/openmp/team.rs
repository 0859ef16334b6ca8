//! Parallel regions: a team of implicit tasks, its barriers, its loops.
//!
//! A region is a `finish` of the strand that meets it. A barrier ends one *phase* of the team and begins the next; a
//! phase is a `finish` inside the region, in which each member begins anew as a task. So a barrier
//! orders everything before it, explicit tasks included, before everything after it, and the tree says so. The end of
//! a barrier is told to each member at its own time: phases are counted, and whoever comes first begins the next.
//!
//! A member that is handed iterations (or a section, or a `single` block) might as well not have been: each such
//! piece is a task of its own in the phase, unordered with what the same member does between the barriers, if the
//! team has more than one member, or might have. Where it is fixed which member is handed what, as by a static schedule, the
//! pieces come after what that member has done before and before what it does then, in a `finish` of the member's own. What belongs to the member itself, its stack and its thread-local variables, cannot race
//! with itself: see [`order`](super::order).

use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use deadheat_order::{FinishPast, Knowledge, Signal, Task};
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::descriptions::Kind;
use super::notes::{self, Name, TaskAction};
use super::sections;
use super::strand::{Aside, Enclosure, Shared, Strand};
use super::{Seen, tasks};
use crate::check::origin::Stack;
use crate::output::recording;

/// See the [module](self).
#[derive(Debug)]
pub struct Team {
    inner: Shared<Inner>,
    description: u32,
    /// Nothing else ran beside this team when it began.
    is_outermost: bool,
    /// The program itself wants it to be of one thread.
    wants_one: bool,
}

#[derive(Debug)]
struct Inner {
    /// Who has met the region, in which code, and who the members are in its present phase: for recordings.
    met_by: Name,
    code: usize,
    members: Vec<Name>,
    /// Inside the region, and inside its present phase.
    order: Task,
    phase: u32,
    /// The phase's number among those of all teams.
    id: u32,
    past: FinishPast,
    /// What those have heard, by critical sections, who have ended in the present phase, and who did before it.
    heard: Knowledge,
    heard_before: Knowledge,
    /// The last `ordered` block, by the address of what orders it.
    ordered: FxHashMap<usize, Signal>,
    /// What iterations have told others of, by their numbers.
    posted: FxHashMap<Box<[i64]>, Signal>,
}

impl Inner {
    /// A member of a number begins the present phase.
    fn spawn(&mut self, number: u32) -> Option<Task> {
        let order = tasks().or_drop(tasks().structure.spawn(&mut self.order))?;
        if recording::on() {
            let name = Name::strand(order.step());
            self.members.push(name);
            notes::member(self.met_by, name, number, self.code);
        }
        Some(order)
    }

    /// Every member has arrived: its part of the phase has ended.
    fn note_end_of_phase(&mut self, action: TaskAction) {
        for member in self.members.drain(..) {
            notes::tell(member, TaskAction::End, self.code);
        }
        notes::tell(self.met_by, action, self.code);
    }
}

/// An implicit task's part in its team.
#[derive(Debug)]
pub struct Member {
    pub team: Arc<Team>,
    /// Its number, and how many members there are.
    number: u32,
    size: u32,
    phase: u32,
    arrived: bool,
    /// While it is in a loop whose pieces are told apart.
    pieces: Option<Pieces>,
    /// How many dimensions the loop has whose iterations wait for each other.
    pub dimensions: usize,
}

#[derive(Debug)]
struct Pieces {
    /// Where the loop is.
    stack: Stack,
    /// Whether compiled code tells of each iteration.
    are_iterations: bool,
    /// Where it is fixed whose pieces they are.
    own: Option<OwnPieces>,
    /// Whether the present piece only shows what iterations do that come in the next one; the ends of such pieces.
    shows: bool,
    shown: Vec<Signal>,
    count: u32,
    /// How many there had been when it began, in all loops of its place whose iterations are told.
    told_before: u32,
    /// What the member is outside the present piece.
    aside: Option<Aside>,
}

impl Member {
    /// Whether there are other members, or would be if there were more threads.
    fn might_have_others(&self) -> bool {
        self.size > 1 || self.team.is_outermost && !self.team.wants_one
    }
}

/// The pieces of a loop that are the member's whatever the schedule.
#[derive(Debug)]
struct OwnPieces {
    /// The `finish` they are in.
    past: FinishPast,
    /// As a phase of its own: see [`settled`](super::settled).
    id: u32,
    /// The ends of all, and whether one has ended before all tasks that it has created.
    ended: Vec<Signal>,
    leaks: bool,
}

/// Who is handed the pieces of a loop, and who tells of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Handing {
    /// Any member, as the runtime tells.
    ToAny,
    /// Any member, as compiled code tells of each iteration.
    EachToAny,
    /// A member that is fixed, as compiled code tells.
    Fixed,
}

/// How many pieces of a loop are told apart one by one.
const FEW: u32 = 1 << 12;
/// The same of iterations that compiled code tells of, each time that a loop is run.
const FEW_TOLD: u32 = 1 << 16;

/// How many iterations have been told, by the place of their loop. Two places may have one count, and both fewer told apart.
static TOLD: [AtomicU32; 1024] = [const { AtomicU32::new(0) }; 1024];

fn told_at(stack: Stack) -> &'static AtomicU32 {
    &TOLD[FxBuildHasher.hash_one((stack.chain, stack.place)) as usize % TOLD.len()]
}

impl Team {
    /// A strand meets a parallel region.
    pub fn begin(
        strand: &mut Strand,
        (code, stack): (usize, Stack),
        is_outermost: bool,
        wants_one: bool,
    ) -> Option<Arc<Team>> {
        strand.settle();
        let tasks = tasks();
        tasks.or_drop(tasks.structure.begin_finish(&mut strand.order))?;
        strand.note_step();
        let mut order = strand.order;
        let past = tasks.or_drop(tasks.structure.begin_finish(&mut order))?;
        let description = tasks
            .descriptions
            .add(Kind::Region, strand.description, stack, 0, 0);
        notes::tell(strand.name, TaskAction::BeginRegion, code);
        Some(Arc::new(Team {
            inner: Shared::new(Inner {
                met_by: strand.name,
                code,
                members: Vec::new(),
                order,
                phase: 0,
                id: tasks.new_phase(),
                past,
                heard: strand.heard.inherit(),
                heard_before: strand.heard.inherit(),
                ordered: FxHashMap::default(),
                posted: FxHashMap::default(),
            }),
            description,
            is_outermost,
            wants_one,
        }))
    }

    /// A member begins.
    pub fn member(self: &Arc<Team>, number: u32, size: u32) -> Option<Box<Strand>> {
        let tasks = tasks();
        if size == 1 {
            tasks.see(Seen::TeamOfOne);
        }
        let (order, phase, heard) = self
            .inner
            .with(|inner| (inner.spawn(number), inner.phase, inner.heard_before));
        let stack = tasks.descriptions.get(self.description).stack;
        let description = tasks.descriptions.add(
            Kind::Implicit,
            self.description,
            stack,
            u64::from(number),
            0,
        );
        let mut strand = Strand::new(order?, description, Enclosure::Team(self.clone()));
        strand.heard = heard;
        strand.member = Some(Member {
            team: self.clone(),
            number,
            size,
            phase,
            arrived: false,
            pieces: None,
            dimensions: 0,
        });
        Some(Box::new(strand))
    }

    /// Whether nothing runs beside the team, all members of which have met.
    fn is_alone(&self) -> bool {
        self.is_outermost && tasks().busy.load(Ordering::Relaxed) == 1
    }

    /// A task of the team ends.
    pub fn tell_end(&self, strand: &Strand) {
        self.inner.with(|inner| {
            sections::add(&mut inner.heard, strand.heard.now);
            let structure = &tasks().structure;
            structure.end(&strand.order, Some(&mut inner.past));
        });
    }

    /// The region ends: the strand that met it goes on. Every member has arrived at its end.
    pub fn end(&self, strand: &mut Strand) {
        let structure = &tasks().structure;
        let (order, heard) = self.inner.with(|inner| {
            let past = std::mem::take(&mut inner.past);
            tasks().or_drop(structure.end_finish(&mut inner.order, past));
            inner.note_end_of_phase(TaskAction::EndRegion);
            (inner.order, inner.heard.now)
        });
        strand.order = order;
        sections::add(&mut strand.heard, heard);
        tasks().or_drop(structure.end_finish(&mut strand.order, FinishPast::default()));
        if self.is_alone() {
            tasks().or_drop(structure.signal(&mut strand.order));
            tasks().begin_era(strand.step());
            strand.order.forget_known();
        }
        strand.note_step();
    }
}

impl Strand {
    /// A member arrives at a barrier, or at the end of its region.
    pub fn arrive(&mut self) {
        self.end_pieces();
        if let Some(member) = &mut self.member
            && !std::mem::replace(&mut member.arrived, true)
        {
            notes::pause();
            let team = member.team.clone();
            self.settle();
            team.tell_end(self);
        }
    }

    /// A member leaves a barrier.
    pub fn leave(&mut self) {
        let Some(member) = &mut self.member else {
            return;
        };
        if !std::mem::replace(&mut member.arrived, false) {
            return;
        }
        let team = member.team.clone();
        let structure = &tasks().structure;
        let (order, heard) = team.inner.with(|inner| {
            if inner.phase == member.phase {
                let past = std::mem::take(&mut inner.past);
                tasks().or_drop(structure.end_finish(&mut inner.order, past));
                inner.note_end_of_phase(TaskAction::Barrier);
                inner.past = tasks()
                    .or_drop(structure.begin_finish(&mut inner.order))
                    .unwrap_or_default();
                inner.heard_before = inner.heard;
                inner.phase += 1;
                inner.id = tasks().new_phase();
                if team.is_alone() {
                    tasks().begin_era(inner.order.step());
                    inner.order.forget_known();
                }
            }
            member.phase = inner.phase;
            (inner.spawn(member.number), inner.heard_before)
        });
        if let Some(order) = order {
            self.go_on(order, heard);
        }
    }

    /// A member begins a loop whose pieces are told apart.
    pub fn begin_pieces(&mut self, stack: Stack, handing: Handing) {
        self.end_pieces();
        if !(self.member.as_ref()).is_some_and(Member::might_have_others) {
            return;
        }
        let own = match handing == Handing::Fixed && !recording::on() {
            true => match self.begin_own_pieces() {
                None => return,
                own => own,
            },
            false => None,
        };
        if let Some(member) = &mut self.member {
            let are_iterations = handing != Handing::ToAny;
            let told_before = match are_iterations {
                true => told_at(stack).load(Ordering::Relaxed),
                false => 0,
            };
            member.pieces = Some(Pieces {
                stack,
                own,
                told_before,
                are_iterations,
                shows: false,
                shown: Vec::new(),
                count: told_before,
                aside: None,
            });
        }
    }

    fn begin_own_pieces(&mut self) -> Option<OwnPieces> {
        self.settle();
        let past = tasks().or_drop(tasks().structure.begin_finish(&mut self.order))?;
        self.note_step();
        Some(OwnPieces {
            past,
            id: tasks().new_phase(),
            ended: Vec::new(),
            leaks: false,
        })
    }

    fn end_own_pieces(&mut self, own: OwnPieces) {
        let structure = &tasks().structure;
        self.settle();
        if own.leaks {
            structure.leave_open(&mut self.order);
            tasks().or_drop(structure.join_all(&mut self.order, &own.ended));
            self.leak();
        } else {
            tasks().or_drop(structure.end_finish(&mut self.order, own.past));
        }
        self.note_step();
    }

    /// Whether compiled code tells of each iteration of the loop that a member is in.
    pub fn tells_iterations(&self) -> bool {
        let pieces = self
            .member
            .as_ref()
            .and_then(|member| member.pieces.as_ref());
        pieces.is_some_and(|pieces| pieces.are_iterations)
    }

    /// A member is handed a piece: some iterations, a section, the block of a `single`. The one before has ended.
    pub fn begin_piece(&mut self, kind: Kind, first: u64, iterations: u32) {
        let Some(Member {
            pieces: Some(pieces),
            ..
        }) = &mut self.member
        else {
            return;
        };
        pieces.count = pieces.count.wrapping_add(1);
        // Very many pieces would fill memory, and take time: the later ones are told apart in lots.
        let (count, stack) = (pieces.count, pieces.stack);
        let few = match pieces.are_iterations {
            true => FEW_TOLD,
            false => FEW,
        };
        let is_late = count > few && !count.is_multiple_of((count / few).next_power_of_two());
        // What iterations tell each other by atomic variables would be kept for each of them.
        let is_much = pieces.are_iterations && tasks().has_seen(Seen::Messages);
        if is_late || is_much {
            tasks().see(match pieces.own {
                Some(_) => Seen::StaticLoops,
                None => Seen::ThreadsChoose,
            });
            return;
        }
        self.hand(kind, stack, first, iterations);
    }

    fn hand(&mut self, kind: Kind, stack: Stack, first: u64, iterations: u32) {
        self.end_piece();
        if self.has_asked() {
            tasks().see(Seen::ThreadsChoose);
            return;
        }
        let descriptions = &tasks().descriptions;
        self.run_piece(|parent| descriptions.add(kind, parent, stack, first, iterations));
    }

    /// An iteration is shown that meets another one, which is shown next or was before: it will be run with all others. Of
    /// several such pairs one comes after the other, as the same iteration may be in both.
    pub fn begin_shown(&mut self, iteration: u64) {
        let Some(stack) = self.pieces().map(|pieces| pieces.stack) else {
            return;
        };
        self.hand(Kind::Iterations, stack, iteration, 1);
        let Some(pieces) = self.pieces() else { return };
        pieces.shows = pieces.aside.is_some();
        if pieces.shown.len().is_multiple_of(2) {
            self.follow_shown();
        }
    }

    /// So many iterations begin of which it is known whether any two meet: those that do have been shown, and come before.
    pub fn begin_judged(&mut self, first: u64, count: u32) {
        let Some(stack) = self.pieces().map(|pieces| pieces.stack) else {
            return;
        };
        self.hand(Kind::Iterations, stack, first, count);
        self.follow_shown();
        if let Some(pieces) = self.pieces() {
            pieces.shown.clear();
        }
    }

    fn follow_shown(&mut self) {
        if let Some(pieces) = self.pieces()
            && !pieces.shown.is_empty()
        {
            let shown = std::mem::take(&mut pieces.shown);
            self.join(&shown);
            if let Some(pieces) = self.pieces() {
                pieces.shown = shown;
            }
        }
    }

    fn pieces(&mut self) -> Option<&mut Pieces> {
        self.member.as_mut()?.pieces.as_mut()
    }

    /// What the threads have computed for a reduction is combined by one of them, or by each: that is the runtime's
    /// choice. So whoever does it does it as if handed a piece.
    pub fn begin_combining(&mut self) {
        self.begin_pieces(Stack::default(), Handing::ToAny);
        self.run_piece(|parent| parent);
    }

    /// Goes on as a task of the phase; `describe` makes its description of the member's.
    fn run_piece(&mut self, describe: impl FnOnce(u32) -> u32) {
        let Some(Member {
            pieces: Some(_),
            team,
            ..
        }) = &self.member
        else {
            return;
        };
        if recording::on() {
            return;
        }
        let own = match &self.member {
            Some(Member {
                pieces: Some(pieces),
                ..
            }) => pieces.own.as_ref().map(|own| own.id),
            _ => None,
        };
        let (spawned, phase, heard) = match own {
            Some(id) => {
                self.settle();
                let spawned = tasks().structure.spawn(&mut self.order);
                self.note_step();
                (spawned, id, self.heard.inherit())
            }
            None => team.inner.with(|inner| {
                let spawned = tasks().structure.spawn(&mut inner.order);
                (spawned, inner.id, inner.heard_before)
            }),
        };
        let Some(order) = tasks().or_drop(spawned) else {
            return;
        };
        let description = describe(self.description);
        let aside = self.step_aside((order, heard), description, phase);
        if let Some(pieces) = self.pieces() {
            pieces.aside = Some(aside);
        }
    }

    fn end_piece(&mut self) {
        if let Some(Member {
            pieces: Some(pieces),
            team,
            ..
        }) = &mut self.member
            && let Some(aside) = pieces.aside.take()
        {
            let team = team.clone();
            let own = pieces.own.take();
            self.settle();
            let end = tasks().structure.end(&self.order, None);
            if let Some(pieces) = self.pieces()
                && std::mem::take(&mut pieces.shows)
            {
                pieces.shown.push(end);
            }
            match own {
                None => {
                    team.tell_end(self);
                    self.step_back(aside);
                    if self.has_asked() {
                        self.join(&[end]);
                    }
                }
                Some(mut own) => {
                    let structure = &tasks().structure;
                    structure.end(&self.order, Some(&mut own.past));
                    own.ended.push(end);
                    own.leaks |= self.has_children();
                    let heard = self.heard.now;
                    self.step_back(aside);
                    sections::add(&mut self.heard, heard);
                    if let Some(pieces) = self.pieces() {
                        pieces.own = Some(own);
                    }
                }
            }
        }
    }

    /// Whether it has asked for its number: what it chooses by that is its own, so its pieces come one after the other.
    pub fn has_asked(&self) -> bool {
        tasks().descriptions.get(self.description).has_asked()
    }

    /// A member leaves a loop whose pieces are told apart.
    pub fn end_pieces(&mut self) {
        self.end_piece();
        if let Some(member) = &mut self.member
            && let Some(pieces) = member.pieces.take()
        {
            if pieces.are_iterations {
                let told = pieces.count.wrapping_sub(pieces.told_before);
                told_at(pieces.stack).fetch_add(told, Ordering::Relaxed);
            }
            if let Some(own) = pieces.own {
                self.end_own_pieces(own);
            }
        }
    }

    /// An `ordered` block begins: what the one before has done comes before.
    pub fn begin_ordered(&mut self, address: usize) {
        self.ordered = address;
        let Some(member) = &self.member else { return };
        let last = member
            .team
            .inner
            .with(|inner| inner.ordered.get(&address).copied());
        self.join(last.as_slice());
    }

    /// An `ordered` block ends. The next one has not begun yet.
    pub fn end_ordered(&mut self) {
        let address = self.ordered;
        if let Some(signal) = self.signal()
            && let Some(member) = &self.member
        {
            member
                .team
                .inner
                .with(|inner| inner.ordered.insert(address, signal));
        }
    }

    /// An iteration tells those that wait for it that it has come so far.
    pub fn post(&mut self, iteration: &[i64]) {
        if let Some(signal) = self.signal()
            && let Some(member) = &self.member
        {
            member
                .team
                .inner
                .with(|inner| inner.posted.insert(iteration.into(), signal));
        }
    }

    /// An iteration has waited for another.
    pub fn await_post(&mut self, iteration: &[i64]) {
        let Some(member) = &self.member else { return };
        let posted = member
            .team
            .inner
            .with(|inner| inner.posted.get(iteration).copied());
        self.join(posted.as_slice());
    }

    /// A loop begins whose iterations wait for each other.
    pub fn begin_posts(&mut self, dimensions: usize) {
        if let Some(member) = &mut self.member {
            member.dimensions = dimensions;
        }
    }
}

/// A region begins. Says whether nothing else runs beside it.
pub fn enter_region() -> bool {
    tasks().busy.fetch_add(1, Ordering::Relaxed) == 0
}

/// A region has ended. Says whether only the first strand is left.
pub fn leave_region() -> bool {
    tasks().busy.fetch_sub(1, Ordering::Relaxed) == 1
}
