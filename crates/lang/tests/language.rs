//! The language means what its page says.

use deadheat_lang::LocationName;
use deadheat_lang::{
    Ending, ErrorKind, Exploration, ExploreOptions, Program, RecordedSchedule, Run, Schedule, Value,
};
use deadheat_model::{Event, Op, ReadKind};

fn program(source: &str) -> Program {
    Program::parse(source).unwrap_or_else(|error| panic!("{error}\n{source}"))
}

fn run(source: &str) -> Run {
    program(source)
        .run(&Schedule::DepthFirst, 1_000_000)
        .unwrap()
}

fn explore(source: &str) -> Exploration {
    let exploration = program(source).explore(&ExploreOptions::default(), |_| {});
    assert!(exploration.complete);
    exploration
}

/// The accesses of a run in their order: who, what, where to.
fn accesses(run: &Run) -> String {
    let names = &run.execution.names;
    let text = |event: &Event| {
        let who = names.strand(event.strand());
        match event.op() {
            Op::Read(x, ReadKind::Data) => Some(format!("{who} reads {}", names.location(x))),
            Op::Read(x, ReadKind::Control) => Some(format!("{who} tests {}", names.location(x))),
            Op::Write(x) => Some(format!("{who} writes {}", names.location(x))),
            _ => None,
        }
    };
    let texts: Vec<String> = run.execution.events.iter().filter_map(text).collect();
    texts.join(", ")
}

/// What a variable holds at the end.
fn value(run: &Run, name: &str) -> Value {
    let name = LocationName::Variable(name.to_string());
    run.memory.get(&name).copied().unwrap_or(Value::Int(0))
}

fn error(source: &str) -> (ErrorKind, u32, u32) {
    let run = run(source);
    let Ending::Error(error) = run.ending else {
        panic!("{:?}", run.ending);
    };
    let position = run.execution.names.position(error.site).unwrap();
    (error.kind, position.line, position.column)
}

#[test]
fn reads_happen_from_left_to_right_and_a_store_writes_last() {
    let source = "shared x; shared y; shared a[3];
        proc main() { a[y] = x + a[x] * y; }";
    assert_eq!(
        accesses(&run(source)),
        "main reads x, main tests x, main reads a[0], main reads y, main tests y, main writes a[0]"
    );
}

#[test]
fn and_and_or_stop_when_the_left_decides() {
    let source = "shared x; shared y; shared z;
        proc main() { let a = x && y; let b = !x || y; z = (a == 0) + (b == 1) + (5 && 7); }";
    let run = run(source);
    assert_eq!(accesses(&run), "main reads x, main reads x, main writes z");
    assert_eq!(value(&run, "z"), Value::Int(3));
}

#[test]
fn operators_bind_as_in_c_and_integers_wrap() {
    let check = |expression: &str, expected: i64| {
        let run = run(&format!("shared x; proc main() {{ x = {expression}; }}"));
        assert_eq!(value(&run, "x"), Value::Int(expected), "{expression}");
    };
    check("1 + 2 * 3 - 4", 3);
    check("10 - 3 - 2", 5);
    check("7 % 4 * 2", 6);
    check("1 + 1 == 2 && 3 < 4", 1);
    check("1 || 0 && 0", 1);
    check("!0 + !5", 1);
    check("-7 / 2", -3);
    check("-7 % 2", -1);
    check("1 < 2 == 1", 1);
    check("2 >= 3 != 1", 1);
    check("9223372036854775807 + 1", i64::MIN);
    check("(-9223372036854775807 - 1) / -1", i64::MIN);
    check("(-9223372036854775807 - 1) % -1", 0);
    check("9223372036854775807 * 2", -2);
}

#[test]
fn a_value_that_reaches_a_decision_makes_its_reads_control_reads() {
    let decided = |statement: &str| {
        let source = format!(
            "shared x; shared y; shared a[2];
             proc f(p) {{ if p {{ }} }}
             proc g(p) {{ y = p; }}
             proc main() {{ {statement} }}"
        );
        accesses(&run(&source)).contains("tests x")
    };
    for statement in [
        "if x { }",
        "while x { }",
        "for i in x..0 { }",
        "for i in 0..x { }",
        "y = a[x];",
        "a[x] = 1;",
        "let v = x; let w = v + 1; if w == 5 { }",
        "let v = x; async { if v { } }",
        "call f(x);",
        "let v = x; async f(v * 2);",
    ] {
        assert!(decided(statement), "{statement}");
    }
    for statement in [
        "let v = x;",
        "y = x;",
        "call g(x);",
        "assert x == 0;",
        "let v = x; y = v;",
    ] {
        assert!(!decided(statement), "{statement}");
    }
}

#[test]
fn a_task_sees_the_names_bound_so_far() {
    let source = "shared x;
        proc main() {
          let a = 1;
          finish { async { let b = a + 1; async { x = a + b; } } }
          let c = x;
          if c == 3 { let a = 10; x = x + a; }
          x = x + a;
        }";
    assert_eq!(value(&run(source), "x"), Value::Int(14));
}

#[test]
fn loops_and_procedures_compute() {
    let source = "shared x;
        proc add(n, twice) { x = x + n; if twice { call add(n, 0); } }
        proc main() {
          for i in 1..4 { call add(i, i == 2); }
          while x < 20 { x = x * 2; }
          for i in 5..5 { x = 0; }
        }";
    // 1 + 2 + 2 + 3 = 8, 16, 32.
    assert_eq!(value(&run(source), "x"), Value::Int(32));
}

#[test]
fn return_ends_the_procedure_the_task_or_the_thread() {
    let source = "shared x; shared y;
        proc f() { x = x + 1; return; x = 100; }
        proc main() {
          call f();
          finish { async { x = x + 10; return; x = 100; } }
          finish { async f(); }
          fork t { y = 1; return; y = 2; }
          join t;
          return;
          x = 100;
        }";
    let run = run(source);
    assert_eq!(run.ending, Ending::Finished);
    assert_eq!(
        (value(&run, "x"), value(&run, "y")),
        (Value::Int(12), Value::Int(1))
    );
}

/// A strand gives others a turn in the middle of a long computation, wherever that is.
#[test]
fn a_turn_can_end_before_any_instruction() {
    for bound in 33_325..33_340 {
        let source = format!(
            "shared x;
             proc f() {{ let a = 1; for i in 0..{bound} {{ skip; }} }}
             proc main() {{ finish {{ async f(); call f(); async {{ x = 2; }} }} assert x == 3; }}"
        );
        assert_eq!(error(&source).0, ErrorKind::AssertionFailed, "{bound}");
    }
}

#[test]
fn return_inside_finish_waits_and_inside_isolated_leaves() {
    let source = "shared x;
        proc f() { finish { async { x = 1; } return; } }
        proc g() { isolated { x = x + 1; return; } }
        proc main() { call f(); x = 2; call g(); finish { async g(); async g(); } x = x + 1; }";
    let exploration = explore(source);
    assert!(exploration.races.is_empty(), "{:?}", exploration.races);
    assert_eq!(value(&run(source), "x"), Value::Int(6));
}

/// drdp-ecoop23, 4.2: a task that blocks gives way to its parent; whoever can go on again does so
/// before the task that let it.
#[test]
fn depth_first_switches_as_the_paper_does() {
    let source = "shared x; promise p; promise q;
        proc main() {
          async { p.get; x = 1; q.get; x = 2; }
          async { x = 3; p.set; x = 4; }
          x = 5;
          q.set;
          x = 6;
        }";
    assert_eq!(
        accesses(&run(source)),
        "main/2 writes x, main/1 writes x, main writes x, main/1 writes x, main writes x, \
         main/2 writes x"
    );
}

#[test]
fn a_join_waits_for_the_thread_alone_and_a_finish_does_not_wait_for_threads() {
    let joined = "shared x; proc main() { fork t { async { x = 1; } } join t; x = 2; }";
    assert_eq!(explore(joined).racy_locations(), ["x"]);
    let finished =
        "shared x; proc main() { fork t { finish { async { x = 1; } } } join t; x = 2; }";
    assert!(explore(finished).races.is_empty());
    let not_joined = "shared x; proc main() { finish { fork t { x = 1; } } x = 2; }";
    assert_eq!(explore(not_joined).racy_locations(), ["x"]);
}

#[test]
fn handles_can_be_passed_and_stored() {
    let source = "shared box; promise p; lock l;
        proc signal(q, k) { acquire k; release k; q.set; }
        proc main() {
          let r = alloc;
          async signal(p, l);
          box = r;
          let s = box;
          *s = 7;
          p.get;
          assert *r == 7;
          assert s == r;
          assert s != 7;
          *box = 8;
          assert *box == 8;
          box = p;
          box.get;
        }";
    assert_eq!(run(source).ending, Ending::Finished);
}

#[test]
fn errors_point_at_the_source() {
    let cases = [
        (
            "shared x; proc main() {\n  x = 1 / x;\n}",
            ErrorKind::DivisionByZero,
            2,
            11,
        ),
        (
            "shared x; proc main() {\n  x = 1 % 0;\n}",
            ErrorKind::DivisionByZero,
            2,
            11,
        ),
        (
            "shared a[2]; proc main() {\n  a[2] = 1;\n}",
            ErrorKind::IndexOutOfRange {
                index: 2,
                length: 2,
            },
            2,
            5,
        ),
        (
            "shared a[2]; proc main() {\n  let v = a[0 - 1];\n}",
            ErrorKind::IndexOutOfRange {
                index: -1,
                length: 2,
            },
            2,
            13,
        ),
        (
            "proc main() {\n  let v = 1; *v = 2;\n}",
            ErrorKind::Unfit {
                wanted: "a cell",
                found: "a number",
            },
            2,
            15,
        ),
        (
            "proc main() {\n  let v = 1; v.get;\n}",
            ErrorKind::Unfit {
                wanted: "a promise or a future",
                found: "a number",
            },
            2,
            14,
        ),
        (
            "promise p; proc main() {\n  let v = p + 1;\n}",
            ErrorKind::Unfit {
                wanted: "a number",
                found: "a promise",
            },
            2,
            11,
        ),
        (
            "proc main() {\n  assert 1 == 2;\n}",
            ErrorKind::AssertionFailed,
            2,
            10,
        ),
        (
            "lock l; proc main() {\n  l.get;\n}",
            ErrorKind::Unfit {
                wanted: "a promise or a future",
                found: "a lock",
            },
            2,
            3,
        ),
        (
            "shared x = 3; proc main() {\n  let v = *x;\n}",
            ErrorKind::Unfit {
                wanted: "a cell",
                found: "a number",
            },
            2,
            12,
        ),
        (
            "lock l; proc main() {\n  acquire l; acquire l;\n}",
            ErrorKind::AcquiredTwice { lock: "l".into() },
            2,
            14,
        ),
        (
            "lock l; proc main() {\n  release l;\n}",
            ErrorKind::ReleasedNotHeld { lock: "l".into() },
            2,
            3,
        ),
        (
            "proc f() {\n  call f();\n}\nproc main() { call f(); }",
            ErrorKind::CallsTooDeep,
            2,
            3,
        ),
    ];
    for (source, kind, line, column) in cases {
        assert_eq!(error(source), (kind, line, column), "{source}");
    }
    let (kind, line, _) = error("promise p; proc main() {\n  p.set;\n  p.set;\n}");
    assert!(matches!(kind, ErrorKind::SetTwice { .. }));
    assert_eq!(line, 3);
}

#[test]
fn cells_are_named_by_line_and_count() {
    let source = "proc f(mine) {\n  let r = alloc;\n  if mine { async { *r = 1; } *r = 2; }\n}
        proc main() { async f(1); async f(0); }";
    // Which of the two cells of line 2 is the first depends on the schedule.
    assert_eq!(explore(source).racy_locations(), ["alloc@2#1", "alloc@2#2"]);
}

#[test]
fn the_order_of_tokens_and_posts_shows_in_the_graph() {
    let tokens = "sem s; proc main() { async { s.v; s.p; } s.v; }";
    assert_eq!(explore(tokens).deterministic, Some(false));
    let posts = "event e; proc main() {
        fork a { e.post; } fork b { e.post; } join a; join b; e.wait; }";
    assert_eq!(explore(posts).deterministic, Some(false));
    let posts_of_one = "event e; promise p; proc main() {
        fork a { e.post; p.get; e.post; } fork b { e.clear; p.set; } join a; join b; e.wait; }";
    assert_eq!(explore(posts_of_one).deterministic, Some(false));
    let sections = "lock l; proc main() { async { acquire l; release l; } acquire l; release l; }";
    assert_eq!(explore(sections).deterministic, Some(false));
    let isolated = "proc main() { async { isolated { } } isolated { } }";
    assert_eq!(explore(isolated).deterministic, Some(false));
}

#[test]
fn initial_tokens_come_first_and_order_nothing() {
    let one = "shared x; sem s = 1; proc main() { async { x = 1; s.v; } s.p; x = 2; }";
    assert_eq!(explore(one).racy_locations(), ["x"]);
    let none = "shared x; sem s; proc main() { async { x = 1; s.v; } s.p; x = 2; }";
    assert!(explore(none).races.is_empty());
}

#[test]
fn a_wait_comes_behind_the_post_that_turned_the_event_on() {
    let cleared = "shared x; event e; proc main() {
        e.post; e.clear; async { x = 1; e.post; } e.wait; x = 2; }";
    assert!(explore(cleared).races.is_empty());
    let still_on = "shared x; event e; proc main() {
        e.post; async { x = 1; e.post; } e.wait; x = 2; }";
    assert_eq!(explore(still_on).racy_locations(), ["x"]);
}

#[test]
fn what_cannot_stand_in_isolated_is_refused() {
    let setup =
        "shared x; promise p; lock l; sem s; event e; proc f() { p.get; } proc g() { call f(); }";
    for statement in [
        "async { }",
        "async g();",
        "finish { }",
        "p.get;",
        "acquire l;",
        "s.p;",
        "e.wait;",
        "fork t { }",
        "let h = future { };",
        "call g();",
        "if x { while x { p.get; } }",
    ] {
        let source = format!("{setup} proc main() {{ isolated {{ {statement} }} }}");
        let error = Program::parse(&source).expect_err(statement);
        assert!(
            error.to_string().contains("isolated"),
            "{statement}: {error}"
        );
    }
    for statement in [
        "p.set;",
        "release l;",
        "s.v;",
        "e.post;",
        "e.clear;",
        "isolated { }",
        "x = 1;",
    ] {
        let source = format!("{setup} proc main() {{ isolated {{ {statement} }} }}");
        assert!(Program::parse(&source).is_ok(), "{statement}");
    }
}

#[test]
fn a_spin_loop_is_explored_to_the_end() {
    let source = "shared flag; shared x;
        proc main() { async { x = 1; flag = 1; } while flag == 0 { } let v = x; }";
    let exploration = explore(source);
    assert_eq!(exploration.racy_locations(), ["flag", "x"]);
    assert!(exploration.endless);
    assert_eq!(exploration.deterministic, Some(false));
}

#[test]
fn a_loop_that_comes_back_to_where_it_was_is_seen_to() {
    let source = "shared x; lock l;
        proc main() { async { while x == 0 { finish { acquire l; release l; } } } x = 0; }";
    let exploration = explore(source);
    assert!(
        exploration.endless && exploration.states < 1000,
        "{}",
        exploration.states
    );
}

#[test]
fn a_strand_that_spins_does_not_hide_the_others() {
    let source = "shared x; shared y;
        proc main() { async { while 1 { y = 0; } } async { x = 1; } async { x = 2; } }";
    assert_eq!(explore(source).racy_locations(), ["x"]);
}

/// Whoever waits for a lock can go on once its holder does, and then come first: `a` must not be
/// let go first just because `b` cannot move yet.
#[test]
fn a_strand_that_waits_for_a_lock_is_not_put_off() {
    let source = "shared x; shared y; shared z; shared w; lock l;
        proc main() {
          acquire l;
          fork a { x = 1; }
          fork b { acquire l; if x == 0 { y = 1; } }
          fork c { y = 2; }
          fork d { if z == 0 { w = 1; } }
          z = 1;
          release l;
        }";
    assert_eq!(explore(source).racy_locations(), ["x", "y", "z"]);
}

/// Who is ordered behind an access need not be behind the next one at the same place. Waiting in a
/// loop makes that one come first in every schedule, and orders nothing.
#[test]
fn knowing_an_access_is_not_knowing_the_next_at_its_place() {
    let source = "shared x; shared flag; promise p;
        proc main() {
          async { for i in 0..2 { x = 1; if i == 0 { p.set; } } flag = 1; }
          p.get;
          while flag == 0 { }
          let v = x;
        }";
    assert_eq!(explore(source).racy_locations(), ["flag", "x"]);
}

/// The index is computed on two paths, one of which ends with a constant.
#[test]
fn an_index_that_is_a_conjunction_is_not_taken_for_a_constant() {
    let source = "shared x = 1; shared a[2]; shared z;
        proc main() {
          async { if a[1] == 1 { z = 1; } }
          async { a[x && x] = 1; }
          async { z = 2; }
        }";
    assert_eq!(explore(source).racy_locations(), ["a[1]", "z"]);
}

#[test]
fn a_schedule_that_cannot_be_followed_says_where() {
    let program = program("promise p; proc main() { async { p.set; } p.get; }");
    let follow = |text: &str| {
        let recorded: RecordedSchedule = text.parse().unwrap();
        program
            .run(&Schedule::Recorded(recorded), 100)
            .map(|run| run.ending)
    };
    assert_eq!(follow("main\nmain/1\nmain"), Ok(Ending::Finished));
    assert_eq!(follow("main 2").unwrap_err().line, 1);
    assert_eq!(
        follow("main\nmain/1 2\nmain/1").unwrap_err().why,
        "has already ended"
    );
}
