//! Checking while the program runs: what each access costs.
//!
//! An engine is a small cell of memory for each location of the program and what is done to it on
//! every access, given the [`Step`] that the access belongs to:
//! - [`spd3`] for programs of `async` and `finish`: 16 bytes a location, checked by many threads at
//!   once without locks;
//! - [`drdp`] for programs with futures, promises and threads as well;
//! - [`fasttrack`] for programs of threads, byte by byte, with [`timeline`]'s clocks for what they
//!   synchronise by.
//!
//! [`Shadow`] finds a location's cell; [`Recent`] recognises accesses that need no check because
//! their step has made the same one before; [`Relations`] remembers what the tree said. Nothing here
//! prints or panics, and after the first touch of a page no access takes a lock.

pub mod drdp;
pub mod fasttrack;
pub mod mark;
pub mod mark_list;
mod readers;
pub mod recent;
pub mod relations;
pub mod shadow;
pub mod spd3;
pub mod timeline;

use deadheat_model::AccessKind;
use deadheat_order::Step;

pub use recent::Recent;
pub use relations::Relations;
pub use shadow::{PAGE, Shadow};

/// An earlier access that the one being checked races with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The step it belongs to.
    pub step: Step,
    /// Whether it read or wrote.
    pub kind: AccessKind,
    /// What DRDP was given to keep with it; 0 from SPD3, whose cells have no room.
    pub mark: u32,
}
