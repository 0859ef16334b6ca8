//! Races of an execution as findings: numbers become names. Each name is spelt once, and shared.

use std::hash::Hash;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{AccessCause, Act, Finding, HeldLock, Place, Rule, Side, SourceLines, Variable};
use crate::{
    AccessKind, Deadlock, Location, Names, Op, Race, RacingAccess, Site, SiteKind, Strand,
};

/// How many characters a task's name may have before it is shortened.
const MAX_NAME: usize = 60;

/// Describes races by an execution's names.
pub struct Describer<'t> {
    names: &'t Names,
    lines: &'t dyn SourceLines,
    strands: FxHashMap<Strand, Arc<str>>,
    places: FxHashMap<Site, Arc<Place>>,
    variables: FxHashMap<Location, Variable>,
}

impl<'t> Describer<'t> {
    /// By these names, whose places are in these sources.
    pub fn new(names: &'t Names, lines: &'t dyn SourceLines) -> Describer<'t> {
        Describer {
            names,
            lines,
            strands: FxHashMap::default(),
            places: FxHashMap::default(),
            variables: FxHashMap::default(),
        }
    }

    /// A race, as an engine found it.
    pub fn finding(&mut self, rule: Rule, engine: &'static str, race: &Race) -> Finding {
        let names = self.names;
        let variable = shared(&mut self.variables, race.location, |x| {
            Variable::named(&*names.location(x))
        });
        let sides = vec![self.side(&race.first), self.side(&race.second)];
        let frees = sides.iter().any(|side| side.act.frees());
        let rule = match rule {
            Rule::Race | Rule::PredictedRace if frees => Rule::UseAfterFree,
            rule => rule,
        };
        let mut finding = Finding::new(rule, engine, variable, sides);
        finding.count = race.count;
        finding.identified(self.lines)
    }

    /// A deadlock that some reordering of the execution's events ends in, or may end in.
    pub fn deadlock(&mut self, engine: &'static str, deadlock: &Deadlock) -> Finding {
        let names = self.names;
        let sides = deadlock.waits.iter().map(|wait| {
            let want = |lock, exclusive| Act::Want {
                lock: names.lock(lock).into(),
                exclusive,
            };
            let act = match wait.op {
                Op::Acquire(lock) => want(lock, true),
                Op::AcquireShared(lock) => want(lock, false),
                Op::Join(child) => Act::Join(self.strand(child)),
                _ => want(names.isolation(), true),
            };
            let held = wait.holds.iter().map(|held| HeldLock {
                name: names.lock(held.lock).into_owned(),
                exclusive: !held.shared,
                taken: Some(self.place(held.site)),
            });
            let locks: Vec<HeldLock> = held.collect();
            let (thread, place) = (self.strand(wait.strand), self.place(wait.site));
            let mut side = Side::new(act, thread, place);
            (side.event, side.locks) = (wait.event, locks.into());
            side
        });
        let sides: Vec<Side> = sides.collect();
        let mut finding = Finding::new(Rule::Deadlock, engine, Variable::named(""), sides);
        finding.count = finding.sides.len() as u64;
        finding.identified(self.lines)
    }

    fn side(&mut self, access: &RacingAccess) -> Side {
        let (thread, place) = (self.strand(access.strand), self.place(access.site));
        let mut act = Act::plain(access.kind);
        if let Act::Access { cause, kind, .. } = &mut act
            && *kind == AccessKind::Write
        {
            *cause = match self.names.site_kind(access.site) {
                SiteKind::Plain => AccessCause::Instruction,
                SiteKind::Free => AccessCause::Free,
                SiteKind::LockLife => AccessCause::LockLife,
            };
        }
        let mut side = Side::new(act, thread, place);
        side.event = access.event;
        side
    }

    /// What a strand is called.
    pub fn strand(&mut self, strand: Strand) -> Arc<str> {
        let names = self.names;
        shared(&mut self.strands, strand, |strand| {
            short_name(&names.strand(strand)).into()
        })
    }

    /// A place in the source.
    pub fn place(&mut self, site: Site) -> Arc<Place> {
        let names = self.names;
        shared(&mut self.places, site, |site| {
            let place = Place::parse(&names.site(site));
            Arc::new(match names.position(site) {
                Some(at) => place.spanning(at.offset, at.length),
                None => place,
            })
        })
    }
}

fn shared<K: Copy + Eq + Hash, V: Clone>(
    known: &mut FxHashMap<K, V>,
    key: K,
    make: impl FnOnce(K) -> V,
) -> V {
    known.entry(key).or_insert_with(|| make(key)).clone()
}

/// A strand's name; shortened if it is a long path: a recursion can make paths of millions of characters.
pub fn short_name(name: &str) -> String {
    let depth = name.matches('/').count();
    match name.char_indices().nth(MAX_NAME) {
        Some((end, _)) if depth > 0 => format!("{}… ({depth} deep)", &name[..end]),
        _ => name.to_string(),
    }
}
