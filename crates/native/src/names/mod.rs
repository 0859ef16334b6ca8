//! Variables by their names in the source: which member of which element of which variable lies at an address, from a
//! file's DWARF.
//!
//! The simple model: a variable has an address and a type; its type says which member or element each of its bytes is
//! part of; the name of a byte is the variable's, and of these what leads to the byte: `slots[3].count`. Each step has
//! a file:
//!
//! - [`sections`] reads the DWARF of a file, [`dies`] its entries;
//! - [`index`] finds the variable at an address and the function around one, by one pass over all entries;
//! - [`types`] turns the types in question into trees, each once; [`definitions`] finds those that are defined elsewhere, and
//!   [`library`] says which are not the program's own;
//! - [`path`] descends such a tree to a byte;
//! - [`frame`] finds the local variable at an address on a stack;
//! - [`allocation`] reads what a line allocates, [`heap`] finds that type and names the bytes of the block by it;
//! - [`symbol`] spells what the symbol table calls a variable; [`nearby`] finds the line of code that has none.
//!
//! A name ends where the program's own types end: a counter in a `std::atomic<int>` is `cache.hits`, whatever the library
//! calls what it keeps inside.
//!
//! Cost: nothing for a file nobody asks about; one pass over its entries for the first question, some 50 to 100 MB/s.
//! Files with more than a GiB of entries have the names that the symbol table gives.

pub mod allocation;
mod declared;
mod definitions;
mod dies;
mod frame;
mod heap;
mod index;
mod library;
pub mod nearby;
mod path;
mod sections;
pub mod symbol;
mod types;

use std::cell::OnceCell;

use deadheat_tape::findings::StackFrame;

use allocation::Hint;
use definitions::Definitions;
use dies::{Die, Dies};
use index::Index;
use sections::Sections;
use types::Types;

/// The names in one file.
#[derive(Default)]
pub struct Names {
    loaded: OnceCell<Option<Loaded>>,
    types: Types,
}

struct Loaded {
    sections: Sections,
    index: Index,
    definitions: OnceCell<Definitions>,
}

/// A variable, as far as its file's DWARF knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The variable's own name, without namespaces.
    pub variable: String,
    /// From there to the byte: `[3].count`, or nothing.
    pub path: String,
    /// It is known in one function only.
    pub in_function: bool,
}

/// Which variables of a function count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those around the code that runs, if any is there.
    Now,
    /// All that may ever be there.
    Any,
}

pub use heap::{Candidate, Content};

/// A function of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function(Die);

impl Names {
    /// The variable at an address of the file's own, and the member or element there that `size` bytes belong to.
    pub fn at(&mut self, path: &str, address: u64, size: u64) -> Option<Name> {
        self.look_up(path, |loaded, types| {
            let place = loaded.index.variable(address)?;
            let offset = address - place.address + place.from;
            name(loaded, types, place.die, (offset, size), place.in_function)
        })
    }

    /// The same for the thread-local variable this far into the file's piece of a thread's variables.
    pub fn thread_local(&mut self, path: &str, offset: u64, size: u64) -> Option<Name> {
        self.look_up(path, |loaded, types| {
            let place = loaded.index.thread_local(offset)?;
            let within = offset - place.address + place.from;
            name(loaded, types, place.die, (within, size), place.in_function)
        })
    }

    /// The local variable at an address in the frame of a function that runs code at an address of the file's own.
    pub fn local(
        &mut self,
        path: &str,
        (function, code, scope): (Function, u64, Scope),
        frame: &StackFrame,
        (address, size): (u64, u64),
    ) -> Option<String> {
        self.look_up(path, |loaded, types| {
            let mut dies = loaded.dies();
            let code = match scope {
                Scope::Now => Some(code),
                Scope::Any => None,
            };
            let local = frame::local(&mut dies, types, function.0, (code, frame), address)?;
            let path = path::of(types, local.ty, local.offset, size)?;
            Some(local.name + &path)
        })
    }

    /// What code at an address of the file's own may have allocated, by this hint.
    pub fn candidate(&mut self, path: &str, code: u64, hint: &Hint) -> Option<Candidate> {
        self.look_up(path, |loaded, types| {
            let function = loaded.index.function(code)?;
            heap::candidate(&mut loaded.dies(), types, function, hint)
        })
    }

    /// What a byte of a block that holds this is called, where `size` bytes are accessed: the type, and from there to the byte.
    pub fn name_in<'c>(
        &self,
        content: &'c Content,
        offset: u64,
        size: u64,
    ) -> Option<(&'c str, String)> {
        heap::name(&self.types, content, offset, size)
    }

    /// The function around an address of code.
    pub fn function(&mut self, path: &str, code: u64) -> Option<Function> {
        self.look_up(path, |loaded, _| loaded.index.function(code).map(Function))
    }

    /// The function that is called by the call before an address, if it is one of the same file and the call says so.
    pub fn called(&mut self, path: &str, return_address: u64) -> Option<Function> {
        self.look_up(path, |loaded, _| {
            let target = loaded.sections.call_target(path, return_address)?;
            loaded.index.function(target).map(Function)
        })
    }

    fn look_up<T>(
        &mut self,
        path: &str,
        what: impl FnOnce(&Loaded, &mut Types) -> Option<T>,
    ) -> Option<T> {
        let loaded = self.loaded.get_or_init(|| {
            let sections = Sections::read(path)?;
            let index = Index::of(&sections)?;
            Some(Loaded {
                sections,
                index,
                definitions: OnceCell::new(),
            })
        });
        what(loaded.as_ref()?, &mut self.types)
    }
}

impl Loaded {
    fn dies(&self) -> Dies<'_> {
        Dies::new(&self.sections, &self.index, &self.definitions)
    }
}

fn name(
    loaded: &Loaded,
    types: &mut Types,
    die: Die,
    (offset, size): (u64, u64),
    in_function: bool,
) -> Option<Name> {
    let mut dies = loaded.dies();
    let (variable, ty) = types.of_variable(&mut dies, die)?;
    Some(Name {
        variable,
        path: path::of(types, ty, offset, size)?,
        in_function,
    })
}
