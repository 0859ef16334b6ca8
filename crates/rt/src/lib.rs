//! The native runtime: what lives inside a C or C++ program under test.
//!
//! `deadheat cc` compiles with the compiler's own instrumentation for races and links this crate, built
//! as a static library with the feature `interpose`. Every access of the program calls a hook (`hooks`); every
//! call that creates, joins or synchronises threads, or gives memory a new meaning, passes through an interposed
//! function (`interpose`).
//!
//! | folder | job |
//! |---|---|
//! | `hooks`, `interpose` | what the program calls |
//! | `check` | the way of an access |
//! | `order` | threads and what orders them |
//! | `openmp` | the order of OpenMP's tasks |
//! | `output` | findings and recordings |
//! | `platform` | what stands in for the C library |
//!
//! The way of an access (`check`): `access` finds the number of its word's history in `shadow` memory and asks the thread's
//! `memo` whether such an access changes anything. If it does and the memo does not know how, the engine of
//! `deadheat_online::fasttrack` says which races there are and what the new history is, which is kept in `histories`.
//! A record of a history names a thread's time (`order::threads`), and its `origin`: call stack, locks held. So both stacks
//! of a race are known, however long ago the first access was.
//!
//! The way of synchronisation (`order`): a lock or an atomic variable has a channel (`sync`), found by its address, which
//! carries the clocks of `deadheat_online::timeline` from thread to thread.
//!
//! A process may be recorded instead of checked (`output::recording`): then hooks and interposed functions write down what
//! the program does, and nothing else of the above happens.
//!
//! What is found goes to a file at once (`output::findings`; `deadheat_tape::findings` has the format).
//!
//! The runtime is a guest. It uses no allocator but its own (`platform::allocator`), no lock that the program can hold, and
//! no function of the C library where the C library may be interposed (`platform::os`). Hooks may run before any
//! constructor, on threads nobody has told of, in signal handlers (`platform::signals`), and after `fork`.
//! A program that has one thread, or whose other threads have all been joined, is not looked at: whatever it does
//! then happens before all that is to come.
//!
//! Its guarantee is FastTrack's, for every byte: a race of the run is reported if and only if there is one, until
//! a byte's first race. The `end` line of the findings says if something had to be dropped.
//!
//! To build it: `cargo rustc -p deadheat-rt --lib --crate-type staticlib --profile rt --features interpose -- -C
//! relocation-model=pie`. With that relocation model thread-local variables are one instruction away.
#![allow(unsafe_code)]
#![cfg_attr(not(feature = "interpose"), allow(dead_code))]

mod check;
#[cfg(feature = "interpose")]
mod hooks;
#[cfg(feature = "interpose")]
mod interpose;
mod openmp;
mod order;
mod output;
mod platform;

#[cfg(feature = "interpose")]
#[global_allocator]
static ALLOCATOR: platform::allocator::Allocator = platform::allocator::Allocator::new();
