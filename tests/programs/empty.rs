//! Nothing: the packages are wanted for their sources.
