//! What the constructs of the language mean when every schedule is looked at.

use deadheat_explore::{Exploration, ExploreOptions};
use deadheat_lang::Program;

fn explore(source: &str) -> Exploration {
    let program = Program::parse(source).unwrap_or_else(|error| panic!("{error}"));
    let exploration = deadheat_explore::explore(&program, &ExploreOptions::default(), |_| {});
    assert!(exploration.is_complete());
    exploration
}

#[test]
fn return_inside_finish_waits_and_inside_isolated_leaves() {
    let source = "shared x;
        proc f() { finish { async { x = 1; } return; } }
        proc g() { isolated { x = x + 1; return; } }
        proc main() { call f(); x = 2; call g(); finish { async g(); async g(); } x = x + 1; }";
    let exploration = explore(source);
    assert!(exploration.races.is_empty(), "{:?}", exploration.races);
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

/// What happens after an access need not happen after the next one at the same place. Waiting in a
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
