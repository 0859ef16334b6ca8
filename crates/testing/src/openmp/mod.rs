//! Random OpenMP programs, and which of their variables race.
//!
//! [`Program::random`] draws one, [`Program::c`] writes it as a C function, and [`Program::racy`] says which variables
//! have a race in some schedule with a given number of threads: straight from the graph of the program, see
//! [`truth`]. A test compiles many at once and compares.

pub mod c;
mod truth;

use fastrand::Rng;

/// How many variables a program has.
pub const VARIABLES: usize = 6;

/// How a task names a variable in `depend`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependence {
    /// `in`
    In,
    /// `out`
    Out,
    /// `inout`
    InOut,
    /// `mutexinoutset`
    MutexInOutSet,
    /// `inoutset`
    InOutSet,
}

/// An access to a variable.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Which variable.
    pub variable: usize,
    /// Whether it writes.
    pub write: bool,
    /// Whether it is `omp atomic`.
    pub atomic: bool,
}

/// What a program does.
#[derive(Clone, Debug)]
pub enum Statement {
    /// Reads or writes.
    Access(Access),
    /// Accesses in a critical section of this name.
    Critical(usize, Vec<Access>),
    /// An explicit task.
    Task {
        /// `if(0)`
        undeferred: bool,
        /// `final(1)`
        is_final: bool,
        /// Of the variables named by these numbers.
        depends: Vec<(usize, Dependence)>,
        /// What it does.
        body: Vec<Statement>,
    },
    /// `taskwait`, perhaps with dependences.
    Taskwait(Vec<(usize, Dependence)>),
    /// `taskgroup`
    Taskgroup(Vec<Statement>),
    /// `barrier`; like what follows, only in the region itself.
    Barrier,
    /// `single`
    Single {
        /// Without a barrier at its end.
        nowait: bool,
        /// What it does.
        body: Vec<Statement>,
    },
    /// `masked`: the first thread.
    Masked(Vec<Statement>),
    /// A loop: which iteration makes which access.
    For {
        /// One iteration at a time, instead of a part for each thread.
        dynamic: bool,
        /// Without a barrier at its end.
        nowait: bool,
        /// How many iterations.
        count: usize,
        /// Which iteration does what.
        accesses: Vec<(usize, Access)>,
    },
    /// `sections`
    Sections {
        /// Without a barrier at its end.
        nowait: bool,
        /// What each does.
        bodies: Vec<Vec<Statement>>,
    },
}

/// A random program: parallel regions, one after the other.
#[derive(Clone, Debug)]
pub struct Program {
    regions: Vec<Vec<Statement>>,
}

impl Program {
    /// Draws one.
    pub fn random(rng: &mut Rng) -> Program {
        let mut author = Author { rng, left: 14 };
        let regions = (0..author.rng.usize(1..3))
            .map(|_| author.region())
            .collect();
        Program { regions }
    }

    /// Whether one thread of each region creates all there is, and nothing excludes anything: whoever knows the order of
    /// tasks knows every race.
    pub fn is_ordered_only(&self) -> bool {
        fn free(statements: &[Statement]) -> bool {
            statements.iter().all(|statement| match statement {
                Statement::Access(_) | Statement::Barrier | Statement::Taskwait(_) => true,
                Statement::Task { depends, body, .. } => {
                    let excludes =
                        |named: &(usize, Dependence)| named.1 == Dependence::MutexInOutSet;
                    !depends.iter().any(excludes) && free(body)
                }
                Statement::Taskgroup(body) => free(body),
                _ => false,
            })
        }
        self.regions
            .iter()
            .all(|region| matches!(&region[..], [Statement::Single { body, .. }] if free(body)))
    }
}

struct Author<'r> {
    rng: &'r mut Rng,
    /// How many more statements there may be.
    left: usize,
}

impl Author<'_> {
    fn region(&mut self) -> Vec<Statement> {
        // Most programs of tasks have one thread that creates them.
        if self.rng.u32(..3) > 0 {
            let nowait = self.rng.bool();
            let body = self.body(0);
            return vec![Statement::Single { nowait, body }];
        }
        let count = self.rng.usize(2..6);
        (0..count).map(|_| self.region_statement()).collect()
    }

    fn region_statement(&mut self) -> Statement {
        let nowait = self.rng.bool();
        match self.rng.u32(..12) {
            0 => Statement::Barrier,
            1 | 2 => Statement::Single {
                nowait,
                body: self.body(1),
            },
            3 => Statement::Masked(self.body(1)),
            4..8 => {
                let count = self.rng.usize(2..9);
                let accesses = (0..self.rng.usize(1..4))
                    .map(|_| (self.rng.usize(..count), self.access()))
                    .collect();
                Statement::For {
                    dynamic: self.rng.bool(),
                    nowait,
                    count,
                    accesses,
                }
            }
            8 => {
                let bodies = (0..self.rng.usize(2..4)).map(|_| self.body(2)).collect();
                Statement::Sections { nowait, bodies }
            }
            _ => self.statement(1),
        }
    }

    fn body(&mut self, depth: u32) -> Vec<Statement> {
        let count = self.rng.usize(1..if depth == 0 { 9 } else { 5 });
        (0..count).map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: u32) -> Statement {
        self.left = self.left.saturating_sub(1);
        let small = depth > 3 || self.left == 0;
        match self.rng.u32(..if small { 6 } else { 20 }) {
            0..4 => Statement::Access(self.access()),
            4 => Statement::Critical(
                self.rng.usize(..2),
                (0..self.rng.usize(1..3)).map(|_| self.access()).collect(),
            ),
            5 => match self.rng.bool() {
                true => Statement::Taskwait(Vec::new()),
                false => {
                    let mut depends = self.depends();
                    // The specification has no such `taskwait`.
                    depends.retain(|depend| !matches!(depend.1, Dependence::MutexInOutSet));
                    Statement::Taskwait(depends)
                }
            },
            6 => Statement::Taskgroup(self.body(depth + 1)),
            _ => Statement::Task {
                undeferred: self.rng.u32(..8) == 0,
                is_final: self.rng.u32(..10) == 0,
                depends: match self.rng.bool() {
                    true => self.depends(),
                    false => Vec::new(),
                },
                body: self.body(depth + 1),
            },
        }
    }

    fn depends(&mut self) -> Vec<(usize, Dependence)> {
        use Dependence::{In, InOut, InOutSet, MutexInOutSet, Out};
        let mut depends: Vec<(usize, Dependence)> = (0..self.rng.usize(1..3))
            .map(|_| {
                (
                    self.rng.usize(..3),
                    [In, In, Out, InOut, InOut, MutexInOutSet, InOutSet][self.rng.usize(..7)],
                )
            })
            .collect();
        depends.sort_by_key(|depend| depend.0);
        depends.dedup_by_key(|depend| depend.0);
        depends
    }

    fn access(&mut self) -> Access {
        Access {
            variable: self.rng.usize(..VARIABLES),
            write: self.rng.bool(),
            atomic: self.rng.u32(..6) == 0,
        }
    }
}
