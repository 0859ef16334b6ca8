//! The way of an access: from a hook to a history, and to a race.

pub mod access;
pub mod contents;
pub mod depot;
pub mod histories;
pub mod memo;
pub mod origin;
pub mod range;
pub mod shadow;
pub mod short;
pub mod word;
