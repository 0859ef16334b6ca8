//! Runs a program one step at a time, in whatever order the caller chooses.
//!
//! A [`State`] is everything that decides how an execution goes on: memory, where each strand
//! stands, which promises are set, who holds which lock. [`Machine::step`] lets one strand take one
//! step: one event, and the local computation behind it up to the strand's next step. The numbers
//! of strands, cells, promises and finishes depend only on who makes them (and on how many that one
//! has made, or has open), never on the schedule, so states reached in different ways compare equal
//! when they are.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use deadheat_model::{
    Event, Execution, Finish, Flag, Location, Lock, Names, Op, Parent, Promise, Region, Semaphore,
    Site, Strand,
};
use rustc_hash::FxHashMap;

use crate::code::{Address, Code, Instruction, Requirement, Start, Value};
use crate::digest::digest;
use crate::liveness::live_slots;
use crate::location::LocationName;
use crate::syntax::ast::{BinaryOperator, UnaryOperator};

/// How many values a strand's stack may hold: what stops a recursion without end.
const MAX_STACK: usize = 1 << 18;
/// How many values all strands' stacks may hold together.
const MAX_STACKS: u64 = 1 << 26;
/// How many strands one execution may start.
const MAX_STRANDS: usize = 1 << 22;
/// How deep strands may start strands: a strand's name is the path to it.
const MAX_STRAND_DEPTH: u32 = 10_000;
/// How many local instructions a strand runs before others get a turn.
const LOCAL_RUN: u32 = 100_000;
/// How many local instructions cost as much as a step: a long computation is not to outlast a
/// bound on steps.
const LOCAL_PER_STEP: u64 = 100;

/// Receives the events of an execution as they happen.
pub trait Observer {
    /// `value` is what was read or written; a number without meaning for other events.
    fn event(&mut self, event: Event, value: Value);
}

/// A run-time error: it ends the run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RuntimeError {
    /// What went wrong.
    pub kind: ErrorKind,
    /// Where.
    pub site: Site,
    /// In which strand.
    pub strand: Strand,
}

/// What can go wrong while a program runs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum ErrorKind {
    DivisionByZero,
    IndexOutOfRange {
        index: i64,
        length: u32,
    },
    /// Something was used as what it is not.
    Unfit {
        wanted: &'static str,
        found: &'static str,
    },
    AssertionFailed,
    /// A promise was set again; where it was set first.
    SetTwice {
        first: Site,
    },
    AcquiredTwice {
        lock: String,
    },
    ReleasedNotHeld {
        lock: String,
    },
    CallsTooDeep,
    StrandsTooDeep,
    TooManyStrands,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::DivisionByZero => f.write_str("division by zero"),
            ErrorKind::IndexOutOfRange { index, length } => write!(
                f,
                "index {index} is out of range: the array has {length} elements"
            ),
            ErrorKind::Unfit { wanted, found } => write!(f, "expected {wanted}, found {found}"),
            ErrorKind::AssertionFailed => f.write_str("the assertion does not hold"),
            ErrorKind::SetTwice { .. } => f.write_str("this promise is already set"),
            ErrorKind::AcquiredTwice { lock } => write!(
                f,
                "lock `{lock}` is acquired by the strand that holds it already"
            ),
            ErrorKind::ReleasedNotHeld { lock } => {
                write!(
                    f,
                    "lock `{lock}` is released by a strand that does not hold it"
                )
            }
            ErrorKind::CallsTooDeep => f.write_str("procedure calls are nested too deep"),
            ErrorKind::StrandsTooDeep => write!(
                f,
                "tasks that start tasks are nested more than {MAX_STRAND_DEPTH} deep"
            ),
            ErrorKind::TooManyStrands => {
                write!(
                    f,
                    "more than {MAX_STRANDS} tasks and threads, or too many at once"
                )
            }
        }
    }
}

/// What a strand that cannot go on is waiting for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum WaitsFor {
    Promise(Promise),
    /// The end of a thread or a future.
    Strand(Strand),
    /// The end of the tasks of a finish.
    Finish(Finish),
    Lock(Lock),
    Semaphore(Semaphore),
    Event(Flag),
    Isolated,
}

/// Whether a strand can take its next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Readiness {
    /// It can.
    Ready,
    /// Not before it gets what it waits for.
    Blocked(WaitsFor),
    /// The next step is the end of the run, with the strand's error.
    Failing,
    /// Ended, failed or not started.
    Gone,
}

/// What a step did that concerns a scheduler.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stepped {
    /// How many steps it counts as, towards a bound.
    pub cost: u64,
    /// The strand that it started.
    pub started: Option<Strand>,
    /// What strands may have waited for and now have.
    pub wakes: [Option<WaitsFor>; 2],
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Frame {
    return_to: Address,
    base: u32,
}

/// Where a strand stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Standing {
    /// A digest of all below, when the machine keeps them: states are compared far more often than
    /// a strand moves.
    digest: u128,
    pc: Address,
    /// The frames' local names and operands.
    stack: Vec<Value>,
    frames: Vec<Frame>,
    /// The innermost finish around this point.
    finish: Option<Finish>,
    isolated: u32,
    failure: Option<Box<RuntimeError>>,
    // How many of each it has made.
    children: u32,
    cells: u32,
    promises: u32,
    /// How many finishes it has open: one that has ended gives its number to the next.
    finishes: u32,
}

impl Hash for Standing {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Slot {
    NotStarted,
    Live(Arc<Standing>),
    Ended,
    /// Ended by an error.
    Failed,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct FinishState {
    running: u32,
    enclosing: Option<Finish>,
}

/// Everything that decides how an execution goes on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// The cells that hold something else than their initial value.
    memory: BTreeMap<u32, Value>,
    strands: Vec<Slot>,
    /// Who set which promise, and where.
    promises: BTreeMap<u32, Site>,
    locks: Vec<Option<Strand>>,
    tokens: Vec<u64>,
    flags: Vec<bool>,
    finishes: BTreeMap<Finish, FinishState>,
    isolated: Option<Strand>,
    /// How many cells each line has made.
    made_by_line: BTreeMap<u32, u32>,
    /// The how-manieth cell of its line each made cell is.
    ordinals: BTreeMap<u32, u32>,
    stacks: u64,
}

impl State {
    /// The strands that have been started, in the order of their numbers.
    pub fn strands(&self) -> impl Iterator<Item = Strand> + '_ {
        (0..self.strands.len() as u32)
            .map(Strand)
            .filter(|strand| self.has_started(*strand))
    }

    /// Where a strand stands; none if it has not started, or has ended.
    pub fn standing(&self, strand: Strand) -> Option<&Standing> {
        match self.strands.get(strand.index()) {
            Some(Slot::Live(standing)) => Some(standing),
            _ => None,
        }
    }

    /// The error that a failing strand's next step is.
    pub fn failure(&self, strand: Strand) -> Option<&RuntimeError> {
        self.standing(strand)?.failure.as_deref()
    }

    /// The cells that hold something else than their initial value, with what they hold.
    pub fn memory(&self) -> &BTreeMap<u32, Value> {
        &self.memory
    }

    /// About how many bytes this takes that it does not share with the state a step before, in
    /// which `strand` stood elsewhere.
    pub fn bytes(&self, strand: Strand) -> usize {
        let moved = self.standing(strand).map_or(0, |standing| {
            size_of::<Standing>()
                + standing.stack.len() * size_of::<Value>()
                + standing.frames.len() * size_of::<Frame>()
        });
        let maps = self.memory.len() + self.promises.len() + self.finishes.len();
        let made = 2 * self.ordinals.len();
        moved
            + size_of::<State>()
            + self.strands.len() * size_of::<Slot>()
            + (maps + made) * (size_of::<Finish>() + size_of::<FinishState>())
            + (self.locks.len() + self.tokens.len() + self.flags.len()) * size_of::<u64>()
    }

    /// Whether some strand was ended by an error.
    pub fn has_failed(&self) -> bool {
        self.strands.contains(&Slot::Failed)
    }

    /// Who holds a lock.
    pub fn holder(&self, lock: Lock) -> Option<Strand> {
        self.locks.get(lock.index()).copied().flatten()
    }

    /// Who is inside `isolated`.
    pub fn isolated(&self) -> Option<Strand> {
        self.isolated
    }

    /// Whether the end of `finish` has to wait for `strand`.
    pub fn is_inside(&self, strand: Strand, finish: Finish) -> bool {
        let mut around = self.standing(strand).and_then(|standing| standing.finish);
        while let Some(inner) = around {
            if inner == finish {
                return true;
            }
            around = self.finishes.get(&inner).and_then(|f| f.enclosing);
        }
        false
    }

    fn standing_mut(&mut self, strand: Strand) -> &mut Standing {
        match &mut self.strands[strand.index()] {
            Slot::Live(standing) => Arc::make_mut(standing),
            other => unreachable!("strand {} is {other:?}, not live", strand.0),
        }
    }

    fn has_started(&self, strand: Strand) -> bool {
        !matches!(
            self.strands.get(strand.index()),
            None | Some(Slot::NotStarted)
        )
    }

    fn has_ended(&self, strand: Strand) -> bool {
        matches!(self.strands.get(strand.index()), Some(Slot::Ended))
    }

    fn place(&mut self, strand: Strand, slot: Slot) {
        if self.strands.len() <= strand.index() {
            self.strands.resize(strand.index() + 1, Slot::NotStarted);
        }
        self.strands[strand.index()] = slot;
    }
}

impl Standing {
    /// The addresses where this strand goes on: here, and where its calls return to.
    pub fn continuations(&self) -> impl Iterator<Item = Address> + '_ {
        let returns = self.frames.iter().skip(1).map(|frame| frame.return_to);
        std::iter::once(self.pc).chain(returns)
    }

    fn renew_digest(&mut self) {
        self.digest = digest((
            (self.pc, &self.stack, &self.frames),
            (self.finish, self.isolated, &self.failure),
            (self.children, self.cells, self.promises, self.finishes),
        ));
    }

    fn base(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.base as usize)
    }

    fn pop(&mut self) -> Value {
        // The compiler balances the stack.
        self.stack.pop().unwrap_or(Value::Int(0))
    }

    fn top(&self) -> Value {
        self.stack.last().copied().unwrap_or(Value::Int(0))
    }
}

/// The numbers given to what executions make, the same in every execution.
#[derive(Debug)]
struct Numbers {
    /// Who started each; none for `main`.
    parents: Vec<Option<Parent>>,
    /// How many strands lie between each and `main`.
    depths: Vec<u32>,
    /// By parent, which child, and how it was started.
    strand_numbers: FxHashMap<(Strand, u32, Start), Strand>,
    /// By maker, which of its cells, and the line.
    cells: FxHashMap<(Strand, u32, u32), u32>,
    /// The line that made it, by the cell's number less the number of declared cells.
    cell_lines: Vec<u32>,
    promises: FxHashMap<(Strand, u32), u32>,
    finishes: FxHashMap<(Strand, u32), Finish>,
}

/// A program and the numbers of what its executions make.
#[derive(Debug)]
pub struct Machine<'p> {
    /// What it runs.
    pub code: &'p Code,
    numbers: Numbers,
    /// The live names at each address, if states are made to be compared: dead names are then
    /// cleared, and digests kept.
    comparing: Option<Vec<u64>>,
    /// Whether values that cannot change what happens are not kept.
    forgetful: bool,
}

impl<'p> Machine<'p> {
    /// A machine that has run nothing yet.
    pub fn new(code: &'p Code) -> Machine<'p> {
        Machine {
            code,
            numbers: Numbers {
                parents: vec![None],
                depths: vec![0],
                strand_numbers: FxHashMap::default(),
                cells: FxHashMap::default(),
                cell_lines: Vec::new(),
                promises: FxHashMap::default(),
                finishes: FxHashMap::default(),
            },
            comparing: None,
            forgetful: false,
        }
    }

    /// A machine whose states are compared by their hashes.
    pub fn for_comparing(code: &'p Code) -> Machine<'p> {
        Machine {
            comparing: Some(live_slots(code)),
            ..Machine::new(code)
        }
    }

    /// From now on, values that cannot change what happens are not kept: a cell that does not
    /// matter reads as 0.
    pub fn forget_what_does_not_matter(&mut self) {
        self.forgetful = true;
    }

    /// Whether the order of accesses to a cell makes a difference to what happens.
    pub fn keeps(&self, cell: u32) -> bool {
        !self.forgetful || self.code.matters(cell)
    }

    /// Makes strands that stand alike the same.
    fn settle(&self, standing: &mut Standing) {
        let Some(live) = &self.comparing else {
            return;
        };
        if let Some(live) = live.get(standing.pc as usize) {
            let base = standing.base();
            let slots = standing.stack[base..].len().min(64);
            // Operands lie above the frame's names and are always needed: the names' slots are
            // those that the procedure has.
            let names = slots.min(self.code.slots_at(standing.pc) as usize);
            for slot in 0..names {
                if live & (1 << slot) == 0 {
                    standing.stack[base + slot] = Value::Int(0);
                }
            }
        }
        standing.renew_digest();
    }

    /// The state before the first step.
    pub fn initial(&self) -> State {
        let code = self.code;
        let main = code.procedures[code.main as usize];
        let mut state = State {
            memory: BTreeMap::new(),
            strands: Vec::new(),
            promises: BTreeMap::new(),
            locks: vec![None; code.locks.len()],
            tokens: code.semaphores.iter().map(|(_, tokens)| *tokens).collect(),
            flags: vec![false; code.events.len()],
            finishes: BTreeMap::new(),
            isolated: None,
            made_by_line: BTreeMap::new(),
            ordinals: BTreeMap::new(),
            stacks: 0,
        };
        let stack = vec![Value::Int(0); main.slots as usize];
        self.place_new(&mut state, Strand::MAIN, main.entry, stack, None);
        state
    }

    fn place_new(
        &self,
        state: &mut State,
        strand: Strand,
        entry: Address,
        stack: Vec<Value>,
        finish: Option<Finish>,
    ) {
        state.stacks += stack.len() as u64;
        let frame = Frame {
            return_to: 0,
            base: 0,
        };
        let mut standing = Standing {
            digest: 0,
            pc: entry,
            stack,
            frames: vec![frame],
            finish,
            isolated: 0,
            failure: None,
            children: 0,
            cells: 0,
            promises: 0,
            finishes: 0,
        };
        self.run_local(&mut standing, strand);
        state.place(strand, Slot::Live(Arc::new(standing)));
    }

    /// The execution that has come to `state` by these events. Locations are numbered as they appear
    /// in it, so that a large array of which little is used takes little.
    pub fn execution(&self, state: &State, mut events: Vec<Event>) -> Execution {
        let code = self.code;
        let mut locations = Vec::new();
        let mut numbers: FxHashMap<Location, Location> = FxHashMap::default();
        for event in &mut events {
            let Some(access) = event.access() else {
                continue;
            };
            let next = Location(numbers.len() as u64);
            let number = *numbers.entry(access.location).or_insert(next);
            if number == next {
                let name = self.location_name(state, access.location.0 as u32);
                locations.push(name.to_string());
            }
            let op = match event.op() {
                Op::Read(_, kind) => Op::Read(number, kind),
                _ => Op::Write(number),
            };
            *event = Event::new(event.strand(), op, event.site());
        }
        let semaphores = code.semaphores.iter();
        let names = Names {
            strands: vec![String::new(); self.numbers.parents.len()],
            sites: vec![String::new(); code.sites.len()],
            locations,
            locks: code.locks.clone(),
            semaphores: semaphores.clone().map(|(name, _)| name.clone()).collect(),
            tokens: semaphores.map(|(_, tokens)| *tokens).collect(),
            flags: code.events.clone(),
            promises: code.promises.clone(),
            positions: code.sites.clone(),
            ..self.strand_names()
        };
        Execution { events, names }
    }

    /// What a cell is called in an execution that has come to `state`.
    pub fn location_name(&self, state: &State, cell: u32) -> LocationName {
        match self.code.variable_of(cell) {
            Some(variable) => variable.location_name(cell),
            None => LocationName::Cell {
                line: self.numbers.cell_lines[(cell - self.code.cells) as usize],
                ordinal: state.ordinals.get(&cell).copied().unwrap_or(0),
            },
        }
    }

    /// Names for the strands of all executions, and for nothing else.
    pub fn strand_names(&self) -> Names {
        Names {
            parents: self.numbers.parents.clone(),
            ..Names::default()
        }
    }

    /// Who started a strand.
    pub fn parent(&self, strand: Strand) -> Option<Strand> {
        let parent = self.numbers.parents[strand.index()];
        parent.map(|parent| parent.strand)
    }

    /// A started strand's child, by its place among its siblings.
    pub fn child(&self, state: &State, parent: Strand, ordinal: u32) -> Option<Strand> {
        [Start::Async, Start::Future, Start::Fork]
            .into_iter()
            .filter_map(|how| self.numbers.strand_numbers.get(&(parent, ordinal, how)))
            .copied()
            .find(|child| state.has_started(*child))
    }

    /// Whether a strand can take its next step.
    pub fn readiness(&self, state: &State, strand: Strand) -> Readiness {
        let Some(standing) = state.standing(strand) else {
            return Readiness::Gone;
        };
        if standing.failure.is_some() {
            return Readiness::Failing;
        }
        let (open, waits_for) = match (self.next_instruction(standing), standing.top()) {
            (Instruction::Get(_), Value::Promise(p)) => (
                state.promises.contains_key(&p),
                WaitsFor::Promise(Promise(p.into())),
            ),
            (Instruction::Get(_), Value::Task(other))
            | (Instruction::Join(_), Value::Thread(other)) => (
                state.has_ended(Strand(other)),
                WaitsFor::Strand(Strand(other)),
            ),
            (Instruction::FinishEnd(_), _) => {
                let finish = standing.finish.unwrap_or(Finish(0));
                let running = state.finishes.get(&finish).map_or(0, |f| f.running);
                (running == 0, WaitsFor::Finish(finish))
            }
            // Taking a lock one holds is an error, not a wait.
            (Instruction::Acquire(_), Value::Lock(l)) => {
                let lock = Lock(l.into());
                let holder = state.holder(lock);
                (
                    holder.is_none() || holder == Some(strand),
                    WaitsFor::Lock(lock),
                )
            }
            (Instruction::P(_), Value::Semaphore(s)) => (
                state.tokens[s as usize] > 0,
                WaitsFor::Semaphore(Semaphore(s.into())),
            ),
            (Instruction::Wait(_), Value::Event(e)) => {
                (state.flags[e as usize], WaitsFor::Event(Flag(e.into())))
            }
            (Instruction::IsolatedBegin(_), _) => (
                state.isolated.is_none() || standing.isolated > 0,
                WaitsFor::Isolated,
            ),
            _ => (true, WaitsFor::Isolated),
        };
        match open {
            true => Readiness::Ready,
            false => Readiness::Blocked(waits_for),
        }
    }

    /// The step a live strand stands before, and the object it is about.
    pub fn next_step(&self, standing: &Standing) -> (Instruction, Value) {
        (self.next_instruction(standing), standing.top())
    }

    /// Where a strand stands in the source; none for a strand in the middle of a long computation.
    pub fn site(&self, standing: &Standing) -> Option<Site> {
        self.next_instruction(standing).site()
    }

    fn next_instruction(&self, standing: &Standing) -> Instruction {
        self.code.instructions[standing.pc as usize]
    }

    /// Lets a ready strand take its next step.
    ///
    /// An operation that fails makes no event; the strand is then failing, as it is when the
    /// computation behind the step fails.
    pub fn step(
        &mut self,
        state: &mut State,
        strand: Strand,
        observer: &mut impl Observer,
    ) -> Stepped {
        let mut stepped = Stepped {
            cost: 1,
            ..Stepped::default()
        };
        match self.take_step(state, strand, observer, &mut stepped) {
            Ok(()) => {}
            Err((kind, site)) => {
                let failure = RuntimeError { kind, site, strand };
                let standing = state.standing_mut(strand);
                standing.failure = Some(Box::new(failure));
                self.settle(standing);
            }
        }
        stepped
    }

    /// Marks a failing strand as failed: it takes no more steps.
    pub fn give_up(&self, state: &mut State, strand: Strand) {
        state.place(strand, Slot::Failed);
    }

    fn take_step(
        &mut self,
        state: &mut State,
        strand: Strand,
        observer: &mut impl Observer,
        stepped: &mut Stepped,
    ) -> Result<(), (ErrorKind, Site)> {
        let standing = state.standing_mut(strand);
        let instruction = self.next_instruction(standing);
        // A turn can end before a return that is not the strand's end.
        let is_nested_return =
            matches!(instruction, Instruction::Return(_)) && standing.frames.len() > 1;
        let no_value = Value::Int(0);
        let mut event = |op, site, value| observer.event(Event::new(strand, op, site), value);
        match instruction {
            Instruction::Read(site, kind) => {
                let cell = cell_of(state.standing_mut(strand).pop());
                let value = self.load(state, cell);
                event(Op::Read(Location(cell.into()), kind), site, value);
                state.standing_mut(strand).stack.push(value);
            }
            Instruction::Write(site) => {
                let standing = state.standing_mut(strand);
                let cell = cell_of(standing.pop());
                let value = standing.pop();
                self.store(state, cell, value);
                event(Op::Write(Location(cell.into())), site, value);
            }
            Instruction::Alloc(site) => {
                let cell = self.make_cell(state, strand, site);
                event(Op::Alloc(Region(cell.into())), site, no_value);
                state.standing_mut(strand).stack.push(Value::Cell(cell));
            }
            Instruction::NewPromise(site) => {
                let promise = self.make_promise(state, strand);
                event(Op::NewPromise(Promise(promise.into())), site, no_value);
                let standing = state.standing_mut(strand);
                standing.stack.push(Value::Promise(promise));
            }
            Instruction::Start { how, body, site } => {
                let standing = state.standing_mut(strand);
                // The child sees the names bound so far: this frame, without operands.
                let stack = standing.stack[standing.base()..].to_vec();
                let child = self.start(state, strand, how, body, stack, site)?;
                stepped.started = Some(child);
                let (op, handle) = match how {
                    Start::Async => (Op::Async(child), None),
                    Start::Future => (Op::Future(child), Some(Value::Task(child.0))),
                    Start::Fork => (Op::Fork(child), Some(Value::Thread(child.0))),
                };
                event(op, site, no_value);
                state.standing_mut(strand).stack.extend(handle);
            }
            Instruction::StartCall { procedure, site } => {
                let procedure = self.code.procedures[procedure as usize];
                let standing = state.standing_mut(strand);
                let first = standing.stack.len() - procedure.parameters as usize;
                let mut stack = standing.stack.split_off(first);
                stack.resize(procedure.slots as usize, Value::Int(0));
                let child =
                    self.start(state, strand, Start::Async, procedure.entry, stack, site)?;
                stepped.started = Some(child);
                event(Op::Async(child), site, no_value);
            }
            Instruction::FinishBegin(site) => {
                let standing = state.standing_mut(strand);
                let ordinal = standing.finishes;
                standing.finishes += 1;
                let next = Finish(self.numbers.finishes.len() as u64);
                let numbers = &mut self.numbers.finishes;
                let finish = *numbers.entry((strand, ordinal)).or_insert(next);
                let enclosing = standing.finish.replace(finish);
                let new = FinishState {
                    running: 0,
                    enclosing,
                };
                state.finishes.insert(finish, new);
                event(Op::FinishBegin(finish), site, no_value);
            }
            Instruction::FinishEnd(site) => {
                let finish = state.standing_mut(strand).finish.unwrap_or(Finish(0));
                let ended = state.finishes.remove(&finish);
                let standing = state.standing_mut(strand);
                standing.finish = ended.and_then(|f| f.enclosing);
                standing.finishes -= 1;
                event(Op::FinishEnd(finish), site, no_value);
            }
            Instruction::IsolatedBegin(site) => {
                let standing = state.standing_mut(strand);
                standing.isolated += 1;
                if standing.isolated == 1 {
                    state.isolated = Some(strand);
                    event(Op::IsolatedBegin, site, no_value);
                }
            }
            Instruction::IsolatedEnd(site) => {
                let standing = state.standing_mut(strand);
                standing.isolated -= 1;
                if standing.isolated == 0 {
                    state.isolated = None;
                    stepped.wakes[0] = Some(WaitsFor::Isolated);
                    event(Op::IsolatedEnd, site, no_value);
                }
            }
            Instruction::Set(site) => {
                if let Value::Promise(p) = state.standing_mut(strand).pop() {
                    let promise = Promise(p.into());
                    if let Some(&first) = state.promises.get(&p) {
                        return Err((ErrorKind::SetTwice { first }, site));
                    }
                    state.promises.insert(p, site);
                    stepped.wakes[0] = Some(WaitsFor::Promise(promise));
                    event(Op::Set(promise), site, no_value);
                }
            }
            Instruction::Get(site) => match state.standing_mut(strand).pop() {
                Value::Promise(p) => event(Op::Get(Promise(p.into())), site, no_value),
                Value::Task(other) => event(Op::Join(Strand(other)), site, no_value),
                _ => {}
            },
            Instruction::Join(site) => {
                if let Value::Thread(other) = state.standing_mut(strand).pop() {
                    event(Op::Join(Strand(other)), site, no_value);
                }
            }
            Instruction::Acquire(site) => {
                if let Value::Lock(l) = state.standing_mut(strand).pop() {
                    if state.locks[l as usize].is_some() {
                        let lock = self.code.locks[l as usize].clone();
                        return Err((ErrorKind::AcquiredTwice { lock }, site));
                    }
                    state.locks[l as usize] = Some(strand);
                    event(Op::Acquire(Lock(l.into())), site, no_value);
                }
            }
            Instruction::Release(site) => {
                if let Value::Lock(l) = state.standing_mut(strand).pop() {
                    if state.locks[l as usize] != Some(strand) {
                        let lock = self.code.locks[l as usize].clone();
                        return Err((ErrorKind::ReleasedNotHeld { lock }, site));
                    }
                    state.locks[l as usize] = None;
                    stepped.wakes[0] = Some(WaitsFor::Lock(Lock(l.into())));
                    event(Op::Release(Lock(l.into())), site, no_value);
                }
            }
            Instruction::P(site) => {
                if let Value::Semaphore(s) = state.standing_mut(strand).pop() {
                    state.tokens[s as usize] -= 1;
                    event(Op::P(Semaphore(s.into())), site, no_value);
                }
            }
            Instruction::V(site) => {
                if let Value::Semaphore(s) = state.standing_mut(strand).pop() {
                    state.tokens[s as usize] += 1;
                    let semaphore = Semaphore(s.into());
                    stepped.wakes[0] = Some(WaitsFor::Semaphore(semaphore));
                    event(Op::V(semaphore), site, no_value);
                }
            }
            Instruction::Post(site) => {
                if let Value::Event(e) = state.standing_mut(strand).pop() {
                    state.flags[e as usize] = true;
                    stepped.wakes[0] = Some(WaitsFor::Event(Flag(e.into())));
                    event(Op::Post(Flag(e.into())), site, no_value);
                }
            }
            Instruction::Wait(site) => {
                if let Value::Event(e) = state.standing_mut(strand).pop() {
                    event(Op::Wait(Flag(e.into())), site, no_value);
                }
            }
            Instruction::Clear(site) => {
                if let Value::Event(e) = state.standing_mut(strand).pop() {
                    state.flags[e as usize] = false;
                    event(Op::Clear(Flag(e.into())), site, no_value);
                }
            }
            Instruction::End(site) | Instruction::Return(site) if !is_nested_return => {
                event(Op::End, site, no_value);
                self.end(state, strand, stepped);
                return Ok(());
            }
            // A turn in the middle of a long local computation.
            _ => {
                let mut standing = take_standing(state, strand);
                stepped.cost += self.run_local(Arc::make_mut(&mut standing), strand);
                state.place(strand, Slot::Live(standing));
                return Ok(());
            }
        }
        let mut standing = take_standing(state, strand);
        let moved = Arc::make_mut(&mut standing);
        moved.pc += 1;
        stepped.cost += self.run_local(moved, strand);
        state.place(strand, Slot::Live(standing));
        Ok(())
    }

    fn initial_value(&self, cell: u32) -> Value {
        let variable = self.code.variable_of(cell);
        Value::Int(variable.map_or(0, |variable| variable.initial))
    }

    fn load(&self, state: &State, cell: u32) -> Value {
        if !self.keeps(cell) {
            return Value::Int(0);
        }
        let value = state.memory.get(&cell).copied();
        value.unwrap_or_else(|| self.initial_value(cell))
    }

    fn store(&self, state: &mut State, cell: u32, value: Value) {
        match value == self.initial_value(cell) || !self.keeps(cell) {
            true => state.memory.remove(&cell),
            false => state.memory.insert(cell, value),
        };
    }

    fn make_cell(&mut self, state: &mut State, strand: Strand, site: Site) -> u32 {
        let standing = state.standing_mut(strand);
        let ordinal = standing.cells;
        standing.cells += 1;
        let line = self.code.sites[site.0 as usize].line;
        let next = self.code.cells + self.numbers.cell_lines.len() as u32;
        let key = (strand, ordinal, line);
        let cell = *self.numbers.cells.entry(key).or_insert(next);
        if cell == next {
            self.numbers.cell_lines.push(line);
        }
        let made = state.made_by_line.entry(line).or_default();
        *made += 1;
        state.ordinals.insert(cell, *made);
        cell
    }

    fn make_promise(&mut self, state: &mut State, strand: Strand) -> u32 {
        let standing = state.standing_mut(strand);
        let ordinal = standing.promises;
        standing.promises += 1;
        let next = (self.code.promises.len() + self.numbers.promises.len()) as u32;
        let numbers = &mut self.numbers.promises;
        *numbers.entry((strand, ordinal)).or_insert(next)
    }

    fn start(
        &mut self,
        state: &mut State,
        parent: Strand,
        how: Start,
        entry: Address,
        stack: Vec<Value>,
        site: Site,
    ) -> Result<Strand, (ErrorKind, Site)> {
        let standing = state.standing_mut(parent);
        standing.children += 1;
        let ordinal = standing.children;
        // A thread is waited for by `join`, not by a finish.
        let finish = match how {
            Start::Fork => None,
            Start::Async | Start::Future => standing.finish,
        };
        let depth = self.numbers.depths[parent.index()] + 1;
        if depth > MAX_STRAND_DEPTH {
            return Err((ErrorKind::StrandsTooDeep, site));
        }
        let next = Strand(self.numbers.parents.len() as u32);
        let key = (parent, ordinal, how);
        let child = *self.numbers.strand_numbers.entry(key).or_insert(next);
        if child == next {
            self.numbers.depths.push(depth);
            self.numbers.parents.push(Some(Parent {
                strand: parent,
                ordinal,
            }));
        }
        let stacks = state.stacks + stack.len() as u64;
        if child.index() >= MAX_STRANDS || stacks > MAX_STACKS {
            return Err((ErrorKind::TooManyStrands, site));
        }
        if let Some(finish) = finish.and_then(|finish| state.finishes.get_mut(&finish)) {
            finish.running += 1;
        }
        self.place_new(state, child, entry, stack, finish);
        Ok(child)
    }

    fn end(&self, state: &mut State, strand: Strand, stepped: &mut Stepped) {
        let standing = take_standing(state, strand);
        state.place(strand, Slot::Ended);
        state.stacks = state.stacks.saturating_sub(standing.stack.len() as u64);
        stepped.wakes[0] = Some(WaitsFor::Strand(strand));
        if let Some(finish) = standing.finish
            && let Some(inside) = state.finishes.get_mut(&finish)
        {
            inside.running -= 1;
            if inside.running == 0 {
                stepped.wakes[1] = Some(WaitsFor::Finish(finish));
            }
        }
    }

    /// Runs local instructions up to the strand's next step, or the end of its turn. Gives what that
    /// cost, in steps.
    fn run_local(&self, standing: &mut Standing, strand: Strand) -> u64 {
        let mut run = 0;
        while run < LOCAL_RUN {
            run += 1;
            match self.local(standing) {
                Ok(true) => {}
                Ok(false) => break,
                Err((kind, site)) => {
                    standing.failure = Some(Box::new(RuntimeError { kind, site, strand }));
                    break;
                }
            }
        }
        self.settle(standing);
        u64::from(run) / LOCAL_PER_STEP
    }

    /// Runs one instruction if it is local; says whether it was.
    fn local(&self, standing: &mut Standing) -> Result<bool, (ErrorKind, Site)> {
        let base = standing.base();
        let mut next = standing.pc + 1;
        match self.next_instruction(standing) {
            Instruction::Push(value) => standing.stack.push(value),
            Instruction::Load(slot) => standing.stack.push(standing.stack[base + slot as usize]),
            Instruction::Bind(slot) => {
                let value = standing.pop();
                standing.stack[base + slot as usize] = value;
            }
            Instruction::Unary(operator, site) => {
                let operand = int_of(standing.pop(), site)?;
                standing.stack.push(Value::Int(match operator {
                    UnaryOperator::Not => (operand == 0) as i64,
                    UnaryOperator::Negate => operand.wrapping_neg(),
                }));
            }
            Instruction::Binary(operator, site) => {
                let right = standing.pop();
                let left = standing.pop();
                standing.stack.push(binary(operator, left, right, site)?);
            }
            Instruction::Jump(to) => next = to,
            Instruction::JumpIf(to, site) => {
                if int_of(standing.pop(), site)? != 0 {
                    next = to;
                }
            }
            Instruction::JumpUnless(to, site) => {
                if int_of(standing.pop(), site)? == 0 {
                    next = to;
                }
            }
            Instruction::Element { base, length, site } => {
                let index = int_of(standing.pop(), site)?;
                if index < 0 || index >= i64::from(length) {
                    return Err((ErrorKind::IndexOutOfRange { index, length }, site));
                }
                standing.stack.push(Value::Cell(base + index as u32));
            }
            Instruction::Check(wanted, site) => {
                let found = standing.top();
                if !wanted.accepts(found) {
                    return Err((unfit(wanted, found), site));
                }
            }
            Instruction::CheckInt(site) => {
                int_of(standing.top(), site)?;
            }
            Instruction::LoopTest {
                counter,
                bound,
                exit,
            } => {
                let counter = standing.stack[base + counter as usize];
                let bound = standing.stack[base + bound as usize];
                if let (Value::Int(counter), Value::Int(bound)) = (counter, bound)
                    && counter >= bound
                {
                    next = exit;
                }
            }
            Instruction::Increment(slot) => {
                if let Value::Int(counter) = &mut standing.stack[base + slot as usize] {
                    *counter = counter.wrapping_add(1);
                }
            }
            Instruction::Assert(site) => {
                if int_of(standing.pop(), site)? == 0 {
                    return Err((ErrorKind::AssertionFailed, site));
                }
            }
            Instruction::Call { procedure, site } => {
                let procedure = self.code.procedures[procedure as usize];
                let base = standing.stack.len() - procedure.parameters as usize;
                let top = base + procedure.slots as usize;
                if top.max(standing.frames.len()) > MAX_STACK {
                    return Err((ErrorKind::CallsTooDeep, site));
                }
                standing.stack.resize(top, Value::Int(0));
                standing.frames.push(Frame {
                    return_to: next,
                    base: base as u32,
                });
                next = procedure.entry;
            }
            Instruction::Return(_) if standing.frames.len() > 1 => {
                if let Some(frame) = standing.frames.pop() {
                    standing.stack.truncate(frame.base as usize);
                    next = frame.return_to;
                }
            }
            _ => return Ok(false),
        }
        standing.pc = next;
        Ok(true)
    }
}

impl Instruction {
    /// Where a step stands in the source.
    pub fn site(self) -> Option<Site> {
        match self {
            Instruction::Read(site, _)
            | Instruction::Write(site)
            | Instruction::Alloc(site)
            | Instruction::NewPromise(site)
            | Instruction::Start { site, .. }
            | Instruction::StartCall { site, .. }
            | Instruction::FinishBegin(site)
            | Instruction::FinishEnd(site)
            | Instruction::IsolatedBegin(site)
            | Instruction::IsolatedEnd(site)
            | Instruction::Set(site)
            | Instruction::Get(site)
            | Instruction::Acquire(site)
            | Instruction::Release(site)
            | Instruction::P(site)
            | Instruction::V(site)
            | Instruction::Post(site)
            | Instruction::Wait(site)
            | Instruction::Clear(site)
            | Instruction::Join(site)
            | Instruction::Return(site)
            | Instruction::End(site) => Some(site),
            _ => None,
        }
    }
}

fn take_standing(state: &mut State, strand: Strand) -> Arc<Standing> {
    match std::mem::replace(&mut state.strands[strand.index()], Slot::NotStarted) {
        Slot::Live(standing) => standing,
        other => unreachable!("strand {} is {other:?}, not live", strand.0),
    }
}

fn cell_of(value: Value) -> u32 {
    match value {
        Value::Cell(cell) => cell,
        other => unreachable!("{other:?} was checked to be a cell"),
    }
}

fn int_of(value: Value, site: Site) -> Result<i64, (ErrorKind, Site)> {
    match value {
        Value::Int(value) => Ok(value),
        other => Err((
            ErrorKind::Unfit {
                wanted: "a number",
                found: other.description(),
            },
            site,
        )),
    }
}

fn unfit(wanted: Requirement, found: Value) -> ErrorKind {
    ErrorKind::Unfit {
        wanted: wanted.description(),
        found: found.description(),
    }
}

fn binary(
    operator: BinaryOperator,
    left: Value,
    right: Value,
    site: Site,
) -> Result<Value, (ErrorKind, Site)> {
    use BinaryOperator::*;
    match operator {
        Equal => return Ok(Value::Int((left == right) as i64)),
        NotEqual => return Ok(Value::Int((left != right) as i64)),
        _ => {}
    }
    let (left, right) = (int_of(left, site)?, int_of(right, site)?);
    if matches!(operator, Divide | Remainder) && right == 0 {
        return Err((ErrorKind::DivisionByZero, site));
    }
    Ok(Value::Int(match operator {
        Add => left.wrapping_add(right),
        Subtract => left.wrapping_sub(right),
        Multiply => left.wrapping_mul(right),
        Divide => left.wrapping_div(right),
        Remainder => left.wrapping_rem(right),
        Less => (left < right) as i64,
        LessEqual => (left <= right) as i64,
        Greater => (left > right) as i64,
        GreaterEqual => (left >= right) as i64,
        And | Or | Equal | NotEqual => unreachable!("compiled to jumps or decided above"),
    }))
}
