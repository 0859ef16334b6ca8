//! Local names, and what to say of a name that is not known.

use super::{Compiler, Local};
use crate::code::Instruction;
use crate::diagnostic::Diagnostic;
use crate::flow::Binding;
use crate::syntax::ast::*;

/// How many names one procedure may bind at a time: each strand it starts gets a copy.
const MAX_SLOTS: u32 = 1000;

impl Compiler<'_> {
    pub(super) fn local(&self, name: &str) -> Option<&Local> {
        self.body.locals.iter().rev().find(|l| l.name == name)
    }

    pub(super) fn slot(&mut self) -> u32 {
        let slot = self.body.next_slot;
        self.body.next_slot += 1;
        self.body.slots = self.body.slots.max(self.body.next_slot);
        slot
    }

    /// Binds a name in this block to the value on the stack.
    pub(super) fn bind(&mut self, name: &Name) -> Binding {
        let binding = self.flows.bind();
        let slot = self.bind_as(name, binding);
        self.emit(Instruction::Bind(slot));
        binding
    }

    pub(super) fn bind_as(&mut self, name: &Name, binding: Binding) -> u32 {
        let depth = self.body.depth;
        let same_block = |l: &&Local| l.depth == depth && l.name == name.text;
        if let Some(first) = self.body.locals.iter().find(same_block) {
            let error = Diagnostic::new(
                format!("`{}` is already bound in this block", name.text),
                name.span,
                "bound again",
            );
            let first = first.span;
            self.errors.add(error.also(first, "first bound here"));
        }
        let slot = self.slot();
        if slot == MAX_SLOTS {
            let error = Diagnostic::new(
                format!("more than {MAX_SLOTS} names are bound at a time"),
                name.span,
                "one too many",
            );
            let help = "use a shared array, or blocks and procedures of their own";
            self.errors.add(error.help(help));
        }
        // Keeping them would make looking up names slow.
        if slot >= MAX_SLOTS {
            return slot;
        }
        self.body.locals.push(Local {
            name: name.text.clone(),
            span: name.span,
            slot,
            binding,
            depth,
        });
        slot
    }

    pub(super) fn unknown(&mut self, name: &Name) {
        let locals = self.body.locals.iter().map(|local| local.name.as_str());
        let known = locals.chain(self.globals.keys().map(String::as_str));
        let mut error = Diagnostic::new(
            format!("`{}` is not declared", name.text),
            name.span,
            "unknown name",
        );
        error.help = match self.procedures.contains_key(&name.text) {
            true => Some("it is a procedure: write `call` or `async` before it".to_string()),
            false if !self.errors.has_room() => None,
            false => did_you_mean(&name.text, known),
        };
        self.errors.add(error);
    }
}

/// The known name that is closest to a mistyped one, if any is close.
pub(super) fn did_you_mean<'n>(
    typed: &str,
    known: impl Iterator<Item = &'n str>,
) -> Option<String> {
    // A long name is not a typing mistake for anything, and comparing it would be slow.
    if typed.len() > 64 {
        return None;
    }
    let close = known
        .filter(|name| name.len() <= 64)
        .map(|name| (distance(typed, name), name))
        .filter(|(d, name)| *d <= 1 + name.len() / 4 && *d < typed.len())
        .min();
    close.map(|(_, name)| format!("did you mean `{name}`?"))
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + (x != y) as usize;
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
