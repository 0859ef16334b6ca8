//! Who came first, as pure data structures.
//!
//! - [`Tree`] is the dynamic program structure tree of `async` and `finish`: many tasks add to it at
//!   once, and it says of any two [`Step`]s whether they may happen in parallel.
//! - [`Joins`] holds what the tree cannot: which task has waited for what by a promise, a future or a
//!   thread. Tree and joins together are the [`Structure`], which orders any two steps of a program
//!   without locks.
//! - [`Clock`] is a vector clock: what comes before a point, for threads; [`Epoch`] one entry of it.
//!   [`PersistentClock`] is one of very many that are kept, [`WideClock`] one of any number of strands.
//! - [`Bags`] tell, on a depth-first walk, what is parallel to the point reached. They are made of
//!   [`DisjointSets`].
//!
//! ```
//! use deadheat_order::Tree;
//!
//! let tree = Tree::new();
//! let mut main = tree.root()?;
//! tree.begin_finish(&mut main)?;
//! let child = tree.spawn(&mut main)?;
//! assert!(tree.parallel(child.step(), main.step()));
//! tree.end_finish(&mut main);
//! assert!(tree.precedes(child.step(), main.step()));
//! # Ok::<(), deadheat_order::Full>(())
//! ```

mod arena;
pub mod bags;
pub mod clock;
pub mod joins;
pub mod persistent_clock;
pub mod reach;
pub mod search;
pub mod sets;
pub mod structure;
pub mod sync;
pub mod tree;
pub mod wide_clock;

pub use arena::Full;
pub use bags::{Bags, Member, ParallelBag};
pub use clock::{Clock, Epoch, Time, join_times};
pub use joins::{Joins, Knowledge, Past, Signal};
pub use persistent_clock::PersistentClock;
pub use reach::Reach;
pub use search::{Question, Search, Traversal};
pub use sets::DisjointSets;
pub use structure::{FinishPast, Structure, Task};
pub use tree::{Place, Relation, Scope, Step, Tree};
pub use wide_clock::WideClock;
