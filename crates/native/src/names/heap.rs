//! The type of what a block of the heap holds, by what the line that allocated it says, and which member or element of
//! it a byte belongs to: `Node.value`, `double[3]`.
//!
//! The line is text; that it was read rightly is known by the size: the block is one value of the type, or a number of
//! them. What fits no type has no name.

use std::rc::Rc;

use super::allocation::{Hint, Spelling};
use super::dies::{Die, Dies, Entry};
use super::path;
use super::types::{Dimension, Shape, TypeId, Types};

/// What a line may allocate.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The name of the type.
    name: Rc<str>,
    ty: TypeId,
    /// How large a value is.
    each: u64,
    /// How many bytes come before the first one.
    before: u64,
    /// There is one value, whatever comes behind it.
    is_single: bool,
}

/// What a block holds.
#[derive(Clone, Debug)]
pub struct Content {
    name: Rc<str>,
    ty: TypeId,
    before: u64,
    /// How many values there are.
    count: u64,
}

/// What is kept in front of an array whose elements have destructors: how many they are.
const COUNT: u64 = 8;

/// What code of a function may have allocated, by this hint.
pub fn candidate(
    dies: &mut Dies,
    types: &mut Types,
    function: Die,
    hint: &Hint,
) -> Option<Candidate> {
    let (name, ty) = find(dies, types, function, &hint.what)?;
    let each = types.get(ty).size;
    (each > 0).then(|| Candidate {
        name: name.into(),
        ty,
        each,
        before: hint.before,
        // An array at its end may have any length.
        is_single: hint.and_more
            || path::is_open(types, ty)
            || matches!(hint.what, Spelling::ElementsOf(..)),
    })
}

impl Candidate {
    /// What a block of so many bytes holds, if it fits.
    pub fn fit(&self, size: u64) -> Option<Content> {
        let held = size.checked_sub(self.before)?;
        let is_array = |held: u64| held > 0 && held.is_multiple_of(self.each);
        // After a header comes one value, and what is left of the alignment.
        let is_single = self.is_single || self.before > 0 && held < self.each + 8;
        let (before, count) = match size.checked_sub(COUNT) {
            _ if held < self.each => return None,
            _ if is_single => (self.before, 1),
            _ if is_array(held) => (self.before, held / self.each),
            Some(held) if is_array(held) => (COUNT, held / self.each),
            _ => return None,
        };
        Some(Content {
            name: self.name.clone(),
            ty: self.ty,
            before,
            count,
        })
    }
}

/// The type that a hint means, and what it is called.
fn find(
    dies: &mut Dies,
    types: &mut Types,
    function: Die,
    hint: &Spelling,
) -> Option<(String, TypeId)> {
    match hint {
        Spelling::ElementsOf(variable, bounds) => {
            let array = variable_of(dies, function, variable).and_then(|die| dies.type_of(die))?;
            let element = array_of(dies, array)?;
            let element = types.of(dies, element);
            let dimensions = bounds.iter().map(|(first, last)| {
                let first = (*first)?;
                let count = last.map(|last| last.saturating_sub(first).saturating_add(1));
                let count = count.map(|count| u64::try_from(count).unwrap_or(0));
                Some(Dimension { first, count })
            });
            let dimensions: Option<Rc<[Dimension]>> = dimensions.collect();
            let each = types.get(element).size;
            let dimensions = dimensions?;
            let mut all = dimensions.iter();
            let all = all.try_fold(each, |all, dimension| all.checked_mul(dimension.count?));
            let shape = Shape::FortranArray {
                element,
                dimensions,
            };
            let ty = types.add(all.unwrap_or(each), shape);
            Some((variable.clone(), ty))
        }
        Spelling::Pointer => {
            let ty = types.add(8, Shape::Whole);
            Some(("pointer".to_string(), ty))
        }
        Spelling::PointedBy(variable) => {
            let ty = variable_of(dies, function, variable).and_then(|die| dies.type_of(die))?;
            let target = pointed(dies, ty)?;
            Some((dies.name(target)?, types.of(dies, target)))
        }
        Spelling::Type(name) => {
            if let Some(each) = builtin(name) {
                return Some((name.clone(), types.add(each, Shape::Whole)));
            }
            let mut found = types_named(dies, function.unit, name).into_iter();
            found.find_map(|die| {
                // What a library's templates are made of can fill pages.
                let shown = match dies.index.is_in_library(die) {
                    true => name.split('<').next().unwrap_or_default(),
                    false => name,
                };
                let ty = types.of(dies, die);
                (types.get(ty).size > 0).then(|| (shown.to_string(), ty))
            })
        }
    }
}

/// What a byte of a block is called, where `size` bytes are accessed: the type, and from there to the byte.
pub fn name<'c>(
    types: &Types,
    content: &'c Content,
    offset: u64,
    size: u64,
) -> Option<(&'c str, String)> {
    let each = types.get(content.ty).size;
    let within = offset.checked_sub(content.before)?;
    if content.count == 1 {
        return Some((&*content.name, path::of(types, content.ty, within, size)?));
    }
    let index = within / each;
    let path = path::of(types, content.ty, within % each, size)?;
    (index < content.count).then(|| (&*content.name, format!("[{index}]{path}")))
}

/// How large the types are that every program has.
fn builtin(name: &str) -> Option<u64> {
    Some(match name {
        "char" | "signed char" | "unsigned char" | "bool" | "_Bool" | "int8_t" | "uint8_t" => 1,
        "short" | "unsigned short" | "int16_t" | "uint16_t" => 2,
        "int" | "unsigned" | "unsigned int" | "float" | "int32_t" | "uint32_t" => 4,
        "long" | "unsigned long" | "long long" | "unsigned long long" | "double" | "size_t"
        | "int64_t" | "uint64_t" => 8,
        _ => return None,
    })
}

/// Whether two spellings are one type's: `Box<long int>` and `Box<long>`, `pair<int const, node>` and `pair<const int, node>`.
fn is_same(one: &str, other: &str) -> bool {
    if !one.contains('<') || !other.contains('<') {
        return one == other;
    }
    let pieces = |text: &str| -> Vec<Vec<String>> {
        let pieces = text.split(['<', '>', ',', '*', '&']);
        let words = pieces.map(|piece| {
            let mut words: Vec<&str> = piece.split_whitespace().collect();
            let is_sized = |word: &&str| matches!(*word, "long" | "short" | "unsigned");
            if words.iter().any(is_sized) {
                words.retain(|word| *word != "int");
            }
            words.sort_unstable();
            words.into_iter().map(str::to_string).collect()
        });
        words
            .filter(|words: &Vec<String>| !words.is_empty())
            .collect()
    };
    pieces(one) == pieces(other)
}

/// The types of a unit that have a name, wherever they are declared.
fn types_named(dies: &mut Dies, number: u32, name: &str) -> Vec<Die> {
    let mut found = Vec::new();
    let Some(unit) = dies.unit(number) else {
        return found;
    };
    let Ok(mut entries) = unit.entries_raw(None) else {
        return found;
    };
    let mut attributes = Vec::new();
    while !entries.is_empty() {
        let offset = entries.next_offset().0;
        let Ok(abbreviation) = entries.read_abbreviation() else {
            break;
        };
        let Some(abbreviation) = abbreviation else {
            continue;
        };
        let is_type = matches!(
            abbreviation.tag(),
            gimli::DW_TAG_structure_type
                | gimli::DW_TAG_class_type
                | gimli::DW_TAG_union_type
                | gimli::DW_TAG_enumeration_type
                | gimli::DW_TAG_typedef
        );
        let read = match is_type {
            true => entries.read_attributes(abbreviation.attributes(), &mut attributes),
            false => entries.skip_attributes(abbreviation.attributes()),
        };
        if read.is_err() {
            break;
        }
        if !is_type {
            continue;
        }
        let own = attributes
            .iter()
            .find(|one| one.name() == gimli::DW_AT_name)
            .and_then(|value| dies.dwarf.attr_string(&unit, value.value()).ok());
        if own.is_some_and(|own| is_same(&own.to_string_lossy(), name)) {
            found.push(Die {
                unit: number,
                offset,
            });
        }
    }
    found
}

/// The variable that a name means in a function: its own, or one of its unit's.
fn variable_of(dies: &mut Dies, function: Die, name: &str) -> Option<Die> {
    let unit = dies.unit(function.unit)?;
    let mut entries = unit.entries_raw(None).ok()?;
    let mut entry = Entry::null();
    let (mut function_depth, mut global) = (None, None);
    while !entries.is_empty() {
        let (offset, depth) = (entries.next_offset().0, entries.next_depth());
        if !entries.read_entry(&mut entry).ok()? {
            continue;
        }
        if function_depth.is_some_and(|own| depth <= own) {
            function_depth = None;
        }
        let is_in_function = function_depth.is_some();
        if offset == function.offset {
            function_depth = Some(depth);
        }
        let is_variable = matches!(
            entry.tag(),
            gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter
        );
        let die = Die { offset, ..function };
        if is_variable && (is_in_function || depth == 1) && dies.name(die).as_deref() == Some(name)
        {
            if is_in_function {
                return Some(die);
            }
            global = Some(die);
        }
    }
    global
}

/// The element of what may be an array, or a pointer to one.
fn array_of(dies: &mut Dies, mut ty: Die) -> Option<Die> {
    for _ in 0..8 {
        let is_array = dies.entry(ty)?.tag() == gimli::DW_TAG_array_type;
        ty = dies.type_of(ty)?;
        if is_array {
            return Some(ty);
        }
    }
    None
}

/// What a type points to.
fn pointed(dies: &mut Dies, mut ty: Die) -> Option<Die> {
    for _ in 0..8 {
        let tag = dies.entry(ty)?.tag();
        ty = dies.type_of(ty)?;
        match tag {
            gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type => break,
            gimli::DW_TAG_typedef | gimli::DW_TAG_const_type | gimli::DW_TAG_volatile_type => {}
            _ => return None,
        }
    }
    // `const struct node` is a `node`.
    for _ in 0..8 {
        match dies.entry(ty)?.tag() {
            gimli::DW_TAG_const_type | gimli::DW_TAG_volatile_type => ty = dies.type_of(ty)?,
            _ => break,
        }
    }
    Some(ty)
}
