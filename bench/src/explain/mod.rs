//! Explaining races: the thesis's experiments, and what it costs.

pub mod experiments;
pub mod shapes;
