//! A very racy trace: threads access variables drawn at random, at places drawn at random, and one access in
//! twenty is inside a section of a lock drawn at random. Some 25,000 pairs of places race by happens-before, and
//! five times as many by prediction; hardly an access is at a place that its variable has seen before. And the same
//! with few variables, each of which is accessed at nearly every place.

use std::error::Error;

use deadheat_model::{Event, Execution, Location, Lock, Op, ReadKind, Site, Strand};
use fastrand::Rng;

use crate::traces::{self, Pass};

const EVENTS: usize = 3_000_000;
const THREADS: u32 = 8;
const VARIABLES: u64 = 50_000;
const PLACES: u32 = 4_000;
const LOCKS: u64 = 10;
const IN_SECTIONS: f64 = 0.045;

/// How long a trace is in which so many variables are accessed again and again.
const HOT_EVENTS: usize = 300_000;
const HOT_VARIABLES: [u64; 2] = [20, 1];

/// The trace, of about so many events, with so many variables.
fn trace(events: usize, variables: u64) -> Execution {
    let mut rng = Rng::with_seed(1);
    let mut trace = Execution::default();
    trace.names.strands = vec![String::new(); THREADS as usize];
    trace.names.locations = vec![String::new(); variables as usize];
    trace.names.locks = vec![String::new(); LOCKS as usize];
    trace.names.sites = (0..PLACES).map(|place| place.to_string()).collect();
    for child in 1..THREADS {
        let fork = Op::Fork(Strand(child));
        trace.events.push(Event::new(Strand::MAIN, fork, Site(0)));
    }
    while trace.events.len() < events {
        let strand = Strand(rng.u32(..THREADS));
        let location = Location(rng.u64(..variables));
        let access = match rng.bool() {
            true => Op::Read(location, ReadKind::Control),
            false => Op::Write(location),
        };
        let mut push = |op, place| trace.events.push(Event::new(strand, op, Site(place)));
        let place = rng.u32(..PLACES);
        if rng.f64() < IN_SECTIONS {
            let lock = Lock(rng.u64(..LOCKS));
            push(Op::Acquire(lock), rng.u32(..PLACES));
            push(access, place);
            push(Op::Release(lock), rng.u32(..PLACES));
        } else {
            push(access, place);
        }
    }
    trace
}

/// Prints the tables.
pub fn print() -> Result<(), Box<dyn Error>> {
    print_one(trace(EVENTS, VARIABLES))?;
    for variables in HOT_VARIABLES {
        print_one(trace(HOT_EVENTS, variables))?;
    }
    Ok(())
}

fn print_one(trace: Execution) -> Result<(), Box<dyn Error>> {
    println!(
        "\nA very racy trace of {} events; variables: {}",
        trace.events.len(),
        trace.names.locations.len()
    );
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("trace.dht");
    deadheat_trace::save(&path, &trace)?;
    // DC looks for a witness of each of its suspects in turn: that takes longer than anybody waits.
    let passes = Pass::all().filter(|pass| pass.name() != "dc");
    traces::print_passes(passes, &path, trace.events.len() as f64, 2)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use deadheat_model::Site;
    use deadheat_offline::threads::shb;
    use deadheat_offline::{Engine, Options, Recording, m2};

    use super::*;

    fn places(engine: &Engine, trace: &Execution) -> (BTreeSet<(Site, Site)>, bool) {
        let found = engine.ask(Recording::InMemory(trace), &Options::default());
        let found = found.unwrap();
        let places = found.races.iter().map(|shown| shown.race.places());
        (places.collect(), found.exhaustive)
    }

    /// M2 shows all races of a very racy trace, those of the recorded order among them.
    #[test]
    fn all_races_of_a_very_racy_trace_are_shown() {
        let trace = trace(300_000, VARIABLES);
        let (recorded, _) = places(&shb::ENGINE, &trace);
        let (predicted, all) = places(&m2::ENGINE, &trace);
        assert!(all);
        assert!(recorded.len() > 1_000 && recorded.is_subset(&predicted));
        assert!(predicted.len() > 2 * recorded.len());
    }

    /// Also those of variables that are accessed at very many places, of which each is ordered with all but the nearest.
    #[test]
    fn all_races_of_hot_variables_are_shown() {
        let trace = trace(40_000, 4);
        let (recorded, _) = places(&shb::ENGINE, &trace);
        let (predicted, all) = places(&m2::ENGINE, &trace);
        assert!(all);
        assert!(recorded.len() > 10_000 && recorded.is_subset(&predicted));
    }
}
