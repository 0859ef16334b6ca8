//! Zipper to the letter (zipper, section 3.2), corrected where the print cannot be meant, on graphs
//! drawn by hand or at random. `docs/errata.md` says what had to be corrected.
//!
//! The engine in `src/zipper.rs` finds the same races by other means; this is here for the trace of
//! Table 2, and to say what is wrong with the print.

use std::collections::{BTreeMap, BTreeSet};

/// A computation graph as the paper draws it.
struct Graph {
    names: Vec<String>,
    kinds: Vec<Kind>,
    /// Which isolated section a node is.
    isolated: Vec<Option<usize>>,
}

#[derive(Clone)]
enum Kind {
    /// Starts branches, which end in a wait node.
    Async { branches: Vec<usize>, join: usize },
    /// Where the branches of an async node end; what comes next.
    Wait { asynchronous: usize, child: usize },
    /// Anything else; what comes next, if something does.
    Other(Option<usize>),
}

/// Where in the print something was corrected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Corrected {
    /// What cannot be run as printed, or contradicts the prose: the branch's own successor and number
    /// are analysed; the isolated indices are the bag's; the slider is compared the other way in
    /// checkUp, and set before.
    Obvious,
    /// And branches inside branches go into the bags as well.
    Nested,
}

#[derive(Default, Clone)]
struct Bag {
    branches: BTreeSet<usize>,
    isolated: BTreeSet<usize>,
}

type Nodes = BTreeSet<usize>;

struct Zipper<'g> {
    graph: &'g Graph,
    corrected: Corrected,
    down: BTreeMap<usize, Nodes>,
    up: BTreeMap<usize, Nodes>,
    lambda_down: BTreeMap<usize, Nodes>,
    lambda_up: BTreeMap<usize, Nodes>,
    slider_down: Option<usize>,
    slider_up: Option<usize>,
    next_branch: usize,
    bags: Vec<Bag>,
    ready: Nodes,
    s: BTreeMap<usize, Nodes>,
    i: BTreeMap<usize, BTreeSet<usize>>,
    c: BTreeMap<usize, BTreeSet<(usize, usize)>>,
    parallel: BTreeSet<(usize, usize)>,
    trace: Vec<String>,
}

impl Zipper<'_> {
    fn analyse(graph: &Graph, corrected: Corrected) -> Zipper<'_> {
        let mut zipper = Zipper {
            graph,
            corrected,
            down: BTreeMap::new(),
            up: BTreeMap::new(),
            lambda_down: BTreeMap::new(),
            lambda_up: BTreeMap::new(),
            slider_down: None,
            slider_up: None,
            next_branch: 1,
            bags: vec![Bag::default(), Bag::default()],
            ready: Nodes::new(),
            s: BTreeMap::new(),
            i: BTreeMap::new(),
            c: BTreeMap::new(),
            parallel: BTreeSet::new(),
            trace: Vec::new(),
        };
        zipper.recursive_analyze(0, 0, 0, 1);
        zipper
    }

    fn recursive_analyze(&mut self, n: usize, branch: usize, s_bag: usize, p_bag: usize) {
        match self.graph.kinds[n].clone() {
            Kind::Async { branches, join } => {
                self.async_node(n, &branches, join, branch, s_bag, p_bag);
            }
            Kind::Wait {
                asynchronous,
                child,
            } => {
                if self.ready.contains(&asynchronous) {
                    self.recursive_analyze(child, branch, s_bag, p_bag);
                    return;
                }
                let s = std::mem::take(self.s.entry(branch).or_default());
                self.lambda_down.entry(branch).or_default().extend(s);
                self.note(n, branch);
            }
            Kind::Other(child) => self.other_node(n, child, branch, s_bag, p_bag),
        }
    }

    fn async_node(
        &mut self,
        n: usize,
        branches: &[usize],
        join: usize,
        branch: usize,
        s_bag: usize,
        p_bag: usize,
    ) {
        self.note(n, branch);
        let thread_bag = self.bags.len();
        self.bags.push(self.bags[p_bag].clone());
        let (up, down) = (self.slider_up, self.slider_down);
        let (mut least_up, mut most_down) = (up, down);
        for &successor in branches {
            (self.slider_up, self.slider_down) = (up, down);
            let id = self.next_branch;
            self.next_branch += 1;
            let new_bag = self.bags.len();
            self.bags.push(Bag::default());
            self.recursive_analyze(successor, id, new_bag, thread_bag);
            let s = std::mem::take(self.s.entry(id).or_default());
            self.lambda_up.insert(id, s);
            least_up = least_up.into_iter().chain(self.slider_up).min();
            most_down = most_down.max(self.slider_down);
            let mut inside = Bag {
                branches: BTreeSet::from([id]),
                isolated: self.i.get(&id).cloned().unwrap_or_default(),
            };
            if self.corrected == Corrected::Nested {
                let nested = self.bags[new_bag].clone();
                inside.branches.extend(nested.branches);
                inside.isolated.extend(nested.isolated);
            }
            for bag in [s_bag, thread_bag] {
                self.bags[bag].branches.extend(inside.branches.iter());
                self.bags[bag].isolated.extend(inside.isolated.iter());
            }
            let sliders = (self.slider_up.take(), self.slider_down.take());
            self.note(n, id);
            (self.slider_up, self.slider_down) = sliders;
        }
        self.slider_down = most_down;
        self.ready.insert(n);
        self.recursive_analyze(join, branch, s_bag, p_bag);
        self.slider_up = self.slider_up.into_iter().chain(least_up).min();
    }

    fn other_node(
        &mut self,
        n: usize,
        child: Option<usize>,
        branch: usize,
        s_bag: usize,
        p_bag: usize,
    ) {
        let sections = self.graph.isolated.iter().flatten().count();
        self.s.entry(branch).or_default().insert(n);
        let isolated = self.graph.isolated[n];
        let mut dumped = None;
        if let Some(i) = isolated {
            self.slider_down = Some(i);
            // Has an outgoing edge.
            if i + 1 < sections {
                let s = self.s.entry(branch).or_default();
                dumped = Some(s.clone());
                self.down.entry(i).or_default().append(s);
                self.i.entry(branch).or_default().insert(i);
            }
        }
        self.note_with(n, branch, dumped);
        self.check_down(n, branch, p_bag);
        if let Some(child) = child {
            self.recursive_analyze(child, branch, s_bag, p_bag);
        }
        // Printed behind checkUp: then a section would be compared with those behind it.
        self.slider_up = isolated.or(self.slider_up);
        self.check_up(n, branch, p_bag);
        self.s.entry(branch).or_default().insert(n);
        let mut dumped = None;
        if let Some(i) = isolated {
            // Has an incoming edge.
            if i > 0 {
                let s = self.s.entry(branch).or_default();
                dumped = Some(s.clone());
                self.up.entry(i).or_default().append(s);
                self.i.entry(branch).or_default().insert(i);
            }
        }
        self.note_with(n, branch, dumped);
    }

    fn check_down(&mut self, n: usize, branch: usize, p_bag: usize) {
        let bag = &self.bags[p_bag];
        let by_branch = bag.branches.iter().filter_map(|b| self.lambda_down.get(b));
        let slider = self.slider_down;
        let by_section = bag.isolated.iter().filter(|&&i| Some(i) > slider);
        let by_section = by_section.filter_map(|i| self.down.get(i));
        let pairs: Vec<_> = by_branch.chain(by_section).flatten().copied().collect();
        let c = self.c.entry(branch).or_default();
        c.extend(pairs.into_iter().map(|other| (n, other)));
    }

    fn check_up(&mut self, n: usize, branch: usize, p_bag: usize) {
        let bag = &self.bags[p_bag];
        let by_branch = bag.branches.iter().filter_map(|b| self.lambda_up.get(b));
        let slider = self.slider_up;
        let is_before = |i: usize| slider.is_none_or(|slider| i < slider);
        let by_section = bag.isolated.iter().filter(|&&i| is_before(i));
        let by_section = by_section.filter_map(|i| self.up.get(i));
        let found: Vec<_> = by_branch.chain(by_section).flatten().copied().collect();
        let c = self.c.entry(branch).or_default();
        for other in found {
            if c.contains(&(n, other)) {
                self.parallel.insert((n.min(other), n.max(other)));
            }
        }
    }

    fn note(&mut self, n: usize, branch: usize) {
        self.note_with(n, branch, None);
    }

    /// A row of Table 2. S is shown as it was before it was emptied into a zipper.
    fn note_with(&mut self, n: usize, branch: usize, dumped: Option<Nodes>) {
        let names = |nodes: &Nodes| {
            let names: Vec<&str> = nodes
                .iter()
                .map(|&n| self.graph.names[n].as_str())
                .collect();
            format!("{{{}}}", names.join(","))
        };
        let zipper = |zipper: &BTreeMap<usize, Nodes>| {
            let teeth = zipper.iter().filter(|(_, nodes)| !nodes.is_empty());
            let teeth: Vec<String> = teeth
                .map(|(i, nodes)| format!("{i}:{}", names(nodes)))
                .collect();
            format!("[{}]", teeth.join(","))
        };
        let slider = |slider: Option<usize>| slider.map_or("-".to_string(), |s| s.to_string());
        let empty = Nodes::new();
        let s = self.s.get(&branch).unwrap_or(&empty);
        self.trace.push(format!(
            "{} {} {} {} {} {} {} {}",
            self.graph.names[n],
            zipper(&self.down),
            zipper(&self.up),
            zipper(&self.lambda_down),
            zipper(&self.lambda_up),
            slider(self.slider_down),
            slider(self.slider_up),
            names(dumped.as_ref().unwrap_or(s)),
        ));
    }
}

/// Figure 3.
fn figure_3() -> Graph {
    let mut graph = Graph {
        names: "abcdefghijk".chars().map(String::from).collect(),
        kinds: Vec::new(),
        isolated: vec![None; 11],
    };
    let [b, c, d, e, f, g, h, i, j, k] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    graph.kinds = vec![
        Kind::Async {
            branches: vec![b, d],
            join: j,
        },
        Kind::Other(Some(c)),
        Kind::Other(Some(e)),
        Kind::Other(Some(f)),
        Kind::Other(Some(g)),
        Kind::Other(Some(h)),
        Kind::Other(Some(i)),
        Kind::Other(Some(j)),
        Kind::Other(Some(j)),
        Kind::Wait {
            asynchronous: 0,
            child: k,
        },
        Kind::Other(None),
    ];
    for (index, node) in [c, d, h, g].into_iter().enumerate() {
        graph.isolated[node] = Some(index);
    }
    graph
}

/// Table 2, row by row: node, Z↓, Z↑, Z↓λ, Z↑λ, slider↓, slider↑, S; sets in alphabetical order.
#[test]
fn the_trace_is_that_of_table_2() {
    let expected = "\
a [] [] [] [] - - {}
b [] [] [] [] - - {b}
c [0:{b,c}] [] [] [] 0 - {b,c}
e [0:{b,c}] [] [] [] 0 - {e}
g [0:{b,c}] [] [] [] 3 - {e,g}
i [0:{b,c}] [] [] [] 3 - {e,g,i}
j [0:{b,c}] [] [1:{e,g,i}] [] 3 - {}
i [0:{b,c}] [] [1:{e,g,i}] [] 3 - {i}
g [0:{b,c}] [3:{g,i}] [1:{e,g,i}] [] 3 3 {g,i}
e [0:{b,c}] [3:{g,i}] [1:{e,g,i}] [] 3 3 {e}
c [0:{b,c}] [3:{g,i}] [1:{e,g,i}] [] 3 0 {c,e}
b [0:{b,c}] [3:{g,i}] [1:{e,g,i}] [] 3 0 {b,c,e}
a [0:{b,c}] [3:{g,i}] [1:{e,g,i}] [1:{b,c,e}] - - {}
d [0:{b,c},1:{d}] [3:{g,i}] [1:{e,g,i}] [1:{b,c,e}] 1 - {d}
f [0:{b,c},1:{d}] [3:{g,i}] [1:{e,g,i}] [1:{b,c,e}] 1 - {f}
h [0:{b,c},1:{d},2:{f,h}] [3:{g,i}] [1:{e,g,i}] [1:{b,c,e}] 2 - {f,h}
j [0:{b,c},1:{d},2:{f,h}] [3:{g,i}] [1:{e,g,i}] [1:{b,c,e}] 2 - {}
h [0:{b,c},1:{d},2:{f,h}] [2:{h},3:{g,i}] [1:{e,g,i}] [1:{b,c,e}] 2 2 {h}
f [0:{b,c},1:{d},2:{f,h}] [2:{h},3:{g,i}] [1:{e,g,i}] [1:{b,c,e}] 2 2 {f}
d [0:{b,c},1:{d},2:{f,h}] [1:{d,f},2:{h},3:{g,i}] [1:{e,g,i}] [1:{b,c,e}] 2 1 {d,f}
a [0:{b,c},1:{d},2:{f,h}] [1:{d,f},2:{h},3:{g,i}] [1:{e,g,i}] [1:{b,c,e}] - - {}
";
    let graph = figure_3();
    for corrected in [Corrected::Obvious, Corrected::Nested] {
        let zipper = Zipper::analyse(&graph, corrected);
        let rows: Vec<&str> = expected.lines().collect();
        for (found, expected) in zipper.trace.iter().zip(&rows) {
            assert_eq!(found, expected);
        }
        // What follows is behind the wait node, which the table leaves out.
        assert!(
            zipper.trace[rows.len()..]
                .iter()
                .all(|row| row.starts_with('k'))
        );
        assert_eq!(zipper.parallel, by_closure(&graph));
    }
}

/// The pairs of nodes that nothing orders, sections in their order. Async and wait nodes, which touch
/// nothing, are left out, as in the paper.
fn by_closure(graph: &Graph) -> BTreeSet<(usize, usize)> {
    let count = graph.kinds.len();
    let mut reaches = vec![vec![false; count]; count];
    for (node, kind) in graph.kinds.iter().enumerate() {
        let next: Vec<usize> = match kind {
            Kind::Async { branches, .. } => branches.clone(),
            Kind::Wait { child, .. } => vec![*child],
            Kind::Other(child) => child.iter().copied().collect(),
        };
        next.into_iter().for_each(|next| reaches[node][next] = true);
    }
    let position = |index| graph.isolated.iter().position(|i| *i == Some(index));
    for index in 1.. {
        match (position(index - 1), position(index)) {
            (Some(before), Some(after)) => reaches[before][after] = true,
            _ => break,
        }
    }
    for k in 0..count {
        for a in 0..count {
            for b in 0..count {
                reaches[a][b] |= reaches[a][k] && reaches[k][b];
            }
        }
    }
    let is_other = |node: &usize| matches!(graph.kinds[*node], Kind::Other(_));
    let mut parallel = BTreeSet::new();
    for a in (0..count).filter(is_other) {
        for b in (a + 1..count).filter(is_other) {
            if !reaches[a][b] && !reaches[b][a] {
                parallel.insert((a, b));
            }
        }
    }
    parallel
}

/// A random graph: branches inside branches, some nodes isolated, in an order that the graph allows.
fn random_graph(rng: &mut fastrand::Rng, depth: u32) -> Graph {
    /// Adds a chain of nodes that ends in `end`; gives its first one.
    fn chain(
        rng: &mut fastrand::Rng,
        kinds: &mut Vec<Kind>,
        depth: u32,
        end: Option<usize>,
    ) -> usize {
        let mut next = end;
        for _ in 0..rng.u32(1..=2) {
            if depth > 0 && rng.u32(..3) == 0 {
                let after = next.unwrap_or_else(|| {
                    kinds.push(Kind::Other(None));
                    kinds.len() - 1
                });
                let (fork, join) = (kinds.len(), kinds.len() + 1);
                kinds.push(Kind::Other(None));
                kinds.push(Kind::Wait {
                    asynchronous: fork,
                    child: after,
                });
                let branches = (0..2)
                    .map(|_| chain(rng, kinds, depth - 1, Some(join)))
                    .collect();
                kinds[fork] = Kind::Async { branches, join };
                next = Some(fork);
            }
            kinds.push(Kind::Other(next));
            next = Some(kinds.len() - 1);
        }
        next.unwrap_or_default()
    }
    let (join, mut kinds) = (
        1,
        vec![Kind::Other(None), Kind::Other(None), Kind::Other(None)],
    );
    kinds[1] = Kind::Wait {
        asynchronous: 0,
        child: 2,
    };
    let branches = (0..rng.u32(2..=3))
        .map(|_| chain(rng, &mut kinds, depth, Some(join)))
        .collect();
    kinds[0] = Kind::Async { branches, join };
    let mut graph = Graph {
        names: (0..kinds.len()).map(|n| n.to_string()).collect(),
        isolated: vec![None; kinds.len()],
        kinds,
    };
    // Sections in the order of a walk through the graph at random.
    let mut waiting: Vec<usize> = vec![0; graph.kinds.len()];
    let next_of = |kind: &Kind| match kind {
        Kind::Async { branches, .. } => branches.clone(),
        Kind::Wait { child, .. } => vec![*child],
        Kind::Other(child) => child.iter().copied().collect(),
    };
    for kind in &graph.kinds {
        next_of(kind)
            .into_iter()
            .for_each(|next| waiting[next] += 1);
    }
    let mut ready = vec![0];
    let mut sections = 0;
    while !ready.is_empty() {
        let node = ready.swap_remove(rng.usize(..ready.len()));
        if matches!(graph.kinds[node], Kind::Other(_)) && rng.u32(..3) == 0 {
            graph.isolated[node] = Some(sections);
            sections += 1;
        }
        for next in next_of(&graph.kinds[node]) {
            waiting[next] -= 1;
            if waiting[next] == 0 {
                ready.push(next);
            }
        }
    }
    graph
}

#[test]
fn it_is_right_where_branches_do_not_branch() {
    for seed in 0..3000 {
        let graph = random_graph(&mut fastrand::Rng::with_seed(seed), 0);
        let zipper = Zipper::analyse(&graph, Corrected::Obvious);
        assert_eq!(zipper.parallel, by_closure(&graph), "seed {seed}");
    }
}

/// Two branches; the first one has two branches inside, the other is one section.
fn nested(isolated: [usize; 2]) -> Graph {
    let wait = |asynchronous, child| Kind::Wait {
        asynchronous,
        child,
    };
    let fork = |branches: [usize; 2], join| Kind::Async {
        branches: branches.to_vec(),
        join,
    };
    let mut graph = Graph {
        names: (0..9).map(|n| n.to_string()).collect(),
        kinds: vec![
            fork([7, 8], 1),
            wait(0, 2),
            Kind::Other(None),
            fork([5, 6], 4),
            wait(3, 1),
            Kind::Other(Some(4)),
            Kind::Other(Some(4)),
            Kind::Other(Some(3)),
            Kind::Other(Some(1)),
        ],
        isolated: vec![None; 9],
    };
    for (index, node) in isolated.into_iter().enumerate() {
        graph.isolated[node] = Some(index);
    }
    graph
}

#[test]
fn branches_inside_branches_are_missed_as_printed() {
    // Sections 8 and then 6: nothing orders 5 with 8.
    let graph = nested([8, 6]);
    assert!(by_closure(&graph).contains(&(5, 8)));
    let zipper = Zipper::analyse(&graph, Corrected::Obvious);
    assert!(!zipper.parallel.contains(&(5, 8)));
    // With the bags corrected, this one is found.
    let zipper = Zipper::analyse(&graph, Corrected::Nested);
    assert_eq!(zipper.parallel, by_closure(&graph));
}

#[test]
fn sections_above_branches_are_forgotten_even_if_bags_are_corrected() {
    // Sections 8 and then 7, behind which 5 and 6 come.
    let graph = nested([8, 7]);
    assert!(!by_closure(&graph).contains(&(5, 8)));
    let zipper = Zipper::analyse(&graph, Corrected::Nested);
    assert!(zipper.parallel.contains(&(5, 8)) && zipper.parallel.contains(&(6, 8)));
}
