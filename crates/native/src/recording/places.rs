//! Places in the source: where an event comes from, as the line in the program's own code that led to it.

use std::sync::Arc;

use deadheat_model::finding::Frame;
use deadheat_model::words::Table;
use deadheat_model::{Site, SiteKind};
use deadheat_trace::TraceError;
use deadheat_trace::dht::Writer;
use rustc_hash::FxHashMap;

use crate::findings::Process;
use crate::symbols::Symbols;

/// Names places and remembers them.
#[derive(Default)]
pub struct Places {
    sites: FxHashMap<String, Site>,
    /// Of those at which memory is freed, or a lock begins or ends: the site that each has for that.
    special: FxHashMap<(Site, SiteKind), Site>,
    /// By code address: the place if it lies in the program's own code, and what it is called else.
    known: FxHashMap<u64, (Option<Site>, String)>,
    /// The calls at each place, by its name.
    pub frames: FxHashMap<String, Arc<[Arc<Frame>]>>,
}

impl Places {
    /// The place of code at a return address, in functions that return to `calls`, outermost first.
    pub fn site(
        &mut self,
        symbols: &mut Symbols,
        process: &Process,
        writer: &Writer,
        pc: u64,
        calls: &[u64],
    ) -> Result<Site, TraceError> {
        if pc != 0
            && let Some((Some(site), _)) = self.known.get(&pc)
        {
            return Ok(*site);
        }
        for code in stack(pc, calls) {
            if !self.known.contains_key(&code) {
                let found = self.look_up(symbols, process, writer, code)?;
                self.known.insert(code, found);
            }
            if let Some((Some(site), _)) = self.known.get(&code) {
                return Ok(*site);
            }
        }
        let name = self.known.get(&pc).filter(|_| pc != 0);
        let name = name.map_or("?".to_string(), |(_, name)| name.clone());
        self.named(writer, name)
    }

    /// The same place, where that is done.
    pub fn special(
        &mut self,
        site: Site,
        kind: SiteKind,
        writer: &Writer,
    ) -> Result<Site, TraceError> {
        if let Some(special) = self.special.get(&(site, kind)) {
            return Ok(*special);
        }
        let mut sites = self.sites.iter();
        let name = sites.find(|(_, known)| **known == site);
        let name = name.map_or("?", |(name, _)| name);
        let special = Site(writer.site_of(kind, name)? as u32);
        self.special.insert((site, kind), special);
        Ok(special)
    }

    /// The calls at each place, innermost first.
    pub fn calls(&self) -> FxHashMap<Site, Arc<[Arc<Frame>]>> {
        let sites = self.sites.iter();
        sites
            .filter_map(|(name, &site)| Some((site, self.frames.get(name)?.clone())))
            .collect()
    }

    /// What the place of code at a return address is called, if it was looked up.
    pub fn name(&self, pc: u64) -> &str {
        self.known.get(&pc).map_or("", |(_, name)| name)
    }

    fn look_up(
        &mut self,
        symbols: &mut Symbols,
        process: &Process,
        writer: &Writer,
        code: u64,
    ) -> Result<(Option<Site>, String), TraceError> {
        let frames = symbols.frames(process, code);
        let mut own = frames.iter();
        let own = own.find(|frame| frame.is_own());
        let name = own
            .or(frames.first())
            .map_or("?".to_string(), |frame| frame.place().to_string());
        self.frames
            .entry(name.clone())
            .or_insert_with(|| frames.clone());
        let site = match own {
            Some(_) => Some(self.named(writer, name.clone())?),
            None => None,
        };
        Ok((site, name))
    }

    fn named(&mut self, writer: &Writer, name: String) -> Result<Site, TraceError> {
        if let Some(site) = self.sites.get(&name) {
            return Ok(*site);
        }
        let site = Site(writer.name(Table::Sites, &name)? as u32);
        self.sites.insert(name, site);
        Ok(site)
    }
}

/// The calls that lead to code, innermost first, from those that are made, outermost first.
pub fn stack(pc: u64, calls: &[u64]) -> impl Iterator<Item = u64> {
    let innermost = (pc != 0).then_some(pc);
    // Whoever called the first function is not the program.
    innermost
        .into_iter()
        .chain(calls.iter().skip(1).rev().copied())
}
