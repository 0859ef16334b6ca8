//! What every command writes for people and for other programs: text, JSON, SARIF, a page, baselines.

mod identities;
mod schema;

mod degraded;
mod formats;
mod native;

use std::path::Path;

use serde_json::Value;

/// A file of JSON.
fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// What `of` wrote is as a schema of the project says.
fn conforms(schema: &str, value: &Value, of: &str) {
    let violations = schema::violations(&read(&crate::common::root().join(schema)), value);
    assert!(violations.is_empty(), "{of}, by {schema}: {violations:#?}");
}
