//! One step of a strand: one event, and what it does to memory, strands, locks and the rest.

use std::sync::Arc;

use deadheat_model::{
    Event, Finish, Flag, Location, Lock, Op, Parent, Promise, Region, Semaphore, Site, Strand,
};

use super::state::{FinishState, Slot, State, take_strand};
use super::{ErrorKind, MAX_STRAND_DEPTH, MAX_STRANDS, Machine, Observer, RuntimeError, WaitsFor};
use crate::code::{Address, Instruction, Start, Value};

/// How many values all strands' stacks may hold together.
const MAX_STACKS: u64 = 1 << 26;

/// What a step did that concerns a scheduler.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepEffect {
    /// How many steps it counts as, towards a bound.
    pub cost: u64,
    /// The strand that it started.
    pub started: Option<Strand>,
    /// What strands may have waited for and now have.
    pub wakes: [Option<WaitsFor>; 2],
}

impl Machine<'_> {
    /// Lets a ready strand take its next step.
    ///
    /// An operation that fails makes no event; the strand is then failing, as it is when the
    /// computation that follows the step fails.
    pub fn step(
        &mut self,
        state: &mut State,
        strand: Strand,
        observer: &mut impl Observer,
    ) -> StepEffect {
        let mut effect = StepEffect {
            cost: 1,
            ..StepEffect::default()
        };
        match self.take_step(state, strand, observer, &mut effect) {
            Ok(()) => {}
            Err((kind, site)) => {
                let failure = RuntimeError { kind, site, strand };
                let strand_state = state.strand_mut(strand);
                strand_state.failure = Some(Box::new(failure));
                self.settle(strand_state);
            }
        }
        effect
    }

    fn take_step(
        &mut self,
        state: &mut State,
        strand: Strand,
        observer: &mut impl Observer,
        effect: &mut StepEffect,
    ) -> Result<(), (ErrorKind, Site)> {
        let strand_state = state.strand_mut(strand);
        let instruction = self.next_instruction(strand_state);
        // A turn can end before a return that is not the strand's end.
        let is_nested_return =
            matches!(instruction, Instruction::Return(_)) && strand_state.frames.len() > 1;
        let no_value = Value::Int(0);
        let mut event = |op, site, value| observer.event(Event::new(strand, op, site), value);
        match instruction {
            Instruction::Read(site, kind) => {
                let cell = cell_of(state.strand_mut(strand).pop());
                let value = self.load(state, cell);
                event(Op::Read(Location(cell.into()), kind), site, value);
                state.strand_mut(strand).stack.push(value);
            }
            Instruction::Write(site) => {
                let strand_state = state.strand_mut(strand);
                let cell = cell_of(strand_state.pop());
                let value = strand_state.pop();
                self.store(state, cell, value);
                event(Op::Write(Location(cell.into())), site, value);
            }
            Instruction::Alloc(site) => {
                let cell = self.make_cell(state, strand, site);
                event(Op::Alloc(Region(cell.into())), site, no_value);
                state.strand_mut(strand).stack.push(Value::Cell(cell));
            }
            Instruction::NewPromise(site) => {
                let promise = self.make_promise(state, strand);
                event(Op::NewPromise(Promise(promise.into())), site, no_value);
                let strand_state = state.strand_mut(strand);
                strand_state.stack.push(Value::Promise(promise));
            }
            Instruction::Start { how, body, site } => {
                let strand_state = state.strand_mut(strand);
                // The child sees the names bound so far: this frame, without operands.
                let stack = strand_state.stack[strand_state.base()..].to_vec();
                let child = self.start(state, strand, how, body, stack, site)?;
                effect.started = Some(child);
                let (op, handle) = match how {
                    Start::Async => (Op::Async(child), None),
                    Start::Future => (Op::Future(child), Some(Value::Task(child.0))),
                    Start::Fork => (Op::Fork(child), Some(Value::Thread(child.0))),
                };
                event(op, site, no_value);
                state.strand_mut(strand).stack.extend(handle);
            }
            Instruction::StartCall { procedure, site } => {
                let procedure = self.code.procedures[procedure as usize];
                let strand_state = state.strand_mut(strand);
                let first = strand_state.stack.len() - procedure.parameters as usize;
                let mut stack = strand_state.stack.split_off(first);
                stack.resize(procedure.slots as usize, Value::Int(0));
                let child =
                    self.start(state, strand, Start::Async, procedure.entry, stack, site)?;
                effect.started = Some(child);
                event(Op::Async(child), site, no_value);
            }
            Instruction::FinishBegin(site) => {
                let strand_state = state.strand_mut(strand);
                let ordinal = strand_state.finishes;
                strand_state.finishes += 1;
                let next = Finish(self.numbers.finishes.len() as u64);
                let numbers = &mut self.numbers.finishes;
                let finish = *numbers.entry((strand, ordinal)).or_insert(next);
                let enclosing = strand_state.finish.replace(finish);
                let new = FinishState {
                    running: 0,
                    enclosing,
                };
                state.finishes.insert(finish, new);
                event(Op::FinishBegin(finish), site, no_value);
            }
            Instruction::FinishEnd(site) => {
                let finish = state.strand_mut(strand).finish.unwrap_or(Finish(0));
                let ended = state.finishes.remove(&finish);
                let strand_state = state.strand_mut(strand);
                strand_state.finish = ended.and_then(|f| f.enclosing);
                strand_state.finishes -= 1;
                event(Op::FinishEnd(finish), site, no_value);
            }
            Instruction::IsolatedBegin(site) => {
                let strand_state = state.strand_mut(strand);
                strand_state.isolated += 1;
                if strand_state.isolated == 1 {
                    state.isolated = Some(strand);
                    event(Op::IsolatedBegin, site, no_value);
                }
            }
            Instruction::IsolatedEnd(site) => {
                let strand_state = state.strand_mut(strand);
                strand_state.isolated -= 1;
                if strand_state.isolated == 0 {
                    state.isolated = None;
                    effect.wakes[0] = Some(WaitsFor::Isolated);
                    event(Op::IsolatedEnd, site, no_value);
                }
            }
            Instruction::Set(site) => {
                if let Value::Promise(p) = state.strand_mut(strand).pop() {
                    let promise = Promise(p.into());
                    if let Some(&first) = state.promises.get(&p) {
                        return Err((ErrorKind::SetTwice { first }, site));
                    }
                    state.promises.insert(p, site);
                    effect.wakes[0] = Some(WaitsFor::Promise(promise));
                    event(Op::Set(promise), site, no_value);
                }
            }
            Instruction::Get(site) => match state.strand_mut(strand).pop() {
                Value::Promise(p) => event(Op::Get(Promise(p.into())), site, no_value),
                Value::Task(other) => event(Op::Join(Strand(other)), site, no_value),
                _ => {}
            },
            Instruction::Join(site) => {
                if let Value::Thread(other) = state.strand_mut(strand).pop() {
                    event(Op::Join(Strand(other)), site, no_value);
                }
            }
            Instruction::Acquire(site) => {
                if let Value::Lock(l) = state.strand_mut(strand).pop() {
                    if state.locks[l as usize].is_some() {
                        let lock = self.code.locks[l as usize].clone();
                        return Err((ErrorKind::AcquiredTwice { lock }, site));
                    }
                    state.locks[l as usize] = Some(strand);
                    event(Op::Acquire(Lock(l.into())), site, no_value);
                }
            }
            Instruction::Release(site) => {
                if let Value::Lock(l) = state.strand_mut(strand).pop() {
                    if state.locks[l as usize] != Some(strand) {
                        let lock = self.code.locks[l as usize].clone();
                        return Err((ErrorKind::ReleasedNotHeld { lock }, site));
                    }
                    state.locks[l as usize] = None;
                    effect.wakes[0] = Some(WaitsFor::Lock(Lock(l.into())));
                    event(Op::Release(Lock(l.into())), site, no_value);
                }
            }
            Instruction::P(site) => {
                if let Value::Semaphore(s) = state.strand_mut(strand).pop() {
                    state.tokens[s as usize] -= 1;
                    event(Op::P(Semaphore(s.into())), site, no_value);
                }
            }
            Instruction::V(site) => {
                if let Value::Semaphore(s) = state.strand_mut(strand).pop() {
                    state.tokens[s as usize] += 1;
                    let semaphore = Semaphore(s.into());
                    effect.wakes[0] = Some(WaitsFor::Semaphore(semaphore));
                    event(Op::V(semaphore), site, no_value);
                }
            }
            Instruction::Post(site) => {
                if let Value::Event(e) = state.strand_mut(strand).pop() {
                    state.flags[e as usize] = true;
                    effect.wakes[0] = Some(WaitsFor::Event(Flag(e.into())));
                    event(Op::Post(Flag(e.into())), site, no_value);
                }
            }
            Instruction::Wait(site) => {
                if let Value::Event(e) = state.strand_mut(strand).pop() {
                    event(Op::Wait(Flag(e.into())), site, no_value);
                }
            }
            Instruction::Clear(site) => {
                if let Value::Event(e) = state.strand_mut(strand).pop() {
                    state.flags[e as usize] = false;
                    event(Op::Clear(Flag(e.into())), site, no_value);
                }
            }
            Instruction::End(site) | Instruction::Return(site) if !is_nested_return => {
                event(Op::End, site, no_value);
                self.end(state, strand, effect);
                return Ok(());
            }
            // A turn in the middle of a long local computation.
            _ => {
                let mut strand_state = take_strand(state, strand);
                effect.cost += self.run_local(Arc::make_mut(&mut strand_state), strand);
                state.place(strand, Slot::Live(strand_state));
                return Ok(());
            }
        }
        let mut strand_state = take_strand(state, strand);
        let moved = Arc::make_mut(&mut strand_state);
        moved.pc += 1;
        effect.cost += self.run_local(moved, strand);
        state.place(strand, Slot::Live(strand_state));
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
        let strand_state = state.strand_mut(strand);
        let ordinal = strand_state.cells;
        strand_state.cells += 1;
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
        let strand_state = state.strand_mut(strand);
        let ordinal = strand_state.promises;
        strand_state.promises += 1;
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
        let strand_state = state.strand_mut(parent);
        strand_state.children += 1;
        let ordinal = strand_state.children;
        // A thread is waited for by `join`, not by a finish.
        let finish = match how {
            Start::Fork => None,
            Start::Async | Start::Future => strand_state.finish,
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

    fn end(&self, state: &mut State, strand: Strand, effect: &mut StepEffect) {
        let strand_state = take_strand(state, strand);
        state.place(strand, Slot::Ended);
        state.stacks = state.stacks.saturating_sub(strand_state.stack.len() as u64);
        effect.wakes[0] = Some(WaitsFor::Strand(strand));
        if let Some(finish) = strand_state.finish
            && let Some(inside) = state.finishes.get_mut(&finish)
        {
            inside.running -= 1;
            if inside.running == 0 {
                effect.wakes[1] = Some(WaitsFor::Finish(finish));
            }
        }
    }
}

fn cell_of(value: Value) -> u32 {
    match value {
        Value::Cell(cell) => cell,
        other => unreachable!("{other:?} was checked to be a cell"),
    }
}
