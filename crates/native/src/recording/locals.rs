//! Variables on a thread's stack that others write to.
//!
//! clang leaves out accesses of a function to parts of its own variables (`writer.done`), also if it has given the
//! variable's address away. Happens-before then misses such an access; a prediction would be wrong: the thread may have gone on
//! because of what it read there, and nobody knows that it read. So whenever a thread writes to another's stack, the owner
//! is taken to read it once it has synchronised next: everything that it does from then on needs that write.
//!
//! This is told as relaxed atomic operations on a variable for each writer and owner, which order nothing for happens-before;
//! whoever predicts keeps them in order. Writers do not wait for each other: each has a variable of its own.

use std::collections::BTreeSet;

use deadheat_model::{AtomicOrdering, Location, Op, Strand};
use rustc_hash::FxHashMap;

/// See the [module](self).
#[derive(Default)]
pub struct Locals {
    /// Where the stacks lie, and whose they are.
    stacks: Vec<(u64, u64, Strand)>,
    /// The variable that stands for all that a thread writes to another's stack: of the owner, then of the writer.
    letters: FxHashMap<(Strand, Strand), Location>,
    /// By owner: those that were written since it synchronised last.
    unread: FxHashMap<Strand, BTreeSet<Location>>,
}

impl Locals {
    /// A thread's stack lies there.
    pub fn stack(&mut self, address: u64, size: u64, strand: Strand) {
        let end = address.saturating_add(size);
        self.stacks
            .retain(|(from, to, owner)| *owner != strand && (end <= *from || *to <= address));
        self.stacks.push((address, end, strand));
        self.stacks.sort_unstable();
    }

    /// Whose stack an address lies on, if that is not the strand's own.
    pub fn other(&self, strand: Strand, address: u64) -> Option<Strand> {
        let after = self.stacks.partition_point(|(from, ..)| *from <= address);
        let (_, end, owner) = self.stacks[..after].last()?;
        (address < *end && *owner != strand).then_some(*owner)
    }

    /// A strand has written to another's stack. `number` makes the variable for that, if there is none.
    pub fn write<E>(
        &mut self,
        owner: Strand,
        writer: Strand,
        number: impl FnOnce() -> Result<Location, E>,
    ) -> Result<Op, E> {
        let letter = match self.letters.get(&(owner, writer)) {
            Some(letter) => *letter,
            None => *self.letters.entry((owner, writer)).or_insert(number()?),
        };
        self.unread.entry(owner).or_default().insert(letter);
        Ok(Op::AtomicStore(letter, AtomicOrdering::Relaxed))
    }

    /// A strand has synchronised: what it then reads, if there may be something to read.
    pub fn read(&mut self, strand: Strand) -> impl Iterator<Item = Op> {
        let letters = self.unread.remove(&strand).unwrap_or_default();
        let letters = letters.into_iter();
        letters.map(|letter| Op::AtomicLoad(letter, AtomicOrdering::Relaxed))
    }
}
