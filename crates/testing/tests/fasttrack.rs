//! FastTrack and its clocks against the definition: all pairs of accesses, happens-before as a closure.

use deadheat_model::Strand;
use deadheat_online::fasttrack::{self, Kind, Record, Step};
use deadheat_online::mark::{self, InPlace, Mark};
use deadheat_online::timeline::{Channel, Timeline};
use deadheat_order::Time;
use deadheat_testing::Trials;

const WORDS: usize = 2;
const VARIABLES: usize = 2;

#[derive(Clone, Copy, Debug)]
enum Op {
    Access {
        from: usize,
        size: usize,
        kind: Kind,
    },
    Load {
        variable: usize,
        acquire: bool,
    },
    Store {
        variable: usize,
        release: bool,
    },
    Update {
        variable: usize,
        acquire: bool,
        release: bool,
    },
    Fence {
        acquire: bool,
        release: bool,
    },
    Lock(usize),
    Unlock(usize),
    Fork(usize),
    Join(usize),
}

/// A run: who did what, in this order.
fn random_run(rng: &mut fastrand::Rng) -> Vec<(usize, Op)> {
    let threads = rng.usize(2..6);
    let mut started = vec![false; threads];
    let mut ended = vec![false; threads];
    started[0] = true;
    let mut holder: [Option<usize>; 2] = [None; 2];
    let mut run = Vec::new();
    let length = rng.usize(5..60);
    let few_fences = rng.bool();
    while run.len() < length {
        let alive: Vec<_> = (0..threads).filter(|&t| started[t] && !ended[t]).collect();
        let thread = alive[rng.usize(..alive.len())];
        let variable = rng.usize(..VARIABLES);
        let op = match rng.u32(..20) {
            0..8 => {
                let size = 1 << rng.usize(..4);
                let from = rng.usize(..WORDS * 8 / size) * size;
                let kind = Kind {
                    write: rng.bool(),
                    atomic: rng.u32(..4) == 0,
                };
                Op::Access { from, size, kind }
            }
            8..10 => Op::Load {
                variable,
                acquire: rng.bool(),
            },
            10..12 => Op::Store {
                variable,
                release: rng.bool(),
            },
            12..14 => Op::Update {
                variable,
                acquire: rng.bool(),
                release: rng.bool(),
            },
            14 if few_fences => continue,
            14 => Op::Fence {
                acquire: rng.bool(),
                release: rng.bool(),
            },
            15 | 16 => {
                let lock = rng.usize(..2);
                match holder[lock] {
                    None => {
                        holder[lock] = Some(thread);
                        Op::Lock(lock)
                    }
                    Some(who) if who == thread => {
                        holder[lock] = None;
                        Op::Unlock(lock)
                    }
                    Some(_) => continue,
                }
            }
            17 | 18 => match (0..threads).find(|&t| !started[t]) {
                Some(child) => {
                    started[child] = true;
                    Op::Fork(child)
                }
                None => continue,
            },
            _ => match (1..threads).find(|&t| started[t] && !ended[t] && t != thread) {
                Some(child) if holder.iter().all(|who| *who != Some(child)) => {
                    ended[child] = true;
                    Op::Join(child)
                }
                _ => continue,
            },
        };
        run.push((thread, op));
    }
    run
}

/// Happens-before by its definition: edges, and their closure.
struct Order(Vec<Vec<bool>>);

impl Order {
    fn of(run: &[(usize, Op)]) -> Order {
        let n = run.len();
        let mut before = vec![vec![false; n]; n];
        for (i, &(thread, op)) in run.iter().enumerate() {
            // Program order, creation, locks: every earlier event that this one follows directly.
            for (j, &(other, earlier)) in run[..i].iter().enumerate() {
                let direct = other == thread
                    || matches!(earlier, Op::Fork(child) if child == thread)
                    || matches!(op, Op::Join(child) if child == other)
                    || matches!((earlier, op), (Op::Fork(a), Op::Join(b)) if a == b)
                    || matches!((earlier, op), (Op::Unlock(a), Op::Lock(b)) if a == b);
                before[j][i] |= direct;
            }
            let variable = match op {
                Op::Load { variable, .. } | Op::Update { variable, .. } => variable,
                _ => continue,
            };
            let acquires = matches!(
                op,
                Op::Load { acquire: true, .. } | Op::Update { acquire: true, .. }
            );
            // Whom this read makes wait: itself if it acquires, and the next acquire fences.
            let fences = (i + 1..n).filter(|&k| {
                run[k].0 == thread && matches!(run[k].1, Op::Fence { acquire: true, .. })
            });
            let targets: Vec<usize> = acquires.then_some(i).into_iter().chain(fences).collect();
            for source in sources(run, i, variable) {
                for &target in &targets {
                    before[source][target] = true;
                }
            }
        }
        for k in 0..n {
            for i in 0..n {
                if before[i][k] {
                    let row = before[k].clone();
                    before[i]
                        .iter_mut()
                        .zip(row)
                        .for_each(|(mine, theirs)| *mine |= theirs);
                }
            }
        }
        Order(before)
    }
}

/// The releases, stores or fences, whose release sequences the last store before `read` belongs to.
fn sources(run: &[(usize, Op)], read: usize, wanted: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let writes: Vec<(usize, usize, bool, bool)> = run[..read]
        .iter()
        .enumerate()
        .filter_map(|(i, &(thread, op))| match op {
            Op::Store { variable, release } if variable == wanted => {
                Some((i, thread, release, false))
            }
            Op::Update {
                variable, release, ..
            } if variable == wanted => Some((i, thread, release, true)),
            _ => None,
        })
        .collect();
    for position in (0..writes.len()).rev() {
        let (event, thread, release, update) = writes[position];
        if release {
            found.push(event);
        }
        let fence = (0..event)
            .rev()
            .find(|&k| run[k].0 == thread && matches!(run[k].1, Op::Fence { release: true, .. }));
        found.extend(fence);
        // A release store replaces; a relaxed one too, unless its thread released last.
        let released_last = writes[..position]
            .iter()
            .rev()
            .find(|earlier| earlier.2)
            .is_some_and(|earlier| {
                let since = writes[..position]
                    .iter()
                    .rev()
                    .take_while(|w| w.0 > earlier.0);
                let unbroken = since.into_iter().all(|w| w.3 || w.1 == earlier.1);
                earlier.1 == thread && unbroken
            });
        if !update && (release || !released_last) {
            break;
        }
    }
    found
}

/// The bytes that race, by the definition.
fn racy_by_definition(run: &[(usize, Op)]) -> Vec<bool> {
    let order = Order::of(run);
    let mut racy = vec![false; WORDS * 8];
    for (j, &(_, second)) in run.iter().enumerate() {
        for (i, &(_, first)) in run[..j].iter().enumerate() {
            let (
                Op::Access {
                    from: f1,
                    size: s1,
                    kind: k1,
                },
                Op::Access {
                    from: f2,
                    size: s2,
                    kind: k2,
                },
            ) = (first, second)
            else {
                continue;
            };
            if (k1.write || k2.write) && !(k1.atomic && k2.atomic) && !order.0[i][j] {
                (f1.max(f2)..(f1 + s1).min(f2 + s2)).for_each(|byte| racy[byte] = true);
            }
        }
    }
    racy
}

/// What is known of a word: in two marks as long as they can say it, or as a history.
#[derive(Clone, Debug)]
enum Word {
    Marks([Mark; 2]),
    History(Vec<Record>),
}

impl Word {
    /// Notes an access, and which bytes race. Whether anything is new.
    fn access(
        &mut self,
        access: Record,
        line: &Timeline,
        racy: &mut [bool],
        in_place: bool,
    ) -> bool {
        if let (Word::Marks(marks), true) = (&mut *self, in_place) {
            let seen = |mark: Mark| {
                let record = record_of(mark);
                record.time() <= line.clock().get(record.slot())
            };
            match mark::step(*marks, mark_of(&access), seen) {
                InPlace::Same => return false,
                InPlace::Becomes(next) => {
                    *marks = next;
                    return true;
                }
                InPlace::Rare => (),
            }
        }
        let history = match self {
            Word::Marks(marks) => {
                let marks = marks.iter().filter(|mark| !mark.is_none());
                let mut history: Vec<Record> = marks.copied().map(record_of).collect();
                fasttrack::end(&mut history);
                history
            }
            Word::History(history) => history.clone(),
        };
        let mut next = vec![Record::default(); history.len() + 1];
        let step = fasttrack::step(&history, access, line.clock(), &mut next, |earlier| {
            let common = earlier.mask() & access.mask();
            let raced = (0..8).filter(|byte| common >> byte & 1 == 1);
            raced.for_each(|byte| racy[byte] = true);
        });
        let Step::Changed(length) = step else {
            return false;
        };
        next.truncate(length);
        assert!(next.iter().position(Record::is_last) == Some(length - 1));
        assert!(next.iter().all(|record| record.mask() != 0));
        *self = match &next[..] {
            [one] if in_place => Word::Marks([mark_of(one), Mark::NONE]),
            [one, other] if in_place => Word::Marks([mark_of(one), mark_of(other)]),
            _ => Word::History(next),
        };
        true
    }
}

/// In these runs a slot's alias is its number, one higher, from time 0 on.
fn mark_of(record: &Record) -> Mark {
    let epoch = Mark::epoch(record.slot().0 as u8 + 1, record.time());
    Mark::new(epoch, record.kind(), record.mask(), record.origin as u32)
}

fn record_of(mark: Mark) -> Record {
    let (slot, time): (Strand, Time) = (Strand(u32::from(mark.alias()) - 1), mark.time());
    Record::new(slot, time, mark.kind(), mark.mask(), mark.origin().into())
}

/// The bytes that race, by the engine, where words keep marks or by histories alone. With `shared` slots, a thread that is
/// started takes over the slot of one that its creator knows to have ended.
fn racy_by_engine(run: &[(usize, Op)], shared: bool, in_place: bool) -> Vec<bool> {
    let mut lines: Vec<Option<Timeline>> = (0..6).map(|_| None).collect();
    lines[0] = Some(Timeline::new(Strand(0), 0));
    let mut slots = 1;
    let mut free: Vec<(u32, u32)> = Vec::new();
    let mut variables: [Channel; VARIABLES] = Default::default();
    let mut locks: [Channel; 2] = Default::default();
    let mut words = vec![Word::Marks([Mark::NONE; 2]); WORDS];
    let mut racy = vec![false; WORDS * 8];
    for &(thread, op) in run {
        let mut line = lines[thread].take().unwrap();
        match op {
            Op::Access { from, size, kind } => {
                let mask = (((1u32 << size) - 1) << (from % 8)) as u8;
                let access = Record::new(line.slot(), line.now(), kind, mask, thread as u64);
                let bytes = &mut racy[from / 8 * 8..][..8];
                if words[from / 8].access(access, &line, bytes, in_place) {
                    line.record();
                }
            }
            Op::Load {
                variable,
                acquire: true,
            } => variables[variable].acquire(&mut line),
            Op::Load {
                variable,
                acquire: false,
            } => variables[variable].peek(&mut line),
            Op::Store {
                variable,
                release: true,
            } => variables[variable].release(&mut line),
            Op::Store {
                variable,
                release: false,
            } => variables[variable].relaxed_store(&line),
            Op::Update {
                variable,
                acquire,
                release,
            } => {
                match acquire {
                    true => variables[variable].acquire(&mut line),
                    false => variables[variable].peek(&mut line),
                }
                match release {
                    true => variables[variable].release_more(&mut line),
                    false => variables[variable].relaxed_update(&line),
                }
            }
            Op::Fence { acquire, release } => line.fence(acquire, release),
            Op::Lock(lock) => locks[lock].acquire(&mut line),
            Op::Unlock(lock) => locks[lock].release(&mut line),
            Op::Fork(child) => {
                let clock = line.publish().clone();
                let known = |&(slot, last): &(u32, u32)| shared && clock.get(Strand(slot)) >= last;
                let place = free.iter().position(known);
                let mut new = match place.map(|place| free.swap_remove(place)) {
                    Some((slot, last)) => Timeline::new(Strand(slot), last),
                    None => {
                        slots += 1;
                        Timeline::new(Strand(slots - 1), 0)
                    }
                };
                new.learn(&clock);
                lines[child] = Some(new);
            }
            Op::Join(child) => {
                let mut ended = lines[child].take().unwrap();
                line.learn(ended.publish());
                free.push((ended.slot().0, ended.last()));
            }
        }
        lines[thread] = Some(line);
    }
    racy
}

#[test]
fn a_byte_is_reported_exactly_if_it_races() {
    let trials = Trials::new(41, 30_000);
    let mut races = 0;
    for trial in &trials {
        let run = random_run(&mut trial.rng());
        let definition = racy_by_definition(&run);
        for (shared, in_place) in [(false, false), (false, true), (true, false), (true, true)] {
            let engine = racy_by_engine(&run, shared, in_place);
            assert!(
                engine == definition,
                "shared slots: {shared}, in place: {in_place}: {engine:?}, not {definition:?}:\n{}",
                listing(&run)
            );
        }
        races += u64::from(definition.contains(&true));
    }
    let count = trials.count();
    trials.expect(races > count / 20 && races < count, races);
}

fn listing(run: &[(usize, Op)]) -> String {
    run.iter()
        .map(|(thread, op)| format!("{thread} {op:?}\n"))
        .collect()
}
