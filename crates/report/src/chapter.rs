//! What a command has to say about one input, for SARIF and the page.

use std::iter::once;

use deadheat_model::Finding;
use deadheat_model::finding::{Identity, Rule, bugs};
use rustc_hash::FxHashMap;

use crate::page::{Graph, Story};
use crate::sources::Sources;
use crate::text::style::counted;

/// How many findings of one input SARIF and the page have, the first ones; services take no more, either.
const MAX_FINDINGS: usize = 10_000;

/// What a command has to say about one input.
pub struct Chapter<'s> {
    /// The program or the trace.
    pub title: String,
    /// Its bugs.
    pub entries: Vec<Entry>,
    /// What each engine proves.
    pub guarantees: Vec<String>,
    /// The files that it is about.
    pub sources: &'s Sources,
}

/// A bug, with what a page shows of it.
pub struct Entry {
    /// The finding that speaks for it.
    pub lead: Finding,
    /// Other findings that the same change mends.
    pub others: Vec<Finding>,
    /// The events that lead to it.
    pub story: Option<Story>,
    /// What orders the events around it.
    pub graph: Option<Graph>,
}

impl<'s> Chapter<'s> {
    /// Of the first findings, one of each identity: the one that is best founded.
    pub fn new<'f>(
        title: String,
        findings: impl IntoIterator<Item = &'f Finding>,
        guarantees: Vec<String>,
        sources: &'s Sources,
    ) -> Chapter<'s> {
        let mut guarantees = guarantees;
        let mut places: FxHashMap<Identity, usize> = FxHashMap::default();
        let mut kept: Vec<Finding> = Vec::new();
        let mut more = 0;
        for finding in findings {
            match places.get(&finding.identity) {
                Some(&place) if doubt(finding.rule) < doubt(kept[place].rule) => {
                    kept[place] = finding.clone();
                }
                Some(&place) if finding.engine == kept[place].engine => {
                    kept[place].count = kept[place].count.saturating_add(finding.count);
                }
                Some(_) => {}
                None if kept.len() < MAX_FINDINGS => {
                    places.insert(finding.identity, kept.len());
                    kept.push(finding.clone());
                }
                None => more += 1,
            }
        }
        if more > 0 {
            guarantees.push(format!("{} only in --json", counted(more, "more finding")));
        }
        let bugs = bugs(&kept);
        let mut kept: Vec<Option<Finding>> = kept.into_iter().map(Some).collect();
        let entries = bugs.into_iter().filter_map(|bug| {
            let others = bug.others.iter().filter_map(|&other| kept[other].take());
            let others = others.collect();
            Some(Entry {
                lead: kept[bug.lead].take()?,
                others,
                story: None,
                graph: None,
            })
        });
        Chapter {
            title,
            entries: entries.collect(),
            guarantees,
            sources,
        }
    }
}

impl Entry {
    /// All its findings.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        once(&self.lead).chain(&self.others)
    }
}

/// The less, the better founded.
fn doubt(rule: Rule) -> u8 {
    match rule {
        Rule::PredictedRace => 0,
        Rule::Suspect => 2,
        Rule::Race
        | Rule::UseAfterFree
        | Rule::DestroyedWhileHeld
        | Rule::Deadlock
        | Rule::Failure => 1,
    }
}
