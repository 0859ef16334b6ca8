//! JSON Schema, as much of it as `docs/report.schema.json` and `tests/sarif.schema.json` use: types, constants, lists of values, patterns of
//! hexadecimal digits, objects, arrays, references, alternatives. A keyword that is not known is an error, so that a
//! schema never says more than is checked.

use serde_json::Value;

/// What is wrong with a value; nothing if it is as its schema says.
pub fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, schema, value, "", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let Some(keywords) = schema.as_object() else {
        return found.push(format!("{at}: the schema is no object"));
    };
    for (keyword, expected) in keywords {
        let holds = match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" => true,
            "$ref" => {
                let pointer = expected.as_str().unwrap().strip_prefix('#').unwrap();
                let target = root.pointer(pointer).expect("a definition");
                check(root, target, value, at, found);
                true
            }
            "type" => match expected.as_str().unwrap() {
                "string" => value.is_string(),
                "integer" => value.is_u64() || value.is_i64(),
                "number" => value.is_number(),
                "boolean" => value.is_boolean(),
                "null" => value.is_null(),
                "array" => value.is_array(),
                "object" => value.is_object(),
                other => panic!("no type: {other}"),
            },
            "const" => value == expected,
            "enum" => expected.as_array().unwrap().contains(value),
            "minimum" => value
                .as_i64()
                .is_none_or(|n| n >= expected.as_i64().unwrap()),
            "minItems" => {
                let least = expected.as_u64().unwrap() as usize;
                value.as_array().is_none_or(|items| items.len() >= least)
            }
            "pattern" => {
                assert_eq!(expected, "^[0-9a-f]{16}$", "the one pattern that is known");
                let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
                let text = value.as_str().unwrap_or_default();
                text.len() == 16 && text.chars().all(is_hex)
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, expected, item, &format!("{at}/{index}"), found);
                }
                true
            }
            "required" => {
                let names = expected.as_array().unwrap().iter();
                let missing = names.filter(|name| value.get(name.as_str().unwrap()).is_none());
                let missing: Vec<&Value> = missing.collect();
                if value.is_object() && !missing.is_empty() {
                    found.push(format!("{at}: {missing:?} missing"));
                }
                true
            }
            "properties" => {
                for (name, schema) in expected.as_object().unwrap() {
                    if let Some(property) = value.get(name) {
                        check(root, schema, property, &format!("{at}/{name}"), found);
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = schema["properties"].as_object();
                for (name, property) in value.as_object().into_iter().flatten() {
                    let is_known = known.is_some_and(|known| known.contains_key(name));
                    match expected {
                        _ if is_known => {}
                        Value::Bool(allowed) => {
                            if !allowed {
                                found.push(format!("{at}: `{name}` is not in the schema"));
                            }
                        }
                        schema => check(root, schema, property, &format!("{at}/{name}"), found),
                    }
                }
                true
            }
            "oneOf" | "anyOf" => {
                let alternatives = expected.as_array().unwrap().iter();
                let tried: Vec<Vec<String>> = alternatives
                    .map(|schema| {
                        let mut found = Vec::new();
                        check(root, schema, value, at, &mut found);
                        found
                    })
                    .collect();
                let fit = tried.iter().filter(|found| found.is_empty()).count();
                let holds = match keyword.as_str() {
                    "oneOf" => fit == 1,
                    _ => fit > 0,
                };
                if !holds && fit == 0 {
                    let closest = tried.into_iter().min_by_key(Vec::len);
                    found.extend(closest.unwrap_or_default());
                }
                holds
            }
            other => panic!("the checker does not know the keyword `{other}`"),
        };
        if !holds {
            let shown: String = value.to_string().chars().take(80).collect();
            found.push(format!("{at}: {shown} is not {keyword} {expected}"));
        }
    }
}
