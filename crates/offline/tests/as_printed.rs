//! The papers' algorithms to the letter, to show where they are wrong (docs/errata.md).
//!
//! Nothing here is used by anything else. The tests say that the printed algorithms fail on the named
//! examples, on which the engines are right (`engines.rs`), so that nobody goes back to them.

use std::collections::{BTreeSet, VecDeque};

use deadheat_lang::{Program, Schedule};
use deadheat_model::{AccessKind, Execution, Finish, Location, Op, Promise, Strand};
use deadheat_offline::graph;
use deadheat_order::{DisjointSets, Place, Step, Tree};
use rustc_hash::{FxHashMap, FxHashSet};

fn example(name: &str) -> Program {
    let path = format!("{}/../../examples/{name}.tp", env!("CARGO_MANIFEST_DIR"));
    Program::parse(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn truth(execution: &Execution) -> BTreeSet<Location> {
    let races = graph::check(execution).races;
    races.iter().map(|race| race.location).collect()
}

/// What both papers need of an execution of `async`, `finish` and promises.
struct Tasks {
    tree: Tree,
    places: FxHashMap<Strand, Place>,
    /// The finishes each task has open, behind the one that it was started in.
    finishes: FxHashMap<Strand, Vec<Finish>>,
}

impl Tasks {
    fn new() -> Tasks {
        let tree = Tree::new();
        let main = tree.root().unwrap();
        Tasks {
            tree,
            places: FxHashMap::from_iter([(Strand::MAIN, main)]),
            finishes: FxHashMap::default(),
        }
    }

    fn step(&self, strand: Strand) -> Step {
        self.places[&strand].step()
    }

    fn innermost(&self, strand: Strand) -> Option<Finish> {
        self.finishes.get(&strand)?.last().copied()
    }

    /// Follows `async` and `finish`.
    fn follow(&mut self, strand: Strand, op: Op) {
        let innermost = self.innermost(strand);
        let place = self.places.get_mut(&strand).unwrap();
        match op {
            Op::Async(child) => {
                let begin = self.tree.spawn(place).unwrap();
                self.places.insert(child, begin);
                self.finishes.insert(child, innermost.into_iter().collect());
            }
            Op::FinishBegin(finish) => {
                self.tree.begin_finish(place).unwrap();
                self.finishes.entry(strand).or_default().push(finish);
            }
            Op::FinishEnd(_) => {
                self.tree.end_finish(place);
                self.finishes.entry(strand).or_default().pop();
            }
            _ => {}
        }
    }
}

/// spd3-pldi12, Algorithms 1 and 2, where nothing may happen in parallel with null.
fn spd3_as_printed(execution: &Execution) -> BTreeSet<Location> {
    #[derive(Default)]
    struct Cell {
        w: Step,
        r1: Step,
        r2: Step,
    }
    let mut tasks = Tasks::new();
    let mut cells: FxHashMap<Location, Cell> = FxHashMap::default();
    let mut racy = BTreeSet::new();
    for event in &execution.events {
        let Some(access) = event.access() else {
            tasks.follow(event.strand(), event.op());
            continue;
        };
        let s = tasks.step(event.strand());
        let dmhp = |a: Step, b: Step| !a.is_none() && tasks.tree.parallel(a, b);
        let m = cells.entry(access.location).or_default();
        if dmhp(m.w, s) {
            racy.insert(access.location);
        }
        if access.kind == AccessKind::Write {
            if dmhp(m.r1, s) || dmhp(m.r2, s) {
                racy.insert(access.location);
            }
            if !dmhp(m.w, s) {
                m.w = s;
            }
        } else if !dmhp(m.r1, s) && !dmhp(m.r2, s) {
            (m.r1, m.r2) = (s, Step::NONE);
        } else if dmhp(m.r1, s) && dmhp(m.r2, s) {
            let lca = |a, b| tasks.tree.relation(a, b).depth;
            if lca(m.r1, s) < lca(m.r1, m.r2) || lca(m.r2, s) < lca(m.r1, m.r2) {
                m.r1 = s;
            }
        }
    }
    racy
}

/// drdp-ecoop23, Figures 8 and 9, with or without line 7's shortcut for active tasks.
///
/// Where the figures are silent, the kinder reading: "to the left" is looked at before `lca_lc`, and
/// a least significant ancestor's joins are copied at the spawn.
struct Drdp<'e> {
    execution: &'e Execution,
    shortcut: bool,
    tasks: Tasks,
    sets: DisjointSets,
    /// By what stands for a set.
    info: Vec<SetInfo>,
    /// Strands, and the empty tasks of promises: their element of `sets`.
    element: FxHashMap<Strand, u32>,
    /// The empty task of a set promise: its step and its element.
    promises: FxHashMap<Promise, (Step, u32)>,
    /// The tasks started inside each open finish, empty ones included.
    inside: FxHashMap<Finish, Vec<u32>>,
    ended: FxHashSet<Strand>,
    /// How many of each strand's events are behind.
    position: FxHashMap<Strand, usize>,
    by_strand: FxHashMap<Strand, Vec<Op>>,
}

/// A non-tree join: an empty task's step and element.
type Join = (Step, u32);

#[derive(Clone, Default)]
struct SetInfo {
    nt: Vec<Join>,
    /// The least significant ancestor's element, and its joins at the spawn.
    lsa: Option<(u32, Vec<Join>)>,
}

impl Drdp<'_> {
    fn racy_locations(execution: &Execution, shortcut: bool) -> BTreeSet<Location> {
        let mut by_strand: FxHashMap<Strand, Vec<Op>> = FxHashMap::default();
        for event in &execution.events {
            by_strand
                .entry(event.strand())
                .or_default()
                .push(event.op());
        }
        let mut drdp = Drdp {
            execution,
            shortcut,
            tasks: Tasks::new(),
            sets: DisjointSets::default(),
            info: Vec::new(),
            element: FxHashMap::default(),
            promises: FxHashMap::default(),
            inside: FxHashMap::default(),
            ended: FxHashSet::default(),
            position: FxHashMap::default(),
            by_strand,
        };
        let main = drdp.new_set();
        drdp.element.insert(Strand::MAIN, main);
        drdp.run()
    }

    fn new_set(&mut self) -> u32 {
        self.info.push(SetInfo::default());
        self.sets.add()
    }

    fn set_of(&mut self, element: u32) -> SetInfo {
        let set = self.sets.find(element);
        self.info[set as usize].clone()
    }

    fn run(&mut self) -> BTreeSet<Location> {
        #[derive(Default)]
        struct Cell {
            writer: Option<(Strand, Step)>,
            readers: Vec<(Strand, Step)>,
        }
        let mut cells: FxHashMap<Location, Cell> = FxHashMap::default();
        let mut racy = BTreeSet::new();
        for event in &self.execution.events {
            let t = event.strand();
            *self.position.entry(t).or_default() += 1;
            let Some(access) = event.access() else {
                self.synchronise(t, event.op());
                continue;
            };
            let s = (t, self.tasks.step(t));
            let m = cells.entry(access.location).or_default();
            let mut earlier: Vec<_> = m.writer.into_iter().collect();
            if access.kind == AccessKind::Write {
                earlier.extend(std::mem::take(&mut m.readers));
                m.writer = Some(s);
            } else {
                m.readers.push(s);
            }
            if !earlier.into_iter().all(|a| self.precede(a, s)) {
                racy.insert(access.location);
            }
        }
        racy
    }

    fn synchronise(&mut self, t: Strand, op: Op) {
        let own = self.element[&t];
        match op {
            Op::Async(u) => {
                let element = self.new_task(t);
                self.element.insert(u, element);
                self.tasks.follow(t, op);
            }
            Op::End => {
                self.ended.insert(t);
            }
            Op::Set(p) => {
                let element = self.new_task(t);
                let place = self.tasks.places.get_mut(&t).unwrap();
                let empty = self.tasks.tree.spawn(place).unwrap().step();
                self.promises.insert(p, (empty, element));
            }
            Op::Get(p) => {
                let join = self.promises[&p];
                let set = self.sets.find(own) as usize;
                self.info[set].nt.push(join);
                let place = self.tasks.places.get_mut(&t).unwrap();
                self.tasks.tree.cut(place).unwrap();
            }
            Op::FinishEnd(finish) => {
                self.tasks.follow(t, op);
                for x in self.inside.remove(&finish).unwrap_or_default() {
                    let (mut of_t, of_x) = (self.set_of(own), self.set_of(x));
                    of_t.nt.extend(of_x.nt);
                    let united = self.sets.unite(own, x);
                    self.info[united as usize] = of_t;
                }
            }
            op => {
                self.tasks.follow(t, op);
            }
        }
    }

    /// Lines 1 to 11.
    fn new_task(&mut self, parent: Strand) -> u32 {
        let task = self.new_set();
        let own = self.element[&parent];
        let set = self.set_of(own);
        self.info[task as usize].lsa = match set.nt.is_empty() {
            true => set.lsa,
            false => Some((own, set.nt)),
        };
        if let Some(finish) = self.tasks.innermost(parent) {
            self.inside.entry(finish).or_default().push(task);
        }
        task
    }

    /// Whether a task has neither ended nor waits for a promise.
    fn active(&self, task: Strand) -> bool {
        let position = self.position.get(&task).copied().unwrap_or(0);
        let next = self.by_strand.get(&task).and_then(|ops| ops.get(position));
        // What comes next is what it waits for, if it is a `get`; if nothing comes, it waits forever.
        let waits = matches!(next, Some(Op::Get(_)) | None);
        !self.ended.contains(&task) && !waits
    }

    fn precede(&mut self, (task, a): (Strand, Step), (to, b): (Strand, Step)) -> bool {
        let ordered = |tasks: &Tasks, b: Step| tasks.tree.precedes(a, b);
        if ordered(&self.tasks, b) || (self.shortcut && self.active(task)) {
            return true;
        }
        let of_b = self.set_of(self.element[&to]);
        let mut visited = FxHashSet::default();
        let mut nt_steps: VecDeque<Join> = of_b.nt.into();
        let mut lsa_sets: VecDeque<(u32, Vec<Join>)> = of_b.lsa.into_iter().collect();
        loop {
            while let Some((step, element)) = nt_steps.pop_front() {
                if ordered(&self.tasks, step) {
                    return true;
                }
                visited.insert(element);
                let set = self.set_of(element);
                for join in set.nt {
                    if visited.insert(join.1) {
                        nt_steps.push_back(join);
                    }
                }
                lsa_sets.extend(set.lsa);
            }
            while let Some((ancestor, joins)) = lsa_sets.pop_front() {
                lsa_sets.extend(self.set_of(ancestor).lsa);
                for (step, element) in joins {
                    if !visited.insert(element) {
                        continue;
                    }
                    if ordered(&self.tasks, step) {
                        return true;
                    }
                    let set = self.set_of(element);
                    nt_steps.extend(set.nt);
                    lsa_sets.extend(set.lsa);
                }
            }
            if nt_steps.is_empty() {
                return false;
            }
        }
    }
}

#[test]
fn spd3_as_printed_loses_the_second_reader() {
    let program = example("spd3-empty-reader-slot");
    let missed = (0..100).filter(|&seed| {
        let run = program.run(&Schedule::Random(seed), 1000).unwrap();
        assert_eq!(truth(&run.execution).len(), 1);
        spd3_as_printed(&run.execution).is_empty()
    });
    assert!(missed.count() > 0);
}

#[test]
fn drdp_as_printed_takes_what_an_active_task_did_for_ordered() {
    for name in ["drdp-active-shortcut", "drdp-active-in-finish"] {
        let run = example(name).run(&Schedule::DepthFirst, 1000).unwrap();
        assert_eq!(truth(&run.execution).len(), 1, "{name}");
        assert!(
            Drdp::racy_locations(&run.execution, true).is_empty(),
            "{name}"
        );
        assert_eq!(
            Drdp::racy_locations(&run.execution, false).len(),
            1,
            "{name}"
        );
    }
}

#[test]
fn drdp_as_printed_counts_joins_that_were_made_later() {
    let run = example("drdp-joins-later")
        .run(&Schedule::DepthFirst, 1000)
        .unwrap();
    assert_eq!(truth(&run.execution).len(), 1);
    assert!(Drdp::racy_locations(&run.execution, false).is_empty());
    // This one needs another schedule.
    let program = example("drdp-joins-without-time");
    let missed = (0..100).filter(|&seed| {
        let run = program.run(&Schedule::Random(seed), 1000).unwrap();
        assert_eq!(truth(&run.execution).len(), 1);
        Drdp::racy_locations(&run.execution, false).is_empty()
    });
    assert!(missed.count() > 0);
}
