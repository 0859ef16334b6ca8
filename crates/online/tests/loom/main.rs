//! What threads share, under every interleaving that the memory model allows. Run by `make test`, in a build of its own.

#![cfg(loom)]

mod mark_list;
mod spd3;
