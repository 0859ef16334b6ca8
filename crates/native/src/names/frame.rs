//! The local variable at an address in a function's frame.
//!
//! The runtime says where the frame is; the function's DWARF says where in the frame its variables are, those of functions
//! inlined into it and of blocks included. Variables of blocks that do not overlap may share a place: of these, the ones
//! around the code that the frame's function runs count. If none is, and they have different names, none is named.

use deadheat_tape::findings::StackFrame;
use gimli::{AttributeValue, Operation, Register, UnitOffset};

use super::declared;
use super::dies::{Die, Dies, Entry, Unit, Value, has_flag};
use super::sections::Slice;
use super::types::{Shape, TypeId, Types, UNKNOWN};

/// A local variable, and which byte of it.
pub struct Local {
    pub name: String,
    pub ty: TypeId,
    pub offset: u64,
}

const FRAME_POINTER: Register = Register(6);
const STACK_POINTER: Register = Register(7);

struct Candidate {
    die: Die,
    ty: TypeId,
    offset: u64,
    /// It is one of those of the code that runs.
    in_scope: bool,
    /// The pointer that led to it, if one did: the nearest is the right one.
    start: u64,
}

/// The variable of a function at an address in its frame, where it runs the code at an address of the file's own; if it may run
/// any of its code, the one that is always there.
pub fn local(
    dies: &mut Dies,
    types: &mut Types,
    function: Die,
    (code, frame): (Option<u64>, &StackFrame),
    address: u64,
) -> Option<Local> {
    let unit = dies.unit(function.unit)?;
    let base = dies.entry(function)?.attr_value(gimli::DW_AT_frame_base);
    let base = base.and_then(|value| frame_base(&unit, value, frame));
    let mut entries = unit.entries_raw(Some(UnitOffset(function.offset))).ok()?;
    let mut entry = Entry::null();
    // The blocks around an entry: how deep they are, and whether the code is in them.
    let mut blocks: Vec<(isize, bool)> = Vec::new();
    let mut other: Option<isize> = None;
    let mut found: Vec<Candidate> = Vec::new();
    loop {
        let depth = entries.next_depth();
        if entries.is_empty() || !entries.read_entry(&mut entry).ok()? {
            // The end of the children of something.
            if depth <= 1 {
                break;
            }
            continue;
        }
        if depth == 0 {
            if !entry.has_children() {
                break;
            }
            continue;
        }
        while blocks.last().is_some_and(|(around, _)| depth <= *around) {
            blocks.pop();
        }
        if other.is_some_and(|around| depth > around) {
            continue;
        }
        other = None;
        match entry.tag() {
            gimli::DW_TAG_subprogram
            | gimli::DW_TAG_structure_type
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_union_type => other = Some(depth),
            gimli::DW_TAG_lexical_block | gimli::DW_TAG_inlined_subroutine => {
                let around = blocks.last().is_none_or(|(_, inside)| *inside);
                let inside = around && code.is_some_and(|code| covers(dies, &unit, &entry, code));
                blocks.push((depth, inside));
            }
            gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                let Some(location) = entry.attr_value(gimli::DW_AT_location) else {
                    continue;
                };
                if has_flag(&entry, gimli::DW_AT_artificial) {
                    continue;
                }
                let die = Die {
                    unit: function.unit,
                    offset: entry.offset().0,
                };
                let around = blocks.last().is_none_or(|(_, inside)| *inside);
                let in_scope = around && code.is_some();
                for expression in expressions(dies, &unit, location) {
                    let Some(start) = evaluate(&unit, expression, base, frame) else {
                        continue;
                    };
                    let Some(offset) = address.checked_sub(start.address) else {
                        continue;
                    };
                    let ty = dies.type_of(die);
                    let ty = ty.map_or(UNKNOWN, |ty| types.of(dies, ty));
                    let size = types.get(ty).size;
                    let is_open = start.by_pointer
                        && size == 0
                        && matches!(
                            types.get(ty).shape,
                            Shape::Array { .. } | Shape::FortranArray { .. }
                        );
                    if offset < size || is_open {
                        found.push(Candidate {
                            die,
                            ty,
                            offset,
                            in_scope,
                            start: start.address,
                        });
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    let any_in_scope = found.iter().any(|candidate| candidate.in_scope);
    found.retain(|candidate| candidate.in_scope || !any_in_scope);
    let nearest = found.iter().map(|candidate| candidate.start).max()?;
    found.retain(|candidate| candidate.start == nearest);
    // The innermost block's are last.
    let chosen = found.pop()?;
    let name = dies.name(chosen.die)?;
    for candidate in found {
        if !any_in_scope && dies.name(candidate.die).as_ref() != Some(&name) {
            return None;
        }
    }
    let ty = declared::with_bounds(types, dies, (chosen.die, &name), chosen.ty);
    Some(Local {
        name,
        ty,
        offset: chosen.offset,
    })
}

fn covers<'a>(dies: &Dies<'a>, unit: &Unit<'a>, entry: &Entry<'a>, code: u64) -> bool {
    let Ok(mut ranges) = dies.dwarf.die_ranges(unit, entry) else {
        return false;
    };
    while let Ok(Some(range)) = ranges.next() {
        if range.begin <= code && code < range.end {
            return true;
        }
    }
    false
}

/// Where a function's DWARF counts its frame from.
fn frame_base(unit: &Unit, value: Value, frame: &StackFrame) -> Option<u64> {
    let mut operations = value.exprloc_value()?.operations(unit.encoding());
    let base = match operations.next().ok()?? {
        Operation::CallFrameCFA => frame.base,
        Operation::Register { register } => of_register(register, frame)?,
        _ => return None,
    };
    operations.next().ok()?.is_none().then_some(base)
}

/// What a register has, in code that follows the usual conventions.
fn of_register(register: Register, frame: &StackFrame) -> Option<u64> {
    match register {
        // It points to where the caller's is kept, below the address to return to.
        FRAME_POINTER => frame.base.checked_sub(16),
        STACK_POINTER => Some(frame.stack_pointer),
        _ => None,
    }
}

/// The places that a variable has in turn.
fn expressions<'a>(
    dies: &Dies<'a>,
    unit: &Unit<'a>,
    location: Value<'a>,
) -> Vec<gimli::Expression<Slice<'a>>> {
    if let AttributeValue::Exprloc(expression) = location {
        return vec![expression];
    }
    let mut all = Vec::new();
    if let Ok(Some(mut list)) = dies.dwarf.attr_locations(unit, location) {
        while let Ok(Some(entry)) = list.next() {
            all.push(entry.data);
        }
    }
    all
}

struct Start {
    address: u64,
    by_pointer: bool,
}

/// Where a variable is, if it is in memory.
fn evaluate(
    unit: &Unit,
    expression: gimli::Expression<Slice>,
    base: Option<u64>,
    frame: &StackFrame,
) -> Option<Start> {
    let mut operations = expression.operations(unit.encoding());
    let mut at: Option<u64> = None;
    let mut by_pointer = false;
    while let Some(operation) = operations.next().ok()? {
        let from = |start: u64, offset: i64| Some(start.wrapping_add_signed(offset));
        at = match operation {
            Operation::FrameOffset { offset } if at.is_none() => from(base?, offset),
            Operation::RegisterOffset {
                register, offset, ..
            } if at.is_none() => from(of_register(register, frame)?, offset),
            Operation::CallFrameCFA if at.is_none() => Some(frame.base),
            Operation::PlusConstant { value } => Some(at?.wrapping_add(value)),
            Operation::Deref { .. } if !by_pointer => {
                by_pointer = true;
                let slot = at?;
                let mut pointers = frame.pointers.iter();
                Some(pointers.find(|(lies, _)| *lies == slot)?.1)
            }
            _ => return None,
        };
    }
    Some(Start {
        address: at?,
        by_pointer,
    })
}
