//! `.dht`, deadheat's own format: [`format.md`](./format.md) beside this file specifies it.
//!
//! A [`Writer`] is shared by many threads; each has a [`StrandWriter`] that collects its strand's events
//! and hands over whole blocks. A [`Reader`] maps the file into memory and gives the events in the
//! order in which they happened, decoding ahead on other threads.

mod ahead;
mod block;
mod columns;
mod layout;
mod map;
mod names;
mod reader;
mod runs;
mod window;
mod writer;

pub use layout::{MAGIC, MAX_BLOCK_EVENTS, MAX_SPAN, VERSION};
pub use reader::{Damage, Reader};
pub use writer::{OrderedWriter, StrandWriter, Writer};
