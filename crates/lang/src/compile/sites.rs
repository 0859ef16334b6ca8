//! Places in the source.

use deadheat_model::{Site, SourcePosition};

use super::Compiler;
use crate::syntax::ast::*;

impl Compiler<'_> {
    pub(super) fn site_of(&mut self, expr: &Expr) -> Site {
        self.site(expr.span)
    }

    pub(super) fn site(&mut self, span: Span) -> Site {
        if let Some(site) = self.sites.get(&span) {
            return *site;
        }
        let (line, column) = self.line_and_column(span.start);
        let site = Site(self.code.sites.len() as u32);
        self.code.sites.push(SourcePosition {
            line,
            column,
            offset: span.start,
            length: span.end.saturating_sub(span.start),
        });
        self.sites.insert(span, site);
        site
    }

    /// Counts from the last place asked for, which is near: a line can have millions of places.
    fn line_and_column(&mut self, offset: u32) -> (u32, u32) {
        let line = self.lines.partition_point(|&start| start <= offset) as u32;
        let (near, near_line, near_column) = self.last_place;
        let (from, column) = match near_line == line {
            true => (near, near_column),
            false => (self.lines[line as usize - 1], 1),
        };
        let between = |a: u32, b: u32| self.source[a as usize..b as usize].chars().count() as u32;
        let column = match from <= offset {
            true => column + between(from, offset),
            false => column - between(offset, from),
        };
        self.last_place = (offset, line, column);
        (line, column)
    }
}

pub(super) fn line_starts(source: &str) -> Vec<u32> {
    let breaks = source.bytes().enumerate().filter(|(_, b)| *b == b'\n');
    std::iter::once(0)
        .chain(breaks.map(|(at, _)| at as u32 + 1))
        .collect()
}

pub(super) fn closing_brace(block: &Block) -> Span {
    Span {
        start: block.span.end.saturating_sub(1),
        end: block.span.end,
    }
}
