//! Two accesses, as every report about a trace tells them.
//!
//! Very many races have few threads, places and variables between them, and names can be long: each is spelt once, and
//! shared. Cost: some 200 bytes a race, and each name once.

use std::hash::Hash;
use std::sync::Arc;

use deadheat_model::{EventNumber, Location, Names, Race, RacingAccess, Site, Strand};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::filter::{Filter, LeftOut};
use crate::fingerprint::fingerprint;
use crate::sources::Sources;

/// Two accesses.
#[derive(Clone, Serialize)]
pub struct PairReport {
    /// Its identity: the same for every engine, and in every format.
    pub fingerprint: String,
    /// `write-read` and so on: first, then second.
    pub kind: String,
    /// What both touch.
    pub variable: Arc<str>,
    /// How many pairs of events at these two places this one stands for.
    pub count: u64,
    /// The one that came first in the trace.
    pub first: AccessInTrace,
    /// The other one.
    pub second: AccessInTrace,
    /// The two places, in no order.
    #[serde(skip)]
    pub places: (Site, Site),
}

/// One access of a pair.
#[derive(Clone, Serialize)]
pub struct AccessInTrace {
    /// The event's number, from 1.
    pub event: EventNumber,
    /// The name of the thread or task that accesses.
    pub thread: Arc<str>,
    /// Where in the source.
    pub loc: Arc<str>,
}

/// Tells races in a trace's names.
pub(crate) struct Wording<'t> {
    names: &'t Names,
    sources: &'t Sources,
    strands: Spelt<Strand>,
    sites: Spelt<Site>,
    locations: Spelt<Location>,
}

type Spelt<K> = FxHashMap<K, Arc<str>>;

impl<'t> Wording<'t> {
    /// The names of a trace, whose places are in these files.
    pub(crate) fn new(names: &'t Names, sources: &'t Sources) -> Wording<'t> {
        Wording {
            names,
            sources,
            strands: Spelt::default(),
            sites: Spelt::default(),
            locations: Spelt::default(),
        }
    }

    /// Tells a race.
    pub(crate) fn pair(&mut self, race: &Race) -> PairReport {
        PairReport {
            fingerprint: race_identity(race, self.names, self.sources),
            kind: race.kind().to_string(),
            variable: spelt(&mut self.locations, race.location, |x| {
                self.names.location(x).into()
            }),
            count: race.count,
            first: self.access(&race.first),
            second: self.access(&race.second),
            places: race.places(),
        }
    }

    fn access(&mut self, access: &RacingAccess) -> AccessInTrace {
        let names = self.names;
        AccessInTrace {
            event: access.event,
            thread: spelt(&mut self.strands, access.strand, |who| {
                names.strand(who).into()
            }),
            loc: spelt(&mut self.sites, access.site, |site| names.site(site).into()),
        }
    }
}

fn spelt<K: Copy + Eq + Hash>(
    known: &mut Spelt<K>,
    what: K,
    name: impl FnOnce(K) -> Arc<str>,
) -> Arc<str> {
    known.entry(what).or_insert_with(|| name(what)).clone()
}

/// The identity of a race: the same whatever engine finds it.
pub fn race_identity(race: &Race, names: &Names, sources: &Sources) -> String {
    let variable = names.location(race.location);
    let places = [&race.first, &race.second].map(|access| names.site(access.site));
    fingerprint(sources, "race", &variable, &[&places[0], &places[1]])
}

impl PairReport {
    pub(crate) fn is_kept(&self, filter: &Filter, left_out: &mut LeftOut) -> bool {
        let places = [&*self.first.loc, &*self.second.loc];
        filter.keeps(&self.fingerprint, &self.variable, places, left_out)
    }
}
