//! Everything that decides how an execution goes on: memory, where each strand stands, which promises
//! are set, who holds which lock.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use deadheat_model::{Finish, Lock, Site, Strand};

use super::RuntimeError;
use crate::code::{Address, Value};
use crate::digest::digest;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Frame {
    pub(super) return_to: Address,
    pub(super) base: u32,
}

/// Where a strand stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StrandState {
    /// A digest of all below, when the machine keeps them: states are compared far more often than
    /// a strand moves.
    pub(super) digest: u128,
    pub(super) pc: Address,
    /// The frames' local names and operands.
    pub(super) stack: Vec<Value>,
    pub(super) frames: Vec<Frame>,
    /// The innermost finish around this point.
    pub(super) finish: Option<Finish>,
    pub(super) isolated: u32,
    pub(super) failure: Option<Box<RuntimeError>>,
    // How many of each it has made.
    pub(super) children: u32,
    pub(super) cells: u32,
    pub(super) promises: u32,
    /// How many finishes it has open: one that has ended gives its number to the next.
    pub(super) finishes: u32,
}

impl Hash for StrandState {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Slot {
    NotStarted,
    Live(Arc<StrandState>),
    Ended,
    /// Ended by an error.
    Failed,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct FinishState {
    pub(super) running: u32,
    pub(super) enclosing: Option<Finish>,
}

/// Everything that decides how an execution goes on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// The cells that hold something else than their initial value.
    pub(super) memory: BTreeMap<u32, Value>,
    pub(super) strands: Vec<Slot>,
    /// Who set which promise, and where.
    pub(super) promises: BTreeMap<u32, Site>,
    pub(super) locks: Vec<Option<Strand>>,
    pub(super) tokens: Vec<u64>,
    pub(super) flags: Vec<bool>,
    pub(super) finishes: BTreeMap<Finish, FinishState>,
    pub(super) isolated: Option<Strand>,
    /// How many cells each line has made.
    pub(super) made_by_line: BTreeMap<u32, u32>,
    /// The how-manieth cell of its line each made cell is.
    pub(super) ordinals: BTreeMap<u32, u32>,
    pub(super) stacks: u64,
}

impl State {
    /// The strands that have been started, in the order of their numbers.
    pub fn strands(&self) -> impl Iterator<Item = Strand> + '_ {
        (0..self.strands.len() as u32)
            .map(Strand)
            .filter(|strand| self.has_started(*strand))
    }

    /// Where a strand stands; none if it has not started, or has ended.
    pub fn strand(&self, strand: Strand) -> Option<&StrandState> {
        match self.strands.get(strand.index()) {
            Some(Slot::Live(strand_state)) => Some(strand_state),
            _ => None,
        }
    }

    /// The error that a failing strand's next step is.
    pub fn failure(&self, strand: Strand) -> Option<&RuntimeError> {
        self.strand(strand)?.failure.as_deref()
    }

    /// The cells that hold something else than their initial value, with what they hold.
    pub fn memory(&self) -> &BTreeMap<u32, Value> {
        &self.memory
    }

    /// About how many bytes this takes that it does not share with the state a step before, in
    /// which `strand` stood elsewhere.
    pub fn bytes(&self, strand: Strand) -> usize {
        let moved = self.strand(strand).map_or(0, |strand_state| {
            size_of::<StrandState>()
                + strand_state.stack.len() * size_of::<Value>()
                + strand_state.frames.len() * size_of::<Frame>()
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
        let mut around = self
            .strand(strand)
            .and_then(|strand_state| strand_state.finish);
        while let Some(inner) = around {
            if inner == finish {
                return true;
            }
            around = self.finishes.get(&inner).and_then(|f| f.enclosing);
        }
        false
    }

    pub(super) fn strand_mut(&mut self, strand: Strand) -> &mut StrandState {
        match &mut self.strands[strand.index()] {
            Slot::Live(strand_state) => Arc::make_mut(strand_state),
            other => unreachable!("strand {} is {other:?}, not live", strand.0),
        }
    }

    pub(super) fn has_started(&self, strand: Strand) -> bool {
        !matches!(
            self.strands.get(strand.index()),
            None | Some(Slot::NotStarted)
        )
    }

    pub(super) fn has_ended(&self, strand: Strand) -> bool {
        matches!(self.strands.get(strand.index()), Some(Slot::Ended))
    }

    pub(super) fn place(&mut self, strand: Strand, slot: Slot) {
        if self.strands.len() <= strand.index() {
            self.strands.resize(strand.index() + 1, Slot::NotStarted);
        }
        self.strands[strand.index()] = slot;
    }
}

impl StrandState {
    /// The addresses where this strand goes on: here, and where its calls return to.
    pub fn continuations(&self) -> impl Iterator<Item = Address> + '_ {
        let returns = self.frames.iter().skip(1).map(|frame| frame.return_to);
        std::iter::once(self.pc).chain(returns)
    }

    pub(super) fn renew_digest(&mut self) {
        self.digest = digest((
            (self.pc, &self.stack, &self.frames),
            (self.finish, self.isolated, &self.failure),
            (self.children, self.cells, self.promises, self.finishes),
        ));
    }

    pub(super) fn base(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.base as usize)
    }

    pub(super) fn pop(&mut self) -> Value {
        // The compiler balances the stack.
        self.stack.pop().unwrap_or(Value::Int(0))
    }

    pub(super) fn top(&self) -> Value {
        self.stack.last().copied().unwrap_or(Value::Int(0))
    }
}

pub(super) fn take_strand(state: &mut State, strand: Strand) -> Arc<StrandState> {
    match std::mem::replace(&mut state.strands[strand.index()], Slot::NotStarted) {
        Slot::Live(strand_state) => strand_state,
        other => unreachable!("strand {} is {other:?}, not live", strand.0),
    }
}
