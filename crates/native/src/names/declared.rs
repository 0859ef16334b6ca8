//! With which numbers an array of Fortran's begins, by its declaration: flang 19 writes that each begins with 1.

use std::path::Path;

use super::allocation::bounds;
use super::dies::{Die, Dies, number};
use super::library;
use super::types::{Dimension, Shape, TypeId, Types};

/// The type of a variable, with the numbers that its declaration says. A declaration that nobody can read, or that begins with
/// something else than a number, leaves the elements without names.
pub fn with_bounds(
    types: &mut Types,
    dies: &mut Dies,
    (die, name): (Die, &str),
    ty: TypeId,
) -> TypeId {
    let whole = types.get(ty).clone();
    let Shape::FortranArray {
        element,
        dimensions,
    } = whole.shape
    else {
        return ty;
    };
    if !is_of_flang(dies, die.unit).unwrap_or(false) {
        return ty;
    }
    let begins = declaration(dies, die).and_then(|line| begins(&line, name));
    let shape = match begins {
        Some(begins) if begins.len() == dimensions.len() => {
            let each = dimensions.iter().zip(begins);
            let each = each.map(|(dimension, first)| Dimension {
                first,
                ..*dimension
            });
            Shape::FortranArray {
                element,
                dimensions: each.collect(),
            }
        }
        _ => Shape::Whole,
    };
    types.add(whole.size, shape)
}

fn is_of_flang(dies: &mut Dies, number: u32) -> Option<bool> {
    let unit = dies.unit(number)?;
    let root = unit.entry(unit.header.root_offset()).ok()?;
    let producer = dies.text(number, root.attr_value(gimli::DW_AT_producer)?)?;
    Some(producer.contains("flang"))
}

/// The line that declares a variable.
fn declaration(dies: &mut Dies, die: Die) -> Option<String> {
    let entry = dies.entry(die)?;
    let line = number(&entry, gimli::DW_AT_decl_line)?;
    let file = number(&entry, gimli::DW_AT_decl_file).or_else(|| {
        match entry.attr_value(gimli::DW_AT_decl_file)? {
            gimli::AttributeValue::FileIndex(file) => Some(file),
            _ => None,
        }
    })?;
    let path = library::path(dies, die.unit, file)?;
    let text = std::fs::read_to_string(Path::new(&path)).ok()?;
    let line = text.lines().nth(line.checked_sub(1)? as usize)?;
    Some(line.to_ascii_lowercase())
}

/// The first number of each dimension that a line declares for a name: `real :: a(0:9, 20)`, `integer, dimension(-5:5) :: a`.
fn begins(line: &str, name: &str) -> Option<Vec<i64>> {
    let own = bounds(line, name).or_else(|| bounds(line, "dimension"))?;
    own.into_iter().map(|(first, _)| first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_says_where_elements_are_counted_from() {
        for (line, expected) in [
            ("real :: a(0:9, 20), b(3)", Some(vec![0, 1])),
            ("integer, dimension(-5:5) :: aa, a", Some(vec![-5])),
            ("real, dimension(3) :: a(0:4)", Some(vec![0])),
            ("real :: a(n:m)", None),
            ("real :: aa(0:4)", None),
            ("real :: a", None),
        ] {
            assert_eq!(begins(line, "a"), expected, "{line}");
        }
    }
}
