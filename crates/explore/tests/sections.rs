//! Every order of sections, against every schedule.

mod replay;

use deadheat_explore::{
    Exploration, ExploreOptions, Gap, News, SectionOptions, explore, explore_sections,
};
use deadheat_lang::{Program, Schedule};
use deadheat_model::{Construct, StopToken};
use deadheat_offline::{graph, zipper};
use deadheat_testing::programs::{Tasks, on_programs_of_tasks};

use replay::Replays;

fn orders_of(program: &Program) -> Exploration {
    up_to(program, 1_000)
}

fn up_to(program: &Program, max_orders: u64) -> Exploration {
    let options = SectionOptions {
        max_steps: 10_000,
        max_orders,
        stop: StopToken::default(),
    };
    explore_sections(program, &options, |_| {}).unwrap()
}

#[test]
fn all_orders_find_a_race_if_some_schedule_has_one() {
    let (mut compared, mut racy, mut visited, mut equal) = (0u64, 0u64, 0u64, 0u64);
    let trials = on_programs_of_tasks(21, Tasks::SmallSections, |program| {
        let options = ExploreOptions {
            max_states: 20_000,
            ..Default::default()
        };
        let exploration = explore(program, &options, |_| {});
        if !exploration.is_complete() {
            return None;
        }
        let orders = orders_of(program);
        // Programs that can fail and set promises are left open.
        let open =
            !exploration.errors.is_empty() && program.constructs().contains(&Construct::Promise);
        if !orders.is_complete() {
            return (!open).then(|| "not all orders visited".to_string());
        }
        compared += 1;
        visited += orders.schedules;
        let found = orders.racy_locations();
        let truth = exploration.racy_locations();
        racy += u64::from(!truth.is_empty());
        equal += u64::from(found == truth);
        let agrees =
            found.is_empty() == truth.is_empty() && found.iter().all(|x| truth.contains(x));
        (!agrees).then(|| format!("{found:?}, explored {truth:?}, {} orders", orders.schedules))
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

#[test]
fn deadlocks_and_errors_of_some_order_come_with_a_schedule_that_shows_them() {
    let mut replays = Replays::default();
    let trials = on_programs_of_tasks(23, Tasks::SmallSections, |program| {
        replays.replay(program, &orders_of(program))
    });
    println!("{replays:?}");
    let both = replays.deadlocks > 0 && replays.errors > 0;
    trials.expect(both, format!("{replays:?}"));
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
    assert!(orders.is_complete() && orders.races.is_empty());
    assert_eq!(orders.schedules, 6);
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
    assert_eq!((orders.schedules, orders.is_complete()), (1, true));
    assert_eq!(orders.races.len(), 1);
    // In the order that shows it, main's section is first.
    let race = &orders.races[0];
    let sections = race.sections.iter();
    let sections: Vec<&str> = sections.map(|s| orders.strand_name(*s)).collect();
    assert_eq!(sections, ["main"]);
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
        assert!(orders.is_complete(), "{source}");
        let racy = orders.racy_locations();
        assert_eq!(racy, ["x"], "{source}");
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
    assert_eq!((orders.schedules, orders.is_complete()), (2, true));
    assert!(orders.races.is_empty());
}

#[test]
fn a_bound_on_orders_is_kept_and_told() {
    let tasks = "async { isolated { x = x + 1; } } ".repeat(6);
    let program = Program::parse(&format!("shared x; proc main() {{ {tasks} }}")).unwrap();
    let orders = up_to(&program, 10);
    assert_eq!((orders.schedules, orders.gap), (10, Some(Gap::Orders)));
    let orders = up_to(&program, 1_000);
    assert_eq!((orders.schedules, orders.is_complete()), (720, true));
}

/// Others can wait for a promise that is set in the middle of a section: what comes after the set is
/// still inside, and not before the get.
#[test]
fn a_section_stays_one_if_a_promise_is_set_inside() {
    let inside = "shared z; promise p;
proc main() {
  fork h { isolated { p.set; z = 0; } }
  async { isolated { z = 1; } }
}";
    let after = "shared z; promise p;
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
    for (source, races) in [(inside, 0), (after, 1), (entering, 0)] {
        let program = Program::parse(source).unwrap();
        let exploration = explore(&program, &ExploreOptions::default(), |_| {});
        assert_eq!(exploration.races.len(), races, "{source}");
        let orders = orders_of(&program);
        assert!(orders.is_complete(), "{source}");
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
    assert_eq!(orders.gap, Some(Gap::Promises));
}

/// zipper, Figure 2: sections that do not commute. Taking them to commute reports a race that no
/// schedule has, which is why ESP-bags is not offered for programs with sections.
#[test]
fn esp_bags_reports_a_race_that_is_not_there_between_sections_that_do_not_commute() {
    let program = Program::parse(include_str!("../../../examples/zipper-fig2.tp")).unwrap();
    let run = program.run(&Schedule::DepthFirst, 1000).unwrap();
    let found = deadheat_offline::esp_bags::racy_locations(&run.execution);
    let names = found
        .iter()
        .map(|&x| run.execution.names.location(x).to_string());
    assert_eq!(names.collect::<Vec<_>>(), ["x"]);
    assert!(graph::check(&run.execution).races.is_empty());
    let exploration = explore(&program, &Default::default(), |_| {});
    assert!(exploration.is_complete() && exploration.races.is_empty());
    let refused = deadheat_offline::esp_bags::ENGINE
        .check(&run.execution)
        .unwrap_err()
        .to_string();
    assert!(refused.contains("cannot order `isolated`"), "{refused}");
    assert!(refused.contains("zipper can"), "{refused}");
}

/// What a search finds is told when it is found, once, and all of it.
#[test]
fn what_is_found_is_told_before_the_search_is_over() {
    let source = "shared x; shared y; lock l;
        proc main() {
          async { x = 1; }
          x = 2;
          async { if y == 3 { assert 0; } }
          for i in 0..4 { async { isolated { y = y + 1; } } }
        }";
    let program = Program::parse(source).unwrap();
    let mut told = Vec::new();
    let found = explore(&program, &ExploreOptions::default(), |progress| {
        told.extend(
            progress
                .news
                .iter()
                .map(|news| (progress.states, news.clone())),
        );
    });
    check_told(&told, found.states, &found);

    let source = source.replace(
        "if y == 3 { assert 0; }",
        "isolated { if y == 3 { assert 0; } }",
    );
    let program = Program::parse(&source).unwrap();
    let options = SectionOptions {
        max_steps: 10_000,
        max_orders: 1_000,
        stop: StopToken::default(),
    };
    let mut told = Vec::new();
    let found = explore_sections(&program, &options, |progress| {
        told.extend(
            progress
                .news
                .iter()
                .map(|news| (progress.visited, news.clone())),
        );
    });
    let found = found.unwrap();
    check_told(&told, found.schedules, &found);
}

fn check_told(told: &[(u64, News)], all: u64, found: &Exploration) {
    let mut races: Vec<&str> = Vec::new();
    let mut errors = Vec::new();
    for (_, news) in told {
        match news {
            News::Race { location, .. } => races.push(location),
            News::Error(error) => errors.push(error),
            News::Deadlock(_) => panic!("there is none"),
        }
    }
    assert!(told[0].0 < all / 2, "{} of {all}", told[0].0);
    assert_eq!(races.len(), found.races.len());
    assert!(
        found
            .races
            .iter()
            .all(|race| races.contains(&race.location.as_str()))
    );
    assert!(!errors.is_empty() && errors.len() == found.errors.len());
}
