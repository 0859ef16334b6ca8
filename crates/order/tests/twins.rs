//! Each structure against its naive twin, on random programs of tasks.

#![cfg(not(loom))]

use std::collections::BTreeMap;

use deadheat_order::{
    Bags, DisjointSets, FinishPast, Member, ParallelBag, Place, Question, Search, Signal, Step,
    Structure, Task, Traversal, Tree,
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
    /// Left without waiting: its children count as its parent's.
    open: bool,
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
            open: false,
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
        if common == 0 {
            return (true, a[0] < b[0], 0);
        }
        let left = self.nodes[a[common]].ordinal < self.nodes[b[common]].ordinal;
        let leftmost = if left { &a } else { &b };
        let beside = leftmost[common..]
            .iter()
            .find(|&&node| !self.nodes[node].open)
            .is_some_and(|&node| self.nodes[node].is_async);
        (beside, left, common as u32 - 1)
    }
}

/// A task of a random program, in the structure and in its twins.
#[derive(Clone)]
struct Running {
    task: Task,
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
    structure: Structure,
    drawn: DrawnTree,
    tasks: Vec<Running>,
    finishes: Vec<Finish>,
    steps: Vec<DrawnStep>,
    /// Set promises and ended tasks: the steps they stand for.
    signals: Vec<(Signal, usize)>,
    /// Whether no `finish` is left without waiting.
    always_waits: bool,
}

struct DrawnStep {
    number: Step,
    /// Its leaf in the drawn tree.
    leaf: usize,
    /// The steps before it.
    before: Vec<bool>,
    /// The time it began.
    since: u32,
}

struct Finish {
    owner: usize,
    running: usize,
    /// The last steps of the tasks in it, and what they had learnt.
    ends: Vec<usize>,
    gathered: FinishPast,
}

impl World {
    fn new(seed: u64) -> World {
        let mut world = World {
            rng: Rng::with_seed(seed),
            structure: Structure::new(),
            drawn: DrawnTree::default(),
            tasks: Vec::new(),
            finishes: Vec::new(),
            steps: Vec::new(),
            signals: Vec::new(),
            always_waits: false,
        };
        let main = world.structure.main().unwrap();
        world.add_task(main, None, Vec::new(), &[]);
        world
    }

    fn add_task(
        &mut self,
        task: Task,
        parent: Option<usize>,
        finishes: Vec<usize>,
        behind: &[usize],
    ) {
        let scope = self.drawn.add(parent, parent.is_some());
        self.tasks.push(Running {
            task,
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
            for (b, also) in before.iter_mut().zip(&self.steps[step].before) {
                *b |= also;
            }
        }
        let number = self.tasks[task].task.step();
        self.tasks[task].step = self.steps.len();
        self.steps.push(DrawnStep {
            number,
            leaf,
            before,
            since: self.structure.joins.now(),
        });
    }

    /// A task goes on without waiting: its next outer `finish`, if it has one, gets all inside.
    fn leave_open(&mut self, id: usize, finish: usize) {
        if self.always_waits || self.rng.bool() {
            return;
        }
        let mut this = self.tasks[id].clone();
        let step = this.step;
        this.finishes.pop();
        let outer = this.finishes.last().copied();
        self.structure.leave_open(&mut this.task);
        self.drawn.nodes[this.scope].open = true;
        this.scope = self.drawn.nodes[this.scope].parent.unwrap();
        self.tasks[id] = this;
        let running = std::mem::take(&mut self.finishes[finish].running);
        let ends = std::mem::take(&mut self.finishes[finish].ends);
        let gathered = std::mem::take(&mut self.finishes[finish].gathered);
        if let Some(outer) = outer {
            self.finishes[outer].running += running;
            self.finishes[outer].ends.extend(ends);
            self.finishes[outer].gathered.extend(gathered);
        }
        for task in &mut self.tasks {
            if task.finishes.first() == Some(&finish) {
                match outer {
                    Some(outer) => task.finishes[0] = outer,
                    None => drop(task.finishes.remove(0)),
                }
            }
        }
        self.new_step(id, &[step]);
    }

    /// Some task that has not ended does something.
    fn act(&mut self, with_joins: bool) {
        let running: Vec<usize> = (0..self.tasks.len())
            .filter(|&task| !self.tasks[task].ended)
            .collect();
        let id = running[self.rng.usize(..running.len())];
        let mut this = self.tasks[id].clone();
        let step = this.step;
        match self.rng.u32(..if with_joins { 20 } else { 12 }) {
            // async
            0..5 => {
                let child = self.structure.spawn(&mut this.task).unwrap();
                let innermost = this.finishes.last().copied();
                if let Some(finish) = innermost {
                    self.finishes[finish].running += 1;
                }
                let scope = this.scope;
                self.tasks[id] = this;
                let finishes = innermost.into_iter().collect();
                self.add_task(child, Some(scope), finishes, &[step]);
                self.new_step(id, &[step]);
            }
            // finish
            5..7 => {
                let gathered = self.structure.begin_finish(&mut this.task).unwrap();
                this.scope = self.drawn.add(Some(this.scope), false);
                this.finishes.push(self.finishes.len());
                self.finishes.push(Finish {
                    owner: id,
                    running: 0,
                    ends: Vec::new(),
                    gathered,
                });
                self.tasks[id] = this;
                self.new_step(id, &[step]);
            }
            // end of finish, or of the task
            7..12 => match this.finishes.last() {
                Some(&finish) if self.finishes[finish].owner == id => {
                    if self.finishes[finish].running > 0 {
                        return self.leave_open(id, finish);
                    }
                    let finish = &mut self.finishes[finish];
                    this.finishes.pop();
                    let gathered = std::mem::take(&mut finish.gathered);
                    let mut behind = finish.ends.clone();
                    behind.push(step);
                    self.structure.end_finish(&mut this.task, gathered).unwrap();
                    this.scope = self.drawn.nodes[this.scope].parent.unwrap();
                    self.tasks[id] = this;
                    self.new_step(id, &behind);
                }
                innermost if id != 0 => {
                    let finish = innermost.map(|&finish| &mut self.finishes[finish]);
                    let gathered = finish.map(|finish| {
                        finish.running -= 1;
                        finish.ends.push(step);
                        &mut finish.gathered
                    });
                    match self.rng.bool() {
                        true => self.structure.end_async(&this.task, gathered),
                        false => {
                            let signal = self.structure.end(&this.task, gathered);
                            self.signals.push((signal, step));
                        }
                    }
                    self.tasks[id].ended = true;
                }
                _ => {}
            },
            // set
            12..15 => {
                let signal = self.structure.signal(&mut this.task).unwrap();
                self.signals.push((signal, step));
                self.tasks[id] = this;
                self.new_step(id, &[step]);
            }
            // get
            15..19 if !self.signals.is_empty() => {
                let (signal, from) = self.signals[self.rng.usize(..self.signals.len())];
                self.structure.join(&mut this.task, signal).unwrap();
                self.tasks[id] = this;
                self.new_step(id, &[step, from]);
            }
            // fork
            19 => {
                let thread = self.structure.fork(&mut this.task).unwrap();
                self.tasks[id] = this;
                self.add_task(thread, None, Vec::new(), &[step]);
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
                    let expected = world.drawn.relation(a.leaf, b.leaf);
                    let found = world.structure.tree.relation(a.number, b.number);
                    let found = (found.parallel, found.left, found.depth);
                    assert_eq!(
                        found, expected,
                        "seed {seed}: {:?} and {:?}",
                        a.number, b.number
                    );
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
    for seed in 0..100 {
        let mut world = World::new(seed);
        let mut searches = vec![Search::default()];
        searches.extend(orders.as_flattened().iter().map(|&o| Search::as_printed(o)));
        let mut with_milestones = Search::default();
        for _ in 0..80 {
            world.act(true);
            let Structure { tree, joins } = &world.structure;
            for running in world.tasks.iter().filter(|running| !running.ended) {
                let now = &world.steps[running.step];
                for (index, earlier) in world.steps.iter().enumerate() {
                    let expected = index == running.step || now.before.get(index) == Some(&true);
                    // Later steps cannot come before: only what is past is ever asked.
                    if index > running.step || tree.precedes(earlier.number, now.number) {
                        continue;
                    }
                    let question = Question {
                        step: earlier.number,
                        since: earlier.since,
                        milestone: Step::NONE,
                        known: running.task.known(),
                    };
                    for search in &mut searches {
                        let found = search.finds(tree, joins, question);
                        assert_eq!(found, expected, "seed {seed}: {question:?}");
                    }
                    // With what is known to come behind it, and may be on the way.
                    let mut steps = world.steps.iter();
                    let behind = steps.rfind(|step| step.before.get(index) == Some(&true));
                    let question = Question {
                        milestone: behind.map_or(Step::NONE, |step| step.number),
                        ..question
                    };
                    let found = with_milestones.finds(tree, joins, question);
                    assert_eq!(found, expected, "seed {seed}: {question:?}");
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

/// A step that is silent up to what it has in common with another covers that: whatever is done from then on, and comes
/// after the one, comes after the other.
#[test]
fn what_comes_after_a_silent_step_comes_after_all_that_it_covers() {
    let (mut covered, mut after) = (0u64, 0u64);
    for seed in 0..2000 {
        let mut world = World::new(seed);
        world.always_waits = true;
        // By two steps: the steps in which something may be done later, and from which on all are later.
        let mut covers: BTreeMap<(usize, usize), (Vec<usize>, usize)> = BTreeMap::new();
        for _ in 0..50 {
            world.act(true);
            let tree = &world.structure.tree;
            let running = world.tasks.iter().filter(|task| !task.ended);
            let later: Vec<usize> = running.map(|task| task.step).collect();
            for (a, one) in world.steps.iter().enumerate() {
                for (b, other) in world.steps.iter().enumerate() {
                    let depth = || tree.relation(one.number, other.number).depth;
                    if a != b
                        && !covers.contains_key(&(a, b))
                        && tree.is_silent_up_to(one.number, depth())
                    {
                        covers.insert((a, b), (later.clone(), world.steps.len()));
                    }
                }
            }
        }
        for ((a, b), (running, since)) in covers {
            covered += 1;
            let later = running.into_iter().chain(since..world.steps.len());
            for c in later.filter(|&c| c != a && c != b) {
                let before = &world.steps[c].before;
                if before.get(a) == Some(&true) {
                    after += 1;
                    assert_eq!(before.get(b), Some(&true), "seed {seed}: {a} {b} {c}");
                }
            }
        }
    }
    assert!(covered > 10_000 && after > 1_000, "{covered} {after}");
}

#[test]
fn what_is_kept_as_last_is_what_comes_before_nothing() {
    for seed in 0..200 {
        let mut world = World::new(seed);
        for _ in 0..60 {
            world.act(seed % 2 == 0);
        }
        let mut steps: Vec<Step> = world.steps.iter().map(|step| step.number).collect();
        world.rng.shuffle(&mut steps);
        steps.truncate(20);
        let tree = &world.structure.tree;
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
