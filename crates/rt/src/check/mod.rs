//! The way of an access: from a hook to a history, and to a race.

pub mod access;
#[cfg(test)]
pub mod against_definition;
pub mod aliases;
#[cfg(test)]
mod at_once;
pub mod cell;
pub mod contents;
pub mod depot;
pub mod histories;
pub mod in_place;
pub mod index;
pub mod longer;
pub mod marks;
pub mod memo;
pub mod origin;
pub mod origins;
pub mod past;
pub mod range;
pub mod recent_origins;
pub mod shadow;
pub mod strips;
pub mod transitions;
pub mod word;
