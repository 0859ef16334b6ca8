//! General races of small programs, and a search for them that is stopped.

use std::time::{Duration, Instant};

use deadheat_explain::general::{Certainty, general_races};
use deadheat_lang::{DEFAULT_MAX_STEPS, Program, Schedule};
use deadheat_model::{Event, Execution, Flag, Op, Site, StopReason, StopToken, Strand};

fn run(source: &str, seed: u64) -> Option<Execution> {
    let program = Program::parse(source).ok()?;
    let run = program
        .run(&Schedule::Random(seed), DEFAULT_MAX_STEPS)
        .ok()?;
    (run.execution.events.len() <= 40).then_some(run.execution)
}

/// Figure 4.1 without its bug: the sections exclude each other, in an order that is left to chance.
#[test]
fn two_critical_sections_are_a_general_race_and_no_data_race() {
    let source = "shared x; lock l; proc main() { fork t { acquire l; x = 1; release l; }
        acquire l; x = 2; release l; }";
    let execution = run(source, 1).unwrap();
    let found = general_races(&execution, &Default::default(), true, Default::default()).unwrap();
    assert_eq!(found.races.len(), 1);
    assert_eq!(found.races[0].certainty, Certainty::Certain);
    assert!(found.exact);
    // With a join between them there is none.
    let source = "shared x; lock l; proc main() { fork t { acquire l; x = 1; release l; }
        join t; acquire l; x = 2; release l; }";
    let execution = run(source, 1).unwrap();
    let found = general_races(&execution, &Default::default(), true, Default::default()).unwrap();
    assert!(found.races.is_empty() && found.exact);
}

/// A wait is compared with all posts by all that the first of them knows of: here 1,572 times 1,572 times 500. That takes
/// longer than it may.
#[test]
fn the_search_for_general_races_ends_in_time() {
    let mut execution = Execution::default();
    let (joined, posts) = (500, 1572);
    execution.names.strands = vec![String::new(); joined + 2 * posts + 1];
    execution.names.flags = vec!["e".to_string()];
    let mut push = |strand, op| {
        let event = Event::new(Strand(strand as u32), op, Site(0));
        execution.events.push(event);
    };
    for child in 1..=joined {
        push(0, Op::Fork(Strand(child as u32)));
        push(child, Op::Branch);
        push(0, Op::Join(Strand(child as u32)));
    }
    push(0, Op::Post(Flag(0)));
    for other in 1..=posts {
        push(joined + other, Op::Post(Flag(0)));
    }
    for other in 1..=posts {
        push(joined + posts + other, Op::Wait(Flag(0)));
    }
    let start = Instant::now();
    let stop = StopToken::default().or_after(Duration::from_millis(200));
    let found = general_races(&execution, &Default::default(), true, stop).unwrap();
    let took = start.elapsed();
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert_eq!(found.stopped, Some(StopReason::TimeUp));
    assert!(!found.exact);
}
