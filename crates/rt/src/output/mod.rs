//! What the runtime leaves for the command to read: findings, recordings.

pub mod findings;
pub mod frames;
pub mod line;
pub mod mailbox;
pub mod recording;
pub mod waits;
