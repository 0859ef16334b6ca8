//! The drawing as SVG: one file that needs no other.

use std::fmt::Write;

use super::layout::{LINE, Layout, PADDING, Rectangle, width};
use super::lines::Piece;
use super::{Drawing, EdgeKind, LEGEND, NodeBox, RACE_LEGEND};

/// The white space around everything.
const MARGIN: i32 = 24;

const STYLE: &str = "\
text{font:12px monospace;fill:#222}
.title{font-weight:bold}
.caption,.number{fill:#6b7280}
.name{font-weight:bold;fill:#374151}
.hot{font-weight:bold;fill:#c81e1e}
.label{text-anchor:middle}
rect{fill:#fff;stroke:#6b7280}
.isolated rect{fill:#e3e8f1}
.racing rect{stroke:#c81e1e;stroke-width:2.5}
rect.paper,rect.under{stroke:none}
path{fill:none;stroke-width:1.5}
.program{stroke:#222}
.sync{stroke:#4f86c6}
.isolation{stroke:#7c5295;stroke-dasharray:2 3}
.lock{stroke:#b7791f;stroke-dasharray:6 3}
.race{stroke:#c81e1e;stroke-width:2.5;stroke-dasharray:8 4}
marker path{stroke:none}
";

impl EdgeKind {
    /// Its class in the picture, and the colour of its arrow.
    fn style(self) -> (&'static str, &'static str) {
        match self {
            EdgeKind::Program => ("program", "#222"),
            EdgeKind::Sync => ("sync", "#4f86c6"),
            EdgeKind::Isolation => ("isolation", "#7c5295"),
            EdgeKind::Lock => ("lock", "#b7791f"),
        }
    }
}

impl Drawing {
    /// The picture as SVG.
    pub fn svg(&self) -> String {
        let layout = Layout::new(self);
        let text_width = width(&self.title).max(width(&self.caption));
        let inner = layout.width.max(text_width).max(360);
        let (names, legend_height) = self.names(inner);
        let head = 2 * LINE + 8 + legend_height + 20;
        let (w, h) = (inner + 2 * MARGIN, head + layout.height + 2 * MARGIN);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" \
             height=\"{h}\">\n<title>{}: {}</title>\n<style>\n{STYLE}</style>\n<defs>\n",
            escaped(&self.title),
            self.caption
        );
        for (kind, _) in LEGEND {
            let (class, colour) = kind.style();
            add(
                &mut svg,
                format_args!(
                    "<marker id=\"{class}\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" \
                     markerUnits=\"userSpaceOnUse\" markerWidth=\"9\" markerHeight=\"9\" \
                     orient=\"auto\"><path d=\"M0 1L10 5L0 9z\" fill=\"{colour}\" \
                     style=\"fill:{colour}\"/></marker>\n"
                ),
            );
        }
        let title = escaped(&self.title);
        add(
            &mut svg,
            format_args!(
                "</defs>\n<rect class=\"paper\" width=\"{w}\" height=\"{h}\"/>\n\
                 <g transform=\"translate({MARGIN} {MARGIN})\">\n\
                 <text class=\"title\" y=\"12\">{title}</text>\n\
                 <text class=\"caption\" y=\"{}\">{}</text>\n\
                 <g transform=\"translate(0 {})\">\n{names}</g>\n</g>\n",
                12 + LINE,
                self.caption,
                2 * LINE + 8,
            ),
        );
        // A narrow graph stands in the middle.
        let left = MARGIN + (inner - layout.width) / 2;
        add(
            &mut svg,
            format_args!("<g transform=\"translate({left} {})\">\n", MARGIN + head),
        );
        for (edge, line) in self.edges.iter().zip(&layout.edges) {
            let (class, _) = edge.kind.style();
            let path = path(line.start, &line.pieces);
            add(
                &mut svg,
                format_args!(
                    "<path class=\"{class}\" marker-end=\"url(#{class})\" d=\"{path}\"/>\n"
                ),
            );
        }
        for (node, placed) in self.boxes.iter().zip(&layout.boxes) {
            add_box(&mut svg, node, placed, layout.numbers);
        }
        for (race, (line, _)) in self.races.iter().zip(&layout.races) {
            let path = path(line.start, &line.pieces);
            let names = escaped(&race.names(1_000));
            add(
                &mut svg,
                format_args!("<path class=\"race\" d=\"{path}\"><title>{names}</title></path>\n"),
            );
        }
        for (race, &(_, (x, y))) in self.races.iter().zip(&layout.races) {
            let label = race.label();
            let size = width(&label) + 4;
            add(
                &mut svg,
                format_args!(
                    "<rect class=\"under\" x=\"{}\" y=\"{}\" width=\"{size}\" height=\"15\"/>\
                     <text class=\"hot label\" x=\"{x}\" y=\"{}\">{}</text>\n",
                    x - size / 2,
                    y - 8,
                    y + 4,
                    escaped(&label)
                ),
            );
        }
        svg + "</g>\n</svg>\n"
    }

    /// What the picture's lines and boxes mean, as far as it has them, and how high that is.
    fn names(&self, room: i32) -> (String, i32) {
        let mut svg = String::new();
        let (mut x, mut y) = (0, 0);
        let mut entry = |sample: String, text: &str| {
            let size = 40 + width(text) + 24;
            if x > 0 && x + size > room {
                (x, y) = (0, y + LINE + 4);
            }
            add(
                &mut svg,
                format_args!(
                    "<g transform=\"translate({x} {y})\">{sample}<text class=\"caption\" x=\"40\" \
                     y=\"12\">{text}</text></g>\n"
                ),
            );
            x += size;
        };
        for (kind, text) in LEGEND {
            if self.has(kind) {
                let (class, _) = kind.style();
                let sample =
                    format!("<path class=\"{class}\" marker-end=\"url(#{class})\" d=\"M0 8H32\"/>");
                entry(sample, text);
            }
        }
        let sample = "<rect x=\"4\" y=\"1\" width=\"24\" height=\"14\" rx=\"4\"/>";
        if self.boxes.iter().any(|node| node.isolated) {
            entry(format!("<g class=\"isolated\">{sample}</g>"), "isolated");
        }
        if !self.races.is_empty() {
            let sample = "<path class=\"race\" d=\"M0 8H32\"/>";
            entry(sample.to_string(), RACE_LEGEND);
        }
        (svg, y + LINE)
    }
}

fn add_box(svg: &mut String, node: &NodeBox, placed: &Rectangle, numbers: i32) {
    let mut class = "node".to_string();
    if node.isolated {
        class += " isolated";
    }
    if node.races() {
        class += " racing";
    }
    let (x, y) = (placed.x, placed.y);
    add(
        svg,
        format_args!(
            "<g class=\"{class}\" transform=\"translate({x} {y})\"><title>{}\n{}</title>\
             <rect width=\"{}\" height=\"{}\" rx=\"7\"/>\
             <text class=\"name\" x=\"{PADDING}\" y=\"{LINE}\">{}</text>",
            escaped(&node.name),
            escaped(&node.steps.full()),
            placed.width,
            placed.height,
            escaped(&placed.name)
        ),
    );
    for (row, index) in placed.rows.iter().zip(2..) {
        let y = LINE * index;
        if let Some(line) = row.line {
            let x = PADDING + numbers - 8;
            add(
                svg,
                format_args!(
                    "<text class=\"number\" text-anchor=\"end\" x=\"{x}\" y=\"{y}\">{line}</text>"
                ),
            );
        }
        add(
            svg,
            format_args!("<text x=\"{}\" y=\"{y}\">", PADDING + numbers),
        );
        for (index, (text, hot)) in row.pieces.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let text = escaped(text);
            match hot {
                true => add(
                    svg,
                    format_args!("{comma}<tspan class=\"hot\">{text}</tspan>"),
                ),
                false => add(svg, format_args!("{comma}{text}")),
            }
        }
        *svg += "</text>";
    }
    *svg += "</g>\n";
}

/// Writing to a string cannot fail.
fn add(svg: &mut String, text: std::fmt::Arguments) {
    let _ = svg.write_fmt(text);
}

/// The `d` of a path.
fn path(start: (i32, i32), pieces: &[Piece]) -> String {
    let mut d = format!("M{} {}", start.0, start.1);
    let (mut x, mut y) = start;
    for piece in pieces {
        let to = match *piece {
            Piece::Straight(to) | Piece::Down(to) | Piece::Across(to) => to,
        };
        if to == (x, y) {
            continue;
        }
        let (mx, my) = ((x + to.0) / 2, (y + to.1) / 2);
        let (tx, ty) = to;
        match piece {
            Piece::Down(_) if tx != x => add(&mut d, format_args!("C{x} {my} {tx} {my} {tx} {ty}")),
            Piece::Across(_) if ty != y => {
                add(&mut d, format_args!("C{mx} {y} {mx} {ty} {tx} {ty}"));
            }
            _ => add(&mut d, format_args!("L{tx} {ty}")),
        }
        (x, y) = to;
    }
    d
}

/// A text as it may stand in XML, which knows no control characters.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' => escaped.push('\n'),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
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
        assert_eq!(escaped("a<b & \"c\">"), "a&lt;b &amp; &quot;c&quot;&gt;");
        assert_eq!(escaped("\0\x1b\u{ffff}é\n"), "\u{fffd}\u{fffd}\u{fffd}é\n");
    }
}
