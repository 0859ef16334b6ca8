//! What a strand may still do, judged from the program's text.
//!
//! For each address: everything that some run from there could touch, strands it may start and
//! procedures it may call included. An over-approximation, computed once per program as the least
//! fixpoint over its control flow. Only what can depend on the order of two strands' steps is in
//! it; see [`Footprints::conflicts`].

use deadheat_model::Site;
use rustc_hash::{FxHashMap, FxHashSet};

use super::bits::Bits;
use deadheat_lang::code::{Address, Code, Instruction, Value};

/// Programs with more instructions than this are explored without reduction: the analysis would
/// cost more memory than the search.
const MAX_INSTRUCTIONS: usize = 20_000;
/// How many pairs of an address and something to touch there may be, for the same reason.
const MAX_BITS: u64 = 20_000_000;
/// Arrays longer than this are treated as one location.
const MAX_ELEMENTS: u32 = 64;

/// Something a strand can do to something.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Touch {
    /// A declared cell, or the representative of an array or of all made cells.
    Read(u32),
    Write(u32),
    Set(u32),
    Acquire(u32),
    P(u32),
    V(u32),
    Post(u32),
    Wait(u32),
    Clear(u32),
    Isolated,
    /// Makes the next cell of a line: the order gives the cells their names.
    Alloc(u32),
}

/// A set of touches.
#[derive(Debug)]
pub(super) struct Touches {
    numbers: Bits,
    none: bool,
}

impl Default for Touches {
    fn default() -> Touches {
        Touches {
            numbers: Bits::default(),
            none: true,
        }
    }
}

impl Touches {
    pub(super) fn is_empty(&self) -> bool {
        self.none
    }
}

/// Stands for all cells that are made while the program runs.
const HEAP: u32 = u32::MAX;
/// Stands for all promises that are made while the program runs.
const MADE_PROMISES: u32 = u32::MAX;

/// What each address may still touch.
#[derive(Debug)]
pub(super) struct Footprints<'p> {
    code: &'p Code,
    numbers: FxHashMap<Touch, u32>,
    /// The addresses that jumps lead to.
    landings: FxHashSet<Address>,
    /// By address; none when the program is too large.
    from: Option<Vec<Bits>>,
}

impl<'p> Footprints<'p> {
    pub(super) fn new(code: &'p Code) -> Footprints<'p> {
        let mut footprints = Footprints {
            code,
            numbers: FxHashMap::default(),
            landings: FxHashSet::default(),
            from: None,
        };
        let jumps = code.instructions.iter().filter_map(|i| match i {
            Instruction::Jump(to)
            | Instruction::JumpIf(to, _)
            | Instruction::JumpUnless(to, _)
            | Instruction::LoopTest { exit: to, .. } => Some(*to),
            _ => None,
        });
        footprints.landings.extend(jumps);
        let objects = code.promises.len() + code.locks.len() + code.semaphores.len();
        let cells = code.variables.iter().map(|v| v.length.unwrap_or(1));
        let cells: u64 = cells
            .map(|length| u64::from(length.min(MAX_ELEMENTS)))
            .sum();
        let touches = cells + (objects + code.events.len()) as u64;
        let instructions = code.instructions.len();
        if instructions <= MAX_INSTRUCTIONS && touches * instructions as u64 <= MAX_BITS {
            footprints.from = Some(footprints.fixpoint());
        }
        footprints
    }

    /// Whether a strand that goes on at these addresses may do one of `touches`.
    pub(super) fn may(
        &self,
        mut continuations: impl Iterator<Item = Address>,
        touches: &Touches,
    ) -> bool {
        match &self.from {
            Some(from) => continuations.any(|at| from[at as usize].intersects(&touches.numbers)),
            None => !touches.is_empty(),
        }
    }

    pub(super) fn touches_of(&self, list: &[Touch]) -> Touches {
        let mut numbers = Bits::default();
        // What no instruction does has no number.
        for number in list.iter().filter_map(|touch| self.numbers.get(touch)) {
            numbers.insert(*number);
        }
        Touches {
            numbers,
            none: list.is_empty(),
        }
    }

    /// What another strand could do, before this step is taken, that would make a difference to
    /// it or to which this step would make a difference: all that is not in the list commutes with
    /// the step, and neither enables nor disables it.
    ///
    /// - Two accesses commute unless one writes.
    /// - A promise is set once: the second set is the error. A `get` that can be taken needs
    ///   nothing any more, and one that cannot is not before the set.
    /// - Whoever acquires a lock, enters `isolated` or takes a token first shows in the graph. The
    ///   release cannot be overtaken by the acquire that needs it; and a `p` takes the oldest token
    ///   while a `v` adds the newest.
    /// - A `clear` takes from a `wait` what a `post` gives; of two posts, the first counts.
    pub(super) fn conflicts(&self, instruction: Instruction, object: Value) -> Touches {
        self.touches_of(&self.conflict_list(instruction, object))
    }

    fn conflict_list(&self, instruction: Instruction, object: Value) -> Vec<Touch> {
        match (instruction, object) {
            (Instruction::Read(..), Value::Cell(cell)) => {
                vec![Touch::Write(self.representative(cell))]
            }
            (Instruction::Write(_), Value::Cell(cell)) => {
                let cell = self.representative(cell);
                vec![Touch::Read(cell), Touch::Write(cell)]
            }
            (Instruction::Set(_), Value::Promise(p)) => vec![Touch::Set(self.promise(p))],
            (Instruction::Acquire(_), Value::Lock(l)) => vec![Touch::Acquire(l)],
            (Instruction::P(_), Value::Semaphore(s)) => vec![Touch::P(s)],
            (Instruction::V(_), Value::Semaphore(s)) => vec![Touch::V(s)],
            (Instruction::Post(_), Value::Event(e)) => vec![Touch::Post(e), Touch::Clear(e)],
            (Instruction::Wait(_), Value::Event(e)) => vec![Touch::Clear(e)],
            (Instruction::Clear(_), Value::Event(e)) => vec![Touch::Post(e), Touch::Wait(e)],
            (Instruction::IsolatedBegin(_), _) => vec![Touch::Isolated],
            (Instruction::Alloc(site), _) => vec![Touch::Alloc(self.line(site))],
            _ => Vec::new(),
        }
    }

    /// What lets a strand go on that waits for a promise.
    pub(super) fn setting(&self, promise: u64) -> Touch {
        Touch::Set(self.promise(promise as u32))
    }

    fn promise(&self, promise: u32) -> u32 {
        match (promise as usize) < self.code.promises.len() {
            true => promise,
            false => MADE_PROMISES,
        }
    }

    fn representative(&self, cell: u32) -> u32 {
        match self.code.variable_of(cell) {
            None => HEAP,
            Some(variable) if variable.length.unwrap_or(1) > MAX_ELEMENTS => variable.base,
            Some(_) => cell,
        }
    }

    fn line(&self, site: Site) -> u32 {
        self.code.sites[site.0 as usize].line
    }

    fn fixpoint(&mut self) -> Vec<Bits> {
        let instructions = &self.code.instructions;
        let mut from: Vec<Bits> = Vec::with_capacity(instructions.len());
        for address in 0..instructions.len() {
            let mut own = Bits::default();
            for touch in self.touches(address) {
                let next = self.numbers.len() as u32;
                own.insert(*self.numbers.entry(touch).or_insert(next));
            }
            from.push(own);
        }
        loop {
            let mut changed = false;
            for address in (0..instructions.len()).rev() {
                let mut all = from[address].clone();
                for next in self.successors(address) {
                    all.union(&from[next as usize]);
                }
                if all != from[address] {
                    from[address] = all;
                    changed = true;
                }
            }
            if !changed {
                return from;
            }
        }
    }

    /// Whether a jump leads to an address.
    fn is_landing(&self, address: Address) -> bool {
        self.landings.contains(&address)
    }

    /// Where a strand may go on from an address, and where strands and calls it starts do.
    fn successors(&self, address: usize) -> Vec<Address> {
        let next = address as Address + 1;
        match self.code.instructions[address] {
            Instruction::Jump(to) => vec![to],
            Instruction::JumpIf(to, _)
            | Instruction::JumpUnless(to, _)
            | Instruction::LoopTest { exit: to, .. } => vec![next, to],
            Instruction::Call { procedure, .. } | Instruction::StartCall { procedure, .. } => {
                vec![next, self.code.procedures[procedure as usize].entry]
            }
            Instruction::Start { body, .. } => vec![next, body],
            Instruction::Return(_) | Instruction::End(_) => vec![],
            _ => vec![next],
        }
    }

    /// What the instruction at an address does, in all the ways its operand allows.
    fn touches(&self, address: usize) -> Vec<Touch> {
        // The operand comes from the instruction before: a constant, or something computed.
        let before = address.checked_sub(1).map(|b| self.code.instructions[b]);
        let constant = match before {
            Some(Instruction::Push(value)) => Some(value),
            _ => None,
        };
        let every = |count: usize| (0..count as u32).collect::<Vec<_>>();
        let locks = || match constant {
            Some(Value::Lock(l)) => vec![l],
            _ => every(self.code.locks.len()),
        };
        let semaphores = || match constant {
            Some(Value::Semaphore(s)) => vec![s],
            _ => every(self.code.semaphores.len()),
        };
        let events = || match constant {
            Some(Value::Event(e)) => vec![e],
            _ => every(self.code.events.len()),
        };
        let promises = || match constant {
            Some(Value::Promise(p)) => vec![p],
            _ => {
                let mut all = every(self.code.promises.len());
                all.push(MADE_PROMISES);
                all
            }
        };
        let each = |list: Vec<u32>, touch: fn(u32) -> Touch| list.into_iter().map(touch).collect();
        match self.code.instructions[address] {
            Instruction::Read(..) => each(self.cells(address), Touch::Read),
            Instruction::Write(_) => each(self.cells(address), Touch::Write),
            Instruction::Set(_) => each(promises(), Touch::Set),
            Instruction::Acquire(_) => each(locks(), Touch::Acquire),
            Instruction::P(_) => each(semaphores(), Touch::P),
            Instruction::V(_) => each(semaphores(), Touch::V),
            Instruction::Post(_) => each(events(), Touch::Post),
            Instruction::Wait(_) => each(events(), Touch::Wait),
            Instruction::Clear(_) => each(events(), Touch::Clear),
            Instruction::IsolatedBegin(_) => vec![Touch::Isolated],
            Instruction::Alloc(site) => vec![Touch::Alloc(self.line(site))],
            _ => Vec::new(),
        }
    }

    /// The cells that the access at an address may be to, from the instructions that made its
    /// operand.
    fn cells(&self, address: usize) -> Vec<u32> {
        let at = |back: usize| {
            let address = address.checked_sub(back)?;
            Some(self.code.instructions[address])
        };
        match at(1) {
            Some(Instruction::Push(Value::Cell(cell))) => vec![self.representative(cell)],
            Some(Instruction::Element { base, length, .. }) => match at(2) {
                // A constant index, unless it is only one of two ways to get here (`a[x && y]`).
                Some(Instruction::Push(Value::Int(index)))
                    if (0..i64::from(length)).contains(&index)
                        && !self.is_landing(address as Address - 1) =>
                {
                    vec![self.representative(base + index as u32)]
                }
                _ if length > MAX_ELEMENTS => vec![base],
                _ => (base..base + length).collect(),
            },
            // Only a made cell is reached through a name.
            _ => vec![HEAP],
        }
    }
}
