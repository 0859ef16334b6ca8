//! What an earlier run knew: the fingerprints in a report that it wrote, as JSON or SARIF.
//!
//! Nothing else of the report is read. Cost: linear in the report; memory for the fingerprints.

use std::fmt;

use deadheat_model::finding::Identity;
use rustc_hash::FxHashSet;
use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use thiserror::Error;

/// The findings that an earlier run had.
#[derive(Debug, Default)]
pub struct Baseline {
    known: FxHashSet<String>,
}

/// Why a file is no baseline.
#[derive(Debug, Error)]
pub enum BaselineError {
    /// It is not JSON.
    #[error("not a report that deadheat wrote with --json or --sarif: {0}")]
    Json(#[from] serde_json::Error),
    /// It is JSON of something else.
    #[error(
        "not a report that deadheat wrote with --json or --sarif: it has neither `schema` nor `runs`"
    )]
    NotAReport,
}

impl Baseline {
    /// Takes in a report: JSON objects one after the other, or SARIF.
    pub fn read(text: &str) -> Result<Baseline, BaselineError> {
        let mut found = Fingerprints::default();
        let mut json = serde_json::Deserializer::from_str(text);
        loop {
            Walk(&mut found).deserialize(&mut json)?;
            if json.end().is_ok() {
                break;
            }
        }
        match found.is_report {
            true => Ok(Baseline { known: found.known }),
            false => Err(BaselineError::NotAReport),
        }
    }

    /// Whether the earlier run had a finding.
    pub fn knows(&self, finding: Identity) -> bool {
        self.has(&finding.to_string())
    }

    fn has(&self, fingerprint: &str) -> bool {
        self.known.contains(fingerprint)
    }
}

#[derive(Default)]
struct Fingerprints {
    known: FxHashSet<String>,
    is_report: bool,
}

/// Goes through any JSON value, and takes what it is after.
struct Walk<'f>(&'f mut Fingerprints);

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a report")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "fingerprint" | Identity::SCHEME => {
                    if let serde_json::Value::String(known) = map.next_value()? {
                        self.0.known.insert(known);
                    }
                }
                // Long, and without fingerprints.
                "witness" | "codeFlows" | "stack" => drop(map.next_value::<IgnoredAny>()?),
                _ => {
                    self.0.is_report |= key == "schema" || key == "runs";
                    map.next_value_seed(Walk(self.0))?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Walk(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_found_wherever_they_are() {
        let json = r#"{"schema": 1, "races": [{"fingerprint": "a", "count": 1, "stack": [null]}],
                       "explored": {"races": [{"fingerprint": "b", "x": [1.5, -2, true, null]}]}}
                      {"schema": 1, "deadlock": {"fingerprint": "c"}}"#;
        let baseline = Baseline::read(json).unwrap();
        for known in ["a", "b", "c"] {
            assert!(baseline.has(known), "{known}");
        }
        assert!(!baseline.has("d"));
        let sarif = r#"{"version": "2.1.0", "runs": [{"results":
                        [{"partialFingerprints": {"deadheat/v1": "d", "other": "e"}}]}]}"#;
        let baseline = Baseline::read(sarif).unwrap();
        assert!(baseline.has("d") && !baseline.has("e"));
        assert!(Baseline::read(r#"{"schema": 1, "races": []}"#).is_ok());
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "{", "[]", "{\"a\": 1}", "races", "{\"schema\": 1} x"] {
            assert!(Baseline::read(text).is_err(), "{text}");
        }
        let deep = "[".repeat(1_000_000);
        assert!(Baseline::read(&deep).is_err());
    }
}
