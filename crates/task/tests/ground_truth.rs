//! Random programs through the library, against the naive closure of the computation graph of what they did.
//!
//! A program is a tree of statements over a few elements of one array. It runs with one worker and with several, under SPD3 where that
//! can order it and under DRDP; what happened is recorded, and the closure of the recorded graph tells which elements
//! race. Every way to run it must say the same: the verdict does not depend on the schedule.

#![cfg(not(loom))]

use std::collections::BTreeSet;
use std::sync::Arc;

use deadheat_model::{AccessKind, Location};
use deadheat_task::{
    Check, Options, Outcome, Promise, Scope, SharedSlice, finish, future, join, par_for,
};
use deadheat_testing::Trials;
use deadheat_testing::direct_graph;
use fastrand::Rng;

const ELEMENTS: usize = 4;
const PROMISES: usize = 3;

#[derive(Clone, Debug)]
enum Statement {
    Access(usize, AccessKind),
    /// A view of some elements that lives over some statements.
    View(usize, usize, AccessKind, Vec<Statement>),
    Finish(Vec<Statement>),
    Spawn(Vec<Statement>),
    /// Two tasks, which may spawn in the block around them.
    Join(Vec<Statement>, Vec<Statement>),
    Loop(Vec<Vec<Statement>>),
    /// A future, what is done before it is waited for, and whether it is.
    Future(Vec<Statement>, Vec<Statement>, bool),
    /// A future that no block waits for.
    Free(Vec<Statement>),
    Set(usize),
    Get(usize),
}

struct Author {
    rng: Rng,
    size: usize,
    /// Futures, promises, tasks in outer blocks.
    promises: bool,
    /// Views that live on.
    views: bool,
    /// How many promises are set by what was written so far.
    set: usize,
}

impl Author {
    fn block(&mut self, depth: usize) -> Vec<Statement> {
        let length = self.rng.usize(1..=4);
        (0..length).filter_map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: usize) -> Option<Statement> {
        self.size = self.size.checked_sub(1)?;
        let kind = match self.rng.u8(..3) {
            0 => AccessKind::Write,
            _ => AccessKind::Read,
        };
        let choice = if depth == 0 { 0 } else { self.rng.u32(..15) };
        Some(match choice {
            4 => Statement::Finish(self.block(depth - 1)),
            5 | 6 => Statement::Spawn(self.block(depth - 1)),
            7 => Statement::Join(self.block(depth - 1), self.block(depth - 1)),
            8 => {
                let indices = self.rng.usize(1..=3);
                Statement::Loop((0..indices).map(|_| self.block(depth - 1)).collect())
            }
            9 | 10 if self.promises => {
                let (task, between) = (self.block(depth - 1), self.block(depth - 1));
                Statement::Future(task, between, self.rng.bool())
            }
            11 if self.promises => Statement::Free(self.block(depth - 1)),
            12 if self.promises && self.set < PROMISES => {
                self.set += 1;
                Statement::Set(self.set - 1)
            }
            // What is waited for is always further up in the program: there is no deadlock.
            13 if self.set > 0 => Statement::Get(self.rng.usize(..self.set)),
            14 => {
                let start = self.rng.usize(..ELEMENTS);
                let end = self.rng.usize(start + 1..=ELEMENTS);
                let inside = match self.views {
                    true => self.block(depth - 1),
                    false => Vec::new(),
                };
                Statement::View(start, end, kind, inside)
            }
            _ => Statement::Access(self.rng.usize(..ELEMENTS), kind),
        })
    }
}

struct World {
    a: SharedSlice<u64>,
    /// How many elements of `a` stand for one: an access is to the first of them, a view is of all.
    scale: usize,
    promises: [Promise<()>; PROMISES],
    /// Whether tasks may be started in outer blocks.
    strays: bool,
}

impl World {
    fn run<'scope, 'env>(
        self: &'env Arc<World>,
        block: &'env [Statement],
        s: &'scope Scope<'scope, 'env>,
    ) {
        for statement in block {
            match statement {
                Statement::Access(i, AccessKind::Read) => {
                    self.a.get(*i * self.scale);
                }
                Statement::Access(i, AccessKind::Write) => self.a.set(*i * self.scale, 1),
                Statement::View(start, end, AccessKind::Read, inside) => {
                    let view = self.a.read(*start * self.scale..*end * self.scale);
                    self.run(inside, s);
                    drop(view);
                }
                Statement::View(start, end, AccessKind::Write, inside) => {
                    let mut view = self.a.write(*start * self.scale..*end * self.scale);
                    self.run(inside, s);
                    view.fill(1);
                }
                Statement::Finish(block) => self.in_finish(block),
                Statement::Spawn(block) => s.spawn(move || self.run(block, s)),
                Statement::Join(a, b) if self.strays => {
                    join(|| self.run(a, s), || self.run(b, s));
                }
                Statement::Join(a, b) => {
                    join(|| self.in_finish(a), || self.in_finish(b));
                }
                Statement::Loop(blocks) => par_for(0..blocks.len(), |i| match self.strays {
                    true => self.run(&blocks[i], s),
                    false => self.in_finish(&blocks[i]),
                }),
                Statement::Future(task, between, wait) => {
                    let future = s.future(move || self.run(task, s));
                    self.run(between, s);
                    if *wait {
                        future.get();
                    }
                }
                Statement::Free(block) => {
                    let (world, block) = (self.clone(), block.clone());
                    future(move || world.in_finish(&block));
                }
                Statement::Set(promise) => self.promises[*promise].set(()),
                Statement::Get(promise) => {
                    self.promises[*promise].get();
                }
            }
        }
    }

    fn in_finish(self: &Arc<World>, block: &[Statement]) {
        finish(|s| self.run(block, s));
    }
}

/// A kind of programs.
#[derive(Clone, Copy)]
struct Style {
    /// With futures and promises, and tasks in outer blocks.
    promises: bool,
    /// With views that live on.
    views: bool,
    /// See [`World`].
    scale: usize,
}

fn outcome(program: &[Statement], style: Style, workers: usize, check: Check) -> Outcome<()> {
    let options = Options::new()
        .workers(workers)
        .check(check)
        .keep_execution();
    options.run(|| {
        let world = Arc::new(World {
            a: SharedSlice::new(vec![0; ELEMENTS * style.scale]),
            scale: style.scale,
            promises: Default::default(),
            strays: style.promises,
        });
        world.in_finish(program);
    })
}

/// Runs a program in many ways; tells whether it has a race, and how many of the ways came to their end.
fn judge(program: &[Statement], style: Style, checks: &[Check]) -> (bool, usize) {
    let mut verdict: Option<(bool, Option<BTreeSet<Location>>)> = None;
    let mut ended = 0;
    for &check in checks {
        for workers in [1, 2, 3] {
            let outcome = outcome(program, style, workers, check);
            let report = &outcome.report;
            let racy: BTreeSet<Location> = report.findings.racy.iter().copied().collect();
            assert_eq!(report.races.is_empty(), racy.is_empty());
            let deterministic = report.deterministic;
            let racy = match outcome.result {
                Ok(()) => {
                    ended += 1;
                    let execution = report.execution.as_ref().unwrap();
                    let truth = direct_graph::racy_locations(execution);
                    assert_eq!(racy, truth, "{check:?}, {workers} workers\n{execution}");
                    assert_eq!(deterministic, truth.is_empty());
                    Some(racy)
                }
                Err(error) => {
                    assert!(error.to_string().contains("overlaps"), "{error}");
                    assert!(!deterministic);
                    None
                }
            };
            let (before, same) = verdict.get_or_insert((deterministic, racy.clone()));
            assert_eq!(*before, deterministic, "{check:?}, {workers} workers");
            match (&same, &racy) {
                (Some(before), Some(racy)) => assert_eq!(before, racy),
                (None, Some(_)) => *same = racy,
                _ => {}
            }
        }
    }
    (
        verdict.is_some_and(|(deterministic, _)| !deterministic),
        ended,
    )
}

/// What a run says about a program: whether it is deterministic, and, if it came to its end, which elements of `ELEMENTS` are racy.
fn verdict(program: &[Statement], style: Style, check: Check) -> (bool, Option<BTreeSet<u64>>) {
    let Outcome { result, report } = outcome(program, style, 1, check);
    let racy = report.findings.racy.iter().map(|location| location.0);
    let scale = style.scale as u64;
    let racy = racy
        .filter(|racy| racy % scale == 0)
        .map(|racy| racy / scale);
    (report.deterministic, result.is_ok().then(|| racy.collect()))
}

fn on_programs(salt: u64, count: u64, style: Style, checks: &[Check]) {
    let trials = Trials::new(salt, count);
    let (mut racy, mut ended) = (0, 0);
    for trial in &trials {
        let mut rng = trial.rng();
        let size = rng.usize(4..40);
        let mut author = Author {
            rng,
            size,
            promises: style.promises,
            views: style.views,
            set: 0,
        };
        let program = author.block(5);
        let result = std::panic::catch_unwind(|| {
            for &check in checks {
                let one = Style { scale: 1, ..style };
                assert_eq!(
                    verdict(&program, style, check),
                    verdict(&program, one, check)
                );
            }
            judge(&program, style, checks)
        });
        match result {
            Ok((has_race, ways)) => {
                racy += u64::from(has_race);
                ended += ways as u64;
            }
            Err(panic) => {
                eprintln!("{program:#?}");
                std::panic::resume_unwind(panic);
            }
        }
    }
    let count = trials.count();
    trials.expect(
        racy > count / 10 && racy < count * 9 / 10,
        format!("{racy} racy"),
    );
    trials.expect(ended > count, format!("{ended} came to their end"));
}

const PLAIN: Style = Style {
    promises: false,
    views: false,
    scale: 1,
};

const PROMISES_TOO: Style = Style {
    promises: true,
    ..PLAIN
};

#[test]
fn spd3_and_drdp_agree_with_the_closure_on_programs_of_spawn_and_finish() {
    on_programs(1, 400, PLAIN, &[Check::Spd3, Check::Drdp]);
}

#[test]
fn drdp_agrees_with_the_closure_on_programs_of_futures_and_promises() {
    on_programs(2, 400, PROMISES_TOO, &[Check::Drdp]);
}

#[test]
fn a_view_that_lives_on_is_never_silently_racy() {
    let views = |style| Style {
        views: true,
        ..style
    };
    on_programs(3, 400, views(PLAIN), &[Check::Spd3, Check::Drdp]);
    on_programs(4, 400, views(PROMISES_TOO), &[Check::Drdp]);
}

/// Arrays that have several locks, and pages of histories: what is said about the first element of many is what is said about
/// one that stands for them.
#[test]
fn views_of_long_arrays_agree_with_the_closure() {
    let long = |style| Style {
        views: true,
        scale: 700,
        ..style
    };
    on_programs(5, 25, long(PLAIN), &[Check::Spd3, Check::Drdp]);
    on_programs(6, 25, long(PROMISES_TOO), &[Check::Drdp]);
}

/// The inner loop waits for nobody but its index, whose task in an outer block goes on: what comes after the first read by
/// that task does not come after the second.
#[test]
fn a_read_before_a_task_in_an_outer_block_covers_no_other() {
    let program = [Statement::Loop(vec![
        vec![
            Statement::Access(1, AccessKind::Read),
            Statement::Loop(vec![vec![Statement::Future(
                vec![Statement::Access(1, AccessKind::Write)],
                Vec::new(),
                false,
            )]]),
        ],
        vec![Statement::View(1, 3, AccessKind::Read, Vec::new())],
    ])];
    for _ in 0..100 {
        let (is_racy, _) = judge(&program, PROMISES_TOO, &[Check::Drdp]);
        assert!(is_racy);
    }
}
