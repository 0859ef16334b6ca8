//! How values flow through local names, parameters and shared variables, judged from the text.
//!
//! Two questions are answered: which reads are *control reads* (their value reaches a condition, a
//! loop's bound or an index, through however many local names), and which variables' values
//! *matter* (they can change what happens: a decision, an error, what a handle refers to, through
//! however many names and variables). Both err on the side of yes.

use deadheat_model::ReadKind;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::code::{Code, Instruction};

/// Where a local name's value comes from.
pub(crate) type Binding = u32;

/// What a shared access can be to: a variable by its index, or any cell made by `alloc`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Store {
    Variable(u32),
    Heap,
}

/// The reads and names that make up a value.
#[derive(Clone, Default)]
pub(crate) struct Flow {
    /// By the address of the instruction that reads.
    reads: Vec<usize>,
    bindings: Vec<Binding>,
    /// Whether it can be something else than a number.
    handle: bool,
}

impl Flow {
    pub(crate) fn from_binding(binding: Binding) -> Flow {
        Flow {
            bindings: vec![binding],
            ..Flow::default()
        }
    }

    /// A promise, a lock, a cell, …
    pub(crate) fn from_handle() -> Flow {
        Flow {
            handle: true,
            ..Flow::default()
        }
    }

    pub(crate) fn join(&mut self, mut other: Flow) {
        self.reads.append(&mut other.reads);
        self.bindings.append(&mut other.bindings);
        self.handle |= other.handle;
    }
}

/// How values flow in a program.
#[derive(Default)]
pub(crate) struct Flows {
    /// By binding: what its value is made of. A parameter has one flow for all its calls.
    sources: Vec<Flow>,
    /// By procedure and position.
    pub(crate) parameters: Vec<Vec<Binding>>,
    /// What each read reads.
    reads: FxHashMap<usize, Store>,
    /// What each store is given, all its writes together.
    stores: FxHashMap<Store, Flow>,
    /// What reaches a condition, a loop's bound or an index.
    decisions: Flow,
    /// What can make an error, or is used as what it refers to.
    uses: Flow,
}

impl Flows {
    /// A new local name.
    pub(crate) fn bind(&mut self) -> Binding {
        self.sources.push(Flow::default());
        (self.sources.len() - 1) as Binding
    }

    pub(crate) fn reaches(&mut self, binding: Binding, flow: Flow) {
        self.sources[binding as usize].join(flow);
    }

    pub(crate) fn read(&mut self, instruction: usize, store: Store) -> Flow {
        self.reads.insert(instruction, store);
        Flow {
            reads: vec![instruction],
            ..Flow::default()
        }
    }

    pub(crate) fn write(&mut self, store: Store, flow: Flow) {
        self.stores.entry(store).or_default().join(flow);
    }

    pub(crate) fn decide(&mut self, flow: Flow) {
        self.decisions.join(flow);
    }

    pub(crate) fn depend_on(&mut self, flow: Flow) {
        self.uses.join(flow);
    }

    /// Writes the answers into the code.
    pub(crate) fn mark(&self, code: &mut Code) {
        self.mark_control_reads(code);
        self.mark_what_matters(code);
    }

    fn mark_control_reads(&self, code: &mut Code) {
        let mut seen = vec![false; self.sources.len()];
        let mut pending = vec![&self.decisions];
        while let Some(flow) = pending.pop() {
            for &read in &flow.reads {
                if let Instruction::Read(_, kind) = &mut code.instructions[read] {
                    *kind = ReadKind::Control;
                }
            }
            for &binding in &flow.bindings {
                if !std::mem::replace(&mut seen[binding as usize], true) {
                    pending.push(&self.sources[binding as usize]);
                }
            }
        }
    }

    fn mark_what_matters(&self, code: &mut Code) {
        let mut seen_bindings = vec![false; self.sources.len()];
        let mut matters: FxHashMap<Store, bool> = FxHashMap::default();
        let mut pending = vec![&self.decisions, &self.uses];
        // What can hold something else than a number is kept as it is.
        for store in self.handle_stores() {
            matters.insert(store, true);
            pending.extend(self.stores.get(&store));
        }
        while let Some(flow) = pending.pop() {
            for read in &flow.reads {
                let Some(store) = self.reads.get(read) else {
                    continue;
                };
                if !matters.insert(*store, true).unwrap_or(false) {
                    pending.extend(self.stores.get(store));
                }
            }
            for &binding in &flow.bindings {
                if !std::mem::replace(&mut seen_bindings[binding as usize], true) {
                    pending.push(&self.sources[binding as usize]);
                }
            }
        }
        let matters = |store| matters.get(&store).copied().unwrap_or(false);
        for (index, variable) in code.variables.iter_mut().enumerate() {
            variable.matters = matters(Store::Variable(index as u32));
        }
        code.heap_matters = matters(Store::Heap);
    }

    /// The stores that can hold something else than a number.
    fn handle_stores(&self) -> Vec<Store> {
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        enum Holder {
            Binding(Binding),
            Store(Store),
        }
        let bindings = self.sources.iter().enumerate();
        let bindings = bindings.map(|(b, flow)| (Holder::Binding(b as Binding), flow));
        let stores = self
            .stores
            .iter()
            .map(|(s, flow)| (Holder::Store(*s), flow));
        // Who is given what each holds.
        let mut given: FxHashMap<Holder, Vec<Holder>> = FxHashMap::default();
        let mut pending = Vec::new();
        for (holder, flow) in bindings.chain(stores) {
            if flow.handle {
                pending.push(holder);
            }
            let from_bindings = flow.bindings.iter().map(|b| Holder::Binding(*b));
            let read = flow.reads.iter().filter_map(|read| self.reads.get(read));
            for source in from_bindings.chain(read.map(|store| Holder::Store(*store))) {
                given.entry(source).or_default().push(holder);
            }
        }
        let mut stores = Vec::new();
        let mut seen = FxHashSet::default();
        while let Some(holder) = pending.pop() {
            if seen.insert(holder) {
                pending.extend(given.remove(&holder).into_iter().flatten());
                if let Holder::Store(store) = holder {
                    stores.push(store);
                }
            }
        }
        stores
    }
}
