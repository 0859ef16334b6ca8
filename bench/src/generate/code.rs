//! The source of a program that a trace could be from: its procedures, and the places in them.
//!
//! A place always does the same to the same field of objects, and an object is used by two procedures
//! besides the one that made it; so a variable is touched by few places, and a place touches many
//! variables.

use deadheat_model::Site;

use super::heap::FIELDS;

/// How many places a round of procedures in [`Code::new`] has.
const ROUND: u32 = 36;
/// How many places the procedures that there are once have, and how many each racy family.
const ONCE: u32 = 29;
const FAMILY: u32 = 5;
/// How many racy families there are at most: each has up to four racy pairs of places.
const FAMILIES: u32 = 8;
const MOST_STEPS: usize = 8;

/// One access.
#[derive(Clone, Copy)]
pub struct Step {
    pub site: Site,
    /// Of the object the procedure is about.
    pub field: u8,
    pub read: bool,
}

/// Some accesses to an object; where a lock protects it, in a section.
#[derive(Clone, Copy)]
pub struct Procedure {
    pub enter: Site,
    pub leave: Site,
    steps: [Step; MOST_STEPS],
    len: usize,
}

impl Procedure {
    #[inline]
    pub fn steps(&self) -> &[Step] {
        &self.steps[..self.len]
    }

    /// A step of the procedure in a loop.
    pub fn step(&self, n: usize) -> Step {
        self.steps[n % self.len]
    }
}

/// The places that touch a racy variable. One of them is in a section, and so does not race with
/// itself.
#[derive(Clone, Copy)]
pub struct Family {
    pub read: Site,
    pub write: Site,
    pub acquire: Site,
    pub write_in_section: Site,
    pub release: Site,
}

/// All procedures.
pub struct Code {
    pub fork: Site,
    pub join: Site,
    pub shared_maker: Procedure,
    pub own_maker: Procedure,
    pub protected_maker: Procedure,
    pub put: Procedure,
    pub slot_full: Site,
    pub take: Procedure,
    pub slot_read: Site,
    pub slot_empty: Site,
    pub racy: Vec<Family>,
    /// Two for each kind of object.
    pub own: Vec<Procedure>,
    pub protected: Vec<Procedure>,
    pub shared: Vec<Procedure>,
}

impl Code {
    /// As many procedures as that many places make. Where they are too few for one of each, places
    /// do several things.
    pub fn new(sites: u32, read_share: f64, racy: bool) -> Code {
        let mut places = Places {
            sites,
            next: 0,
            read_share,
            reads: 0.5,
        };
        let families = if racy {
            (sites / 20).clamp(1, FAMILIES)
        } else {
            0
        };
        let rounds = sites.saturating_sub(ONCE + FAMILY * families) / ROUND;
        let mut code = Code {
            fork: places.next(),
            join: places.next(),
            shared_maker: places.maker(),
            own_maker: places.maker(),
            protected_maker: places.maker(),
            put: places.in_section(Places::maker),
            slot_full: places.next(),
            take: places.in_section(|places| places.procedure(FIELDS as usize)),
            slot_read: places.next(),
            slot_empty: places.next(),
            racy: (0..families).map(|_| places.family()).collect(),
            own: Vec::new(),
            protected: Vec::new(),
            shared: Vec::new(),
        };
        for _ in 0..rounds.max(1) {
            for steps in [5, 7] {
                code.own.push(places.procedure(steps));
            }
            for steps in [4, 6] {
                let protected = places.in_section(|places| places.procedure(steps));
                code.protected.push(protected);
                code.shared.push(places.reader(steps));
            }
        }
        code
    }

    /// One of the two procedures for a kind of object.
    #[inline]
    pub fn one_of(procedures: &[Procedure], kind: u64, second: bool) -> &Procedure {
        let kinds = procedures.len() as u64 / 2;
        &procedures[(kind % kinds) as usize * 2 + usize::from(second)]
    }
}

/// Gives out places, and decides what is done there.
struct Places {
    sites: u32,
    next: u32,
    read_share: f64,
    /// How many reads there are too few so far.
    reads: f64,
}

impl Places {
    fn next(&mut self) -> Site {
        let site = Site(self.next % self.sites);
        self.next += 1;
        site
    }

    /// Accesses with the asked share of reads, evenly mixed, starting at any field.
    fn procedure(&mut self, len: usize) -> Procedure {
        let first = self.next;
        let steps = std::array::from_fn(|n| {
            if n >= len {
                return Step {
                    site: Site(0),
                    field: 0,
                    read: true,
                };
            }
            self.reads += self.read_share;
            let read = self.reads >= 1.0;
            self.reads -= f64::from(u8::from(read));
            Step {
                site: self.next(),
                field: ((u64::from(first) + n as u64) % FIELDS) as u8,
                read,
            }
        });
        Procedure {
            enter: Site(0),
            leave: Site(0),
            steps,
            len,
        }
    }

    fn in_section(&mut self, procedure: impl FnOnce(&mut Places) -> Procedure) -> Procedure {
        let enter = self.next();
        let procedure = procedure(self);
        Procedure {
            enter,
            leave: self.next(),
            ..procedure
        }
    }

    /// Writes every field, the first first.
    fn maker(&mut self) -> Procedure {
        let mut procedure = self.procedure(FIELDS as usize);
        for (field, step) in procedure.steps.iter_mut().enumerate() {
            step.field = field as u8 % FIELDS as u8;
            step.read = false;
        }
        procedure
    }

    fn reader(&mut self, len: usize) -> Procedure {
        let mut procedure = self.procedure(len);
        for step in &mut procedure.steps {
            step.read = true;
        }
        procedure
    }

    fn family(&mut self) -> Family {
        Family {
            read: self.next(),
            write: self.next(),
            acquire: self.next(),
            write_in_section: self.next(),
            release: self.next(),
        }
    }
}
