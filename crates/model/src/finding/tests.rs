//! What makes two findings one.

use super::*;

const PROGRAM: &str = "int x;\nx = 1;\ny = x;\nx = 1;\n";

/// One file: `a.c`, wherever it lies.
struct Text(String);

impl SourceLines for Text {
    fn words(&self, _: &str, line: u32) -> Option<(String, u32)> {
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = self.0.lines().map(words).collect();
        let text = lines
            .get(line as usize - 1)
            .filter(|text| !text.is_empty())?;
        let before = lines[..line as usize - 1].iter();
        Some((
            text.clone(),
            before.filter(|other| *other == text).count() as u32,
        ))
    }
}

fn finding(rule: Rule, variable: &str, places: &[&str]) -> Finding {
    let side = |place: &&str| {
        let act = Act::plain(AccessKind::Write);
        Side::new(act, "T1".into(), Arc::new(Place::parse(place)))
    };
    let sides = places.iter().map(side).collect();
    Finding::new(rule, "hb", Variable::named(variable), sides)
}

fn race(text: &str, variable: &str, places: [&str; 2]) -> Identity {
    let found = finding(Rule::Race, variable, &places);
    found.identified(&Text(text.to_string())).identity
}

#[test]
fn the_identity_does_not_change_with_what_is_not_the_finding() {
    let found = race(PROGRAM, "x", ["src/a.c:2:1", "src/a.c:3:5"]);
    let moved = format!("// more\n\n{}", PROGRAM.replace("x = 1", "x  =  1"));
    let other = race(&moved, "x[7]", ["src/a.c:5:9", "src/a.c:4:3"]);
    assert_eq!(found, other);
    assert_eq!(
        found,
        race(PROGRAM, "x", ["/home/ci/a.c:2", "/home/ci/a.c:3"])
    );
    let predicted = finding(Rule::PredictedRace, "x#3", &["a.c:3", "a.c:2"]);
    let predicted = predicted.identified(&Text(PROGRAM.to_string()));
    assert_eq!(found, predicted.identity);
    // The identity is written into files that people keep.
    assert_eq!(found.to_string(), "4aa0d2c62535a2c8");
}

#[test]
fn the_identity_changes_with_what_is_the_finding() {
    let places = ["src/a.c:2:1", "src/a.c:3:5"];
    let found = race(PROGRAM, "x", places);
    let deadlock = finding(Rule::Deadlock, "x", &places);
    let others = [
        race(PROGRAM, "y", places),
        race(PROGRAM, "x.a", places),
        race(PROGRAM, "x", ["src/a.c:2", "src/a.c:2"]),
        // The other line that says the same.
        race(PROGRAM, "x", ["src/a.c:4", "src/a.c:3"]),
        race("", "x", places),
        deadlock.identified(&Text(PROGRAM.to_string())).identity,
    ];
    for (index, other) in others.iter().enumerate() {
        assert_ne!(found, *other, "{index}");
    }
}

#[test]
fn without_the_source_the_line_counts() {
    let at = |first: &str| {
        finding(Rule::Race, "x", &[first, "9"])
            .identified(&())
            .identity
    };
    assert_eq!(at("gone/a.c:2:1"), at("a.c:2:7"));
    assert_ne!(at("a.c:2"), at("a.c:3"));
    assert_ne!(at("7"), at("8"));
}

#[test]
fn a_failure_is_known_by_its_message_and_a_deadlock_by_its_places() {
    let failure = |message: &str, first: &str| {
        let mut found = finding(Rule::Failure, "", &["a.c:2", first]);
        found.sides[0].act = Act::Fail(message.into());
        found.sides[1].act = Act::SetFirst;
        found.identified(&()).identity
    };
    assert_eq!(failure("set twice", "a.c:1"), failure("set twice", "a.c:7"));
    assert_ne!(
        failure("set twice", "a.c:1"),
        failure("a[3] is out of range", "a.c:1")
    );
    let deadlock = |places: &[&str]| finding(Rule::Deadlock, "", places).identified(&()).identity;
    assert_eq!(
        deadlock(&["a.c:1", "a.c:2", "a.c:2"]),
        deadlock(&["a.c:2", "a.c:1"])
    );
}
