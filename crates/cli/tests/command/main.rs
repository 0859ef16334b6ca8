//! The command, called as users call it: one binary for all of it, which is linked once.

mod browser;
mod common;

mod analyze;
mod check;
mod examples;
mod explain;
mod guide;
mod hostile;
mod hostile_random;
mod interrupt;
mod native_delivery;
mod native_record;
mod native_use;
mod options;
mod page;
mod picture;
mod reports;
mod rust;
mod traces;
