//! How text looks: colours, numbers, lists, and names that fit.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use annotate_snippets::Renderer;
use deadheat_model::Finding;

use crate::terminal::harmless_name;

pub(crate) const RED: &str = "\x1b[1;31m";
pub(crate) const YELLOW: &str = "\x1b[1;33m";
pub(crate) const BOLD: &str = "\x1b[1m";
pub(crate) const PLAIN: &str = "\x1b[0m";

static WIDTH: AtomicUsize = AtomicUsize::new(140);

/// How many columns excerpts of sources may take: 140 unless told otherwise.
pub fn set_width(columns: usize) {
    WIDTH.store(columns.max(40), Ordering::Relaxed);
}

static IDENTITIES: AtomicBool = AtomicBool::new(false);

/// Texts have the identity of each finding from now on.
pub fn show_identities() {
    IDENTITIES.store(true, Ordering::Relaxed);
}

/// What follows the title of a finding: its identity, if that is asked for.
pub(crate) fn identity(finding: &Finding) -> String {
    match IDENTITIES.load(Ordering::Relaxed) {
        true => format!(" [{}]", finding.identity),
        false => String::new(),
    }
}

/// What shows excerpts of sources. Styled: whoever prints it strips the colours where they do not belong.
pub(crate) fn renderer() -> Renderer {
    Renderer::styled().term_width(WIDTH.load(Ordering::Relaxed))
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn listed(names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.split_last() {
        Some((last, [])) => last.to_string(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// `1 race`, `2 races`, `12,345 races`.
pub fn counted(n: u64, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{} {what}s", grouped(n)),
    }
}

/// A number with its thousands set apart.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A time, in seconds or, if short, thousandths.
pub(crate) fn time(seconds: f64) -> String {
    match seconds < 1.0 {
        true => format!("{:.1} ms", seconds * 1000.0),
        false => format!("{seconds:.2} s"),
    }
}

pub(crate) fn length(text: &str) -> usize {
    text.chars().count()
}

/// A text with spaces behind it.
pub(crate) fn padded(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(length(text));
    text.to_string() + &" ".repeat(missing)
}

/// A name fit for a terminal, its end cut off if it is long.
pub fn cut(name: &str, most: usize) -> String {
    let name = harmless_name(name);
    match length(&name) > most {
        true => {
            name.chars()
                .take(most.saturating_sub(1))
                .collect::<String>()
                + "…"
        }
        false => name,
    }
}

/// A place fit for a terminal, its beginning cut off if it is long: a line number stands at the end.
pub(crate) fn cut_front(name: &str, most: usize) -> String {
    let name = harmless_name(name);
    let all = length(&name);
    match all > most {
        true => "…".to_string() + &name.chars().skip(all + 1 - most).collect::<String>(),
        false => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_where_they_say_least() {
        assert_eq!(cut("counter", 7), "counter");
        assert_eq!(cut("counters", 7), "counte…");
        assert_eq!(cut_front("src/main.rs:120", 8), "….rs:120");
        assert_eq!(cut_front("main:120", 8), "main:120");
        assert_eq!(cut("ä\u{1b}[31mx", 20), "ä\u{fffd}[31mx");
    }

    #[test]
    fn thousands_are_set_apart() {
        let texts = [0, 1, 12, 999, 1000, 12288, 1234567].map(|n| counted(n, "task"));
        let expected = ["0", "1", "12", "999", "1,000", "12,288", "1,234,567"];
        for (text, number) in texts.iter().zip(expected) {
            assert_eq!(text.split(' ').next(), Some(number));
        }
        assert_eq!(texts[1], "1 task");
        assert_eq!(texts[2], "12 tasks");
    }
}
