//! Each structure against its naive twin, on random programs of tasks.

#![cfg(not(loom))]

use deadheat_order::{
    Bags, DisjointSets, Joins, Knowledge, Known, Member, ParallelBag, Place, Question, Search,
    Signal, Step, Traversal, Tree,
};
use fastrand::Rng;

/// The tree as the paper draws it: leaves are steps, inner nodes are `async`s and `finish`es.
#[derive(Default)]
struct DrawnTree {
    nodes: Vec<DrawnNode>,
}

struct DrawnNode {
    parent: Option<usize>,
    is_async: bool,
    children: usize,
    /// Which child of its parent it is.
    ordinal: usize,
}

impl DrawnTree {
    fn add(&mut self, parent: Option<usize>, is_async: bool) -> usize {
        let ordinal = parent.map_or(0, |parent| {
            self.nodes[parent].children += 1;
            self.nodes[parent].children
        });
        self.nodes.push(DrawnNode {
            parent,
            is_async,
            children: 0,
            ordinal,
        });
        self.nodes.len() - 1
    }

    /// From the root down.
    fn path(&self, node: usize) -> Vec<usize> {
        let mut path: Vec<usize> =
            std::iter::successors(Some(node), |&n| self.nodes[n].parent).collect();
        path.reverse();
        path
    }

    /// Whether two leaves are parallel, whether the first is the left one, how deep their lowest
    /// common ancestor is.
    fn relation(&self, a: usize, b: usize) -> (bool, bool, u32) {
        let (a, b) = (self.path(a), self.path(b));
        let common = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        let (a, b) = (a[common], b[common]);
        if common == 0 {
            return (true, a < b, 0);
        }
        let left = self.nodes[a].ordinal < self.nodes[b].ordinal;
        let leftmost = if left { a } else { b };
        (self.nodes[leftmost].is_async, left, common as u32 - 1)
    }
}

/// A task of a random program, in the tree and in its twins.
#[derive(Clone)]
struct Task {
    place: Place,
    knowledge: Knowledge,
    /// Its innermost scope in the drawn tree.
    scope: usize,
    /// Its finishes, innermost last, as indices; the first is the one that waits for it.
    finishes: Vec<usize>,
    /// Its step.
    step: usize,
    ended: bool,
}

/// A random program: tasks take turns at random.
struct World {
    rng: Rng,
    tree: Tree,
    joins: Joins,
    drawn: DrawnTree,
    tasks: Vec<Task>,
    finishes: Vec<Finish>,
    /// By step: its number, its leaf in the drawn tree, the steps before it, the time it began.
    steps: Vec<(Step, usize, Vec<bool>, u32)>,
    /// Set promises and ended tasks: the steps they stand for.
    signals: Vec<(Signal, usize)>,
}

struct Finish {
    owner: usize,
    running: usize,
    /// The last steps of the tasks in it, and what they had learnt.
    ends: Vec<usize>,
    learnt: Vec<Known>,
}

impl World {
    fn new(seed: u64) -> World {
        let mut world = World {
            rng: Rng::with_seed(seed),
            tree: Tree::new(),
            joins: Joins::new(),
            drawn: DrawnTree::default(),
            tasks: Vec::new(),
            finishes: Vec::new(),
            steps: Vec::new(),
            signals: Vec::new(),
        };
        let place = world.tree.root().unwrap();
        world.add_task(place, None, Knowledge::default(), Vec::new(), &[]);
        world
    }

    fn add_task(
        &mut self,
        place: Place,
        parent: Option<usize>,
        knowledge: Knowledge,
        finishes: Vec<usize>,
        behind: &[usize],
    ) {
        let scope = self.drawn.add(parent, parent.is_some());
        self.tasks.push(Task {
            place,
            knowledge,
            scope,
            finishes,
            step: 0,
            ended: false,
        });
        self.new_step(self.tasks.len() - 1, behind);
    }

    /// A task goes on in a new step, which comes behind some others.
    fn new_step(&mut self, task: usize, behind: &[usize]) {
        let leaf = self.drawn.add(Some(self.tasks[task].scope), false);
        let mut before = vec![false; self.steps.len()];
        for &step in behind {
            before[step] = true;
            for (b, also) in before.iter_mut().zip(&self.steps[step].2) {
                *b |= also;
            }
        }
        let number = self.tasks[task].place.step();
        self.tasks[task].step = self.steps.len();
        self.steps.push((number, leaf, before, self.joins.now()));
    }

    /// Some task that has not ended does something.
    fn act(&mut self, with_joins: bool) {
        let running: Vec<usize> = (0..self.tasks.len())
            .filter(|&task| !self.tasks[task].ended)
            .collect();
        let id = running[self.rng.usize(..running.len())];
        let mut task = self.tasks[id].clone();
        let step = task.step;
        match self.rng.u32(..if with_joins { 20 } else { 13 }) {
            // async
            0..5 => {
                let place = self.tree.spawn(&mut task.place).unwrap();
                let innermost = task.finishes.last().copied();
                if let Some(finish) = innermost {
                    self.finishes[finish].running += 1;
                }
                self.tasks[id] = task.clone();
                let inherited = task.knowledge.inherit();
                let finishes = innermost.into_iter().collect();
                self.add_task(place, Some(task.scope), inherited, finishes, &[step]);
                self.new_step(id, &[step]);
            }
            // finish
            5..7 => {
                self.tree.begin_finish(&mut task.place).unwrap();
                task.scope = self.drawn.add(Some(task.scope), false);
                task.finishes.push(self.finishes.len());
                self.finishes.push(Finish {
                    owner: id,
                    running: 0,
                    ends: Vec::new(),
                    learnt: Vec::new(),
                });
                self.tasks[id] = task;
                self.new_step(id, &[step]);
            }
            // end of finish, or of the task
            7..12 => match task.finishes.last() {
                Some(&finish) if self.finishes[finish].owner == id => {
                    if self.finishes[finish].running > 0 {
                        return;
                    }
                    task.finishes.pop();
                    self.tree.end_finish(&mut task.place);
                    task.scope = self.drawn.nodes[task.scope].parent.unwrap();
                    for &known in &self.finishes[finish].learnt {
                        self.joins.merge(&mut task.knowledge, known).unwrap();
                    }
                    self.tasks[id] = task;
                    let mut behind = self.finishes[finish].ends.clone();
                    behind.push(step);
                    self.new_step(id, &behind);
                }
                innermost if id != 0 => {
                    if let Some(&finish) = innermost {
                        let finish = &mut self.finishes[finish];
                        finish.running -= 1;
                        finish.ends.push(step);
                        if task.knowledge.has_grown() {
                            finish.learnt.push(task.knowledge.now);
                        }
                    }
                    let signal = Signal {
                        step: task.place.step(),
                        known: task.knowledge.now,
                    };
                    self.signals.push((signal, step));
                    self.tasks[id].ended = true;
                }
                _ => {}
            },
            // cut
            12 => {
                self.tree.cut(&mut task.place).unwrap();
                self.tasks[id] = task;
                self.new_step(id, &[step]);
            }
            // set
            13..15 => {
                let signal = Signal {
                    step: task.place.step(),
                    known: task.knowledge.now,
                };
                self.signals.push((signal, step));
                self.tree.cut(&mut task.place).unwrap();
                self.tasks[id] = task;
                self.new_step(id, &[step]);
            }
            // get
            15..19 if !self.signals.is_empty() => {
                let (signal, from) = self.signals[self.rng.usize(..self.signals.len())];
                self.joins.join(&mut task.knowledge, signal).unwrap();
                self.tree.cut(&mut task.place).unwrap();
                self.tasks[id] = task;
                self.new_step(id, &[step, from]);
            }
            // fork
            19 => {
                let signal = Signal {
                    step: task.place.step(),
                    known: task.knowledge.now,
                };
                let place = self.tree.root().unwrap();
                let mut knowledge = Knowledge::default();
                self.joins.join(&mut knowledge, signal).unwrap();
                self.add_task(place, None, knowledge, Vec::new(), &[step]);
                self.tree.cut(&mut task.place).unwrap();
                self.tasks[id] = task;
                self.new_step(id, &[step]);
            }
            _ => {}
        }
    }
}

#[test]
fn the_tree_says_what_the_drawn_tree_says() {
    let (mut parallel, mut ordered) = (0u64, 0u64);
    for seed in 0..400 {
        let mut world = World::new(seed);
        for _ in 0..60 {
            world.act(seed % 2 == 0);
        }
        for (i, a) in world.steps.iter().enumerate() {
            for b in &world.steps[..i] {
                for (a, b) in [(a, b), (b, a)] {
                    let expected = world.drawn.relation(a.1, b.1);
                    let found = world.tree.relation(a.0, b.0);
                    let found = (found.parallel, found.left, found.depth);
                    assert_eq!(found, expected, "seed {seed}: {:?} and {:?}", a.0, b.0);
                    parallel += u64::from(found.0);
                    ordered += u64::from(!found.0);
                }
            }
        }
    }
    assert!(parallel > 100_000 && ordered > 100_000);
}

#[test]
fn tree_and_joins_order_what_the_graph_orders() {
    let orders = [true, false].map(|breadth_first| {
        [true, false].map(|newest_first| Traversal {
            breadth_first,
            newest_first,
        })
    });
    let (mut by_joins, mut unordered, mut gathered) = (0u64, 0u64, 0u64);
    for seed in 0..150 {
        let mut world = World::new(seed);
        let mut searches = vec![Search::default()];
        searches.extend(orders.as_flattened().iter().map(|&o| Search::as_printed(o)));
        for _ in 0..80 {
            world.act(true);
            for task in world.tasks.iter().filter(|task| !task.ended) {
                let (number, _, before, _) = &world.steps[task.step];
                for (index, (step, _, _, since)) in world.steps.iter().enumerate() {
                    let expected = index == task.step || before.get(index) == Some(&true);
                    // Later steps cannot come before: only what is past is ever asked.
                    if index > task.step || world.tree.precedes(*step, *number) {
                        continue;
                    }
                    for search in &mut searches {
                        let question = Question {
                            step: *step,
                            since: *since,
                            milestone: Step::NONE,
                            known: task.knowledge.now,
                        };
                        let found = search.finds(&world.tree, &world.joins, question);
                        assert_eq!(found, expected, "seed {seed}: {step:?} and {number:?}");
                    }
                    // With what is known to come behind it, and may be on the way.
                    let behind = world
                        .steps
                        .iter()
                        .filter(|other| other.2.get(index) == Some(&true));
                    let milestone = behind
                        .map(|other| other.0)
                        .next_back()
                        .unwrap_or(Step::NONE);
                    let question = Question {
                        step: *step,
                        since: *since,
                        milestone,
                        known: task.knowledge.now,
                    };
                    let found = Search::default().finds(&world.tree, &world.joins, question);
                    assert_eq!(found, expected, "seed {seed}: {step:?} and {number:?}");
                    by_joins += u64::from(expected);
                    unordered += u64::from(!expected);
                }
            }
        }
        gathered += searches[0].gathered;
    }
    println!(
        "{by_joins} ordered by joins, {unordered} by nothing; frontiers from {gathered} joins"
    );
    assert!(by_joins > 10_000 && unordered > 10_000 && gathered > 10_000);
}

#[test]
fn what_is_kept_as_last_is_what_comes_before_nothing() {
    for seed in 0..200 {
        let mut world = World::new(seed);
        for _ in 0..60 {
            world.act(seed % 2 == 0);
        }
        let mut steps: Vec<Step> = world.steps.iter().map(|step| step.0).collect();
        world.rng.shuffle(&mut steps);
        steps.truncate(20);
        let tree = &world.tree;
        let comes_before = |a: &Step| steps.iter().any(|b| a != b && tree.precedes(*a, *b));
        let mut expected: Vec<Step> = steps.clone();
        expected.retain(|step| !comes_before(step));
        expected.sort();
        let mut found = steps.clone();
        found.extend_from_slice(&steps[..5]);
        tree.keep_last(&mut found, |&step| step);
        assert!(found.windows(2).all(|w| tree.relation(w[0], w[1]).left));
        found.sort();
        assert_eq!(found, expected, "seed {seed}");
    }
}

#[test]
fn ten_thousand_deep_is_as_exact() {
    let tree = Tree::new();
    let mut place = tree.root().unwrap();
    let mut rng = Rng::with_seed(1);
    // Down a path of asyncs and finishes, a step on either side of each.
    let mut steps = vec![(place.step(), 0, None)];
    for depth in 1..10_000u32 {
        let is_async = rng.bool();
        match is_async {
            true => {
                let child = tree.spawn(&mut place).unwrap();
                steps.push((place.step(), depth - 1, Some(is_async)));
                place = child;
            }
            false => tree.begin_finish(&mut place).unwrap(),
        }
        steps.push((place.step(), depth, None));
    }
    for _ in 0..200_000 {
        let a = steps[rng.usize(..steps.len())];
        let b = steps[rng.usize(..steps.len())];
        if a.0 == b.0 {
            continue;
        }
        let (upper, lower) = if a.1 <= b.1 { (a, b) } else { (b, a) };
        let relation = tree.relation(upper.0, lower.0);
        assert_eq!(relation.depth, upper.1);
        // A continuation is parallel to all that is deeper; what came before is not.
        let parallel = match upper.1 == lower.1 {
            true => false,
            false => upper.2 == Some(true),
        };
        assert_eq!(relation.parallel, parallel, "{upper:?} {lower:?}");
    }
}

#[test]
fn many_threads_add_to_one_tree() {
    let tree = Tree::new();
    let mut main = tree.root().unwrap();
    tree.begin_finish(&mut main).unwrap();
    let tasks: Vec<Place> = (0..4).map(|_| tree.spawn(&mut main).unwrap()).collect();
    let all: Vec<Vec<(Step, Step)>> = std::thread::scope(|scope| {
        let threads: Vec<_> = tasks
            .iter()
            .map(|&task| {
                let tree = &tree;
                scope.spawn(move || {
                    let mut task = task;
                    let each = (0..5_000).map(|_| {
                        let child = tree.spawn(&mut task).unwrap();
                        (child.step(), task.step())
                    });
                    each.collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    tree.end_finish(&mut main);
    for (i, steps) in all.iter().enumerate() {
        for pair in steps.windows(2) {
            let [(child, then), (next_child, next)] = [pair[0], pair[1]];
            assert!(tree.parallel(child, then) && tree.parallel(child, next_child));
            assert!(tree.precedes(then, next) && tree.precedes(then, next_child));
            assert!(tree.precedes(child, main.step()));
            let other = all[(i + 1) % all.len()][0];
            assert!(tree.parallel(child, other.0) && tree.parallel(then, other.1));
        }
    }
}

#[test]
fn a_task_costs_sixteen_bytes_of_tree() {
    let tree = Tree::new();
    let mut main = tree.root().unwrap();
    for _ in 0..100_000 {
        tree.spawn(&mut main).unwrap();
    }
    assert_eq!(tree.len(), 100_001);
    // Room for more is at most as much again.
    assert!(tree.bytes() <= 2 * 16 * (tree.len() + 4096));
}

#[test]
fn disjoint_sets_say_what_renumbering_says() {
    let mut rng = Rng::with_seed(3);
    for _ in 0..50 {
        let mut sets = DisjointSets::default();
        let mut numbers: Vec<usize> = Vec::new();
        for element in 0..60 {
            assert_eq!(sets.add(), element);
            numbers.push(element as usize);
            let (a, b) = (rng.u32(..=element), rng.u32(..=element));
            if rng.bool() {
                sets.unite(a, b);
                let (from, to) = (numbers[a as usize], numbers[b as usize]);
                numbers
                    .iter_mut()
                    .filter(|n| **n == from)
                    .for_each(|n| *n = to);
            }
            for a in 0..=element {
                for b in 0..=element {
                    let together = sets.find(a) == sets.find(b);
                    assert_eq!(together, numbers[a as usize] == numbers[b as usize]);
                }
            }
        }
    }
}

/// Walks random trees of tasks depth first; at every point, what the bags call parallel is what the
/// tree calls parallel.
#[test]
fn bags_say_what_the_tree_says() {
    struct Walk {
        rng: Rng,
        tree: Tree,
        bags: Bags,
        begun: Vec<(Member, Vec<Step>)>,
        compared: u64,
    }

    impl Walk {
        /// Records the step that a task is in, and compares it with all that came before.
        fn step(&mut self, task: usize, place: &Place) {
            self.begun[task].1.push(place.step());
            for (member, steps) in &self.begun {
                let parallel = self.bags.parallel(*member);
                for &step in steps {
                    assert_eq!(parallel, self.tree.parallel(step, place.step()));
                    self.compared += 1;
                }
            }
        }

        fn block(&mut self, task: usize, place: &mut Place, bag: &mut ParallelBag, depth: u32) {
            for _ in 0..self.rng.u32(1..4) {
                self.step(task, place);
                match self.rng.u32(..3) {
                    0 if depth > 0 => {
                        let mut child = self.tree.spawn(place).unwrap();
                        let member = self.bags.begin();
                        let id = self.begun.len();
                        self.begun.push((member, Vec::new()));
                        self.block(id, &mut child, bag, depth - 1);
                        self.bags.end(member, bag);
                    }
                    1 if depth > 0 => {
                        self.tree.begin_finish(place).unwrap();
                        let mut inner = ParallelBag::default();
                        self.block(task, place, &mut inner, depth - 1);
                        self.tree.end_finish(place);
                        self.bags.end_finish(self.begun[task].0, inner);
                    }
                    _ => {}
                }
                self.step(task, place);
            }
        }
    }

    let mut compared = 0;
    for seed in 0..300 {
        let mut walk = Walk {
            rng: Rng::with_seed(seed),
            tree: Tree::new(),
            bags: Bags::default(),
            begun: Vec::new(),
            compared: 0,
        };
        let mut place = walk.tree.root().unwrap();
        let main = walk.bags.begin();
        walk.begun.push((main, Vec::new()));
        walk.block(0, &mut place, &mut ParallelBag::default(), 6);
        compared += walk.compared;
    }
    assert!(compared > 100_000, "{compared}");
}
