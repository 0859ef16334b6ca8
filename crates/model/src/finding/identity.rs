//! The identity of a finding: the same in every format and for every command, and the same tomorrow.
//!
//! A finding is known by what it is (a race, a deadlock, an error), by the variable, and by its places, in no order; not
//! by who reads and who writes there, which for `x++` is a matter of chance. A place is known by its file's name, what the
//! line says, and which of the lines in that file that say the same it is; so the identity stays when lines elsewhere come
//! and go, when the file moves, and when other threads run into the race. Where the source cannot be read, the line's
//! number stands for it. Of the variable its stable name counts, not which element of it: one pair of lines is one thing
//! to mend.
//!
//! Two findings with one identity that are not the same: equal lines in files of one name. Cost: a hash.

use std::fmt;
use std::hash::Hasher;

use serde::{Serialize, Serializer};
use siphasher::sip::SipHasher13;

use super::{Place, Rule, stable_name};

/// See the [module](self).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Identity(u64);

/// What the lines of source files say.
pub trait SourceLines {
    /// The words of a line, and how many lines before it in the file say the same; nothing if it cannot be read or is
    /// empty.
    fn words(&self, file: &str, line: u32) -> Option<(String, u32)>;
}

/// No source can be read.
impl SourceLines for () {
    fn words(&self, _: &str, _: u32) -> Option<(String, u32)> {
        None
    }
}

impl Identity {
    /// The name under which SARIF has identities of this kind; another way to make them has another name.
    pub const SCHEME: &str = "deadheat/v1";

    /// The identity of what a rule finds about a variable (or, of a failure, its message) at these places.
    pub fn new(rule: Rule, about: &str, places: &[&Place], lines: &dyn SourceLines) -> Identity {
        let mut places: Vec<String> = places.iter().map(|place| key(place, lines)).collect();
        places.sort();
        if rule == Rule::Deadlock {
            // Any number of threads can wait at one place.
            places.dedup();
        }
        let about = match rule {
            Rule::Failure => about.to_string(),
            _ => stable_name(about),
        };
        let mut hash = SipHasher13::new();
        let parts = [rule.family(), &about].into_iter();
        for part in parts.chain(places.iter().map(String::as_str)) {
            hash.write(part.as_bytes());
            // No text has this byte.
            hash.write(&[0xff]);
        }
        Identity(hash.finish())
    }
}

/// A place by what stands there.
fn key(place: &Place, lines: &dyn SourceLines) -> String {
    let (Some(path), Some(number)) = (place.file(), place.line()) else {
        return place.to_string();
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    match lines.words(path, number) {
        Some((words, earlier)) => format!("{name}\n{words}\n{earlier}"),
        None => format!("{name}:{number}"),
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Serialize for Identity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
