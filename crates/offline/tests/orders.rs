//! Every order of sections, against every schedule.

use std::collections::BTreeSet;

use deadheat_lang::{ExploreOptions, Program, Schedule};
use deadheat_model::Construct;
use deadheat_offline::orders::{Orders, all_orders};
use deadheat_offline::{graph, zipper};
use deadheat_testing::programs::{Tasks, on_programs_of_tasks};

fn orders_of(program: &Program) -> Orders {
    all_orders(program, 10_000, 1_000, |_| {}).unwrap()
}

fn racy_locations(orders: &Orders) -> BTreeSet<String> {
    let races = orders.races.iter();
    races.map(|race| race.location.to_string()).collect()
}

#[test]
fn all_orders_find_a_race_if_some_schedule_has_one() {
    let (mut compared, mut racy, mut visited, mut equal) = (0u64, 0u64, 0u64, 0u64);
    let trials = on_programs_of_tasks(21, Tasks::SmallSections, |program| {
        let options = ExploreOptions {
            max_states: 20_000,
            ..Default::default()
        };
        let exploration = program.explore(&options, |_| {});
        if !exploration.complete {
            return None;
        }
        let orders = orders_of(program);
        // Programs that can fail and set promises are left open.
        let open =
            !exploration.errors.is_empty() && program.constructs().contains(&Construct::Promise);
        if !orders.complete {
            return (!open).then(|| "not all orders visited".to_string());
        }
        compared += 1;
        visited += orders.visited;
        let (found, truth) = (racy_locations(&orders), exploration.racy_locations());
        let truth: BTreeSet<String> = truth.into_iter().collect();
        racy += u64::from(!truth.is_empty());
        equal += u64::from(found == truth);
        let agrees = found.is_empty() == truth.is_empty() && found.is_subset(&truth);
        (!agrees).then(|| format!("{found:?}, explored {truth:?}, {} orders", orders.visited))
    });
    println!("{compared} compared, {racy} racy, {equal} with the same locations, {visited} orders");
    trials.expect(racy > compared / 10 && racy < compared * 9 / 10, racy);
    trials.expect(equal > compared * 95 / 100, equal);
}

#[test]
fn each_race_has_a_schedule_that_shows_it() {
    let mut shown = 0u64;
    let trials = on_programs_of_tasks(22, Tasks::SmallSections, |program| {
        for race in orders_of(program).races {
            shown += 1;
            let schedule = Schedule::Recorded(race.schedule.clone());
            let run = program.run(&schedule, 10_000).unwrap();
            let races = graph::check(&run.execution).races;
            let names = &run.execution.names;
            let has_it = races.iter().any(|found| {
                names.location(found.location) == race.location
                    && found.first.site == race.first.site
                    && found.second.site == race.second.site
            });
            if !has_it {
                return Some(format!("{race:?}"));
            }
        }
        None
    });
    trials.expect(shown > 0, shown);
}

/// Twelve tasks with a section each, three of which touch the same variable.
#[test]
fn sections_that_share_nothing_are_not_permuted() {
    let mut source = String::from("shared a[12]; shared x;\nproc main() {\n  finish {\n");
    for task in 0..12 {
        let what = match task {
            2 | 5 | 9 => "x = x + 1".to_string(),
            _ => format!("a[{task}] = 1"),
        };
        source += &format!("    async {{ isolated {{ {what}; }} }}\n");
    }
    source += "  }\n}\n";
    let program = Program::parse(&source).unwrap();
    let orders = orders_of(&program);
    assert!(orders.complete && orders.races.is_empty());
    assert_eq!(orders.visited, 6);
}

/// Two sections that share no data still order what surrounds them: one order's graph is not enough.
#[test]
fn a_race_that_one_order_hides_is_found() {
    let source = "shared x;
proc main() {
  async { x = 1; isolated { skip; } }
  isolated { skip; }
  let v = x;
}";
    let program = Program::parse(source).unwrap();
    let run = program.run(&Schedule::DepthFirst, 1000).unwrap();
    assert!(graph::check(&run.execution).races.is_empty());
    let orders = orders_of(&program);
    assert_eq!((orders.visited, orders.complete), (1, true));
    assert_eq!(orders.races.len(), 1);
    // In the order that shows it, main's section is first.
    assert_eq!(orders.races[0].order, ["main"]);
}

/// Programs that a wrong turn in the search misses the race of.
#[test]
fn the_order_that_shows_the_race_is_reached() {
    // The same sections in the same order of classes, but another one of them writes.
    let same_names = "shared a; shared x;
proc main() {
  async { isolated { if x == 0 { a = 0; } } }
  async { isolated { if a { skip; } } x = 1; }
}";
    // main's section must come first, though it has nothing to do with the two that are reversed.
    let independent = "shared a; shared x;
proc main() {
  async { isolated { if a == 0 { x = 0; } } }
  async { isolated { a = 1; } }
  isolated { x = 0; }
  x = 0;
}";
    // Whoever fails inside a section keeps all others out.
    let failing = "shared x; shared y;
proc main() {
  async { isolated { x = 0 / y; } }
  isolated { y = 1; }
  x = 0;
}";
    // The task's section must come before the one in the middle of which it is waited for.
    let waited_for = "shared x; promise p;
proc main() {
  async { isolated { skip; } p.get; let v = x; }
  isolated { p.set; x = 0; }
}";
    for source in [same_names, independent, failing, waited_for] {
        let program = Program::parse(source).unwrap();
        let orders = orders_of(&program);
        assert!(orders.complete, "{source}");
        let racy = racy_locations(&orders);
        assert_eq!(racy, BTreeSet::from(["x".to_string()]), "{source}");
    }
}

/// zipper, Figure 2: the two sections do not commute, and no order of them has a race.
#[test]
fn sections_that_do_not_commute_are_tried_in_both_orders() {
    let source = "shared x; shared a;
proc main() {
  finish {
    async { isolated { if !a { x = 1; } } }
    isolated { a = 1; }
    let y = x;
  }
}";
    let orders = orders_of(&Program::parse(source).unwrap());
    assert_eq!((orders.visited, orders.complete), (2, true));
    assert!(orders.races.is_empty());
}

#[test]
fn a_bound_on_orders_is_kept_and_told() {
    let tasks = "async { isolated { x = x + 1; } } ".repeat(6);
    let program = Program::parse(&format!("shared x; proc main() {{ {tasks} }}")).unwrap();
    let orders = all_orders(&program, 10_000, 10, |_| {}).unwrap();
    assert_eq!((orders.visited, orders.complete), (10, false));
    let orders = all_orders(&program, 10_000, 1_000, |_| {}).unwrap();
    assert_eq!((orders.visited, orders.complete), (720, true));
}

/// Others can wait for a promise that is set in the middle of a section: what comes behind the set is
/// still inside, and not before the get.
#[test]
fn a_section_stays_one_if_a_promise_is_set_inside() {
    let inside = "shared z; promise p;
proc main() {
  fork h { isolated { p.set; z = 0; } }
  async { isolated { z = 1; } }
}";
    let behind = "shared z; promise p;
proc main() {
  async { isolated { p.set; z = 0; } }
  p.get;
  let v = z;
}";
    let entering = "shared z; promise p;
proc main() {
  async { isolated { p.set; z = 0; } }
  p.get;
  isolated { skip; }
  let v = z;
}";
    for (source, races) in [(inside, 0), (behind, 1), (entering, 0)] {
        let program = Program::parse(source).unwrap();
        let exploration = program.explore(&ExploreOptions::default(), |_| {});
        assert_eq!(exploration.races.len(), races, "{source}");
        let orders = orders_of(&program);
        assert!(orders.complete, "{source}");
        assert_eq!(orders.races.len(), races, "{source}");
        for schedule in [
            Schedule::DepthFirst,
            Schedule::Random(1),
            Schedule::Random(2),
        ] {
            let run = program.run(&schedule, 1000).unwrap();
            for engine in [&zipper::ENGINE, &graph::ENGINE] {
                let found = engine.check(&run.execution).unwrap().races.len();
                assert_eq!(found, races, "{engine:?}, {schedule:?}: {source}");
            }
        }
    }
}

/// Which of two sets comes first is no matter of sections.
#[test]
fn a_promise_that_can_be_set_twice_leaves_the_answer_open() {
    let source = "shared x; promise p;
proc main() {
  async { x = 1; p.set; }
  async { p.set; }
  p.get;
  let a = x;
  isolated { skip; }
}";
    let orders = orders_of(&Program::parse(source).unwrap());
    assert!(!orders.complete);
}
