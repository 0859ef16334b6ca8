//! Types that a unit only declares, by where another unit defines them: compilers describe a class of C++ once, where its
//! constructors or virtual functions are.
//!
//! Types are told apart by their names with namespaces and classes around. Of one that is defined in several units with
//! different sizes nobody knows which is meant, and those in functions and in nameless namespaces are their unit's own.
//!
//! Cost: one pass over all entries, when the first such type is asked about.

use rustc_hash::FxHashMap;

use super::dies::{Die, Unit};
use super::index::Index;
use super::sections::{Sections, Slice};

/// See the [module](self).
#[derive(Default)]
pub struct Definitions {
    /// With its size; none if there are several.
    known: FxHashMap<String, Option<(u64, Die)>>,
}

impl Definitions {
    pub fn of(sections: &Sections, index: &Index) -> Definitions {
        let dwarf = sections.dwarf();
        let mut definitions = Definitions::default();
        for (number, &offset) in index.units.iter().enumerate() {
            let header = dwarf.unit_header(gimli::DebugInfoOffset(offset));
            let unit = header.and_then(|header| dwarf.unit(header));
            let Ok(unit) = unit else { continue };
            // A unit that cannot be read defines nothing.
            let _ = types(&dwarf, &unit, |offset, size, name| {
                let Some(size) = size else { return };
                let die = Die {
                    unit: number as u32,
                    offset,
                };
                let same = |known: &Option<(u64, Die)>| known.is_some_and(|(of, _)| of == size);
                let known = definitions.known.entry(name).or_insert(Some((size, die)));
                if !same(known) {
                    *known = None;
                }
            });
        }
        definitions
    }

    /// Where the type is defined that is declared at an offset of a unit.
    pub fn find(&self, dwarf: &gimli::Dwarf<Slice>, unit: &Unit, offset: usize) -> Option<Die> {
        let mut wanted = None;
        let _ = types(dwarf, unit, |at, _, name| {
            if at == offset {
                wanted = Some(name);
            }
        });
        Some((*self.known.get(&wanted?)?)?.1)
    }
}

/// Calls `each` with where every structure, class and union of a unit is, its size if it is defined there, and its full name.
fn types(
    dwarf: &gimli::Dwarf<Slice>,
    unit: &Unit,
    mut each: impl FnMut(usize, Option<u64>, String),
) -> gimli::Result<()> {
    let mut entries = unit.entries_raw(None)?;
    let mut attributes = Vec::new();
    // The namespaces and classes around, with how deep they are; and what is the unit's own.
    let mut around: Vec<(isize, String)> = Vec::new();
    let mut own: Option<isize> = None;
    while !entries.is_empty() {
        let (offset, depth) = (entries.next_offset().0, entries.next_depth());
        let Some(abbreviation) = entries.read_abbreviation()? else {
            continue;
        };
        if own.is_some_and(|around| depth <= around) {
            own = None;
        }
        while around.last().is_some_and(|(above, _)| depth <= *above) {
            around.pop();
        }
        let is_type = matches!(
            abbreviation.tag(),
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type
        );
        let is_scope = is_type || abbreviation.tag() == gimli::DW_TAG_namespace;
        if own.is_some() || !is_scope {
            if abbreviation.tag() == gimli::DW_TAG_subprogram && own.is_none() {
                own = Some(depth);
            }
            entries.skip_attributes(abbreviation.attributes())?;
            continue;
        }
        entries.read_attributes(abbreviation.attributes(), &mut attributes)?;
        let value = |name| attributes.iter().find(|one| one.name() == name);
        let name = value(gimli::DW_AT_name)
            .and_then(|name| dwarf.attr_string(unit, name.value()).ok())
            .map(|name| name.to_string_lossy().into_owned());
        let Some(name) = name else {
            own = Some(depth);
            continue;
        };
        around.push((depth, name));
        if is_type {
            let names: Vec<&str> = around.iter().map(|(_, name)| &**name).collect();
            let is_declaration = value(gimli::DW_AT_declaration).is_some();
            let size = value(gimli::DW_AT_byte_size).and_then(|size| size.udata_value());
            each(offset, size.filter(|_| !is_declaration), names.join("::"));
        }
    }
    Ok(())
}
