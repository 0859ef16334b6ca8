//! Where boxes go.
//!
//! A column for each strand, in the order of their starts; a row for each length of the longest path
//! from the entry. So every edge goes down, and no two boxes share a place. Between rows and between
//! columns there is free space, for `lines`.

use std::collections::{BTreeMap, BTreeSet};

use deadheat_model::Strand;

use super::lines::{Line, Point};
use super::races::RaceLine;
use super::steps::Row;
use super::{Drawing, shortened};

/// The width of a character, and how far apart lines of text are.
pub(super) const CHARACTER: f64 = 7.3;
pub(super) const LINE: i32 = 16;
/// The space between a box and its text.
pub(super) const PADDING: i32 = 9;
/// The free space between rows, and between columns.
const ROW_GAP: i32 = 44;
const COLUMN_GAP: i32 = 56;
/// The longest name of a strand that is shown in full.
const MAX_NAME: usize = 26;

/// How wide a text is.
pub(super) fn width(text: &str) -> i32 {
    (text.chars().count() as f64 * CHARACTER).ceil() as i32
}

/// A box.
#[derive(Debug)]
pub(super) struct Rectangle {
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) name: String,
    pub(super) rows: Vec<Row>,
}

impl Rectangle {
    pub(super) fn centre(&self) -> i32 {
        self.x + self.width / 2
    }
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) boxes: Vec<Rectangle>,
    /// The line of each edge.
    pub(super) edges: Vec<Line>,
    /// The line of each race, and the middle of its label.
    pub(super) races: Vec<(Line, Point)>,
    /// How wide the numbers of source lines are.
    pub(super) numbers: i32,
    pub(super) width: i32,
    pub(super) height: i32,
}

/// The frame of rows and columns that boxes and lines are placed in.
pub(super) struct Frame {
    /// Top and bottom of each row; left and right of each column.
    pub(super) rows: Vec<(i32, i32)>,
    pub(super) columns: Vec<(i32, i32)>,
    /// The rows of each column that have a box, and the columns of each row.
    pub(super) rows_of: Vec<BTreeSet<usize>>,
    pub(super) columns_of: Vec<BTreeSet<usize>>,
}

impl Layout {
    pub(super) fn new(drawing: &Drawing) -> Layout {
        let digits = drawing.boxes.iter().map(|b| b.steps.last_line()).max();
        let numbers = match digits {
            Some(line) if line > 0 => width(&line.to_string()) + 8,
            _ => 0,
        };
        let mut boxes = boxes(drawing, numbers);
        let frame = Frame::new(&mut boxes, &drawing.races);
        let edges = frame.edges(&boxes, drawing);
        let races = frame.races(&boxes, &drawing.races);
        Layout {
            edges,
            races,
            numbers,
            width: frame.columns.last().map_or(0, |&(_, right)| right),
            height: frame.rows.last().map_or(0, |&(_, bottom)| bottom),
            boxes,
        }
    }
}

/// The boxes with their rows, columns and sizes; where these are is not yet known.
fn boxes(drawing: &Drawing, numbers: i32) -> Vec<Rectangle> {
    let mut rows = vec![0; drawing.boxes.len()];
    // Edges lead from lower numbers to higher, and are sorted by where they lead.
    for edge in &drawing.edges {
        rows[edge.to] = rows[edge.to].max(rows[edge.from] + 1);
    }
    // Strands are numbered in the order of their starts; one that did nothing has no column.
    let columns: BTreeSet<Strand> = drawing.boxes.iter().map(|node| node.strand).collect();
    let columns: BTreeMap<Strand, usize> = columns.into_iter().zip(0..).collect();
    let placed = drawing.boxes.iter().zip(rows).map(|(node, row)| {
        let name = shortened(&node.name, MAX_NAME);
        let rows = node.steps.rows();
        let widest = rows.iter().map(|row| numbers + width(&row.text())).max();
        let widest = widest.unwrap_or(0).max(width(&name));
        Rectangle {
            row,
            column: columns[&node.strand],
            x: 0,
            y: 0,
            width: (widest + 2 * PADDING).max(72),
            height: LINE * (rows.len() as i32 + 1) + PADDING + 4,
            name,
            rows,
        }
    });
    placed.collect()
}

impl Frame {
    /// Makes the rows high and the columns wide enough, and puts the boxes there.
    fn new(boxes: &mut [Rectangle], races: &[RaceLine]) -> Frame {
        let row_count = boxes.iter().map(|b| b.row + 1).max().unwrap_or(0);
        let column_count = boxes.iter().map(|b| b.column + 1).max().unwrap_or(0);
        let mut heights = vec![0; row_count];
        let mut widths = vec![0; column_count];
        let mut rows_of = vec![BTreeSet::new(); column_count];
        let mut columns_of = vec![BTreeSet::new(); row_count];
        for placed in boxes.iter() {
            heights[placed.row] = placed.height.max(heights[placed.row]);
            widths[placed.column] = placed.width.max(widths[placed.column]);
            rows_of[placed.column].insert(placed.row);
            columns_of[placed.row].insert(placed.column);
        }
        // A race between neighbours has its label in the lane between them.
        let mut gaps = vec![COLUMN_GAP; column_count];
        for race in races {
            let (left, right) = sides(boxes, race);
            if right.column == left.column + 1 {
                let room = width(&race.label()) + 48;
                gaps[left.column] = gaps[left.column].max(room);
            }
        }
        let mut at = 0;
        let rows = heights.iter().map(|height| {
            let top = at;
            at += height + ROW_GAP;
            (top, top + height)
        });
        let rows: Vec<_> = rows.collect();
        let mut at = 0;
        let columns = widths.iter().zip(gaps).map(|(width, gap)| {
            let left = at;
            at += width + gap;
            (left, left + width)
        });
        let columns: Vec<_> = columns.collect();
        for placed in boxes {
            let (left, right) = columns[placed.column];
            placed.x = left;
            placed.width = right - left;
            placed.y = rows[placed.row].0;
        }
        Frame {
            rows,
            columns,
            rows_of,
            columns_of,
        }
    }
}

/// The boxes of a race, the one further left first. They are never in one column: a strand does not
/// race with itself.
pub(super) fn sides<'b>(boxes: &'b [Rectangle], race: &RaceLine) -> (&'b Rectangle, &'b Rectangle) {
    let (a, b) = (&boxes[race.nodes.0], &boxes[race.nodes.1]);
    match a.column <= b.column {
        true => (a, b),
        false => (b, a),
    }
}

#[cfg(test)]
mod tests {
    use super::super::lines::Piece;
    use super::super::tests::drawing_of;
    use super::*;
    use deadheat_lang::Schedule;
    use deadheat_testing::programs;

    /// Left, top, right, bottom.
    type Area = (i32, i32, i32, i32);

    fn overlap(a: Area, b: Area) -> bool {
        a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3
    }

    fn area(placed: &Rectangle) -> Area {
        let (x, y) = (placed.x, placed.y);
        (x, y, x + placed.width, y + placed.height)
    }

    /// The areas that the pieces of a line stay inside; a thin one is given some width.
    fn areas(line: &Line) -> Vec<Area> {
        let mut at = line.start;
        let mut areas = Vec::new();
        for piece in &line.pieces {
            let (Piece::Straight(to) | Piece::Down(to) | Piece::Across(to)) = *piece;
            if at == to {
                continue;
            }
            let (left, right) = (at.0.min(to.0), at.0.max(to.0));
            let (top, bottom) = (at.1.min(to.1), at.1.max(to.1));
            areas.push((left, top, right.max(left + 1), bottom.max(top + 1)));
            at = to;
        }
        areas
    }

    fn end(line: &Line) -> Point {
        let (Piece::Straight(to) | Piece::Down(to) | Piece::Across(to)) =
            *line.pieces.last().unwrap();
        to
    }

    #[test]
    fn edges_go_down_boxes_stand_apart_and_no_line_runs_through_one() {
        let mut rng = fastrand::Rng::with_seed(7);
        let (mut edges, mut races) = (0, 0);
        for seed in 0..400 {
            let program = programs::wild_program(5..=60, &mut rng);
            let drawing = drawing_of(&program.to_string(), &Schedule::Random(seed));
            let layout = Layout::new(&drawing);
            assert_eq!(layout.boxes.len(), drawing.boxes.len());
            for (index, placed) in layout.boxes.iter().enumerate() {
                let whole = (0, 0, layout.width, layout.height);
                let (left, top, right, bottom) = area(placed);
                assert!(left >= 0 && top >= 0 && right <= whole.2 && bottom <= whole.3);
                let others = &layout.boxes[index + 1..];
                assert!(others.iter().all(|b| !overlap(area(placed), area(b))));
            }
            let through = |line: &Line| {
                let mut areas = areas(line).into_iter();
                areas.any(|piece| layout.boxes.iter().any(|b| overlap(piece, area(b))))
            };
            assert_eq!(layout.edges.len(), drawing.edges.len());
            for (edge, line) in drawing.edges.iter().zip(&layout.edges) {
                let (from, to) = (&layout.boxes[edge.from], &layout.boxes[edge.to]);
                assert!(from.row < to.row && line.start.1 == area(from).3 && end(line).1 == to.y);
                assert!(from.x < line.start.0 && line.start.0 < area(from).2);
                assert!(to.x < end(line).0 && end(line).0 < area(to).2);
                assert!(!through(line), "{edge:?} {line:?}");
            }
            assert_eq!(layout.races.len(), drawing.races.len());
            for (race, (line, (x, y))) in drawing.races.iter().zip(&layout.races) {
                assert!(!through(line), "{race:?} {line:?}");
                let half = width(&race.label()) / 2;
                let label = (x - half, y - 8, x + half, y + 8);
                assert!(layout.boxes.iter().all(|b| !overlap(label, area(b))));
            }
            edges += drawing.edges.len();
            races += drawing.races.len();
        }
        assert!(edges > 1_000 && races > 100, "{edges} edges, {races} races");
    }
}
