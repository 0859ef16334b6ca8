//! Where lines go: through no box.
//!
//! An edge goes straight down a column where that is free of boxes (its own below a strand's last
//! box, say, or the other's above its first), and otherwise down the lane beside it; it changes
//! columns between two rows only. A race leaves its boxes sideways, and crosses the columns between
//! them along a row that is free there, or between two rows.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use deadheat_offline::Node;

use super::layout::{Frame, Rectangle, sides, width};
use super::races::RaceLine;
use super::{Drawing, EdgeKind};

pub(super) type Point = (i32, i32);

/// A piece of a line, from where the one before it ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece {
    Straight(Point),
    /// Leaves and arrives vertically.
    Down(Point),
    /// Leaves and arrives horizontally.
    Across(Point),
}

/// A line from its start through its pieces.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) start: Point,
    pub(super) pieces: Vec<Piece>,
}

impl Frame {
    pub(super) fn edges(&self, boxes: &[Rectangle], drawing: &Drawing) -> Vec<Line> {
        let ends = ports(boxes, drawing);
        let mut lanes: HashMap<(usize, bool), i32> = HashMap::new();
        let lines = drawing.edges.iter().zip(ends).map(|(edge, (x1, x2))| {
            let (from, to) = (&boxes[edge.from], &boxes[edge.to]);
            let start = (x1, from.y + from.height);
            // Between two rows: out of the upper one, and where the lower one begins.
            let below = |row: usize| self.rows[row].1;
            let above = |row: usize| self.rows[row].0;
            let arrival = (x2, to.y);
            let empty = |column: usize, rows: Range<usize>| {
                let mut rows = self.rows_of[column].range(rows);
                rows.next().is_none()
            };
            let between = from.row + 1..to.row;
            // Best is a column in which a strand has ended, or not yet begun.
            let first = match empty(from.column, from.row + 1..usize::MAX) {
                false if empty(to.column, 0..to.row) => to.column,
                _ => from.column,
            };
            let mut columns = [first, from.column, to.column].into_iter();
            let free = columns.find(|&column| empty(column, between.clone()));
            let pieces = if free == Some(from.column) {
                vec![
                    Piece::Straight((x1, below(to.row - 1))),
                    Piece::Down(arrival),
                ]
            } else if free == Some(to.column) {
                vec![
                    Piece::Straight((x1, below(from.row))),
                    Piece::Down((x2, above(from.row + 1))),
                    Piece::Straight(arrival),
                ]
            } else {
                let from_left = from.column < to.column;
                let lane = lanes.entry((to.column, from_left)).or_default();
                let aside = 9 + 7 * (*lane % 3);
                *lane += 1;
                let x = match from_left {
                    true => self.columns[to.column].0 - aside,
                    false => self.columns[to.column].1 + aside,
                };
                vec![
                    Piece::Straight((x1, below(from.row))),
                    Piece::Down((x, above(from.row + 1))),
                    Piece::Straight((x, below(to.row - 1))),
                    Piece::Down(arrival),
                ]
            };
            Line { start, pieces }
        });
        lines.collect()
    }

    pub(super) fn races(&self, boxes: &[Rectangle], races: &[RaceLine]) -> Vec<(Line, Point)> {
        let mut labels = Labels::default();
        let mut crossings: BTreeMap<usize, i32> = BTreeMap::new();
        let lines = races.iter().map(|race| {
            let (left, right) = sides(boxes, race);
            // Straight, if both are in one row.
            let height = match left.row == right.row {
                true => left.height.min(right.height),
                false => 0,
            };
            let middle = |placed: &Rectangle| match height {
                0 => placed.y + placed.height / 2,
                height => placed.y + height / 2,
            };
            let start = (left.x + left.width, middle(left));
            let end = (right.x, middle(right));
            let size = width(&race.label());
            if left.column + 1 == right.column {
                let pieces = vec![Piece::Across(end)];
                let label = labels.place(start, end, size);
                return (Line { start, pieces }, label);
            }
            // Across the columns between them: along one of the two rows if that is free there, or
            // else below the upper one.
            let free = |row: usize| {
                let mut between = self.columns_of[row].range(left.column + 1..right.column);
                between.next().is_none()
            };
            let y = if free(left.row) {
                start.1
            } else if free(right.row) {
                end.1
            } else {
                let row = left.row.min(right.row);
                let crossing = crossings.entry(row).or_default();
                *crossing += 1;
                self.rows[row].1 + 10 + 8 * ((*crossing - 1) % 4)
            };
            let (first, last) = (
                self.columns[left.column + 1].0,
                self.columns[right.column - 1].1,
            );
            let pieces = vec![
                Piece::Across((first, y)),
                Piece::Straight((last, y)),
                Piece::Across(end),
            ];
            let label = labels.place((first, y), (last, y), size);
            (Line { start, pieces }, label)
        });
        lines.collect()
    }
}

/// Where each edge leaves its upper box and meets its lower one. A strand's own edge takes the
/// middle; others spread to its left and right in the order of where they come from or go to, so
/// that they need not cross.
fn ports(boxes: &[Rectangle], drawing: &Drawing) -> Vec<Point> {
    let mut ports: Vec<Point> = Vec::with_capacity(drawing.edges.len());
    let mut leaving: BTreeMap<Node, Vec<usize>> = BTreeMap::new();
    let mut arriving: BTreeMap<Node, Vec<usize>> = BTreeMap::new();
    for (index, edge) in drawing.edges.iter().enumerate() {
        ports.push((boxes[edge.from].centre(), boxes[edge.to].centre()));
        leaving.entry(edge.from).or_default().push(index);
        arriving.entry(edge.to).or_default().push(index);
    }
    for (node, mut edges) in leaving {
        let column = |index: usize| boxes[drawing.edges[index].to].column;
        edges.sort_by_key(|&index| column(index));
        for (index, x) in spread(&boxes[node], &edges, drawing, column) {
            ports[index].0 = x;
        }
    }
    for (node, mut edges) in arriving {
        let column = |index: usize| boxes[drawing.edges[index].from].column;
        edges.sort_by_key(|&index| column(index));
        for (index, x) in spread(&boxes[node], &edges, drawing, column) {
            ports[index].1 = x;
        }
    }
    ports
}

/// Places along a side of a box for sorted edges, other than the strand's own.
fn spread(
    placed: &Rectangle,
    edges: &[usize],
    drawing: &Drawing,
    column: impl Fn(usize) -> usize,
) -> Vec<(usize, i32)> {
    let own = |&&index: &&usize| drawing.edges[index].kind == EdgeKind::Program;
    let (x, half) = (placed.x, placed.width / 2);
    let evenly = |edges: Vec<usize>, left: i32, width: i32| {
        let step = f64::from(width) / (edges.len() + 1) as f64;
        let places = edges.into_iter().zip(1..);
        let places = places.map(move |(index, k)| (index, left + (step * f64::from(k)) as i32));
        places.collect::<Vec<_>>()
    };
    let others = edges.iter().filter(|index| !own(index)).copied();
    match edges.iter().any(|index| own(&index)) {
        false => evenly(others.collect(), x, placed.width),
        true => {
            let (left, right) = others.partition(|&index| column(index) < placed.column);
            let mut places = evenly(left, x, half);
            places.extend(evenly(right, x + half, half));
            places
        }
    }
}

/// The labels placed so far, on a coarse grid.
#[derive(Default)]
struct Labels {
    taken: HashSet<Point>,
}

impl Labels {
    /// A place for the middle of a label on the way between two points; on top of another label only
    /// if there is no other place.
    fn place(&mut self, from: Point, to: Point, size: i32) -> Point {
        // The line is a curve, level at its ends.
        let at = |t: f64| {
            let (early, late) = (3.0 * (1.0 - t).powi(2) * t, 3.0 * (1.0 - t) * t * t);
            let along = |a: i32, b: i32, share: f64| a + (f64::from(b - a) * share) as i32;
            let x = along(from.0, to.0, (early + late) / 2.0 + t.powi(3));
            (x, along(from.1, to.1, late + t.powi(3)))
        };
        let cells = |(x, y): Point| {
            let columns = (x - size / 2) / 8..=(x + size / 2) / 8;
            columns.flat_map(move |column| (y / 8 - 1..=y / 8 + 1).map(move |row| (column, row)))
        };
        let places = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8].map(at);
        let free = |place: &Point| cells(*place).all(|cell| !self.taken.contains(&cell));
        let place = places.into_iter().find(free).unwrap_or(places[0]);
        self.taken.extend(cells(place));
        place
    }
}
