//! The protocol of SPD3's cell (`src/spd3.md`), and the tree that it asks.

use deadheat_model::{AccessKind, Location};
use deadheat_online::spd3::{Cell, Worker};
use deadheat_order::{Place, Tree};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

/// One location of a program.
struct World {
    tree: Tree,
    cell: Cell,
    reports: AtomicUsize,
}

impl World {
    fn new() -> Arc<World> {
        Arc::new(World {
            tree: Tree::new(),
            cell: Cell::default(),
            reports: AtomicUsize::new(0),
        })
    }

    fn access(&self, place: &Place, kind: AccessKind) {
        // A worker of its own each time: remembering is not what is tested.
        let (step, location) = (place.step(), Location(1));
        let report = |_| {
            self.reports.fetch_add(1, Ordering::Relaxed);
        };
        Worker::default().access(&self.tree, step, location, kind, || &self.cell, report);
    }

    fn read(&self, place: &Place) {
        self.access(place, AccessKind::Read);
    }

    fn write(&self, place: &Place) {
        self.access(place, AccessKind::Write);
    }

    /// How many races have been reported, once all threads have been joined.
    fn reports(&self) -> usize {
        self.reports.load(Ordering::Relaxed)
    }
}

/// Runs some tasks of one `finish` at the same time.
fn in_parallel(world: &Arc<World>, main: &mut Place, tasks: &[fn(&World, &mut Place)]) {
    world.tree.begin_finish(main).unwrap();
    let threads: Vec<_> = tasks
        .iter()
        .map(|&task| {
            let mut place = world.tree.spawn(main).unwrap();
            let world = world.clone();
            thread::spawn(move || task(&world, &mut place))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    world.tree.end_finish(main);
}

#[test]
fn a_read_and_a_write() {
    loom::model(|| {
        let world = World::new();
        let mut main = world.tree.root().unwrap();
        in_parallel(&world, &mut main, &[|w, p| w.read(p), |w, p| w.write(p)]);
        assert!(world.reports() >= 1);
    });
}

#[test]
fn two_writes() {
    loom::model(|| {
        let world = World::new();
        let mut main = world.tree.root().unwrap();
        in_parallel(&world, &mut main, &[|w, p| w.write(p), |w, p| w.write(p)]);
        assert_eq!(world.reports(), 1);
    });
}

/// Either reader may be the one that is seen, but one is.
#[test]
fn two_reads_and_a_write_behind_one_of_them() {
    loom::model(|| {
        let world = World::new();
        let mut main = world.tree.root().unwrap();
        in_parallel(
            &world,
            &mut main,
            &[
                |w, p| w.read(p),
                |w, p| {
                    w.read(p);
                    w.write(p);
                },
            ],
        );
        assert!(world.reports() >= 1);
    });
}

/// A task that was started before a write reads when two readers behind the write already cover it:
/// it tells nobody, and still sees the write.
#[test]
fn a_covered_read_and_a_write() {
    loom::model(|| {
        let world = World::new();
        let mut main = world.tree.root().unwrap();
        let early = world.tree.spawn(&mut main).unwrap();
        let other = world.clone();
        let thread = thread::spawn(move || other.read(&early));
        world.write(&main);
        for _ in 0..2 {
            let place = world.tree.spawn(&mut main).unwrap();
            world.read(&place);
        }
        thread.join().unwrap();
        assert!(world.reports() >= 1);
    });
}

/// The readers change while a writer looks: whatever it sees, the location is reported.
#[test]
fn readers_that_replace_each_other_and_a_write() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let world = World::new();
        let mut main = world.tree.root().unwrap();
        // Inside one task: its readers meet below where the others are met.
        in_parallel(
            &world,
            &mut main,
            &[
                |w, p| {
                    let inner = w.tree.spawn(p).unwrap();
                    w.read(&inner);
                    w.read(p);
                },
                |w, p| w.read(p),
                |w, p| w.write(p),
            ],
        );
        assert!(world.reports() >= 1);
    });
}

/// What the program orders, nobody reports.
#[test]
fn accesses_that_are_ordered() {
    loom::model(|| {
        let world = World::new();
        let mut main = world.tree.root().unwrap();
        world.write(&main);
        in_parallel(&world, &mut main, &[|w, p| w.read(p), |w, p| w.read(p)]);
        world.write(&main);
        assert_eq!(world.reports(), 0);
    });
}

/// Tasks that add to the tree at the same time see each other's nodes whole.
#[test]
fn tasks_that_grow_the_tree_at_once() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let world = World::new();
        let mut main = world.tree.root().unwrap();
        let task: fn(&World, &mut Place) = |w, p| {
            w.tree.begin_finish(p).unwrap();
            let child = w.tree.spawn(p).unwrap();
            w.write(&child);
            w.tree.end_finish(p);
        };
        in_parallel(&world, &mut main, &[task, task]);
        // The two children are parallel, and each comes before what follows its own finish.
        assert_eq!(world.reports(), 1);
        world.write(&main);
        assert_eq!(world.reports(), 1);
    });
}
