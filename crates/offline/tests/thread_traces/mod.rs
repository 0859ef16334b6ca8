//! Small traces of threads, random or written down.

// Each test uses some of it.
#![allow(dead_code)]

use deadheat_model::{Event, Execution, Location, Lock, Names, Op, ReadKind, Site, Strand};

/// How many random traces to try.
pub fn how_many() -> u64 {
    let given = std::env::var("DEADHEAT_PROGRAMS").ok();
    given.and_then(|n| n.parse().ok()).unwrap_or(4000)
}

/// A trace from lines such as `1 acq l`, `1 w x`, `2 r y`, `1 rel l`, `1 fork 2`, `1 join 2`, `1 end`: the
/// strand, what it does, to what. Strands are numbered from 0, other things in the order of their names.
pub fn trace(text: &str) -> Execution {
    let mut locks: Vec<&str> = Vec::new();
    let mut locations: Vec<&str> = Vec::new();
    let mut events = Vec::new();
    let mut strands = 0;
    fn number<'a>(names: &mut Vec<&'a str>, name: &'a str) -> u64 {
        let known = names.iter().position(|known| *known == name);
        known.unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        }) as u64
    }
    for (line, site) in text.lines().zip(1..) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (&[strand, word], object) = words.split_at(2) else {
            panic!("line {site}: {line}");
        };
        let strand = Strand(strand.parse().unwrap());
        let object = object.first().copied().unwrap_or("");
        let other = || Strand(object.parse().unwrap());
        let op = match word {
            "r" => Op::Read(Location(number(&mut locations, object)), ReadKind::Data),
            "w" => Op::Write(Location(number(&mut locations, object))),
            "acq" => Op::Acquire(Lock(number(&mut locks, object))),
            "rel" => Op::Release(Lock(number(&mut locks, object))),
            "sacq" => Op::AcquireShared(Lock(number(&mut locks, object))),
            "srel" => Op::ReleaseShared(Lock(number(&mut locks, object))),
            "fork" => Op::Fork(other()),
            "join" => Op::Join(other()),
            "end" => Op::End,
            "arrive" => Op::BarrierArrive(deadheat_model::Barrier(0)),
            "leave" => Op::BarrierLeave(deadheat_model::Barrier(0)),
            "v" => Op::V(deadheat_model::Semaphore(0)),
            "p" => Op::P(deadheat_model::Semaphore(0)),
            "post" => Op::Post(deadheat_model::Flag(0)),
            "wait" => Op::Wait(deadheat_model::Flag(0)),
            _ => panic!("line {site}: {line}"),
        };
        if let Op::Fork(other) | Op::Join(other) = op {
            strands = strands.max(other.0 + 1);
        }
        strands = strands.max(strand.0 + 1);
        events.push(Event::new(strand, op, Site(site)));
    }
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
    Execution {
        events,
        names: Names {
            strands: vec![String::new(); strands as usize],
            locks: names(&locks),
            locations: names(&locations),
            ..Names::default()
        },
    }
}

/// A random trace that some program can have produced: locks nested and often taken, forks, joins.
pub fn random_trace(seed: u64, longest: usize) -> Execution {
    let mut rng = fastrand::Rng::with_seed(seed);
    // Two strands that nest two locks: what one knows of the other's sections everybody knows.
    let pair = rng.u32(..8) == 0;
    let strands = if pair { 2 } else { rng.usize(2..=5) };
    let locks = if pair { 2 } else { rng.usize(1..=4) };
    let locations = rng.u64(1..=4);
    let depth = if pair { 2 } else { rng.usize(1..=3) };
    let length = rng.usize(4..=longest);
    let forks = rng.u32(..3) > 0;
    // How often, of all that a strand can do.
    let (taking, giving, odd) = (rng.u32(10..45), rng.u32(20..50), rng.u32(2..25));
    #[derive(Clone, PartialEq)]
    enum Life {
        ToBeForked,
        Running,
        Over,
    }
    let mut lives: Vec<Life> = (0..strands)
        .map(|strand| match strand > 0 && forks && rng.bool() {
            true => Life::ToBeForked,
            false => Life::Running,
        })
        .collect();
    let mut held: Vec<Vec<usize>> = vec![Vec::new(); strands];
    let mut joined = vec![false; strands];
    let mut events = Vec::new();
    let mut tries = 0;
    // Runs of events by one strand make sections that are whole more likely.
    let mut strand = 0;
    while events.len() < length && tries < 1000 {
        tries += 1;
        if rng.u32(..5) < 2 {
            strand = rng.usize(..strands);
        }
        if lives[strand] != Life::Running {
            strand = rng.usize(..strands);
            continue;
        }
        let dice = rng.u32(..100);
        let op = if dice < odd {
            let other = rng.usize(..strands);
            match (&lives[other], rng.u32(..8)) {
                (Life::ToBeForked, _) => {
                    lives[other] = Life::Running;
                    Op::Fork(Strand(other as u32))
                }
                (Life::Over, _) if !joined[other] => {
                    joined[other] = true;
                    Op::Join(Strand(other as u32))
                }
                (Life::Running, 0 | 1) if strands > 2 && held[strand].is_empty() && forks => {
                    lives[strand] = Life::Over;
                    Op::End
                }
                _ => continue,
            }
        } else if dice < odd + taking {
            let lock = rng.usize(..locks);
            let mine = held[strand].contains(&lock);
            let taken = held.iter().any(|held| held.contains(&lock));
            if held[strand].len() >= depth || (taken && !(mine && rng.u32(..8) == 0)) {
                continue;
            }
            held[strand].push(lock);
            Op::Acquire(Lock(lock as u64))
        } else if dice < odd + taking + giving && !held[strand].is_empty() {
            let at = match rng.u32(..6) {
                0 => rng.usize(..held[strand].len()),
                _ => held[strand].len() - 1,
            };
            Op::Release(Lock(held[strand].remove(at) as u64))
        } else {
            let location = Location(rng.u64(..locations));
            match rng.bool() {
                true => Op::Write(location),
                false => Op::Read(location, ReadKind::Data),
            }
        };
        let site = Site(events.len() as u32 + 1);
        events.push(Event::new(Strand(strand as u32), op, site));
    }
    Execution {
        events,
        names: Names {
            strands: vec![String::new(); strands],
            locks: vec![String::new(); locks],
            locations: vec![String::new(); locations as usize],
            ..Names::default()
        },
    }
}

/// The smallest trace found by leaving out events that still fails.
pub fn shrink(trace: &Execution, fails: impl Fn(&Execution) -> bool) -> Execution {
    let mut small = trace.clone();
    let mut width = small.events.len() / 2;
    while width > 0 {
        let mut at = 0;
        while at + width <= small.events.len() {
            let mut less = small.clone();
            less.events.drain(at..at + width);
            match fails(&less) {
                true => small = less,
                false => at += 1,
            }
        }
        width = if width > 2 { width / 2 } else { width - 1 };
    }
    small
}

pub fn shown(trace: &Execution) -> String {
    let lines = trace.events.iter().zip(1..);
    let lines = lines.map(|(event, number)| format!("{number:3} {event:?}\n"));
    lines.collect()
}
