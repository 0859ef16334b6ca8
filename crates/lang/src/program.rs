//! A program that has been read and found sound, ready to run.

use deadheat_model::Construct;

use crate::code::Code;
use crate::compile::compile;
use crate::constructs::Effects;
use crate::diagnostic::{Collector, Diagnostics};
use crate::syntax::parse;

/// A `.tp` program, ready to be run or explored.
#[derive(Debug)]
pub struct Program {
    pub(crate) code: Code,
    constructs: Vec<Construct>,
}

impl Program {
    /// Reads a program. Everything found wrong is reported together; nothing in the text makes
    /// this panic or take more than time and memory proportional to its size.
    pub fn parse(source: &str) -> Result<Program, Diagnostics> {
        let tree = parse(source)?;
        let mut errors = Collector::default();
        let effects = Effects::of_program(&tree, &mut errors);
        Ok(Program {
            code: compile(&tree, source, errors)?,
            constructs: effects.constructs(),
        })
    }

    /// What the program is compiled to, for a [`Machine`](crate::machine::Machine) to run.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// The constructs the program can use.
    pub fn constructs(&self) -> &[Construct] {
        &self.constructs
    }
}
