//! Runs a program one step at a time, in whatever order the caller chooses.
//!
//! A [`State`] is everything that decides how an execution goes on: memory, where each strand
//! stands, which promises are set, who holds which lock. [`Machine::step`] lets one strand take one
//! step: one event, and the local computation that follows it up to the strand's next step. The numbers
//! of strands, cells, promises and finishes depend only on who makes them (and on how many that one
//! has made, or has open), never on the schedule, so states reached in different ways compare equal
//! when they are.

mod error;
mod local;
mod readiness;
mod state;
mod step;

use std::collections::BTreeMap;
use std::sync::Arc;

use deadheat_model::{Event, Execution, Finish, Location, Names, Op, Parent, Site, Strand};
use rustc_hash::FxHashMap;

use self::state::{Frame, Slot};
use crate::code::{Address, Code, Instruction, Start, Value};
use crate::liveness::live_slots;
use crate::location::LocationName;

pub use self::error::{ErrorKind, RuntimeError};
pub use self::readiness::{Readiness, WaitsFor};
pub use self::state::{State, StrandState};
pub use self::step::StepEffect;

/// How many strands one execution may start.
const MAX_STRANDS: usize = 1 << 22;
/// How deep strands may start strands: a strand's name is the path to it.
const MAX_STRAND_DEPTH: u32 = 10_000;

/// Receives the events of an execution as they happen.
pub trait Observer {
    /// `value` is what was read or written; a number without meaning for other events.
    fn event(&mut self, event: Event, value: Value);
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
    fn settle(&self, strand_state: &mut StrandState) {
        let Some(live) = &self.comparing else {
            return;
        };
        if let Some(live) = live.get(strand_state.pc as usize) {
            let base = strand_state.base();
            let slots = strand_state.stack[base..].len().min(64);
            // Operands lie above the frame's names and are always needed: the names' slots are
            // those that the procedure has.
            let names = slots.min(self.code.slots_at(strand_state.pc) as usize);
            for slot in 0..names {
                if live & (1 << slot) == 0 {
                    strand_state.stack[base + slot] = Value::Int(0);
                }
            }
        }
        strand_state.renew_digest();
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
        let mut strand_state = StrandState {
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
        self.run_local(&mut strand_state, strand);
        state.place(strand, Slot::Live(Arc::new(strand_state)));
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

    /// The step a live strand stands before, and the object it is about.
    pub fn next_step(&self, strand_state: &StrandState) -> (Instruction, Value) {
        (self.next_instruction(strand_state), strand_state.top())
    }

    /// Where a strand stands in the source; none for a strand in the middle of a long computation.
    pub fn site(&self, strand_state: &StrandState) -> Option<Site> {
        self.next_instruction(strand_state).site()
    }

    fn next_instruction(&self, strand_state: &StrandState) -> Instruction {
        self.code.instructions[strand_state.pc as usize]
    }

    /// Marks a failing strand as failed: it takes no more steps.
    pub fn give_up(&self, state: &mut State, strand: Strand) {
        state.place(strand, Slot::Failed);
    }
}
