//! Schedules that show the races of a class.
//!
//! Two accesses that the class leaves unordered race in some order of it. The schedule that shows them
//! does what the two need and nothing else, then the two. It is run, and believed only if the race is
//! there: a program that has races can do what no order of its sections makes it do.

use std::collections::BTreeMap;

use deadheat_lang::{Program, RecordedSchedule, Schedule};
use deadheat_model::{
    AccessKind, EventNumber, Names, Op, Race, RacingAccess, Site, StopPoll, StopReason, StopToken,
    Strand,
};
use deadheat_offline::graph;
use deadheat_offline::pairs::{self, Node};
use rustc_hash::FxHashMap;

use super::SectionOptions;
use super::class::Class;
use super::strands::Strands;
use crate::{News, PossibleAccess, PossibleRace};

/// How many races are kept.
const MAX_RACES: usize = 1000;

/// How often it is tried to show a race that does not show: it may be one that needs another race.
const MAX_TRIES: u32 = 8;

/// What makes a race the same race in another run.
type RaceKey = (String, [(Site, AccessKind); 2]);

fn key(race: &Race, names: &Names) -> RaceKey {
    (names.location(race.location).into_owned(), race.ends())
}

/// The races that have been shown, each by the shortest schedule found, and those that could not be.
pub(super) struct Races<'p> {
    program: &'p Program,
    options: SectionOptions,
    shown: BTreeMap<RaceKey, PossibleRace>,
    /// What was found and not yet told.
    pub(super) news: Vec<News>,
    /// How often each race did not show.
    tries: FxHashMap<RaceKey, u32>,
}

impl Races<'_> {
    pub(super) fn new(program: &Program, options: SectionOptions) -> Races<'_> {
        Races {
            program,
            options,
            shown: BTreeMap::new(),
            news: Vec::new(),
            tries: FxHashMap::default(),
        }
    }

    /// Whether some race has been shown.
    pub(super) fn any(&self) -> bool {
        !self.shown.is_empty()
    }

    /// Whether some race did not show.
    pub(super) fn any_missing(&self) -> bool {
        !self.tries.is_empty()
    }

    /// The first race is shown whatever the time.
    fn stop(&self) -> StopToken {
        match self.any() {
            true => self.options.stop,
            false => StopToken::default(),
        }
    }

    pub(super) fn into_shown(self) -> Vec<PossibleRace> {
        self.shown.into_values().collect()
    }

    /// Adds the races of a class, each with the schedule that shows it, if that is new or shorter. Gives the
    /// reason if it is time to stop before all are added.
    pub(super) fn add(&mut self, class: &Class, strands: &mut Strands) -> Option<StopReason> {
        let mut poll = StopPoll::new(self.stop());
        let is_section = |node| class.graph.section(node).is_some();
        let found = pairs::races(
            class.accesses.clone(),
            |_| None,
            |a, b, _| class.before[b].contains(a) || (is_section(a) && is_section(b)),
            &mut poll,
        );
        for race in &found.found {
            let names = &class.run.execution.names;
            let key = key(race, names);
            let tries = self.tries.get(&key).copied().unwrap_or(0);
            let known = self.shown.get(&key).map(|known| known.schedule.steps());
            if tries >= MAX_TRIES || (known.is_none() && self.shown.len() >= MAX_RACES) {
                continue;
            }
            if let Some(why) = self.stop().due() {
                return Some(why);
            }
            let steps = steps_to(class, race);
            if known.is_some_and(|known| known <= steps.len() as u64) {
                continue;
            }
            let schedule = RecordedSchedule::from_steps(&steps, names);
            let mut shown = self.show(&schedule, &key, strands);
            if shown.is_none() && known.is_none() {
                // The run itself has it, if it is one that its own order leaves open.
                shown = self.show(&class.run.schedule(), &key, strands);
            }
            match shown {
                Some(shown) => {
                    let news = News::Race {
                        location: shown.location.clone(),
                        places: [shown.first.site, shown.second.site],
                    };
                    // A shorter schedule of a race that is known is no news.
                    if self.shown.insert(key, shown).is_none() {
                        self.news.push(news);
                    }
                }
                None => *self.tries.entry(key).or_default() += 1,
            }
        }
        None
    }

    /// Runs a schedule; gives the race if it is there.
    fn show(
        &self,
        schedule: &RecordedSchedule,
        key: &RaceKey,
        strands: &mut Strands,
    ) -> Option<PossibleRace> {
        let recorded = Schedule::Recorded(schedule.clone());
        let SectionOptions { max_steps, .. } = self.options;
        let mut poll = StopPoll::new(self.stop());
        let run = self.program.run_until(&recorded, max_steps, self.stop());
        let run = run.ok()?;
        let names = &run.execution.names;
        let races = graph::check_until(&run.execution, &mut poll).races;
        let race = races.iter().find(|race| self::key(race, names) == *key)?;
        let mut number = |strand| Strand(strands.number(&names.strand_path(strand)));
        let mut access = |access: &RacingAccess| PossibleAccess {
            site: access.site,
            kind: access.kind,
            strand: number(access.strand),
        };
        let (first, second) = (access(&race.first), access(&race.second));
        let until = race.second.event as usize;
        let sections = run.execution.events[..until].iter();
        let sections = sections.filter(|event| event.op() == Op::IsolatedBegin);
        Some(PossibleRace {
            location: key.0.clone(),
            first,
            second,
            sections: sections.map(|event| number(event.strand())).collect(),
            schedule: schedule.clone(),
        })
    }
}

/// Who takes each step of a schedule that does what the two accesses need, and then these.
fn steps_to(class: &Class, race: &Race) -> Vec<Strand> {
    let (first, second) = (race.first.event, race.second.event);
    let node_of = |number| class.graph.node_of(number).unwrap_or_default();
    let (first_node, second_node) = (node_of(first), node_of(second));
    let is_before = |node: Node| {
        class.before[first_node].contains(node) || class.before[second_node].contains(node)
    };
    let open = [first_node, second_node].map(|node| class.graph.section(node));
    let is_needed = |number: EventNumber, node: Node| {
        // A section that is begun is ended, or no other one can begin.
        let section = class.graph.section(node);
        let begun = section.filter(|_| !open.contains(&section));
        is_before(node)
            || begun.is_some_and(|section| is_before(class.sections[section].0))
            || (node == first_node && number <= first)
            || (node == second_node && number <= second)
    };
    // While the section of one of the two is open no other one can begin. So: what does not depend
    // on it; what the other access needs of it, and what depends on that; the rest of it; and what
    // races with it.
    let begin = open
        .iter()
        .flatten()
        .map(|&section| class.sections[section].0)
        .next();
    let rank = |number: EventNumber, node: Node| {
        let section = class.graph.section(node);
        let is_open = section.is_some() && open.contains(&section);
        let other = match section == class.graph.section(first_node) {
            true => second_node,
            false => first_node,
        };
        let depends = begin.is_some_and(|begin| class.before[node].contains(begin));
        match () {
            () if number == second => 4,
            () if is_open && !class.before[other].contains(node) => 3,
            () if is_open => 1,
            () if depends => 2,
            () => 0,
        }
    };
    let events = &class.run.execution.events;
    let mut needed: Vec<(u8, EventNumber)> = (1..=events.len() as EventNumber)
        .filter(|&number| is_needed(number, node_of(number)))
        .map(|number| (rank(number, node_of(number)), number))
        .collect();
    needed.sort_unstable();
    let strand = |(_, number): (u8, EventNumber)| events[number as usize - 1].strand();
    needed.into_iter().map(strand).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_first_race_is_shown_whatever_the_time_and_no_other() {
        let source = "shared x; shared y; proc main() { async { x = 1; y = 1; } x = 2; y = 2; }";
        let program = Program::parse(source).unwrap();
        let run = program.run(&Schedule::DepthFirst, 1000).unwrap();
        let options = SectionOptions {
            max_steps: 1000,
            max_orders: 10,
            stop: StopToken::default().or_after(Duration::ZERO),
        };
        let mut races = Races::new(&program, options);
        let class = Class::of(&run).unwrap();
        let why = races.add(&class, &mut Strands::default());
        assert_eq!(why, Some(StopReason::TimeUp));
        assert_eq!(races.into_shown().len(), 1);
    }
}
