//! The identity of a finding: the same in every format and for every command, and the same tomorrow.
//!
//! A finding is known by what it is (a race, a deadlock, an error), by the variable, and by its places, in no order; not
//! by who reads and who writes there, which for `x++` is a matter of chance. A place is known by its file's name, what the line says, and which of the lines in that
//! file that say the same it is; so the identity stays when lines elsewhere come and go, when the file moves, and when
//! other threads run into the race. Where the source cannot be read, the line's number stands for it. Of the variable
//! its name counts, not which element or byte of it: one pair of lines is one thing to mend.
//!
//! Two findings with one identity that are not the same: equal lines in files of one name. Cost: a hash.

use std::hash::Hasher;

use siphasher::sip::SipHasher13;

use crate::sources::{Sources, parts};

/// The name under which SARIF has the fingerprints of this kind; another way to make them has another name.
pub const SCHEME: &str = "deadheat/v1";

/// The identity of a finding: `what` it is, about which variable, and its places.
pub fn fingerprint(sources: &Sources, what: &str, variable: &str, places: &[&str]) -> String {
    let places = places.iter().map(|place| saying(sources, place));
    let mut places: Vec<String> = places.collect();
    places.sort();
    let mut hash = SipHasher13::new();
    for part in [what, name(variable)]
        .into_iter()
        .chain(places.iter().map(String::as_str))
    {
        hash.write(part.as_bytes());
        // No text has this byte.
        hash.write(&[0xff]);
    }
    format!("{:016x}", hash.finish())
}

/// A place by what stands there.
fn saying(sources: &Sources, place: &str) -> String {
    let (path, line, _) = parts(place);
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some(number) = line else {
        return place.to_string();
    };
    match sources.file(path).and_then(|file| file.saying(number)) {
        Some((text, earlier)) => format!("{name}\n{text}\n{earlier}"),
        None => format!("{name}:{number}"),
    }
}

/// `table` of `table+12` and `table[3]`, `heap` of `heap block of 24 bytes`.
fn name(variable: &str) -> &str {
    let end = variable.find([' ', '[', '+']);
    &variable[..end.unwrap_or(variable.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "int x;\nx = 1;\ny = x;\nx = 1;\n";

    fn race(text: &str, variable: &str, places: [&str; 2]) -> String {
        fingerprint(&Sources::with("src/a.c", text), "race", variable, &places)
    }

    #[test]
    fn it_does_not_change_with_what_is_not_the_finding() {
        let found = race(PROGRAM, "x", ["src/a.c:2:1", "src/a.c:3:5"]);
        let moved = format!("// more\n\n{}", PROGRAM.replace("x = 1", "x  =  1"));
        let other = race(&moved, "x[7]", ["src/a.c:5:9", "src/a.c:4:3"]);
        assert_eq!(found, other);
        let sources = Sources::with("/home/ci/a.c", PROGRAM);
        let places = ["/home/ci/a.c:2", "/home/ci/a.c:3"];
        assert_eq!(found, fingerprint(&sources, "race", "x", &places));
        // The identity is written into files that people keep.
        assert_eq!(found, "4aa0d2c62535a2c8");
    }

    #[test]
    fn it_changes_with_what_is() {
        let places = ["src/a.c:2:1", "src/a.c:3:5"];
        let found = race(PROGRAM, "x", places);
        let others = [
            race(PROGRAM, "y", places),
            race(PROGRAM, "x", ["src/a.c:2", "src/a.c:2"]),
            // The other line that says the same.
            race(PROGRAM, "x", ["src/a.c:4", "src/a.c:3"]),
            race("", "x", places),
            fingerprint(&Sources::with("src/a.c", PROGRAM), "deadlock", "x", &places),
        ];
        for (index, other) in others.iter().enumerate() {
            assert_ne!(found, *other, "{index}");
        }
    }

    #[test]
    fn without_the_source_the_line_counts() {
        let none = Sources::default();
        let at = |first: &str| fingerprint(&none, "race", "x", &[first, "9"]);
        assert_eq!(at("gone/a.c:2:1"), at("a.c:2:7"));
        assert_ne!(at("a.c:2"), at("a.c:3"));
        assert_ne!(at("7"), at("8"));
    }
}
