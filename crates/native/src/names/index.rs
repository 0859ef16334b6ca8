//! Where a file's variables and functions are, from one pass over all its entries.
//!
//! Of each variable it keeps its address and the place of its entry, of each function where its code is; names and types
//! are read when somebody asks.

use gimli::{AttributeValue, Operation, UnitType};
use rustc_hash::FxHashMap;

use super::dies::{Die, Unit};
use super::library;
use super::sections::{Sections, Slice};

/// See the [module](self).
#[derive(Default)]
pub struct Index {
    /// Where each unit begins.
    pub units: Vec<usize>,
    /// Types by their signatures.
    pub signatures: FxHashMap<u64, Die>,
    /// What the entries in a unit are that belong to a library: from where to where.
    pub library: Vec<(Die, Die)>,
    /// By address.
    variables: Vec<Variable>,
    /// By where they are in the file's piece of a thread's variables.
    thread_locals: Vec<Variable>,
    /// By address.
    functions: Vec<(u64, u64, Die)>,
}

/// A variable that is not on a stack.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    pub address: u64,
    /// Which of its bytes is there: optimisers take variables apart.
    pub from: u64,
    pub die: Die,
    /// Declared in a function.
    pub in_function: bool,
}

enum Location {
    Address(u64),
    ThreadLocal(u64),
}

impl Index {
    /// None: there is nothing to find.
    pub fn of(sections: &Sections) -> Option<Index> {
        let dwarf = sections.dwarf();
        let mut index = Index::default();
        let mut headers = dwarf.units();
        // After a header that cannot be read nobody knows where the next one is.
        while let Ok(Some(header)) = headers.next() {
            let offset = header.debug_info_offset()?.0;
            let number = index.units.len() as u32;
            index.units.push(offset);
            if let UnitType::Type {
                type_signature,
                type_offset,
            } = header.type_()
            {
                let die = Die {
                    unit: number,
                    offset: type_offset.0,
                };
                index.signatures.insert(type_signature.0, die);
            }
            if let Ok(unit) = dwarf.unit(header) {
                // A unit that cannot be read has no names.
                let _ = index.add(&dwarf, &unit, number);
            }
        }
        let by_address = |variable: &Variable| (variable.address, variable.die);
        index.variables.sort_by_key(by_address);
        index.thread_locals.sort_by_key(by_address);
        index.functions.sort_unstable();
        index.library.sort_unstable();
        Some(index)
    }

    fn add(&mut self, dwarf: &gimli::Dwarf<Slice>, unit: &Unit, number: u32) -> gimli::Result<()> {
        let mut entries = unit.entries_raw(None)?;
        let mut attributes = Vec::new();
        // How deep the function is that the entries are in; and where a library's begin.
        let mut function: Option<isize> = None;
        let mut library: Option<Die> = None;
        while !entries.is_empty() {
            let (offset, depth) = (entries.next_offset().0, entries.next_depth());
            let die = Die {
                unit: number,
                offset,
            };
            if function.is_some_and(|around| depth <= around) {
                function = None;
            }
            if depth <= 1
                && let Some(from) = library.take()
            {
                self.library.push((from, die));
            }
            let Some(abbreviation) = entries.read_abbreviation()? else {
                continue;
            };
            let has = |name| {
                let mut names = abbreviation.attributes().iter();
                names.any(|attribute| attribute.name() == name)
            };
            let is_function = abbreviation.tag() == gimli::DW_TAG_subprogram;
            if is_function && function.is_none() && abbreviation.has_children() {
                function = Some(depth);
            }
            let wanted = match abbreviation.tag() {
                gimli::DW_TAG_subprogram => has(gimli::DW_AT_low_pc) || has(gimli::DW_AT_ranges),
                gimli::DW_TAG_variable => has(gimli::DW_AT_location),
                gimli::DW_TAG_namespace => depth == 1,
                _ => false,
            };
            if !wanted {
                entries.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            entries.read_attributes(abbreviation.attributes(), &mut attributes)?;
            let value = |name| {
                let mut all = attributes.iter();
                Some(all.find(|attribute| attribute.name() == name)?.value())
            };
            match abbreviation.tag() {
                gimli::DW_TAG_subprogram => {
                    for (start, end) in pieces(dwarf, unit, &value).into_iter().flatten() {
                        if start < end && !unit.header.is_tombstone_address(start) && start > 0 {
                            self.functions.push((start, end, die));
                        }
                    }
                }
                gimli::DW_TAG_variable => {
                    let location = value(gimli::DW_AT_location);
                    let pieces = location.and_then(|value| locations(dwarf, unit, value));
                    for (location, from) in pieces.into_iter().flatten() {
                        let (address, list) = match location {
                            Location::Address(0) => continue,
                            Location::Address(address) => (address, &mut self.variables),
                            Location::ThreadLocal(offset) => (offset, &mut self.thread_locals),
                        };
                        list.push(Variable {
                            address,
                            from,
                            die,
                            in_function: function.is_some(),
                        });
                    }
                }
                _ => {
                    let name = value(gimli::DW_AT_name);
                    let name = name.and_then(|name| dwarf.attr_string(unit, name).ok());
                    if name.is_some_and(|name| library::is_namespace(name.slice())) {
                        library = Some(die);
                    }
                }
            }
        }
        if let Some(from) = library {
            let end = Die {
                unit: number,
                offset: usize::MAX,
            };
            self.library.push((from, end));
        }
        Ok(())
    }

    /// The variable that an address may be in: how long it is, its type says.
    pub fn variable(&self, address: u64) -> Option<Variable> {
        last_before(&self.variables, address)
    }

    pub fn thread_local(&self, offset: u64) -> Option<Variable> {
        last_before(&self.thread_locals, offset)
    }

    /// The function around an address of code.
    pub fn function(&self, code: u64) -> Option<Die> {
        let after = self.functions.partition_point(|piece| piece.0 <= code);
        let (_, end, die) = *self.functions[..after].last()?;
        (code < end).then_some(die)
    }

    /// Whether an entry is in one of a library's namespaces.
    pub fn is_in_library(&self, die: Die) -> bool {
        let after = self.library.partition_point(|(from, _)| *from <= die);
        let piece = self.library[..after].last();
        piece.is_some_and(|(_, end)| die < *end)
    }
}

fn last_before(variables: &[Variable], address: u64) -> Option<Variable> {
    let after = variables.partition_point(|variable| variable.address <= address);
    let last = variables[..after].last()?;
    // The same variable may have several entries; the first is the most complete one.
    let first = variables.partition_point(|variable| variable.address < last.address);
    variables.get(first).copied()
}

/// Where the code of a function is.
fn pieces<'a>(
    dwarf: &gimli::Dwarf<Slice<'a>>,
    unit: &Unit<'a>,
    value: &impl Fn(gimli::DwAt) -> Option<AttributeValue<Slice<'a>>>,
) -> Option<Vec<(u64, u64)>> {
    if let Some(ranges) = value(gimli::DW_AT_ranges) {
        let mut ranges = dwarf.attr_ranges(unit, ranges).ok()??;
        let mut pieces = Vec::new();
        while let Ok(Some(range)) = ranges.next() {
            pieces.push((range.begin, range.end));
        }
        return Some(pieces);
    }
    let start = dwarf
        .attr_address(unit, value(gimli::DW_AT_low_pc)?)
        .ok()??;
    let high = value(gimli::DW_AT_high_pc)?;
    let end = match high.udata_value() {
        Some(length) => start.checked_add(length)?,
        None => dwarf.attr_address(unit, high).ok()??,
    };
    Some(vec![(start, end)])
}

/// Where a variable is, and from which of its bytes on.
fn locations<'a>(
    dwarf: &gimli::Dwarf<Slice<'a>>,
    unit: &Unit<'a>,
    value: AttributeValue<Slice<'a>>,
) -> Option<Vec<(Location, u64)>> {
    let mut operations = value.exprloc_value()?.operations(unit.encoding());
    let mut found = Vec::new();
    let (mut from, mut number, mut is_thread_local) = (0, None, false);
    let place = |number: Option<u64>, is_thread_local| match is_thread_local {
        true => number.map(Location::ThreadLocal),
        false => number.map(Location::Address),
    };
    while let Some(operation) = operations.next().ok()? {
        match operation {
            Operation::Address { address } => number = Some(address),
            Operation::AddressIndex { index } | Operation::ConstantIndex { index } => {
                number = Some(dwarf.address(unit, index).ok()?);
            }
            Operation::UnsignedConstant { value } if number.is_none() => number = Some(value),
            Operation::PlusConstant { value } => number = Some(number?.wrapping_add(value)),
            Operation::TLS => is_thread_local = true,
            Operation::Piece { size_in_bits, .. } => {
                found.extend(place(number.take(), is_thread_local).map(|place| (place, from)));
                is_thread_local = false;
                from += size_in_bits / 8;
            }
            // A constant in place of what was there.
            Operation::StackValue => number = None,
            _ => return None,
        }
    }
    found.extend(place(number, is_thread_local).map(|place| (place, from)));
    Some(found)
}
