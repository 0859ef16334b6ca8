//! What a program is compiled to: instructions for a small stack machine.
//!
//! An instruction is either *local* (it touches nothing but the strand that runs it) or a *step*
//! (one event that other strands can observe, or that can wait). A strand always stands before a
//! step; the local instructions behind a step belong to it.

use crate::location::LocationName;
use deadheat_model::{ReadKind, Site, SourcePosition};

use crate::syntax::ast::{BinaryOperator, UnaryOperator};

/// The address of an instruction.
pub type Address = u32;

/// What a name or a location can hold.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// A number.
    Int(i64),
    /// A shared cell, by its location's number.
    Cell(u32),
    /// A promise.
    Promise(u32),
    /// A future's task.
    Task(u32),
    /// A forked thread.
    Thread(u32),
    /// A lock.
    Lock(u32),
    /// A semaphore.
    Semaphore(u32),
    /// An event.
    Event(u32),
}

impl Value {
    /// What kind of value this is, in words.
    pub fn description(self) -> &'static str {
        match self {
            Value::Int(_) => "a number",
            Value::Cell(_) => "a cell",
            Value::Promise(_) => "a promise",
            Value::Task(_) => "a future",
            Value::Thread(_) => "a thread",
            Value::Lock(_) => "a lock",
            Value::Semaphore(_) => "a semaphore",
            Value::Event(_) => "an event",
        }
    }
}

/// What an operation needs its object to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Requirement {
    Cell,
    Promise,
    PromiseOrFuture,
    Thread,
    Lock,
    Semaphore,
    Event,
}

impl Requirement {
    /// Whether a value is what is needed.
    pub fn accepts(self, value: Value) -> bool {
        matches!(
            (self, value),
            (Requirement::Cell, Value::Cell(_))
                | (Requirement::Promise, Value::Promise(_))
                | (
                    Requirement::PromiseOrFuture,
                    Value::Promise(_) | Value::Task(_)
                )
                | (Requirement::Thread, Value::Thread(_))
                | (Requirement::Lock, Value::Lock(_))
                | (Requirement::Semaphore, Value::Semaphore(_))
                | (Requirement::Event, Value::Event(_))
        )
    }

    /// What is needed, in words.
    pub fn description(self) -> &'static str {
        match self {
            Requirement::Cell => "a cell",
            Requirement::Promise => "a promise",
            Requirement::PromiseOrFuture => "a promise or a future",
            Requirement::Thread => "a thread",
            Requirement::Lock => "a lock",
            Requirement::Semaphore => "a semaphore",
            Requirement::Event => "an event",
        }
    }
}

/// How a child strand is started.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Start {
    Async,
    Future,
    Fork,
}

/// One instruction. Operands are taken from the strand's stack, results are pushed on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Instruction {
    // Local.
    Push(Value),
    Load(u32),
    /// Moves the top of the stack into a local name.
    Bind(u32),
    Unary(UnaryOperator, Site),
    Binary(BinaryOperator, Site),
    Jump(Address),
    JumpIf(Address, Site),
    JumpUnless(Address, Site),
    /// Turns an index into the cell of that element.
    Element {
        base: u32,
        length: u32,
        site: Site,
    },
    /// Fails unless the top of the stack is what is wanted.
    Check(Requirement, Site),
    /// Fails unless the top of the stack is a number.
    CheckInt(Site),
    /// Leaves the loop when the counter has reached the bound.
    LoopTest {
        counter: u32,
        bound: u32,
        exit: Address,
    },
    Increment(u32),
    Assert(Site),
    Call {
        procedure: u32,
        site: Site,
    },

    // Steps. The return from a strand's first frame is the strand's end; any other is local.
    Return(Site),
    Read(Site, ReadKind),
    Write(Site),
    Alloc(Site),
    NewPromise(Site),
    /// Starts a strand at `body` that sees this frame's names.
    Start {
        how: Start,
        body: Address,
        site: Site,
    },
    /// Starts a task that runs a procedure.
    StartCall {
        procedure: u32,
        site: Site,
    },
    FinishBegin(Site),
    FinishEnd(Site),
    IsolatedBegin(Site),
    IsolatedEnd(Site),
    Set(Site),
    Get(Site),
    Acquire(Site),
    Release(Site),
    P(Site),
    V(Site),
    Post(Site),
    Wait(Site),
    Clear(Site),
    Join(Site),
    End(Site),
}

/// A procedure: where it starts and the frame it needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Procedure {
    /// Its first instruction.
    pub entry: Address,
    /// How many of its local names are parameters.
    pub parameters: u32,
    /// Local names, parameters included.
    pub slots: u32,
}

/// A shared variable or array.
#[derive(Clone, Debug)]
pub struct Variable {
    /// What it is called.
    pub name: String,
    /// Its first cell.
    pub base: u32,
    /// The number of elements, for an array.
    pub length: Option<u32>,
    /// What it holds at the start.
    pub initial: i64,
    /// Whether what it holds can change what happens.
    pub matters: bool,
}

impl Variable {
    /// What one of its cells is called.
    pub fn location_name(&self, cell: u32) -> LocationName {
        match self.length {
            None => LocationName::Variable(self.name.clone()),
            Some(_) => LocationName::Element(self.name.clone(), (cell - self.base).into()),
        }
    }
}

/// A compiled program.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// By address.
    pub instructions: Vec<Instruction>,
    /// In the order of their entries.
    pub procedures: Vec<Procedure>,
    /// `main`'s index in `procedures`.
    pub main: u32,
    /// Where each site is.
    pub sites: Vec<SourcePosition>,
    /// In the order of their cells.
    pub variables: Vec<Variable>,
    /// How many cells the variables take.
    pub cells: u32,
    /// The names of declared promises.
    pub promises: Vec<String>,
    /// Names.
    pub locks: Vec<String>,
    /// Names and tokens at the start.
    pub semaphores: Vec<(String, u64)>,
    /// Names.
    pub events: Vec<String>,
    /// Whether what cells made by `alloc` hold can change what happens.
    pub heap_matters: bool,
}

impl Code {
    /// How many names the frame of the procedure around an address has.
    pub fn slots_at(&self, address: Address) -> u32 {
        let index = self.procedures.partition_point(|p| p.entry <= address);
        let procedure = index.checked_sub(1).and_then(|i| self.procedures.get(i));
        procedure.map_or(0, |procedure| procedure.slots)
    }

    /// Whether what a cell holds can change what happens.
    pub fn matters(&self, cell: u32) -> bool {
        self.variable_of(cell)
            .map_or(self.heap_matters, |variable| variable.matters)
    }

    /// The variable a declared cell belongs to.
    pub fn variable_of(&self, cell: u32) -> Option<&Variable> {
        if cell >= self.cells {
            return None;
        }
        let index = self.variables.partition_point(|v| v.base <= cell);
        self.variables.get(index.checked_sub(1)?)
    }
}
