//! Findings as text, with the source lines they are about.

use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Snippet};
use deadheat_lang::Diagnostics;
use deadheat_model::SourcePosition;
use rustc_hash::FxHashMap;

use crate::check::{AccessReport, CheckReport, DeadlockReport, ErrorReport, RaceReport};
use crate::entries::sentence;
use crate::style::{counted, grouped, identity, renderer};

/// How many tasks of a deadlock are shown with their source; the rest are counted.
const MAX_WAITING: usize = 50;

/// How many further races with the same identity are told in a note.
const MAX_OTHERS: usize = 3;

/// A line of more bytes than this is shown in parts.
const LONG_LINE: usize = 1000;

/// Turns findings about one source file into text. Styled: whoever prints it strips the colours
/// where they do not belong.
pub struct Renderer<'s> {
    path: &'s str,
    source: &'s str,
    long_lines: bool,
    renderer: annotate_snippets::Renderer,
}

impl<'s> Renderer<'s> {
    /// For findings about the file `path`, whose text is `source`.
    pub fn new(path: &'s str, source: &'s str) -> Renderer<'s> {
        Renderer {
            path,
            source,
            long_lines: source.lines().any(|line| line.len() > LONG_LINE),
            renderer: renderer(),
        }
    }

    /// What is wrong with the program's text.
    pub fn diagnostics(&self, diagnostics: &Diagnostics) -> String {
        let mut text = String::new();
        for diagnostic in &diagnostics.found {
            let span = diagnostic.span.start as usize..diagnostic.span.end as usize;
            let main = self.mark(AnnotationKind::Primary, span, &diagnostic.label);
            let related = diagnostic.related.iter().map(|(span, label)| {
                let span = span.start as usize..span.end as usize;
                self.mark(AnnotationKind::Context, span, label)
            });
            let title = Level::ERROR.primary_title(diagnostic.message.as_str());
            let marks = std::iter::once(main).chain(related);
            let mut group = self.group(Group::with_title(title), marks);
            if let Some(help) = &diagnostic.help {
                group = group.element(Level::HELP.message(help.as_str()));
            }
            self.add(&mut text, group);
        }
        let count = diagnostics.found.len() as u64;
        let count = match diagnostics.more {
            true => format!("more than {}", counted(count, "error")),
            false => counted(count, "error"),
        };
        let last = format!("`{}` could not be read: {count}", self.path);
        let title = Level::ERROR.primary_title(last);
        self.add(&mut text, Group::with_title(title));
        text
    }

    /// What a check found, `most` races and errors in full, the guarantee at the end.
    pub fn check(&self, report: &CheckReport, most: usize) -> String {
        let mut text = String::new();
        let things = things(&report.races);
        for races in things.iter().take(most) {
            let group = self.one_thing(races, report.races_complete);
            self.add(&mut text, group);
        }
        if let Some(error) = &report.error {
            let title = error.message.clone() + &identity(&error.fingerprint);
            let group = self.error(title, error);
            self.add(&mut text, group);
        }
        if let Some(deadlock) = &report.deadlock {
            let group = self.deadlock("nobody can go on", deadlock);
            self.add(&mut text, group);
        }
        self.explored(report, most, &mut text);
        let hidden: usize = things.iter().skip(most).map(Vec::len).sum();
        if hidden > 0 {
            text += &format!(
                "{} not shown; --max-shown shows more, --json lists all\n",
                counted(hidden as u64, "more race")
            );
        }
        if !report.races_complete {
            text += "not all pairs of accesses were compared: there may be more places, and the numbers \
                     of pairs are lower bounds\n";
        }
        text + &format!("{}: {}\n", self.path, report.guarantee)
    }

    /// Races with one identity: the first in full, the others in a note.
    fn one_thing(&self, races: &[&RaceReport], complete: bool) -> Group<'_> {
        let race = races[0];
        let more = match race.count {
            1 => String::new(),
            n if complete => format!(" ({} pairs of accesses)", grouped(n)),
            n => format!(" (at least {} pairs of accesses)", grouped(n)),
        };
        let more = more + &identity(&race.fingerprint);
        let mut group = self.race(&race.location, &race.first, &race.second, &more);
        if races.len() > 1 {
            let others = races[1..].iter().take(MAX_OTHERS);
            let others = others.map(|race| sentence(&race.location, &race.first, &race.second));
            let mut others: Vec<String> = others.collect();
            let hidden = races.len().saturating_sub(1 + MAX_OTHERS) as u64;
            if hidden > 0 {
                others.push(format!("{} in --json", counted(hidden, "more race")));
            }
            let note = format!("on the same lines, {}", others.join("; "));
            group = group.element(Level::NOTE.message(note));
        }
        if let Some(parallel) = &race.parallel {
            group = group.element(Level::NOTE.message(parallel.clone()));
        }
        if let Some(order) = race.order.as_ref().filter(|order| !order.is_empty()) {
            let note = format!("when sections are entered by {}", shortened(order));
            group = group.element(Level::NOTE.message(note));
        }
        group = group.elements(race.schedule.as_deref().map(schedule_note));
        match &race.remedy {
            Some(remedy) => group.element(Level::HELP.message(remedy.clone())),
            None => group,
        }
    }

    /// What only other schedules show.
    fn explored(&self, report: &CheckReport, most: usize, text: &mut String) {
        let Some(explored) = &report.explored else {
            return;
        };
        let shown = |line: &AccessReport, other: &AccessReport, location: &str| {
            let places = |a: &AccessReport, b: &AccessReport| {
                let mut places = [a.position, b.position];
                places.sort();
                places
            };
            report.races.iter().any(|race| {
                race.location == location
                    && places(&race.first, &race.second) == places(line, other)
            })
        };
        let others = explored
            .races
            .iter()
            .filter(|race| !shown(&race.first, &race.second, &race.location));
        let hidden = others.clone().count().saturating_sub(most) as u64;
        for race in others.take(most) {
            let more = format!(" (in another schedule){}", identity(&race.fingerprint));
            let group = self.race(&race.location, &race.first, &race.second, &more);
            self.add(text, group.element(schedule_note(&race.schedule)));
        }
        if hidden > 0 {
            let hidden = counted(hidden, "more race");
            *text += &format!(
                "{hidden} in other schedules not shown; --max-shown shows more, --json lists all\n\n"
            );
        }
        if let (Some(found), None) = (&explored.deadlock, &report.deadlock) {
            let group = self.deadlock("nobody can go on (in another schedule)", &found.what);
            self.add(text, group.element(schedule_note(&found.schedule)));
        }
        let here = report.error.as_ref().map(|error| error.position);
        let errors = explored.errors.iter();
        let errors = errors.filter(|found| Some(found.what.position) != here);
        for found in errors.take(most) {
            let error = &found.what;
            let identity = identity(&error.fingerprint);
            let title = format!("{} (in another schedule){identity}", error.message);
            let group = self.error(title, error);
            self.add(text, group.element(schedule_note(&found.schedule)));
        }
    }

    fn race(
        &self,
        location: &str,
        first: &AccessReport,
        second: &AccessReport,
        more: &str,
    ) -> Group<'_> {
        let title = format!("{}{more}", sentence(location, first, second));
        let mark = |access: &AccessReport| {
            let label = format!("{} by {}", access.access, access.task);
            self.mark(AnnotationKind::Primary, range(access.position), &label)
        };
        let title = named("race").primary_title(title);
        // One place that races with itself, in two tasks, is marked once.
        let marks = match first.position == second.position {
            true => {
                let label = format!(
                    "{} by {}, {} by {}",
                    first.access, first.task, second.access, second.task
                );
                vec![self.mark(AnnotationKind::Primary, range(first.position), &label)]
            }
            false => vec![mark(first), mark(second)],
        };
        self.group(Group::with_title(title), marks)
    }

    fn error(&self, title: String, error: &ErrorReport) -> Group<'_> {
        let label = format!("in {}", error.task);
        let mut marks = vec![self.mark(AnnotationKind::Primary, range(error.position), &label)];
        if let Some(first) = error.first_set {
            marks.push(self.mark(AnnotationKind::Context, range(first), "set first here"));
        }
        let title = named("failure").primary_title(title);
        self.group(Group::with_title(title), marks)
    }

    fn deadlock(&self, title: &str, deadlock: &DeadlockReport) -> Group<'_> {
        let title = format!("{title}{}", identity(&deadlock.fingerprint));
        let marks = deadlock.waiting.iter().take(MAX_WAITING).map(|waiting| {
            let label = format!("{} waits for {}", waiting.task, waiting.waits_for);
            self.mark(AnnotationKind::Primary, range(waiting.position), &label)
        });
        let title = named("deadlock").primary_title(title);
        let group = self.group(Group::with_title(title), marks);
        let hidden = deadlock.waiting.len().saturating_sub(MAX_WAITING) + deadlock.more;
        match hidden {
            0 => group,
            n => group.element(Level::NOTE.message(format!("{n} more wait, too"))),
        }
    }

    fn group<'g>(
        &'g self,
        group: Group<'g>,
        marks: impl IntoIterator<Item = Annotation<'g>>,
    ) -> Group<'g> {
        let snippet = || Snippet::source(self.source).path(self.path);
        match self.long_lines {
            false => group.element(snippet().annotations(marks)),
            // Two marks in a line as long as a book would show all that lies between them.
            true => group.elements(marks.into_iter().map(|mark| snippet().annotation(mark))),
        }
    }

    /// Marks a piece of the source, which must lie inside it.
    fn mark(&self, kind: AnnotationKind, span: Range<usize>, label: &str) -> Annotation<'static> {
        let end = span.end.min(self.source.len());
        let annotation = kind.span(span.start.min(end)..end);
        match label.is_empty() {
            true => annotation,
            false => annotation.label(label.to_string()),
        }
    }

    fn add(&self, text: &mut String, group: Group<'_>) {
        *text += &self.renderer.render(&[group]);
        *text += "\n\n";
    }
}

/// Races by identity, in the order of the first of each: one thing to mend is shown once.
fn things(races: &[RaceReport]) -> Vec<Vec<&RaceReport>> {
    let mut places: FxHashMap<&str, usize> = FxHashMap::default();
    let mut things: Vec<Vec<&RaceReport>> = Vec::new();
    for race in races {
        let place = *places.entry(&race.fingerprint).or_insert(things.len());
        match things.get_mut(place) {
            Some(thing) => thing.push(race),
            None => things.push(vec![race]),
        }
    }
    things
}

/// The level of a finding, by what it is called.
fn named(name: &'static str) -> Level<'static> {
    Level::ERROR.with_name(Some(name))
}

fn range(position: SourcePosition) -> Range<usize> {
    let start = position.offset as usize;
    start..start + position.length as usize
}

/// A schedule in one line, shortened if it is long; or why there is none.
fn schedule_note(schedule: &[String]) -> annotate_snippets::Message<'static> {
    Level::NOTE.message(match schedule {
        [] => "without a schedule: there was no time to follow it again, or no room to keep one for each race".to_string(),
        turns => format!("for example, by the schedule: {}", shortened(turns)),
    })
}

/// Turns one after the other, the first few if there are many.
pub(crate) fn shortened(turns: &[String]) -> String {
    const MOST: usize = 12;
    let mut shown: Vec<String> = turns.iter().take(MOST).cloned().collect();
    if turns.len() > MOST {
        shown.push(format!("… ({} turns)", turns.len()));
    }
    shown.join(", ")
}
