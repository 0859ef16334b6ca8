//! The drawing as DOT, for Graphviz.

use std::fmt::Write;

use super::{Drawing, EdgeKind, LEGEND, RACE_LEGEND};

const RACE: &str = "color=\"#c81e1e\" style=\"dashed,bold\" penwidth=2.5 dir=none constraint=false";

impl EdgeKind {
    fn attributes(self) -> &'static str {
        match self {
            EdgeKind::Program => "weight=8",
            EdgeKind::Sync => "color=\"#4f86c6\"",
            EdgeKind::Isolation => "color=\"#7c5295\" style=dotted constraint=true",
            EdgeKind::Lock => "color=\"#b7791f\" style=dashed constraint=true",
        }
    }
}

impl Drawing {
    /// The picture as DOT.
    pub fn dot(&self) -> String {
        let mut dot = format!(
            "digraph {} {{\n\
             label={}; labelloc=t; bgcolor=white; fontname=monospace; fontsize=12;\n\
             node [shape=box style=\"rounded,filled\" fillcolor=white color=\"#6b7280\" \
             fontname=monospace fontsize=11];\n\
             edge [fontname=monospace fontsize=11 arrowsize=0.7];\n",
            quoted(&self.title),
            quoted(&format!("{}: {}", self.title, self.caption)),
        );
        for (index, node) in self.boxes.iter().enumerate() {
            let mut label = escaped(&node.name) + "\\l";
            for row in node.steps.rows() {
                if let Some(line) = row.line {
                    label += &format!("{line}  ");
                }
                label += &escaped(&row.text());
                label += "\\l";
            }
            let tooltip = quoted(&format!("{}\n{}", node.name, node.steps.full()));
            let fill = match node.isolated {
                true => " fillcolor=\"#e3e8f1\"",
                false => "",
            };
            let outline = match node.races() {
                true => " color=\"#c81e1e\" penwidth=2.5",
                false => "",
            };
            let group = node.strand.0;
            // Writing to a string cannot fail.
            let _ = writeln!(
                dot,
                "n{index} [label=\"{label}\" tooltip={tooltip} group=s{group}{fill}{outline}];"
            );
        }
        for edge in &self.edges {
            let (from, to) = (edge.from, edge.to);
            let _ = writeln!(dot, "n{from} -> n{to} [{}];", edge.kind.attributes());
        }
        for race in &self.races {
            let (a, b) = race.nodes;
            let label = quoted(&race.label());
            let _ = writeln!(
                dot,
                "n{a} -> n{b} [{RACE} label={label} fontcolor=\"#c81e1e\"];"
            );
        }
        dot + &self.dot_legend() + "}\n"
    }

    fn dot_legend(&self) -> String {
        let mut entries: Vec<(&str, &str)> = LEGEND
            .iter()
            .filter(|(kind, _)| self.has(*kind))
            .map(|(kind, text)| (kind.attributes(), *text))
            .collect();
        if !self.races.is_empty() {
            entries.push((RACE, RACE_LEGEND));
        }
        let mut dot = String::new();
        for (index, (attributes, text)) in entries.into_iter().enumerate() {
            let _ = writeln!(
                dot,
                "a{index} [label={} shape=plaintext style=\"\"]; b{index} [shape=point]; \
                 a{index} -> b{index} [{attributes} constraint=true];",
                quoted(text)
            );
        }
        format!("subgraph cluster_legend {{ label=\"\"; color=\"#cccccc\";\n{dot}}}\n")
    }
}

pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// A text as it may stand between quotes. Graphviz reads backslashes and HTML's entities in labels.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => escaped += "\\\"",
            '\\' => escaped += "\\\\",
            '&' => escaped += "&amp;",
            '\n' => escaped += "\\n",
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_break_out() {
        assert_eq!(
            quoted("a\"b\\N &lt;\n\0"),
            "\"a\\\"b\\\\N &amp;lt;\\n\u{fffd}\""
        );
    }
}
