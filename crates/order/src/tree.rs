//! The dynamic program structure tree (spd3-pldi12, section 3): which steps may happen in parallel.
//!
//! A *step* is a run of events of one task in which it starts nothing and waits for nothing. Simple
//! model: an ordered tree whose leaves are the steps and whose inner nodes are the `async`s and
//! `finish`es they lie in. Of two steps, look at the children of their lowest common ancestor that
//! they lie under: the two are parallel if and only if the left one of these is an `async`
//! (Theorem 1). Tests compare with a tree that does exactly this, walking both paths to the root.
//!
//! The clever version:
//! - Only inner nodes are stored, 16 bytes each. A node gives rise to two steps, the first one inside
//!   it and the one that follows it, and a step's number is its node's number and a bit. So a task
//!   costs 16 bytes, and a step 32 bits to name.
//! - A node knows its parent and one ancestor further up, chosen so that any ancestor can be found
//!   in O(log depth) (a skew-binary skip list). Two nodes of equal depth jump equally far, so both
//!   sides climb together.
//! - Nodes never change, but for a scope that is left open, before anything comes after it, and the note that a task
//!   has ended in silence, which changes no answer. A task adds its nodes alone, so adding needs no lock, and the answer to a query never changes either: it can be remembered.
//!
//! Three additions to the paper. A scope can be left *open*: whoever entered it as a `finish` goes on without having
//! waited for all inside, as if its children were its parent's. *Cuts* end a step without starting anything: what a promise orders
//! begins or ends there. And there can be several trees: a thread, which no `finish` waits for,
//! begins one of its own. Steps of different trees are parallel as far as trees are concerned.
//!
//! Cost: adding O(1); a query O(log depth), and O(1) for steps of one scope or of a parent and its
//! child.

use std::cmp::Ordering;

use crate::arena::{Arena, Full, MAX_RECORDS};

/// A step's number. 0 stands for no step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Step(pub u32);

impl Step {
    /// No step.
    pub const NONE: Step = Step(0);

    fn inside(node: Node) -> Step {
        Step(node.0 << 1 | 1)
    }

    fn after(node: Node) -> Step {
        Step(node.0 << 1)
    }

    /// Whether there is no step.
    pub fn is_none(self) -> bool {
        self == Step::NONE
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Node(u32);

/// What an inner node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// The first of a tree: nothing follows it.
    Root,
    /// What is inside runs in parallel with what follows.
    Async,
    /// What is inside comes before what follows.
    Finish,
    /// Nothing is inside.
    Cut,
    /// Was entered as a `finish` and left without waiting: its children count as its parent's.
    Open,
    /// An `async` whose task has ended without anybody hearing of it: see [`Tree::silence`].
    Silent,
}

/// An inner node, unpacked.
#[derive(Clone, Copy, Debug)]
struct Inner {
    parent: Node,
    /// An ancestor further up: as far up as the parent's jump and that one's jump together if these
    /// are equally long, the parent if not. A root's is itself.
    jump: Node,
    depth: u32,
    kind: Kind,
    /// Which child of its parent it is, from 1.
    ordinal: u32,
}

const DEPTH_BITS: u32 = 29;

/// How many nodes are looked at to find the `finish` around silent tasks.
const CLIMB: u32 = 64;

/// What a root has for a parent.
const NO_PARENT: Node = Node(MAX_RECORDS);

impl Inner {
    fn pack(self) -> [u64; 2] {
        let links = u64::from(self.parent.0) | u64::from(self.jump.0) << 32;
        let depth = self.depth | (self.kind as u32) << DEPTH_BITS;
        [links, u64::from(depth) | u64::from(self.ordinal) << 32]
    }

    #[inline]
    fn unpack([links, rest]: [u64; 2]) -> Inner {
        let depth = rest as u32;
        Inner {
            parent: Node(links as u32),
            jump: Node((links >> 32) as u32),
            depth: depth & ((1 << DEPTH_BITS) - 1),
            kind: match depth >> DEPTH_BITS {
                0 => Kind::Root,
                1 => Kind::Async,
                2 => Kind::Finish,
                3 => Kind::Cut,
                4 => Kind::Open,
                _ => Kind::Silent,
            },
            ordinal: (rest >> 32) as u32,
        }
    }
}

/// Where a task stands in the tree. It goes with the task, whatever thread runs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The innermost `async` or `finish` the task is in.
    scope: Node,
    /// How many children that has.
    children: u32,
    step: Step,
}

impl Place {
    /// The step that the task is in.
    #[inline]
    pub fn step(&self) -> Step {
        self.step
    }

    /// The scope that this step lies in.
    #[inline]
    pub fn scope(&self) -> Scope {
        Scope(self.scope.0)
    }
}

/// The innermost `async` or `finish` that a step lies in. Of two steps of one scope, the one with the smaller number comes
/// before the other, and what a task does in one scope has growing numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scope(u32);

impl Scope {
    /// No scope.
    pub const NONE: Scope = Scope(MAX_RECORDS);
}

/// How two different steps stand to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Relation {
    /// Whether neither comes before the other.
    pub parallel: bool,
    /// Whether the first is to the left of the second. If they are not parallel, the left one comes
    /// before the right one.
    pub left: bool,
    /// How deep their lowest common ancestor lies; 0 if they are in different trees.
    pub depth: u32,
}

impl Relation {
    /// Whether the first comes before the second.
    pub fn precedes(&self) -> bool {
        self.left && !self.parallel
    }
}

/// See the [module](self).
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Arena,
}

impl Tree {
    /// A tree without nodes.
    pub fn new() -> Tree {
        Tree::default()
    }

    /// Begins a tree beside those there are: for the first task, and for a thread.
    pub fn root(&self) -> Result<Place, Full> {
        let root = |index| Inner {
            parent: NO_PARENT,
            jump: Node(index),
            depth: 0,
            kind: Kind::Root,
            ordinal: 0,
        };
        let index = self.nodes.push(|index| root(index).pack())?;
        Ok(Place::inside(Node(index)))
    }

    /// The task at `at` starts a task; gives the place where that one begins.
    pub fn spawn(&self, at: &mut Place) -> Result<Place, Full> {
        let node = self.add(at, Kind::Async)?;
        at.step = Step::after(node);
        Ok(Place::inside(node))
    }

    /// Starts the child of so high a number, from 1, of the `finish` that the task at `at` has entered and adds nothing else to:
    /// a parallel loop, whose children several threads can start at once.
    pub fn spawn_nth(&self, at: &Place, number: u32) -> Result<Place, Full> {
        let mut before = Place {
            children: number.saturating_sub(1),
            ..*at
        };
        self.spawn(&mut before)
    }

    /// The first step of the task that a step belongs to.
    pub fn first_step(&self, step: Step) -> Step {
        let mut node = self.leaf(step).scope;
        loop {
            let inner = self.inner(node);
            match inner.kind {
                Kind::Root | Kind::Async | Kind::Silent => return Step::inside(node),
                _ => node = inner.parent,
            }
        }
    }

    /// The task at `at` enters a `finish`.
    pub fn begin_finish(&self, at: &mut Place) -> Result<(), Full> {
        *at = Place::inside(self.add(at, Kind::Finish)?);
        Ok(())
    }

    /// The task at `at` leaves its innermost `finish` without having waited for all inside. Without one, nothing
    /// happens.
    pub fn leave_open(&self, at: &mut Place) {
        let inner = self.inner(at.scope);
        if inner.kind == Kind::Finish {
            let open = Inner {
                kind: Kind::Open,
                ..inner
            };
            self.nodes.replace(at.scope.0, open.pack());
            self.leave(at);
        }
    }

    /// The task at `at` leaves its innermost `finish`, having waited. Without one, nothing happens.
    pub fn end_finish(&self, at: &mut Place) {
        if self.inner(at.scope).kind == Kind::Finish {
            self.leave(at);
        }
    }

    fn leave(&self, at: &mut Place) {
        let finish = self.inner(at.scope);
        *at = Place {
            scope: finish.parent,
            // It was the last child: while inside, the task added no others.
            children: finish.ordinal,
            step: Step::after(at.scope),
        };
    }

    /// The task at `at` goes on in a new step.
    pub fn cut(&self, at: &mut Place) -> Result<(), Full> {
        at.step = Step::after(self.add(at, Kind::Cut)?);
        Ok(())
    }

    /// Whether the task at `at` is in a `finish` of its own: what it starts there, it waits for.
    pub fn is_in_finish(&self, at: &Place) -> bool {
        self.inner(at.scope).kind == Kind::Finish
    }

    /// The task at `at`, an `async`, has ended, and nobody has heard of it: it has signalled nothing, nobody waits for it
    /// but the `finish` around it, and whatever it has started it has waited for, and the same holds of that. So whatever
    /// comes after any of its steps, from now on, comes after the end of that `finish` (which is not to be left open, then).
    pub fn silence(&self, at: &Place) {
        let inner = self.inner(at.scope);
        if inner.kind == Kind::Async {
            let silent = Inner {
                kind: Kind::Silent,
                ..inner
            };
            // Only the kind changes, in one word: who reads the node meanwhile finds it as it was or as it is.
            self.nodes.replace(at.scope.0, silent.pack());
        }
    }

    /// Whether whatever comes after a step, from now on, comes after the end of a `finish` around it that is at a depth or
    /// above (and so after all inside of that one), as the silence of tasks tells. A root is a `finish` that never
    /// ends.
    ///
    /// Cost: a load for each node on the way up; a long way is given up, and the answer is no.
    pub fn is_silent_up_to(&self, step: Step, depth: u32) -> bool {
        let mut inner = self.inner(self.leaf(step).scope);
        let mut silent = false;
        for _ in 0..CLIMB {
            match inner.kind {
                // It is the task's own, or around a silent one.
                Kind::Finish if silent && inner.depth <= depth => return true,
                Kind::Finish => silent = false,
                Kind::Silent => silent = true,
                // A task around a silent one tells nothing about it: the same `finish` waits for both.
                Kind::Async if silent => {}
                Kind::Root => return silent,
                Kind::Async | Kind::Open | Kind::Cut => return false,
            }
            inner = self.inner(inner.parent);
        }
        false
    }

    /// The scope that a step lies in.
    #[inline]
    pub fn scope(&self, step: Step) -> Scope {
        Scope(self.leaf(step).scope.0)
    }

    /// How two different steps stand to each other.
    pub fn relation(&self, a: Step, b: Step) -> Relation {
        let (a, b) = (self.leaf(a), self.leaf(b));
        let (mut u, mut v) = (a.scope, b.scope);
        if u == v {
            return Relation {
                parallel: false,
                left: a.position < b.position,
                depth: self.inner(u).depth,
            };
        }
        let (mut in_u, mut in_v) = (self.inner(u), self.inner(v));
        // Climbs from the deeper scope to just below the depth of the other one.
        match in_u.depth.cmp(&in_v.depth) {
            Ordering::Greater => {
                let child = self.ancestor(u, in_v.depth + 1);
                let in_child = self.inner(child);
                if in_child.parent == v {
                    return self.in_scope(child, a.scope, b.position, true);
                }
                (u, in_u) = (in_child.parent, self.inner(in_child.parent));
            }
            Ordering::Less => {
                let child = self.ancestor(v, in_u.depth + 1);
                let in_child = self.inner(child);
                if in_child.parent == u {
                    return self.in_scope(child, b.scope, a.position, false);
                }
                (v, in_v) = (in_child.parent, self.inner(in_child.parent));
            }
            Ordering::Equal => {}
        }
        // Equally deep and different: climbs on both sides until the parents are the same.
        while in_u.parent != in_v.parent {
            (u, v) = match in_u.jump == in_v.jump {
                true => (in_u.parent, in_v.parent),
                false => (in_u.jump, in_v.jump),
            };
            (in_u, in_v) = (self.inner(u), self.inner(v));
        }
        if in_u.depth == 0 {
            return Relation {
                parallel: true,
                left: u.0 < v.0,
                depth: 0,
            };
        }
        let left = in_u.ordinal < in_v.ordinal;
        let (leftmost, scope) = if left { (u, a.scope) } else { (v, b.scope) };
        Relation {
            parallel: self.runs_beside(leftmost, scope),
            left,
            depth: in_u.depth - 1,
        }
    }

    /// Whether neither of two steps comes before the other.
    pub fn parallel(&self, a: Step, b: Step) -> bool {
        a != b && self.relation(a, b).parallel
    }

    /// Whether one step is the other or comes before it.
    pub fn precedes(&self, a: Step, b: Step) -> bool {
        a == b || self.relation(a, b).precedes()
    }

    /// Keeps the items whose steps come before no other's, once each, from left to right.
    ///
    /// A step comes before another if it is to the left of it, and would still be so if every `async`
    /// were moved after all that follows it: two total orders. So, from right to left, it is enough
    /// to compare each step with the last one kept, which of those kept is the last in the second
    /// order. From left to right, the second order of what is kept goes down.
    ///
    /// Cost: O(n log n) queries, O(n) if the items are mostly in order.
    pub fn keep_last<T>(&self, items: &mut Vec<T>, step_of: impl Fn(&T) -> Step) {
        items.sort_by(|a, b| {
            let (a, b) = (step_of(a), step_of(b));
            match a == b {
                true => Ordering::Equal,
                false if self.relation(a, b).left => Ordering::Less,
                false => Ordering::Greater,
            }
        });
        let mut kept = Step::NONE;
        items.reverse();
        items.retain(|item| {
            let step = step_of(item);
            let covered = !kept.is_none() && self.precedes(step, kept);
            if !covered {
                kept = step;
            }
            !covered
        });
        items.reverse();
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len() as usize
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes the tree takes, room for more nodes included.
    pub fn bytes(&self) -> usize {
        self.nodes.bytes()
    }

    /// A step in `scope`, below `child`, and one that is a child of `child`'s parent itself, at `position`.
    /// `first` says whether the one below `child` is the first of the two.
    fn in_scope(&self, child: Node, scope: Node, position: u64, first: bool) -> Relation {
        let inner = self.inner(child);
        let child_is_left = inner.position() < position;
        Relation {
            parallel: child_is_left && self.runs_beside(child, scope),
            left: child_is_left == first,
            depth: inner.depth - 1,
        }
    }

    /// Whether a step in `scope`, which is `node` or lies below it, runs beside what follows `node`.
    fn runs_beside(&self, mut node: Node, scope: Node) -> bool {
        loop {
            let inner = self.inner(node);
            match inner.kind {
                Kind::Async | Kind::Silent => return true,
                Kind::Open if node != scope => node = self.ancestor(scope, inner.depth + 1),
                _ => return false,
            }
        }
    }

    /// The ancestor of a node, or the node itself, at a depth that is not below it.
    fn ancestor(&self, mut node: Node, depth: u32) -> Node {
        loop {
            let inner = self.inner(node);
            if inner.depth <= depth {
                return node;
            }
            node = match self.depth_of(inner.jump) < depth {
                true => inner.parent,
                false => inner.jump,
            };
        }
    }

    fn add(&self, at: &mut Place, kind: Kind) -> Result<Node, Full> {
        let parent = self.inner(at.scope);
        if parent.depth + 1 >= 1 << DEPTH_BITS {
            return Err(Full);
        }
        let over = self.inner(parent.jump);
        let equally_long = parent.depth - over.depth == over.depth - self.depth_of(over.jump);
        let jump = match equally_long {
            true => over.jump,
            false => at.scope,
        };
        let node = Inner {
            parent: at.scope,
            jump,
            depth: parent.depth + 1,
            kind,
            ordinal: at.children + 1,
        };
        let node = Node(self.nodes.push(|_| node.pack())?);
        at.children += 1;
        Ok(node)
    }

    #[inline]
    fn inner(&self, node: Node) -> Inner {
        Inner::unpack(self.nodes.get(node.0))
    }

    #[inline]
    fn depth_of(&self, node: Node) -> u32 {
        self.inner(node).depth
    }

    #[inline]
    fn leaf(&self, step: Step) -> Leaf {
        let node = Node(step.0 >> 1);
        match step.0 & 1 {
            1 => Leaf {
                scope: node,
                position: 0,
            },
            _ => {
                let inner = self.inner(node);
                Leaf {
                    scope: inner.parent,
                    position: inner.position() + 1,
                }
            }
        }
    }
}

impl Inner {
    /// Where it is among its parent's children, inner nodes and steps.
    fn position(&self) -> u64 {
        2 * u64::from(self.ordinal)
    }
}

impl Place {
    fn inside(node: Node) -> Place {
        Place {
            scope: node,
            children: 0,
            step: Step::inside(node),
        }
    }
}

/// A step as a leaf: what it lies in, and where among that one's children.
struct Leaf {
    scope: Node,
    position: u64,
}
