//! What a node does, line by line of its source: `r(x)`, `w(a[3])`, `set(p)`.
//!
//! A thing done again in the same line is counted, not repeated: a loop takes one line. Where there
//! is no room for all, what races comes first.

use std::collections::BTreeSet;

use deadheat_model::{Event, EventNumber, Execution, Names, Op, Race};
use deadheat_offline::ComputationGraph;

use super::shortened;
use crate::text::style::grouped;

/// How many different things are kept of a node, and as many again of those that race.
const MAX_KEPT: usize = 50;
/// How many of them are shown in its box.
const MAX_SHOWN: usize = 8;
/// How many characters of names are shown.
const MAX_TEXT: usize = 24;

/// One thing done in one line.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The line, from 1; 0 if there is none.
    pub(super) line: u32,
    pub(super) text: String,
    pub(super) count: u64,
    pub(super) races: bool,
}

impl Step {
    fn shown(&self) -> String {
        let text = shortened(&self.text, MAX_TEXT);
        match self.count {
            1 => text,
            n => format!("{text} ×{}", grouped(n)),
        }
    }
}

/// A row of text in a box.
#[derive(Debug)]
pub(super) struct Row {
    /// The source line; none if that is the one of the row above.
    pub(super) line: Option<u32>,
    /// The pieces, to be set apart by commas, and whether each is part of a race.
    pub(super) pieces: Vec<(String, bool)>,
}

impl Row {
    /// The row without its line number.
    pub(super) fn text(&self) -> String {
        let pieces: Vec<&str> = self.pieces.iter().map(|(text, _)| text.as_str()).collect();
        pieces.join(", ")
    }
}

/// What a node does.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    steps: Vec<Step>,
    /// Whether one of them, kept or not, is part of a race.
    race: bool,
    /// How many were not kept.
    more: u64,
}

/// The steps of every node.
pub(super) fn of_nodes(
    execution: &Execution,
    graph: &ComputationGraph,
    races: &[Race],
) -> Vec<Steps> {
    let racing: BTreeSet<EventNumber> = races
        .iter()
        .flat_map(|race| [race.first.event, race.second.event])
        .collect();
    let mut nodes = vec![Steps::default(); graph.len()];
    for (event, number) in execution.events.iter().zip(1..) {
        let Some(node) = graph.node_of(number) else {
            break;
        };
        let Some(text) = words(&execution.names, event) else {
            continue;
        };
        let position = execution.names.position(event.site());
        nodes[node].add(Step {
            line: position.map_or(0, |position| position.line),
            text,
            count: 1,
            races: racing.contains(&number),
        });
    }
    nodes
}

impl Steps {
    fn add(&mut self, step: Step) {
        self.race |= step.races;
        let most = if step.races { 2 * MAX_KEPT } else { MAX_KEPT };
        let room = self.steps.len() < most;
        let same = |other: &&mut Step| other.line == step.line && other.text == step.text;
        match self.steps.iter_mut().find(same) {
            Some(known) => {
                known.count += 1;
                known.races |= step.races;
            }
            None if room => self.steps.push(step),
            None => self.more += 1,
        }
    }

    /// Whether one of them is part of a race.
    pub(super) fn race(&self) -> bool {
        self.race
    }

    /// The highest line number.
    pub(super) fn last_line(&self) -> u32 {
        self.steps.iter().map(|step| step.line).max().unwrap_or(0)
    }

    /// All of them, a source line a line.
    pub(super) fn full(&self) -> String {
        let mut text = String::new();
        let mut line = None;
        for step in &self.steps {
            text += match line == Some(step.line) {
                true => ", ",
                false => "\n",
            };
            if line != Some(step.line) && step.line > 0 {
                text += &format!("line {}: ", step.line);
            }
            text += &step.text;
            if step.count > 1 {
                text += &format!(" ×{}", grouped(step.count));
            }
            if step.races {
                text += " (races)";
            }
            line = Some(step.line);
        }
        if self.more > 0 {
            text += &format!("\n… {} more", grouped(self.more));
        }
        text.trim_start().to_string()
    }

    /// The rows of its box: all of a few steps, some of many.
    pub(super) fn rows(&self) -> Vec<Row> {
        let mut room = MAX_SHOWN;
        let racing = self.steps.iter().filter(|step| step.races).count();
        let mut others = MAX_SHOWN.saturating_sub(racing);
        let mut rows: Vec<Row> = Vec::new();
        let mut line = None;
        let mut left_out = self.more;
        for step in &self.steps {
            let budget = if step.races { &mut room } else { &mut others };
            if *budget == 0 {
                left_out += step.count;
                continue;
            }
            *budget -= 1;
            let piece = (step.shown(), step.races);
            match rows.last_mut() {
                Some(row)
                    if line == Some(step.line)
                        && row.text().chars().count() + piece.0.chars().count() < MAX_TEXT =>
                {
                    row.pieces.push(piece);
                }
                _ => rows.push(Row {
                    line: Some(step.line).filter(|&new| new > 0 && line != Some(new)),
                    pieces: vec![piece],
                }),
            }
            line = Some(step.line);
        }
        if left_out > 0 {
            rows.push(Row {
                line: None,
                pieces: vec![(format!("… {} more", grouped(left_out)), false)],
            });
        }
        rows
    }
}

/// What an event does; nothing for what goes without saying.
fn words(names: &Names, event: &Event) -> Option<String> {
    match event.op() {
        Op::End | Op::IsolatedEnd | Op::Begin | Op::Branch => None,
        op => Some(names.action(op).to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(line: u32, text: &str, races: bool) -> Step {
        Step {
            line,
            text: text.to_string(),
            count: 1,
            races,
        }
    }

    fn rows(steps: &Steps) -> Vec<(Option<u32>, String)> {
        let rows = steps.rows().into_iter();
        rows.map(|row| (row.line, row.text())).collect()
    }

    #[test]
    fn a_loop_is_counted_and_a_line_is_a_row() {
        let mut steps = Steps::default();
        for _ in 0..3 {
            steps.add(step(7, "r x", false));
            steps.add(step(7, "w x", false));
            steps.add(step(8, "w y", false));
        }
        let expected = [(Some(7), "r x ×3, w x ×3"), (Some(8), "w y ×3")];
        let expected = expected.map(|(line, text)| (line, text.to_string()));
        assert_eq!(rows(&steps), expected);
        assert_eq!(steps.full(), "line 7: r x ×3, w x ×3\nline 8: w y ×3");
    }

    #[test]
    fn what_races_comes_first() {
        let mut steps = Steps::default();
        for index in 0..1000 {
            steps.add(step(index + 1, &format!("w a[{index}]"), index == 990));
        }
        assert!(steps.race());
        let rows = rows(&steps);
        assert_eq!(rows.len(), MAX_SHOWN + 1);
        assert_eq!(rows[MAX_SHOWN - 1], (Some(991), "w a[990]".to_string()));
        assert_eq!(rows[MAX_SHOWN], (None, "… 992 more".to_string()));
        assert!(steps.full().ends_with("… 949 more"), "{}", steps.full());
    }

    #[test]
    fn a_crowded_line_takes_several_rows() {
        let mut steps = Steps::default();
        for index in 10..16 {
            steps.add(step(5, &format!("w table[{index}]"), false));
        }
        let lines: Vec<Option<u32>> = steps.rows().iter().map(|row| row.line).collect();
        assert_eq!(lines, [Some(5), None, None]);
    }
}
