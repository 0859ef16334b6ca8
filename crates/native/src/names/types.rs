//! Types as trees of members and elements, each read once, when something of it is named.

use std::rc::Rc;

use gimli::{AttributeValue, Operation, UnitOffset};
use rustc_hash::FxHashMap;

use super::declared;
use super::dies::{Die, Dies, Entry, Unit, has_flag, number};
use super::library;

/// How deep types are looked into.
const DEEP: usize = 64;
/// The type that nothing is known of.
pub const UNKNOWN: TypeId = 0;

/// A type, by its number.
pub type TypeId = usize;

/// What is known of a type.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// In bytes; 0 if that is not known.
    pub size: u64,
    pub shape: Shape,
}

/// What a type consists of.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Nothing with a name.
    Whole,
    /// Elements, in as many dimensions as there are counts. One that is not known has none.
    Array {
        element: TypeId,
        counts: Rc<[Option<u64>]>,
    },
    /// The same in Fortran: the first index runs fastest, and each begins with a number of its own.
    FortranArray {
        element: TypeId,
        dimensions: Rc<[Dimension]>,
    },
    Record {
        members: Rc<[Member]>,
        is_union: bool,
        /// What stands before a member's name.
        separator: char,
    },
}

/// One of an array's dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// The number of its first element.
    pub first: i64,
    /// How many there are, if that is known.
    pub count: Option<u64>,
}

/// A member or a base class.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// None: its own members count as those of what it is in.
    pub name: Option<Rc<str>>,
    /// In bytes.
    pub offset: u64,
    /// Of a bit field: its first bit, counted from the start of the whole, and how many it has.
    pub bits: Option<(u64, u64)>,
    pub ty: TypeId,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Types {
    all: Vec<Type>,
    known: FxHashMap<Die, TypeId>,
    variables: FxHashMap<Die, Option<(String, TypeId)>>,
}

impl Default for Types {
    fn default() -> Types {
        let mut types = Types {
            all: Vec::new(),
            known: FxHashMap::default(),
            variables: FxHashMap::default(),
        };
        types.add(0, Shape::Whole);
        types
    }
}

impl Types {
    pub fn get(&self, id: TypeId) -> &Type {
        &self.all[id]
    }

    /// A new type.
    pub fn add(&mut self, size: u64, shape: Shape) -> TypeId {
        self.all.push(Type { size, shape });
        self.all.len() - 1
    }

    /// The name and type of a variable.
    pub fn of_variable(&mut self, dies: &mut Dies, die: Die) -> Option<(String, TypeId)> {
        if let Some(known) = self.variables.get(&die) {
            return known.clone();
        }
        let found = dies.name(die).map(|name| {
            let ty = dies.type_of(die);
            let ty = ty.map_or(UNKNOWN, |ty| self.of(dies, ty));
            let ty = declared::with_bounds(self, dies, (die, &name), ty);
            (name, ty)
        });
        self.variables.insert(die, found.clone());
        found
    }

    /// The type that an entry describes.
    pub fn of(&mut self, dies: &mut Dies, die: Die) -> TypeId {
        self.read(dies, die, 0)
    }

    fn read(&mut self, dies: &mut Dies, die: Die, depth: usize) -> TypeId {
        if let Some(&known) = self.known.get(&die) {
            return known;
        }
        // What contains itself is no type.
        self.known.insert(die, UNKNOWN);
        let found = match depth < DEEP {
            true => self.read_new(dies, die, depth).unwrap_or(UNKNOWN),
            false => UNKNOWN,
        };
        self.known.insert(die, found);
        found
    }

    fn read_new(&mut self, dies: &mut Dies, die: Die, depth: usize) -> Option<TypeId> {
        let entry = dies.entry(die)?;
        let size = number(&entry, gimli::DW_AT_byte_size);
        let inner = entry.attr_value(gimli::DW_AT_type);
        let inner = inner.and_then(|value| dies.reference(die.unit, value));
        match entry.tag() {
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_atomic_type => Some(self.read(dies, inner?, depth + 1)),
            gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type
            | gimli::DW_TAG_rvalue_reference_type => {
                Some(self.add(size.unwrap_or(8), Shape::Whole))
            }
            gimli::DW_TAG_array_type => {
                let element = self.read(dies, inner?, depth + 1);
                let unit = dies.unit(die.unit)?;
                // A vector that one instruction works on is a value of its own.
                if has_flag(&entry, gimli::DW_AT_GNU_vector) {
                    return Some(self.add(size.unwrap_or(0), Shape::Whole));
                }
                let is_fortran = is_fortran(&unit);
                let dimensions = dimensions(&unit, die, is_fortran as i64)?;
                if entry.attr(gimli::DW_AT_data_location).is_some() {
                    // What is allocated or associated when the program runs: the variable describes where, and how large.
                    let size = DESCRIPTOR + DESCRIPTION * dimensions.len() as u64;
                    return Some(self.add(size, Shape::Whole));
                }
                let counts = dimensions.iter().map(|dimension| dimension.count);
                let counts: Vec<Option<u64>> = counts.collect();
                let each = self.get(element).size;
                let all = counts
                    .iter()
                    .try_fold(each, |all, count| all.checked_mul((*count)?));
                let shape = match is_fortran {
                    true => Shape::FortranArray {
                        element,
                        dimensions: dimensions.into(),
                    },
                    false => Shape::Array {
                        element,
                        counts: counts.into(),
                    },
                };
                Some(self.add(size.or(all).unwrap_or(0), shape))
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                if has_flag(&entry, gimli::DW_AT_declaration) {
                    let defined = dies.definition(die)?;
                    return Some(self.read(dies, defined, depth + 1));
                }
                let size = size.unwrap_or(0);
                let is_union = entry.tag() == gimli::DW_TAG_union_type;
                let separator = match is_fortran(&*dies.unit(die.unit)?) {
                    true => '%',
                    false => '.',
                };
                let seen_through = match library::declares(dies, die, &entry) {
                    true => dies.name(die).and_then(|name| SeenThrough::of(&name)),
                    false => Some(SeenThrough::Named),
                };
                let shape = match seen_through {
                    Some(how) => {
                        let members = self.members(dies, die, how, depth);
                        let members = members.map(Rc::from);
                        members.map(|members| Shape::Record {
                            members,
                            is_union,
                            separator,
                        })
                    }
                    _ => None,
                };
                Some(self.add(size, shape.unwrap_or(Shape::Whole)))
            }
            _ => Some(self.add(size.unwrap_or(0), Shape::Whole)),
        }
    }

    /// The members of a structure; none if they are not all there is to it.
    fn members(
        &mut self,
        dies: &mut Dies,
        die: Die,
        how: SeenThrough,
        depth: usize,
    ) -> Option<Vec<Member>> {
        let unit = dies.unit(die.unit)?;
        let mut entries = unit.entries_at_offset(UnitOffset(die.offset)).ok()?;
        entries.next_dfs().ok()??;
        let mut members = Vec::new();
        let mut child = match entries.current()?.has_children() {
            true => entries
                .next_entry()
                .ok()?
                .then(|| entries.current())
                .flatten()
                .cloned(),
            false => None,
        };
        while let Some(entry) = child {
            match entry.tag() {
                gimli::DW_TAG_member | gimli::DW_TAG_inheritance => {
                    members.extend(self.member(dies, die.unit, &unit, &entry, how, depth));
                }
                gimli::DW_TAG_variant_part => return None,
                _ => {}
            }
            child = entries.next_sibling().ok()?.cloned();
        }
        Some(members)
    }

    fn member<'a>(
        &mut self,
        dies: &mut Dies<'a>,
        number_of_unit: u32,
        unit: &Unit<'a>,
        entry: &Entry<'a>,
        how: SeenThrough,
        depth: usize,
    ) -> Option<Member> {
        // A static member lies elsewhere; a table of virtual functions has no name in the source.
        let other = [
            gimli::DW_AT_external,
            gimli::DW_AT_declaration,
            gimli::DW_AT_artificial,
        ];
        if other.into_iter().any(|flag| has_flag(entry, flag)) {
            return None;
        }
        let ty = dies.reference(number_of_unit, entry.attr_value(gimli::DW_AT_type)?)?;
        let ty = self.read(dies, ty, depth + 1);
        let offset = match entry.attr_value(gimli::DW_AT_data_member_location) {
            None => 0,
            Some(value) => match value.exprloc_value() {
                None => number(entry, gimli::DW_AT_data_member_location)?,
                Some(expression) => {
                    let mut operations = expression.operations(unit.encoding());
                    match (operations.next().ok()??, operations.next().ok()?) {
                        (Operation::PlusConstant { value }, None) => value,
                        // A virtual base lies where the object says.
                        _ => return None,
                    }
                }
            },
        };
        let bits = number(entry, gimli::DW_AT_bit_size).map(|count| {
            let first = number(entry, gimli::DW_AT_data_bit_offset).unwrap_or_else(|| {
                // Formerly counted from the other end of the unit that the field is read from.
                let unit = number(entry, gimli::DW_AT_byte_size).unwrap_or(self.get(ty).size);
                let above = number(entry, gimli::DW_AT_bit_offset).unwrap_or(0);
                (offset * 8 + unit * 8).saturating_sub(above + count)
            });
            (first, count)
        });
        let name = entry.attr_value(gimli::DW_AT_name);
        let name = name.and_then(|name| dies.text(number_of_unit, name));
        let is_base = entry.tag() == gimli::DW_TAG_inheritance;
        let is_named = !is_base && how == SeenThrough::Named;
        // Rust numbers the members of its tuples.
        let spelt = |name: String| {
            name.strip_prefix("__")
                .filter(|rest| is_number(rest))
                .map(Rc::from)
                .unwrap_or(Rc::from(name))
        };
        Some(Member {
            name: name.filter(|name| is_named && !name.is_empty()).map(spelt),
            offset: bits.map_or(offset, |(first, _)| first / 8),
            bits,
            ty,
        })
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Types of libraries whose contents belong to whoever uses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SeenThrough {
    /// Their members have names that people write.
    Named,
    /// Only their elements have.
    Nameless,
}

impl SeenThrough {
    fn of(name: &str) -> Option<SeenThrough> {
        match name.split('<').next()? {
            "array" => Some(SeenThrough::Nameless),
            "pair" => Some(SeenThrough::Named),
            _ => None,
        }
    }
}

/// How large what describes an array of Fortran is, without its dimensions; and what each of these adds.
const DESCRIPTOR: u64 = 24;
const DESCRIPTION: u64 = 24;

/// Whether the unit's language is Fortran, where arrays are counted and laid out otherwise.
fn is_fortran(unit: &Unit) -> bool {
    let Ok(root) = unit.entry(unit.header.root_offset()) else {
        return false;
    };
    matches!(
        root.attr_value(gimli::DW_AT_language),
        Some(AttributeValue::Language(
            gimli::DW_LANG_Fortran77
                | gimli::DW_LANG_Fortran90
                | gimli::DW_LANG_Fortran95
                | gimli::DW_LANG_Fortran03
                | gimli::DW_LANG_Fortran08
                | gimli::DW_LANG_Fortran18
        ))
    )
}

/// An array's dimensions, which begin with this number unless they say so.
fn dimensions(unit: &Unit, die: Die, begin: i64) -> Option<Vec<Dimension>> {
    let mut entries = unit.entries_at_offset(UnitOffset(die.offset)).ok()?;
    entries.next_dfs().ok()??;
    let mut dimensions = Vec::new();
    if entries.current()?.has_children() && entries.next_entry().ok()? {
        let mut child = entries.current().cloned();
        while let Some(entry) = child {
            if entry.tag() == gimli::DW_TAG_subrange_type {
                let bound = |name| entry.attr_value(name)?.sdata_value();
                let first = bound(gimli::DW_AT_lower_bound).unwrap_or(begin);
                let up_to = |last: i64| last.checked_sub(first)?.checked_add(1)?.try_into().ok();
                let count = number(&entry, gimli::DW_AT_count);
                let count = count.or_else(|| bound(gimli::DW_AT_upper_bound).and_then(up_to));
                dimensions.push(Dimension { first, count });
            }
            child = entries.next_sibling().ok()?.cloned();
        }
    }
    (!dimensions.is_empty()).then_some(dimensions)
}
