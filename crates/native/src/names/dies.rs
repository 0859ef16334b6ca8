//! The entries of a file's DWARF: found by their places, and what they refer to.

use std::cell::OnceCell;
use std::rc::Rc;

use gimli::{AttributeValue, DwAt, UnitOffset};
use rustc_hash::FxHashMap;

use super::definitions::Definitions;
use super::index::Index;
use super::sections::{Sections, Slice};

/// The place of an entry: its unit's number, and where it is in that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Die {
    pub unit: u32,
    pub offset: usize,
}

pub type Entry<'a> = gimli::DebuggingInformationEntry<Slice<'a>>;
pub type Unit<'a> = gimli::Unit<Slice<'a>>;
pub type Value<'a> = AttributeValue<Slice<'a>>;

/// Reads entries. Units are read once each.
pub struct Dies<'a> {
    pub dwarf: gimli::Dwarf<Slice<'a>>,
    pub index: &'a Index,
    sections: &'a Sections,
    definitions: &'a OnceCell<Definitions>,
    units: FxHashMap<u32, Rc<Unit<'a>>>,
    /// By unit and number of a file: whether that is one of the system's.
    pub system_files: FxHashMap<(u32, u64), bool>,
}

impl<'a> Dies<'a> {
    pub fn new(
        sections: &'a Sections,
        index: &'a Index,
        definitions: &'a OnceCell<Definitions>,
    ) -> Dies<'a> {
        Dies {
            dwarf: sections.dwarf(),
            index,
            sections,
            definitions,
            units: FxHashMap::default(),
            system_files: FxHashMap::default(),
        }
    }

    pub fn unit(&mut self, number: u32) -> Option<Rc<Unit<'a>>> {
        if let Some(unit) = self.units.get(&number) {
            return Some(unit.clone());
        }
        let offset = *self.index.units.get(number as usize)?;
        let header = self.dwarf.unit_header(gimli::DebugInfoOffset(offset));
        let unit = Rc::new(self.dwarf.unit(header.ok()?).ok()?);
        self.units.insert(number, unit.clone());
        Some(unit)
    }

    /// Where a type is defined that is only declared here.
    pub fn definition(&mut self, declared: Die) -> Option<Die> {
        let read = || Definitions::of(self.sections, self.index);
        let definitions = self.definitions.get_or_init(read);
        let unit = self.unit(declared.unit)?;
        definitions.find(&self.dwarf, &unit, declared.offset)
    }

    pub fn entry(&mut self, die: Die) -> Option<Entry<'a>> {
        let unit = self.unit(die.unit)?;
        unit.entry(UnitOffset(die.offset)).ok()
    }

    /// What an attribute of an entry in a unit refers to.
    pub fn reference(&self, unit: u32, value: Value) -> Option<Die> {
        match value {
            AttributeValue::UnitRef(offset) => Some(Die {
                unit,
                offset: offset.0,
            }),
            AttributeValue::DebugInfoRef(offset) => {
                let after = self.index.units.partition_point(|&unit| unit <= offset.0);
                let unit = after.checked_sub(1)?;
                Some(Die {
                    unit: unit as u32,
                    offset: offset.0 - self.index.units[unit],
                })
            }
            AttributeValue::DebugTypesRef(signature) => {
                self.index.signatures.get(&signature.0).copied()
            }
            _ => None,
        }
    }

    /// An attribute of an entry, or of the one that it completes or stands for.
    pub fn inherited(&mut self, die: Die, name: DwAt) -> Option<(u32, Value<'a>)> {
        let mut die = die;
        for _ in 0..4 {
            let entry = self.entry(die)?;
            if let Some(value) = entry.attr_value(name) {
                return Some((die.unit, value));
            }
            let origin = [gimli::DW_AT_abstract_origin, gimli::DW_AT_specification]
                .into_iter()
                .find_map(|name| entry.attr_value(name))?;
            die = self.reference(die.unit, origin)?;
        }
        None
    }

    pub fn text(&mut self, unit: u32, value: Value<'a>) -> Option<String> {
        let unit = self.unit(unit)?;
        let text = self.dwarf.attr_string(&unit, value).ok()?;
        Some(text.to_string_lossy().into_owned())
    }

    /// What an entry is called.
    pub fn name(&mut self, die: Die) -> Option<String> {
        let (unit, value) = self.inherited(die, gimli::DW_AT_name)?;
        self.text(unit, value).filter(|name| !name.is_empty())
    }

    /// The type of an entry.
    pub fn type_of(&mut self, die: Die) -> Option<Die> {
        let (unit, value) = self.inherited(die, gimli::DW_AT_type)?;
        self.reference(unit, value)
    }
}

/// Whether an entry has a mark.
pub fn has_flag(entry: &Entry, name: DwAt) -> bool {
    matches!(entry.attr_value(name), Some(AttributeValue::Flag(true)))
}

/// A number that is an attribute of an entry.
pub fn number(entry: &Entry, name: DwAt) -> Option<u64> {
    let value = entry.attr_value(name)?;
    let signed = || {
        value
            .sdata_value()
            .and_then(|value| u64::try_from(value).ok())
    };
    value.udata_value().or_else(signed)
}
