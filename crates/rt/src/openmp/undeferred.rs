//! Undeferred tasks: `if(0)`, and those inside of `final` ones.
//!
//! Such a task runs while its creator waits for it: what it does is its creator's next doing. So it is part of the
//! creator's step until it creates a task itself or begins a group; only then is it a strand of its own to the tree.
//! Programs that stop creating tasks below a certain size pay nothing for those that they do not create.

use std::sync::Arc;

use super::descriptions::Kind;
use super::strand::{Children, Scope, Shared, Strand};
use super::tasks;
use crate::check::origin::Stack;

impl Strand {
    /// An undeferred task is created: part of this strand until it has to be told apart.
    pub(super) fn part(&mut self, stack: Stack, is_final: bool) -> Strand {
        let mut part = Strand::at(self.order, self.description, self.inner_enclosure());
        part.heard = self.heard;
        part.part_of = self;
        part.stack = stack;
        part.undeferred = true;
        part.is_final = is_final || self.is_final;
        part.joinable = self.joinable;
        part.home = self.home;
        part.held = std::mem::take(&mut self.excluding);
        part
    }

    /// It is no longer part of its creator, which waits for it.
    pub(super) fn part_ways(&mut self) {
        // SAFETY: the creator of an undeferred task lives, and does nothing, as long as that runs.
        let Some(creator) = (unsafe { self.part_of.as_mut() }) else {
            return;
        };
        self.part_of = std::ptr::null_mut();
        self.settle();
        creator.order = self.order;
        creator.heard = self.heard;
        let structure = &tasks().structure;
        let begun = structure.begin_finish(&mut creator.order);
        let spawned = begun.and_then(|_| structure.spawn(&mut creator.order));
        let Some(order) = tasks().or_drop(spawned) else {
            return;
        };
        let children = Arc::<Shared<Children>>::default();
        self.among = Some(children.clone());
        creator.scopes.push(Scope::Wait(children));
        creator.note_step();
        self.order = order;
        self.description =
            tasks()
                .descriptions
                .add(Kind::Undeferred, creator.description, self.stack, 0, 0);
        self.note_step();
        if self.joinable {
            self.set_joinable();
        }
    }

    /// It ends. If it was part of its creator, that goes on where it was: true.
    pub fn end_part(&mut self) -> bool {
        let events = self.completion.signals();
        // SAFETY: as above.
        let Some(creator) = (unsafe { self.part_of.as_mut() }) else {
            return false;
        };
        self.join(&events);
        self.settle();
        creator.order = self.order;
        creator.heard = self.heard;
        if self.leaks {
            creator.leak();
        }
        true
    }

    /// Whether its steps are its creator's, or were.
    pub fn is_part(&self) -> bool {
        !self.part_of.is_null()
    }
}
