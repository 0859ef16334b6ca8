//! What is promised of printed, random and shrunk programs.

use deadheat_explore::{Exploration, ExploreOptions};
use deadheat_lang::syntax::ast::*;
use deadheat_lang::syntax::parse;
use deadheat_model::Construct;
use deadheat_testing::programs::{self, Family, Recipe, shrink};
use fastrand::Rng;

const PROGRAMS: u64 = 400;

fn random_programs(recipe: &Recipe) -> impl Iterator<Item = Program> + '_ {
    (0..PROGRAMS).map(|seed| programs::program(recipe, &mut Rng::with_seed(seed)))
}

fn read(program: &Program) -> deadheat_lang::Program {
    let text = program.to_string();
    match deadheat_lang::Program::parse(&text) {
        Ok(program) => program,
        Err(errors) => panic!("{text}\n{errors:?}"),
    }
}

fn explore(program: &Program) -> Exploration {
    let options = ExploreOptions {
        max_states: 100_000,
        ..Default::default()
    };
    deadheat_explore::explore(&read(program), &options, |_| {})
}

/// The tree, without where its parts stand.
fn shape(program: &Program) -> String {
    let text = format!("{program:?}");
    let mut parts = text.split("Span { start: ");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |shape, part| {
        let end = part.find('}').map_or(part.len(), |end| end + 1);
        shape + &part[end..]
    })
}

fn any_expression(rng: &mut Rng, depth: u32) -> Expr {
    let name = |rng: &mut Rng| Name::new(["x", "y", "z"][rng.usize(0..3)]);
    let operators = BinaryOperator::ALL;
    let inner = |rng: &mut Rng| Box::new(any_expression(rng, depth.saturating_sub(1)));
    Expr::new(match rng.u32(0..if depth > 0 { 9 } else { 3 }) {
        0 => ExprKind::Int(rng.i64(0..=i64::MAX)),
        1 => ExprKind::Place(Place::Name(name(rng))),
        2 => ExprKind::Place(Place::Deref(name(rng))),
        3 => ExprKind::Place(Place::Element(name(rng), inner(rng))),
        4 => ExprKind::Unary(UnaryOperator::Not, inner(rng)),
        5 => ExprKind::Unary(UnaryOperator::Negate, inner(rng)),
        _ => {
            let operator = operators[rng.usize(0..operators.len())];
            ExprKind::Binary(operator, inner(rng), inner(rng))
        }
    })
}

/// `main` with one statement, `assert value`.
fn asserting(value: Expr) -> Program {
    let statement = Statement {
        kind: StatementKind::Assert(value),
        span: Span::default(),
    };
    Program {
        items: vec![Item::Procedure {
            name: Name::new("main"),
            parameters: Vec::new(),
            body: Block {
                statements: vec![statement],
                span: Span::default(),
            },
        }],
    }
}

#[test]
fn any_expression_reads_back_as_it_was_printed() {
    let mut rng = Rng::with_seed(1);
    for _ in 0..5000 {
        let program = asserting(any_expression(&mut rng, 4));
        let text = program.to_string();
        let again = parse(&text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
        assert_eq!(shape(&again), shape(&program), "{text}");
    }
}

#[test]
fn no_parentheses_are_printed_that_are_not_needed() {
    for text in [
        "1 - 2 - 3",
        "1 - (2 - 3)",
        "(x + 1) * 2",
        "x + 1 * 2",
        "!x == y",
        "!(x == y)",
        "-(-1)",
        "x < 1 || y < 2 && z",
        "(x || y) && z",
        "a[x + 1] % 2",
        "2 * *r",
    ] {
        let source = format!("proc main() {{\n  assert {text};\n}}\n");
        let program = parse(&source).expect("these are expressions");
        assert_eq!(program.to_string(), source);
    }
}

#[test]
fn a_negative_number_is_printed_as_an_expression_of_the_same_value() {
    let int = |value| Box::new(Expr::new(ExprKind::Int(value)));
    let twice = |value| ExprKind::Binary(BinaryOperator::Multiply, int(value), int(2));
    let negated = |value| ExprKind::Unary(UnaryOperator::Negate, int(value));
    for (value, text) in [
        (ExprKind::Int(-5), "-5"),
        (twice(-5), "-5 * 2"),
        (negated(-5), "-(-5)"),
        // Its positive counterpart does not fit in 64 bits.
        (ExprKind::Int(i64::MIN), "-9223372036854775807 - 1"),
        (twice(i64::MIN), "(-9223372036854775807 - 1) * 2"),
    ] {
        assert_eq!(Expr::new(value).to_string(), text);
    }
}

#[test]
fn every_statement_reads_back_as_it_was_printed() {
    let source = "\
shared x = 1;
shared a[3];
promise p;
lock l;
sem s = 2;
event e;

proc work(n, c) {
  *c = n;
  return;
}

proc main() {
  let r = alloc;
  let q = promise;
  let f = future {
    q.set;
  };
  f.get;
  if x == 1 {
    skip;
  } else if x {
    a[x + 1] = 2;
  } else {
    call work(1, r);
  }
  while x < 2 {
    isolated {
      x = x + 1;
    }
  }
  for i in 0..x + 1 {
    finish {
      async {
        s.p;
        s.v;
      }
      async work(i, r);
    }
  }
  fork t {
    acquire l;
    e.post;
    release l;
  }
  e.wait;
  e.clear;
  join t;
  assert !x;
  p.set;
  while x {}
}
";
    let program = parse(source).expect("the program is sound");
    assert_eq!(program.to_string(), source);
}

#[test]
fn every_random_program_is_accepted_and_reads_back_as_it_was_written() {
    for family in Family::ALL {
        for program in random_programs(&family.recipe()) {
            read(&program);
            let text = program.to_string();
            let again = parse(&text).expect("it was just read");
            assert_eq!(shape(&again), shape(&program), "{text}");
        }
    }
}

#[test]
fn the_seed_decides_the_program() {
    for family in Family::ALL {
        let recipe = family.recipe();
        let write = |seed| programs::program(&recipe, &mut Rng::with_seed(seed));
        assert_eq!(write(5), write(5));
        assert!((0..20).any(|seed| write(seed) != write(5)));
    }
}

#[test]
fn the_least_recipe_gives_a_program_too() {
    let recipe = Recipe {
        strands: 1,
        size: 0..=0,
        statements: 0,
        depth: 0,
        variables: 0,
        array: 0,
        ..Family::Everything.recipe()
    };
    for program in random_programs(&recipe) {
        let run = read(&program).run(&deadheat_lang::Schedule::DepthFirst, 10_000);
        let run = run.expect("the schedule names no strands");
        assert_eq!(run.execution.names.strands.len(), 1, "{program}");
    }
}

#[test]
fn no_program_has_more_strands_than_its_recipe_says() {
    for family in Family::ALL {
        let mut recipe = family.recipe();
        for strands in 1..=5 {
            recipe.strands = strands;
            for program in random_programs(&recipe) {
                let run = read(&program).run(&deadheat_lang::Schedule::Random(3), 10_000);
                let run = run.expect("the schedule names no strands");
                let started = run.execution.names.strands.len();
                assert!(started <= strands as usize, "{started} strands: {program}");
            }
        }
    }
}

#[test]
fn each_family_uses_its_constructs_and_no_others() {
    use Construct::*;
    for (family, own) in [
        (Family::AsyncFinish, vec![Async, Finish]),
        (Family::Promises, vec![Async, Finish, Future, Promise]),
        (Family::Isolated, vec![Async, Finish, Isolated]),
        (Family::Locks, vec![Lock, Semaphore, Event, Fork]),
        (Family::SharedControl, vec![Async, Finish]),
        (
            Family::Everything,
            vec![
                Async, Finish, Future, Promise, Isolated, Lock, Semaphore, Event, Fork,
            ],
        ),
    ] {
        let mut used = Vec::new();
        let mut text = String::new();
        for program in random_programs(&family.recipe()) {
            used.extend_from_slice(read(&program).constructs());
            text += &program.to_string();
        }
        used.sort();
        used.dedup();
        assert_eq!(used, own, "{family:?}");
        for word in ["if ", "else", "for ", "call ", "return", "assert "] {
            assert!(text.contains(word), "{family:?} has no `{word}`");
        }
        let cells = matches!(family, Family::Promises | Family::Everything);
        assert_eq!(text.contains("alloc"), cells, "{family:?}");
    }
}

#[test]
fn about_half_of_each_family_races_and_little_of_it_goes_wrong_otherwise() {
    for family in Family::ALL {
        let (mut racy, mut blocked, mut failing) = (0, 0, 0);
        for program in random_programs(&family.recipe()) {
            let found = explore(&program);
            racy += u64::from(!found.races.is_empty());
            blocked += u64::from(found.deadlock.is_some());
            failing += u64::from(!found.errors.is_empty());
        }
        let share = |count| count * 100 / PROGRAMS;
        assert!((35..=65).contains(&share(racy)), "{family:?}: {racy}");
        assert!(share(blocked) < 20, "{family:?}: {blocked}");
        assert!(share(failing) < 10, "{family:?}: {failing}");
    }
}

fn without_faults(family: Family) -> Recipe {
    Recipe {
        racy: 0,
        deadlocks: 0,
        errors: 0,
        spins: 0,
        ..family.recipe()
    }
}

#[test]
fn a_program_without_faults_has_none_in_any_schedule() {
    for family in Family::ALL {
        for program in random_programs(&without_faults(family)) {
            let found = explore(&program);
            assert!(found.is_complete(), "{program}");
            assert_eq!(found.racy_locations(), [""; 0], "{program}");
            assert!(found.deadlock.is_none(), "{program}");
            assert!(found.errors.is_empty(), "{program}");
        }
    }
}

#[test]
fn faults_of_one_kind_bring_no_others() {
    for family in Family::ALL {
        let none = without_faults(family);
        let careless = Recipe {
            racy: 100,
            ..none.clone()
        };
        for program in random_programs(&careless) {
            let found = explore(&program);
            assert!(found.is_complete(), "{program}");
            assert!(found.deadlock.is_none(), "{program}");
            assert!(found.errors.is_empty(), "{program}");
        }
        let stuck = Recipe {
            deadlocks: 100,
            ..none
        };
        for program in random_programs(&stuck) {
            let found = explore(&program);
            assert_eq!(found.racy_locations(), [""; 0], "{program}");
            assert!(found.errors.is_empty(), "{program}");
        }
    }
}

#[test]
fn without_shared_control_every_schedule_does_the_same_events() {
    for family in [Family::AsyncFinish, Family::Promises, Family::Isolated] {
        let recipe = Recipe {
            deadlocks: 0,
            errors: 0,
            ..family.recipe()
        };
        for program in random_programs(&recipe) {
            let program = read(&program);
            let events = |seed| {
                let schedule = deadheat_lang::Schedule::Random(seed);
                let run = program.run(&schedule, 10_000).expect("it names no strands");
                let names = &run.execution.names;
                let mut events: Vec<(String, String)> = Vec::new();
                for event in &run.execution.events {
                    let position = names.position(event.site());
                    let strand = names.strand(event.strand()).into_owned();
                    events.push((strand, format!("{position:?}")));
                }
                events.sort();
                events
            };
            assert_eq!(events(1), events(2));
        }
    }
}

#[test]
fn shrinking_finds_the_core_of_a_race() {
    let source = "\
shared x;
shared y = 1;
promise p;
lock l;

proc work(n) {
  if n == 2 {
    y = y + 1;
  } else {
    x = x + n * 2;
  }
}

proc main() {
  let a = y;
  finish {
    async {
      for i in 0..2 {
        acquire l;
        y = i;
        release l;
      }
      p.set;
      async work(a + 2);
    }
    let b = x;
    p.get;
  }
  y = 2;
}
";
    let program = parse(source).expect("the program is sound");
    let races_on_x = |program: &Program| explore(program).racy_locations() == ["x"];
    assert!(races_on_x(&program));
    let smallest = shrink(&program, races_on_x);
    let expected = "\
shared x;

proc main() {
  async {
    x = 0;
  }
  let b = x;
}
";
    assert_eq!(smallest.to_string(), expected);
}

#[test]
fn shrinking_gives_sound_programs_that_still_fail_and_never_grow() {
    let recipe = Family::Everything.recipe();
    for program in random_programs(&recipe).take(60) {
        let races = |program: &Program| !explore(program).races.is_empty();
        if races(&program) {
            let smallest = shrink(&program, races);
            assert!(races(&smallest), "{smallest}");
            assert!(smallest.to_string().len() <= program.to_string().len());
            assert!(smallest.to_string().lines().count() <= 12, "{smallest}");
            assert_eq!(shrink(&smallest, races), smallest);
        }
    }
}

#[test]
fn shrinking_keeps_a_program_that_never_fails() {
    let program = parse("shared x; proc main() { x = 1; }").expect("the program is sound");
    assert_eq!(shrink(&program, |_| false), program);
}
