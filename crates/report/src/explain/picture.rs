//! The ordering graph around a race as a picture: a column for each thread, time downwards.

use std::fmt::Write;

use deadheat_explain::{EdgeKind, Neighbourhood, neighbourhood};
use deadheat_model::{Event, EventNumber, Execution, Race, Strand};
use deadheat_offline::threads::ImpossibleEvent;

use crate::drawing::{escaped, quoted};
use crate::text::style::cut;

const ROW: usize = 30;
const COLUMN: usize = 240;
const MARGIN: usize = 24;
const HEAD: usize = 92;
const BOX: (usize, usize) = (190, 22);

const STYLE: &str = "\
text{font:12px monospace;fill:#222}
.title,.name{font-weight:bold}
.legend{fill:#6b7280}
rect{fill:#fff;stroke:#6b7280}
rect.paper{stroke:none}
rect.racing{stroke:#c81e1e;stroke-width:2.5}
path{fill:none;stroke-width:1.5}
.own{stroke:#d1d5db}
.sync{stroke:#4f86c6}
.data{stroke:#b45309;stroke-dasharray:4 3}
.race{stroke:#c81e1e;stroke-width:2.5;stroke-dasharray:8 4}
";

/// What came before a race, to be drawn.
pub struct RacePicture<'t> {
    title: String,
    execution: &'t Execution,
    race: Race,
    around: Neighbourhood,
    strands: Vec<Strand>,
}

impl<'t> RacePicture<'t> {
    /// The surroundings of a race, or why nobody could have done the execution.
    pub fn new(
        title: &str,
        execution: &'t Execution,
        race: &Race,
    ) -> Result<RacePicture<'t>, ImpossibleEvent> {
        let around = neighbourhood(execution, race)?;
        let mut strands = vec![race.first.strand, race.second.strand];
        for &event in &around.events {
            let strand = execution.event(event).map(|event| event.strand());
            strands.extend(strand.filter(|strand| !strands.contains(strand)));
        }
        Ok(RacePicture {
            title: title.to_string(),
            execution,
            race: *race,
            around,
            strands,
        })
    }

    /// The picture: one file that needs no other.
    pub fn svg(&self) -> String {
        let rows = self.around.events.len();
        let width = 2 * MARGIN + (self.strands.len() * COLUMN).max(560);
        let height = 2 * MARGIN + HEAD + rows * ROW;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\">\n<title>{title}</title>\n\
             <style>\n{STYLE}</style>\n\
             <defs><marker id=\"arrow\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" \
             markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\
             <path d=\"M0 1L10 5L0 9z\" style=\"fill:#374151\"/></marker></defs>\n\
             <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n\
             <text class=\"title\" x=\"{MARGIN}\" y=\"{MARGIN}\">{title}</text>\n\
             <text class=\"legend\" x=\"{MARGIN}\" y=\"{}\">blue: waits for; brown, dashed: reads \
             what was written; red: the race</text>\n",
            MARGIN + 20,
            title = escaped(&self.title),
        );
        for (column, &strand) in self.strands.iter().enumerate() {
            let name = cut(&self.execution.names.strand(strand), 26);
            let x = MARGIN + column * COLUMN;
            let bottom = MARGIN + HEAD + rows * ROW;
            let middle = x + BOX.0 / 2;
            let _ = writeln!(
                svg,
                "<text class=\"name\" x=\"{x}\" y=\"{}\">{}</text>\n\
                 <path class=\"own\" d=\"M{middle} {}L{middle} {bottom}\"/>",
                MARGIN + HEAD - 20,
                escaped(&name),
                MARGIN + HEAD - 12,
            );
        }
        for &event in &self.around.events {
            self.event(&mut svg, event);
        }
        for &(from, to, kind) in &self.around.edges {
            let class = match kind {
                EdgeKind::Synchronisation => "sync",
                EdgeKind::Data => "data",
            };
            self.line(&mut svg, from, to, class);
        }
        self.line(
            &mut svg,
            self.race.first.event,
            self.race.second.event,
            "race",
        );
        svg + "</svg>\n"
    }

    /// The picture as DOT, for Graphviz: the same boxes and lines.
    pub fn dot(&self) -> String {
        let mut dot = format!(
            "digraph {title} {{\n\
             label={title}; labelloc=t; bgcolor=white; fontname=monospace; fontsize=12;\n\
             node [shape=box fillcolor=white style=filled color=\"#6b7280\" fontname=monospace fontsize=11];\n",
            title = quoted(&self.title),
        );
        // Writing to a string cannot fail.
        for &strand in &self.strands {
            let name = quoted(&self.execution.names.strand(strand));
            let column = strand.0;
            let _ = writeln!(
                dot,
                "s{column} [label={name} shape=plaintext group=s{column}];"
            );
            let mut above = format!("s{column}");
            for &number in &self.around.events {
                let event = self.execution.event(number);
                let Some(event) = event.filter(|event| event.strand() == strand) else {
                    continue;
                };
                let racing = number == self.race.first.event || number == self.race.second.event;
                let outline = if racing {
                    " color=\"#c81e1e\" penwidth=2.5"
                } else {
                    ""
                };
                let label = quoted(&self.label(event));
                let tooltip = quoted(&format!(
                    "event {number}: {}",
                    self.execution.names.line(event)
                ));
                let _ = writeln!(
                    dot,
                    "e{number} [label={label} tooltip={tooltip} group=s{column}{outline}];\n\
                     {above} -> e{number} [color=\"#d1d5db\" weight=8 arrowhead=none];"
                );
                above = format!("e{number}");
            }
        }
        for &(from, to, kind) in &self.around.edges {
            let attributes = match kind {
                EdgeKind::Synchronisation => "color=\"#4f86c6\"",
                EdgeKind::Data => "color=\"#b45309\" style=dashed",
            };
            let _ = writeln!(dot, "e{from} -> e{to} [{attributes}];");
        }
        let (first, second) = (self.race.first.event, self.race.second.event);
        let race = "color=\"#c81e1e\" style=\"dashed,bold\" dir=none constraint=false";
        let _ = writeln!(dot, "e{first} -> e{second} [{race}];");
        dot + "}\n"
    }

    /// What an event's box says.
    fn label(&self, event: &Event) -> String {
        let names = &self.execution.names;
        format!(
            "{} at {}",
            names.action(event.op()),
            names.site(event.site())
        )
    }

    /// Where an event's box is: its left upper corner.
    fn place(&self, event: EventNumber) -> Option<(usize, usize)> {
        let row = self.around.events.binary_search(&event).ok()?;
        let strand = self.execution.event(event)?.strand();
        let column = self.strands.iter().position(|other| *other == strand)?;
        Some((MARGIN + column * COLUMN, MARGIN + HEAD + row * ROW))
    }

    fn event(&self, svg: &mut String, number: EventNumber) {
        let (Some((x, y)), Some(event)) = (self.place(number), self.execution.event(number)) else {
            return;
        };
        let racing = number == self.race.first.event || number == self.race.second.event;
        let names = &self.execution.names;
        let what = self.label(event);
        let _ = writeln!(
            svg,
            "<g><title>event {number}: {}</title><rect{} x=\"{x}\" y=\"{y}\" width=\"{}\" \
             height=\"{}\" rx=\"3\"/><text x=\"{}\" y=\"{}\">{}</text></g>",
            escaped(&names.line(event).to_string()),
            if racing { " class=\"racing\"" } else { "" },
            BOX.0,
            BOX.1,
            x + 6,
            y + 15,
            escaped(&cut(&what, 25)),
        );
    }

    fn line(&self, svg: &mut String, from: EventNumber, to: EventNumber, class: &str) {
        let (Some(a), Some(b)) = (self.place(from), self.place(to)) else {
            return;
        };
        let right = a.0 < b.0;
        let (ax, bx) = match right {
            true => (a.0 + BOX.0, b.0),
            false => (a.0, b.0 + BOX.0),
        };
        let (ay, by) = (a.1 + BOX.1 / 2, b.1 + BOX.1 / 2);
        let marker = if class == "race" {
            ""
        } else {
            " marker-end=\"url(#arrow)\""
        };
        let _ = writeln!(
            svg,
            "<path class=\"{class}\" d=\"M{ax} {ay}L{bx} {by}\"{marker}/>"
        );
    }
}
