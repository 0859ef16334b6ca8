//! M2: predicts races that did not happen.

pub mod decide;
pub mod locksets;
pub mod skeleton;
pub mod window;
mod witness;

pub use witness::witness;
