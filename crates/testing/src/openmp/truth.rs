//! Which variables race: the graph of a program for a number of threads, and its closure.
//!
//! A node is a stretch of a task's code; an edge is what OpenMP promises. What a thread is handed (an iteration of a
//! dynamic loop, a section, the block of `single`) may be run by any thread, so it comes after the last barrier and
//! before the next, and after nothing else. A static loop gives each thread its part, and so do sections.
//! A team of one thread does everything in order, but for explicit tasks.

use super::{Access, Dependence, Program, Statement, VARIABLES};

impl Program {
    /// Which variables have a race in some schedule with so many threads; if iterations are told `apart`, or might have if there were
    /// more threads, as far as that is looked at.
    pub fn racy(&self, threads: usize, apart: bool) -> [bool; VARIABLES] {
        let mut graph = Graph {
            apart,
            ..Graph::default()
        };
        let mut start = graph.node(&[]);
        for region in &self.regions {
            start = graph.region(region, threads, start);
        }
        graph.racy()
    }
}

#[derive(Default)]
struct Graph {
    apart: bool,
    /// For each node, what comes before it.
    before: Vec<Vec<bool>>,
    accesses: Vec<Placed>,
}

struct Placed {
    node: usize,
    access: Access,
    locks: Vec<Lock>,
}

/// A critical section, or what excludes children of the task that began so.
type Lock = (Option<usize>, usize);

/// A task that is being read.
struct Task {
    first: usize,
    now: usize,
    /// The ends of its children, and what they depend on.
    children: Vec<usize>,
    depends: Vec<(usize, Vec<(usize, Dependence)>)>,
    /// What it holds because it depends so: whose child it is, and the variable.
    exclusive: Vec<Lock>,
    is_final: bool,
}

impl Task {
    fn new(now: usize) -> Task {
        Task {
            first: now,
            now,
            children: Vec::new(),
            depends: Vec::new(),
            exclusive: Vec::new(),
            is_final: false,
        }
    }
}

fn conflict(a: Dependence, b: Dependence) -> bool {
    use Dependence::{In, InOutSet, MutexInOutSet};
    a != b || !matches!(a, In | InOutSet | MutexInOutSet)
}

impl Graph {
    /// A node that comes after these.
    fn node(&mut self, after: &[usize]) -> usize {
        let mut before = vec![false; self.before.len()];
        for &node in after {
            before[node] = true;
            for (own, theirs) in before.iter_mut().zip(&self.before[node]) {
                *own |= theirs;
            }
        }
        self.before.push(before);
        self.before.len() - 1
    }

    fn racy(&self) -> [bool; VARIABLES] {
        let mut racy = [false; VARIABLES];
        for (index, a) in self.accesses.iter().enumerate() {
            for b in &self.accesses[..index] {
                let (late, early) = (a.node.max(b.node), a.node.min(b.node));
                let ordered = late == early || self.before[late][early];
                let conflict = a.access.variable == b.access.variable
                    && (a.access.write || b.access.write)
                    && !(a.access.atomic && b.access.atomic);
                if conflict && !ordered && !a.locks.iter().any(|lock| b.locks.contains(lock)) {
                    racy[a.access.variable] = true;
                }
            }
        }
        racy
    }

    fn region(&mut self, body: &[Statement], threads: usize, start: usize) -> usize {
        let mut phase = self.node(&[start]);
        let mut ends: Vec<usize> = Vec::new();
        let mut members: Vec<Task> = (0..threads)
            .map(|_| Task::new(self.node(&[phase])))
            .collect();
        for statement in body {
            let mut barrier = false;
            match statement {
                Statement::Barrier => barrier = true,
                Statement::Single { nowait, body } => {
                    self.handed(&mut members, 0, phase, body, &mut ends);
                    barrier = !nowait;
                }
                Statement::Masked(body) => self.body(body, &mut members[0], &mut ends),
                Statement::For {
                    dynamic,
                    nowait,
                    count,
                    accesses,
                } => {
                    let begun: Vec<usize> = members.iter().map(|member| member.now).collect();
                    let mut iterations: Vec<Vec<usize>> = vec![Vec::new(); threads];
                    for iteration in 0..*count {
                        let body: Vec<Statement> = accesses
                            .iter()
                            .filter(|access| access.0 == iteration)
                            .map(|access| Statement::Access(access.1))
                            .collect();
                        match dynamic {
                            true => self.handed(&mut members, 0, phase, &body, &mut ends),
                            false => {
                                let owner = owner(iteration, *count, threads);
                                match self.apart {
                                    true => {
                                        let mut task = Task::new(self.node(&[begun[owner]]));
                                        self.body(&body, &mut task, &mut ends);
                                        iterations[owner].push(task.now);
                                    }
                                    false => self.body(&body, &mut members[owner], &mut ends),
                                }
                            }
                        }
                    }
                    for (member, own) in members.iter_mut().zip(iterations) {
                        if !own.is_empty() {
                            member.now = self.node(&own);
                        }
                    }
                    barrier = !nowait;
                }
                Statement::Sections { nowait, bodies } => {
                    for member in 0..threads {
                        let own = bodies
                            .iter()
                            .enumerate()
                            .filter(|(index, _)| owner(*index, bodies.len(), threads) == member);
                        let body: Vec<Statement> = own.flat_map(|(_, body)| body.clone()).collect();
                        // The runtime does not tell of sections that one thread has.
                        if threads == 1 {
                            self.body(&body, &mut members[member], &mut ends);
                        } else if !body.is_empty() {
                            self.handed(&mut members, member, phase, &body, &mut ends);
                        }
                    }
                    barrier = !nowait;
                }
                statement => {
                    for member in &mut members {
                        self.body(std::slice::from_ref(statement), member, &mut ends);
                    }
                }
            }
            if barrier {
                ends.extend(members.iter().map(|member| member.now));
                phase = self.node(&ends);
                ends.clear();
                for member in &mut members {
                    *member = Task::new(self.node(&[phase]));
                }
            }
        }
        ends.extend(members.iter().map(|member| member.now));
        self.node(&ends)
    }

    /// Something that any member may be handed.
    fn handed(
        &mut self,
        members: &mut [Task],
        member: usize,
        phase: usize,
        body: &[Statement],
        ends: &mut Vec<usize>,
    ) {
        if members.len() == 1 && !self.apart {
            return self.body(body, &mut members[member], ends);
        }
        let mut task = Task::new(self.node(&[phase]));
        self.body(body, &mut task, ends);
        ends.push(task.now);
    }

    /// What a task does. The ends of all tasks that are begun go to `ends`.
    fn body(&mut self, body: &[Statement], task: &mut Task, ends: &mut Vec<usize>) {
        for statement in body {
            match statement {
                Statement::Access(access) => self.access(*access, task, None),
                Statement::Critical(name, accesses) => {
                    for access in accesses {
                        self.access(*access, task, Some(*name));
                    }
                }
                Statement::Task {
                    undeferred,
                    is_final,
                    depends,
                    body,
                } => {
                    let mut after = self.predecessors(task, depends);
                    after.push(task.now);
                    let mut child = Task::new(self.node(&after));
                    child.is_final = *is_final || task.is_final;
                    let exclusive = depends
                        .iter()
                        .filter(|depend| depend.1 == Dependence::MutexInOutSet);
                    let first = Some(task.first);
                    child.exclusive = exclusive.map(|depend| (first, depend.0)).collect();
                    let waits = *undeferred || task.is_final;
                    if waits {
                        // What excludes others from its creator does so until that ends, and it waits.
                        child.exclusive.extend(&task.exclusive);
                    }
                    self.body(body, &mut child, ends);
                    ends.push(child.now);
                    task.children.push(child.now);
                    if !depends.is_empty() {
                        task.depends.push((child.now, depends.clone()));
                    }
                    let after = if waits {
                        vec![task.now, child.now]
                    } else {
                        vec![task.now]
                    };
                    task.now = self.node(&after);
                }
                Statement::Taskwait(depends) => {
                    let mut after = match depends.is_empty() {
                        true => task.children.clone(),
                        false => self.predecessors(task, depends),
                    };
                    after.push(task.now);
                    task.now = self.node(&after);
                }
                Statement::Taskgroup(body) => {
                    let mut inner = Vec::new();
                    self.body(body, task, &mut inner);
                    ends.extend(&inner);
                    inner.push(task.now);
                    task.now = self.node(&inner);
                }
                region => unreachable!("only in a region itself: {region:?}"),
            }
        }
    }

    /// The siblings that a new child comes after.
    fn predecessors(&self, task: &Task, depends: &[(usize, Dependence)]) -> Vec<usize> {
        let after = |other: &[(usize, Dependence)]| {
            depends
                .iter()
                .any(|a| other.iter().any(|b| a.0 == b.0 && conflict(a.1, b.1)))
        };
        task.depends
            .iter()
            .filter(|other| after(&other.1))
            .map(|other| other.0)
            .collect()
    }

    fn access(&mut self, access: Access, task: &Task, lock: Option<usize>) {
        let lock = lock.map(|name| (None, name));
        let locks = task.exclusive.iter().copied().chain(lock).collect();
        self.accesses.push(Placed {
            node: task.now,
            access,
            locks,
        });
    }
}

/// Which thread a static schedule gives an iteration to.
fn owner(iteration: usize, count: usize, threads: usize) -> usize {
    let (small, extra) = (count / threads, count % threads);
    let large = extra * (small + 1);
    match iteration < large {
        true => iteration / (small + 1),
        false => extra + (iteration - large) / small,
    }
}
